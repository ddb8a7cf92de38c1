# SPDX-License-Identifier: MIT
"""What may be given where a measure compares two tables, and what is refused with a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from sfumato.errors import DataError, PolicyError
from sfumato.table import Table


def require_tables(original: Table, published_table: Table, columns: Sequence[str] | None = None) -> None:
    """Refuse what is not a table, and columns that are one text."""
    for table in (original, published_table):
        if not isinstance(table, Table):
            raise DataError(f"expected a Table, got {type(table).__name__}; pass release.data or sf.Table.of(frame)")
    if isinstance(columns, str):
        raise PolicyError(f'columns is a list of names, such as ["{columns}"]')


_TABLES = ("Table", "Table | None")


def take_any_table(measure: Any) -> Any:
    """A measure that also takes frames, releases and runs where it takes tables, and one column as a text."""
    notes = getattr(measure, "__annotations__", {}) if inspect.isfunction(measure) else {}
    tables = [name for name, kind in notes.items() if kind in _TABLES and name != "return"]
    lists = [name for name, kind in notes.items() if str(kind).startswith("Sequence[str]")]
    return _adapt(measure, tables, lists) if tables else measure


def _adapt(measure: Callable[..., Any], tables: Sequence[str], lists: Sequence[str]) -> Callable[..., Any]:
    signature = inspect.signature(measure)

    @wraps(measure)
    def measure_any(*arguments: Any, **keywords: Any) -> Any:
        try:
            call = signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise PolicyError(f"{measure.__name__}: {error}") from None
        for name in call.arguments.keys() & set(tables):
            call.arguments[name] = _find_table(call.arguments[name])
        for name in call.arguments.keys() & set(lists):
            value = call.arguments[name]
            call.arguments[name] = [value] if isinstance(value, str) else value
        return measure(*call.args, **call.kwargs)

    return measure_any


def _find_table(candidate: Any) -> Any:
    """The table of a run or a release; a frame as a table without roles."""
    if candidate is None or isinstance(candidate, Table):
        return candidate
    if isinstance(candidate, str | Path):
        raise DataError(
            "a table is measured, and this is a path; read it with sf.Table.read(path, roles={...}), or use sfumato "
            "measure on the command line"
        )
    release_data = getattr(getattr(candidate, "release", candidate), "data", None)
    return release_data if isinstance(release_data, Table) else Table.of(candidate)
