# SPDX-License-Identifier: MIT
"""Counts of adversarial rules, kept up to date while entries are blanked and shown again.

A *ledger* is what does not change: the items, the rules, and the rows in which each antecedent appears before
anything is blanked, those that hide something first. The *books* change: what is hidden, the four counts of each rule
(|pub|, pub with y, |hid|, hid with y), and the list of rules that are adversarial now, called open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import ByteGrid, CodeGrid, Codes, IntGrid, Ints
from sfumato.kernels.compilation import compile_cached, record

PUBLIC, PRIVATE, BLANK = 0, 1, 2
INVALIDATED_RULES, MARGINALIZED_RULES, EXAMPLE = 0, 1, 2
"""Why an entry is blanked: how many rules lose a public row with y, how many a hidden row, and one of them."""
PUB, PUB_FIT, HID, HID_FIT, LIST_PLACE, TARGET, COLUMN, ANTECEDENT = range(8)
"""A rule's record: |pub|, pub with y, |hid|, hid with y; its index among the open rules (−1 if not open);
the predicted item and its column; its antecedent. Stored together, because they are read together."""
ALL_ROWS, HIDING_ROWS = range(2)
"""How many rows a beginning appears in, and how many of them hide something."""
X_COLUMNS, ALL_COLUMNS, FIRST, LAST = range(4)
"""An antecedent's record: marks of the columns of X, and of X and all it predicts; its rules are FIRST up to LAST."""
UNIT_WEIGHT = 1 << 40
"""A weight of 1: weights are whole numbers, so that they neither drift nor tie by rounding."""


@record
class RuleLedger(NamedTuple):
    """What does not change."""

    codes: CodeGrid
    columns: Codes
    """The column of each item."""
    start: Ints
    """Where each antecedent starts in `items`."""
    items: Codes
    antecedents: IntGrid
    """The antecedents' records."""
    row_start: Ints
    middle: Ints
    """Where the rows of an antecedent that hide nothing start."""
    rows: Codes
    of_row_start: Ints
    of_row: Codes
    """The antecedents of each row."""


@record
class RuleBooks(NamedTuple):
    """What changes."""

    states: ByteGrid
    hidden_columns: Ints
    """Marks of the columns that are not public in each row."""
    rules: CodeGrid
    """The rules' records."""
    open_rules: Codes
    open_of: Codes
    """How many open rules an antecedent has."""
    total: Ints
    """How many are open, in one place."""


@record
class RuleLimits(NamedTuple):
    """The confidence as a fraction, and the least support."""

    numerator: int
    denominator: int
    least: int


@compile_cached("int64(int64)")
def get_column_bit(column):
    """The mark of a column; from the 65th on, columns share their marks."""
    return np.int64(1) << (column & 63)


@compile_cached("boolean(int32[:,::1], int64, RuleLimits)")
def is_adversarial(rules, rule, limits):
    """Whether the rule can be found in what is public and is right about what is hidden."""
    public, hidden_count = np.int64(rules[rule, PUB]), np.int64(rules[rule, HID])
    return (
        public >= limits.least
        and hidden_count >= 1
        and limits.denominator * rules[rule, PUB_FIT] >= limits.numerator * public
        and limits.denominator * rules[rule, HID_FIT] >= limits.numerator * hidden_count
    )


@compile_cached("void(int32[:,::1], int32[::1], int32[::1], int64[::1], int64, RuleLimits)")
def judge_rule(rules, open_rules, open_of, total, rule, limits):
    """Put a rule whose counts changed on the list of open ones, or take it off."""
    is_open, list_place = is_adversarial(rules, rule, limits), rules[rule, LIST_PLACE]
    if is_open and list_place < 0:
        rules[rule, LIST_PLACE] = total[0]
        open_rules[total[0]] = rule
        total[0] += 1
        open_of[rules[rule, ANTECEDENT]] += 1
    elif list_place >= 0 and not is_open:
        total[0] -= 1
        last = open_rules[total[0]]
        open_rules[list_place] = last
        rules[last, LIST_PLACE] = list_place
        rules[rule, LIST_PLACE] = -1
        open_of[rules[rule, ANTECEDENT]] -= 1


# Hot loops take arrays out of their tuples once: doing it in a small function costs more than the function.
@compile_cached("boolean(int32[::1], int64[::1], int32[::1], uint8[:,::1], int64, int64, int64)")
def is_veiled(columns, start, items, states, antecedent, row, column):
    """Whether a row hides an item of X, but for what it has in `column`; asked where marks of columns may be shared."""
    is_hidden = states.shape[1] <= 64
    for index in range(start[antecedent], start[antecedent + 1]):
        item_column = columns[items[index]]
        is_hidden |= item_column != column and states[row, item_column] != PUBLIC
    return is_hidden


@compile_cached("boolean(int32[::1], int64[::1], int32[::1], int64, int64)")
def contains_column(columns, start, items, antecedent, column):
    """Whether X has an item of the column."""
    is_inside = False
    for index in range(start[antecedent], start[antecedent + 1]):
        is_inside |= columns[items[index]] == column
    return is_inside


@compile_cached("int64(uint8[:,::1], int64)")
def mark_hidden_columns(states, row):
    """The marks of the columns that are not public in a row."""
    marks = np.int64(0)
    for column in range(states.shape[1]):
        if states[row, column] != PUBLIC:
            marks |= get_column_bit(column)
    return marks


@compile_cached("void(uint8[:,::1], int64[::1])")
def mark_all_hidden_columns(states, hidden_columns):
    """The same for all rows."""
    for row in range(states.shape[0]):
        hidden_columns[row] = mark_hidden_columns(states, row)


@compile_cached("void(RuleLedger, RuleBooks, int64, int64, uint8, RuleLimits)")
def turn_entry(ledger, books, row, column, new_state, limits):
    """Blank a public entry, or show a blanked one again, and bring every rule's counts up to date."""
    codes, columns, start, items = ledger.codes, ledger.columns, ledger.start, ledger.items
    antecedents, of_row_start, of_row = ledger.antecedents, ledger.of_row_start, ledger.of_row
    states, hidden_columns, rules = books.states, books.hidden_columns, books.rules
    open_rules, open_of, total = books.open_rules, books.open_of, books.total
    step = np.int32(-1) if new_state == BLANK else np.int32(1)
    states[row, column] = PUBLIC
    other_marks, column_bit = mark_hidden_columns(states, row), get_column_bit(column)
    for index in range(of_row_start[row], of_row_start[row + 1]):
        antecedent = np.int64(of_row[index])
        marks = antecedents[antecedent, X_COLUMNS]
        if marks & other_marks != 0 and is_veiled(columns, start, items, states, antecedent, row, column):
            continue
        if antecedents[antecedent, ALL_COLUMNS] & column_bit == 0:
            continue
        is_inside = marks & column_bit != 0 and contains_column(columns, start, items, antecedent, column)
        for rule in range(antecedents[antecedent, FIRST], antecedents[antecedent, LAST]):
            foretold = rules[rule, COLUMN]
            if not (is_inside or foretold == column):
                continue
            code, state = codes[row, foretold], states[row, foretold]
            if code < 0 or state == BLANK:
                continue
            side = PUB if state == PUBLIC else HID
            rules[rule, side] += step
            if code == rules[rule, TARGET]:
                rules[rule, side + 1] += step
            judge_rule(rules, open_rules, open_of, total, rule, limits)
    states[row, column] = new_state
    hidden_columns[row] = mark_hidden_columns(states, row)


@compile_cached("void(RuleLedger, RuleBooks, int64, int64, int32[::1])")
def count_closed_rules(ledger, books, row, column, reason):
    """What blanking a public entry would do: open rules that lose a public row with y; that lose a hidden row; one."""
    codes, columns, start, items = ledger.codes, ledger.columns, ledger.start, ledger.items
    antecedents, of_row_start, of_row = ledger.antecedents, ledger.of_row_start, ledger.of_row
    states, hidden_columns, rules, open_of = books.states, books.hidden_columns, books.rules, books.open_of
    reason[INVALIDATED_RULES], reason[MARGINALIZED_RULES], reason[EXAMPLE] = 0, 0, -1
    for index in range(of_row_start[row], of_row_start[row + 1]):
        antecedent = np.int64(of_row[index])
        if open_of[antecedent] == 0:
            continue
        if antecedents[antecedent, X_COLUMNS] & hidden_columns[row] != 0 and is_veiled(
            columns, start, items, states, antecedent, row, -1
        ):
            continue
        is_inside = contains_column(columns, start, items, antecedent, column)
        for rule in range(antecedents[antecedent, FIRST], antecedents[antecedent, LAST]):
            foretold = rules[rule, COLUMN]
            if rules[rule, LIST_PLACE] < 0 or not (is_inside or foretold == column):
                continue
            state = states[row, foretold]
            if state == PRIVATE or (state == PUBLIC and codes[row, foretold] == rules[rule, TARGET]):
                reason[INVALIDATED_RULES if state == PUBLIC else MARGINALIZED_RULES] += 1
                reason[EXAMPLE] = rule if reason[EXAMPLE] < 0 else reason[EXAMPLE]


@compile_cached("void(RuleLedger, RuleBooks, int64[::1], int32[:,::1], RuleLimits)")
def find_needed_entries(ledger, books, entries, reason, limits):
    """For each blanked entry what it works on: the rules that would be open without it, all others as they are."""
    width = ledger.codes.shape[1]
    for index in range(entries.shape[0]):
        row, column = entries[index] // width, entries[index] % width
        turn_entry(ledger, books, row, column, PUBLIC, limits)
        count_closed_rules(ledger, books, row, column, reason[index])
        turn_entry(ledger, books, row, column, BLANK, limits)


@compile_cached("void(RuleLedger, RuleBooks, int64, int64, RuleLimits)")
def count_antecedent_rules(ledger, books, begin, end, limits):
    """Count the rules of some antecedents from their rows."""
    codes, columns, start, items = ledger.codes, ledger.columns, ledger.start, ledger.items
    antecedents, row_start, rows = ledger.antecedents, ledger.row_start, ledger.rows
    states, hidden_columns, rules = books.states, books.hidden_columns, books.rules
    open_rules, open_of, total = books.open_rules, books.open_of, books.total
    for antecedent in range(begin, end):
        first, last = antecedents[antecedent, FIRST], antecedents[antecedent, LAST]
        marks = antecedents[antecedent, X_COLUMNS]
        for index in range(row_start[antecedent], row_start[antecedent + 1]):
            row = np.int64(rows[index])
            if marks & hidden_columns[row] != 0 and is_veiled(columns, start, items, states, antecedent, row, -1):
                continue
            for rule in range(first, last):
                foretold = rules[rule, COLUMN]
                code, state = codes[row, foretold], states[row, foretold]
                if code < 0 or state == BLANK:
                    continue
                side = PUB if state == PUBLIC else HID
                rules[rule, side] += 1
                rules[rule, side + 1] += np.int32(code == rules[rule, TARGET])
        for rule in range(first, last):
            judge_rule(rules, open_rules, open_of, total, rule, limits)


@compile_cached("void(int64[::1], int32[::1], int64, int64[::1], int32[::1])")
def invert_row_lists(row_start, rows, first, of_row_start, of_row):
    """From the rows of each antecedent to the antecedents of each row, numbered from `first` on.

    `of_row_start` has two places more than there are rows, all 0; the last is not needed afterwards.
    """
    for index in range(rows.shape[0]):
        of_row_start[rows[index] + 2] += 1
    for row in range(of_row_start.shape[0] - 2):
        of_row_start[row + 2] += of_row_start[row + 1]
    for antecedent in range(row_start.shape[0] - 1):
        for index in range(row_start[antecedent], row_start[antecedent + 1]):
            row = rows[index]
            of_row[of_row_start[row + 1]] = first + antecedent
            of_row_start[row + 1] += 1


@compile_cached("void(int64[::1], int32[::1], int64[::1], int32[::1], int64[::1], int32[::1])")
def concatenate_row_lists(start, first, more_start, more, all_start, joined_lists):
    """Two lists for each row, one behind the other."""
    list_end = np.int64(0)
    for row in range(all_start.shape[0] - 1):
        all_start[row] = list_end
        for index in range(start[row], start[row + 1]):
            joined_lists[list_end] = first[index]
            list_end += 1
        for index in range(more_start[row], more_start[row + 1]):
            joined_lists[list_end] = more[index]
            list_end += 1
    all_start[all_start.shape[0] - 1] = list_end


@record
class ListedAppearances(NamedTuple):
    """How far the room was enough."""

    end: int
    """The first antecedent for which there was none."""
    filled_count: int
    """How much of it was used."""


@compile_cached(
    "ListedAppearances(int32[:,::1], int32[::1], int64[::1], int32[::1], int32[:,::1], int64[:,::1], int64, int64, "
    "int64[:,::1], int32[::1])"
)
def list_appearances(seen_codes, columns, start, items, stack, sizes, begin, end, offsets, rows):
    """List the rows in which some antecedents publicly appear, as far as there is room.

    `seen_codes` has columns by rows, −1 where nothing is public. Antecedents that follow one another begin alike:
    `stack` holds the rows of each beginning of the last one, `sizes` how many, and how many of them hide something,
    which come first. `offsets` says the same of each antecedent: where its rows begin, and how many hide something.
    """
    filled_count = np.int64(0)
    for antecedent in range(begin, end):
        first, length = start[antecedent], start[antecedent + 1] - start[antecedent]
        depth = np.int64(0)
        if antecedent > 0:
            previous_start = start[antecedent - 1]
            shared_length = min(length, first - previous_start)
            while depth < shared_length and items[previous_start + depth] == items[first + depth]:
                depth += 1
        while depth < length:
            item = items[first + depth]
            column = columns[item]
            row_count, hiding_count = np.int64(0), np.int64(0)
            for index in range(sizes[depth, ALL_ROWS]):
                row = stack[depth, index]
                if seen_codes[column, row] == item:
                    stack[depth + 1, row_count] = row
                    row_count += 1
                    hiding_count += index < sizes[depth, HIDING_ROWS]
            depth += 1
            sizes[depth, ALL_ROWS], sizes[depth, HIDING_ROWS] = row_count, hiding_count
        many = sizes[length, ALL_ROWS]
        if filled_count + many > rows.shape[0]:
            # What this antecedent shares with the last one stays on the stack, and that is all that is asked for.
            return ListedAppearances(antecedent, filled_count)  # type: ignore[arg-type]  # numba's numbers are Python's here
        rows[filled_count : filled_count + many] = stack[length, :many]
        offsets[antecedent, ALL_ROWS], offsets[antecedent, HIDING_ROWS] = many, sizes[length, HIDING_ROWS]
        filled_count += many
    return ListedAppearances(end, filled_count)  # type: ignore[arg-type]  # numba's numbers are Python's here
