# SPDX-License-Identifier: MIT
"""Whether the arguments of a claim are those that a method makes it with, by its public parameters alone."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any

from sfumato.description import Description

_KEYWORDS = ("auto", "from_data")
"""Parameters that leave a choice to the data."""
_ROUNDING = 1e-9


def do_arguments_fit(kind: type[Description], parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    """Whether each argument with the name of a public field is its value, and the column is one that it names."""
    columns = kind.list_columns_in(parameters)
    return ("column" not in arguments or not columns or arguments["column"] in columns) and all(
        _is_stated_as(parameters[name], argument)
        for name, argument in arguments.items()
        if name in kind.public_fields and name != "column" and name in parameters
    )


def _is_stated_as(parameter: Any, argument: Any) -> bool:
    """Whether an argument repeats a parameter; one that leaves the choice to the data says nothing."""
    if parameter is None or parameter in _KEYWORDS or isinstance(parameter, Mapping):
        return True
    if isinstance(argument, str | int | float):
        if isinstance(parameter, int | float):
            return not isinstance(argument, str) and isclose(parameter, argument, rel_tol=_ROUNDING)
        return bool(parameter == argument)
    if isinstance(parameter, int | float):  # once for each column, spelled exactly
        return all(text == repr(float(parameter)) for text in argument)
    if isinstance(parameter, str):
        return set(argument) == {parameter}
    # A column that is named twice counts once.
    return sorted(argument) == sorted({str(part) for part in parameter})
