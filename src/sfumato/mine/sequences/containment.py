# SPDX-License-Identifier: MIT
"""Whether a sequence contains a pattern, and how many sequences do.

A pattern is a list of elements, each one item or a list of items. A match chooses one element of the sequence for each
element of the pattern, in order, which holds all of its items (Agrawal and Srikant 1995). Two limits may narrow that:

- ``max_gap``: at most this many elements of the sequence lie between two neighbours of the match. 0: they are adjacent.
- ``window``: the match, from its first element to its last, spans at most this many elements. 1: one element.

A sequence contains the pattern if any match keeps the limits, not only the leftmost one. It counts once for the
support, however many matches it has. The empty pattern is in every sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags
from sfumato.baskets import Item
from sfumato.errors import PolicyError
from sfumato.sequences import Sequences, refuse_other_data

NO_LIMIT = 1 << 62


class MatchLimits(NamedTuple):
    """The limits of a match as numbers."""

    max_gap: int = NO_LIMIT
    window: int = NO_LIMIT

    @property
    def is_free(self) -> bool:
        """Whether there is no limit."""
        return min(self) >= NO_LIMIT


def contains(
    sequence: Iterable[Any], pattern: Iterable[Any], max_gap: int | None = None, window: int | None = None
) -> bool:
    """Whether one sequence, a list of items or of item lists, contains a pattern of either form."""
    return bool(flag_rows(Sequences.of([list(sequence)]), pattern, max_gap, window)[0])


def support(sequences: Sequences, pattern: Iterable[Any], max_gap: int | None = None, window: int | None = None) -> int:
    """How many sequences contain a pattern."""
    return int(flag_rows(sequences, pattern, max_gap, window).sum())


def flag_rows(
    sequences: Sequences, pattern: Iterable[Any], max_gap: int | None = None, window: int | None = None
) -> Flags:
    """Which sequences contain a pattern; an item is also found by its text, since 7 may be published as "7"."""
    refuse_other_data(sequences)
    limits = check_limits(max_gap, window)
    elements = list_elements(pattern)
    by_text = {str(item): code for code, item in enumerate(sequences.items)}
    code_of = {item: code for code, item in enumerate(sequences.items)}
    code_sets = [{code_of.get(item, by_text.get(str(item), -1)) for item in element} for element in elements]
    if any(-1 in element for element in code_sets):
        return np.zeros(len(sequences), dtype=bool)
    codes = [np.array(sorted(element), dtype=np.int32) for element in code_sets]
    return flag_code_rows(sequences, codes, limits)


def flag_code_rows(sequences: Sequences, codes: list[Codes], limits: MatchLimits) -> Flags:
    """The same for a pattern of rising codes, with limits as numbers."""
    if not codes:
        return np.ones(len(sequences), dtype=bool)
    from sfumato.kernels.sequences.containment import PatternCodes, match_free_rows, match_rows

    starts = np.cumsum([0, *map(len, codes)], dtype=np.int64)
    flat = np.ascontiguousarray(np.concatenate(codes), dtype=np.int32)
    flags = np.zeros(len(sequences), dtype=np.uint8)
    pattern_codes = PatternCodes(flat, starts, limits.max_gap, limits.window)
    arrays = (sequences.offsets, sequences.element_offsets, sequences.codes)
    if limits.is_free:
        match_free_rows(*arrays, pattern_codes, flags)
    else:
        longest = int(np.diff(sequences.offsets).max(initial=0))
        match_rows(*arrays, pattern_codes, np.empty(2 * longest, dtype=np.int32), flags)
    return flags.astype(bool)


def list_elements(pattern: Iterable[Any]) -> list[list[Item]]:
    """The elements of a pattern as lists of items."""
    if isinstance(pattern, str | bytes):
        raise PolicyError('a pattern is a list of items, such as ["a", "b"], not a text')
    elements: list[list[Item]] = []
    for element in pattern:
        is_item = isinstance(element, str | bytes) or not isinstance(element, Iterable)
        elements.append([element] if is_item else list(element))
    if not all(elements):
        raise PolicyError("an element of the pattern is empty; remove it")
    return elements


def check_limits(max_gap: int | None, window: int | None) -> MatchLimits:
    """The limits as numbers, no limit as a very large one."""
    for name, value, least in (("max_gap", max_gap, 0), ("window", window, 1)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise PolicyError(f"{name} must be a whole number of elements, at least {least}, or None for no limit")
    return MatchLimits(*(NO_LIMIT if limit is None else min(limit, NO_LIMIT) for limit in (max_gap, window)))
