# SPDX-License-Identifier: MIT
"""Sequences on disk: SPMF and long-form files, read into arrays and written atomically.

- **SPMF**: one sequence per line; ``-1`` closes an element, ``-2`` the sequence, and a ``-2`` alone is a sequence
  without elements. Comments, names and empty lines are as in :mod:`sfumato.data.items.basket_files`.
- **Long form**: CSV, TSV, Parquet or another table with one row for each (id, item, time). Items of one id at one time
  form one element, and elements are ordered by time: as numbers or dates if the column holds them, otherwise as text.
  Texts whose numbers stand in another order as text are refused (:mod:`sfumato.data.cells.time_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Flags, Ints
from sfumato.data.cells.time_columns import order_texts, read_text_times
from sfumato.data.items import basket_files, long_form
from sfumato.data.items.basket_files import TextTokens, Values
from sfumato.data.items.spmf_text import number_spmf_items, strip_spmf_comments
from sfumato.errors import DataError

_ELEMENT_END = "-1"
_SEQUENCE_END = "-2"


class SequenceArrays(NamedTuple):
    """Sequences as found in a file: items of an element unsorted and with repeats."""

    items: Values
    offsets: Ints
    """The offset of each sequence among the elements."""
    element_offsets: Ints
    """The offset of each element among the codes."""
    codes: Codes
    ids: Values | None = None


ParsePlain = Callable[[Path, bytes, Mapping[str, str]], SequenceArrays | None]
"""From the text of a file and the names of its items; None for a text that it does not know."""
JoinPieces = Callable[[list[str], SequenceArrays], bytes]


def guess_sequence_format(path: Path, *, for_writing: bool = False) -> str:
    """The format of a sequence file, from its name or else its first bytes: anything but a table is SPMF."""
    is_long = basket_files.guess_basket_format(path, for_writing=True) == "long"
    return "long" if is_long or (not for_writing and basket_files.is_table_file(path)) else "spmf"


def is_sequence_file(path: Path) -> bool:
    """Whether the first line of a text file that is no comment ends in -2, which closes a sequence in SPMF's format."""
    from sfumato.data.reading.line_blocks import read_line_blocks

    if not path.is_file() or guess_sequence_format(path) == "long":
        return False
    lines = (line.strip() for block in read_line_blocks(path) for line in block.splitlines())
    first = next((line for line in lines if line and line[:1] not in (b"#", b"%", b"@")), b"")
    return first.split()[-1:] == [b"-2"]


def read_spmf_sequences(path: Path, parse_plain: ParsePlain | None = None) -> SequenceArrays:
    """Read one sequence from each line that is neither empty nor a comment, with items' names if given.

    `parse_plain` is a quicker way that knows some texts.
    """
    text, names = strip_spmf_comments(basket_files.read_text(path))
    plain = None if parse_plain is None else parse_plain(path, text, names)
    return _parse_words(path, text, names) if plain is None else plain


def _parse_words(path: Path, text: bytes, names: Mapping[str, str]) -> SequenceArrays:
    tokens = basket_files.tokenize(text)
    if not tokens.lines.size:
        raise DataError(f"{path}: the file holds no sequence; an SPMF file has one on each plain line")
    closes, ends = _flag_marks(tokens, _ELEMENT_END), _flag_marks(tokens, _SEQUENCE_END)
    _check_marks(path, tokens, closes, ends)
    close_places = np.flatnonzero(closes)
    offsets = np.concatenate(([0], np.searchsorted(close_places, np.flatnonzero(ends))))
    # Before each mark are items, the marks of earlier elements, and those of earlier sequences.
    marks_before = np.arange(close_places.size) + np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    element_offsets = np.concatenate(([0], close_places - marks_before))
    words, codes = _drop_marks(tokens.words, tokens.codes[~(closes | ends)])
    return SequenceArrays(basket_files.name_items(path, words, names), offsets, element_offsets, codes)


def read_long_sequences(
    path: Path, *, id_column: str, item_column: str, time_column: str, separator: str | None = None
) -> SequenceArrays:
    """Group the rows of each id into a sequence, ordered by time."""
    rows = long_form.read_long_form(path, (id_column, item_column, time_column), separator)
    assert rows.times is not None
    times = _rank_times(path, rows.times)
    order = np.lexsort((times, rows.id_codes))
    ids, times = rows.id_codes[order], times[order]
    starts = basket_files.find_run_starts(ids * (times.max() + 1) + times)
    offsets = basket_files.compute_offsets(ids[starts], len(rows.ids))
    return SequenceArrays(rows.items, offsets, np.append(starts, ids.size), rows.item_codes[order], rows.ids)


def write_spmf_sequences(path: Path, sequences: SequenceArrays, join: JoinPieces | None = None) -> None:
    """Write one sequence per line, with a header of names if items are text; without ids.

    `join` is a quicker `join_pieces`.
    """
    basket_files.refuse_nothing(path, sequences.offsets)
    header, words = number_spmf_items(path, sequences.items)
    if len(sequences.codes) == len(sequences.element_offsets) - 1:  # one item each
        pieces = [*(f"{word} {_ELEMENT_END} " for word in words), f"{_SEQUENCE_END}\n"]
        basket_files.write_bytes(path, basket_files.encode_lines(header) + (join or join_pieces)(pieces, sequences))
        return
    tokens = np.array(words, dtype=object)[sequences.codes].tolist()
    bounds = pairwise(sequences.element_offsets.tolist())
    elements = [" ".join([*tokens[start:stop], _ELEMENT_END]) for start, stop in bounds]
    lines = (" ".join([*elements[start:stop], _SEQUENCE_END]) for start, stop in pairwise(sequences.offsets.tolist()))
    basket_files.write_text(path, [*header, *lines])


def join_pieces(pieces: list[str], sequences: SequenceArrays) -> bytes:
    """The piece of each item of each sequence, and the last piece at its end."""
    codes = np.insert(sequences.codes, sequences.offsets[1:], len(pieces) - 1)
    return "".join(np.array(pieces, dtype=object)[codes].tolist()).encode()


def write_long_sequences(
    path: Path,
    sequences: SequenceArrays,
    *,
    id_column: str,
    item_column: str,
    time_column: str,
    separator: str | None = None,
) -> None:
    """Write one row for each (id, item, time); the time is the element's index in its sequence, from 0."""
    reason = "the long form has no row for them; drop them or write SPMF"
    basket_files.refuse_empty(path, sequences.offsets, reason)
    lengths = np.diff(sequences.offsets)
    places = np.arange(sequences.offsets[-1]) - np.repeat(sequences.offsets[:-1], lengths)
    columns = (
        long_form.repeat_ids(sequences.ids, np.diff(sequences.element_offsets[sequences.offsets])),
        pl.Series(sequences.items).gather(sequences.codes),
        pl.Series(np.repeat(places, np.diff(sequences.element_offsets))),
    )
    long_form.write_table(path, (id_column, item_column, time_column), columns, separator)


def _flag_marks(tokens: TextTokens, mark: str) -> Flags:
    if mark not in tokens.words:
        return np.zeros(tokens.codes.size, dtype=bool)
    return np.asarray(tokens.codes == tokens.words.index(mark))


def _check_marks(path: Path, tokens: TextTokens, closes: Flags, ends: Flags) -> None:
    is_first = np.concatenate(([True], tokens.lines[1:] != tokens.lines[:-1]))
    is_last = np.concatenate((is_first[1:], [True]))
    after_item = ~np.concatenate(([True], (closes | ends)[:-1])) & ~is_first
    negative = np.array([word[:1] == "-" and word[1:].isdecimal() for word in tokens.words])
    _refuse_bad_lines(
        path, tokens, is_last & ~ends, "do not end in -2; add it, or read the file as baskets (Baskets.read)"
    )
    _refuse_bad_lines(path, tokens, ends & ~is_last, "continue after -2; write one sequence per line")
    _refuse_bad_lines(
        path, tokens, ends & after_item, "hold items between the last -1 and -2; close that element with -1"
    )
    _refuse_bad_lines(path, tokens, closes & ~after_item, "hold a -1 that closes no item; remove it")
    _refuse_bad_lines(
        path,
        tokens,
        negative[tokens.codes] & ~(closes | ends),
        "hold negative items other than -1 and -2; number items from 0",
    )


def _refuse_bad_lines(path: Path, tokens: TextTokens, is_bad: Flags, fault: str) -> None:
    lines = np.unique(tokens.lines[is_bad])
    if lines.size == 1:
        verb, _, rest = fault.partition(" ")
        raise DataError(f"{path}: line {lines[0] + 1} {'does' if verb == 'do' else verb + 's'} {rest}")
    if lines.size:
        raise DataError(f"{path}: {lines.size} lines {fault}; the first is line {lines[0] + 1}")


def _drop_marks(words: list[str], codes: Codes) -> tuple[list[str], Codes]:
    item_words = [word for word in words if word not in (_ELEMENT_END, _SEQUENCE_END)]
    is_item = np.ones(len(words), dtype=bool)
    is_item[[words.index(mark) for mark in (_ELEMENT_END, _SEQUENCE_END) if mark in words]] = False
    item_codes = (np.cumsum(is_item) - 1).astype(np.int32)
    return item_words, item_codes[codes]


def _rank_times(path: Path, times: pl.Series) -> Ints:
    """The index of each time among all distinct times."""
    if times.dtype in (pl.Categorical, pl.Enum):
        times = times.cast(pl.String)
    if times.dtype == pl.String:
        read = read_text_times(path, times)
        times = order_texts(path, times) if read is None else read
    if not (times.dtype == pl.String or times.dtype.is_numeric() or times.dtype.is_temporal()):
        raise DataError(f'{path}: column "{times.name}" is {times.dtype}; times must be numbers, dates or text')
    return times.to_physical().rank("dense").cast(pl.Int64).to_numpy() - 1
