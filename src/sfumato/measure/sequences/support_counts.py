# SPDX-License-Identifier: MIT
"""The supports of many patterns at once: patterns that begin alike are matched together as far as they agree.

A match takes the first occurrence of each item after the one before, found in the sorted positions of that item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints, Places
from sfumato.mine.sequences.containment import support
from sfumato.sequences import Sequences

Pattern = tuple[tuple[str, ...], ...]
"""Elements of sorted item names."""
_CodePattern = tuple[int, ...]
_RARE = 16
"""An item at fewer than one in so many positions is looked up in the list of them."""


def count_pattern_supports(
    sequences: Sequences, patterns: Iterable[Pattern], max_gap: int | None = None, window: int | None = None
) -> dict[Pattern, int]:
    """How many sequences contain each pattern."""
    counts = dict.fromkeys(patterns, 0)
    code_of = {str(item): code for code, item in enumerate(sequences.items)}
    possible = [pattern for pattern in counts if all(name in code_of for element in pattern for name in element)]
    if max_gap is None and window is None and sequences.codes.size == sequences.element_offsets.size - 1:
        coded = {tuple(code_of[name] for (name,) in one): one for one in possible if all(len(e) == 1 for e in one)}
        searched = _PrefixSearch.of(sequences)
        return counts | {coded[codes]: count for codes, count in searched.count(coded)}
    for pattern in possible:
        named = [[sequences.items[code_of[name]] for name in element] for element in pattern]
        counts[pattern] = support(sequences, named, max_gap, window)
    return counts


class _Matches(NamedTuple):
    """The sequences that contain a prefix, and for each the position after its first match."""

    rows: Places
    after: Places


@dataclass
class _PrefixSearch:
    """Sequences of single items, in which one pattern after another is looked for; equal ones are looked at once."""

    codes: Codes
    starts: Places
    ends: Places
    weights: Ints
    """How often each sequence occurs."""
    _positions: dict[int, Places] = field(default_factory=dict)
    _next_ones: dict[int, Places] = field(default_factory=dict)
    """For items that are often looked up: the next position of each, from every position on."""

    @classmethod
    def of(cls, sequences: Sequences) -> _PrefixSearch:
        """Find equal sequences."""
        from sfumato.kernels.sequences.distinct_rows import find_distinct_rows

        distinct = find_distinct_rows(sequences.codes, sequences.offsets)
        firsts = distinct.firsts
        small: Any = np.int32 if sequences.codes.size < 1 << 31 else np.int64  # half as much to read
        starts, ends = (sequences.offsets[rows].astype(small) for rows in (firsts, firsts + 1))
        return cls(sequences.codes, starts, ends, distinct.weights)

    def count(self, patterns: Iterable[_CodePattern]) -> Iterator[tuple[_CodePattern, int]]:
        """Each pattern of item codes, with how many sequences contain it in order and with any gaps."""
        path = [_Matches(np.arange(self.starts.size, dtype=self.starts.dtype), self.starts)]
        last: _CodePattern = ()
        for pattern in sorted(patterns):
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(last, pattern, strict=False)))
            del path[shared + 1 :]
            for code in pattern[shared:]:
                path.append(self._extend(path[-1], code))
            last = pattern
            yield pattern, int(self.weights[path[-1].rows].sum())

    def _extend(self, matches: _Matches, code: int) -> _Matches:
        next_ones = self._find_next(code, matches.after)
        inside = np.flatnonzero(next_ones < self.ends[matches.rows])
        return _Matches(matches.rows[inside], next_ones[inside] + 1)

    def _find_next(self, code: int, after: Places) -> Places:
        """The first position of an item at or after some positions, or the end of all."""
        if code not in self._positions:
            held = np.append(np.flatnonzero(self.codes == code), self.codes.size)
            self._positions[code] = held.astype(self.starts.dtype)
        positions = self._positions[code]
        if positions.size * _RARE < self.codes.size:
            return np.asarray(positions[np.searchsorted(positions, after)])
        if code not in self._next_ones:
            self._next_ones[code] = np.repeat(positions, np.diff(positions, prepend=-1))
        return self._next_ones[code][after]
