# SPDX-License-Identifier: MIT
"""The smallest derived set, by integer programming with rules added on demand.

Against the same adversary as GraDeS, with the same guarantee and the least damage possible. Blanking creates rules, so
the program starts with some rules, is solved, the solution is mined, and the rules found in it are added, until a
solution has none. Every safe set must close every added rule, so the program's optimum is always a lower bound; the
best safe set found is the upper one. `EntryProgram` describes how a rule becomes linear.
"""

from __future__ import annotations

from math import ceil
from time import monotonic

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.entries.entry_ledger import DerivedEntries, RuleMining
from sfumato.protect.entries.entry_program import EntryProgram
from sfumato.protect.entries.grades_plus import EntrySearch
from sfumato.runtime.progress import report_progress

_SHARE = 0.2
"""The share of the time for finding a good set before it is proven."""
_AT_ONCE = 400
"""The most rules added between two solutions."""


def find_exact_entries(mining: RuleMining, seconds: float) -> DerivedEntries:
    """The smallest set whose blanking leaves no rule, or the best found in time with a lower bound."""
    start_time = monotonic()
    search = EntrySearch(mining)
    search.make_safe()
    search.improve(min(1.0, _SHARE * seconds))
    assert search.best is not None
    program = EntryProgram(search.ledger)
    search.blank_only(np.zeros(0, dtype=np.int64))
    while mining.complete and search.bound < len(search.best):
        remaining_seconds = seconds - (monotonic() - start_time)
        if remaining_seconds <= 0 or not program.add(_list_open_rules(search)):
            break
        report_progress("smallest derived set", search.bound, len(search.best))
        solution = program.solve(len(search.best) - 1, remaining_seconds)
        search.bound = min(max(search.bound, ceil(solution.bound - 1e-6)), len(search.best))
        if solution.entries is None or search.bound == len(search.best):
            break
        _judge_solution(search, solution.entries, proven=solution.proven)
    return search.derive_entries()


def _list_open_rules(search: EntrySearch) -> Ints:
    """Known rules that are open now, those with the fewest rows first, and no more than fit one step."""
    rules, ledger = search.ledger.rules, search.ledger
    open_rules = ledger.books.open_rules[: ledger.open].astype(np.int64)
    rows = np.diff(rules.row_start)[rules.antecedent[open_rules]]
    return open_rules[np.lexsort((open_rules, rows))][:_AT_ONCE]


def _judge_solution(search: EntrySearch, entries: Ints, *, proven: bool) -> None:
    """Mine a solution: it is safe, or there are rules that the program must add."""
    search.blank_only(entries)
    if search.ledger.open:
        return
    rule_arrays = search.mining.mine_rules(search.ledger.states)
    search.learn(rule_arrays)
    assert search.best is not None
    if not len(rule_arrays) and len(entries) < len(search.best):
        search.best = entries
        search.bound = len(entries) if proven else search.bound
