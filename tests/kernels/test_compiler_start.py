# SPDX-License-Identifier: MIT
"""Commands load the compiler without what no kernel uses; notebooks load all of it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from threading import Thread

import pytest

from sfumato.kernels.compiler_start import UNUSED_MODULES, hide_modules

_LIST_LOADED = "import sys, sfumato.kernels.bits; print(*sorted({'cffi', 'scipy.linalg'} & set(sys.modules)))"


def _list_loaded(first: str) -> set[str]:
    result = subprocess.run([sys.executable, "-c", first + _LIST_LOADED], check=True, capture_output=True, text=True)
    return set(result.stdout.split())


def test_a_command_leaves_out_what_no_kernel_uses() -> None:
    assert not _list_loaded("from sfumato.kernels.compiler_start import claim_process; claim_process(); ")


def test_a_notebook_keeps_what_numba_offers() -> None:
    assert "scipy.linalg" in _list_loaded("")


def test_what_was_hidden_can_be_imported_afterwards() -> None:
    first = "from sfumato.kernels.compiler_start import claim_process; claim_process(); import sfumato.kernels.bits; "
    assert _list_loaded(f"{first}import scipy.linalg, cffi; ") == {"cffi", "scipy.linalg"}


def test_only_the_thread_that_loads_misses_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    name, modules = "colorsys", []
    monkeypatch.delitem(sys.modules, name, raising=False)
    with hide_modules((name,)):
        with pytest.raises(ModuleNotFoundError, match=name):
            importlib.import_module(name)
        other = Thread(target=lambda: modules.append(importlib.import_module(name)))
        other.start()
        other.join()
    assert modules and name not in UNUSED_MODULES
