# SPDX-License-Identifier: MIT
"""All databases that agree with published supports, for a few items: what is the same in all of them is known.

A database is counted by which of the n items a basket holds, 2^n nonnegative whole numbers. A support is the sum of
some of them. Whether a pattern can have none or at least k baskets is then an integer program, and a database found for
one pattern answers many others. With each further item there are three times as many patterns, so a search may be given
a time to end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf
from time import monotonic
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.baskets import Baskets, Items
from sfumato.errors import DataError
from sfumato.patterns import Patterns
from sfumato.runtime.progress import report_progress

_SLACK = 1e-6
_LATE = 1
"""What scipy calls a program that reached its time limit."""
_LONG = 1e9
"""Seconds: no limit."""

NO_DATABASE = "the published supports contradict one another: no database has them; check their source"


class _SolverDeadline(Exception):
    """A program could not be solved in time, so nothing is known."""


class ForcedCells(NamedTuple):
    """A pattern by the bits of its items, and the supports it can have."""

    present: int
    absent: int
    least: int
    most: int


def count_basket_kinds(baskets: Baskets, items: Items) -> Ints:
    """How many baskets hold exactly which of some items, indexed by the bits of the items held."""
    item_codes = {item: code for code, item in enumerate(baskets.items)}
    bit = np.zeros(len(baskets.items) + 1, dtype=np.int64)
    for index, item in enumerate(items):
        bit[item_codes[item]] = 1 << index
    rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
    basket_bits = np.zeros(len(baskets), dtype=np.int64)
    np.bitwise_or.at(basket_bits, rows, bit[baskets.codes])
    return np.bincount(basket_bits, minlength=1 << len(items)).astype(np.int64)


@dataclass(frozen=True)
class ForcedSearch:
    """What a search through all databases found."""

    forced_cells: tuple[ForcedCells, ...]
    complete: bool
    """Whether every pattern was examined."""


@dataclass(frozen=True, eq=False)
class SupportWorlds:
    """Linear conditions on the number of baskets of each kind."""

    count: int
    """The number of items."""
    matrix: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, patterns: Patterns) -> SupportWorlds:
        """One condition per published set, one for the number of baskets, and one per minimal unknown set."""
        count = len(patterns.items)
        cells = np.arange(1 << count)
        codes, offsets = patterns.codes, patterns.offsets
        sets = [int((1 << codes[start:stop].astype(np.int64)).sum()) for start, stop in pairwise(offsets)]
        masks, low, high = [0, *sets], [patterns.baskets, *patterns.supports], [patterns.baskets, *patterns.supports]
        if patterns.complete_from is not None:
            published_masks = {0, *sets}
            for mask in range(1, 1 << count):
                facets = [mask ^ 1 << bit for bit in range(count) if mask >> bit & 1]
                if mask not in published_masks and all(facet in published_masks for facet in facets):
                    masks.append(mask)
                    low.append(0)
                    high.append(patterns.complete_from - 1)
        membership_mask = (cells & np.array(masks)[:, None]) == np.array(masks)[:, None]
        return cls(count, membership_mask.astype(np.float64), np.array(low, np.float64), np.array(high, np.float64))

    def find_forced(self, k: int, witnesses: list[Ints], deadline: float = inf) -> ForcedSearch:
        """Every conjunction that has between 1 and k − 1 baskets in all databases, or those found until a time."""
        forced_cells: list[ForcedCells] = []
        try:
            pool = [*witnesses, *([] if witnesses else [self._find_some_world(deadline)])]
            self._examine_conjunctions(k, pool, forced_cells, deadline)
        except _SolverDeadline:
            return ForcedSearch(tuple(forced_cells), complete=False)
        return ForcedSearch(tuple(forced_cells), complete=True)

    def _examine_conjunctions(self, k: int, pool: list[Ints], forced_cells: list[ForcedCells], deadline: float) -> None:
        """Add to `forced_cells`, and to the pool the databases that answer other patterns."""
        patterns = self._list_conjunctions()
        for number, (present, absent) in enumerate(patterns):
            if monotonic() > deadline:
                raise _SolverDeadline
            kinds = self._list_kinds(present, absent)
            if any(world[kinds].sum() == 0 or world[kinds].sum() >= k for world in pool):
                continue
            report_progress("reasoning about all databases", number, len(patterns))
            row = np.zeros(self.matrix.shape[1])
            row[kinds] = 1
            other = self._find_other_world(row, k, deadline)
            if other is None:
                forced_cells.append(ForcedCells(present, absent, *self._find_range(row, deadline)))
            else:
                pool.append(other)

    def _find_other_world(self, row: Floats, k: int, deadline: float) -> Ints | None:
        """A database with none, or at least k, of the baskets that a row marks; None if there is none."""
        for sign, least, most in ((-1, float(k), np.inf), (1, 0.0, 0.0)):
            # The relaxed program is fast, bounds the integer one, and often has an integer solution already.
            relaxed_world = self._solve_world(0 * row, (0, np.inf), sign * row, deadline, whole=False)
            if relaxed_world is not None and not least - _SLACK < relaxed_world @ row < most + _SLACK:
                continue
            if relaxed_world is not None and self._is_exact(np.rint(relaxed_world), row, least, most):
                return np.rint(relaxed_world).astype(np.int64)
            solution = self._solve_world(row, (least, most), 0 * row, deadline)
            if solution is not None:
                return solution.astype(np.int64)
        return None

    def _list_conjunctions(self) -> list[tuple[int, int]]:
        """All pairs of disjoint sets of items, one of them not empty; longest first, since these are rarest."""
        every = range(1 << self.count)
        pairs = [(present, other) for present in every for other in every if not present & other and present | other]
        return sorted(pairs, key=lambda pair: -(pair[0] | pair[1]).bit_count())

    def _list_kinds(self, present: int, absent: int) -> Ints:
        cells = np.arange(1 << self.count)
        return np.flatnonzero((cells & present == present) & (cells & absent == 0))

    def _find_some_world(self, deadline: float) -> Ints:
        zero_row = np.zeros(self.matrix.shape[1])
        solution = self._solve_world(zero_row, (0, np.inf), zero_row, deadline)
        if solution is None:
            raise DataError(NO_DATABASE)
        return solution.astype(np.int64)

    def _find_range(self, row: Floats, deadline: float) -> tuple[int, int]:
        ends = [self._solve_world(row, (0, np.inf), sign * row, deadline) for sign in (1, -1)]
        least, most = (0 if world is None else round(float(world @ row)) for world in ends)
        return least, most

    def _solve_world(
        self, row: Floats, ends: tuple[float, float], cost: Floats, deadline: float, whole: bool = True
    ) -> Floats | None:
        """The cheapest database with a number of marked baskets in this range; None if none agrees."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        answer = milp(
            cost,
            integrality=np.full(len(row), int(whole)),
            bounds=Bounds(0, np.inf),
            constraints=[LinearConstraint(self.matrix, self.low, self.high), LinearConstraint(row[None], *ends)],
            options={"mip_rel_gap": 0.0, "time_limit": max(min(deadline - monotonic(), _LONG), 0.01)},
        )
        if answer.status == _LATE:
            raise _SolverDeadline
        if answer.x is None or not whole:
            return None if answer.x is None else np.asarray(answer.x)
        world: Floats = np.rint(answer.x)
        return world if self._is_exact(world, row, *ends) else None

    def _is_exact(self, world: Floats, row: Floats, least: float, most: float) -> bool:
        """Whether whole numbers agree exactly: a solver works in floats."""
        sums = self.matrix @ world
        is_feasible = (sums >= self.low).all() and (sums <= self.high).all() and (world >= 0).all()
        return bool(is_feasible and least <= world @ row <= most)
