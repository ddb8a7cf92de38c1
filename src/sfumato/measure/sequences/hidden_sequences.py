# SPDX-License-Identifier: MIT
"""Whether hidden patterns are hidden, counted by code that shares nothing with the methods.

For each element of a pattern and each position, the latest start of a match that ends there is remembered: if that one
is too long for the window, so is every other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Item
from sfumato.errors import DataError
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.measure.sequences.ghost_search import count_ghosts
from sfumato.measure.sequences.sequence_checks import lay_out_rows, number_item_texts
from sfumato.release import Number
from sfumato.sequences import Sequences

Elements = Sequence[Sequence[Item]]
_NEVER = -1


def count_matching(
    sequences: Sequences, pattern: Elements, max_gap: int | None = None, window: int | None = None
) -> int:
    """How many sequences contain a pattern of itemsets; items are compared as text."""
    number = {str(item): code for code, item in enumerate(sequences.items)}
    if not all(str(item) in number for element in pattern for item in element):
        return 0
    wanted = [frozenset(number[str(item)] for item in element) for element in pattern]
    rows = _list_rows_with(sequences, frozenset().union(*wanted))
    return sum(_is_match(_list_elements(sequences, row), wanted, max_gap, window) for row in rows.tolist())


def _list_rows_with(sequences: Sequences, codes: Iterable[int]) -> Ints:
    """The sequences that hold all of some items."""
    owners = np.repeat(np.arange(len(sequences)), np.diff(sequences.element_offsets[sequences.offsets]))
    held = np.ones(len(sequences), dtype=np.bool_)
    for code in codes:
        holds_it = np.zeros(len(sequences), dtype=np.bool_)
        holds_it[owners[sequences.codes == code]] = True
        held &= holds_it
    return np.flatnonzero(held)


def _list_elements(sequences: Sequences, row: int) -> list[frozenset[int]]:
    first, last = sequences.offsets[row : row + 2]
    bounds = sequences.element_offsets[first : last + 1].tolist()
    codes = sequences.codes[bounds[0] : bounds[-1]].tolist()
    return [frozenset(codes[a - bounds[0] : b - bounds[0]]) for a, b in itertools.pairwise(bounds)]


def _is_match(
    elements: list[frozenset[int]], wanted: list[frozenset[int]], max_gap: int | None, window: int | None
) -> bool:
    starts = [place if wanted[0] <= element else _NEVER for place, element in enumerate(elements)]
    for index in range(1, len(wanted)):
        starts = _follow(starts, [wanted[index] <= element for element in elements], max_gap)
    longest = len(elements) if window is None else window
    return any(start != _NEVER and place - start < longest for place, start in enumerate(starts))


def _follow(starts: list[int], fits: list[bool], max_gap: int | None) -> list[int]:
    """The latest start of a match that goes on at each position."""
    follow, latest = [], _NEVER
    for place, fit in enumerate(fits):
        if max_gap is None:
            latest = max(latest, starts[place - 1] if place else _NEVER)
        elif fit:
            latest = max(starts[max(0, place - 1 - max_gap) : place], default=_NEVER)
        follow.append(latest if fit else _NEVER)
    return follow


@checks_claim("exposed_sequences", "exactly", properties=("hidden_sequences",), private="sensitive")
def _check_exposed(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    limits = {name: arguments.get(name) for name in ("max_gap", "window")}
    secrets = evidence.details["sensitive"]
    return sum(bool(count_matching(evidence.published, pattern, **limits) > most) for pattern, most in secrets)


@checks_claim("added_elements", "exactly", needs_original=True)
def _check_added(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_added(evidence.published, evidence.original, evidence.rows, str(arguments.get("mark", "")))


def count_added(published: Sequences, original: Sequences, rows: Ints | None = None, mark: str = "") -> int:
    """How many published sequences, without marks, are not contained in their originals."""
    from sfumato.kernels.sequences.crowd_counts import compare_rows

    owners = np.arange(len(published)) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(owners) != len(published) or (len(owners) and owners.max() >= len(original)):
        raise DataError(f"{len(published)} published sequences cannot be compared with {len(original)} originals")
    numbers = number_item_texts(original, published)
    before, after = (lay_out_rows(data, numbers) for data in (original, drop_mark(published, mark)))
    contained = np.zeros(len(owners), dtype=np.bool_)
    compare_rows(after, before, owners.copy(), contained)
    return int((~contained).sum())


@checks_claim("ghost_patterns", "exactly", needs_original=True)
def _check_ghosts(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_ghosts(evidence.published, evidence.original, int(arguments["min_support"]), evidence.rows)


def drop_mark(sequences: Sequences, mark: str) -> Sequences:
    """The sequences without an item that only marks where others were."""
    if not mark or mark not in sequences.items:
        return sequences
    kept = sequences.codes != sequences.items.index(mark)
    kept_before = np.concatenate(([0], np.cumsum(kept)))
    return Sequences(sequences.items, sequences.offsets, kept_before[sequences.element_offsets], sequences.codes[kept])
