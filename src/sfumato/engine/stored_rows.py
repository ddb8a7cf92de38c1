# SPDX-License-Identifier: MIT
"""The rows of a table, wherever they are: the few verbs with which methods and measures reach them.

Reducing verbs (`count_rows`, `count_coded_rows`, `count_sizes`, `count_values`, `count_missing`) run where the rows are
and return little. Mapping verbs go through `iterate_batches`: some rows at a time, in their order, as polars frames, so
that the code that recodes a table in memory recodes a batch. All implementations return the same to the byte.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Ints, ShortCodes
from sfumato.engine.classes import count_class_sizes

if TYPE_CHECKING:
    from sfumato.engine.aligned_batches import AlignedBatch

BatchResult = TypeVar("BatchResult")
COUNT = "\0count"
"""The name of the counts next to distinct rows."""
BATCH_ROWS = 1 << 18


class TooManyRows(Exception):
    """There are more distinct rows than a caller can hold."""


class RowCounts(NamedTuple):
    """Distinct rows, sorted with missing cells last, and how many rows are equal to each."""

    frame: pl.DataFrame
    counts: Ints

    @property
    def rows(self) -> int:
        """How many rows were counted."""
        return int(self.counts.sum())


class CodeMap(NamedTuple):
    """A code for each value of a column."""

    values: pl.Series
    """Distinct values, without a missing one."""
    codes: Codes
    missing: int
    """The code of a missing cell, and of a value that is not listed."""

    def map_cells(self, cells: pl.Series) -> pl.Series:
        """Join the codes back to the cells of a column."""
        mapping = pl.DataFrame({"value": self.values, "code": self.codes}, schema_overrides={"code": pl.Int32})
        joined_frame = cells.alias("value").to_frame().join(mapping, on="value", how="left", maintain_order="left")
        return joined_frame["code"].fill_null(self.missing).alias(cells.name)


class SizeCounts(NamedTuple):
    """The sizes that classes have, ascending, and how many classes have each."""

    sizes: Ints
    classes: Ints

    @property
    def smallest(self) -> int:
        """The size of the smallest class; 0 if there is none."""
        return int(self.sizes[0]) if len(self.sizes) else 0

    @property
    def unique(self) -> int:
        """How many rows no other row equals."""
        return int(self.classes[0]) if self.smallest == 1 else 0


class StoredRows(ABC):
    """The rows of one table, at rest."""

    source: str
    """The name of the table in errors."""
    schema: Mapping[str, pl.DataType]
    """The columns and their types."""
    height: int
    """The number of rows."""
    date_forms: Mapping[str, str] = MappingProxyType({})
    """Columns of text that became dates because only one form fits them, and the form."""

    @abstractmethod
    def count_rows(self, columns: Sequence[str]) -> RowCounts:
        """Compress to the distinct rows of some columns; with a sensitive column last, the histogram of each class."""

    @abstractmethod
    def count_coded_rows(self, maps: Mapping[str, CodeMap], most: int | None = None) -> RowCounts:
        """The same with codes for cells; `TooManyRows` if there are more than `most` distinct rows."""

    @abstractmethod
    def count_sizes(self, columns: Sequence[str]) -> SizeCounts:
        """How large the classes are that agree in some columns; a missing cell is a value."""

    def count_many_sizes(self, combinations: Sequence[Sequence[str]]) -> list[SizeCounts]:
        """The same for several combinations of columns."""
        return [self.count_sizes(columns) for columns in combinations]

    @abstractmethod
    def estimate_tuples(self, columns: Sequence[str]) -> int:
        """About how many distinct rows some columns have: for a choice of how to count, never for a result."""

    @abstractmethod
    def count_values(self, column: str) -> int:
        """How many different values a column has, without missing ones."""

    @abstractmethod
    def count_missing(self) -> dict[str, int]:
        """How many cells of each column are missing."""

    @abstractmethod
    def iterate_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows in their order, some at a time."""

    def iterate_coded_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The same rows, some columns of repeated texts as numbers (`coded_columns`), where that is how they lie."""
        return self.iterate_batches(columns)

    def iterate_numbered(self, columns: Sequence[str]) -> Iterator[ShortCodes]:
        """The same rows as numbers, a line for each column: equal where cells are, and fewer than 2¹⁶."""
        from sfumato.engine.value_numbers import ValueNumbers

        numbers = [ValueNumbers() for _ in columns]
        for batch in self.iterate_coded_batches(columns):
            lines = np.empty((len(columns), batch.height), dtype=np.uint16)
            for number, name, line in zip(numbers, columns, lines, strict=True):
                number.number_cells(batch[name], line)
            yield lines

    def map_batches(
        self, change: Callable[[pl.DataFrame, int], pl.DataFrame], columns: Sequence[str] | None = None
    ) -> Iterator[pl.DataFrame]:
        """What is made of some rows at a time, given the number of the first; in their order, wherever that runs."""
        offset = 0
        for batch in self.iterate_coded_batches(columns):
            yield change(batch, offset)
            offset += batch.height

    def examine_batches(
        self, examine: Callable[[pl.DataFrame, int], BatchResult], columns: Sequence[str] | None = None
    ) -> Iterator[BatchResult]:
        """What is found in some rows at a time, with all texts spelled out, given the number of the first; in order."""
        offset = 0
        for batch in self.iterate_batches(columns):
            yield examine(batch, offset)
            offset += batch.height

    def compare_batches(
        self,
        published_store: StoredRows,
        taken_rows: StoredRows | None,
        compare: Callable[[AlignedBatch], BatchResult],
        step: str,
        columns: Sequence[str] | None = None,
    ) -> Iterator[BatchResult]:
        """Compare published rows with their originals, in row order; see `align_coded_batches`."""
        from sfumato.engine.aligned_batches import align_coded_batches

        yield from map(compare, align_coded_batches(self, published_store, taken_rows, step, columns))

    def refuse_unseen(self, folder: Path) -> None:  # noqa: B027  (most engines see what we see)
        """Stop if the engine does not see a folder in which files will be written."""

    def open_files(self, files: Sequence[Path], scratch: Path, source: str) -> StoredRows:
        """Parquet files that were made from these rows, counted by the same engine."""
        from sfumato.engine.duckdb_rows import DuckdbRows

        return DuckdbRows(files, scratch, source)

    def sample_values(self, columns: Sequence[str], most: int) -> dict[str, pl.Series]:
        """Some values of each column, spread evenly over those that are not missing."""
        missing = self.count_missing()
        steps = {name: max(1, (self.height - missing[name]) // most) for name in columns}
        begins = dict.fromkeys(columns, 0)
        parts = {name: [pl.Series(name, [], dtype=self.schema[name])] for name in columns}
        for batch in self.iterate_coded_batches(columns) if columns else ():
            for name, step in steps.items():
                cells = batch[name].drop_nulls() if batch[name].null_count() else batch[name]
                chosen_cells = cells.gather(np.arange(-begins[name] % step, len(cells), step))
                # Texts may have been numbers; and else each would keep all texts of its batch in memory.
                parts[name].append(pl.Series(name, chosen_cells.to_list(), dtype=self.schema[name]))
                begins[name] += len(cells)
        return {name: pl.concat(pieces).head(most) for name, pieces in parts.items()}


class MemoryRows(StoredRows):
    """Rows in memory, counted by polars."""

    def __init__(self, frame: pl.DataFrame, source: str = "table") -> None:
        """Take a frame as it is."""
        self.frame, self.source = frame, source
        self.schema, self.height = dict(frame.schema), frame.height

    def count_rows(self, columns: Sequence[str]) -> RowCounts:
        """Group by the columns."""
        return sort_counts(self.frame.group_by(columns).agg(pl.len().alias(COUNT)))

    def count_coded_rows(self, maps: Mapping[str, CodeMap], most: int | None = None) -> RowCounts:
        """Join every map back, then group."""
        coded_frame = pl.DataFrame([codes.map_cells(self.frame[name]) for name, codes in maps.items()])
        row_counts = MemoryRows(coded_frame).count_rows(coded_frame.columns)
        if most is not None and len(row_counts.counts) > most:
            raise TooManyRows
        return row_counts

    def count_sizes(self, columns: Sequence[str]) -> SizeCounts:
        """Count the sizes of classes."""
        return SizeCounts(*np.unique_counts(count_class_sizes(self.frame, columns)))

    def estimate_tuples(self, columns: Sequence[str]) -> int:
        """Count them."""
        return len(count_class_sizes(self.frame, columns))

    def count_values(self, column: str) -> int:
        """Count distinct values."""
        return self.frame[column].drop_nulls().n_unique()

    def count_missing(self) -> dict[str, int]:
        """Count nulls."""
        return self.frame.null_count().row(0, named=True) if self.frame.width else {}

    def iterate_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Slices of the frame."""
        chosen_frame = self.frame if columns is None else self.frame.select(columns)
        yield from chosen_frame.iter_slices(BATCH_ROWS)


def sort_counts(frame: pl.DataFrame) -> RowCounts:
    """Distinct rows in the order that does not depend on who counted them."""
    names = [name for name in frame.columns if name != COUNT]
    sorted_frame = frame.sort(names, nulls_last=True)
    return RowCounts(sorted_frame.select(names), sorted_frame[COUNT].cast(pl.Int64).to_numpy(writable=True))
