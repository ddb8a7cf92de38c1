# SPDX-License-Identifier: MIT
"""Load the compiler without what it would load for linear algebra and C libraries.

numba tries to import scipy.linalg and cffi and goes on without them where they are not installed. No kernel uses them,
and they take 0.3 of the 0.8 s that the first kernel of a command takes. A command has its process to itself and leaves
them out; a notebook may use them with numba, so `import sfumato` changes nothing there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from types import ModuleType

UNUSED_MODULES = ("cffi", "scipy.linalg")
_IS_OURS: list[bool] = []


def claim_process() -> None:
    """Say that nothing but a command runs in this process, before any kernel is loaded."""
    _IS_OURS.append(True)


def load_compiler() -> None:
    """Import numba and what it imports with the first kernel; all of it, if the process is not ours."""
    if not _IS_OURS or "numba" in sys.modules:
        return
    with hide_modules(UNUSED_MODULES):
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()


@contextmanager
def hide_modules(names: tuple[str, ...]) -> Iterator[None]:
    """Inside the block, this thread imports as if some modules were not installed; other threads still find them."""
    finder = _HidingFinder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _HidingFinder:
    """Denies modules to the thread that made it."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._thread = get_ident()

    def find_spec(self, name: str, path: object = None, target: ModuleType | None = None) -> None:
        """Refuse a hidden module; of all others the next finder is asked."""
        if name in self._names and get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
