# SPDX-License-Identifier: MIT
"""A task on its way to executors: its content in one broadcast for all of its runs, the secret of the run apart.

Spark keeps broadcasts, and functions of more than a megabyte, in files (`spark.local.dir`). The secret with which noise
and answers are drawn must not get there. So it is taken out of the content, and goes along with each job as part of the
function, which is then so short that it stays in memory. It is no part of the plan that event logs describe.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from sfumato.private.run_secret import RunSecret

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class PackedTask(NamedTuple):
    """A task, or what is part of one, as bytes, and the secrets that were left out of them."""

    content: bytes
    secrets: tuple[bytes, ...]


@dataclass(frozen=True, repr=False)
class SentTask:
    """A task whose content executors fetch once."""

    content: Any
    """The broadcast of the content: it has a `value`."""
    secrets: tuple[bytes, ...]

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do what the task does."""
        yield from unpack_task(PackedTask(self.content.value, self.secrets))(numbers)


@contextmanager
def send_task(session: Any, task: Task) -> Iterator[SentTask]:
    """Broadcast a task for as long as it is used."""
    from pyspark.cloudpickle import CloudPickler

    packed_task = pack_task(task, CloudPickler)  # functions that are in no module are packed whole
    content = session.sparkContext.broadcast(packed_task.content)
    try:
        yield SentTask(content, packed_task.secrets)
    finally:
        content.destroy()


def pack_task(task: object, pickler: type[pickle.Pickler] = pickle.Pickler) -> PackedTask:
    """A task as bytes without its secrets."""
    secrets: list[bytes] = []

    class Packer(pickler):  # type: ignore[misc, valid-type]  # cloudpickle has no types
        def persistent_id(self, obj: object) -> int | None:
            if not isinstance(obj, RunSecret):
                return None
            secrets.append(bytes(obj))
            return len(secrets) - 1

    content = io.BytesIO()
    Packer(content).dump(task)
    return PackedTask(content.getvalue(), tuple(secrets))


def unpack_task(packed_task: PackedTask) -> Any:
    """The task with its secrets."""
    return _Unpacker(io.BytesIO(packed_task.content), packed_task.secrets).load()


class _Unpacker(pickle.Unpickler):
    def __init__(self, content: io.BytesIO, secrets: tuple[bytes, ...]) -> None:
        super().__init__(content)
        self._secrets = secrets

    def persistent_load(self, pid: Any) -> RunSecret:
        return RunSecret(self._secrets[pid])
