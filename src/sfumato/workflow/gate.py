# SPDX-License-Identifier: MIT
"""The gate: the limits that the custodian set before the run. A limit that is exceeded stops the release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.attack import Attack, Linking, Outcome
from sfumato.workflow.policy import Policy


@dataclass(frozen=True)
class Refusal:
    """One reason why the gate did not open."""

    gate: str
    limit: float
    found: float

    def __str__(self) -> str:
        """The reason as a sentence."""
        return f"{self.gate} is {self.limit:g}, and the release has {self.found:.4f}"


def compare_limits(
    policy: Policy, body: Mapping[str, Any], attacks: tuple[tuple[Attack, Outcome], ...]
) -> list[dict[str, Any]]:
    """Each limit of the gate with the measured value; for a risk, the upper end of its interval."""
    linking = [outcome for attack, outcome in attacks if isinstance(attack, Linking)]
    found = {
        "max_linking_risk": max((outcome.high for outcome in linking), default=0.0),
        "max_record_risk": max((float(outcome.facts["highest_risk"]) for outcome in linking), default=0.0),
        "max_loss": float(body["utility"].get("loss", 0.0)),
    }
    limits = policy.gate.model_dump(exclude_none=True)
    for name, limit in limits.pop("max_risk").items():
        limits[f"max_risk.{name}"] = limit
        found[f"max_risk.{name}"] = max(o.high for attack, o in attacks if attack.model_dump()["attack"] == name)
    return [
        {"gate": name, "limit": limit, "found": found[name], "open": found[name] <= limit}
        for name, limit in limits.items()
    ]


def list_refusals(limits: list[dict[str, Any]]) -> tuple[Refusal, ...]:
    """Every limit that was exceeded."""
    return tuple(Refusal(g["gate"], g["limit"], g["found"]) for g in limits if not g["open"])
