# SPDX-License-Identifier: MIT
"""Rows of the long form, brought together to baskets by Spark's executors; the driver holds the vocabulary.

A task codes the items of its runs and puts the rows of an id together, Spark those of all tasks. Executors then write
the coded baskets to the scratch folder, in files that follow the first rows of their ids, and the driver reads one file
after the other. A task that is repeated writes the same file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.data.items.long_form import flag_missing_cells
from sfumato.engine.file_units import UNIT_ROWS, FileUnit, read_unit
from sfumato.engine.spark.sent_task import send_task
from sfumato.engine.spark.spark_rows import SparkRows
from sfumato.engine.spark.spark_tasks import KeyTypes, get_carrier, hide_cells, list_numbers
from sfumato.engine.stored_baskets import NO_ITEM
from sfumato.engine.stored_rows import CodeMap

_SUMMARY_COLUMNS = "part long, ids long, first_id long, items long, first_item long"


@dataclass(frozen=True)
class GroupedBasketRows:
    """Files of coded baskets in their order, and the rows that a basket cannot be made of."""

    files: tuple[Path, ...]
    missing_ids: int
    first_missing_id: int
    missing_items: int
    """Of ids that have other rows."""
    first_missing_item: int


def count_items(rows: SparkRows, item: str, most: int) -> pl.Series:
    """The different items, in an order of their own; `TooManyRows` if there are more than this many."""
    values = rows.count_few_rows([item], most).frame[item]
    return values.filter(~flag_missing_cells(values))


def gather_baskets(
    rows: SparkRows, columns: tuple[str, str], items: pl.Series, scratch: Path, name: str
) -> GroupedBasketRows:
    """Write what each id has to files of the scratch folder."""
    from pyspark.sql import functions as f

    codes = CodeMap(items, np.arange(len(items), dtype=np.int32), NO_ITEM)
    task = GroupTask(rows.units, columns, codes, rows.schema[columns[0]])
    parts = ceil(rows.height / UNIT_ROWS)
    with send_task(rows.session, task) as sent_task:
        grouped_rows = (
            rows.map_units(sent_task, task.declaration)
            .repartition(parts, "id")
            .groupBy("id")
            .agg(
                f.min("first").alias("first"),
                f.sum("many").alias("many"),
                f.sum("gaps").alias("gaps"),
                f.min("gap").alias("gap"),
                f.flatten(f.collect_list("codes")).alias("codes"),
            )
            .withColumn("part", f.floor(f.col("first") / f.lit(UNIT_ROWS)))
            .withColumn("lost", f.col("id").isNull())
            .drop("id")
        )
        part_groups = grouped_rows.repartition(parts, "part").groupBy("part")
        summary_table = rows.fetch(part_groups.applyInArrow(_make_writer(scratch, name), _SUMMARY_COLUMNS))
    summary = pl.from_arrow(summary_table)
    assert isinstance(summary, pl.DataFrame) and summary.height <= parts
    return GroupedBasketRows(
        tuple(_name_part(scratch, name, part) for part in sorted(summary["part"].to_list())),
        int(summary["ids"].sum()),
        int(summary["first_id"].min() or 0),  # type: ignore[arg-type]  # a column of numbers
        int(summary["items"].sum()),
        int(summary["first_item"].min() or 0),  # type: ignore[arg-type]  # a column of numbers
    )


@dataclass(frozen=True)
class GroupTask:
    """Code the items of some runs, and put the rows of each id together, batch by batch."""

    units: Sequence[FileUnit]
    columns: tuple[str, str]
    codes: CodeMap
    kind: pl.DataType
    """The type of ids."""

    @property
    def declaration(self) -> str:
        """What is handed on: of each id its first row, how many there are, and how many without item; its items."""
        id_kind = KeyTypes({"id": self.kind}).declaration.split(",")[0].split()[1]
        return f"id {id_kind}, first long, many long, gaps long, gap long, codes array<int>"

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Go through the runs that were given."""
        with hide_cells():
            for number in list_numbers(numbers):
                row = self.units[number].offset
                for batch in read_unit(self.units[number], self.columns):
                    yield self._group(batch, row)
                    row += batch.height

    def _group(self, batch: pl.DataFrame, first: int) -> pa.RecordBatch:
        ids, items = (batch[name] for name in self.columns)
        coded_rows = pl.DataFrame(
            {
                "id": ids.set(flag_missing_cells(ids), None).cast(get_carrier(self.kind)),
                "row": np.arange(first, first + batch.height),
                "code": self.codes.map_cells(items),
            }
        )
        gap = pl.col("code") == NO_ITEM
        grouped_rows = coded_rows.group_by("id").agg(
            pl.col("row").min().alias("first"),
            pl.len().cast(pl.Int64).alias("many"),
            gap.sum().cast(pl.Int64).alias("gaps"),
            pl.col("row").filter(gap).min().alias("gap"),
            pl.col("code").unique().alias("codes"),
        )
        return _to_spark(grouped_rows)


def _to_spark(grouped_rows: pl.DataFrame) -> pa.RecordBatch:
    """A frame with a column of lists, in the types that Spark declares."""
    table = grouped_rows.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    kinds = [_narrow(kind) for kind in table.schema.types]
    return table.cast(pa.schema(zip(table.column_names, kinds, strict=True))).combine_chunks().to_batches()[0]


def _narrow(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_list(kind):
        return pa.list_(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) else kind


def _make_writer(scratch: Path, name: str) -> Callable[[pa.Table], pa.Table]:
    """A function that writes the baskets whose first rows lie in one run; Spark looks at its parameters."""

    def write_part(table: pa.Table) -> pa.Table:
        with hide_cells():
            return write_groups(table, scratch, name)

    return write_part


def write_groups(table: pa.Table, scratch: Path, name: str) -> pa.Table:
    """Write the codes of some baskets in the order of their first rows, all or nothing; says what is missing."""
    groups = pl.from_arrow(table)
    assert isinstance(groups, pl.DataFrame)
    target = _name_part(scratch, name, int(groups["part"][0]))
    sorted_codes = groups.select("first", pl.col("codes").list.unique().list.sort()).sort("first")
    partial_file = target.with_name(f".begun-{target.name}-{_get_attempt()}")
    sorted_codes.explode("codes").write_parquet(partial_file)
    partial_file.replace(target)
    lost_groups = groups.filter("lost")
    gaps = groups.filter((pl.col("gaps") > 0) & (pl.col("many") > 1) & ~pl.col("lost"))
    return pa.table(
        {
            "part": pa.array([groups["part"][0]], pa.int64()),
            "ids": pa.array([lost_groups["many"].sum()], pa.int64()),
            "first_id": pa.array([lost_groups["first"].min()], pa.int64()),
            "items": pa.array([gaps["gaps"].sum()], pa.int64()),
            "first_item": pa.array([gaps["gap"].min()], pa.int64()),
        }
    )


def _get_attempt() -> int:
    """A number that no other attempt at this file has."""
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    return 0 if context is None else int(context.taskAttemptId())


def _name_part(scratch: Path, name: str, part: int) -> Path:
    return scratch / f"{name}-grouped-{part:06d}.parquet"
