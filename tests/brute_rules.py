# SPDX-License-Identifier: MIT
"""Adversarial rules by the book: every antecedent that appears in some row, every value, counted in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Place = tuple[int, int]
"""A row and a column, both counted from 0."""
Antecedent = frozenset[tuple[int, Any]]
"""Pairs of a column and a value."""
Rule = tuple[Antecedent, int, Any, int, int, int, int]
"""Antecedent, column and value foretold, |pub|, those of them with the value, |hid|, those of them with the value."""


def find_visible(rows: Sequence[Sequence[Any]], hidden_cells: Collection[Place], row: int) -> dict[int, Any]:
    """What everybody sees of a row: column → value; a missing value (None) is not there."""
    return {
        column: value
        for column, value in enumerate(rows[row])
        if value is not None and (row, column) not in hidden_cells
    }


def antecedents(
    rows: Sequence[Sequence[Any]],
    hidden_cells: Collection[Place],
    max_length: int | None = None,
    *,
    prior: bool = False,
) -> Iterator[Antecedent]:
    """Each set of values that publicly appears in a row, once; the empty one if `prior`."""
    item_sets: set[Antecedent] = set()
    for row in range(len(rows)):
        items = sorted(find_visible(rows, hidden_cells, row).items(), key=lambda item: item[0])
        longest = len(items) if max_length is None else min(len(items), max_length)
        for length in range(0 if prior else 1, longest + 1):
            item_sets |= {frozenset(combination) for combination in combinations(items, length)}
    yield from item_sets


def appears(antecedent: Antecedent, rows: Sequence[Sequence[Any]], hidden_cells: Collection[Place]) -> list[int]:
    """The rows in which all values of the antecedent are seen."""
    return [row for row in range(len(rows)) if antecedent <= set(find_visible(rows, hidden_cells, row).items())]


def adversarial(
    rows: Sequence[Sequence[Any]],
    private: set[Place],
    blanked: set[Place],
    confidence: Fraction,
    least: int,
    max_length: int | None = None,
    prior: bool = False,
) -> set[Rule]:
    """All adversarial rules of a table; missing values are None, and a missing private entry is not private."""
    hidden_cells = private | blanked
    width = len(rows[0]) if rows else 0
    rules: set[Rule] = set()
    for antecedent in antecedents(rows, hidden_cells, max_length, prior=prior):
        matching = appears(antecedent, rows, hidden_cells)
        for column in set(range(width)) - {used_column for used_column, _ in antecedent}:
            public = [rows[row][column] for row in matching if column in find_visible(rows, hidden_cells, row)]
            secret = [
                rows[row][column]
                for row in matching
                if (row, column) in private - blanked and rows[row][column] is not None
            ]
            if len(public) < max(least, 1) or not secret:
                continue
            for value in set(public) & set(secret):
                fits, secretly = public.count(value), secret.count(value)
                if Fraction(fits, len(public)) >= confidence and Fraction(secretly, len(secret)) >= confidence:
                    rules.add((antecedent, column, value, len(public), fits, len(secret), secretly))
    return rules


def count_rules(
    rows: Sequence[Sequence[Any]],
    private: set[Place],
    blanked: set[Place],
    confidence: Fraction,
    least: int,
    max_length: int | None = None,
    prior: bool = False,
) -> set[Rule]:
    """The same from the other side, for larger tables: each row counts for every set of values that it shows."""
    hidden_cells = private | blanked
    public: Counter[tuple[Antecedent, int, Any]] = Counter()
    secret: Counter[tuple[Antecedent, int, Any]] = Counter()
    for row, values in enumerate(rows):
        items = sorted(find_visible(rows, hidden_cells, row).items(), key=lambda item: item[0])
        longest = len(items) if max_length is None else min(len(items), max_length)
        for premise in (frozenset(s) for n in range(0 if prior else 1, longest + 1) for s in combinations(items, n)):
            for column in set(range(len(values))) - {used_column for used_column, _ in premise}:
                if values[column] is not None and (row, column) not in hidden_cells:
                    public[premise, column, values[column]] += 1
                elif values[column] is not None and (row, column) not in blanked:
                    secret[premise, column, values[column]] += 1
    seen_in: Counter[tuple[Antecedent, int]] = Counter()
    hidden_in: Counter[tuple[Antecedent, int]] = Counter()
    for totals, counts in ((seen_in, public), (hidden_in, secret)):
        for (antecedent, column, _), count in counts.items():
            totals[antecedent, column] += count
    rules: set[Rule] = set()
    for (antecedent, column, value), right in secret.items():
        fits, visible_count = public[antecedent, column, value], seen_in[antecedent, column]
        all_hidden = hidden_in[antecedent, column]
        if visible_count >= max(least, 1) and fits >= confidence * visible_count and right >= confidence * all_hidden:
            rules.add((antecedent, column, value, visible_count, fits, all_hidden, right))
    return rules
