# SPDX-License-Identifier: MIT
"""A method or an attack of a policy, as far as a certificate tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.workflow.policy import PATHS


def describe_step(description: Any) -> dict[str, Any]:
    """A method or attack with its parameters; a file only by name, since folders are private."""
    step_parameters: dict[str, Any] = description.describe()
    for part in (step_parameters, *step_parameters.get("models", ())):
        part |= {name: Path(part[name]).name for name in PATHS if isinstance(part.get(name), str)}
    if hasattr(description, "iso_20889"):
        step_parameters["iso_20889"] = description.iso_20889
    return step_parameters
