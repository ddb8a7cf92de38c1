# SPDX-License-Identifier: MIT
"""Compile every kernel now, for example when an image is built: `python -m sfumato.kernels`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from sfumato import kernels


def compile_kernels() -> int:
    """Import every module of kernels, which compiles what is not kept on disk yet; how many there are."""
    names = [found.name for found in walk_packages(kernels.__path__, f"{kernels.__name__}.")]
    modules = [import_module(name) for name in names if not name.endswith("__main__")]
    return len(modules)


if __name__ == "__main__":
    print(f"{compile_kernels()} modules of kernels are compiled")
