# SPDX-License-Identifier: MIT
"""Make a derived set smaller: show entries again that need not be blank, then search for better local replacements.

Only the rules of a ledger are considered: the caller must mine again. A move shows a few related blanked entries again,
blanks others until no rule is open, and is kept if it blanked no more than it showed; otherwise it is undone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints, Words
from sfumato.kernels.compilation import compile_cached, record

from sfumato.kernels.entries.grades import (  # isort: skip
    ANTECEDENT, BLANK, COLUMN, HID, UNIT_WEIGHT, PUB, PUBLIC, TARGET, X_COLUMNS, turn_entry, is_veiled,
)  # fmt: skip
from sfumato.kernels.entries.grades_weights import count_needed_rows

COUNT, UNDONE, BETTER, SIDEWAYS = range(4)
"""Places in `tally`: blanked entries; moves that were turned back, that saved an entry, that saved none."""
LARGEST_MOVE = 5
"""The most entries that a move shows again."""
REACH = 4
"""Public rows are blanked only if at most this many times as many of them as of hidden rows must go."""


@record
class KeptEntries(NamedTuple):
    """The entries that are blanked, and room to choose others."""

    entries: Ints
    list_places: Ints
    """Each entry's place among them, or −1."""
    tally: Ints
    weight: Ints
    """Of each entry, all 0."""
    room: Ints
    seed: Words


@compile_cached("int64(uint64[::1], int64)")
def draw_below(seed, bound):
    """A number from 0 on, under `bound` (xorshift)."""
    state = seed[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    seed[0] = state
    return np.int64((state >> np.uint64(11)) % np.uint64(bound))


@compile_cached("void(int64[::1], int64[::1], int64[::1], int64)")
def _unlist_entry(kept_entries, list_places, tally, entry):
    """Take an entry off the list of blanked ones."""
    tally[COUNT] -= 1
    last = kept_entries[tally[COUNT]]
    kept_entries[list_places[entry]] = last
    list_places[last] = list_places[entry]
    list_places[entry] = -1


@compile_cached("void(int64[::1], int64[::1], int64[::1], int64)")
def _list_entry(kept_entries, list_places, tally, entry):
    """Put an entry on the list of blanked ones."""
    kept_entries[tally[COUNT]] = entry
    list_places[entry] = tally[COUNT]
    tally[COUNT] += 1


@compile_cached("int64(RuleLedger, RuleBooks, KeptEntries, RuleLimits, int64, int64)")
def show_needless_entries(ledger, books, search, limits, begin, end):
    """Show each of some blanked entries again, from the last to the first, where no rule comes of it; how many."""
    kept_entries, list_places, tally = search.entries, search.list_places, search.tally
    width, total = ledger.codes.shape[1], books.total
    shown_count = 0
    for index in range(end - 1, begin - 1, -1):
        entry = kept_entries[index]
        turn_entry(ledger, books, entry // width, entry % width, PUBLIC, limits)
        if total[0] > 0:
            turn_entry(ledger, books, entry // width, entry % width, BLANK, limits)
        else:
            _unlist_entry(kept_entries, list_places, tally, entry)
            shown_count += 1
    return shown_count


@compile_cached("int64(RuleLedger, RuleBooks, KeptEntries, RuleLimits)")
def _find_most_useful_entry(ledger, books, search, limits):
    """The entry that does most against the open rules, each row counted 1 / (rows that must go); ties at random."""
    codes, columns, start, items = ledger.codes, ledger.columns, ledger.start, ledger.items
    antecedents, row_start, middle, rows = ledger.antecedents, ledger.row_start, ledger.middle, ledger.rows
    states, hidden_columns, rules, open_rules, total = (
        books.states,
        books.hidden_columns,
        books.rules,
        books.open_rules,
        books.total,
    )
    weight, room, seed = search.weight, search.room, search.seed
    width, entry_count = codes.shape[1], 0
    for index in range(total[0]):
        rule = np.int64(open_rules[index])
        antecedent, value, foretold = np.int64(rules[rule, ANTECEDENT]), rules[rule, TARGET], rules[rule, COLUMN]
        marks = antecedents[antecedent, X_COLUMNS]
        public, hidden_count = count_needed_rows(rules, rule, PUB, limits), count_needed_rows(rules, rule, HID, limits)
        # The prior has no X to blank in hidden rows: it can only be closed in public.
        is_near = public <= REACH * hidden_count or marks == 0
        end = row_start[antecedent + 1] if is_near else middle[antecedent]
        for position in range(row_start[antecedent], end):
            row = np.int64(rows[position])
            state = states[row, foretold]
            if codes[row, foretold] != value or state == BLANK or (state == PUBLIC and not is_near):
                continue
            if marks & hidden_columns[row] != 0 and is_veiled(columns, start, items, states, antecedent, row, -1):
                continue
            row_share = UNIT_WEIGHT // public if state == PUBLIC else UNIT_WEIGHT // hidden_count
            for x in range(start[antecedent], start[antecedent + 1] + (state == PUBLIC)):
                column = foretold if x == start[antecedent + 1] else columns[items[x]]
                entry = row * width + column
                if weight[entry] == 0:
                    room[entry_count] = entry
                    entry_count += 1
                weight[entry] += row_share
    best, top, ties = np.int64(-1), np.int64(0), 0
    for index in range(entry_count):
        entry = room[index]
        if weight[entry] > top:
            best, top, ties = entry, weight[entry], 1
        elif weight[entry] == top:
            ties += 1
            if draw_below(seed, ties) == 0:
                best = entry
        weight[entry] = 0
    return best


@compile_cached("int64(RuleLedger, RuleBooks, uint64[::1], int64)")
def _draw_related_entry(ledger, books, seed, row):
    """A blanked entry that has to do with what is open: in the same row, or in a row of an open rule; −1 if none."""
    codes, columns, start = ledger.codes, ledger.columns, ledger.start
    items, row_start, rows = ledger.items, ledger.row_start, ledger.rows
    states, rules, open_rules, total = books.states, books.rules, books.open_rules, books.total
    width = codes.shape[1]
    entry, seen_count = np.int64(-1), 0
    if total[0] == 0 or draw_below(seed, 2) == 0:
        for column in range(width):
            if states[row, column] == BLANK:
                seen_count += 1
                if draw_below(seed, seen_count) == 0:
                    entry = row * width + column
        if entry >= 0 or total[0] == 0:
            return entry
    rule = open_rules[draw_below(seed, total[0])]
    antecedent = np.int64(rules[rule, ANTECEDENT])
    for index in range(row_start[antecedent], row_start[antecedent + 1]):
        rule_row = np.int64(rows[index])
        for x in range(start[antecedent], start[antecedent + 1] + 1):
            column = rules[rule, COLUMN] if x == start[antecedent + 1] else columns[items[x]]
            if states[rule_row, column] == BLANK:
                seen_count += 1
                if draw_below(seed, seen_count) == 0:
                    entry = rule_row * width + column
    return entry


@compile_cached("boolean(RuleLedger, RuleBooks, KeptEntries, RuleLimits, int64[::1])")
def _try_move(ledger, books, search, limits, did):
    """One move; whether it was kept. `did` has room for the entries that are turned."""
    kept_entries, list_places, tally, seed = search.entries, search.list_places, search.tally, search.seed
    width, total = ledger.codes.shape[1], books.total
    entry_count, turn_count = tally[COUNT], 0
    move_size = 1 + draw_below(seed, LARGEST_MOVE)
    entry = kept_entries[draw_below(seed, tally[COUNT])]
    while entry >= 0 and turn_count < move_size:
        turn_entry(ledger, books, entry // width, entry % width, PUBLIC, limits)
        _unlist_entry(kept_entries, list_places, tally, entry)
        did[turn_count] = entry
        turn_count += 1
        entry = _draw_related_entry(ledger, books, seed, entry // width)
    shown_count = turn_count
    while total[0] > 0 and tally[COUNT] <= entry_count:
        entry = _find_most_useful_entry(ledger, books, search, limits)
        turn_entry(ledger, books, entry // width, entry % width, BLANK, limits)
        _list_entry(kept_entries, list_places, tally, entry)
        did[turn_count] = entry
        turn_count += 1
    if total[0] == 0:
        for index in range(shown_count, turn_count - 1):
            entry = did[index]
            turn_entry(ledger, books, entry // width, entry % width, PUBLIC, limits)
            if total[0] > 0:
                turn_entry(ledger, books, entry // width, entry % width, BLANK, limits)
            else:
                _unlist_entry(kept_entries, list_places, tally, entry)
        if tally[COUNT] <= entry_count:
            return True
    for index in range(turn_count - 1, shown_count - 1, -1):
        entry = did[index]
        if list_places[entry] >= 0:
            turn_entry(ledger, books, entry // width, entry % width, PUBLIC, limits)
            _unlist_entry(kept_entries, list_places, tally, entry)
    for index in range(shown_count):
        entry = did[index]
        turn_entry(ledger, books, entry // width, entry % width, BLANK, limits)
        _list_entry(kept_entries, list_places, tally, entry)
    return False


@compile_cached("void(RuleLedger, RuleBooks, KeptEntries, RuleLimits, int64)")
def improve_by_moves(ledger, books, search, limits, moves):
    """Try this number of moves; no rule is open before, and none after."""
    tally = search.tally
    did = np.zeros(2 * LARGEST_MOVE + 2, dtype=np.int64)
    for _ in range(moves):
        entry_count = tally[COUNT]
        if entry_count == 0:
            break
        if not _try_move(ledger, books, search, limits, did):
            tally[UNDONE] += 1
        elif tally[COUNT] < entry_count:
            tally[BETTER] += 1
        else:
            tally[SIDEWAYS] += 1
