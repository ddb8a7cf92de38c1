# SPDX-License-Identifier: MIT
"""Print help without importing what it does not use.

Typer's styles import rich's Markdown and tracebacks, which take as long as all the rest. Help texts are plain and
failures are sentences, so stand-ins take the place of both; a stand-in that is called after all makes the real thing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}


def import_help_styles() -> None:
    """Import typer's styles, which print help, without the parts of rich that help does not need."""
    if "typer.rich_utils" in sys.modules:
        return
    absent_modules = [name for name in _UNUSED if name not in sys.modules]
    sys.modules.update({name: _stand_in(name, _UNUSED[name]) for name in absent_modules})
    try:
        import_module("typer.rich_utils")
    except ImportError:
        return  # help is then printed without styles, as typer decides
    finally:
        for name in absent_modules:
            del sys.modules[name]


def _stand_in(module_name: str, class_name: str) -> ModuleType:
    def make(_: type, *values: Any, **options: Any) -> Any:
        return getattr(import_module(module_name), class_name)(*values, **options)

    module = ModuleType(module_name)
    setattr(module, class_name, type(class_name, (), {"__new__": make}))
    return module
