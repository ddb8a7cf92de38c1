# SPDX-License-Identifier: MIT
"""Patterns that are frequent in a release and were not before, found without the miner that methods use.

If more published sequences than originals contain a pattern, some published sequence contains it that its original
does not. So the search grows patterns from the front, in those sequences alone that may still bring something new: the
part after what has been matched is not contained in what the original has left. All frequent patterns that nothing new
can follow are skipped; the others are counted one by one, in the release and in the originals.
Items that are not frequent in the release are left out from the start.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.measure.sequences.sequence_checks import number_item_texts, spell_sequences
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

ElementCodes = frozenset[int]


class _Row(NamedTuple):
    """A sequence: its items one after another, the element of each, and where each element starts."""

    items: list[int]
    elements: list[int]
    starts: list[int]

    @classmethod
    def read(cls, spelling: bytes) -> _Row:
        """From the numbers of its items, with -1 after each element."""
        row = cls([], [], [0])
        for number in np.frombuffer(spelling, dtype=np.int32).tolist():
            if number < 0:
                row.starts.append(len(row.items))
            else:
                row.items.append(number)
                row.elements.append(len(row.starts) - 1)
        return row

    def list_elements(self) -> list[ElementCodes]:
        return [frozenset(self.items[start:stop]) for start, stop in pairwise(self.starts)]

    def find_joined(self, last: ElementCodes, begin: int, wanted_items: set[int]) -> dict[int, int]:
        """Items next to all of `last` in one element, from an element on, and the first such element."""
        first: dict[int, int] = {}
        for element in range(begin, len(self.starts) - 1):
            items = set(self.items[self.starts[element] : self.starts[element + 1]])
            if last <= items:
                for item in items & wanted_items:
                    first.setdefault(item, element)
        return first


class _Match(NamedTuple):
    """The leftmost match of a pattern in a sequence."""

    row: int
    before_last: int
    """The element where the pattern without its last element ends."""
    end: int


class _Steps(NamedTuple):
    """How a pattern goes on: items in a new element, and items next to those of the last element."""

    new: set[int]
    joined_items: set[int]


class _GhostNode(NamedTuple):
    """A pattern's last element, and its matches in the release and in the originals."""

    last: ElementCodes
    published_matches: list[_Match]
    original_matches: list[_Match]


def count_ghosts(published_sequences: Sequences, original: Sequences, least: int, rows: Ints | None = None) -> int:
    """How many patterns are contained in `least` published sequences and in fewer originals; Δ is no item.

    `rows` are the originals of the published sequences; any pairing gives the same number, a close one in less time.
    """
    search = _Search(published_sequences, original, least, rows)
    ghosts, stack = 0, [search.start()]
    while stack:
        node = stack.pop()
        frequent = search.keep_frequent(node, search.list_new_steps(node), least)
        published_matches = _extend_matches(search.published_rows, node.last, node.published_matches, frequent)
        original_matches = _extend_matches(search.original_rows, node.last, node.original_matches, frequent)
        for (item, joins), matches in published_matches.items():
            ghosts += search.count(original_matches[item, joins]) < least
            last = node.last | {item} if joins else frozenset({item})
            stack.append(_GhostNode(last, matches, original_matches[item, joins]))
    return ghosts


class _Search:
    """Published sequences with their originals, equal pairs once, and from where on one is contained in the other."""

    def __init__(self, published_sequences: Sequences, original: Sequences, least: int, rows: Ints | None) -> None:
        """Pair the sequences; what has no partner is paired with an empty one."""
        numbers = number_item_texts(original, published_sequences)
        kept_names = {str(item) for item in _list_frequent_items(published_sequences, least)}
        if MARK not in map(str, original.items):
            kept_names.discard(MARK)
        old, new = (spell_sequences(_keep_items(data, kept_names), numbers) for data in (original, published_sequences))
        row_numbers = np.arange(len(new)) if rows is None else np.asarray(rows)
        is_pairing = len(np.unique(row_numbers)) == len(row_numbers) == len(new)
        owners = (row_numbers if is_pairing else np.arange(len(new))).tolist()
        pairs = Counter(
            (old[owner] if owner < len(old) else b"", text) for owner, text in zip(owners, new, strict=True)
        )
        pairs.update((old[row], b"") for row in set(range(len(old))) - set(owners))
        self.weights = list(pairs.values())
        self.original_rows, self.published_rows = ([_Row.read(pair[side]) for pair in pairs] for side in (0, 1))
        self.latest = [
            _find_latest_starts(published_row.list_elements(), original_row.list_elements())
            for original_row, published_row in zip(self.original_rows, self.published_rows, strict=True)
        ]
        self.has_sets = any(len(row.items) >= len(row.starts) for row in self.published_rows)

    def start(self) -> _GhostNode:
        """The empty pattern, in every sequence."""
        matches = [_Match(row, -1, -1) for row in range(len(self.weights))]
        return _GhostNode(frozenset(), matches, matches)

    def count(self, matches: list[_Match]) -> int:
        """How many sequences some matches are in."""
        return sum(self.weights[match.row] for match in matches)

    def list_new_steps(self, node: _GhostNode) -> _Steps:
        """The steps that lead on in some published sequence which may contain what its original does not."""
        old = {match.row: match for match in node.original_matches}
        steps = _Steps(set(), set())
        for match in node.published_matches:
            latest = self.latest[match.row]
            if latest[0] >= 0:
                continue  # the whole sequence is contained in its original
            row, original_match = self.published_rows[match.row], old.get(match.row)
            if original_match is None or latest[match.end + 1] <= original_match.end:
                steps.new.update(row.items[row.starts[match.end + 1] :])
            if (
                self.has_sets
                and node.last
                and (original_match is None or latest[match.before_last + 1] <= original_match.before_last)
            ):
                larger = {item for item in row.items if item > max(node.last)}
                steps.joined_items.update(row.find_joined(node.last, match.before_last + 1, larger))
        return steps

    def keep_frequent(self, node: _GhostNode, steps: _Steps, least: int) -> _Steps:
        """The steps that enough published sequences allow."""
        new, joined_counts = Counter[int](), Counter[int]()
        for number, before_last, end in node.published_matches if steps.new or steps.joined_items else ():
            row, weight = self.published_rows[number], self.weights[number]
            for item in steps.new.intersection(row.items[row.starts[end + 1] :]):
                new[item] += weight
            for item in row.find_joined(node.last, before_last + 1, steps.joined_items) if steps.joined_items else ():
                joined_counts[item] += weight
        return _Steps(*({item for item, count in counts.items() if count >= least} for counts in (new, joined_counts)))


def _list_frequent_items(data: Sequences, least: int) -> list[object]:
    owners = np.repeat(np.arange(len(data)), np.diff(data.element_offsets[data.offsets]))
    width = max(len(data.items), 1)
    counts = np.bincount(np.unique(owners * width + data.codes) % width, minlength=len(data.items))
    return [data.items[code] for code in np.flatnonzero(counts >= least)]


def _keep_items(data: Sequences, kept_names: set[str]) -> Sequences:
    """The sequences with these items only."""
    flags = np.array([str(item) in kept_names for item in data.items], dtype=bool)
    stays = flags[data.codes] if len(flags) else np.zeros(0, dtype=bool)
    stays_before = np.concatenate(([0], np.cumsum(stays)))
    return Sequences(data.items, data.offsets, stays_before[data.element_offsets], data.codes[stays])


def _find_latest_starts(row: list[ElementCodes], original: list[ElementCodes]) -> list[int]:
    """For each element, the latest position of the original from which it contains the rest of the row; -1 if none."""
    latest, position = [len(original)], len(original)
    for element in reversed(row):
        position -= 1
        while position >= 0 and not element <= original[position]:
            position -= 1
        latest.append(max(position, -1))
    return latest[::-1]


def _extend_matches(
    rows: list[_Row], last: ElementCodes, matches: list[_Match], steps: _Steps
) -> dict[tuple[int, bool], list[_Match]]:
    """The leftmost matches of a pattern with one more item, in a new element or (true) in its last one."""
    extensions: dict[tuple[int, bool], list[_Match]] = defaultdict(list)
    if not steps.new and not steps.joined_items:
        return extensions
    for number, before_last, end in matches:
        row = rows[number]
        begin = row.starts[end + 1]
        for item in steps.new.intersection(row.items[begin:]):
            extensions[item, False].append(_Match(number, end, row.elements[row.items.index(item, begin)]))
        if steps.joined_items:
            for item, element in row.find_joined(last, before_last + 1, steps.joined_items).items():
                extensions[item, True].append(_Match(number, before_last, element))
    return extensions
