# SPDX-License-Identifier: MIT
"""Full-domain generalization of a table that stays where it is: searched on counts, recoded some rows at a time.

The levels, the suppressed classes and every claim are those that `Generalize` finds in memory; a batch is recoded by
the same functions as a whole table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Ints
from sfumato.change import Change
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy
from sfumato.details import AnonymityDetails
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import build_coded_column
from sfumato.protect.anonymity.chosen_levels import collect_level_details, compute_level_losses
from sfumato.protect.anonymity.generalize import Generalize
from sfumato.protect.anonymity.impossible_levels import explain_impossible
from sfumato.protect.anonymity.local_recoding import RecodedRows
from sfumato.protect.anonymity.models.model_columns import refuse_unfit_models
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.search.grouping import Grouping, number_leaves
from sfumato.protect.anonymity.search.metrics import compute_loss
from sfumato.protect.anonymity.search.node_classes import Levels
from sfumato.protect.anonymity.search.stored_grouping import group_stored_rows
from sfumato.protect.anonymity.suppressed_rows import (
    blank_rows,
    list_hidden_columns,
    state_blanked,
    state_suppression,
)
from sfumato.protect.stored_method import StoredTableMethod
from sfumato.protect.stored_plan import NumberedRows
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number
from sfumato.runtime.progress import report_progress
from sfumato.suppression import Suppression
from sfumato.table import Missing, Table

_MOST_FLAGS = 1 << 26


@dataclass(frozen=True)
class GeneralizationPlan:
    """What is published of each row, decided before any row is written."""

    method: Generalize
    table: StoredTable
    hierarchies: tuple[Hierarchy, ...]
    levels: Levels
    refused_classes: pl.DataFrame
    """The suppressed classes: for each quasi-identifying column, the group of its value."""
    hidden_columns: tuple[str, ...] | None
    """The columns whose cells are empty in suppressed rows; None if those rows are a class like any other."""
    claims: tuple[Claim, ...]
    losses: Mapping[str, Number]
    details: AnonymityDetails
    suppression: Suppression
    changes: tuple[Change, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only what a worker needs to publish rows."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, "details": AnonymityDetails(), "claims": (), "changes": ()}

    @property
    def leaves_rows_out(self) -> bool:
        """Whether some rows are not published."""
        has_dropped_rows = self.method.suppressed_rows == "drop" and self.refused_classes.height > 0
        return has_dropped_rows or bool(self.losses["dropped_rows"])

    @cached_property
    def outline(self) -> Table:
        """The published table without its rows."""
        return self.table.outline.replace_frame(self.publish(self.table.outline.frame))

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """What is published of some rows, in their order; wherever they are."""
        return self.publish_numbered(rows).frame

    def publish_coded(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The same with generalized columns as numbers (`engine.coded_columns`)."""
        return self._publish_rows(rows, is_coded=True).frame

    def publish_numbered(self, rows: pl.DataFrame, first: int = 0) -> NumberedRows:
        """The published rows, and which of the given ones they are."""
        return self._publish_rows(rows, is_coded=False)

    def _publish_rows(self, rows: pl.DataFrame, *, is_coded: bool) -> NumberedRows:
        publish = _publish_coded_labels if is_coded else Hierarchy.publish
        names = self.table.quasi_identifying
        row_numbers = pl.Series("row", np.arange(rows.height))
        if self.table.missing is Missing.DROP:
            whole = rows.select(pl.all_horizontal(pl.col(list(names)).is_not_null())).to_series()
            rows, row_numbers = rows.filter(whole), row_numbers.filter(whole)
        codes = [number_leaves(h, rows[name]) for name, h in zip(names, self.hierarchies, strict=True)]
        suppressed_mask = self._flag_suppressed(codes)
        frame = blank_rows(
            rows.drop(self.table.outline.identifying, strict=False), suppressed_mask, self.hidden_columns or ()
        )
        drops = self.method.suppressed_rows == "drop"
        starred_mask = suppressed_mask if self.refused_classes.height and not drops else None
        frame = frame.with_columns(
            publish(hierarchy, leaves, level, starred_mask).alias(name)
            for name, hierarchy, level, leaves in zip(names, self.hierarchies, self.levels, codes, strict=True)
            if level or starred_mask is not None
        )
        if not drops:
            return NumberedRows(frame, row_numbers)
        kept_mask = pl.Series(~suppressed_mask)
        return NumberedRows(frame.filter(kept_mask), row_numbers.filter(kept_mask))

    def _flag_suppressed(self, codes: list[Codes]) -> Flags:
        """Join the suppressed classes back to rows."""
        count = len(codes[0])
        if not self.refused_classes.height:
            return np.zeros(count, dtype=np.bool_)
        parts = zip(self.refused_classes.columns, self.hierarchies, self.levels, codes, strict=True)
        if self._refused_lookup is not None:
            flags, lookups = self._refused_lookup
            key = np.zeros(count, dtype=np.int64)
            for lookup, leaves in zip(lookups, codes, strict=True):
                key += lookup[leaves]
            return flags[key]
        groups = pl.DataFrame({name: h.group_leaves(level).group_of_leaf[leaves] for name, h, level, leaves in parts})
        marked_classes = self.refused_classes.with_columns(pl.lit(True).alias("\0refused"))
        joined_groups = groups.join(marked_classes, on=self.refused_classes.columns, how="left", maintain_order="left")
        return joined_groups["\0refused"].fill_null(False).to_numpy()

    @cached_property
    def _refused_lookup(self) -> tuple[Flags, list[Ints]] | None:
        """A flag for each combination of groups, and what each leaf adds to its number; None if there are too many."""
        tables = [
            h.group_leaves(level).group_of_leaf.astype(np.int64)
            for h, level in zip(self.hierarchies, self.levels, strict=True)
        ]
        widths = [int(table.max(initial=0)) + 1 for table in tables]
        if prod(widths) > _MOST_FLAGS:
            return None
        strides = [prod(widths[number + 1 :]) for number in range(len(widths))]
        flags = np.zeros(prod(widths), dtype=np.bool_)
        groups = zip(self.refused_classes.get_columns(), strides, strict=True)
        flags[sum(group.to_numpy().astype(np.int64) * stride for group, stride in groups)] = True
        return flags, [table * stride for table, stride in zip(tables, strides, strict=True)]


def _publish_coded_labels(hierarchy: Hierarchy, leaves: Codes, level: int, starred_mask: Flags | None) -> pl.Series:
    """What `Hierarchy.publish` gives, as a coded column."""
    groups: Codes = hierarchy.group_leaves(level).group_of_leaf
    labels = [*hierarchy.levels[level].labels, None, STAR]
    label_codes = groups[leaves].astype(np.int64)
    if starred_mask is not None:
        label_codes[starred_mask] = len(labels) - 1
    return build_coded_column(label_codes, labels)


class StoredGeneralize(StoredTableMethod[Generalize]):
    """One level for all cells of a column, by any search that needs only counts."""

    runs = "generalize with global recoding"

    def explain_unstored(self, method: Generalize) -> str | None:
        """What of the method does not run on stored rows; None if it runs."""
        if method.recoding != "global":
            return "generalize with local recoding"
        return "search = incognito" if method.search == "incognito" else None

    def plan(self, method: Generalize, table: StoredTable, randomness: Randomness) -> GeneralizationPlan:
        """Find the best levels; nothing is drawn."""
        return plan_generalization(method, table)


def plan_generalization(method: Generalize, table: StoredTable) -> GeneralizationPlan:
    """Find the best levels on counts, and say what is published, promised and lost."""
    outline, names = table.outline, table.quasi_identifying
    refuse_unfit_models(method.models, outline, lambda name: len(table.count_values(name).counts))
    table.refuse_stars()
    table.refuse_strange_values()
    judge = ModelJudge(method.models)
    participants = table.select_participants((*names, *judge.list_columns()))
    stored_grouping = group_stored_rows(
        participants, judge, method.suppression_limit, coarsen=method.search == "optimal"
    )
    grouping = stored_grouping.grouping
    most = int(Fraction(str(method.suppression_limit)) * grouping.rows)
    weights = method.list_column_weights(names)
    report_progress("searching the lattice")
    search = method.search_levels(grouping, judge, most, weights, stored_grouping.floor)
    if search.best is None or not search.best.classes:
        raise explain_impossible(grouping, judge, most)
    suppressed_mask = grouping.flag_suppressed_rows(search.best.levels, judge)
    hidden_columns = _choose_hidden_columns(method, table, judge, grouping, suppressed_mask)
    losses = compute_level_losses(grouping, search.best) | {"dropped_rows": len(table) - grouping.rows}
    if weights is not None:
        losses["weighted_loss"] = float(compute_loss(grouping, search.best, weights))
    details = collect_level_details(outline, search, grouping, None, None)
    plan = GeneralizationPlan(
        method=method,
        table=table,
        hierarchies=grouping.hierarchies,
        levels=search.best.levels,
        refused_classes=_list_refused_classes(grouping, search.best.levels, suppressed_mask),
        hidden_columns=hidden_columns,
        claims=method.list_claims(outline, grouping, bool(suppressed_mask.any()), hidden_columns),
        losses=losses,
        details=replace(details, population=judge.find_population()),
        suppression=state_suppression(
            outline, search.best.suppressed_count, hidden_columns, is_left_out=method.suppressed_rows == "drop"
        ),
    )
    node = RecodedRows(np.array([plan.levels], dtype=np.int32), np.where(suppressed_mask, -1, 0).astype(np.int32))
    changes = method.state_levels(outline, grouping, node, plan.outline)
    return replace(plan, changes=state_blanked(changes, hidden_columns or ()))


def _choose_hidden_columns(
    method: Generalize, table: StoredTable, judge: ModelJudge, grouping: Grouping, suppressed_mask: Flags
) -> tuple[str, ...] | None:
    """The columns whose cells are empty in suppressed rows; None if those rows are a class like any other."""
    if method.suppressed_rows == "drop" or not suppressed_mask.any():
        return None
    row_count = int(grouping.list_distinct().weights[suppressed_mask].sum())
    if method.suppressed_rows == "star" and judge.shows_suppressed(row_count, table.outline):
        return None
    return list_hidden_columns(table.outline, method.models)


def _list_refused_classes(grouping: Grouping, levels: Levels, suppressed_mask: Flags) -> pl.DataFrame:
    """The groups of the suppressed combinations, each class once."""
    codes = grouping.list_distinct().codes[:, suppressed_mask]
    parts = zip(grouping.names, grouping.hierarchies, levels, codes, strict=True)
    return pl.DataFrame(
        {name: h.group_leaves(level).group_of_leaf[leaves] for name, h, level, leaves in parts}
    ).unique()
