# SPDX-License-Identifier: MIT
"""Full-domain generalization: publish every column at one level of its hierarchy, choosing the best levels.

Against an adversary who knows someone's quasi-identifying values. What leaks: the chosen levels, the number of
suppressed rows, and everything that the members of a class share. Samarati (2001); the lattice and its monotone pruning
as in LeFevre et al., Incognito (2005); optimality with suppression as in ARX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from sfumato.arrays import Flags
from sfumato.change import Change, ChangeKind, state_changes
from sfumato.data.writing.rebuild import rebuild_columns
from sfumato.errors import PolicyError, ask_meant, quote_names
from sfumato.protect.anonymity.alternatives import list_generalized_alternatives
from sfumato.protect.anonymity.chosen_levels import collect_level_details, compute_level_losses
from sfumato.protect.anonymity.impossible_levels import explain_impossible
from sfumato.protect.anonymity.local_recoding import (
    RecodedRows,
    compute_local_losses,
    recode_locally,
    recode_suppressed_rows,
    unite_starred_rows,
)
from sfumato.protect.anonymity.models.any_model import AnyModel
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.protect.anonymity.models.model_columns import refuse_unfit_models
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.model_promises import list_model_promises
from sfumato.protect.anonymity.participants import select_participants
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.lattice import (
    BestNode,
    NodeCount,
    find_heuristic_node,
    find_minimal_nodes,
    find_optimal_node,
)
from sfumato.protect.anonymity.search.levels_found import notify_levels
from sfumato.protect.anonymity.search.metrics import (
    MetricName,
    Weights,
    compute_cost,
    compute_loss,
)
from sfumato.protect.anonymity.search.node_classes import Levels, NodeVerdict
from sfumato.protect.anonymity.suppressed_rows import (
    blank_rows,
    claim_about_all_rows,
    claim_nothing_shown,
    list_hidden_columns,
    state_blanked,
    state_suppression,
)
from sfumato.protect.claims import claim_nobody_named, claim_nothing_untrue, claim_suppression_within, guard_blanks
from sfumato.protect.footprint import Footprint, StarSettings, trace_classes
from sfumato.protect.method import Alternative, Method
from sfumato.public.level_choice import LevelChoice
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_GLOBAL = 'recoding = "global"'


class Generalize(Method):
    """Publish every quasi-identifying column at one level of its hierarchy, with the smallest safe loss.

    Guarantee: every published class satisfies all models. The levels are optimal under the metric, proven by search
    (with `search="optimal"` and global recoding). Against: an adversary who knows a person's quasi-identifying values,
    and that the person is in the table, and looks for the row (the prosecutor); and what the models add to that.
    Limits: sensitive values are published unchanged, so an adversary learns what all members of a class have in common;
    two releases of the same people can be combined to break both; suppressed rows are enough for every model, or show
    no sensitive cell, as always under a model about sensitive values. Papers: Samarati 2001; Sweeney 2002; LeFevre,
    DeWitt, Ramakrishnan 2005.
    """

    iso_20889: ClassVar[str] = "generalization (full-domain or local), record suppression"
    optimum_of: ClassVar[str] = "among all combinations of levels, one for each column"
    hides_in_crowds: ClassVar[bool] = True
    loses_detail: ClassVar[bool] = True
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset(
        {ChangeKind.GENERALIZED, ChangeKind.PARTLY_GENERALIZED, ChangeKind.BLANKED}
    )
    public_fields: ClassVar[tuple[str, ...]] = (
        "models",
        "suppression_limit",
        "metric",
        "search",
        "seconds",
        "recoding",
        "weights",
        "suppressed_rows",
    )
    column_fields: ClassVar[tuple[str, ...]] = ("weights",)

    method: Literal["generalize"] = "generalize"
    models: tuple[AnyModel, ...] = Field(min_length=1)
    """What every class of published rows must satisfy."""
    suppression_limit: float = Field(default=0.0, ge=0.0, le=1.0)
    """The share of rows, 0 to 1, that may be suppressed instead of generalizing everybody further."""
    metric: MetricName = "loss"
    """What is minimized: `loss`, `loss_geometric` (ARX's Loss), `discernibility` or `height`."""
    search: Literal["optimal", "minimal", "heuristic", "incognito"] = "optimal"
    """`optimal` is proven; `minimal` lists all minimal nodes and takes the best of them, which is proven if no row may
    be suppressed; `heuristic` is for lattices too large to search; `incognito` is the published pass over subsets of
    the columns, and lists all nodes that satisfy the models."""
    seconds: float = Field(default=10.0, gt=0)
    """How long a heuristic search may take."""
    recoding: Literal["global", "local"] = "global"
    """`global`: one level per column. `local`: each person at the cheapest levels where enough others remain."""
    weights: Mapping[str, float] = Field(default_factory=dict)
    """The weight of a column's loss, 1 by default, for the metric `loss`: give a large weight to a column that
    must stay precise."""
    suppressed_rows: Literal["star", "blank", "drop"] = "star"
    """`star` publishes a suppressed row with `*` in every quasi-identifying column, and its sensitive cells only if no
    model is about sensitive values and the suppressed rows are enough for every model; `blank` always empties those
    cells; `drop` omits the row."""

    @model_validator(mode="after")
    def _check_options(self) -> Generalize:
        if any(weight <= 0 for weight in self.weights.values()):
            raise ValueError("every weight must be greater than 0")
        if self.weights and (self.metric != "loss" or self.recoding == "local"):
            raise ValueError("weights need the metric loss and global recoding")
        if self.suppressed_rows == "drop" and self.suppression_limit and any(model.compares for model in self.models):
            raise ValueError("a model compares classes with the whole table, so suppressed rows must stay: use star")
        return self

    @classmethod
    def list_promises(cls, parameters: Mapping[str, Any]) -> tuple[Claim, ...]:
        """What its models promise."""
        return list_model_promises(parameters.get("models", ()))

    @classmethod
    def may_star_rows(cls, parameters: Mapping[str, Any]) -> bool:
        """With local recoding, each row has its own levels."""
        return parameters.get("recoding") == "local"

    @classmethod
    def find_suppression_limit(cls, parameters: Mapping[str, Any]) -> float | None:
        """Its parameter."""
        limit = parameters.get("suppression_limit")
        return None if limit is None else float(limit)

    @classmethod
    def explain_left_out(cls, parameters: Mapping[str, Any]) -> str:
        """Suppressed rows, if there may be any, and they are to be dropped; nobody can tell whether there are."""
        may_drop_rows = parameters.get("suppressed_rows") == "drop" and cls.find_suppression_limit(parameters) != 0
        return "Suppressed rows, if there are any, are not in the release." if may_drop_rows else ""

    @property
    def level_choice(self) -> LevelChoice:
        """The finest safe ones if no row may be suppressed, since every metric grows with the levels."""
        return LevelChoice.SUPPRESSING if self.suppression_limit > 0 else LevelChoice.FINEST

    def footprint(self, data: Table) -> Footprint:
        """The quasi-identifying columns, and those that the models judge."""
        return trace_classes(
            data,
            (name for model in self.models for name in model.list_columns()),
            emptied_columns=self._list_emptied_columns(data),
            drops_rows=self.suppressed_rows == "drop" and self.suppression_limit > 0,
            survives_blanks=all(isinstance(model, KAnonymity) for model in self.models),
            stars=self._list_star_settings(),
        )

    def _list_star_settings(self) -> StarSettings | None:
        """How it stars no row; None if it stars none. With local recoding, levels may star a row, too."""
        if self.recoding == "local":
            return StarSettings(f"{_GLOBAL}, suppression_limit = 0", f'{_GLOBAL}, suppressed_rows = "drop"')
        stars = self.suppression_limit > 0 and self.suppressed_rows != "drop"
        return StarSettings("suppression_limit = 0", 'suppressed_rows = "drop"') if stars else None

    def _list_emptied_columns(self, data: Table) -> tuple[str, ...]:
        """The columns that suppressed rows do not show."""
        stars = self.suppression_limit > 0 and self.suppressed_rows != "drop"
        return tuple(list_hidden_columns(data, self.models)) if stars else ()

    def list_models(self) -> tuple[PrivacyModel, ...]:
        """The models of the policy."""
        return self.models

    def list_alternatives(self, table: Table) -> Iterator[Alternative]:
        """Partition; more hierarchies; more suppression."""
        return list_generalized_alternatives(self, table)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Find the best levels, generalize to them, and suppress the rows in classes that are still refused."""
        refuse_unfit_models(self.models, data)
        table, numbers = select_participants(data, can_overlap=True)
        report_progress("encoding the table")
        judge = ModelJudge(self.models)
        grouping = judge.build_grouping(table)
        most = int(Fraction(str(self.suppression_limit)) * grouping.rows)
        weights = self.list_column_weights(table.quasi_identifying)
        best = (
            self._search_subsets(table, grouping, judge, most, weights)
            if self.search == "incognito"
            else self.search_levels(grouping, judge, most, weights)
        )
        if best.best is None or not best.best.classes:
            raise explain_impossible(grouping, judge, most)
        recoded_rows = self._recode_rows(grouping, judge, best.best, most)
        suppressed_mask = recoded_rows.node_of_row < 0
        local = len(recoded_rows.nodes) > 1
        if not local:
            notify_levels(self, best.best.levels, grouping)
        rows = numbers[~suppressed_mask] if self.suppressed_rows == "drop" else numbers
        hidden_columns = self._choose_hidden_columns(table, judge, suppressed_mask)
        published_table = self._build_published(table, grouping, recoded_rows, hidden_columns)
        losses = compute_local_losses(grouping, recoded_rows) if local else compute_level_losses(grouping, best.best)
        if self.weights:
            losses["weighted_loss"] = float(compute_loss(grouping, best.best, weights))
        starred_count = int(losses.get("starred_rows", 0))
        details = collect_level_details(table, best, grouping, rows, numbers[suppressed_mask])
        details = replace(details, population=judge.find_population())
        if local:
            classes = int(losses.pop("classes"))
            details = replace(details, levels={}, proven=False, recoding="local", classes=classes)
        return Release(
            data=published_table,
            method=self,
            claims=self.list_claims(table, grouping, bool(suppressed_mask.any()), hidden_columns, starred_count),
            losses={**losses, "dropped_rows": len(data) - len(table)},
            details=details,
            changes=state_blanked(
                self.state_levels(table, grouping, recoded_rows, published_table), hidden_columns or ()
            ),
            suppression=state_suppression(
                table,
                int(suppressed_mask.sum()),
                hidden_columns,
                is_left_out=self.suppressed_rows == "drop",
                starred_count=starred_count,
            ),
        )

    def _choose_hidden_columns(self, table: Table, judge: ModelJudge, suppressed_mask: Flags) -> tuple[str, ...] | None:
        """The columns whose cells are empty in suppressed rows; None if those rows are a class like any other."""
        if self.suppressed_rows == "drop" or not suppressed_mask.any():
            return None
        if self.suppressed_rows == "star" and judge.shows_suppressed(int(suppressed_mask.sum()), table):
            return None
        return list_hidden_columns(table, self.models)

    def state_levels(
        self, table: Table, grouping: Grouping, recoded_rows: RecodedRows, published_table: Table
    ) -> tuple[Change, ...]:
        """One level per column, or, with local recoding, a note that levels differ; and whether values are shown."""
        has_stars = self.suppressed_rows != "drop" and bool((recoded_rows.node_of_row < 0).any())
        change_by_column = {change.column: change for change in state_changes(self, table, published_table)}
        for number, name in enumerate(table.quasi_identifying):
            levels, hierarchy = recoded_rows.list_published_levels(number).tolist(), grouping.hierarchies[number]
            level = levels[0] if len(levels) == 1 else None
            shows_values = any(hierarchy.has_values(published_level) for published_level in levels)
            kind = ChangeKind.PARTLY_GENERALIZED if shows_values else ChangeKind.GENERALIZED
            change_by_column[name] = replace(
                change_by_column[name],
                kind=ChangeKind.KEPT if level == 0 else kind,
                level=level,
                height=hierarchy.height,
                starred=has_stars,
            )
        return tuple(change_by_column.values())

    def list_column_weights(self, names: Sequence[str]) -> Weights | None:
        """The weight of each quasi-identifying column; None if all weigh the same."""
        unknown = [name for name in self.weights if name not in names]
        if unknown:
            problem = f"weights name {quote_names(unknown)}, which is not a quasi-identifying column"
            raise PolicyError(f"{problem}{ask_meant(unknown, names)}")
        return tuple(Fraction(str(self.weights.get(name, 1))) for name in names) if self.weights else None

    def search_levels(
        self, grouping: Grouping, judge: ModelJudge, most: int, weights: Weights | None, floor: Levels | None = None
    ) -> BestNode:
        """The best levels, none below the floor."""
        if self.search == "heuristic":
            return find_heuristic_node(grouping, judge, self.metric, most, self.seconds, weights)
        if self.search == "optimal":
            return find_optimal_node(grouping, judge, self.metric, most, weights, floor=floor)
        nodes, checked_count = find_minimal_nodes(grouping, judge, most)
        best = self._choose_cheapest(nodes, grouping, judge, weights)
        is_proven = not most or self.metric == "height"  # a coarser node that suppresses fewer rows may lose less
        return BestNode(best, checked_count, prod(grouping.shape), is_proven, nodes)

    def _search_subsets(
        self, table: Table, grouping: Grouping, judge: ModelJudge, most: int, weights: Weights | None
    ) -> BestNode:
        """Incognito's nodes, and next to its counts those of the search for minimal nodes."""
        from sfumato.protect.anonymity.incognito import run_incognito

        incognito, nodes = run_incognito(table, grouping, judge, most), prod(grouping.shape)
        _, checked_count = find_minimal_nodes(grouping, judge, most)
        minimal_count = NodeCount(
            "minimal", len(grouping.shape), nodes, nodes, checked_count, len(incognito.accepted_nodes)
        )
        # Without suppression nothing costs less than a minimal node; with it, a coarser one may.
        best = self._choose_cheapest(incognito.accepted_nodes if most else incognito.minimal, grouping, judge, weights)
        counts = (*incognito.counts, minimal_count)
        return BestNode(
            best, incognito.counts[-1].checked, nodes, True, incognito.minimal, incognito.accepted_nodes, counts
        )

    def _choose_cheapest(
        self, nodes: Sequence[Levels], grouping: Grouping, judge: ModelJudge, weights: Weights | None
    ) -> NodeVerdict | None:
        return min(
            (grouping.decide(levels, judge) for levels in nodes),
            key=lambda v: (compute_cost(self.metric, grouping, v, weights), sum(v.levels), v.levels),
            default=None,
        )

    def _recode_rows(self, grouping: Grouping, judge: ModelJudge, best: NodeVerdict, most: int) -> RecodedRows:
        """One node for everybody, or each person at their own."""
        suppressed_mask = grouping.flag_suppressed_rows(best.levels, judge)
        global_rows = RecodedRows(
            np.array([best.levels], dtype=np.int32), np.where(suppressed_mask, -1, 0).astype(np.int32)
        )
        if self.recoding == "global":
            return global_rows
        local_rows = unite_starred_rows(grouping, recode_locally(grouping, judge), judge, most)
        if local_rows.count_suppressed() > most:
            # Rows that are final early can leave a rest that matches nobody: then only the suppressed rows are recoded.
            local_rows = recode_suppressed_rows(grouping, judge, global_rows)
            local_rows = unite_starred_rows(grouping, local_rows, judge, most)
        if local_rows.count_suppressed() > most:
            return global_rows  # only as a class of their own do starred rows satisfy the models
        # A row that is suppressed loses no more than one at the top, but those are a class, and keep their secrets.
        return min(
            (local_rows, global_rows),
            key=lambda rows: (compute_local_losses(grouping, rows)["loss"], rows.count_suppressed()),
        )

    def _build_published(
        self, table: Table, grouping: Grouping, recoded_rows: RecodedRows, hidden_columns: tuple[str, ...] | None
    ) -> Table:
        suppressed_mask = recoded_rows.node_of_row < 0
        starred_mask = suppressed_mask if self.suppressed_rows != "drop" and suppressed_mask.any() else None
        frame = blank_rows(table.frame.drop(table.identifying), suppressed_mask, hidden_columns or ())

        def publish(column: pl.Series) -> pl.Series:
            if column.name not in table.quasi_identifying:
                return column
            number = table.quasi_identifying.index(column.name)
            shared_level = int(recoded_rows.nodes[0, number]) if len(recoded_rows.nodes) == 1 else None
            levels = recoded_rows.list_levels(number) if shared_level is None else shared_level
            if starred_mask is None and not np.any(levels):
                return column
            return grouping.hierarchies[number].publish(grouping.codes[number], levels, starred_mask).alias(column.name)

        if self.suppressed_rows == "drop" and suppressed_mask.any():
            return table.replace_frame(
                frame.with_columns(map(publish, frame.get_columns())).filter(pl.Series(~suppressed_mask))
            )
        return table.replace_frame(rebuild_columns(map(publish, frame.get_columns())))

    def list_claims(
        self,
        table: Table,
        grouping: Grouping,
        has_suppressed_rows: bool,
        hidden_columns: tuple[str, ...] | None,
        starred_count: int = 0,
    ) -> tuple[Claim, ...]:
        """What is promised about a release with these columns hidden in suppressed rows, if any are suppressed.

        Of rows that are "*" by their own levels, nobody can tell that they were not suppressed: then nothing is said
        about the share.
        """
        left_out = self.suppressed_rows == "drop"
        # Without suppression a row of stars is an ordinary row: each column's level produced it.
        stars = "suppressed" if has_suppressed_rows and not left_out else "class"
        arguments = {"starred_rows": "class" if hidden_columns is None else "suppressed"}
        models = tuple(
            claim_about_all_rows(claim) if hidden_columns is not None and model.compares else claim
            for model in self.models
            for claim in model.state_claims(arguments, grouping.sensitive)
        )
        return (
            *guard_blanks(models, table, ModelJudge(self.models).least_crowd),
            *(() if starred_count else (claim_suppression_within(self.suppression_limit, stars, left_out),)),
            *claim_nothing_shown(hidden_columns or ()),
            claim_nobody_named(table),
            claim_nothing_untrue(),
        )


def minimal_nodes(
    table: Table, models: Sequence[PrivacyModel], suppression_limit: float = 0.0
) -> tuple[tuple[int, ...], ...]:
    """All combinations of levels (in the order of the quasi-identifying columns) that satisfy the models minimally.

    Minimal: no finer combination does, as in Incognito (LeFevre, DeWitt, Ramakrishnan 2005).
    """
    usable, _ = select_participants(table, can_overlap=True)
    judge = ModelJudge(tuple(models))
    grouping = judge.build_grouping(usable)
    return find_minimal_nodes(grouping, judge, int(Fraction(str(suppression_limit)) * grouping.rows)).nodes
