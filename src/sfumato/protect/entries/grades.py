# SPDX-License-Identifier: MIT
"""GraDeS: blank the entries that weaken adversarial rules most, and mine again until none is left.

Against an adversary who mines the release for rules and applies them to hidden entries. What leaks: which entries are
blank, private ones and others without distinction. Aggarwal, Pei, Zhang, *On privacy preservation against adversarial
data mining* (KDD 2006), Figure 2. Its stopping rule, when the rules found at first are gone, is not enough: blanking
creates new ones. `run_grades_once` stops there nevertheless, for comparison with the paper.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.protect.entries.entry_ledger import BlankingReason, DerivedEntries, EntryLedger, RuleMining
from sfumato.runtime.progress import report_progress

if TYPE_CHECKING:
    from sfumato.kernels.entries.grades_weights import EntryWeighing, EntryWeights

_CHUNK = 256
"""Entries blanked or rules weighed between two progress reports."""
_RULES = 4096
SLACK = 20
"""Shares are renewed when they drifted by one in this many, if renewing them always would take long."""
MANY = 1_000_000
"""The total rows of antecedents from which that is so."""


@dataclass(frozen=True)
class WeighingOptions:
    """How entries are weighed; by default as in the paper."""

    counts_fit: bool = False
    """A hidden row counts only if it has the predicted value: blanking another makes the rule better."""
    by_need: bool = False
    """A row's share is 1 / (rows that must be removed to close the rule), not 1 / (all rows)."""
    slack: int = 0
    """A share is only renewed when it drifted by one in this many; 0: always."""
    forget: bool = True
    """A closed rule is not checked again; otherwise it counts again if it reopens."""
    batch: int = 1
    """The paper's k: entries blanked before weights are updated."""
    reach: int = 0
    """Public rows count only if at most this many times as many of them must be removed as of hidden ones; 0:
    always."""


def run_grades(mining: RuleMining, batch: int = 1) -> DerivedEntries:
    """The paper's search, with weights as in the paper, and mining again until no rule is left."""
    cells, question = mining.cells, mining.question
    states, bound = cells.states, 0
    entries: list[Ints] = []
    reasons: list[BlankingReason] = []
    while len(rule_arrays := mining.mine_rules(states)):
        ledger = EntryLedger(cells, question, states)
        ledger.add(rule_arrays)
        if not entries:
            mining.first, bound = ledger.add_hiding_rows(rule_arrays), bound_entry_count(ledger)
        options = WeighingOptions(batch=batch, slack=SLACK if ledger.size > MANY else 0)
        blanked_entries, reason_codes = blank_heaviest_first(ledger, options)
        entries.append(blanked_entries)
        reasons += [ledger.explain_entry(code) for code in reason_codes]
        states = ledger.states
    derived = np.concatenate([np.zeros(0, dtype=np.int64), *entries])
    return DerivedEntries(derived, tuple(reasons), states, bound, mining.complete and len(derived) == bound)


def run_grades_once(mining: RuleMining, batch: int = 1) -> DerivedEntries:
    """GraDeS as printed: one mining, then blanking until each of its rules was closed at some time.

    The set may leave rules: new ones, and rules that were closed and opened again when an exception was blanked. So
    there is nothing to bound.
    """
    ledger = EntryLedger(mining.cells, mining.question)
    rule_arrays = mining.mine_rules(mining.cells.states)
    if not len(rule_arrays):
        return DerivedEntries(np.zeros(0, dtype=np.int64), (), ledger.states, 0, proven=False)
    ledger.add(rule_arrays)
    mining.first = ledger.add_hiding_rows(rule_arrays)
    blanked_entries, reason_codes = blank_heaviest_first(ledger, WeighingOptions(batch=batch))
    return DerivedEntries(
        blanked_entries, tuple(ledger.explain_entry(code) for code in reason_codes), ledger.states, 0, proven=False
    )


def mine_leftover_rules(mining: RuleMining, derived: DerivedEntries) -> RuleArrays:
    """The adversarial rules of the table as it would be published."""
    new_mining = RuleMining(mining.cells, mining.question)
    rule_arrays = new_mining.mine_rules(derived.states)
    mining.complete &= new_mining.complete
    return rule_arrays


class HeaviestEntries(NamedTuple):
    """Entries that were blanked, in order."""

    entries: Ints
    reasons: Codes
    """Why, as the kernel says it: one line for each entry."""


def blank_heaviest_first(ledger: EntryLedger, options: WeighingOptions) -> HeaviestEntries:
    """Blank entries of largest weight until no known rule is open; return which, in order, and why."""
    from sfumato.kernels.entries.grades_weights import EntryWeighing, blank_heaviest

    kernel_options = EntryWeighing(**asdict(options))
    weights = _weigh_entries(ledger, kernel_options)
    log, reason_codes, blanked_count = np.zeros(0, dtype=np.int64), np.zeros((0, 3), dtype=np.int32), 0
    while ledger.open:
        report_progress("blanking entries", blanked_count)
        most = blanked_count + max(_CHUNK, options.batch)
        if len(log) < most + options.batch:  # the last pass may blank this many more
            log, reason_codes = (
                np.resize(log, 2 * most + options.batch),
                np.resize(reason_codes, (2 * most + options.batch, 3)),
            )
        blanked_count = int(
            blank_heaviest(
                ledger.ledger,
                ledger.books,
                weights,
                ledger.limits,
                kernel_options,
                log,
                reason_codes,
                blanked_count,
                most,
            )
        )
    return HeaviestEntries(ledger.name_entries(log[:blanked_count]), reason_codes[:blanked_count].copy())


def _weigh_entries(ledger: EntryLedger, kernel_options: EntryWeighing) -> EntryWeights:
    """What blanking each entry is worth, before any is blanked."""
    from sfumato.kernels.entries.grades_weights import WEIGHT_BLOCK, EntryWeights, weigh_rules

    entries, rules = ledger.codes.size, ledger.rule_count
    blocks = -(-entries // WEIGHT_BLOCK)
    weights = EntryWeights(
        weight=np.zeros(entries, dtype=np.int64),
        largest=np.zeros(blocks, dtype=np.int64),
        stale=np.zeros(blocks, dtype=np.uint8),
        shares=np.zeros((rules, 2), dtype=np.int64),
        changed_rules=np.zeros(rules, dtype=np.int32),
        changed_mask=np.zeros(rules, dtype=np.uint8),
        many=np.zeros(1, dtype=np.int64),
    )
    for begin in range(0, rules, _RULES):
        report_progress("weighing rules", begin, rules)
        end = min(begin + _RULES, rules)
        weigh_rules(ledger.ledger, ledger.books, weights, begin, end, ledger.limits, kernel_options)
    return weights


def bound_entry_count(ledger: EntryLedger) -> int:
    """A lower bound on the size of a safe set: rules that share no entry, each with what it needs.

    The ledger must hold the rules that exist before anything is blanked, in that state.
    """
    from sfumato.kernels.entries.grades_weights import pack_open_rules

    many = np.diff(ledger.rules.row_start)[ledger.rules.antecedent]
    order = np.argsort(many, kind="stable").astype(np.int64)
    used_turns = np.zeros(ledger.codes.size, dtype=np.uint8)
    bound = 0
    for begin in range(0, len(order), _RULES):
        report_progress("bounding the derived set from below", begin, len(order))
        part = order[begin : begin + _RULES]
        bound += int(pack_open_rules(ledger.ledger, ledger.books, ledger.limits, part, used_turns))
    return bound
