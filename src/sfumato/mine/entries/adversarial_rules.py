# SPDX-License-Identifier: MIT
"""FAiR: all rules by which what is published of a table foretells entries that were hidden.

A rule X → y says: who publicly has the values X has y too. Its public set are the rows that show X and the column of
y, its hidden set those that show X and hide that column. It is adversarial when y's share reaches the confidence in
both: an adversary who mines the release finds the rule, fires it at the hidden set, and is right. Against whoever has
the release and nothing else; a learner other than rules is not bounded by it. What is found here rests on the hidden
values themselves, and stays home. Aggarwal, Pei, Zhang, *On privacy preservation against adversarial data mining*
(KDD 2006); `adversarial_search` says how it is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from sfumato.arrays import Codes, Flags, Floats, Ints, Words
from sfumato.data.private_entries import AnyEntries, private_mask
from sfumato.data.roles import Role
from sfumato.errors import PolicyError
from sfumato.mine.entries.adversarial_search import Budget, find_rules
from sfumato.mine.entries.cells import NOTHING, PRIVATE, PUBLIC, Cells
from sfumato.mine.entries.found_rules import FoundRules
from sfumato.progress import tell
from sfumato.public.thresholds import Confidence, Support, exact, least_count
from sfumato.randomness import Randomness
from sfumato.table import Table

STRIDE = 4096
"""Rules that are marked between two words of progress."""

__all__ = [
    "AdversarialRule", "AdversarialRules", "FoundRules", "adversarial_rules", "find_rules", "sensitive_entries",
    "sensitive_mask",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class AdversarialRule:
    """Who publicly has the values of the antecedent has this value of this column."""

    antecedent: dict[str, Any]
    """Column → value; empty for the prior, which restates how common the value is."""
    column: str
    """The column that is foretold."""
    value: Any
    """The value that is foretold."""
    public_support: int
    """Rows that show the antecedent and the column, whatever its value."""
    public_confidence: Fraction
    """The share of them that have the value: what the adversary sees."""
    hidden_confidence: Fraction
    """The same share among the rows that show the antecedent and hide the column: how often the adversary is right."""
    rows: tuple[int, ...]
    """The rows, from 0, whose hidden entry is foretold rightly."""
    lift: float
    """The public confidence against the share of the value among all that the column shows; near 1, the rule says
    little more than the prior."""


class AdversarialRules(list[AdversarialRule]):
    """A list of rules that knows whether it is all of them."""

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
    """All adversarial rules of a table some of whose entries are private.

    `private` is anything that `PrivateEntries` takes: a mask, (row, column) pairs, a file, column names, a share, a
    rule. `min_support` is a count of rows, or a share of them as a float. `max_length` bounds the antecedent; `prior`
    also takes the empty one. Identifying columns are not published and take no part. `seconds` and `memory` (bytes)
    stop the search early, and the list then says that it is not complete.
    """
    threshold = exact(confidence)
    least = least_count(min_support, len(table))
    if max_length is not None and (isinstance(max_length, bool) or max_length < 1):
        raise PolicyError("max_length is a number of columns, at least 1")
    chance = (randomness or Randomness.secure()).generator()
    published = [name for name in table.frame.columns if table.roles.get(name) is not Role.IDENTIFYING]
    cells = Cells.of(table, private_mask(_entries(private), table.frame, chance, table.source, published))
    budget = Budget(seconds, memory)
    found = find_rules(cells, cells.states, threshold, least, max_length, prior, budget=budget)
    rules = AdversarialRules(_spelt(cells, found))
    rules.complete = found.complete
    return rules


def _entries(private: Any) -> Any:
    try:
        return TypeAdapter(AnyEntries).validate_python(private)
    except ValidationError as error:
        reasons = "; ".join(sorted({one["msg"].removeprefix("Value error, ") for one in error.errors()}))
        raise PolicyError(f"private: {reasons}") from None


def _spelt(cells: Cells, found: FoundRules) -> list[AdversarialRule]:
    """Rules in words; what repeats (values, fractions) is made once."""
    items = [(name, value) for name, values in zip(cells.names, cells.values, strict=True) for value in values]
    spelling = found.items.tolist()
    starts = list(pairwise(found.start.tolist()))
    exposed_start, exposed = _exposed(cells, found)
    rows = exposed.tolist()
    return [
        AdversarialRule(
            dict([items[item] for item in spelling[slice(*starts[antecedent])]]),
            items[target][0],
            items[target][1],
            public,
            seen,
            right,
            tuple(rows[begin:end]),
            lift,
        )
        for antecedent, target, public, seen, right, lift, (begin, end) in zip(
            found.antecedent.tolist(), found.target.tolist(), found.public.tolist(),
            _fractions(found.public_fit, found.public), _fractions(found.hidden_fit, found.hidden),
            _lifts(cells, found).tolist(), pairwise(exposed_start.tolist()), strict=True,
        )
    ]  # fmt: skip


def _fractions(parts: Codes, wholes: Codes) -> list[Fraction]:
    """Fractions of whole numbers, equal ones made once."""
    pairs, place = np.unique(parts * np.int64(2**31) + wholes, return_inverse=True)
    made = [Fraction(pair >> 31, pair & (2**31 - 1)) for pair in pairs.tolist()]
    return [made[at] for at in place.tolist()]


def _exposed(cells: Cells, found: FoundRules) -> tuple[Ints, Codes]:
    """The rows that each rule foretells rightly, one rule after the other, and where each begins."""
    from sfumato.kernels.entries.adversarial_marks import ListedRules, list_exposed

    start = np.concatenate([[0], np.cumsum(found.hidden_fit, dtype=np.int64)])
    exposed = np.zeros(int(start[-1]), dtype=np.int32)
    hiding = np.flatnonzero((cells.states == PRIVATE).any(axis=1)).astype(np.int32)
    seen, used = _row_sets(cells, found, hiding, PUBLIC)
    secret, _ = _row_sets(cells, found, hiding, PRIVATE)
    rules = ListedRules(seen, found.start, used[found.items], found.antecedent, used[found.target])
    for begin in range(0, len(found), STRIDE):
        tell("rows exposed", begin, len(found))
        end = min(begin + STRIDE, len(found))
        list_exposed(rules, secret, hiding, start, exposed, begin, end)
    return start, exposed


def _row_sets(cells: Cells, found: FoundRules, rows: Codes | slice, state: int) -> tuple[Words, Codes]:
    """For each item that a rule speaks of, the rows, as bits, that have it in this state; and each item's place."""
    from sfumato.kernels.entries.adversarial_marks import set_bits

    used = np.unique(np.concatenate([found.items, found.target]))
    # The last place is for missing entries.
    place = np.full(int(cells.first[-1]) + 1, -1, dtype=np.int32)
    place[used] = np.arange(len(used))
    codes = np.where(cells.states[rows] == state, cells.codes[rows], NOTHING)
    sets = np.zeros((len(used), -(-len(codes) // 64)), dtype=np.uint64)
    set_bits(place[codes], sets)
    return sets, place


def _lifts(cells: Cells, found: FoundRules) -> Floats:
    """The public confidence of each rule against the share of its value in what its column shows."""
    seen = cells.codes[(cells.states == PUBLIC) & (cells.codes != NOTHING)]
    counts = np.bincount(seen, minlength=int(cells.first[-1]))
    shown = np.add.reduceat(np.append(counts, 0), cells.first[:-1])
    column = np.searchsorted(cells.first, found.target, side="right") - 1
    lifts: Floats = found.public_fit / found.public * shown[column] / counts[found.target]
    return lifts


def sensitive_entries(cells: Cells, found: FoundRules) -> int:
    """How many entries outside P some rule rests on: the paper's sensitive entries."""
    return int(sensitive_mask(cells, found).sum())


def sensitive_mask(cells: Cells, found: FoundRules) -> Flags:
    """Which entries some rule rests on.

    The public entries of X and y in rows of its public set that have y, and those of X in rows of its hidden set:
    just those whose blanking the paper gives a weight.
    """
    from sfumato.kernels.entries.adversarial_marks import ListedRules, mark, set_bits

    rows, columns = cells.codes.shape
    seen, place = _row_sets(cells, found, slice(None), PUBLIC)
    hidden, marks = np.zeros((2, columns, seen.shape[1]), dtype=np.uint64)
    set_bits(np.where(cells.states == PRIVATE, np.arange(columns, dtype=np.int32), np.int32(-1)), hidden)
    column = np.zeros(len(seen), dtype=np.int32)
    known = np.flatnonzero(place >= 0)
    column[place[known]] = np.searchsorted(cells.first, known, side="right") - 1
    rules = ListedRules(seen, found.start, place[found.items], found.antecedent, place[found.target])
    for begin in range(0, len(found), STRIDE):
        tell("sensitive entries", begin, len(found))
        end = min(begin + STRIDE, len(found))
        mark(rules, hidden, column, marks, begin, end)
    # Bits of a word are counted from the low end; so are its bytes, whatever the machine.
    bits = np.unpackbits(marks.astype("<u8").view(np.uint8), axis=1, count=rows, bitorder="little")
    return np.ascontiguousarray(bits.T.astype(bool))
