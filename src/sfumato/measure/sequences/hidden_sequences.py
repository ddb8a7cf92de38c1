# SPDX-License-Identifier: MIT
"""Whether hidden patterns are hidden and nothing else came in, counted by code that shares nothing with the methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import DataError
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.measure.sequences.ghost_search import count_ghosts
from sfumato.measure.sequences.pattern_places import ItemPlaces
from sfumato.measure.sequences.sequence_checks import lay_out_rows, number_item_texts
from sfumato.release import Number
from sfumato.sequences import Sequences


@checks_claim("exposed_sequences", "exactly", properties=("hidden_sequences",), private="sensitive")
def _check_exposed(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    limits = {name: arguments.get(name) for name in ("max_gap", "window")}
    places = ItemPlaces(evidence.published_data)
    secrets = evidence.details["sensitive"]
    return sum(bool(places.count_matching(pattern, **limits) > most) for pattern, most in secrets)


@checks_claim("added_elements", "exactly", needs_original=True)
def _check_added(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_added(evidence.published_data, evidence.original, evidence.rows, str(arguments.get("mark", "")))


def count_added(published_sequences: Sequences, original: Sequences, rows: Ints | None = None, mark: str = "") -> int:
    """How many published sequences, without marks, are not contained in their originals."""
    from sfumato.kernels.sequences.crowd_counts import compare_rows

    owners = np.arange(len(published_sequences)) if rows is None else np.asarray(rows, dtype=np.int64)
    if len(owners) != len(published_sequences) or (len(owners) and owners.max() >= len(original)):
        raise DataError(
            f"{len(published_sequences)} published sequences cannot be compared with {len(original)} originals"
        )
    numbers = number_item_texts(original, published_sequences)
    original_rows, published_rows = (
        lay_out_rows(data, numbers) for data in (original, drop_mark(published_sequences, mark))
    )
    contained_mask = np.zeros(len(owners), dtype=np.bool_)
    compare_rows(published_rows, original_rows, owners.copy(), contained_mask)
    return int((~contained_mask).sum())


@checks_claim("ghost_patterns", "exactly", needs_original=True)
def _check_ghosts(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_ghosts(evidence.published_data, evidence.original, int(arguments["min_support"]), evidence.rows)


def drop_mark(sequences: Sequences, mark: str) -> Sequences:
    """The sequences without an item that only marks where others were."""
    if not mark or mark not in sequences.items:
        return sequences
    kept_mask = sequences.codes != sequences.items.index(mark)
    kept_before = np.concatenate(([0], np.cumsum(kept_mask)))
    return Sequences(
        sequences.items, sequences.offsets, kept_before[sequences.element_offsets], sequences.codes[kept_mask]
    )
