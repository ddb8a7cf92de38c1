# SPDX-License-Identifier: MIT
"""What is kept of compiled kernels does not outlive the files it was made from."""

from __future__ import annotations

from pathlib import Path
from types import GenericAlias
from typing import Any, NamedTuple

import numpy as np
import pytest

from sfumato import kernels
from sfumato.kernels.compilation import read_signature, record, sweep_stale_kernels
from sfumato.kernels.precompilation import compile_kernels


def test_a_changed_file_sweeps_what_was_kept(tmp_path: Path) -> None:
    cache_folder = tmp_path / "__pycache__"
    cache_folder.mkdir()
    (tmp_path / "one.py").write_text("a = 1\n")
    (cache_folder / "one.add-1.nbi").write_text("index")
    assert sweep_stale_kernels(tmp_path)
    assert not list(cache_folder.glob("*.nbi"))
    (cache_folder / "one.add-1.nbc").write_text("code")
    assert not sweep_stale_kernels(tmp_path)
    assert list(cache_folder.glob("*.nbc"))
    (tmp_path / "family").mkdir()
    (tmp_path / "family" / "two.py").write_text("b = 2\n")
    assert sweep_stale_kernels(tmp_path)
    assert not list(cache_folder.glob("*.nbc"))


def test_an_import_that_was_interrupted_can_be_done_again() -> None:
    """Someone stops a notebook cell while kernels are compiled, and runs it again."""
    for name in ("a.kernel", "a.kernel"):
        record(_make_record(name))
    with pytest.raises(TypeError, match="already name a Interrupted"):
        record(_make_record("another.kernel"))


def test_every_kernel_can_be_compiled_beforehand() -> None:
    modules = [file for file in Path(kernels.__path__[0]).rglob("*.py") if not file.name.startswith("__")]
    assert compile_kernels() == len(modules)


def test_arrays_are_read_as_old_and_new_numpy_spell_them() -> None:
    """From numpy 2.5 on, `NDArray[number]` keeps the number only, and not what the alias stands for."""
    kinds = {"expanded": np.ndarray[Any, np.dtype[np.int64]], "alias": GenericAlias(list, (np.int64,))}
    for name, kind in kinds.items():
        tuple_type: Any = NamedTuple(f"Spelled{name.title()}", [("cells", kind)])  # type: ignore[misc]
        record(tuple_type)
        assert str(read_signature(tuple_type.__name__).types[0]) == "array(int64, 1d, C)"


def _make_record(module: str) -> Any:
    class Interrupted(NamedTuple):
        size: int

    Interrupted.__module__ = module
    return Interrupted
