# SPDX-License-Identifier: MIT
"""Which entries rules rest on and which they expose: sets of rows as bits, intersected antecedent by antecedent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, WordGrid
from sfumato.kernels.bits import popcount
from sfumato.kernels.compilation import compile_cached, record


@compile_cached("void(int32[:,::1], uint64[:,::1])")
def set_row_bits(places, bits):
    """Set a row's bit in each set of rows that its entries name; −1 names none."""
    rows, columns = places.shape
    for row in range(rows):
        bit = np.uint64(1) << np.uint64(row & 63)
        for column in range(columns):
            bit_offset = places[row, column]
            if bit_offset >= 0:
                bits[bit_offset, row >> 6] |= bit


@record
class ListedRules(NamedTuple):
    """Rules, and the rows, as bits, that show each item."""

    seen_rows: WordGrid
    start: Ints
    items: Codes
    antecedent: Codes
    target: Codes


@compile_cached("void(ListedRules, uint64[:,::1], int32[::1], uint64[:,::1], int64, int64)")
def mark_supporting_rows(rules, hidden_rows, column, marks, begin, end):
    """Mark what some rules rest on: `marks[column]` gets the rows of the entries.

    Item i is of column `column[i]`; `hidden[column]` are the rows in which it is private.
    """
    seen_rows, start, items = rules.seen_rows, rules.start, rules.items
    antecedent, target = rules.antecedent, rules.target
    words = seen_rows.shape[1]
    matching = np.empty(words, dtype=np.uint64)
    row_marks = np.empty(words, dtype=np.uint64)
    last = -1
    for rule in range(begin, end):
        rule_antecedent = antecedent[rule]
        if rule_antecedent != last:
            matching[:] = ~np.uint64(0)
            for index in range(start[rule_antecedent], start[rule_antecedent + 1]):
                row = seen_rows[items[index]]
                for word in range(words):
                    matching[word] &= row[word]
            last = rule_antecedent
        fits, secret = seen_rows[target[rule]], hidden_rows[column[target[rule]]]
        foretold = marks[column[target[rule]]]
        for word in range(words):
            fit = matching[word] & fits[word]
            foretold[word] |= fit
            row_marks[word] = fit | (matching[word] & secret[word])
        for index in range(start[rule_antecedent], start[rule_antecedent + 1]):
            column_marks = marks[column[items[index]]]
            for word in range(words):
                column_marks[word] |= row_marks[word]


@compile_cached("void(ListedRules, uint64[:,::1], int32[::1], int64[::1], int32[::1], int64, int64)")
def list_exposed(rules, secret, rows, exposed_start, exposed_rows, begin, end):
    """List the rows that some rules predict correctly: row number i of the sets is `rows[i]`.

    `secret[i]` are the rows in which item i is private.
    """
    seen_rows, start, items = rules.seen_rows, rules.start, rules.items
    antecedent, target = rules.antecedent, rules.target
    words = seen_rows.shape[1]
    for rule in range(begin, end):
        rule_antecedent = antecedent[rule]
        exposed_index = exposed_start[rule]
        for word in range(words):
            remaining_bits = secret[target[rule], word]
            for index in range(start[rule_antecedent], start[rule_antecedent + 1]):
                remaining_bits &= seen_rows[items[index], word]
            while remaining_bits:
                low = remaining_bits & (~remaining_bits + np.uint64(1))
                exposed_rows[exposed_index] = rows[64 * word + np.int64(popcount(low - np.uint64(1)))]
                exposed_index += 1
                remaining_bits ^= low
