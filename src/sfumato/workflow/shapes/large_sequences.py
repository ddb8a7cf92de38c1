# SPDX-License-Identifier: MIT
"""Large files of sequences, read and written by a kernel.

Modules that read files load no kernels, so that small files need none. A run has them loaded anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.data.items import basket_files
from sfumato.data.items.sequence_files import (
    SequenceArrays,
    guess_sequence_format,
    read_spmf_sequences,
    write_spmf_sequences,
)
from sfumato.sequences import Sequences

LARGE = 1 << 20
"""Bytes, or items, from which on this is quicker than without a kernel."""


def read_sequences(path: str | PathLike[str], form: Any, **columns: Any) -> Sequences:
    """What `Sequences.read` reads."""
    file = Path(path)
    if (form or guess_sequence_format(file)) != "spmf" or not file.is_file() or file.stat().st_size < LARGE:
        return Sequences.read(path, form, **columns)
    arrays = read_spmf_sequences(file, parse_plain_text)
    return Sequences(tuple(arrays.items), arrays.offsets, arrays.element_offsets, arrays.codes)


def write_sequences(sequences: Sequences, path: Path, form: Any) -> None:
    """Write what `Sequences.write` writes."""
    if form != "spmf" or len(sequences.codes) < LARGE // 8:
        sequences.write(path, form)
        return
    arrays = SequenceArrays(sequences.items, sequences.offsets, sequences.element_offsets, sequences.codes)
    write_spmf_sequences(path, arrays, join_many_pieces)


def parse_plain_text(path: Path, text: bytes, names: Mapping[str, str]) -> SequenceArrays | None:
    """The sequences of a text of small numbers, all marks where they belong; None for any other."""
    from sfumato.kernels.sequences.spmf_text import PlainSequences, parse_plain_sequences

    size = len(text)
    room = PlainSequences(
        np.empty(size // 2 + 1, np.int32), np.empty(size // 3 + 2, np.int64), np.empty(size // 3 + 2, np.int64)
    )
    counts = parse_plain_sequences(np.frombuffer(text, dtype=np.uint8), room)
    if not counts.sequences:
        return None
    numbers = room.numbers[: counts.items]
    number_mask = np.zeros(int(numbers.max(initial=0)) + 1, dtype=bool)
    number_mask[numbers] = True
    code_of = (np.cumsum(number_mask) - 1).astype(np.int32)
    items = basket_files.name_items(path, [str(number) for number in np.flatnonzero(number_mask).tolist()], names)
    offsets, element_offsets = room.offsets[: counts.sequences + 1], room.element_offsets[: counts.elements + 1]
    return SequenceArrays(items, offsets.copy(), element_offsets.copy(), code_of[numbers])


def join_many_pieces(pieces: list[str], sequences: SequenceArrays) -> bytes:
    """What `join_pieces` gives."""
    from sfumato.kernels.sequences.spmf_text import spell_sequences_of_items

    letters = np.frombuffer("".join(pieces).encode(), dtype=np.uint8).copy()
    widths = np.array([len(piece.encode()) for piece in pieces], dtype=np.int64)
    size = int(widths[sequences.codes].sum()) + int(widths[-1]) * (len(sequences.offsets) - 1)
    text = np.empty(size, dtype=np.uint8)
    bounds = np.concatenate(([0], np.cumsum(widths)))
    spell_sequences_of_items(sequences.codes, sequences.offsets, letters, bounds, text)
    return text.tobytes()
