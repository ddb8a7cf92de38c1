# SPDX-License-Identifier: MIT
"""Rows in Parquet files, counted and changed by Spark's executors; the driver holds distinct rows and some batches.

The files lie where the driver and the executors see them under one path. Rows are numbered by file and by position, in
the order in which the files are given, and come back in this order, whichever executor is done first.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sfumato
from sfumato.data.reading.plain_frames import simplify_frame
from sfumato.engine.aligned_batches import ROW, AlignedBatch, explain_unaligned
from sfumato.engine.duckdb_rows import check_schemas, find_repetitive_columns
from sfumato.engine.file_units import UNIT_ROWS, cut_units, read_unit
from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.read_ahead import read_ahead
from sfumato.engine.spark.sent_task import Task, send_task
from sfumato.engine.spark.spark_places import PLACES, CountPlacesTask, fits_number, rank_values
from sfumato.engine.spark.spark_session import count_cores, explain_failure, find_session
from sfumato.engine.spark.spark_tasks import (
    PACKED_COLUMNS,
    ChangeTask,
    ColumnCount,
    ColumnTask,
    CompareTask,
    CountTask,
    FrameChange,
    KeyTypes,
    ReachTask,
    SampleCells,
    unpack_frame,
)
from sfumato.engine.stored_rows import (
    BATCH_ROWS,
    BatchResult,
    CodeMap,
    MemoryRows,
    RowCounts,
    SizeCounts,
    StoredRows,
    TooManyRows,
    sort_counts,
)
from sfumato.errors import DataError
from sfumato.private.private_file import create_private
from sfumato.runtime.progress import report_progress

_UNITS_A_TASK = 4
_FEW = 1 << 12
"""Of a column with at most this many values, all are kept."""
_BYTES_A_VALUE = 64
_BYTES_A_CELL = 8
"""What a cell takes on its way back to the driver, packed, in all copies."""


class SparkRows(StoredRows):
    """The rows of some Parquet files of one schema."""

    def __init__(self, files: Sequence[Path], source: str, columns: Sequence[str] | None = None) -> None:
        """Check that all files have the same columns and that executors see them; no row is read.

        Of some `columns` only if they are given.
        """
        self.files, self.source = tuple(file.absolute() for file in files), source
        table = check_schemas(self.files).empty_table()
        empty = pl.from_arrow(table if columns is None else table.select(list(columns)))
        assert isinstance(empty, pl.DataFrame)
        self.schema = dict(simplify_frame(empty, source).schema)
        heights = [pq.read_metadata(file).num_rows for file in self.files]
        self.height = sum(heights)
        self.units = cut_units(self.files, heights)
        self.session = find_session()
        self._values: dict[str, int] = {}
        self._sizes: dict[frozenset[str], SizeCounts] = {}
        """The sizes of classes that were counted before."""
        self._refuse_unseen_files(self.files)

    def __reduce__(self) -> tuple[Any, ...]:
        """A plan that is sent to executors takes the columns along, and neither the rows nor the session."""
        return MemoryRows, (pl.DataFrame(schema=dict(self.schema)), self.source)

    def refuse_unseen(self, folder: Path) -> None:
        """Let executors look for a file in it, which only its owner can read."""
        probe = folder.absolute() / "seen-by-executors"
        create_private(probe, b"sfumato")
        try:
            self._refuse_unseen_files([probe] * 2 * count_cores(self.session))
        finally:
            probe.unlink()

    def open_files(self, files: Sequence[Path], scratch: Path, source: str) -> SparkRows:
        """Other files, counted by Spark too."""
        return SparkRows(files, source)

    def count_rows(self, columns: Sequence[str]) -> RowCounts:
        """Group in every task, then in Spark: a value that most rows have is one row of each task."""
        if (few := self._count_single(columns)) is not None:
            return few
        row_counts = self._fetch_counts(*self._group(columns), None)
        self._sizes[frozenset(columns)] = SizeCounts(*np.unique_counts(row_counts.counts))
        return row_counts

    def _count_single(self, columns: Sequence[str]) -> RowCounts | None:
        """The values of a column that has few, which are counted once; None for others, and for several columns."""
        values = self._columns[columns[0]].values if len(columns) == 1 else None
        return None if values is None else sort_counts(values)

    @cached_property
    def _columns(self) -> dict[str, ColumnCount]:
        """The values of all columns that have few, and the missing cells of all, counted by one job."""
        value_bytes = self._count_tasks() * max(len(self.schema), 1) * _BYTES_A_VALUE
        task = ColumnTask(self.units, dict(self.schema), max(1, min(_FEW, find_memory_budget() // 8 // value_bytes)))
        return task.merge(self.fetch(self.map_units(task, PACKED_COLUMNS)).column("rows").to_pylist())

    def count_few_rows(self, columns: Sequence[str], most: int) -> RowCounts:
        """The same; `TooManyRows` if there are more than `most` distinct rows."""
        return self._fetch_counts(*self._group(columns), most)

    def count_coded_rows(self, maps: Mapping[str, CodeMap], most: int | None = None) -> RowCounts:
        """The same; tasks join the codes."""
        return self._fetch_counts(*self._group(list(maps), maps), most)

    def _fetch_counts(self, keys: KeyTypes, grouped_rows: Any, most: int | None) -> RowCounts:
        limit = None if most is None or most >= self.height else most + 1
        table = self.fetch(grouped_rows if limit is None else grouped_rows.limit(limit))
        if most is not None and table.num_rows > most:
            raise TooManyRows
        return sort_counts(keys.decode(table))

    def count_sizes(self, columns: Sequence[str]) -> SizeCounts:
        """Group, then group the sizes of the groups."""
        return self.count_many_sizes([columns])[0]

    def count_many_sizes(self, combinations: Sequence[Sequence[str]]) -> list[SizeCounts]:
        """The same; all combinations of columns with few values by one job."""
        asked_sets = {frozenset(columns): columns for columns in combinations if frozenset(columns) not in self._sizes}
        single = {key: few for key, columns in asked_sets.items() if (few := self._count_single(columns)) is not None}
        self._sizes |= {key: SizeCounts(*np.unique_counts(few.counts)) for key, few in single.items()}
        packed_sets = {k: c for k, c in asked_sets.items() if k not in single and fits_number(c, self._value_maps)}
        if packed_sets:
            self._sizes |= dict(zip(packed_sets, self._count_places(list(packed_sets.values())), strict=True))
        for key, columns in asked_sets.items():
            if key not in self._sizes:
                table = self.fetch(self._group(columns)[1].groupBy("n").count())
                self._sizes[key] = _sort_sizes(table.column(0), table.column(1))
        return [self._sizes[frozenset(columns)] for columns in combinations]

    def _count_places(self, combinations: Sequence[Sequence[str]]) -> list[SizeCounts]:
        """The sizes of classes by combinations of columns whose values are known, in their order."""
        from pyspark.sql import functions

        maps = {name: self._value_maps[name] for name in dict.fromkeys(chain(*combinations))}
        coded_columns = [name for name in maps if name in self._repetitive]
        counts = self.map_units(CountPlacesTask(self.units, combinations, maps, coded_columns), PLACES)
        spread = counts.repartition(self._count_tasks(), "combination", "place")
        classes = spread.groupBy("combination", "place").agg(functions.sum("n").alias("n"))
        table = self.fetch(classes.groupBy("combination", "n").count())
        parts = [table.filter(pc.equal(table.column(0), number)) for number in range(len(combinations))]
        return [_sort_sizes(part.column(1), part.column(2)) for part in parts]

    @cached_property
    def _value_maps(self) -> dict[str, CodeMap]:
        """Numbers for the values of columns that have few; fractions, of which some equal none, are left out."""
        few = {name: count.values for name, count in self._columns.items() if not self.schema[name].is_float()}
        return {name: rank_values(values[name]) for name, values in few.items() if values is not None}

    def estimate_tuples(self, columns: Sequence[str]) -> int:
        """Estimate in Spark, from hashes."""
        from pyspark.sql import functions

        keys, counts = self._count(columns)
        estimate = functions.approx_count_distinct(functions.xxhash64(*keys.names))
        return int(self.fetch(counts.agg(estimate)).column(0)[0].as_py())

    def count_values(self, column: str) -> int:
        """Count distinct values that are not missing."""
        if (few := self._count_single([column])) is not None:
            return len(few.counts) - few.frame[column].null_count()
        if column not in self._values:
            keys, grouped_rows = self._group([column])
            present = grouped_rows.where(f"{keys.names[0]} IS NOT NULL").groupBy().count()
            self._values[column] = int(self.fetch(present).column(0)[0].as_py())
        return self._values[column]

    def count_missing(self) -> dict[str, int]:
        """Count nulls of all columns at once."""
        return {name: count.missing for name, count in self._columns.items()}

    def sample_values(self, columns: Sequence[str], most: int) -> dict[str, pl.Series]:
        """Sample in executors; where a batch continues the steps of those before follows from their missing cells."""
        known_counts: dict[int, dict[str, int]] = {}
        total = dict.fromkeys(columns, 0)
        for first, part in zip(self._list_begins(), self._map_plain(_count_known, columns), strict=True):
            known_counts[first] = total
            total = {name: total[name] + int(part[name][0]) for name in columns}
        sample = SampleCells({name: max(1, total[name] // most) for name in columns}, known_counts)
        parts = {name: [pl.Series(name, [], dtype=self.schema[name])] for name in columns}
        for part in self._map_plain(sample, columns) if columns else ():
            for name in columns:
                parts[name].append(part[name][0].alias(name))
        return {name: pl.concat(pieces).head(most) for name, pieces in parts.items()}

    def iterate_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Read by the driver itself: rows that nobody changes need no executor."""
        chosen_columns = list(self.schema) if columns is None else list(columns)
        for unit in self.units:
            yield from read_unit(unit, chosen_columns)

    def iterate_coded_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Read by the driver itself, too; texts that the files hold as dictionaries stay numbers."""
        chosen_columns = list(self.schema) if columns is None else list(columns)
        coded_columns = [name for name in chosen_columns if name in self._repetitive]
        return read_ahead(rows for unit in self.units for rows in read_unit(unit, chosen_columns, coded_columns))

    def map_batches(self, change: FrameChange, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """Change rows in executors, some runs at a time; while the driver takes one lot, they work at the next."""
        chosen_columns = list(self.schema) if columns is None else list(columns)
        coded_columns = [name for name in chosen_columns if name in self._repetitive]
        yield from map(unpack_frame, self._run_lots(ChangeTask(self.units, chosen_columns, change, coded_columns)))

    def _map_plain(self, change: FrameChange, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The same with all texts spelled out, in batches whose ends are those of `_list_begins`."""
        yield from map(unpack_frame, self._run_lots(ChangeTask(self.units, columns, change)))

    def examine_batches(
        self, examine: Callable[[pl.DataFrame, int], BatchResult], columns: Sequence[str] | None = None
    ) -> Iterator[BatchResult]:
        """Examine rows in executors, in the batches in which the driver would read them."""
        chosen_columns = list(self.schema) if columns is None else list(columns)
        yield from map(
            pickle.loads, self._run_lots(ChangeTask(self.units, chosen_columns, examine, None, pickle.dumps))
        )

    def compare_batches(
        self,
        published_store: StoredRows,
        taken_rows: StoredRows | None,
        compare: Callable[[AlignedBatch], BatchResult],
        step: str,
        columns: Sequence[str] | None = None,
    ) -> Iterator[BatchResult]:
        """Compare in executors, which find what was published of a run by the numbers of its rows."""
        assert isinstance(published_store, SparkRows) and (taken_rows is None or isinstance(taken_rows, SparkRows))
        if published_store.height != (self if taken_rows is None else taken_rows).height:
            raise explain_unaligned(published_store)
        places = {} if taken_rows is None else self._count_published(taken_rows)
        chosen_columns = [
            name for name in self.schema if name in (published_store.schema if columns is None else columns)
        ]
        numbers = None if taken_rows is None else taken_rows.files[0]
        task = CompareTask(self.units, chosen_columns, published_store.files[0], numbers, places, compare)
        for batch_index, packed_finding in enumerate(self._run_lots(task)):
            report_progress(step, min(batch_index * BATCH_ROWS, self.height), self.height)
            yield pickle.loads(packed_finding)

    def _count_published(self, taken_rows: StoredRows) -> dict[int, int]:
        """For each row that begins a batch, and the one after the last: how many rows before it were published."""
        bounds = np.array([*self._list_begins(), self.height])
        counts = np.zeros(len(bounds), dtype=np.int64)
        for batch in taken_rows.iterate_batches([ROW]):
            counts += np.searchsorted(batch[ROW].to_numpy(), bounds)
        return dict(zip(bounds.tolist(), counts.tolist(), strict=True))

    @cached_property
    def _repetitive(self) -> frozenset[str]:
        """The columns whose texts are numbers on their way, as by duckdb."""
        return find_repetitive_columns(self.files, self.schema)

    def _list_begins(self) -> list[int]:
        """The number of the first row of each batch."""
        lengths = [(unit.offset, unit.end - unit.begin) for unit in self.units]
        return [row for offset, length in lengths for row in range(offset, offset + length, BATCH_ROWS)]

    def _run_lots(self, task: ChangeTask | CompareTask) -> Iterator[bytes]:
        """What tasks packed, in the order of rows."""
        with send_task(self.session, task) as sent_task, ThreadPoolExecutor(1) as executor:
            lots: deque[Future[list[bytes]]] = deque()
            for begin, end in self._cut_lots(len(task.columns)):
                lots.append(executor.submit(self._run_lot, sent_task, begin, end))
                if len(lots) > 1:
                    yield from lots.popleft().result()
            for lot in lots:
                yield from lot.result()

    def _run_lot(self, task: Task, begin: int, end: int) -> list[bytes]:
        """What is made of some runs."""
        numbers = self.session.range(begin, end, 1, min(end - begin, 2 * count_cores(self.session)))
        lot_table = self.fetch(numbers.mapInArrow(task, PACKED_COLUMNS)).sort_by(
            [("unit", "ascending"), ("part", "ascending")]
        )
        packed_parts: list[bytes] = lot_table.column("rows").to_pylist()
        return packed_parts

    def _cut_lots(self, columns: int) -> Iterator[tuple[int, int]]:
        """As many rows at once as keep all cores busy, if the driver can hold what comes back; small files together."""
        room = find_memory_budget() // 4 // (UNIT_ROWS * _BYTES_A_CELL * max(columns, 1))
        begin = 0
        while begin < len(self.units):  # executors may come and go
            most = self.units[begin].offset + max(1, min(room, 2 * count_cores(self.session))) * UNIT_ROWS
            end = begin + 1
            while end < len(self.units) and self.units[end].offset + UNIT_ROWS <= most:
                end += 1
            yield begin, end
            begin = end

    def _group(self, columns: Sequence[str], maps: Mapping[str, CodeMap] | None = None) -> tuple[KeyTypes, Any]:
        """The distinct rows with their counts, in Spark."""
        from pyspark.sql import functions

        keys, counts = self._count(columns, maps)
        # As many parts as there are tasks: Spark's 200 would be 200 files of each task, most of them empty.
        spread = counts.repartition(self._count_tasks(), *keys.names)
        return keys, spread.groupBy(*keys.names).agg(functions.sum("n").alias("n"))

    def _count(self, columns: Sequence[str], maps: Mapping[str, CodeMap] | None = None) -> tuple[KeyTypes, Any]:
        """The distinct rows of each task with their counts, in Spark."""
        kinds = {name: self.schema[name] if maps is None else pl.Int32() for name in columns}
        keys = KeyTypes(kinds)
        return keys, self.map_units(CountTask(self.units, list(columns), keys, maps), keys.declaration)

    def map_units(self, task: Task, declaration: str) -> Any:
        """What a task makes of all runs, in Spark."""
        numbers = self.session.range(0, len(self.units), 1, self._count_tasks())
        return numbers.mapInArrow(task, declaration)

    def _count_tasks(self) -> int:
        """Tasks that keep all cores busy and have few enough rows each."""
        tasks = max(2 * count_cores(self.session), ceil(self.height / (_UNITS_A_TASK * UNIT_ROWS)))
        return max(1, min(len(self.units), tasks))

    def fetch(self, frame: Any) -> pa.Table:
        """The rows of a frame of Spark; errors repeat our own message and never a cell value."""
        try:
            return frame.toArrow()
        except Exception as error:  # pyspark's and py4j's own, of many kinds
            raise explain_failure(error, self.source) from None

    def _refuse_unseen_files(self, files: Sequence[Path]) -> None:
        """Stop if executors see other files than the driver, or run another program."""
        task = ReachTask([(file, file.stat().st_size) for file in files], sfumato.__version__)
        tasks = min(len(files), 2 * count_cores(self.session))
        numbers = self.session.range(0, len(files), 1, tasks)
        try:
            problems = numbers.mapInArrow(task, "problem string").toArrow().column(0).to_pylist()
        except Exception as error:
            raise DataError(
                f"Spark's executors cannot run sfumato ({type(error).__name__}): they need Python with sfumato and its "
                "libraries. Package the environment, and set PYSPARK_PYTHON to the Python in it"
            ) from None
        kind, _, detail = next((text for text in sorted(problems, reverse=True) if text), "").partition(" ")
        if kind == "version":
            own_version = sfumato.__version__
            raise DataError(f"Spark's executors run sfumato {detail} and the driver {own_version}; package them alike")
        if kind == "file":
            raise DataError(
                f"{detail}: Spark's executors do not see this file; the data, the release folder and SFUMATO_SCRATCH "
                "must lie on storage that all machines see under one path, and executors must run as the same user"
            )


def _sort_sizes(sizes: pa.ChunkedArray, classes: pa.ChunkedArray) -> SizeCounts:
    numbers = sizes.to_numpy().astype(np.int64)
    order = np.argsort(numbers)
    return SizeCounts(numbers[order], classes.to_numpy().astype(np.int64)[order])


def _count_known(rows: pl.DataFrame, _: int) -> pl.DataFrame:
    return rows.count()
