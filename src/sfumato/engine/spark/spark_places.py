# SPDX-License-Identifier: MIT
"""How many rows are equal by several combinations of columns, counted by one job: a row is one number in each.

The values of the columns are few and known. The numbers of a row's cells, as digits, make a single 64-bit number, which
Spark groups and sends far sooner than the cells themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.arrays import Ints
from sfumato.engine.file_units import FileUnit, read_unit
from sfumato.engine.spark.spark_tasks import MOST_HELD, hide_cells, list_numbers
from sfumato.engine.stored_rows import CodeMap
from sfumato.engine.value_numbers import ValueNumbers

PLACES = "combination long, place long, n long"
_MOST_PLACES = 1 << 62


def rank_values(values: pl.Series) -> CodeMap:
    """The place of each distinct value in a list, and the number after them for a missing cell."""
    known_values = values.drop_nulls()
    return CodeMap(known_values, np.arange(len(known_values), dtype=np.int32), len(known_values))


def fits_number(columns: Sequence[str], maps: Mapping[str, CodeMap]) -> bool:
    """Whether the values of all these columns are known, and their combinations few enough for a number."""
    return set(columns) <= set(maps) and prod(maps[name].missing + 1 for name in columns) < _MOST_PLACES


@dataclass(frozen=True)
class CountPlacesTask:
    """Count the rows of some runs that are equal by each combination of columns."""

    units: Sequence[FileUnit]
    combinations: Sequence[Sequence[str]]
    maps: Mapping[str, CodeMap]
    coded_columns: Sequence[str]
    """The columns that are read as numbers for their texts."""

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Go through the runs that were given, and hand on what was counted."""
        value_numbers = {name: ValueNumbers(codes) for name, codes in self.maps.items()}
        place_counts = pl.DataFrame()
        with hide_cells():
            for number in list_numbers(numbers):
                for rows in read_unit(self.units[number], list(self.maps), self.coded_columns):
                    place_counts = self._add_places(place_counts, rows, value_numbers)
                    if place_counts.height > MOST_HELD:
                        yield _encode_places(place_counts)
                        place_counts = pl.DataFrame()
            if place_counts.height:
                yield _encode_places(place_counts)

    def _add_places(
        self, place_counts: pl.DataFrame, rows: pl.DataFrame, value_numbers: Mapping[str, ValueNumbers]
    ) -> pl.DataFrame:
        codes: dict[str, Ints] = {}
        for name, numbers in value_numbers.items():
            line = np.empty(rows.height, dtype=np.uint16)
            numbers.number_cells(rows[name], line)
            codes[name] = line.astype(np.int64)
        parts = [place_counts]
        for combination, columns in enumerate(self.combinations):
            places = np.zeros(rows.height, dtype=np.int64)
            for name in columns:
                places = places * (self.maps[name].missing + 1) + codes[name]
            distinct, counts = np.unique_counts(places)
            parts.append(
                pl.DataFrame({"combination": np.full(len(distinct), combination), "place": distinct, "n": counts})
            )
        every = pl.concat([part for part in parts if part.height])
        return every.group_by("combination", "place").agg(pl.col("n").sum())


def _encode_places(place_counts: pl.DataFrame) -> pa.RecordBatch:
    table: pa.Table = place_counts.select(pl.all().cast(pl.Int64)).rechunk().to_arrow()
    return table.combine_chunks().to_batches()[0]
