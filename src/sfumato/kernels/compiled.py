# SPDX-License-Identifier: MIT
"""How kernels are compiled: once, kept on disk, without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(signature: str | list[str]) -> Callable[[Any], Any]:
    """Compile for fixed types and keep the result on disk, so that only the first run on a machine pays."""
    made: Callable[[Any], Any] = numba.njit(signature, cache=True, nogil=True, boundscheck=False)
    return made
