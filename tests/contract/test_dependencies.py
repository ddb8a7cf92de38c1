# SPDX-License-Identifier: MIT
"""Every package that the code imports is declared, and every declared one is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OTHER_NAMES = {
    "adbc_driver_manager": "adbc-driver-manager",
    "adbc_driver_postgresql": "adbc-driver-postgresql",
    "nacl": "pynacl",
    "pydantic_core": "pydantic-core",
    "sklearn": "scikit-learn",
    "vl_convert": "vl-convert-python",
}
"""Packages that are imported under another name than they are installed by."""
ALTERNATIVES = {"pynacl": "rbcl"}
"""Packages that do the same as a declared one, and are used where somebody has them instead."""


def list_imports(source: str) -> set[str]:
    """The packages that a module imports, anywhere in it."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    names |= set(re.findall(r'import_module\("(\w+)', source))
    return {name.partition(".")[0] for name in names}


def list_declared() -> set[str]:
    """The packages that an installation, or one of its extras for users, brings."""
    extras = [line for extra, lines in PROJECT["optional-dependencies"].items() if extra != "dev" for line in lines]
    return {Requirement(line).name.lower() for line in (*PROJECT["dependencies"], *extras)}


def list_used() -> set[str]:
    """The packages of others that the code imports, as they are installed."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    names = set().union(*map(list_imports, sources)) - set(sys.stdlib_module_names) - {"sfumato"}
    return {OTHER_NAMES.get(name, re.sub("_", "-", name)).lower() for name in names}


def test_every_import_is_declared() -> None:
    undeclared = list_used() - list_declared() - set(ALTERNATIVES)
    assert not undeclared, f"pyproject.toml declares no dependency or extra for {sorted(undeclared)}: add it there"


def test_every_dependency_is_used() -> None:
    unused = list_declared() - list_used()
    assert not unused, f"pyproject.toml declares {sorted(unused)}, and no module imports it: remove it"


def test_imports_are_found_anywhere() -> None:
    source = 'def f():\n    import a.b\n    from c.d import e\nfrom . import own\nimport_module("g.h")\n'
    assert list_imports(source) == {"a", "c", "g"}
