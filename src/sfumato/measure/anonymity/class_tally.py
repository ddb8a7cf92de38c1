# SPDX-License-Identifier: MIT
"""How often each value of a column occurs in each class: the input of every model about sensitive values.

One entry for each (class, value) pair that occurs, so that memory grows with the rows, not with classes times values.
Counts stay whole numbers until the last division: a result does not depend on summation order. Missing
quasi-identifying cells count by their declared meaning; a missing value of the column is a value of its own, after all
others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.engine.classes import pack_row_keys
from sfumato.errors import DataError
from sfumato.measure.anonymity.crowd_sizes import StarredRows, flag_starred_rows
from sfumato.table import Missing, Table

_LARGEST_KEY = 1 << 62
_FEW = 1 << 16


@dataclass(frozen=True)
class ClassTally:
    """The values of one column, class by class, in the order of the values."""

    values: Ints
    """The value of each entry, as an index into `labels`."""
    counts: Ints
    """How often that value occurs in the entry's class."""
    starts: Ints
    """Where the entries of each class begin."""
    overall: Ints
    """How often each value occurs in the whole table, suppressed rows included."""
    labels: pl.Series
    """The values in their natural order; a missing value last."""

    @property
    def rows(self) -> int:
        """Rows of the whole table, without rows dropped for a missing cell."""
        return int(self.overall.sum())

    def sum_by_class(self, numbers: Ints) -> Ints:
        """The sum over each class of a number per entry."""
        return np.add.reduceat(numbers, self.starts) if len(self.starts) else np.zeros(0, dtype=numbers.dtype)

    @property
    def sizes(self) -> Ints:
        """Rows of each class."""
        return self.sum_by_class(self.counts)

    @property
    def distinct(self) -> Ints:
        """Different values in each class."""
        return np.diff(self.starts, append=len(self.counts))

    def spread(self, numbers: Ints) -> Ints:
        """Repeat a number per class for each of its entries."""
        return np.repeat(numbers, self.distinct)

    def compute_excess(self) -> Ints:
        """The share in the class minus the share in the table, p − q, times the rows of both: a whole number."""
        return self.counts * self.rows - self.spread(self.sizes) * self.overall[self.values]


class KeyValueCounts(NamedTuple):
    """Distinct pairs of a key and a value in order, and how often each occurs."""

    keys: Ints
    values: Ints
    counts: Ints


@dataclass(frozen=True)
class GroupedRows:
    """The rows of a table, each with a key that is equal within a class."""

    frame: pl.DataFrame
    """The rows that count, including suppressed ones."""
    placed_mask: Flags | None
    """Which of them belong to a class; None if all do."""
    key: Ints
    """One key per placed row."""
    radix: int
    """Greater than every key."""
    overlapping_columns: tuple[str, ...] | None
    """The columns to match by if a missing cell matches anything, so that classes overlap."""

    @classmethod
    def of(cls, table: Table, starred_rows: StarredRows = "class") -> GroupedRows:
        """Group a table by its quasi-identifying columns."""
        names = list(table.quasi_identifying)
        if not names:
            raise DataError(f"{table.source}: no column is quasi_identifying, so there are no classes to count")
        frame = table.frame
        if table.missing is Missing.DROP:
            frame = frame.drop_nulls(names)
        placed_mask = None
        if starred_rows == "suppressed":
            out = flag_starred_rows(frame, names)
            placed_mask = (~out).to_numpy() if out.any() else None
        placed_frame = frame.select(names) if placed_mask is None else frame.select(names).filter(placed_mask)
        key, radix = pack_row_keys(placed_frame, names)
        missing_mask = (
            _flag_missing_rows(placed_frame) if table.missing in (Missing.MATCHES_ANY, Missing.NEVER_MATCHES) else None
        )
        if missing_mask is not None and table.missing is Missing.NEVER_MATCHES:
            missing_rows = np.flatnonzero(missing_mask)
            key[missing_rows] = radix + np.arange(len(missing_rows))
            return cls(frame, placed_mask, key, radix + len(missing_rows), None)
        return cls(frame, placed_mask, key, radix, None if missing_mask is None else tuple(names))

    def tally(self, column: str) -> ClassTally:
        """Count the values of a column in each class and in the whole table."""
        if column not in self.frame.columns:
            raise DataError(f'there is no column "{column}" to measure')
        codes, labels = number_sorted_values(self.frame[column])
        overall = np.bincount(codes, minlength=len(labels)).astype(np.int64)
        placed_codes = codes if self.placed_mask is None else codes[self.placed_mask]
        owners, values, counts = count_key_values(self.key, self.radix, placed_codes, len(labels))
        if self.overlapping_columns is not None:
            owners, values, counts = self._merge_matching(owners, values, counts)
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        return ClassTally(values, counts, starts, overall, labels)

    def count_own_rows(self) -> Ints:
        """How many rows have the values of each class."""
        return self._tally_equal_rows().counts

    def measure_crowds(self) -> Ints:
        """How many rows a row of each class could be confused with."""
        alike = self._tally_equal_rows()
        return (alike if self.overlapping_columns is None else self._merge_matching(*alike)).counts

    def _tally_equal_rows(self) -> KeyValueCounts:
        return count_key_values(self.key, self.radix, np.zeros(len(self.key), dtype=np.int64), 1)

    def find_first_rows(self) -> Ints:
        """The index of one row of each class among the placed ones, in class order."""
        return np.unique(self.key, return_index=True)[1].astype(np.int64)

    def _merge_matching(self, owners: Ints, values: Ints, counts: Ints) -> KeyValueCounts:
        """Each class with the values of all the classes that it matches, agreeing wherever both are known."""
        assert self.overlapping_columns is not None
        names = list(self.overlapping_columns)
        placed_frame = (
            self.frame.select(names) if self.placed_mask is None else self.frame.select(names).filter(self.placed_mask)
        )
        classes = (
            placed_frame[self.find_first_rows()].with_columns(_encode_missing_pattern(names)).with_row_index("\0class")
        )
        number = np.cumsum(np.diff(owners, prepend=-1) != 0) - 1
        entries = pl.DataFrame({"\0class": number.astype(np.uint32), "\0value": values, "\0count": counts})
        entries = entries.join(classes, on="\0class", maintain_order="left")
        parts = [(str(key), part) for (key,), part in classes.partition_by("\0pattern", as_dict=True).items()]
        sums = []
        for (other_pattern,), other in entries.partition_by("\0pattern", as_dict=True).items():
            classes_by_columns: dict[tuple[str, ...], list[pl.DataFrame]] = {}
            for pattern, part in parts:
                common = tuple(n for n, a, b in zip(names, pattern, str(other_pattern), strict=True) if a == b == "0")
                classes_by_columns.setdefault(common, []).append(part)
            for common, several in classes_by_columns.items():
                merged_counts = other.group_by(*common, "\0value").agg(pl.col("\0count").sum())
                class_rows = pl.concat(several)
                matches = (
                    class_rows.join(merged_counts, on=common) if common else class_rows.join(merged_counts, how="cross")
                )
                sums.append(matches.select("\0class", "\0value", "\0count"))
        total = pl.concat(sums).group_by("\0class", "\0value").agg(pl.col("\0count").sum()).sort("\0class", "\0value")
        return KeyValueCounts(*(total[name].cast(pl.Int64).to_numpy() for name in total.columns))


def count_key_values(key: Ints, radix: int, values: Ints, width: int) -> KeyValueCounts:
    """The distinct (key, value) pairs in order, and how often each occurs; values lie below `width`."""
    if radix * width > _LARGEST_KEY:
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        radix = len(key)
    joint = key * width + values
    if radix * width <= max(_FEW, len(key) // 4):
        counts = np.bincount(joint, minlength=0)
        present_keys = np.flatnonzero(counts)
        counts = counts[present_keys]
    else:
        present_keys, counts = np.unique(joint, return_counts=True)
    return KeyValueCounts(present_keys // max(width, 1), present_keys % max(width, 1), counts.astype(np.int64))


class SortedValues(NamedTuple):
    """The distinct values of a column in order, and the index of each cell among them."""

    codes: Ints
    labels: pl.Series
    """A missing value is the last."""


def number_sorted_values(column: pl.Series) -> SortedValues:
    """The index of each cell among the sorted distinct values, a missing value last."""
    known_values = column.drop_nulls().unique().sort()
    labels = (
        known_values.extend(pl.Series(column.name, [None], dtype=column.dtype)) if column.null_count() else known_values
    )
    if column.dtype == pl.String:
        codes = column.cast(pl.Enum(labels.drop_nulls())).to_physical().cast(pl.Int64)
    else:
        codes = column.rank("dense").cast(pl.Int64) - 1
    return SortedValues(codes.fill_null(len(labels) - 1).to_numpy(), labels)


def _flag_missing_rows(frame: pl.DataFrame) -> Flags | None:
    """Which rows miss a cell; None if no row does."""
    if not any(frame.null_count().row(0)):
        return None
    return frame.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()


def _encode_missing_pattern(names: list[str]) -> pl.Expr:
    return pl.concat_str([pl.col(name).is_null().cast(pl.Int8).cast(pl.String) for name in names]).alias("\0pattern")
