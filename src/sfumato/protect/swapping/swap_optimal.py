# SPDX-License-Identifier: MIT
"""Phase II of swapping to optimality: the best solution found, with a proven bound.

Problem (12) of Li and Sarkar (2004). Prices first (`swap_prices`): at the best prices nearly every record is decided.
The rest is an integer program over the few whose choice costs almost nothing. It is exact: a record whose second choice
costs more than the whole gap between the bound and the best known solution takes its first choice in every better
solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.integer_program import IntegerProgram, solve_program
from sfumato.protect.swapping.swap_draft import draft_answer
from sfumato.protect.swapping.swap_paper import run_phase_two
from sfumato.protect.swapping.swap_prices import (
    WHOLE,
    PricedDecisions,
    SwapPrices,
    UndecidedCore,
    find_prices,
    list_sum_entries,
)
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords
from sfumato.protect.swapping.swap_two_values import find_cheapest_split
from sfumato.runtime.progress import report_progress

_FEW = 400
"""Records of the first integer program."""
_GROWTH = 4
_SIZE = 10_000.0
"""The largest regret after scaling for the solver, whose tolerance is a millionth."""


@dataclass(frozen=True, eq=False)
class SwapOptimum:
    """The best solution found."""

    answer: SwapAnswer
    objective: int
    """Its cost, in units."""
    bound: int
    """A lower bound on the cost; the objective itself if it is proven."""

    @property
    def proven(self) -> bool:
        """Whether it is proven optimal."""
        return self.bound == self.objective


def find_best_answer(records: SwapRecords, shift: int, seconds: float, chance: np.random.Generator) -> SwapOptimum:
    """The cheapest solution found in the time whose counts shift by at most `shift` in total; ties are broken at
    random.
    """
    if not records.moving_count:
        return SwapOptimum(SwapAnswer.change_nobody(), 0, 0)
    if records.categories == 2:
        answer = find_cheapest_split(records, shift, chance)
        return SwapOptimum(answer, answer.compute_cost(records), answer.compute_cost(records))
    deadline = monotonic() + seconds
    prices, decisions = find_prices(records, shift, deadline - seconds / 2)
    best: SwapOptimum | None = None
    sorted_regrets = np.sort(decisions.second)
    width = _choose_core_width(sorted_regrets, _FEW)
    while (seconds_left := deadline - monotonic()) > 0:
        report_progress("deciding swaps", int(np.searchsorted(sorted_regrets, width)), len(sorted_regrets))
        core = UndecidedCore.of(records, decisions, width)
        core_decisions, exact = _solve_core(core, records, prices, shift, seconds_left)
        if core_decisions is not None:
            answer = _spread_core_decisions(core, records, decisions, core_decisions, chance)
            best = _keep_better(best, answer, records, decisions.bound)
        best = best or _draft_optimum(records, shift, decisions.bound, chance, deadline - seconds / 4)
        if core_decisions is not None and exact and width >= best.objective - decisions.bound - 1:
            return SwapOptimum(best.answer, best.objective, best.objective)
        if width >= WHOLE:
            break
        core_count = int(np.searchsorted(sorted_regrets, width, side="right"))
        grown_width = _choose_core_width(sorted_regrets, _GROWTH * max(core_count, _FEW))
        width = min(grown_width, max(best.objective - decisions.bound - 1, width + 1))
    return best or _draft_optimum(records, shift, decisions.bound, chance, deadline)


def _choose_core_width(sorted_regrets: Ints, records: int) -> int:
    """The width of a core with this many records."""
    return WHOLE if records >= len(sorted_regrets) else min(int(sorted_regrets[records]), WHOLE)


def _draft_optimum(
    records: SwapRecords, shift: int, bound: int, chance: np.random.Generator, deadline: float
) -> SwapOptimum:
    """A solution that does not depend on a solver: any that meets the sums, improved by pairwise swaps."""
    answer = run_phase_two(records, draft_answer(records, shift, chance), deadline).answer
    return _keep_better(None, answer, records, bound)


def _keep_better(
    known_optimum: SwapOptimum | None, answer: SwapAnswer, records: SwapRecords, bound: int
) -> SwapOptimum:
    cost = answer.compute_cost(records)
    return (
        known_optimum
        if known_optimum is not None and known_optimum.objective <= cost
        else SwapOptimum(answer, cost, min(bound, cost))
    )


def _solve_core(
    core: UndecidedCore, records: SwapRecords, prices: SwapPrices, shift: int, seconds: float
) -> tuple[Ints | None, bool]:
    """How many copies of each kind take each option at the smallest regret; None if the sums cannot be met."""
    categories, options = records.categories, len(core.takes)
    shift_prices = prices.price_shifts()
    possible = shift_prices <= core.width
    upper = np.concatenate([core.size[core.of_kind], np.where(possible, shift, 0)]).astype(np.float64)
    program = IntegerProgram.of(upper)
    rows, columns, entries = list_sum_entries(core, categories)
    order = np.argsort(rows, kind="stable")
    rows, columns, entries = rows[order], columns[order], entries[order]
    targets = np.concatenate([-core.shift, [records.changes - core.changed_count], core.size])
    ends = np.searchsorted(rows, np.arange(len(targets) + 1))
    for line, target in enumerate(targets.tolist()):
        line_columns, signs = columns[ends[line] : ends[line + 1]], entries[ends[line] : ends[line + 1]]
        if line < categories:
            line_columns = np.concatenate([line_columns, [options + line, options + categories + line]])
            signs = np.concatenate([signs, [-1.0, 1.0]])
        if len(line_columns):
            program.require_at_least(line_columns, signs, target)
            program.require_at_most(line_columns, signs, target)
        elif target:
            return None, True
    program.require_at_least(options + np.arange(2 * categories), np.ones(2 * categories), shift)
    program.require_at_most(options + np.arange(2 * categories), np.ones(2 * categories), shift)
    regrets = np.concatenate([core.regret, np.where(possible, shift_prices, 0)]).astype(np.float64)
    scale = _SIZE / max(float(regrets.max(initial=0)), 1.0)
    solution = solve_program(program, regrets * scale, seconds)
    if solution is None:
        return None, False
    return solution.values[:options].astype(np.int64), solution.proven


def _spread_core_decisions(
    core: UndecidedCore,
    records: SwapRecords,
    decisions: PricedDecisions,
    core_decisions: Ints,
    chance: np.random.Generator,
) -> SwapAnswer:
    """The solution for all records: the core as decided, at random among equal ones; all others their best."""
    core_mask = np.zeros(len(records.own_categories), dtype=np.bool_)
    core_mask[core.members] = True
    other_records = np.flatnonzero(~core_mask)
    lots = chance.permutation(len(core.members))
    copies = np.repeat(core.members[lots], records.weight[core.members[lots]])
    kinds = np.repeat(core.kind[lots], records.weight[core.members[lots]])
    copies = copies[np.argsort(kinds, kind="stable")]
    rest = np.repeat(other_records, records.weight[other_records])
    record = np.concatenate([copies, rest])
    category = np.concatenate([np.repeat(core.takes, core_decisions), decisions.best[rest]])
    return SwapAnswer(record.astype(np.int64), category.astype(np.int64))
