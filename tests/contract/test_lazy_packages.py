# SPDX-License-Identifier: MIT
"""Lazy packages load modules on first use: every name is found, none is hidden behind a module, nothing is early."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import sfumato as sf
from sfumato.runtime.lazy import _fetch_named

PACKAGES = ("protect", "attack", "measure", "mine")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_package_is_there(package: str) -> None:
    module = import_module(f"sfumato.{package}")
    assert all(getattr(module, name) is not None for name in module.__all__)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("package", ("", *PACKAGES))
def test_a_package_has_every_line_of_its_typing_block(package: str) -> None:
    """A line that discovery cannot read is a name for type checkers alone."""
    module = import_module(f"sfumato.{package}".rstrip("."))
    assert module.__file__ is not None
    block = next(
        node
        for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    )
    imported = [node for node in block.body if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    unread = [alias.name for node in imported for alias in node.names if alias.name not in module.__all__]
    assert unread == [], "write each on a line of its own: from module import Name as Name"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_function_is_not_hidden_behind_a_module_of_its_name(package: str) -> None:
    module = import_module(f"sfumato.{package}")
    assert module.__file__ is not None
    for path in Path(module.__file__).parent.glob("*.py"):
        import_module(f"sfumato.{package}.{path.stem}")
    assert [name for name in module.__all__ if isinstance(getattr(module, name), ModuleType)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_of_a_package_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        import_module(f"sfumato.{package}").nothing_here  # noqa: B018


def test_a_method_loads_no_other_method_no_attack_and_no_measure() -> None:
    code = (
        "import sys, sfumato as sf; sf.Generalize; sf.protect.explain;"
        "print([n for n in sys.modules if n.startswith(('sfumato.attack', 'sfumato.measure', 'numba', 'scipy'))"
        " or n.startswith('sfumato.protect.') and n.endswith(('.partition', '.k_optimize', '.microaggregate'))])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_name_is_found_after_its_module_moved() -> None:
    """Until the typing block is written anew, which imports the name itself."""
    assert _fetch_named("sfumato.protect.gone.generalize", "Generalize", sf) is sf.Generalize
    with pytest.raises(ModuleNotFoundError):
        _fetch_named("sfumato.protect.gone.nothing", "Nothing", sf)
