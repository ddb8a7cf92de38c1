# SPDX-License-Identifier: MIT
"""Compile every kernel now, for example when an image is built: `python -m sfumato.kernels`."""

from __future__ import annotations

from sfumato.kernels.precompilation import compile_kernels

if __name__ == "__main__":
    print(f"{compile_kernels()} modules of kernels are compiled")
