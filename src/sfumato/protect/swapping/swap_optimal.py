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
from sfumato.progress import tell
from sfumato.protect.integer_program import Program, solve
from sfumato.protect.swapping.swap_prices import WHOLE, Core, Decided, Prices, find_prices, sums
from sfumato.protect.swapping.swap_records import Answer, Records

_FEW = 400
"""Records of the first integer program."""
_GROWTH = 4
_SIZE = 10_000.0
"""What the largest regret is for the solver, whose tolerance is a millionth."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best answer found."""

    answer: Answer
    objective: int
    """Its cost, in units."""
    bound: int
    """The least that any answer costs; the objective itself where that is proven."""

    @property
    def proven(self) -> bool:
        """Whether no answer is better."""
        return self.bound == self.objective


def best_answer(records: Records, shift: int, seconds: float, chance: np.random.Generator) -> Optimum:
    """The cheapest answer whose counts shift by no more than `shift` in all; ties are broken by lot."""
    until = monotonic() + seconds
    if not records.moving:
        return Optimum(Answer.nobody(), 0, 0)
    prices, decided = find_prices(records, shift)
    ranked = np.sort(decided.second)
    best: Optimum | None = None
    width = _width(ranked, _FEW)
    while True:
        tell("deciding swaps", int(np.searchsorted(ranked, width)), len(ranked))
        core = Core.of(records, decided, width)
        # Without an answer there is nothing to give back: then time does not count.
        found, exact = _solved(core, records, prices, shift, max(until - monotonic(), 1.0) if best else 3600.0)
        if found is not None:
            best = _better(best, _spread(core, records, decided, found, chance), records, decided.bound)
            needed = best.objective - decided.bound - 1
            if exact and width >= needed:
                return Optimum(best.answer, best.objective, best.objective)
            if monotonic() > until:
                return best
        assert found is not None or width < WHOLE, "all records together have an answer"
        inside = int(np.searchsorted(ranked, width, side="right"))
        grown = _width(ranked, _GROWTH * max(inside, _FEW))
        width = grown if best is None else min(grown, max(best.objective - decided.bound - 1, width + 1))


def _width(ranked: Ints, records: int) -> int:
    """The width of a core with so many records."""
    return WHOLE if records >= len(ranked) else min(int(ranked[records]), WHOLE)


def _better(known: Optimum | None, answer: Answer, records: Records, bound: int) -> Optimum:
    cost = answer.cost(records)
    return known if known is not None and known.objective <= cost else Optimum(answer, cost, bound)


def _solved(core: Core, records: Records, prices: Prices, shift: int, seconds: float) -> tuple[Ints | None, bool]:
    """How many copies of each kind take each option at the least regret; None if the sums cannot come out right."""
    categories, options = records.categories, len(core.takes)
    shifting = prices.shifting()
    possible = shifting <= core.width
    upper = np.concatenate([core.size[core.of_kind], np.where(possible, shift, 0)]).astype(np.float64)
    program = Program.of(upper)
    rows, columns, entries = sums(core, categories)
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
    found = solve(program, regrets * scale, seconds)
    if found is None:
        return None, False
    return found.values[:options].astype(np.int64), found.proven


def _spread(core: Core, records: Records, decided: Decided, taken: Ints, chance: np.random.Generator) -> Answer:
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
    return Answer(record.astype(np.int64), category.astype(np.int64))
