# SPDX-License-Identifier: MIT
"""The cells of a column as numbers: the place of each value in a given list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.arrays import Codes
from sfumato.data.cells.text_codes import place_texts
from sfumato.engine.text_dictionaries import split_column

_WIDEST = 1 << 16


def index_cells(column: pl.Series, values: Sequence[str]) -> Codes | None:
    """The place of each cell in a list of distinct values as they are spelt, the number of values where it is missing.

    None where some cell is not in the list, or the column is of a kind that has to be spelt first.
    """
    if isinstance(column.dtype, pl.Enum):
        distinct, codes = split_column(column)
        distinct_places = index_cells(distinct, values)
        return None if distinct_places is None else distinct_places[codes]
    if column.dtype == pl.String:
        places = place_texts(column, values)
        missing = column.null_count()
        if places.null_count() != missing:
            return None
        return (places.fill_null(len(values)) if missing else places).to_numpy().astype(np.int32)
    if column.dtype.is_integer() and len(column) and not column.null_count():
        return _index_number_cells(column, values)
    return None


def _index_number_cells(column: pl.Series, values: Sequence[str]) -> Codes | None:
    low, high = column.min(), column.max()
    assert isinstance(low, int) and isinstance(high, int)
    if high - low >= _WIDEST:
        return None
    place_of = {value: position for position, value in enumerate(values)}
    table = np.array([place_of.get(str(number), -1) for number in range(low, high + 1)], dtype=np.int32)
    places = table[column.to_numpy().astype(np.int64) - low]
    return places if places.min() >= 0 else None
