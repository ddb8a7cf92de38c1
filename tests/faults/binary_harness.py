# SPDX-License-Identifier: MIT
"""Read many damaged Parquet and Arrow files in one process; whoever started it sees a crash as an exit code.

Starting the worker takes a third of a second, so here it is forked instead: the same code under the same limits. The
process that converts and looks at the data is this one, and it must survive everything. Prints how many files were read
and how many were refused.
"""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from sfumato.data.reading import arrow_worker, binary
from sfumato.data.reading.table_reader import read_frame
from sfumato.errors import SfumatoError

CANARY = "ZZSECRETZZ"


class ForkedWorker:
    """Stands in for `subprocess.Popen`: the worker's own code, in a fork of this process."""

    def __init__(self, command: list[str], stdin: Any, **_: Any) -> None:
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(stdin.fileno(), 0)
            os.dup2(write, 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
            sys.argv = command[2:]
            os._exit(arrow_worker._run_worker())
        os.close(write)
        self.stdout = os.fdopen(read, "rb")

    def kill(self) -> None:
        os.kill(self.pid, 9)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def make_seeds() -> list[bytes]:
    """Whole files of many layouts."""
    words = [f"{CANARY}{i % 7}" if i % 5 else None for i in range(60)]
    table = pa.table(
        {
            "text": pa.array(words),
            "large": pa.array(words, pa.large_string()),
            "coded": pa.array(words).dictionary_encode(),
            "whole": pa.array(range(60), pa.int64()),
            "small": pa.array([i % 3 for i in range(60)], pa.int8()),
            "real": pa.array(np.linspace(0, 1, 60)),
            "truth": pa.array([i % 2 == 0 for i in range(60)]),
            "day": pa.array(range(60), pa.date32()),
            "lists": pa.array([[i, i + 1] for i in range(60)]),
        }
    )
    seeds = []
    for compression in (None, "lz4", "zstd"):
        sink = io.BytesIO()
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(table, max_chunksize=25)
        seeds.append(sink.getvalue())
    for options in (
        {},
        {"compression": "zstd", "use_dictionary": False},
        {"data_page_version": "2.0", "row_group_size": 20},
    ):
        sink = io.BytesIO()
        pyarrow.parquet.write_table(table, sink, **options)
        seeds.append(sink.getvalue())
    views = io.BytesIO()
    pl.DataFrame({"text": [*words, "a longer text than twelve bytes"], "n": range(61)}).write_ipc(views)
    seeds.append(views.getvalue())
    return seeds


def damage(chance: random.Random, seed: bytes) -> bytes:
    content = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        index = chance.randrange(4, len(content))
        kind = chance.randrange(5)
        if kind == 0:
            content[index] ^= 1 << chance.randrange(8)
        elif kind == 1:
            content[index] = chance.choice((0, 1, 127, 128, 255))
        elif kind == 2:
            value = chance.choice((0, 1, -1, 2**31 - 1, -(2**31), 2**16)).to_bytes(4, "little", signed=True)
            content[index : index + 4] = value
        elif kind == 3:
            other = chance.randrange(4, len(content))
            content[index : index + 8] = content[other : other + 8]
        elif chance.random() < 0.2:
            del content[index:]
            if len(content) < 16:
                break
    return bytes(content)


def main(count: int, seed: int) -> None:
    binary.subprocess.Popen = ForkedWorker  # type: ignore[attr-defined]
    chance = random.Random(seed)
    seeds = make_seeds()
    outcomes = {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged"
        for content in seeds:
            path.write_bytes(content)
            assert read_frame(path).height in (60, 61), "whole files are read"
        for number in range(count):
            path.write_bytes(damage(chance, seeds[number % len(seeds)]))
            try:
                frame = read_frame(path)
                frame.null_count()
                frame.unique(maintain_order=False)
                [
                    column.cast(pl.String, strict=False).str.len_bytes().sum()
                    for column in frame
                    if not column.dtype.is_nested()
                ]
                outcomes["read"] += 1
            except SfumatoError as error:
                assert CANARY not in str(error)
                outcomes["refused"] += 1
            except pl.exceptions.PolarsError:
                outcomes["read"] += 1  # a list has no order, and is no matter of reading
    print(outcomes["read"], outcomes["refused"])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
