# SPDX-License-Identifier: MIT
"""Write rows to Parquet some at a time, to one file or to parts of bounded length."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.rebuild import rebuild_frame
from sfumato.errors import DataError
from sfumato.progress import report_progress

_GROUP_ROWS = 1 << 20


def write_batches(batches: Iterable[pl.DataFrame], path: Path, total: int | None = None, step: str = "writing") -> int:
    """Write one file; returns its number of rows. Frames are rebuilt, so that nothing below a null is written."""
    return sum(_write_parts(batches, lambda _: path, None, total, step))


def write_partitioned(
    batches: Iterable[pl.DataFrame], folder: Path, rows_a_file: int, total: int | None = None
) -> list[Path]:
    """Write `part-00000.parquet` and so on, each of at most so many rows."""
    folder.mkdir(parents=True, exist_ok=True)

    def name_part(number: int) -> Path:
        return folder / f"part-{number:05d}.parquet"

    counts = _write_parts(batches, name_part, rows_a_file, total, "writing")
    return [name_part(number) for number in range(len(counts))]


def _write_parts(
    batches: Iterable[pl.DataFrame],
    name_part: Callable[[int], Path],
    rows_a_file: int | None,
    total: int | None,
    step: str,
) -> list[int]:
    """The number of rows of each file that was written."""
    counts: list[int] = []
    writer: pq.ParquetWriter | None = None
    try:
        for batch in batches:
            rest = batch
            while writer is None or rest.height:
                room = rest.height if rows_a_file is None or not counts else rows_a_file - counts[-1]
                if writer is None or not room:
                    if writer is not None:
                        writer.close()
                    schema = _to_arrow(rest.clear()).schema
                    writer = pq.ParquetWriter(name_part(len(counts)), schema, compression="zstd")
                    counts.append(0)
                    room = rest.height if rows_a_file is None else rows_a_file
                writer.write_table(_to_arrow(rest.head(room)), row_group_size=_GROUP_ROWS)
                counts[-1] += min(room, rest.height)
                rest = rest.slice(room)
            report_progress(step, sum(counts), total)
    except OSError:
        raise DataError(
            f"{name_part(0).name}: the data file could not be written; is the disk full? Nothing was published"
        ) from None
    finally:
        if writer is not None:
            writer.close()
    return counts


def _to_arrow(frame: pl.DataFrame) -> pa.Table:
    """The cells and nothing else of their memory, in types that every reader knows."""
    return rebuild_frame(frame).to_arrow(compat_level=pl.CompatLevel.oldest())
