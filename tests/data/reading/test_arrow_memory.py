# SPDX-License-Identifier: MIT
"""Memory that arrow owns: the same numbers, and nothing of Python's behind them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from sfumato.data.reading import arrow_memory
from sfumato.data.reading.arrow_memory import allocate_numbers, borrow_numbers, copy_buffer, copy_numbers
from sfumato.data.writing.rebuild import rebuild_column


class Watched(np.ndarray):
    """An array that can be watched."""


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64, np.uint8])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_numbers_are_copied_as_they_are(kind: Any, size: int) -> None:
    numbers = np.arange(2 * size, dtype=kind)[::2]
    assert copy_numbers(numbers).to_pylist() == numbers.tolist()
    assert copy_buffer(numbers).size == numbers.nbytes


def test_nothing_of_python_outlives_the_copy() -> None:
    """Freeing a column over an array of numpy takes Python's lock, for which a thread of polars may wait for ever."""
    numbers = np.arange(1000).view(Watched)
    watch = weakref.ref(numbers)
    column = pl.Series(copy_numbers(numbers))
    del numbers
    gc.collect()
    assert watch() is None and column.len() == 1000
    array = np.arange(1000).view(Watched)
    control = weakref.ref(array)
    wrapped = pa.Array.from_buffers(pa.int64(), 1000, [None, pa.py_buffer(array)])
    del array
    gc.collect()
    assert control() is not None and len(wrapped) == 1000, "the test would notice"


def test_only_numbers_of_python_are_copied() -> None:
    ours = allocate_numbers(1000, np.int64)
    ours[:] = np.arange(1000)
    shared = borrow_numbers(ours)
    ours[3] = 7
    assert shared[3].as_py() == 7, "the same memory"
    part, plain = borrow_numbers(ours[:10]), np.arange(10)
    copied = borrow_numbers(plain)
    ours[3] = plain[3] = 8
    assert part.to_pylist() == [0, 1, 2, 7, 4, 5, 6, 7, 8, 9] and copied.to_pylist() == list(range(10))
    assert borrow_numbers(allocate_numbers(0, np.int32)).to_pylist() == []


def test_a_rebuilt_column_is_the_same() -> None:
    for column in (
        pl.Series("a", [1, None, 3]), pl.Series("b", [True, None, False]), pl.Series("c", [0.5, -0.0, None]),
        pl.Series("d", ["x", None, "yz"]), pl.Series("e", [], dtype=pl.Int8),
    ):  # fmt: skip
        assert rebuild_column(column).equals(column, check_dtypes=True)


def test_only_a_large_process_returns_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    trims: list[int] = []
    monkeypatch.setattr(arrow_memory, "_find_trim", lambda: trims.append)
    for size, expected in ((arrow_memory.LITTLE - 1, []), (arrow_memory.LITTLE, [0]), (float("inf"), [0, 0])):
        monkeypatch.setattr(arrow_memory, "_measure_memory", lambda size=size: size)
        arrow_memory.return_free_memory()
        assert trims == expected


def test_the_memory_of_a_process_is_measured() -> None:
    assert arrow_memory._measure_memory() > 1 << 20
