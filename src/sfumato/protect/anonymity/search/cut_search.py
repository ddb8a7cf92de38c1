# SPDX-License-Identifier: MIT
"""The search for the best set of cut points: a good set first, then the tree of all sets (`k_optimize.py`).

Rows are compressed to distinct ones with weights; the loops are in `kernels/anonymity/k_optimize.py`. Work is
measured in row visits, not in seconds, so that a finished search gives the same answer on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Ints
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    from sfumato.kernels.anonymity.k_optimize import CutStack
    from sfumato.kernels.anonymity.k_optimize_cells import CutRows, CutScratch

_CHUNK = 5_000_000
"""Row visits between two checks of the clock."""
_MOST_VISITS = 500_000_000
"""Row visits after which no further starting set is tried."""
_SHAKES, _SHAKEN = 20, 0.1
"""How often a good set is perturbed, and the share of cuts that is then flipped."""
_TABLE_SIZE = 1 << 16


@dataclass(frozen=True)
class CutGoal:
    """The problem and the time limit."""

    k: int
    squares: bool
    """Whether a class costs its squared size, or its minority."""
    suppress: bool
    seconds: float | None


@dataclass(frozen=True)
class BestCuts:
    """The best set of cuts, and what is known about all others."""

    cuts: tuple[tuple[int, ...], ...]
    """For each column, the indices of the values that begin a new piece."""
    objective: int
    bound: int
    """Whether it is proven that no set of cuts costs less."""
    proven: bool
    examined_count: int
    """How many nodes of the tree were evaluated, some of them more than once."""
    seconds: float


class _CutSet(NamedTuple):
    """A set of cuts, and what it costs."""

    head: Flags
    cost: int


class CutSearch:
    """The rows, ready to be cut anywhere, and the state of the search."""

    def __init__(self, codes: Sequence[Codes], widths: Sequence[int], labels: Codes | None, goal: CutGoal) -> None:
        """Compress the rows (one array of codes per column) and lay out the arrays that the kernels share."""
        self._goal = goal
        frame = pl.DataFrame({str(i): column for i, column in enumerate(codes)})
        if labels is not None:
            frame = frame.with_columns(pl.Series("label", labels))
        distinct = frame.group_by(frame.columns, maintain_order=True).len()
        self._start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self._values = int(self._start[-1])
        self._can_cut: Flags = np.ones(self._values, dtype=np.bool_)
        self._can_cut[self._start[:-1]] = False
        self._every_cut: Ints = np.flatnonzero(self._can_cut).astype(np.int64)
        self._table = _build_kernel_table(distinct, len(codes), self._start, goal)
        rows = distinct.height
        self._work = _make_work_arrays(rows, self._values, self._table.rule.labels)
        self._all_rows = np.arange(rows, dtype=np.int32)
        self._trial = _make_stack(rows, self._values, 1)
        self._visits = rows * len(codes)
        self._spent_visits = 0
        self._begin = 0.0
        # Only the search order: not the randomness of the release, and no secret.
        self._chance = np.random.default_rng(0)

    def run(self) -> BestCuts:
        """Find a good set, then walk the tree until it is proven best or time is up."""
        from sfumato.kernels.anonymity import k_optimize

        report_progress("looking for a good set of cuts")
        self._begin = time.monotonic()  # not before the kernels are loaded: the first time they are compiled
        head, cost = self._find_good_start()
        stack = _make_stack(len(self._all_rows), self._values, 16)
        k_optimize.set_root_frame(self._table, self._work, stack)
        stack.frames[0, k_optimize.TAIL_END] = len(self._every_cut)
        stack.tails[: len(self._every_cut)] = self._every_cut
        # Every class has at least k rows; time may run out before a better bound is known.
        stack.frames[0, k_optimize.NODE_BOUND] = self._goal.k * self._table.rule.rows if self._goal.squares else 0
        stack.best_head[:], stack.state[k_optimize.BEST] = head, cost
        outcome, tree_visits = k_optimize.CUTS_RUNNING, 0
        start_visits = self._spent_visits
        while outcome != k_optimize.CUTS_DONE and not self._is_late():
            outcome = k_optimize.search_cuts(self._table, self._work, stack, _CHUNK)
            tree_visits += _CHUNK
            if outcome == k_optimize.CUTS_FULL:
                stack = _double_space(stack)
            if stack.state[k_optimize.BEST] < cost:
                head, cost = self._polish_cuts(stack.best_head.copy())
            elif 2 * (self._spent_visits - start_visits) < tree_visits:  # a better set found now prunes the tree sooner
                head, cost = min(_CutSet(head, cost), self._shake_cuts(head), key=lambda cuts: cuts.cost)
            stack.best_head[:], stack.state[k_optimize.BEST] = head, cost
            report_progress("searching the sets of cuts", int(stack.state[k_optimize.NODE_COUNT]))
        proven = outcome == k_optimize.CUTS_DONE
        bound = cost if proven else min(cost, _find_open_bound(stack))
        seconds = time.monotonic() - self._begin
        return BestCuts(
            self._group_cuts_by_column(self._add_free_cuts(head)),
            cost,
            bound,
            proven,
            int(stack.state[k_optimize.NODE_COUNT]),
            seconds,
        )

    def _is_late(self) -> bool:
        return self._goal.seconds is not None and time.monotonic() - self._begin > self._goal.seconds

    def _find_good_start(self) -> _CutSet:
        """A good set: grown from no cut, pruned from all cuts, then repeatedly from the best one, perturbed."""
        best = self._polish_cuts(np.zeros(self._values, dtype=np.bool_))
        every = np.zeros(self._values, dtype=np.bool_)
        every[self._every_cut] = True
        if self._compute_set_cost(every) is not None:
            best = min(best, self._polish_cuts(every), key=lambda cuts: cuts.cost)
        for _ in range(_SHAKES):
            if self._spent_visits > _MOST_VISITS or self._is_late():
                break
            best = min(best, self._shake_cuts(best.head), key=lambda cuts: cuts.cost)
        return best

    def _shake_cuts(self, head: Flags) -> _CutSet:
        """Flip some cuts of a set and polish it again; only remove cuts if small classes are not allowed."""
        flipped_cuts = self._every_cut[self._chance.random(len(self._every_cut)) < _SHAKEN]
        start = head.copy()
        start[flipped_cuts] = ~head[flipped_cuts] if self._goal.suppress else False
        return self._polish_cuts(start)

    def _compute_set_cost(self, head: Flags) -> int | None:
        """The cost of a set of cuts; None if it leaves small classes and suppression is not allowed."""
        from sfumato.kernels.anonymity.k_optimize_cells import compute_cut_cost

        self._spent_visits += self._visits
        cost, small = compute_cut_cost(self._table, self._work, self._all_rows, head)
        return int(cost) if self._goal.suppress or not small else None

    def _polish_cuts(self, head: Flags) -> _CutSet:
        """Add, remove and shift single cuts while the set gets cheaper."""
        from sfumato.kernels.anonymity.k_optimize_cells import shift_cut

        limit = self._spent_visits + _MOST_VISITS
        while True:
            head, cost = self._grow_set(head)
            grown_cost = cost
            for cut in self._every_cut[head[self._every_cut]].tolist():
                if self._spent_visits > limit or self._is_late():
                    return _CutSet(head, cost)
                trials = shift_cut(self._table, self._work, self._all_rows, self._can_cut, head, cut, cost)
                self._spent_visits += trials.tried_count * self._visits
                cost = trials.cost
            if cost == grown_cost:
                return _CutSet(head, cost)

    def _weigh_set(self, head: Flags) -> tuple[int, Any]:
        """The cost of a set, and what each further cut would do to it."""
        from sfumato.kernels.anonymity.k_optimize import weigh_head

        self._spent_visits += self._visits
        self._trial.head[:] = head
        cost = weigh_head(self._table, self._work, self._trial)
        return int(cost), self._work.effect[:, : self._values]

    def _grow_set(self, head: Flags) -> _CutSet:
        """Add the cut that helps most, as long as one helps."""
        from sfumato.kernels.anonymity.k_optimize_cells import CELL_COST, SMALL

        head = head.copy()
        while True:
            cost, effect = self._weigh_set(head)
            change = np.where(head | (effect[SMALL] > 0) & (not self._goal.suppress), 0, effect[CELL_COST])
            cut = int(change.argmin())
            if change[cut] >= 0 or self._is_late():
                return _CutSet(head, cost)
            head[cut] = True

    def _add_free_cuts(self, head: Flags) -> Flags:
        """Add the cuts that change neither cost nor suppression, lowest first: labels as narrow as possible."""
        from sfumato.kernels.anonymity.k_optimize_cells import CELL_COST, GOOD, SMALL

        head = head.copy()
        while True:
            _, effect = self._weigh_set(head)
            free = ~head & (effect[CELL_COST] == 0) & (effect[SMALL] == 0)
            free[self._start[:-1]] = False
            # A cut that splits no class never will, whatever else is cut; of those that do, one at a time.
            useful_cuts = np.flatnonzero(free & (effect[GOOD] > 0))
            head |= free & (effect[GOOD] == 0)
            if not len(useful_cuts):
                return head
            head[useful_cuts[0]] = True

    def _group_cuts_by_column(self, head: Flags) -> tuple[tuple[int, ...], ...]:
        ends = zip(self._start[:-1].tolist(), self._start[1:].tolist(), strict=True)
        return tuple(tuple(np.flatnonzero(head[begin:end]).tolist()) for begin, end in ends)


def _build_kernel_table(distinct: pl.DataFrame, columns: int, start: Ints, goal: CutGoal) -> CutRows:
    """What the kernels read."""
    from sfumato.kernels.anonymity.k_optimize_cells import CutRows, CutRule

    codes = np.array(distinct[:, :columns].to_numpy(), dtype=np.int32, order="C")  # polars returns read-only arrays
    weights = np.array(distinct["len"].to_numpy(), dtype=np.int64)
    rows, labels = int(weights.sum()), 1
    label = np.zeros(len(weights), dtype=np.int32)
    if not goal.squares:
        label = distinct["label"].rank("dense").cast(pl.Int32).to_numpy() - np.int32(1)
        labels = max(int(label.max()) + 1, 2)
    # Suppressing a row then never costs less than adding it to a balanced class.
    is_balanced = goal.squares and (rows >= 4 * goal.k - 1 or not goal.suppress)
    penalty = rows if goal.squares else 1
    rule = CutRule(goal.k, rows, penalty, goal.suppress, goal.squares, labels, is_balanced)
    # Hashes that distinguish sets: not the randomness of the release.
    marks = np.random.default_rng(0).integers(0, 1 << 63, int(start[-1]), dtype=np.uint64)
    return CutRows(codes, weights, label, start, rule, marks, _list_least_squares(rows, goal.k))


def _list_least_squares(rows: int, k: int) -> Ints:
    """The smallest sum of squares of classes of each size, as `bound_sum_of_squares` counts them."""
    size = np.arange(min(rows + 1, _TABLE_SIZE), dtype=np.int64)
    parts = np.maximum(size // k, 1)
    class_size, larger = size // parts, size % parts
    return larger * (class_size + 1) ** 2 + (parts - larger) * class_size**2


def _make_work_arrays(rows: int, values: int, labels: int) -> CutScratch:
    """Work arrays for the kernels."""
    from sfumato.kernels.anonymity.k_optimize_cells import CutScratch

    slots = 1 << max((2 * rows).bit_length(), 4)
    return CutScratch(
        first=np.zeros(values, dtype=np.int32),
        counts=np.zeros((2, values), dtype=np.int64),
        label_counts=np.zeros(values * labels, dtype=np.int64),
        effect=np.zeros((4, values + 1), dtype=np.int64),
        tail_mask=np.zeros(values, dtype=np.bool_),
        slots=np.full(slots, -1, dtype=np.int32),
        cell_of=np.zeros(rows, dtype=np.int32),
        cells=np.zeros((4, rows), dtype=np.int64),
        cell_labels=np.zeros(rows * labels, dtype=np.int64),
        bounds=np.zeros(rows, dtype=np.int64),
        present=np.zeros(values, dtype=np.int64),
        tally=np.zeros(3 * labels, dtype=np.int64),
    )


def _make_stack(rows: int, values: int, depth: int) -> CutStack:
    """The state of a search, with space for some frames."""
    from sfumato.kernels.anonymity.k_optimize import CutStack

    return CutStack(
        rows=np.zeros(4 * rows + 64, dtype=np.int32),
        class_starts=np.zeros(4 * rows + 64, dtype=np.int32),
        tails=np.zeros(4 * values + 64, dtype=np.int32),
        frames=np.zeros((depth, 10), dtype=np.int64),
        head=np.zeros(values, dtype=np.bool_),
        best_head=np.zeros(values, dtype=np.bool_),
        state=np.zeros(3, dtype=np.int64),
    )


def _double_space(stack: CutStack) -> CutStack:
    """The same state, with twice the space."""
    rows, class_starts, tails, frames = (np.concatenate([part, np.zeros_like(part)]) for part in stack[:4])
    return stack._replace(rows=rows, class_starts=class_starts, tails=tails, frames=frames)


def _find_open_bound(stack: CutStack) -> int:
    """A lower bound on the cost of unvisited nodes: the smallest bound of the open frames."""
    from sfumato.kernels.anonymity import k_optimize

    frames = stack.frames[: int(stack.state[k_optimize.CUT_DEPTH]) + 1]
    closed_mask = np.append(frames[1:, k_optimize.IS_ONLY] != 0, False)
    return int(frames[~closed_mask, k_optimize.NODE_BOUND].min())
