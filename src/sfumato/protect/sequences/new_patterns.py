# SPDX-License-Identifier: MIT
"""Patterns that become frequent because items were replaced, found without listing all that are frequent.

A sequence that only lost items contains nothing new. So patterns are grown from the front, and only by items that lead
on to something new in a sequence with replacements: what follows the match there is not contained in what follows the
match in the original. A pattern that too few sequences contain after the change is given up, and so is one that no
sequence can make new. The leftmost matches are read from a table of the next place of each item.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import CodeGrid, Codes, Ints
from sfumato.errors import PolicyError
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences

MOST_VISITS = 200_000
"""Patterns that are looked at, those in many sequences as several; more take minutes."""
_CELLS_OF_VISIT = 20_000
_LARGEST_TABLE = 1 << 27
"""Numbers in a table of next places."""
_NO_PLACE = -1
_ANY_PLACE = 1 << 62


def find_new_patterns(original: Sequences, published_sequences: Sequences, least: int) -> set[tuple[int, ...]]:
    """Patterns, as codes of the originals, in `least` published sequences and in fewer originals, of single items each.

    Raises `PolicyError` if they cannot be found in reasonable time.
    """
    frequent_codes = _list_frequent_items(published_sequences, least, original)
    original_places, published_places = (
        _NextPlaces.of(data, original, frequent_codes) for data in (original, published_sequences)
    )
    latest = _find_latest_starts(original_places, published_places)
    new: set[tuple[int, ...]] = set()
    stack, visits, number = [_PatternNode((), _Matches.begin(published_places), _Matches.begin(original_places))], 0, 0
    while stack:
        node, number = stack.pop(), number + 1
        if number % 256 == 0:
            report_progress("looking for new patterns", number)
        items = _list_new_items(node, published_places, latest)
        visits += 1 + items.size * node.published_matches.rows.size // _CELLS_OF_VISIT
        if visits > MOST_VISITS:
            raise PolicyError("too many patterns may be new")
        for child in _extend_node(node, items, published_places, original_places, least):
            stack.append(child)
            if child.original_matches.rows.size < least:
                new.add(tuple(frequent_codes[list(child.items)].tolist()))
    return new


def refuse_long_search(original: Sequences, least: int) -> None:
    """Raise `PolicyError` for sequences in which new patterns could not be found anyway."""
    if len(original.codes) > len(original.element_offsets) - 1:
        raise PolicyError("the sequences have elements of several items")
    frequent_codes = _list_frequent_items(original, least, original)
    _refuse_large_table(len(frequent_codes), int(np.isin(original.codes, frequent_codes).sum()))


class _NextPlaces(NamedTuple):
    """Sequences of frequent items, one after another, and where each item comes next from each place on."""

    tokens: Codes
    offsets: Ints
    next_places: CodeGrid
    """For each item and place, the next place of the item; the number of tokens if there is none."""

    @classmethod
    def of(cls, data: Sequences, original: Sequences, frequent_codes: Ints) -> _NextPlaces:
        """Number the items that are kept."""
        number_of = {original.items[code]: number for number, code in enumerate(frequent_codes.tolist())}
        numbers = np.array([number_of.get(item, _NO_PLACE) for item in data.items], dtype=np.int32)
        tokens = numbers[data.codes] if len(numbers) else np.zeros(0, dtype=np.int32)
        stays = tokens != _NO_PLACE
        offsets = np.concatenate(([0], np.cumsum(stays)))[data.offsets]
        tokens = tokens[stays]
        _refuse_large_table(len(frequent_codes), len(tokens))
        next_places = np.empty((len(frequent_codes), len(tokens) + 1), dtype=np.int32)
        for number in range(len(frequent_codes)):
            places = np.flatnonzero(tokens == number)
            ends = np.append(places, len(tokens))
            next_places[number] = np.repeat(ends, np.diff(np.concatenate(([-1], ends))))
        return cls(tokens, offsets, next_places)


class _Matches(NamedTuple):
    """The sequences that contain a pattern, ascending, and where each goes on after its leftmost match."""

    rows: Ints
    starts: Ints

    @classmethod
    def begin(cls, places: _NextPlaces) -> _Matches:
        """Those of the empty pattern."""
        return cls(np.arange(len(places.offsets) - 1), places.offsets[:-1])


class _PatternNode(NamedTuple):
    """A pattern, and its matches."""

    items: tuple[int, ...]
    published_matches: _Matches
    original_matches: _Matches


def _refuse_large_table(items: int, tokens: int) -> None:
    if items * (tokens + 1) > _LARGEST_TABLE:
        raise PolicyError("the sequences have too many items")


def _list_frequent_items(published_sequences: Sequences, least: int, original: Sequences) -> Ints:
    """The codes, in the originals, of items that enough published sequences hold."""
    owners = np.repeat(
        np.arange(len(published_sequences)), np.diff(published_sequences.element_offsets[published_sequences.offsets])
    )
    width = max(len(published_sequences.items), 1)
    counts = np.bincount(np.unique(owners * width + published_sequences.codes) % width, minlength=width)
    code_of = {item: code for code, item in enumerate(original.items)}
    frequent_codes = [
        code_of[item] for item, count in zip(published_sequences.items, counts, strict=False) if count >= least
    ]
    return np.array(sorted(frequent_codes), dtype=np.int64)


def _find_latest_starts(original_places: _NextPlaces, published_places: _NextPlaces) -> Ints:
    """For each place of each published sequence, and its end, from where on its original contains the rest.

    That is the latest such place, `_NO_PLACE` if there is none, and `_ANY_PLACE` in a sequence that is part of its
    original.
    """
    latest = np.full(len(published_places.tokens) + len(published_places.offsets) - 1, _ANY_PLACE, dtype=np.int64)
    for row in range(len(published_places.offsets) - 1):
        tokens = published_places.tokens[published_places.offsets[row] : published_places.offsets[row + 1]].tolist()
        first, last = original_places.offsets[row : row + 2].tolist()
        old = original_places.tokens[first:last].tolist()
        starts, position = [last], len(old)
        for token in reversed(tokens):
            position -= 1
            while position >= 0 and old[position] != token:
                position -= 1
            starts.append(first + position if position >= 0 else _NO_PLACE)
        if starts[-1] == _NO_PLACE:
            begin = int(published_places.offsets[row]) + row
            latest[begin : begin + len(starts)] = starts[::-1]
    return latest


def _list_new_items(node: _PatternNode, published_places: _NextPlaces, latest: Ints) -> Ints:
    """Items that follow in a published sequence which may still contain something that its original does not."""
    rows, starts = node.published_matches
    limits = latest[starts + rows]
    changed_indices = np.flatnonzero(limits != _ANY_PLACE)
    rows, starts = rows[changed_indices], starts[changed_indices]
    old = np.searchsorted(node.original_matches.rows, rows)
    held_mask = old < node.original_matches.rows.size
    held_mask[held_mask] = node.original_matches.rows[old[held_mask]] == rows[held_mask]
    is_new = ~held_mask
    is_new[held_mask] = limits[changed_indices][held_mask] < node.original_matches.starts[old[held_mask]]
    ends = published_places.offsets[rows[is_new] + 1]
    return np.flatnonzero((published_places.next_places[:, starts[is_new]] < ends).any(axis=1))


def _extend_node(
    node: _PatternNode, items: Ints, published_places: _NextPlaces, original_places: _NextPlaces, least: int
) -> list[_PatternNode]:
    """The pattern with one more item, for each that enough published sequences allow."""
    if not items.size:
        return []
    places = published_places.next_places[np.ix_(items, node.published_matches.starts)]
    holds = places < published_places.offsets[node.published_matches.rows + 1]
    frequent = np.flatnonzero(holds.sum(axis=1) >= least)
    old_places = original_places.next_places[np.ix_(items[frequent], node.original_matches.starts)]
    old_holds = old_places < original_places.offsets[node.original_matches.rows + 1]
    return [
        _PatternNode(
            (*node.items, int(items[number])),
            _Matches(node.published_matches.rows[holds[number]], places[number, holds[number]].astype(np.int64) + 1),
            _Matches(
                node.original_matches.rows[old_holds[index]], old_places[index, old_holds[index]].astype(np.int64) + 1
            ),
        )
        for index, number in enumerate(frequent.tolist())
    ]
