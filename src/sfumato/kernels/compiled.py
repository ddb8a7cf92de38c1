# SPDX-License-Identifier: MIT
"""How kernels are compiled: once, kept on disk, without the interpreter's lock.

What is kept is thrown away as soon as the file of any kernel changes. numba looks at a kernel's own file only, and
would go on running the old code of another one that it calls: wrong results, or worse.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba


def compiled(signature: str | list[str]) -> Callable[[Any], Any]:
    """Compile for fixed types and keep the result on disk, so that only the first run on a machine pays."""
    made: Callable[[Any], Any] = numba.njit(signature, cache=True, nogil=True, boundscheck=False)
    return made


def sweep(folder: Path) -> bool:
    """Remove what was kept of the kernels in a folder if one of their files changed since; whether it did."""
    kept = folder / "__pycache__"
    files = sorted(folder.glob("*.py"))
    stamp = "\n".join(f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files)
    mark = kept / "kernels.stamp"
    if mark.is_file() and mark.read_text(encoding="utf-8") == stamp:
        return False
    for file in (*kept.glob("*.nbi"), *kept.glob("*.nbc")):
        file.unlink(missing_ok=True)
    kept.mkdir(exist_ok=True)
    mark.write_text(stamp, encoding="utf-8")
    return True


with suppress(OSError):  # a folder that cannot be written to holds nothing of ours
    sweep(Path(__file__).parent)
