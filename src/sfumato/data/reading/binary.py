# SPDX-License-Identifier: MIT
"""Read a binary file that may be damaged or hostile: another process unpacks it, see `arrow_worker`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from sfumato.data.reading import arrow_worker, foreign_worker
from sfumato.data.reading.compression import detect_packing
from sfumato.data.reading.file_kinds import ARROW_KINDS, name_kind, require_library
from sfumato.data.reading.file_limits import MOST_COLUMNS, compute_unpack_limit, explain_unpacked_size, open_whole
from sfumato.errors import DataError, quote_names

_MOST_NAMES = 12
_REASONS = {
    arrow_worker.NO_COLUMNS: "the file has no columns",
    arrow_worker.TOO_WIDE: f"the file has more than {MOST_COLUMNS:,} columns, the most that can be read",
    foreign_worker.LOCKED_FILE: "the workbook is protected by a password; save it without one",
    foreign_worker.NO_WORKBOOK: "this is an archive or an Office document, and no workbook that can be read; unpack "
    "it, or save the table as .xlsx or .csv",
}


@dataclass(frozen=True)
class BinaryPart:
    """What to read of a file that holds more than one table."""

    table: str | None = None
    """The sheet or the table."""
    header: bool = True
    """Whether the first row of a sheet names the columns."""


def check_binary(path: Path, kind: str) -> None:
    """Refuse a damaged or hostile file without holding it: another process reads every cell, and nothing is kept."""
    read_binary(path, kind, lambda names: None, keep=False)


def read_binary(
    path: Path,
    kind: str,
    check_names: Callable[[Sequence[str]], None],
    part: BinaryPart | None = None,
    *,
    keep: bool = True,
) -> pa.Table:
    """Read a whole file; `check_names` may refuse its columns before any cell is read."""
    part = part or BinaryPart()
    require_library(kind, path)
    _refuse_packed_database(path, kind)
    with open_whole(path) as file:
        limit = compute_unpack_limit(os.fstat(file.fileno()).st_size, is_held=keep)
        command = [sys.executable, "-P", arrow_worker.__file__, kind, str(limit), str(MOST_COLUMNS)]
        if kind not in ARROW_KINDS:
            options = {"path": os.fspath(path), "table": part.table, "header": part.header}
            command.append(json.dumps(options))
        # One memory pool that releases memory, and no threads with their own stacks: the limit is on addresses.
        environment = {
            **os.environ,
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
        }
        worker = subprocess.Popen(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
    table: pa.Table | None = None
    try:
        assert worker.stdout is not None
        with pa.ipc.open_stream(pa.PythonFile(worker.stdout, mode="r")) as stream:
            check_names(stream.schema.names)
            if not keep:
                for _ in stream:
                    pass
            table = stream.read_all()  # of what is left
    except (pa.ArrowException, OSError):
        table = None  # the worker ended early; its exit code says why
    except BaseException:
        worker.kill()
        raise
    finally:
        if worker.stdout is not None:
            worker.stdout.close()
        code = worker.wait()
    if table is None or code:
        raise _explain_worker_exit(path, kind, code, limit, table)
    return table.unify_dictionaries()


def _refuse_packed_database(path: Path, kind: str) -> None:
    if kind in ("sqlite", "duckdb") and detect_packing(path):
        raise DataError(f"{path}: this is {name_kind(kind)} in a compressed file; unpack it first")


def _explain_worker_exit(path: Path, kind: str, code: int, limit: int, names: pa.Table | None) -> DataError:
    if code in (arrow_worker.TOO_LARGE, -signal.SIGXCPU, -signal.SIGKILL):
        return explain_unpacked_size(path, limit)
    if code in (foreign_worker.SEVERAL, foreign_worker.NOT_THERE):
        return _explain_choice(path, kind, code, [] if names is None else names.column(0).to_pylist())
    if code in _REASONS:
        return DataError(f"{path}: {_REASONS[code]}")
    if kind in ARROW_KINDS:
        return DataError(
            f"{path}: the file is damaged or truncated, or holds a type that cannot be read; write it again"
        )
    if kind == "excel" and not path.suffix.lower().startswith((".xl", ".od")):
        return DataError(f"{path}: an archive, or a damaged workbook; unpack an archive first and name a file in it")
    return DataError(f"{path}: {name_kind(kind)} that is damaged, truncated or of a version that cannot be read")


def _explain_choice(path: Path, kind: str, code: int, names: list[str]) -> DataError:
    """Which sheets or tables there are: their names are the custodian's own words."""
    noun = "sheet" if kind == "excel" else "table"
    if not names:
        return DataError(f"{path}: {name_kind(kind)} without a {noun}")
    name_list = quote_names(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    example = f"{path}?sheet={names[0]}" if kind == "excel" else f"{kind}:///{path}?table={names[0]}"
    if code == foreign_worker.NOT_THERE:
        return DataError(f"{path}: there is no such {noun}; it has {name_list}")
    return DataError(f"{path}: {name_kind(kind)} with {len(names)} {noun}s: {name_list}; name one, such as {example}")
