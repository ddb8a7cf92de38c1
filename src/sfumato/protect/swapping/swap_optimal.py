# SPDX-License-Identifier: MIT
"""Phase II of swapping to the optimum: the best found, with a bound that is proven.

Problem (12) of Li and Sarkar (2004). Prices first (`swap_prices`): at the best prices nearly every record is decided.
What is left is an integer program over the few whose choice costs next to nothing. It is exact: a record whose second
choice costs more than the whole gap between the bound and the best answer known takes its first choice in every better
answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import numpy as np

from sfumato.arrays import Ints
from sfumato.progress import report_progress
from sfumato.protect.integer_program import IntegerProgram, solve_program
from sfumato.protect.swapping.swap_prices import (
    WHOLE,
    PricedDecisions,
    SwapPrices,
    UndecidedCore,
    find_prices,
    list_sum_entries,
)
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords

_FEW = 400
"""Records of the first integer program."""
_GROWTH = 4
_SIZE = 10_000.0
"""What the largest regret is for the solver, whose tolerance is a millionth."""


@dataclass(frozen=True, eq=False)
class SwapOptimum:
    """The best answer found."""

    answer: SwapAnswer
    objective: int
    """Its cost, in units."""
    bound: int
    """The least that any answer costs; the objective itself where that is proven."""

    @property
    def proven(self) -> bool:
        """Whether no answer is better."""
        return self.bound == self.objective


def find_best_answer(records: SwapRecords, shift: int, seconds: float, chance: np.random.Generator) -> SwapOptimum:
    """The cheapest answer whose counts shift by no more than `shift` in all; ties are broken by lot."""
    until = monotonic() + seconds
    if not records.moving:
        return SwapOptimum(SwapAnswer.change_nobody(), 0, 0)
    prices, decided = find_prices(records, shift)
    ranked = np.sort(decided.second)
    best: SwapOptimum | None = None
    width = _choose_core_width(ranked, _FEW)
    while True:
        report_progress("deciding swaps", int(np.searchsorted(ranked, width)), len(ranked))
        core = UndecidedCore.of(records, decided, width)
        # Without an answer there is nothing to give back: then time does not count.
        decided_copies, exact = _solve_core(
            core, records, prices, shift, max(until - monotonic(), 1.0) if best else 3600.0
        )
        if decided_copies is not None:
            best = _keep_better(
                best, _spread_core_decisions(core, records, decided, decided_copies, chance), records, decided.bound
            )
            needed = best.objective - decided.bound - 1
            if exact and width >= needed:
                return SwapOptimum(best.answer, best.objective, best.objective)
            if monotonic() > until:
                return best
        assert decided_copies is not None or width < WHOLE, "all records together have an answer"
        inside = int(np.searchsorted(ranked, width, side="right"))
        grown = _choose_core_width(ranked, _GROWTH * max(inside, _FEW))
        width = grown if best is None else min(grown, max(best.objective - decided.bound - 1, width + 1))


def _choose_core_width(ranked: Ints, records: int) -> int:
    """The width of a core with so many records."""
    return WHOLE if records >= len(ranked) else min(int(ranked[records]), WHOLE)


def _keep_better(known: SwapOptimum | None, answer: SwapAnswer, records: SwapRecords, bound: int) -> SwapOptimum:
    cost = answer.cost(records)
    return known if known is not None and known.objective <= cost else SwapOptimum(answer, cost, bound)


def _solve_core(
    core: UndecidedCore, records: SwapRecords, prices: SwapPrices, shift: int, seconds: float
) -> tuple[Ints | None, bool]:
    """How many copies of each kind take each option at the least regret; None if the sums cannot come out right."""
    categories, options = records.categories, len(core.takes)
    shifting = prices.price_shifts()
    possible = shifting <= core.width
    upper = np.concatenate([core.size[core.of_kind], np.where(possible, shift, 0)]).astype(np.float64)
    program = IntegerProgram.of(upper)
    rows, columns, entries = list_sum_entries(core, categories)
    order = np.argsort(rows, kind="stable")
    rows, columns, entries = rows[order], columns[order], entries[order]
    targets = np.concatenate([-core.shift, [records.changes - core.changed], core.size])
    ends = np.searchsorted(rows, np.arange(len(targets) + 1))
    for line, target in enumerate(targets.tolist()):
        here, signs = columns[ends[line] : ends[line + 1]], entries[ends[line] : ends[line + 1]]
        if line < categories:
            here = np.concatenate([here, [options + line, options + categories + line]])
            signs = np.concatenate([signs, [-1.0, 1.0]])
        if len(here):
            program.at_least(here, signs, target)
            program.at_most(here, signs, target)
        elif target:
            return None, True
    program.at_least(options + np.arange(2 * categories), np.ones(2 * categories), shift)
    program.at_most(options + np.arange(2 * categories), np.ones(2 * categories), shift)
    regrets = np.concatenate([core.regret, np.where(possible, shifting, 0)]).astype(np.float64)
    scale = _SIZE / max(float(regrets.max(initial=0)), 1.0)
    solution = solve_program(program, regrets * scale, seconds)
    if solution is None:
        return None, False
    return solution.values[:options].astype(np.int64), solution.proven


def _spread_core_decisions(
    core: UndecidedCore, records: SwapRecords, decided: PricedDecisions, taken: Ints, chance: np.random.Generator
) -> SwapAnswer:
    """The answer of all records: those of the core as decided, by lot among those alike; all others their best."""
    inside = np.zeros(len(records.own), dtype=np.bool_)
    inside[core.members] = True
    others = np.flatnonzero(~inside)
    lots = chance.permutation(len(core.members))
    copies = np.repeat(core.members[lots], records.weight[core.members[lots]])
    kinds = np.repeat(core.kind[lots], records.weight[core.members[lots]])
    copies = copies[np.argsort(kinds, kind="stable")]
    rest = np.repeat(others, records.weight[others])
    record = np.concatenate([copies, rest])
    category = np.concatenate([np.repeat(core.takes, taken), decided.best[rest]])
    return SwapAnswer(record.astype(np.int64), category.astype(np.int64))
