# SPDX-License-Identifier: MIT
"""Prices for swapping: the Lagrange relaxation of problem (12), with one price per category and one per change.

A record that takes a category pays its price and receives that of its old one. Given prices, every record decides
independently, and the total cost is a lower bound of problem (12) for any prices (Lagrange). The best prices are those
of the linear program. They are computed first in a sample of the records, then in the few records that are nearly
undecided: records that are decided at the old prices stay decided at nearby ones. All amounts are integers, so that the
bound is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.protect.swapping.posteriors import UNIT
from sfumato.protect.swapping.swap_marginal import find_least_shift
from sfumato.protect.swapping.swap_records import SwapRecords, sum_exactly
from sfumato.runtime.progress import report_progress

FORBIDDEN_COST = 1 << 60
"""The cost of a forbidden choice."""
WHOLE = 1 << 58
"""The width of a core with every record."""
_SAMPLE = 3_000
_MOST = 200_000
"""The largest core: a larger linear program takes too long."""
_FEW = 50
"""The number of undecided records left to the integer program."""
_GROWTH = 4
_ROUNDS = 40
_TIME_IS_OVER = 1
"""What scipy calls a linear program that reached its limit."""
_REACH = 3.0
"""How far prices move in one step, in core widths."""


@dataclass(frozen=True, eq=False)
class SwapPrices:
    """The price of each category, and of a change."""

    category: Ints
    change: int

    def price_shifts(self) -> Ints:
        """The cost beyond the best if a category grows by one record, then if it shrinks by one."""
        return np.concatenate([self.category.max() - self.category, self.category - self.category.min()])

    def move(self, category: Floats, change: float) -> SwapPrices:
        """Other prices nearby."""
        return SwapPrices(self.category + np.rint(category).astype(np.int64), self.change + round(change))


@dataclass(frozen=True, eq=False)
class PricedDecisions:
    """The preference of every record at some prices."""

    regret: Ints
    """The cost of each category beyond the record's best one; its own category means no change."""
    second: Ints
    """The smallest regret of all categories but the best."""
    best: Ints
    bound: int
    """A lower bound of problem (12)."""


def decide_at_prices(records: SwapRecords, prices: SwapPrices, shift: int) -> PricedDecisions:
    """Let every record choose; counts of categories may shift by `shift` in total."""
    record_indices = np.arange(len(records.own_categories))
    cost = prices.category - records.chances
    cost += (-cost[record_indices, records.own_categories] + prices.change * records.free)[:, None]
    cost[record_indices, records.own_categories] = np.where(records.free, 0, FORBIDDEN_COST)
    best = cost.argmin(axis=1)
    least = cost[record_indices, best]
    cost -= least[:, None]
    second = np.partition(cost, 1, axis=1)[:, 1]
    spread = int(prices.category.max() - prices.category.min())
    bound = sum_exactly(least, records.weight) - prices.change * records.changes - shift // 2 * spread
    return PricedDecisions(cost, second, best, bound)


@dataclass(frozen=True, eq=False)
class UndecidedCore:
    """The records that are nearly undecided at some prices, equal ones merged; all others take their best."""

    members: Ints
    """The records."""
    kind: Ints
    """The kind of each of them."""
    own_categories: Ints
    """The true category of each kind."""
    free: Flags
    size: Ints
    """How many copies each kind has."""
    of_kind: Ints
    """The kind of every option; an option is a category that is nearly the best."""
    takes: Ints
    """The category of every option."""
    regret: Ints
    shift: Ints
    """How much all other records increase the counts of categories."""
    changed_count: int
    """How many free ones of the others change."""
    width: int
    """The largest regret of an option."""

    @classmethod
    def of(cls, records: SwapRecords, decisions: PricedDecisions, width: int) -> UndecidedCore:
        """All options with a regret up to the width."""
        core_mask = decisions.second <= width
        members = np.flatnonzero(core_mask)
        regret = decisions.regret[members]
        labels = np.column_stack(
            [records.own_categories[members], records.free[members], np.where(regret <= width, regret, FORBIDDEN_COST)]
        )
        kinds, kind = np.unique(labels, axis=0, return_inverse=True)
        kind = kind.reshape(-1)
        size = np.zeros(len(kinds), dtype=np.int64)
        np.add.at(size, kind, records.weight[members])
        options = kinds[:, 2:]
        of_kind, takes = np.nonzero(options < FORBIDDEN_COST)
        other_mask = ~core_mask
        best, own_categories, weight = (
            decisions.best[other_mask],
            records.own_categories[other_mask],
            records.weight[other_mask],
        )
        shift = np.zeros(records.categories, dtype=np.int64)
        np.add.at(shift, best, weight)
        np.subtract.at(shift, own_categories, weight)
        return cls(
            members,
            kind,
            kinds[:, 0],
            kinds[:, 1].astype(np.bool_),
            size,
            of_kind.astype(np.int64),
            takes.astype(np.int64),
            options[of_kind, takes],
            shift,
            int((records.free[other_mask] & (best != own_categories)).sum()),
            width,
        )

    @property
    def gives(self) -> Ints:
        """The category that every option gives away."""
        return self.own_categories[self.of_kind]

    @property
    def counting_changes(self) -> Flags:
        """Which options are changes that count."""
        return np.asarray(self.free[self.of_kind] & (self.takes != self.gives))


def bound_without_prices(records: SwapRecords, shift: int) -> int:
    """A lower bound of problem (12) at once: every record takes what costs least, as if no counts had to stay."""
    free = SwapPrices(np.zeros(records.categories, dtype=np.int64), 0)
    return decide_at_prices(records, free, shift).bound


class PricedSwaps(NamedTuple):
    """Prices, and what records choose at them."""

    prices: SwapPrices
    decisions: PricedDecisions


def find_prices(records: SwapRecords, shift: int, deadline: float) -> PricedSwaps:
    """The prices with the highest bound found until a time of the clock, and what records choose at them.

    First in a small sample, then in larger ones: each starts with nearly correct prices. Any prices give a bound.
    """
    prices = SwapPrices(np.zeros(records.categories, dtype=np.int64), 0)
    record_count = len(records.own_categories)
    # The order of records affects the running time, not the result: not the randomness of the release.
    order = np.random.default_rng(0).permutation(record_count)
    free = int(records.free.sum())
    sample_size = _SAMPLE
    while sample_size < record_count and monotonic() < deadline:
        record_indices = np.sort(order[:sample_size])
        share = int(records.free[record_indices].sum()) / max(free, 1)
        part = records.take(record_indices, round(records.changes * share))
        # An infeasible sample would drive prices to infinity, so its counts may shift as needed.
        allowed_shift = max(
            find_least_shift(part.available, part.changes, part.forced_counts), 2 * round(shift * share / 2)
        )
        prices = _improve_prices(part, allowed_shift, prices, deadline).prices
        sample_size *= _GROWTH
    return _improve_prices(records, shift, prices, deadline)


def _improve_prices(records: SwapRecords, shift: int, prices: SwapPrices, deadline: float) -> PricedSwaps:
    """Improve prices until the core's linear program matches the bound, or the time is over."""
    decisions = decide_at_prices(records, prices, shift)
    core_size = _SAMPLE
    for step in range(_ROUNDS):
        report_progress("pricing swaps", step)
        core = UndecidedCore.of(records, decisions, _choose_width_for_core(decisions.second, core_size))
        price_move = _solve_relaxed_core(core, records, prices, shift, deadline - monotonic())
        if price_move is None:
            break
        other = prices.move(price_move.category, price_move.change)
        new_decisions = decide_at_prices(records, other, shift)
        bound_gain = new_decisions.bound - decisions.bound
        if bound_gain > 0:
            prices, decisions = other, new_decisions
        if price_move.feasible and price_move.excess_cost - max(bound_gain, 0) <= _choose_width_for_core(
            decisions.second, _FEW
        ):
            break
        if bound_gain <= 0:
            if core_size >= min(len(records.own_categories), _MOST):
                break
            core_size *= 2
    return PricedSwaps(prices, decisions)


def _choose_width_for_core(second: Ints, core_size: int) -> int:
    """The width of a core of about this many records."""
    if core_size >= len(second):
        return WHOLE
    return min(int(np.partition(second, core_size)[core_size]), WHOLE)


@dataclass(frozen=True, eq=False)
class _PriceMove:
    """How prices move in the linear program of a core."""

    category: Floats
    change: float
    excess_cost: float
    """How much more the core costs than the bound at the old prices."""
    feasible: bool
    """Whether the sums are met without slack: then the core is a fractional solution."""


def _solve_relaxed_core(
    core: UndecidedCore, records: SwapRecords, prices: SwapPrices, shift: int, seconds: float
) -> _PriceMove | None:
    """Solve the core's relaxation; None if the time does not suffice.

    Regrets are scaled by the width, so that the solver sees numbers around 1.
    """
    from scipy import optimize

    if seconds <= 0:
        return None
    linprog: Any = optimize.linprog
    whole = core.width == WHOLE
    scale = float(UNIT) if whole else float(max(core.width, 1))
    reach = 4.0 * (records.categories + 1) if whole else _REACH
    categories, options = records.categories, len(core.takes)
    regrets = prices.price_shifts()
    upper = np.full(options + 4 * categories + 2, np.inf)
    upper[options : options + 2 * categories][regrets > core.width] = 0
    solution = linprog(
        np.concatenate([core.regret / scale, regrets / scale, np.full(2 * categories + 2, reach)]),
        A_eq=_build_sum_matrix(core, categories),
        b_eq=np.concatenate([-core.shift, [records.changes - core.changed_count], core.size, [shift]]).astype(
            np.float64
        ),
        bounds=np.column_stack([np.zeros(len(upper)), upper]),
        method="highs",
        options={"time_limit": seconds},
    )
    if solution.status == _TIME_IS_OVER:
        return None
    assert solution.x is not None, "with slack every sum can be met"
    duals = -np.asarray(solution.eqlin.marginals) * scale
    help_used = float(solution.x[-2 * categories - 2 :].sum())
    return _PriceMove(duals[:categories], float(duals[categories]), float(solution.fun) * scale, help_used < 1e-7)


def _build_sum_matrix(core: UndecidedCore, categories: int) -> Any:
    """The sums as a matrix. After the options: shifts of every category up and down, and slack, up and down, for every
    sum; the last line is the sum of all shifts."""
    from scipy.sparse import coo_array

    rows, columns, entries = list_sum_entries(core, categories)
    options, kinds = len(core.takes), len(core.size)
    balance, help_lines = np.arange(categories), np.arange(categories + 1)
    shifts = options + np.arange(2 * categories)
    helps = options + 2 * categories + np.arange(2 * categories + 2)
    last = categories + 1 + kinds
    rows = np.concatenate([rows, balance, balance, help_lines, help_lines, np.full(2 * categories, last)])
    columns = np.concatenate([columns, shifts, helps, shifts])
    shift_entries, help_entries = np.repeat([-1.0, 1.0], categories), np.repeat([1.0, -1.0], categories + 1)
    entries = np.concatenate([entries, shift_entries, help_entries, np.ones(2 * categories)])
    return coo_array((entries, (rows, columns)), shape=(last + 1, int(helps[-1]) + 1)).tocsr()


class SumEntries(NamedTuple):
    """The entries of the sums over a core's options."""

    rows: Ints
    columns: Ints
    signs: Floats


def list_sum_entries(core: UndecidedCore, categories: int) -> SumEntries:
    """The entries of the sums over a core's options: the shift of each category, the changes, each kind's copies."""
    places = np.arange(len(core.takes))
    moves_mask, counts_change = core.takes != core.gives, core.counting_changes
    rows = [core.takes[moves_mask], core.gives[moves_mask], np.full(int(counts_change.sum()), categories)]
    columns = [places[moves_mask], places[moves_mask], places[counts_change], places]
    signs = [
        np.ones(int(moves_mask.sum())),
        -np.ones(int(moves_mask.sum())),
        np.ones(int(counts_change.sum())),
        np.ones(len(places)),
    ]
    return SumEntries(
        np.concatenate([*rows, categories + 1 + core.of_kind]), np.concatenate(columns), np.concatenate(signs)
    )
