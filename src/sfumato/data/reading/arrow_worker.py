# SPDX-License-Identifier: MIT
"""Unpack a Parquet, Arrow or other binary file in a separate process, and stream it batch by batch in Arrow format.

A damaged file can crash the library that reads it, and a hostile one can unpack to more than any memory holds. Here
neither does harm: the process has limits of memory and time, every batch is fully validated before it is passed on, and
any failure becomes an error message in the other process. It is started as a script by `binary`, imports
nothing of sfumato, and reports its outcome by its exit code. Formats other than Arrow's own are read by
`foreign_worker`, the file next to this one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

DAMAGED_FILE, TOO_LARGE, TOO_WIDE, NO_COLUMNS = 10, 11, 12, 13
_SLACK = 256 << 20
"""Bytes that a process may use beyond what it unpacks, for pages in transit."""
_ROWS = 1 << 16


def _limit_process(limit: int) -> None:
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  (imports are kept to a minimum)
        taken_bytes = int(file.read().split()[0]) * resource.getpagesize()
    memory, seconds = taken_bytes + limit + _SLACK, 20 + (limit >> 26)
    for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        hard_limit = resource.getrlimit(kind)[1]
        least = most if hard_limit == resource.RLIM_INFINITY else min(most, hard_limit)
        resource.setrlimit(kind, (least, hard_limit))


def _load_foreign_worker() -> Any:
    """The module next to this file, by its path: the folder is not searched for modules."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign_worker.py")  # noqa: PTH118, PTH120, PTH100  # no pathlib here
    spec = importlib.util.spec_from_file_location("foreign_worker", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["foreign_worker"] = module
    spec.loader.exec_module(module)
    return module


class _OpenBatches(NamedTuple):
    """A file that is being read."""

    schema: Any
    batches: Iterator[Any]
    cells: int
    """How many the file declares."""


def _open_batches(source: Any, kind: str) -> _OpenBatches:
    """The schema, the batches, and the number of cells that the file declares."""
    import pyarrow as pa

    if kind == "parquet":
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(source, pre_buffer=False)
        schema = file.schema_arrow
        batches = file.iter_batches(_ROWS, use_threads=False)
        return _OpenBatches(schema, batches, file.metadata.num_rows * len(schema))
    if kind == "feather":
        import pyarrow.feather

        table = pyarrow.feather.read_table(source, use_threads=False, memory_map=False)
        return _OpenBatches(table.schema, iter(table.to_batches()), 0)
    import pyarrow.ipc

    reader = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(use_threads=False))
    return _OpenBatches(reader.schema, (reader.get_batch(i) for i in range(reader.num_record_batches)), 0)


def _choose_plain_type(kind: Any) -> Any:
    """The type in which a column is passed on: views and runs, where few bytes represent many, are expanded."""
    import pyarrow as pa

    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    if pa.types.is_run_end_encoded(kind):
        return _choose_plain_type(kind.value_type)
    return views.get(kind, kind)


def _convert_to_plain(column: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute

    if pa.types.is_run_end_encoded(column.type):
        column = pyarrow.compute.run_end_decode(column)
    return column if column.type == kind else column.cast(kind)


def _measure_unpacked_size(column: Any) -> int:
    """The bytes of a column if every cell were expanded; a cell takes at least one, even of the type null."""
    import pyarrow as pa
    import pyarrow.compute

    kind = column.type
    size = max(int(column.nbytes), len(column))
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        size += _sum_view_lengths(column)
    elif pa.types.is_dictionary(kind):
        words = column.dictionary
        if pa.types.is_nested(words.type) or pa.types.is_dictionary(words.type):
            size += int(words.nbytes) * len(column)
        elif pa.types.is_string_view(words.type) or pa.types.is_binary_view(words.type):
            size += _sum_view_lengths(words) * len(column)
        elif not pa.types.is_primitive(words.type) and not pa.types.is_null(words.type):
            lengths = pyarrow.compute.binary_length(words).cast(pa.int64())
            size += pyarrow.compute.sum(lengths.take(column.indices)).as_py() or 0
    return size


def _sum_view_lengths(column: Any) -> int:
    """The characters of all cells: many views may share the same ones, and validating them would take forever."""
    import numpy as np

    views = np.frombuffer(column.buffers()[1], dtype=np.int32).reshape(-1, 4)
    return int(views[column.offset : column.offset + len(column), 0].clip(0).astype(np.int64).sum())


def _send_batches(kind: str, limit: int, most_columns: int) -> int:
    import pyarrow as pa
    import pyarrow.ipc

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    _limit_process(limit)
    schema, batches, cells = _open_batches(pa.PythonFile(sys.stdin.buffer, mode="r"), kind)
    bare = pa.schema([pa.field(field.name, field.type) for field in schema])  # what a file says about itself stays here
    return _stream(bare, batches, cells, limit, most_columns)


def _hand_over_foreign(kind: str, limit: int, most_columns: int, options: dict[str, Any]) -> int:
    worker = _load_foreign_worker()
    worker.import_library(kind)  # before the limit, which counts addresses
    _limit_process(limit)
    try:
        foreign_table = worker.open_foreign(sys.stdin.buffer, worker.Request(kind, limit=limit, **options))
    except worker.RefusedFile as refusal:
        _write_names(refusal.names)
        return int(refusal.code)
    return _stream(foreign_table.schema, foreign_table.batches, foreign_table.cells, limit, most_columns)


def _write_names(names: list[str]) -> None:
    """In place of a table, the names of those that there are."""
    import pyarrow as pa
    import pyarrow.ipc

    table = pa.table({"name": pa.array(names, pa.large_string())})
    with pa.ipc.new_stream(pa.PythonFile(sys.stdout.buffer, mode="w"), table.schema) as stream:
        stream.write_table(table)
    sys.stdout.buffer.flush()


def _stream(schema: Any, batches: Iterator[Any], cells: int, limit: int, most_columns: int) -> int:
    import pyarrow as pa
    import pyarrow.ipc

    if not len(schema):
        return NO_COLUMNS
    if len(schema) > most_columns:
        return TOO_WIDE
    if cells > limit:
        return TOO_LARGE
    kinds = [_choose_plain_type(field.type) for field in schema]
    plain = pa.schema([field.with_type(kind).with_nullable(True) for field, kind in zip(schema, kinds, strict=True)])
    size = 0
    with pa.ipc.new_stream(pa.PythonFile(sys.stdout.buffer, mode="w"), plain) as stream:
        for batch in batches:
            batch.validate()  # cheap checks come before those that a hostile file can make expensive
            if size + sum(map(_measure_unpacked_size, batch.columns)) > limit:
                return TOO_LARGE
            batch.validate(full=True)
            columns = [_convert_to_plain(column, kind) for column, kind in zip(batch.columns, kinds, strict=True)]
            size += sum(map(_measure_unpacked_size, columns))
            if size > limit:
                return TOO_LARGE
            whole = pa.record_batch(columns, schema=plain)
            whole.validate(full=True)
            stream.write_batch(whole)
    sys.stdout.buffer.flush()
    return 0


def _run_worker() -> int:
    kind, limit, most_columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    try:
        if len(sys.argv) > 4:
            return _hand_over_foreign(kind, limit, most_columns, json.loads(sys.argv[4]))
        return _send_batches(kind, limit, most_columns)
    except MemoryError:  # includes Arrow's own
        return TOO_LARGE
    except Exception:
        return DAMAGED_FILE


if __name__ == "__main__":
    os._exit(_run_worker())  # at once: what a hostile file left behind needs no cleanup
