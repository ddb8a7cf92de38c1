# SPDX-License-Identifier: MIT
"""A table of several files is sent to another process, and the program does not wait for itself."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import faulthandler, pickle
import polars as pl
import pyarrow as pa
import sfumato as sf

faulthandler.dump_traceback_later(60, exit=True)

def read_part():
    cells = pa.table({"a": pa.array(["some words"] * 300, pa.large_string()), "n": pa.array([1] * 300)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, cells.schema) as writer:
        writer.write_table(cells)
    return pl.from_arrow(pa.ipc.open_stream(sink.getvalue().to_pybytes()).read_all())

parts = [read_part(), read_part()]
table = sf.Table.of(pl.concat(parts, rechunk=False).with_columns(b=pl.Series(["x"] * 600)))
del parts
assert table.frame.n_chunks("all") == [2, 2, 1]
assert pickle.loads(pickle.dumps(table)).frame.equals(table.frame)
print("pickled")
"""


def test_uneven_chunks_are_pickled() -> None:
    """Two files, and a column that polars made by itself: pickled as they were, polars waited for Python for ever."""
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert result.stdout == "pickled\n", result.stderr
