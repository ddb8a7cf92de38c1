# SPDX-License-Identifier: MIT
"""GraDeS: blank the entries of largest weight until no rule of the ledger is open, weights brought up to date by
differences.

An entry's weight is the sum over open rules of what its blanking does to each: a share of 1/|pub| where its row holds
X and y in public, of 1/|hid| where it shows X and hides y's column. `options` says what is done otherwise: only hidden
rows that have y count, or a share of 1/(rows that still must go) is taken; a share is only renewed after it drifted by
one `slack`-th; rules that closed stay closed. Weights lie in blocks that know their largest, so that the next entry is
found without looking at them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Bytes, Codes, IntGrid, Ints
from sfumato.kernels.compilation import compile_cached, record

from sfumato.kernels.entries.grades import (  # isort: skip
    ALL_COLUMNS, ANTECEDENT, BLANK, COLUMN, FIRST, HID, LAST, UNIT_WEIGHT, LIST_PLACE, PUB, PUBLIC, TARGET, X_COLUMNS,
    get_column_bit,
    mark_hidden_columns, contains_column, judge_rule, is_veiled, count_closed_rules,
)  # fmt: skip

PUBLIC_SHARE, HIDDEN_SHARE = range(2)
"""The shares of a rule that are in the weights."""
WEIGHT_BLOCK = 256
TAKEN_WEIGHT = 1 << 62


@record
class EntryWeights(NamedTuple):
    """The weight of each entry, and what is needed to bring it up to date."""

    weight: Ints
    largest: Ints
    """Of each block."""
    stale: Bytes
    """Whether that must be looked up again."""
    shares: IntGrid
    """Of each rule, public and hidden, as they are in the weights."""
    changed_rules: Codes
    """Rules that changed."""
    changed_mask: Bytes
    """Whether a rule is among them."""
    many: Ints
    """How many they are, in one place."""


@record
class EntryWeighing(NamedTuple):
    """How entries are weighed."""

    counts_fit: bool
    by_need: bool
    slack: int
    forget: bool
    batch: int
    reach: int


@compile_cached("int64(int32[:,::1], int64, int64, RuleLimits)")
def count_needed_rows(rules, rule, side, limits):
    """How many rows with y must go from one side of an open rule until it is closed, if only such rows go."""
    top, bottom = limits.numerator, limits.denominator
    rows, fits = np.int64(rules[rule, side]), np.int64(rules[rule, side + 1])
    least = fits
    if bottom > top:
        least = min(least, (bottom * fits - top * rows) // (bottom - top) + 1)
    if side == PUB:
        least = min(least, rows - limits.least + 1)
    return least


@compile_cached("int64(int32[:,::1], int64, int64, RuleLimits, EntryWeighing)")
def compute_row_share(rules, rule, side, limits, options):
    """What one row counts for, on one side of an open rule."""
    if options.by_need:
        return UNIT_WEIGHT // count_needed_rows(rules, rule, side, limits)
    return UNIT_WEIGHT // np.int64(rules[rule, side + 1 if options.counts_fit and side == HID else side])


@compile_cached("void(int64[::1], int64[::1], uint8[::1], int64, int64)")
def _add_weight(weight, largest, stale, entry, increment):
    block = entry // WEIGHT_BLOCK
    old_weight = weight[entry]
    weight[entry] = old_weight + increment
    if old_weight + increment > largest[block]:
        largest[block] = old_weight + increment
    elif old_weight == largest[block]:
        stale[block] = 1


@compile_cached("void(RuleLedger, RuleBooks, EntryWeights, int64, int64, int64, EntryWeighing)")
def _spread_rule_weight(ledger, books, weights, rule, public, hidden_share, options):
    """Add to the entries of a rule's rows: so much where y is public, so much where it is hidden."""
    codes, columns, start, items = ledger.codes, ledger.columns, ledger.start, ledger.items
    antecedents, row_start, middle, rows = ledger.antecedents, ledger.row_start, ledger.middle, ledger.rows
    states, hidden_columns, rules = books.states, books.hidden_columns, books.rules
    weight, largest, stale = weights.weight, weights.largest, weights.stale
    width, antecedent = codes.shape[1], np.int64(rules[rule, ANTECEDENT])
    foretold, value, marks = rules[rule, COLUMN], rules[rule, TARGET], antecedents[antecedent, X_COLUMNS]
    end = row_start[antecedent + 1] if public != 0 else middle[antecedent]
    for index in range(row_start[antecedent], end):
        row = np.int64(rows[index])
        code, state = codes[row, foretold], states[row, foretold]
        if code < 0 or state == BLANK or (code != value and (state == PUBLIC or options.counts_fit)):
            continue
        if marks & hidden_columns[row] != 0 and is_veiled(columns, start, items, states, antecedent, row, -1):
            continue
        increment = public if state == PUBLIC else hidden_share
        if increment == 0:
            continue
        for x in range(start[antecedent], start[antecedent + 1]):
            _add_weight(weight, largest, stale, row * width + columns[items[x]], increment)
        if state == PUBLIC:
            _add_weight(weight, largest, stale, row * width + foretold, increment)


@compile_cached("void(RuleLedger, RuleBooks, EntryWeights, int64, RuleLimits, EntryWeighing)")
def _renew_rule_shares(ledger, books, weights, rule, limits, options):
    """Bring the shares of a rule whose counts changed into the weights, unless they hardly drifted."""
    rules, shares = books.rules, weights.shares
    public, hidden_share = np.int64(0), np.int64(0)
    if rules[rule, LIST_PLACE] >= 0:
        public = compute_row_share(rules, rule, PUB, limits, options)
        hidden_share = compute_row_share(rules, rule, HID, limits, options)
        # The prior has no X to blank in hidden rows: it can only be closed in public.
        has_items = ledger.antecedents[rules[rule, ANTECEDENT], X_COLUMNS] != 0
        if (
            has_items
            and options.reach
            and count_needed_rows(rules, rule, PUB, limits)
            > options.reach * count_needed_rows(rules, rule, HID, limits)
        ):
            public = np.int64(0)
        old = shares[rule, PUBLIC_SHARE]
        if options.slack and old and abs(public - old) * options.slack < old:
            public = old
    if public != shares[rule, PUBLIC_SHARE] or hidden_share != shares[rule, HIDDEN_SHARE]:
        _spread_rule_weight(
            ledger,
            books,
            weights,
            rule,
            public - shares[rule, PUBLIC_SHARE],
            hidden_share - shares[rule, HIDDEN_SHARE],
            options,
        )
        shares[rule, PUBLIC_SHARE], shares[rule, HIDDEN_SHARE] = public, hidden_share


@compile_cached("void(RuleLedger, RuleBooks, EntryWeights, int64, int64, RuleLimits, EntryWeighing)")
def weigh_rules(ledger, books, weights, begin, end, limits, options):
    """Bring the shares of some rules into the weights."""
    for rule in range(begin, end):
        _renew_rule_shares(ledger, books, weights, rule, limits, options)


@compile_cached("int64(EntryWeights)")
def _find_heaviest_entry(weights):
    """The entry of largest weight, of equal ones the first; −1 if none has any."""
    weight, largest, stale = weights.weight, weights.largest, weights.stale
    top = np.int64(0)
    for block in range(largest.shape[0]):
        if stale[block]:
            block_top = np.int64(-TAKEN_WEIGHT)
            for entry in range(block * WEIGHT_BLOCK, min((block + 1) * WEIGHT_BLOCK, weight.shape[0])):
                block_top = max(block_top, weight[entry])
            largest[block] = block_top
            stale[block] = 0
        top = max(top, largest[block])
    if top == 0:
        return -1
    block = 0
    while largest[block] != top:
        block += 1
    entry = block * WEIGHT_BLOCK
    while weight[entry] != top:
        entry += 1
    return entry


@compile_cached("void(RuleLedger, RuleBooks, EntryWeights, int64, int64, EntryWeighing)")
def _blank_entry(ledger, books, weights, row, column, options):
    """Blank an entry: its row no longer counts for the rules that need the entry, in counts and in weights."""
    codes, columns, start, items = ledger.codes, ledger.columns, ledger.start, ledger.items
    antecedents, of_row_start, of_row = ledger.antecedents, ledger.of_row_start, ledger.of_row
    states, hidden_columns, rules, open_of = books.states, books.hidden_columns, books.rules, books.open_of
    weight, largest, stale, shares = weights.weight, weights.largest, weights.stale, weights.shares
    changed_rules, changed_mask, many = weights.changed_rules, weights.changed_mask, weights.many
    width, column_bit = codes.shape[1], get_column_bit(column)
    for index in range(of_row_start[row], of_row_start[row + 1]):
        antecedent = np.int64(of_row[index])
        marks = antecedents[antecedent, X_COLUMNS]
        if marks & hidden_columns[row] != 0 and is_veiled(columns, start, items, states, antecedent, row, -1):
            continue
        if antecedents[antecedent, ALL_COLUMNS] & column_bit == 0 or (options.forget and open_of[antecedent] == 0):
            continue
        is_inside = marks & column_bit != 0 and contains_column(columns, start, items, antecedent, column)
        for rule in range(antecedents[antecedent, FIRST], antecedents[antecedent, LAST]):
            foretold = rules[rule, COLUMN]
            if not (is_inside or foretold == column) or (options.forget and rules[rule, LIST_PLACE] < 0):
                continue
            code, state = codes[row, foretold], states[row, foretold]
            if code < 0 or state == BLANK:
                continue
            side = PUB if state == PUBLIC else HID
            fits = code == rules[rule, TARGET]
            rules[rule, side] -= 1
            rules[rule, side + 1] -= np.int32(fits)
            share = shares[rule, side // 2]
            if share and (fits or (side == HID and not options.counts_fit)):
                for x in range(start[antecedent], start[antecedent + 1]):
                    _add_weight(weight, largest, stale, row * width + columns[items[x]], -share)
                if side == PUB:
                    _add_weight(weight, largest, stale, row * width + foretold, -share)
            if not changed_mask[rule]:
                changed_mask[rule] = 1
                changed_rules[many[0]] = rule
                many[0] += 1
    states[row, column] = BLANK
    hidden_columns[row] = mark_hidden_columns(states, row)


@compile_cached(
    "int64(RuleLedger, RuleBooks, EntryWeights, RuleLimits, EntryWeighing, int64[::1], int32[:,::1], int64, int64)"
)
def blank_heaviest(ledger, books, weights, limits, options, log, reasons, blanked_count, most):
    """Pass after pass, the entries of largest weight, until no rule is open or `most` are blanked; returns their count.

    `log` takes the entries in their order, `reasons` what each was blanked for. A pass blanks as many as `options`
    says before it looks at the rules again.
    """
    width = ledger.codes.shape[1]
    rules, open_rules, open_of, total = books.rules, books.open_rules, books.open_of, books.total
    weight, stale, changed_rules, changed_mask, many = (
        weights.weight,
        weights.stale,
        weights.changed_rules,
        weights.changed_mask,
        weights.many,
    )
    while total[0] > 0 and blanked_count < most:
        begin = blanked_count
        for _ in range(min(options.batch, log.shape[0] - blanked_count)):
            entry = _find_heaviest_entry(weights)
            if entry < 0:
                break
            log[blanked_count] = entry
            blanked_count += 1
            weight[entry] -= TAKEN_WEIGHT
            stale[entry // WEIGHT_BLOCK] = 1
        for index in range(begin, blanked_count):
            weight[log[index]] += TAKEN_WEIGHT
            stale[log[index] // WEIGHT_BLOCK] = 1
            count_closed_rules(ledger, books, log[index] // width, log[index] % width, reasons[index])
        for index in range(begin, blanked_count):
            _blank_entry(ledger, books, weights, log[index] // width, log[index] % width, options)
        for index in range(many[0]):
            rule = np.int64(changed_rules[index])
            changed_mask[rule] = 0
            judge_rule(rules, open_rules, open_of, total, rule, limits)
            _renew_rule_shares(ledger, books, weights, rule, limits, options)
        many[0] = 0
        if blanked_count == begin:
            break
    return blanked_count


@compile_cached("int64(RuleLedger, RuleBooks, RuleLimits, int64[::1], uint8[::1])")
def pack_open_rules(ledger, books, limits, order, used_turns):
    """What it takes to close open rules no two of which share an entry, looked at in this order.

    Whatever closes a rule blanks at least as many entries of its rows as must go from one of its sides.
    """
    codes, columns, start = ledger.codes, ledger.columns, ledger.start
    items, row_start, rows = ledger.items, ledger.row_start, ledger.rows
    states, rules, width, total = books.states, books.rules, codes.shape[1], np.int64(0)
    for rule in order:
        antecedent, foretold = np.int64(rules[rule, ANTECEDENT]), rules[rule, COLUMN]
        free = rules[rule, LIST_PLACE] >= 0
        for turn in range(2):
            for index in range(row_start[antecedent], row_start[antecedent + 1]):
                row = np.int64(rows[index])
                if not free or codes[row, foretold] < 0 or states[row, foretold] == BLANK:
                    continue
                for x in range(start[antecedent], start[antecedent + 1]):
                    free &= turn == 1 or used_turns[row * width + columns[items[x]]] == 0
                    used_turns[row * width + columns[items[x]]] |= turn
                free &= turn == 1 or used_turns[row * width + foretold] == 0
                used_turns[row * width + foretold] |= turn
        if free:
            total += min(count_needed_rows(rules, rule, PUB, limits), count_needed_rows(rules, rule, HID, limits))
    return total
