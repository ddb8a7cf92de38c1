# SPDX-License-Identifier: MIT
"""Compile every kernel beforehand, in several processes."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from pkgutil import iter_modules, walk_packages

from sfumato import kernels


def compile_kernels() -> int:
    """Compile what is not kept on disk yet, the families side by side; how many modules there are."""
    modules = list(iter_modules(kernels.__path__, f"{kernels.__name__}."))
    shared_names = [module.name for module in modules if not module.ispkg and not module.name.endswith("__main__")]
    families = sorted((module.name for module in modules if module.ispkg), key=_measure_code, reverse=True)
    for name in shared_names:  # first, since the families use them
        import_module(name)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return len(shared_names) + sum(pool.map(compile_family, families))


def _measure_code(name: str) -> int:
    """The size of a package in bytes, which says how long it takes: the largest is begun first."""
    folder = Path(kernels.__path__[0]) / name.rsplit(".", 1)[-1]
    return sum(path.stat().st_size for path in folder.glob("*.py"))


def compile_family(name: str) -> int:
    """Import a package of kernels and its modules, which compiles them; how many there are."""
    package = import_module(name)
    modules = [import_module(module.name) for module in walk_packages(package.__path__, f"{name}.")]
    return len(modules)
