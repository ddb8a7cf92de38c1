# SPDX-License-Identifier: MIT
"""A table of Spark's catalogue, copied once to Parquet files in the scratch folder by the executors.

Such a table has no order, and one that followed from its cells would tell about them: the order of a release shows how
originals are ordered. So its rows are put in an order that follows from their cells and a secret of this copy, and
from nothing else. A task that is repeated writes the same file.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.server_copy import COPIES
from sfumato.engine.spark.spark_session import explain_failure, find_session
from sfumato.engine.spark.spark_tasks import hide_cells
from sfumato.errors import DataError, quote_names

_NESTED_KINDS = ("array", "map", "struct", "binary", "variant", "interval", "void")


def stage_spark_table(name: str, scratch: Path) -> list[Path]:
    """Copy a table; times and decimals are spelled as text, as those of Parquet files are."""
    from pyspark.sql.types import LongType, StructField, StructType

    source_name, session = f"spark:{name}", find_session()
    try:
        table = session.table(name)
        fields = list(table.schema.fields)
    except Exception as error:  # pyspark's and py4j's own, of many kinds
        raise DataError(
            f"{source_name}: Spark does not find this table ({type(error).__name__}); write spark:database.table, and "
            "check that this session sees the catalogue"
        ) from None
    names = [field.name for field in fields]
    _refuse_nested({field.name: field.dataType.simpleString() for field in fields}, source_name)
    stored_names = [f"c{position}" for position in range(len(names))]
    schema = StructType([StructField(h, field.dataType) for h, field in zip(stored_names, fields, strict=True)])
    placed_schema = StructType([*schema.fields, StructField("place", LongType())])
    ordered_rows = (
        table.toDF(*stored_names)
        .mapInArrow(PlaceTask(secrets.token_bytes(32)), placed_schema)
        .repartitionByRange("place")
    )
    write = WriteTask(scratch, names, source_name)
    try:
        written_parts = ordered_rows.sortWithinPartitions("place").mapInArrow(write, "part long").toArrow()
    except Exception as error:
        raise explain_failure(error, source_name) from None
    return [_name_part(scratch, part) for part in sorted(written_parts.column(0).to_pylist())]


def _refuse_nested(kinds: dict[str, str], source_name: str) -> None:
    nested_columns = [name for name, kind in kinds.items() if kind.startswith(_NESTED_KINDS)]
    if nested_columns:
        raise DataError(f"{source_name}: {quote_names(nested_columns)} has a nested type; exclude it with a view")


@dataclass(frozen=True, repr=False)
class PlaceTask:
    """Give each row a number that nobody can compute without the secret; equal rows get the same."""

    secret: bytes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows with their numbers."""
        with hide_cells():
            for batch in batches:
                cells = build_frame(pa.Table.from_batches([batch]), "table")
                rows = cells.select(pl.concat_str(map(_delimit, cells.columns))).to_series().to_list()
                digests = b"".join(
                    hashlib.blake2b(row.encode(), key=self.secret, digest_size=8).digest() for row in rows
                )
                places = pa.array(np.frombuffer(digests, dtype="<i8"))
                yield pa.RecordBatch.from_arrays([*batch.columns, places], [*batch.schema.names, "place"])


def _delimit(name: str) -> pl.Expr:
    """The cells of a column as text, so that different rows have different texts."""
    text = pl.col(name).cast(pl.String)
    return pl.concat_str(text.str.len_bytes().cast(pl.String), pl.lit(":"), text).fill_null("-")


@dataclass(frozen=True)
class WriteTask:
    """Write the rows of a partition to a file of their own, all or nothing."""

    folder: Path
    names: list[str]
    source: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The number of the partition, if it has rows."""
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        part = context.partitionId()
        partial_file = self.folder / f".begun-{part}-{context.taskAttemptId()}"
        with hide_cells():
            if write_batches(map(self._simplify, batches), partial_file):
                partial_file.replace(_name_part(self.folder, part))
                yield pa.RecordBatch.from_arrays([pa.array([part], pa.int64())], ["part"])

    def _simplify(self, batch: pa.RecordBatch) -> pl.DataFrame:
        cells = pa.Table.from_batches([batch]).drop_columns("place").rename_columns(self.names)
        return simplify_frame(build_frame(cells, self.source), self.source)


def _name_part(folder: Path, part: int) -> Path:
    return folder / COPIES.replace("*", f"{part:06d}")
