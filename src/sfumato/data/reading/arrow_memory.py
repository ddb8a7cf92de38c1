# SPDX-License-Identifier: MIT
"""Numbers in memory that arrow frees by itself.

A column of polars over memory of Python (numpy arrays, bytes) is freed under Python's lock, by whichever thread of
polars is the last to use it. If Python waits for polars meanwhile and holds the lock, both wait for ever. Memory that
arrow allocated needs no lock. `pyarrow.array` cannot be used: it keeps numpy's memory, and loads pandas first.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

LITTLE = 1 << 29
"""Bytes of a process from which on it returns memory."""


class ArrowExport:
    """An array of arrow that shows only its C interface: polars loads nothing more of pyarrow to read it."""

    def __init__(self, array: pa.Array | pa.ChunkedArray) -> None:
        """Keep an array, which may be in several pieces."""
        import pyarrow as pa

        self._pieces = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The pieces, as arrow's C interface has them."""
        return self._pieces.__arrow_c_stream__(requested_schema)


def copy_buffer(values: npt.NDArray[Any]) -> pa.Buffer:
    """The bytes of an array."""
    import pyarrow as pa

    buffer = pa.allocate_buffer(values.nbytes)
    if values.nbytes:
        np.frombuffer(buffer, dtype=np.uint8)[:] = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    return buffer


def allocate_numbers(size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array to be filled, over memory that `borrow_numbers` need not copy."""
    import pyarrow as pa

    return np.frombuffer(pa.allocate_buffer(size * np.dtype(kind).itemsize), dtype=kind)


def borrow_numbers(values: npt.NDArray[Any]) -> pa.Array:
    """Numbers as an array of arrow, none of them missing; copied only if their memory is Python's."""
    import pyarrow as pa

    memory = values.base
    if not isinstance(memory, pa.Buffer) or memory.size != values.nbytes:
        return copy_numbers(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, memory])


def copy_numbers(values: npt.NDArray[Any]) -> pa.Array:
    """Numbers as an array of arrow, none of them missing."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, copy_buffer(values)])


def release_arrow_memory() -> None:
    """Give the system back what arrow keeps for later."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def return_free_memory() -> None:
    """Give the system back what nobody uses: a C library keeps freed arrays of up to 32 MB for later, in pieces.

    A small process keeps it: the next step would only ask for it again, page by page.
    """
    if _measure_memory() < LITTLE:
        return
    release_arrow_memory()
    trim = _find_trim()
    if trim is not None:
        trim(0)


@cache
def keep_free_memory() -> None:
    """Let the C library keep freed arrays of up to 32 MB for the next search.

    At first it keeps very little and fetches the arrays of each search anew, page by page, which took a third of the
    time of some. Once a large array was freed, it keeps twice as much as that. This one takes no memory, since nothing
    is written to it.
    """
    np.empty(16 << 20, dtype=np.uint8)


def _measure_memory() -> float:
    """The bytes that this process has now; infinitely many where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return inf


@cache
def _find_trim() -> Any:
    """What returns memory to the system; None where the C library has no such function."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
