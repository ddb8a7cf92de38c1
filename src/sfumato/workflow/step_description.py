# SPDX-License-Identifier: MIT
"""A method or an attack of a policy, as far as a certificate tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.description import Description


def describe_step(description: Any) -> dict[str, Any]:
    """A method or attack with its parameters; a file only by name, since folders are private."""
    step_parameters: dict[str, Any] = description.describe()
    shorten_paths(description, step_parameters)
    if hasattr(description, "iso_20889"):
        step_parameters["iso_20889"] = description.iso_20889
    return step_parameters


def shorten_paths(description: Description, parameters: dict[str, Any]) -> None:
    """Replace the files that parameters name, and those of their parts, by their names without folders."""
    for name in description.file_fields:
        if isinstance(parameters.get(name), str):
            parameters[name] = Path(parameters[name]).name
    for name, parts in description.list_parts().items():
        for part, part_parameters in zip(parts, parameters.get(name, ()), strict=False):
            if isinstance(part_parameters, dict):
                shorten_paths(part, part_parameters)
