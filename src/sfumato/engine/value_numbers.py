# SPDX-License-Identifier: MIT
"""Numbers for the values of a column, the same for the same value in all batches of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.arrays import Ints, ShortCodes
from sfumato.engine.stored_rows import CodeMap
from sfumato.engine.text_dictionaries import list_dictionary_texts, split_column

_WIDEST = 1 << 16


class ValueNumbers:
    """Numbers below 2¹⁶ for values: given ones, or in the order in which they are met, then only for those that are."""

    def __init__(self, code_map: CodeMap | None = None) -> None:
        """Begin before the first row."""
        self._number_of: dict[object, int] = {}
        self._rest: int | None = None
        """The number of all that are not given."""
        if code_map is not None:
            self._number_of = dict(zip(code_map.values.to_list(), code_map.codes.tolist(), strict=True))
            self._rest = code_map.missing

    def list_values(self) -> list[object]:
        """The values that were met, by their numbers."""
        return list(self._number_of)

    def number_cells(self, column: pl.Series, line: ShortCodes) -> None:
        """Write the number of each cell."""
        values, codes = split_column(column)
        self._write_numbers(values.to_list(), codes, line)

    def number_array(self, cells: pa.Array, line: ShortCodes) -> bool:
        """The same of cells of arrow; False for kinds that polars has to read."""
        texts = list_dictionary_texts(cells)
        if texts is not None:
            places = cells.indices
            codes = pl.Series(places).fill_null(len(texts)).to_numpy() if places.null_count else places.to_numpy()
            self._write_numbers([*texts, None], codes, line)
            return True
        if not pa.types.is_integer(cells.type) or cells.null_count or not len(cells):
            return False
        numbers = cells.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low >= _WIDEST:
            return False
        # A difference of short numbers may be too long for them; one of unsigned numbers never is.
        wide = numbers if numbers.dtype.kind == "u" else numbers.astype(np.int64, copy=False)
        self._write_numbers(range(low, high + 1), (wide - low).astype(np.int64, copy=False), line)
        return True

    def _write_numbers(self, values: Sequence[object], codes: Ints, line: ShortCodes) -> None:
        numbers = [self._number_of.get(value, -1 if self._rest is None else self._rest) for value in values]
        if -1 in numbers:
            for index in np.flatnonzero(np.bincount(codes, minlength=len(values))).tolist():
                numbers[index] = self._number_of.setdefault(values[index], len(self._number_of))
        table = np.array(numbers, dtype=np.int64).astype(np.uint16)
        np.take(table, codes, out=line, mode="clip")  # without a second look at each code
