# SPDX-License-Identifier: MIT
"""FAiR: all rules by which the published part of a table predicts hidden entries.

A rule X → y means: people who publicly have the values X also have y. Its public set is the rows that show X and the
column of y, its hidden set those that show X and hide that column. It is adversarial if y's share reaches the
confidence in both: an adversary who mines the release finds the rule, applies it to the hidden set, and is right.
Against an adversary who has only the release; a learner other than rules is not bounded by it. The result depends on
the hidden values themselves, so keep it private. Aggarwal, Pei, Zhang, *On privacy preservation against adversarial
data mining* (KDD 2006); the algorithm is in `adversarial_search`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from sfumato.arrays import Codes, Flags, Floats, Ints, Words
from sfumato.data.cells.private_entries import AnyEntries, build_private_mask
from sfumato.data.roles.role import Role
from sfumato.errors import PolicyError
from sfumato.mine.entries.adversarial_search import PART, SearchBudget, find_adversarial_rules
from sfumato.mine.entries.cells import MISSING_ITEM, PRIVATE, PUBLIC, TableCells
from sfumato.mine.entries.rule_arrays import RuleArrays
from sfumato.public.thresholds import Confidence, Support, compute_least_count, parse_exact_confidence
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

STRIDE = 4096
"""How many rules are marked between two progress reports."""

__all__ = [
    "AdversarialRule",
    "AdversarialRules",
    "RuleArrays",
    "adversarial_rules",
    "count_sensitive_entries",
    "find_adversarial_rules",
    "mask_sensitive_entries",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdversarialRule:
    """People who publicly have the values of the antecedent have this value of this column."""

    antecedent: dict[str, Any]
    """Column → value; empty for the prior, which restates how common the value is."""
    column: str
    """The predicted column."""
    value: Any
    """The predicted value."""
    public_support: int
    """Rows that show the antecedent and the column, whatever its value."""
    public_confidence: Fraction
    """The share of them that have the value: what the adversary sees."""
    hidden_confidence: Fraction
    """The same share among the rows that show the antecedent and hide the column: how often the adversary is right."""
    rows: tuple[int, ...]
    """The rows, from 0, whose hidden entry is predicted correctly."""
    lift: float
    """The public confidence divided by the share of the value among all visible entries of the column; near 1, the rule
    adds little to the prior.
    """


class AdversarialRules(list[AdversarialRule]):
    """A list of rules that states whether it is complete."""

    complete: bool = True
    """False when a budget stopped the search: rules may be missing."""


def adversarial_rules(
    table: Table,
    private: Any,
    confidence: Confidence,
    min_support: Support = 1,
    max_length: int | None = None,
    prior: bool = False,
    *,
    seconds: float | None = None,
    memory: int | None = None,
    randomness: Randomness | None = None,
) -> AdversarialRules:
    """All adversarial rules of a table with private entries.

    `private` is anything that `PrivateEntries` accepts: a mask, (row, column) pairs, a file, column names, a share, a
    rule. `min_support` is a count of rows, or a share of them as a float. `max_length` bounds the antecedent; `prior`
    also includes the empty one. Identifying columns are not published and are ignored. `seconds` and `memory` (bytes)
    stop the search early; the list then states that it is not complete.
    """
    threshold = parse_exact_confidence(confidence)
    least = compute_least_count(min_support, len(table))
    if max_length is not None and (isinstance(max_length, bool) or max_length < 1):
        raise PolicyError("max_length must be a number of columns, at least 1")
    chance = (randomness or Randomness.secure()).generator()
    published_names = [name for name in table.frame.columns if table.roles.get(name) is not Role.IDENTIFYING]
    cells = TableCells.of(
        table, build_private_mask(_validate_entries(private), table.frame, chance, table.source, published_names)
    )
    budget = SearchBudget(seconds, memory)
    rule_arrays = find_adversarial_rules(cells, cells.states, threshold, least, max_length, prior, budget=budget)
    rules = AdversarialRules(_spell_rules(cells, rule_arrays))
    rules.complete = rule_arrays.complete
    return rules


def _validate_entries(private: Any) -> Any:
    try:
        return TypeAdapter(AnyEntries).validate_python(private)
    except ValidationError as error:
        reasons = "; ".join(sorted({problem["msg"].removeprefix("Value error, ") for problem in error.errors()}))
        raise PolicyError(f"private: {reasons}") from None


def _spell_rules(cells: TableCells, rule_arrays: RuleArrays) -> list[AdversarialRule]:
    """Rules with names and values; repeated values and fractions are created once."""
    items = [(name, value) for name, values in zip(cells.names, cells.values, strict=True) for value in values]
    spelling = rule_arrays.items.tolist()
    starts = list(pairwise(rule_arrays.start.tolist()))
    exposed_start, exposed_rows = _list_exposed_rows(cells, rule_arrays)
    rows = exposed_rows.tolist()
    return [
        AdversarialRule(
            dict([items[item] for item in spelling[slice(*starts[antecedent])]]),
            items[target][0],
            items[target][1],
            public,
            public_share,
            right,
            tuple(rows[begin:end]),
            lift,
        )
        for antecedent, target, public, public_share, right, lift, (begin, end) in zip(
            rule_arrays.antecedent.tolist(), rule_arrays.target.tolist(), rule_arrays.public_counts.tolist(),
            _build_fractions(rule_arrays.public_fit, rule_arrays.public_counts),
            _build_fractions(rule_arrays.hidden_fit, rule_arrays.hidden_counts),
            _compute_lifts(cells, rule_arrays).tolist(), pairwise(exposed_start.tolist()), strict=True,
        )
    ]  # fmt: skip


def _build_fractions(parts: Codes, wholes: Codes) -> list[Fraction]:
    """Fractions of whole numbers, equal ones created once."""
    pairs, pair_index = np.unique(parts * np.int64(2**31) + wholes, return_inverse=True)
    fractions = [Fraction(pair >> 31, pair & (2**31 - 1)) for pair in pairs.tolist()]
    return [fractions[index] for index in pair_index.tolist()]


def _list_exposed_rows(cells: TableCells, rule_arrays: RuleArrays) -> tuple[Ints, Codes]:
    """The rows that each rule predicts correctly, concatenated, and where each rule's rows begin."""
    from sfumato.kernels.entries.adversarial_marks import ListedRules, list_exposed

    start = np.concatenate([[0], np.cumsum(rule_arrays.hidden_fit, dtype=np.int64)])
    exposed_rows = np.zeros(int(start[-1]), dtype=np.int32)
    hiding_rows = np.flatnonzero((cells.states == PRIVATE).any(axis=1)).astype(np.int32)
    public_sets, used_items = _build_row_sets(cells, rule_arrays, hiding_rows, PUBLIC)
    secret, _ = _build_row_sets(cells, rule_arrays, hiding_rows, PRIVATE)
    rules = ListedRules(
        public_sets,
        rule_arrays.start,
        used_items[rule_arrays.items],
        rule_arrays.antecedent,
        used_items[rule_arrays.target],
    )
    for begin in range(0, len(rule_arrays), STRIDE):
        report_progress("rows exposed", begin, len(rule_arrays))
        end = min(begin + STRIDE, len(rule_arrays))
        list_exposed(rules, secret, hiding_rows, start, exposed_rows, begin, end)
    return start, exposed_rows


def _build_row_sets(cells: TableCells, rule_arrays: RuleArrays, rows: Codes | slice, state: int) -> tuple[Words, Codes]:
    """For each item in a rule, the rows, as bits, that have it in this state; and each item's index."""
    from sfumato.kernels.entries.adversarial_marks import set_row_bits

    used_items = np.unique(np.concatenate([rule_arrays.items, rule_arrays.target]))
    # The last index is for missing entries.
    item_rows = np.full(int(cells.first[-1]) + 1, -1, dtype=np.int32)
    item_rows[used_items] = np.arange(len(used_items))
    codes = np.where(cells.states[rows] == state, cells.codes[rows], MISSING_ITEM)
    sets = np.zeros((len(used_items), -(-len(codes) // 64)), dtype=np.uint64)
    set_row_bits(item_rows[codes], sets)
    return sets, item_rows


def _compute_lifts(cells: TableCells, rule_arrays: RuleArrays) -> Floats:
    """The public confidence of each rule divided by the share of its value among visible entries of its column."""
    public_codes = cells.codes[(cells.states == PUBLIC) & (cells.codes != MISSING_ITEM)]
    counts = np.bincount(public_codes, minlength=int(cells.first[-1]))
    column_counts = np.add.reduceat(np.append(counts, 0), cells.first[:-1])
    column = np.searchsorted(cells.first, rule_arrays.target, side="right") - 1
    lifts: Floats = (
        rule_arrays.public_fit / rule_arrays.public_counts * column_counts[column] / counts[rule_arrays.target]
    )
    return lifts


def count_sensitive_entries(cells: TableCells, rule_arrays: RuleArrays) -> int:
    """How many entries outside P some rule depends on: the paper's sensitive entries."""
    count = 0
    for begin in range(0, len(cells.codes), PART):
        part = slice(begin, begin + PART)
        part_cells = replace(cells, codes=cells.codes[part], states=cells.states[part])
        count += int(mask_sensitive_entries(part_cells, rule_arrays).sum())
    return count


def mask_sensitive_entries(cells: TableCells, rule_arrays: RuleArrays) -> Flags:
    """Which entries some rule depends on.

    The public entries of X and y in rows of its public set that have y, and those of X in rows of its hidden set:
    exactly those whose blanking the paper gives a weight.
    """
    from sfumato.kernels.entries.adversarial_marks import ListedRules, mark_supporting_rows, set_row_bits

    rows, columns = cells.codes.shape
    public_sets, item_rows = _build_row_sets(cells, rule_arrays, slice(None), PUBLIC)
    private_bits, marks = np.zeros((2, columns, public_sets.shape[1]), dtype=np.uint64)
    set_row_bits(np.where(cells.states == PRIVATE, np.arange(columns, dtype=np.int32), np.int32(-1)), private_bits)
    column = np.zeros(len(public_sets), dtype=np.int32)
    used_items = np.flatnonzero(item_rows >= 0)
    column[item_rows[used_items]] = np.searchsorted(cells.first, used_items, side="right") - 1
    rules = ListedRules(
        public_sets,
        rule_arrays.start,
        item_rows[rule_arrays.items],
        rule_arrays.antecedent,
        item_rows[rule_arrays.target],
    )
    for begin in range(0, len(rule_arrays), STRIDE):
        report_progress("sensitive entries", begin, len(rule_arrays))
        end = min(begin + STRIDE, len(rule_arrays))
        mark_supporting_rows(rules, private_bits, column, marks, begin, end)
    # Bits of a word are counted from the low end; so are its bytes, whatever the machine.
    bits = np.unpackbits(marks.astype("<u8").view(np.uint8), axis=1, count=rows, bitorder="little")
    return np.ascontiguousarray(bits.T.astype(bool))
