# SPDX-License-Identifier: MIT
"""The memory layout of the search for adversarial rules: named positions in its arrays.

An entry is one code: an item `i` if it is visible, `VALUES + i` if it is private, `2 * VALUES` if it is missing. The
rows of a node, its projected database, are either row numbers on a stack, in three runs (rows that hide something, rows
that do not, and, when only touched rows matter, those of them that the antecedent matched before), or bits, one for
each row of the nearest node above that has row numbers: its base.
"""

from __future__ import annotations

from typing import NamedTuple

from sfumato.arrays import Bytes, CodeGrid, Codes, Flags, IntGrid, Ints, Words
from sfumato.kernels.compilation import record

MORE, ALL_DONE, STACK_FULL, RULES_FULL, ITEMS_FULL, LISTS_FULL, BITS_FULL, STEPS_FULL, PAIRS_FULL = range(9)
"""Why the search returned: its share of work is done, everything is done, or a buffer must grow first."""
STATE_DEPTH, RULES, ANTECEDENTS, STATE_ITEMS, STATE_LISTED, NODES, NEED = range(7)
"""The state: depth, rules, antecedents, items in them, rows listed, nodes seen, how long a buffer must be."""
STATE = 7
(
    FRAME_ITEM, HIDING_BEGIN, SHOWING_BEGIN, TOUCHED_BEGIN, FRAME_END, FRAME_COUNT,
    LIVE, FRAME_TOP, FREE, FRAME_COLUMN, CHILD, CHILD_END, TARGETS,
    FRAME_KIND, BASE, FRAME_SET, LIVING_SET, REACHED_SET, BITS, STEP, STEP_END, STEP_TOP, PAIR, PAIR_END,
) = range(24)  # fmt: skip
"""A frame, one a depth. The item it adds; its runs of rows, their end and how many publicly match.
Of rows as numbers: the run of those that hide a living target and its end; where the stack is free; the column whose
values extend the antecedent now, or the last one that did; which children are left; how many target columns live.
Of rows as bits: the kind, the depth of the base; the sets of matching rows, of those that hide a living target, and
of touched ones; where bits are free; which steps are left and where the list of steps is free; the living pairs."""
FRAME_FIELDS = 24
IN_ROWS, IN_BITS, TO_NUMBER, TO_BUILD = range(4)
"""The kinds: rows as numbers, rows as bits, rows as bits that shall become numbers, numbers that shall be a base."""
STEP_ITEM, STEP_COLUMN, STEP_SET, STEP_REACHED, STEP_NEXT = range(5)
"""A step extends an antecedent by an item: column, rows, touched rows, and the next column's first step."""
STEP_FIELDS = 5
PAIR_COLUMN, PAIR_ITEM, PAIR_SHOWN, PAIR_HIDDEN, COLUMN_HIDDEN, COLUMN_EMPTY = range(6)
"""A pair is a living target: where it is shown and hidden, where its column is hidden and where it has nothing."""
PAIR_FIELDS = 6


@record
class RuleSettings(NamedTuple):
    """What is searched for."""

    values: int
    """How many items there are."""
    columns: int
    least: int
    """The least support."""
    least_fitting: int
    """The least public rows that fit."""
    numerator: int
    denominator: int
    """Of the confidence."""
    longest: int
    """The longest antecedent."""
    prior: int
    """Whether the empty antecedent counts."""
    lists_rows: int
    """Whether the rows of antecedents are listed."""
    tracks_rows: int
    """Whether touched rows are followed."""
    afford: int
    """How many words of bits a node may take."""


@record
class PackedEntries(NamedTuple):
    """What is read only."""

    cell: CodeGrid
    """Rows by columns: the code of each entry."""
    earlier: CodeGrid
    """The same for touched rows before they were touched."""
    first: Ints
    """The items of column j are `first[j]` up to `first[j + 1]`."""
    settings: RuleSettings
    searched_mask: Flags
    """Which items may come first in an antecedent, so that several searches can share the work."""


@record
class NodeStacks(NamedTuple):
    """Where the search stands, and the nodes above."""

    state: Ints
    frames: IntGrid
    targets: IntGrid
    """The living target columns of each depth."""
    children: IntGrid
    rows: Codes
    bits: Words
    steps: IntGrid
    pairs: IntGrid


@record
class ValueRoom(NamedTuple):
    """Room to count the values of a column in."""

    slot: Codes
    """The number of each value, 0 if it has none."""
    names: Codes
    """The value of each number."""
    tally: IntGrid
    alive: Bytes
    """Which targets live on."""


@record
class RuleBuffer(NamedTuple):
    """What was found: rules; the items of antecedents and where each starts; their rows likewise."""

    rules: CodeGrid
    starts: Ints
    items: Codes
    list_starts: Ints
    listed_rows: Codes
