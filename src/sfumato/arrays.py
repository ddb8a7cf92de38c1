# SPDX-License-Identifier: MIT
"""The types of arrays, one name for each kind of number. Grids are two-dimensional arrays in named tuples of kernels;
the other names mean any shape."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
"""Codes of items, values or columns: half as wide, so that twice as many fit a cache."""
Places = NDArray[np.integer[Any]]
"""Places in a list, in as few bytes as hold them: to look something up, not for arithmetic that could overflow."""
UnsignedInts = NDArray[np.uint32]
Shorts = NDArray[np.int16]
ShortCodes = NDArray[np.uint16]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
"""Sets as bitmaps, 64 members a word."""

IntGrid = Annotated[Ints, 2]
CodeGrid = Annotated[Codes, 2]
FloatGrid = Annotated[Floats, 2]
SingleGrid = Annotated[Singles, 2]
ByteGrid = Annotated[Bytes, 2]
WordGrid = Annotated[Words, 2]

__all__ = [
    "AnyArray", "ByteGrid", "Bytes", "CodeGrid", "Codes", "Flags", "FloatGrid", "Floats", "IntGrid", "Ints",
    "Places", "ShortCodes", "Shorts", "SingleGrid", "Singles", "UnsignedInts", "WordGrid", "Words",
]  # fmt: skip
