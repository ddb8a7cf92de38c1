# SPDX-License-Identifier: MIT
"""The gate: the limits that the custodian set before the run.

A limit that is exceeded, or that nothing can be compared with, stops the release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.attack.attack import AttackResult
from sfumato.bound_words import format_against_limit, format_limit
from sfumato.workflow.policy import Policy


@dataclass(frozen=True)
class Refusal:
    """One reason why the gate did not open."""

    gate: str
    limit: float
    value: float | None
    """The measured value; None if this release has nothing to measure."""

    def __str__(self) -> str:
        """The reason as a sentence."""
        if self.value is None:
            return f"{self.gate} ({format_limit(self.limit)}) could not be measured for this release"
        return f"{self.gate} is {format_limit(self.limit)}, and the release has " + format_against_limit(
            self.value, self.limit
        )


def compare_limits(policy: Policy, body: Mapping[str, Any], attacks: tuple[AttackResult, ...]) -> list[dict[str, Any]]:
    """Each limit of the gate with the measured value; for a risk, the upper end of its interval.

    What could not be measured has no value, and the gate stays shut.
    """
    linking = [outcome for attack, outcome in attacks if "max_linking_risk" in attack.gates and outcome.attempts]
    record_risks = [
        outcome.highest_risk
        for attack, outcome in attacks
        if "max_record_risk" in attack.gates and outcome.attempts and outcome.highest_risk is not None
    ]
    loss = body["utility"].get("loss")
    values = {
        "max_linking_risk": max((outcome.high for outcome in linking), default=None),
        "max_record_risk": max(record_risks, default=None),
        "max_loss": None if loss is None else float(loss),
    }
    limits = policy.gate.model_dump(exclude_none=True)
    for name, limit in limits.pop("max_risk").items():
        outcomes = [outcome for attack, outcome in attacks if attack.model_dump()["attack"] == name]
        limits[f"max_risk.{name}"] = limit
        values[f"max_risk.{name}"] = max((outcome.high for outcome in outcomes if outcome.attempts), default=None)
    return [_compare_limit(name, limit, values[name]) for name, limit in limits.items()]


def _compare_limit(name: str, limit: float, value: float | None) -> dict[str, Any]:
    if value is None:
        return {"gate": name, "limit": limit, "open": False}
    return {"gate": name, "limit": limit, "found": value, "open": value <= limit}


def list_refusals(limits: list[dict[str, Any]]) -> tuple[Refusal, ...]:
    """Every limit that was exceeded, or that nothing could be compared with."""
    return tuple(Refusal(g["gate"], g["limit"], g.get("found")) for g in limits if not g["open"])
