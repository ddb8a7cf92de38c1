# SPDX-License-Identifier: MIT
"""The gate opens for what was measured and is within the limit, and for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.attack import Linking, Outcome
from sfumato.workflow.gate import compare_limits, list_refusals
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.policy_sections import DataSection

GENERALIZE = {"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]}


def limits(attacks: tuple[Any, ...], utility: dict[str, float], **gate: Any) -> dict[str, Any]:
    policy = Policy(data=DataSection(path="demo"), protect=(GENERALIZE,), attack=({"attack": "linking"},), gate=gate)
    return {limit["gate"]: limit for limit in compare_limits(policy, {"utility": utility}, attacks)}


NOBODY = Outcome(0, 0, 0, facts={"highest_risk": 0.0})


@pytest.mark.parametrize("attacks", [(), ((Linking(), NOBODY),)], ids=["no attack", "nobody to attack"])
def test_what_was_not_measured_stays_shut(attacks: tuple[Any, ...]) -> None:
    """Linking on what nobody can link was signed as "found 0"."""
    seen = limits(attacks, {}, max_linking_risk=0.5, max_record_risk=1.0, max_loss=1.0, max_risk={"linking": 1.0})
    assert [limit["open"] for limit in seen.values()] == [False] * 4
    assert all("found" not in limit for limit in seen.values())
    assert str(list_refusals(list(seen.values()))[0]) == "max_linking_risk is 0.5, and it could not be measured"


def test_what_was_measured_is_compared() -> None:
    found = ((Linking(), Outcome(100, 10, 1, facts={"highest_risk": 0.5})),)
    seen = limits(found, {"loss": 0.25}, max_linking_risk=0.3, max_record_risk=0.4, max_loss=0.25)
    assert {name: limit["open"] for name, limit in seen.items()} == {
        "max_linking_risk": True,
        "max_record_risk": False,
        "max_loss": True,
    }
    assert seen["max_linking_risk"]["found"] == pytest.approx(0.1744, abs=1e-4)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            {"protect": [{"method": "hide_items", "items": ["a"], "min_support": 2, "min_confidence": 0.5}]},
            "baskets have",
        ),
        ({"protect": [GENERALIZE], "roles": {"sensitive": ["ill"]}}, "no column is quasi_identifying"),
        ({"protect": [{"method": "encode_for_trees", "target": "ill"}]}, "codes cannot be linked"),
    ],
    ids=["baskets", "no quasi-identifiers", "codes"],
)
def test_a_gate_that_could_never_open_is_refused_at_once(policy: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Policy.model_validate({"data": {"path": "x.csv"}, "gate": {"max_linking_risk": 0.5}, **policy})
