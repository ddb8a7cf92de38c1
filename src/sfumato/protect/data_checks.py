# SPDX-License-Identifier: MIT
"""What every method does around its own `protect`: refuse data of another kind or rows that must not be
published, and label rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import polars as pl

from sfumato.baskets import Baskets
from sfumato.errors import DataError, PolicyError, SfumatoError
from sfumato.key import Key
from sfumato.randomness import refuse_other_randomness
from sfumato.release import Release, label_rows
from sfumato.sequences import Sequences
from sfumato.table import Missing, Table

_KINDS: dict[str, type] = {"table": Table, "baskets": Baskets, "sequences": Sequences}


def check_data(protect: Callable[..., Release]) -> Callable[..., Release]:
    """A `protect` that says what is wrong with its data before it starts."""

    @wraps(protect)
    def protect_checked(method: Any, data: Any, *arguments: Any, **keywords: Any) -> Release:
        refuse_unfit(method, data)
        if not hasattr(method, "decodes"):  # a method with a key says that it needs one
            refuse_other_randomness(arguments[0] if arguments else keywords.get("randomness"), Key)
        release = protect(method, data, *arguments, **keywords)
        _refuse_undropped(method, data, release)
        label_rows(release, data)
        return release

    return protect_checked


def check_draw(new_key: Callable[..., Key]) -> Callable[..., Key]:
    """A `new_key` that says what is wrong with its data and its randomness before it starts."""

    @wraps(new_key)
    def new_key_checked(method: Any, data: Any, *arguments: Any, **keywords: Any) -> Key:
        refuse_unfit(method, data)
        refuse_other_randomness(arguments[0] if arguments else keywords.get("randomness"))
        return new_key(method, data, *arguments, **keywords)

    return new_key_checked


def refuse_unfit(method: Any, data: Any) -> None:
    """Stop if the data has another shape, or a table no roles."""
    wanted_type = _KINDS[method.shape]
    if isinstance(data, wanted_type):
        return
    package = type(data).__module__.partition(".")[0]
    name, kind = type(method).__name__, f"{'' if package == 'builtins' else f'{package}.'}{type(data).__name__}"
    if method.shape != "table":
        raise DataError(
            f"{name} takes {wanted_type.__name__}, not {kind}; make them first: sf.{wanted_type.__name__}.of(...)"
        )
    raise DataError(
        f"{name} takes a Table, which has a role for every column, not {kind}{_propose_line(data)}; or run everything "
        "at once: sf.run(df, method, roles={...})"
    )


def _refuse_undropped(method: Any, data: Any, release: Release) -> None:
    """Stop if rows are published that missing = "drop" removes from every count: nobody would measure their risk."""
    if not isinstance(data, Table) or data.missing is not Missing.DROP or not data.quasi_identifying:
        return
    missing_mask = data.frame.select(pl.any_horizontal(pl.col(data.quasi_identifying).is_null())).to_series()
    rows = None if release.are_rows_drawn else release.details.rows  # else all that the model learned from count
    count = int((missing_mask if rows is None else missing_mask[rows]).sum())
    if count:
        holders = "1 row has" if count == 1 else f"{count:,} rows have"
        raise PolicyError(
            f"{data.source}: {holders} a missing quasi-identifying cell, and {method.method} does not leave such "
            'rows out, as missing = "drop" asks; remove them from the data, or choose another meaning, such as '
            "own_value"
        )


def _propose_line(data: Any) -> str:
    """The line that makes a table of a frame."""
    from sfumato.data.roles.role_lines import write_role_line

    try:
        frame = Table.of(data).frame
    except SfumatoError:
        return ""
    return f". Proposed, for you to check: {write_role_line(frame)}"
