# SPDX-License-Identifier: MIT
"""The types of arrays, one name for each kind of number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
"""Numbers of items, values or columns: half as wide, so that twice as many fit a cache."""
Shorts = NDArray[np.int16]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
"""Sets as bitmaps, 64 members a word."""
Numbers = NDArray[np.uint32]
"""Positions and counts that fit 32 bits, unsigned."""

__all__ = ["Bytes", "Codes", "Flags", "Floats", "Ints", "Numbers", "Shorts", "Singles", "Words"]
