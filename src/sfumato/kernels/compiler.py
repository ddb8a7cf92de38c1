# SPDX-License-Identifier: MIT
"""The compiler, for all kernels: importing numba elsewhere may load more than the kernels need."""

from __future__ import annotations

from sfumato.kernels.compiler_start import load_compiler

load_compiler()  # before the first import of numba

# ruff: noqa: E402
from llvmlite import ir
from numba import from_dtype, njit, types
from numba.core import cgutils
from numba.core.options import DefaultOptions
from numba.extending import intrinsic, register_jitable

__all__ = ["DefaultOptions", "cgutils", "from_dtype", "intrinsic", "ir", "njit", "register_jitable", "types"]
