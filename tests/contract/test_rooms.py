# SPDX-License-Identifier: MIT
"""The rooms load their modules on first use: every name is found, none is hidden behind a module, nothing is early."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOMS = ("protect", "attack", "measure")


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_has_its_line_in_the_table(room: str) -> None:
    module = import_module(f"sfumato.{room}")
    names = set(module.__all__)
    eager = {name for name in names if name in vars(module) and name not in module._HOME}
    assert set(module._HOME) | eager | ({"METHODS", "ATTACKS"} & names) == names
    assert all(getattr(module, name) is not None for name in names)
    assert dir(module) == sorted(names)


@pytest.mark.parametrize("room", ROOMS)
def test_a_function_is_not_hidden_behind_a_module_of_its_name(room: str) -> None:
    module = import_module(f"sfumato.{room}")
    assert module.__file__ is not None
    for path in Path(module.__file__).parent.glob("*.py"):
        import_module(f"sfumato.{room}.{path.stem}")
    assert [name for name in module.__all__ if isinstance(getattr(module, name), ModuleType)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_an_unknown_name_of_a_room_is_an_attribute_error(room: str) -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        import_module(f"sfumato.{room}").nothing_here  # noqa: B018


def test_a_method_loads_no_other_method_no_attack_and_no_measure() -> None:
    code = (
        "import sys, sfumato as sf; sf.Generalize; sf.protect.explain;"
        "print([n for n in sys.modules if n.startswith(('sfumato.attack', 'sfumato.measure', 'numba', 'scipy'))"
        " or n.startswith('sfumato.protect.') and n.endswith(('.partition', '.k_optimize', '.microaggregate'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
