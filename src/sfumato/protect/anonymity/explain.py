# SPDX-License-Identifier: MIT
"""Why a release came out as it did: which people forced a level, and what it would take to keep a column precise.

Everything here is about the originals, so it stays with the custodian.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from sfumato.bound_words import spell_at_most

if TYPE_CHECKING:
    from sfumato.protect.anonymity.generalize import Generalize
    from sfumato.protect.anonymity.models.model_judge import ModelJudge
    from sfumato.protect.anonymity.search.distinct_tuples import DistinctTuples
    from sfumato.protect.anonymity.search.grouping import Grouping
    from sfumato.protect.anonymity.search.node_classes import Levels
    from sfumato.release import Release
    from sfumato.table import Table

MOST_NODES_DRAWN = 400


@dataclass(frozen=True)
class Why:
    """Why one column is at its level, and what a finer level would cost."""

    column: str
    """The column."""
    level: int
    """Its published level."""
    forced_by: int
    """Rows that would be in refused classes one level finer, everything else unchanged."""
    suppressed_now: int
    """Rows that are suppressed now."""
    limit: int
    """Rows that may be suppressed."""
    finer_loss: float | None
    """The smallest loss with this column at least one level finer, within the limit; None if impossible."""
    finer_levels: dict[str, int] | None
    """The levels with that loss."""
    needed_limit: float | None
    """The smallest suppression limit under which this column could be finer, however coarse the others."""

    def describe_reason(self) -> str:
        """The reason in words."""
        if self.level == 0:
            return f"{self.column} is published unchanged{' but for suppressed rows' if self.suppressed_now else ''}."
        rows = "1 row" if self.forced_by == 1 else f"{self.forced_by:,} rows"
        sentence = f"{self.column} is at level {self.level}: one level finer, {rows} would be in classes "
        sentence += f"that are refused, and {self.limit:,} may be suppressed."
        if self.forced_by <= self.limit:
            sentence = f"{self.column} is at level {self.level} because that loses less over all columns."
        if self.finer_loss is not None:
            return f"{sentence} The cheapest way to keep it finer has a loss of {self.finer_loss:.4f}."
        if self.needed_limit is not None:
            limit = spell_at_most(self.needed_limit)
            return f"{sentence} It could only be finer with a suppression limit of {limit} or more."
        return sentence


@dataclass(frozen=True)
class LatticeNode:
    """One node of a small lattice, for a plot."""

    levels: Levels
    suppressed_count: int
    will_do: bool
    is_chosen: bool
    loss: float


class LevelReasons(NamedTuple):
    """Why a release is at its levels, and the lattice of which they are one node."""

    whys: tuple[Why, ...] = ()
    lattice: tuple[LatticeNode, ...] = ()
    """Every node, if they are few enough to plot."""


class ChosenLevels(NamedTuple):
    """The levels of a generalized release, and the method that chose them."""

    method: Generalize
    levels: Levels


def find_chosen_levels(release: Release) -> ChosenLevels | None:
    """The levels that there are reasons for; None for a release by another method."""
    from sfumato.protect.anonymity.generalize import Generalize

    levels = release.details.get("levels")
    if not isinstance(release.method, Generalize) or not levels:
        return None
    return ChosenLevels(release.method, tuple(levels.values()))


def explain_release(release: Release, table: Table) -> LevelReasons:
    """Why each column of a generalized release is at its level; `table` holds the originals."""
    chosen_levels = find_chosen_levels(release)
    return LevelReasons() if chosen_levels is None else explain_levels(*chosen_levels, table)


def explain(release: Release, table: Table) -> tuple[Why, ...]:
    """Why each column of a generalized release is at its level; `table` holds the originals."""
    return explain_release(release, table).whys


def explain_levels(method: Generalize, levels: Levels, table: Table) -> LevelReasons:
    """Why a method chose these levels for a table."""
    grouping = group_explained_rows(method, table)
    return LevelReasons() if grouping is None else _explain_grouping(method, levels, grouping)


def explain_distinct_rows(method: Generalize, levels: Levels, rows: DistinctTuples) -> LevelReasons:
    """The same from the distinct rows of the table, in another process."""
    return _explain_grouping(method, levels, rows.group())


def group_explained_rows(method: Generalize, table: Table) -> Grouping | None:
    """The rows that reasons are found in; None if there are no reasons to find."""
    from sfumato.protect.anonymity.models.model_judge import ModelJudge
    from sfumato.protect.anonymity.participants import select_participants

    shape = tuple(table.get_hierarchy(name).height + 1 for name in table.quasi_identifying)
    if not has_reasons(method, shape):
        return None
    return ModelJudge(method.models).build_grouping(select_participants(table, can_overlap=True).table)


def has_reasons(method: Generalize, shape: Levels) -> bool:
    """Whether a search knows the alternatives, or its lattice is small enough to plot."""
    return method.search != "heuristic" or _is_small(shape)


def _is_small(shape: Levels) -> bool:
    return prod(shape) <= MOST_NODES_DRAWN


def _explain_grouping(method: Generalize, levels: Levels, grouping: Grouping) -> LevelReasons:
    from sfumato.protect.anonymity.models.model_judge import ModelJudge

    judge = ModelJudge(method.models)
    return LevelReasons(
        _explain_columns(grouping, judge, method, levels),
        _list_lattice_nodes(grouping, judge, method, levels) if _is_small(grouping.shape) else (),
    )


def _explain_columns(grouping: Grouping, judge: ModelJudge, method: Generalize, levels: Levels) -> tuple[Why, ...]:
    if method.search == "heuristic":
        return ()  # it does not know the alternatives
    most = _count_suppressible(method, grouping)
    return tuple(
        _explain_column(grouping, judge, method, most, levels, number, name)
        for number, name in enumerate(grouping.names)
    )


def _count_suppressible(method: Generalize, grouping: Grouping) -> int:
    return int(Fraction(str(method.suppression_limit)) * grouping.rows)


def _explain_column(
    grouping: Grouping, judge: ModelJudge, method: Generalize, most: int, levels: Levels, number: int, name: str
) -> Why:
    from sfumato.protect.anonymity.search.lattice import find_optimal_node
    from sfumato.protect.anonymity.search.metrics import compute_loss

    level = levels[number]
    suppressed_count = grouping.judge(levels, judge).suppressed_count
    if level == 0:
        return Why(name, 0, 0, suppressed_count, most, None, None, None)
    one_finer = (*levels[:number], level - 1, *levels[number + 1 :])
    forced_count = grouping.judge(one_finer, judge).suppressed_count
    ceiling = tuple(level - 1 if i == number else size - 1 for i, size in enumerate(grouping.shape))
    weights = method.list_column_weights(grouping.names)
    best = find_optimal_node(grouping, judge, method.metric, most, weights, ceiling).best
    needed_limit = None if best else grouping.judge(ceiling, judge).suppressed_count / grouping.rows
    return Why(
        column=name,
        level=level,
        forced_by=forced_count,
        suppressed_now=suppressed_count,
        limit=most,
        finer_loss=float(compute_loss(grouping, best)) if best else None,
        finer_levels=dict(zip(grouping.names, best.levels, strict=True)) if best else None,
        needed_limit=needed_limit,
    )


def _list_lattice_nodes(
    grouping: Grouping, judge: ModelJudge, method: Generalize, levels: Levels
) -> tuple[LatticeNode, ...]:
    from sfumato.protect.anonymity.search.metrics import compute_loss
    from sfumato.protect.anonymity.search.rollup import RollUp

    roll_up, most = RollUp(grouping), _count_suppressible(method, grouping)
    nodes = []
    for node in product(*(range(size) for size in grouping.shape)):
        verdict = roll_up.group_below(node).decide(node, judge)
        will_do = verdict.suppressed_count <= most and verdict.classes > 0
        loss = float(compute_loss(grouping, verdict))
        nodes.append(LatticeNode(node, verdict.suppressed_count, will_do, node == levels, loss))
    return tuple(nodes)
