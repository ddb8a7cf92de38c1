# SPDX-License-Identifier: MIT
"""Columns of repeated texts as numbers and a list of texts, from file to file: no cell is decoded to text.

Parquet stores such a column as a dictionary and the place of each cell in it. In memory that is a polars `Enum`, whose
categories are those of one batch: some may be unused, and they differ from batch to batch. What is written has a
dictionary of its own: the texts that occur and no other, in ascending order, so that it tells nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.arrays import Flags, Ints
from sfumato.data.cells.coded_cells import CodedCells, encode_cells
from sfumato.data.reading.arrow_memory import allocate_numbers, copy_buffer


def read_coded_columns(batch: pa.RecordBatch) -> pl.DataFrame:
    """Those columns that are dictionaries of distinct texts, as coded columns."""
    texts = {name: list_dictionary_texts(batch.column(name)) for name in batch.schema.names}
    kinds = {name: pl.Enum(column_texts) for name, column_texts in texts.items() if column_texts is not None}
    places = pl.DataFrame([_shorten_places(name, batch.column(name).indices, kinds[name]) for name in kinds])
    return places.select(pl.col(name).cat.to(kind) for name, kind in kinds.items())


def _shorten_places(name: str, places: pa.Array, kind: pl.Enum) -> pl.Series:
    """Places as the numbers that such a column has: polars itself would look at each of them before."""
    number = _choose_number(len(kind.categories))
    if places.type != pa.int32() or (places.offset and places.null_count):
        return pl.Series(name, places).cast(pl.UInt32)
    cells = allocate_numbers(len(places), number)
    cells[:] = np.frombuffer(places.buffers()[1], dtype=np.int32, count=len(places), offset=4 * places.offset)
    validity = places.buffers()[0] if places.null_count else None
    return pl.Series(name, pa.Array.from_buffers(pa.from_numpy_dtype(number), len(cells), [validity, cells.base]))


def _choose_number(count: int) -> Any:
    """The shortest number for this many places."""
    return np.uint8 if count < 1 << 8 else np.uint16 if count < 1 << 16 else np.uint32


def list_dictionary_texts(cells: pa.Array) -> list[str] | None:
    """The texts of a dictionary; None if it is none, or some text is missing or there twice."""
    if not pa.types.is_dictionary(cells.type):
        return None
    kind = cells.type.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return None
    try:
        texts: list[str] = cells.dictionary.to_pylist()
    except UnicodeDecodeError:
        return None
    return None if None in texts or len(set(texts)) < len(texts) else texts


def build_coded_column(codes: Ints, labels: Sequence[str | None]) -> pl.Series:
    """The column of the labels with the given numbers; a label may occur twice, and None is a missing cell."""
    number = {label: position for position, label in enumerate(dict.fromkeys(x for x in labels if x is not None))}
    label_numbers = [number.get(label, 0) if label is not None else 0 for label in labels]
    cells = pl.Series(np.array(label_numbers, dtype=_choose_number(len(number)))[codes])
    empty = np.array([label is None for label in labels], dtype=np.bool_)[codes]
    if empty.any():
        cells = cells.set(pl.Series(empty), None)
    return cells.cat.to(pl.Enum(list(number)))


def is_coded(column: pl.Series) -> bool:
    """Whether a column is a list of texts and the place of each cell in it."""
    return isinstance(column.dtype, pl.Enum)


def spell_coded_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The same rows, every text spelled out."""
    return frame.with_columns(column.cast(pl.String) for column in frame.get_columns() if is_coded(column))


def list_categories(column: pl.Series) -> pl.Series:
    """The texts of a coded column, whether they occur or not."""
    assert isinstance(column.dtype, pl.Enum)
    return column.dtype.categories


def split_column(column: pl.Series) -> CodedCells:
    """The values, in any order with a missing one last, and the place of each cell among them; some may be unused."""
    if not is_coded(column):
        return encode_cells(column)
    values = list_categories(column).alias(column.name)
    codes = column.to_physical().cast(pl.Int64)
    if not column.null_count():
        return CodedCells(values, codes.to_numpy())
    every = pl.concat([values, pl.Series(column.name, [None], dtype=pl.String)])
    return CodedCells(every, codes.fill_null(len(values)).to_numpy())


def flag_text(column: pl.Series, text: str) -> Flags:
    """Which cells are a given text."""
    if not is_coded(column):
        if column.dtype != pl.String:
            return np.zeros(len(column), dtype=np.bool_)
        return (column == text).fill_null(False).to_numpy()
    values, codes = split_column(column)
    flags: Flags = (values == text).fill_null(False).to_numpy()[codes]
    return flags


def write_coded_column(column: pl.Series) -> pa.DictionaryArray:
    """A coded column as a dictionary of Arrow, in memory that holds its cells and nothing else."""
    values, codes = list_categories(column).to_list(), column.to_physical()
    known_mask = codes.is_not_null().to_numpy() if codes.null_count() else None
    cells = codes.to_numpy() if known_mask is None else codes.fill_null(0).to_numpy()
    used_codes = np.flatnonzero(
        np.bincount(cells if known_mask is None else cells[known_mask], minlength=len(values))
    ).tolist()
    order = sorted(used_codes, key=values.__getitem__)
    rank = np.zeros(max(len(values), 1), dtype=np.int32)
    rank[order] = np.arange(len(used_codes), dtype=np.int32)
    places = allocate_numbers(len(cells), np.int32)
    np.take(rank, cells, out=places, mode="clip")  # without a second look at each code
    bits = None
    if known_mask is not None:
        places[~known_mask] = 0
        bits = copy_buffer(np.packbits(known_mask, bitorder="little"))
    indices = pa.Array.from_buffers(pa.int32(), len(places), [bits, places.base])
    texts = pa.array([values[number] for number in order], type=pa.large_string())
    return pa.DictionaryArray.from_arrays(indices, texts)
