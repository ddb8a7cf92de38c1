# SPDX-License-Identifier: MIT
"""Names that are fetched from their modules on first use, so that a room opens quickly and loads what is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def fetching(
    room: str, home: Mapping[str, str], lists: Mapping[str, Mapping[str, str]] | None = None
) -> Callable[[str], Any]:
    """A room's `__getattr__`: a name by its module, or by all the names of a list at once."""

    def fetch(name: str) -> Any:
        if lists is not None and name in lists:
            found: Any = tuple(getattr(_load(room, module), kind) for kind, module in lists[name].items())
        elif name in home:
            found = getattr(_load(room, home[name]), name)
        else:
            raise AttributeError(f"{room} has no «{name}»")
        setattr(sys.modules[room], name, found)
        return found

    return fetch


def _load(room: str, module: str) -> Any:
    """A module of the room; by its whole name, one of another room."""
    return import_module(module if module.startswith("sfumato.") else f"{room}.{module}")
