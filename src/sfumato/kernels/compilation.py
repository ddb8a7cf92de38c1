# SPDX-License-Identifier: MIT
"""How kernels are compiled: once, kept on disk, without the interpreter's lock.

What is kept is thrown away as soon as the file of any kernel changes. numba looks at a kernel's own file only, and
would go on running the old code of another one that it calls: wrong results, or worse.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from sfumato.kernels.compiler import DefaultOptions, from_dtype, njit, types

OPTIONS: dict[str, Any] = {"nogil": True, "boundscheck": False}
NO_COUNT: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""Without numba's count of who uses an array, which it keeps up to date whenever a field of a record is named."""
part: Any = njit(forceinline=True, **OPTIONS, **NO_COUNT)
"""A part of a kernel: compiled only into those that call it, where passing it arrays costs nothing."""
_TYPES: dict[str, Any] = dict(vars(types))
_HOMES: dict[str, str] = {}
"""The module of each record."""
_SCALARS = {int: types.int64, float: types.float64, bool: types.boolean}
Record = TypeVar("Record", bound=type[tuple[Any, ...]])


def record(kind: Record) -> Record:
    """Let signatures name a named tuple: each field is compiled as its annotation says."""
    # The same module again: its first import was interrupted, as one may do while kernels are compiled.
    if kind.__name__ in _TYPES and _HOMES.get(kind.__name__) != kind.__module__:
        raise TypeError(f"signatures already name a {kind.__name__}")
    _HOMES[kind.__name__] = kind.__module__
    fields = [_find_compiled_type(hint) for hint in get_type_hints(kind, include_extras=True).values()]
    is_uniform = all(field == fields[0] for field in fields)  # the compiler keeps these apart
    make: Any = types
    _TYPES[kind.__name__] = (
        make.NamedUniTuple(fields[0], len(fields), kind) if is_uniform else make.NamedTuple(fields, kind)
    )
    return kind


def _find_compiled_type(hint: Any) -> Any:
    """The compiler's type for a number, a named tuple, or an array, of one dimension unless it is a grid."""
    dimensions = 1
    if get_origin(hint) is Annotated:
        hint, dimensions = get_args(hint)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type):
        return _TYPES[hint.__name__]
    return types.Array(from_dtype(np.dtype(_find_number(hint))), dimensions, "C")


def _find_number(hint: Any) -> Any:
    """The number in `NDArray[number]`; since numpy 2.5, that alias is not replaced by what it stands for."""
    arguments = get_args(hint)
    return arguments[0] if len(arguments) == 1 else get_args(arguments[1])[0]


def read_signature(text: str) -> Any:
    """A signature as the compiler wants it, with the names of records in it."""
    return eval(text, {}, _TYPES)


def compile_cached(signature: str | list[str], *, allocates: bool = True) -> Callable[[Any], Any]:
    """Compile for fixed types and keep the result on disk, so that only the first run on a machine pays.

    A kernel that makes no arrays may say so. Its caller holds the ones it works on, so they need not be counted, which
    made the search for adversarial rules a fifth faster.
    """
    signatures = [read_signature(text) for text in ([signature] if isinstance(signature, str) else signature)]
    decorator: Callable[[Any], Any] = njit(signatures, cache=True, **OPTIONS, **({} if allocates else NO_COUNT))
    return decorator


def sweep_stale_kernels(folder: Path) -> bool:
    """Remove what was kept of the kernels under a folder if one of their files changed since; whether it did."""
    files = sorted(folder.rglob("*.py"))
    stamp = "\n".join(f"{file.relative_to(folder)} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files)
    mark = folder / "__pycache__" / "kernels.stamp"
    if mark.is_file() and mark.read_text(encoding="utf-8") == stamp:
        return False
    for file in (*folder.rglob("*.nbi"), *folder.rglob("*.nbc")):
        file.unlink(missing_ok=True)
    mark.parent.mkdir(exist_ok=True)
    mark.write_text(stamp, encoding="utf-8")
    return True


with suppress(OSError):  # a folder that cannot be written to holds nothing of ours
    sweep_stale_kernels(Path(__file__).parent)
