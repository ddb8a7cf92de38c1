# SPDX-License-Identifier: MIT
"""GraDeS: blank the entries that do most to spoil adversarial rules, the heaviest first, and mine again until none is
left.

Against an adversary who mines what is published for rules and fires them at hidden entries. What leaks: which entries
are blank, private ones and others alike. Aggarwal, Pei, Zhang, *On privacy preservation against adversarial data
mining* (KDD 2006), Figure 2. Its stop, when the rules found at first are gone, is not enough: blanking makes new ones.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.progress import report_progress
from sfumato.protect.entries.entry_ledger import BlankingReason, DerivedEntries, EntryLedger, RuleMining

_CHUNK = 256
"""Entries that are blanked, or rules weighed, between two words of progress."""
_RULES = 4096
SLACK = 20
"""Shares are renewed when they drifted by one in so many, where renewing them always would take long."""
MANY = 1_000_000
"""Rows of antecedents, all together, from which on that is so."""


@dataclass(frozen=True)
class EntryWeighing:
    """How entries are weighed; as in the paper unless said otherwise."""

    fitting: bool = False
    """A hidden row counts only if it has the value that is foretold: to blank another makes the rule better."""
    by_need: bool = False
    """A row's share is 1 / (rows that must go until the rule is closed), not 1 / (all rows)."""
    slack: int = 0
    """A share is only renewed when it drifted by one in so many; 0: always."""
    forget: bool = True
    """A rule that is closed is not looked at again; otherwise it counts again should it come back."""
    batch: int = 1
    """The paper's k: entries that are blanked before weights are looked at again."""
    reach: int = 0
    """Public rows only count where at most so many times as many of them must go as of hidden ones; 0: always."""


def run_grades(mining: RuleMining, batch: int = 1) -> DerivedEntries:
    """The paper's search, with weights as in the paper, and mining again until no rule is left."""
    cells, question = mining.cells, mining.question
    states, bound = cells.states, 0
    entries: list[Ints] = []
    reasons: list[BlankingReason] = []
    while len(rule_arrays := mining.rules(states)):
        ledger = EntryLedger(cells, question, states)
        ledger.add(rule_arrays)
        if not entries:
            mining.first, bound = ledger.add_hiding_rows(rule_arrays), bound_entry_count(ledger)
        weighing = EntryWeighing(batch=batch, slack=SLACK if ledger.size > MANY else 0)
        blanked, why = blank_heaviest_first(ledger, weighing)
        entries.append(blanked)
        reasons += [ledger.reason(code) for code in why]
        states = ledger.states
    derived = np.concatenate([np.zeros(0, dtype=np.int64), *entries])
    return DerivedEntries(derived, tuple(reasons), states, bound, mining.complete and len(derived) == bound)


def blank_heaviest_first(ledger: EntryLedger, weighing: EntryWeighing) -> tuple[Ints, Codes]:
    """Blank entries of largest weight until no known rule is open; which ones, in order, and for what."""
    from sfumato.kernels.entries.grades_weights import BLOCK, EntryWeighing, EntryWeights, blank_heaviest, weigh_rules

    entries, rules = ledger.states.size, ledger.known
    blocks = -(-entries // BLOCK)
    weights = EntryWeights(
        weight=np.zeros(entries, dtype=np.int64),
        largest=np.zeros(blocks, dtype=np.int64),
        stale=np.zeros(blocks, dtype=np.uint8),
        shares=np.zeros((rules, 2), dtype=np.int64),
        changed=np.zeros(rules, dtype=np.int32),
        marked=np.zeros(rules, dtype=np.uint8),
        many=np.zeros(1, dtype=np.int64),
    )
    how = EntryWeighing(**asdict(weighing))
    for begin in range(0, rules, _RULES):
        report_progress("weighing rules", begin, rules)
        weigh_rules(ledger.ledger, ledger.books, weights, begin, min(begin + _RULES, rules), ledger.limits, how)
    log, why, done = np.zeros(entries, dtype=np.int64), np.zeros((entries, 3), dtype=np.int32), 0
    while ledger.open:
        report_progress("blanking entries", done)
        most = done + max(_CHUNK, weighing.batch)
        done = int(blank_heaviest(ledger.ledger, ledger.books, weights, ledger.limits, how, log, why, done, most))
    return log[:done].copy(), why[:done].copy()


def bound_entry_count(ledger: EntryLedger) -> int:
    """A number of entries that no safe set is smaller than: rules that share no entry, each with what it takes.

    The ledger must hold the rules that are there before anything is blanked, in that state.
    """
    from sfumato.kernels.entries.grades_weights import pack_open_rules

    many = np.diff(ledger.rules.row_start)[ledger.rules.antecedent]
    order = np.argsort(many, kind="stable").astype(np.int64)
    used = np.zeros(ledger.states.size, dtype=np.uint8)
    bound = 0
    for begin in range(0, len(order), _RULES):
        report_progress("bounding the derived set from below", begin, len(order))
        part = order[begin : begin + _RULES]
        bound += int(pack_open_rules(ledger.ledger, ledger.books, ledger.limits, part, used))
    return bound
