# SPDX-License-Identifier: MIT
"""Read a Parquet or Arrow file that may be damaged or hostile: another process unpacks it, see `arrow_worker`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from sfumato.data import arrow_worker
from sfumato.data.file_limits import MOST_COLUMNS, compute_unpack_limit, explain_unpacked_size
from sfumato.errors import DataError

_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"FEA1": "feather"}


def find_kind(head: bytes) -> str | None:
    """The kind of a binary file, by its first bytes; None for text."""
    kind = _MAGIC.get(head[:4])
    return None if kind == "arrow" and head[:6] != b"ARROW1" else kind


def read_binary(path: Path, kind: str, check_names: Callable[[Sequence[str]], None]) -> pa.Table:
    """Read a whole file; `check_names` may refuse its columns before any cell is read."""
    with path.open("rb") as file:
        limit = compute_unpack_limit(os.fstat(file.fileno()).st_size)
        command = [sys.executable, "-P", arrow_worker.__file__, kind, str(limit), str(MOST_COLUMNS)]
        # One memory pool that releases memory, and no threads with their own stacks: the limit is on addresses.
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
        worker = subprocess.Popen(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
    table: pa.Table | None = None
    try:
        assert worker.stdout is not None
        with pa.ipc.open_stream(pa.PythonFile(worker.stdout, mode="r")) as stream:
            check_names(stream.schema.names)
            table = stream.read_all()
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
        raise _explain_worker_exit(path, code, limit)
    return table.unify_dictionaries()


def _explain_worker_exit(path: Path, code: int, limit: int) -> DataError:
    if code == arrow_worker.NO_COLUMNS:
        return DataError(f"{path}: the file has no columns")
    if code == arrow_worker.TOO_WIDE:
        return DataError(f"{path}: the file has more than {MOST_COLUMNS:,} columns, the most that can be read")
    if code in (arrow_worker.TOO_LARGE, -signal.SIGXCPU, -signal.SIGKILL):
        return explain_unpacked_size(path, limit)
    return DataError(f"{path}: the file is damaged or truncated, or holds a type that cannot be read; write it again")
