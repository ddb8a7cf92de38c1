# SPDX-License-Identifier: MIT
"""The gate opens for what was measured and is within the limit, and for nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack import Linking, Outcome
from sfumato.bound_words import format_against_limit, format_limit
from sfumato.protect.method import KeyedMethod
from sfumato.workflow.gate import Refusal, compare_limits, list_refusals
from sfumato.workflow.policy import Policy
from sfumato.workflow.policy_parts.policy_sections import DataSection

GENERALIZE = {"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]}


def limits(attacks: tuple[Any, ...], utility: dict[str, float], **gate: Any) -> dict[str, Any]:
    policy = Policy(data=DataSection(path="demo"), protect=(GENERALIZE,), attack=({"attack": "linking"},), gate=gate)
    return {limit["gate"]: limit for limit in compare_limits(policy, {"utility": utility}, attacks)}


NOBODY = Outcome(0, 0, 0, highest_risk=0.0)


@pytest.mark.parametrize("attacks", [(), ((Linking(), NOBODY),)], ids=["no attack", "nobody to attack"])
def test_what_was_not_measured_stays_shut(attacks: tuple[Any, ...]) -> None:
    """Linking on what nobody can link was signed as "found 0"."""
    limit_states = limits(
        attacks, {}, max_linking_risk=0.5, max_record_risk=1.0, max_loss=1.0, max_risk={"linking": 1.0}
    )
    assert [limit["open"] for limit in limit_states.values()] == [False] * 4
    assert all("found" not in limit for limit in limit_states.values())
    assert (
        str(list_refusals(list(limit_states.values()))[0])
        == "max_linking_risk (0.5) could not be measured for this release"
    )


def test_what_was_measured_is_compared() -> None:
    attacks = ((Linking(), Outcome(100, 10, 1, highest_risk=0.5)),)
    limit_states = limits(attacks, {"loss": 0.25}, max_linking_risk=0.3, max_record_risk=0.4, max_loss=0.25)
    assert {name: limit["open"] for name, limit in limit_states.items()} == {
        "max_linking_risk": True,
        "max_record_risk": False,
        "max_loss": True,
    }
    assert limit_states["max_linking_risk"]["found"] == pytest.approx(0.1744, abs=1e-4)


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        (0.34, 1.0, "is 0.34, and the release has 1"),
        (0.2, 0.46874, "is 0.2, and the release has 0.4687"),
        (0.222222221222, 0.222222222222, "is 0.222222221222, and the release has 0.222222222"),
        (0.9999999999999999, 1.0, "is 0.9999999999999999, and the release has 1"),
        (0.3, 0.30000000000000004, "is 0.3, and the release has 0.30000000000000004"),
        (0.46871, 0.46874, "is 0.46871, and the release has 0.46874"),
        (0.0, 0.00001, "is 0, and the release has 0.00001"),
        (0.00001, 0.00002, "is 0.00001, and the release has 0.00002"),
        (0.5, float("nan"), "is 0.5, and the release has nan"),
    ],
)
def test_what_is_refused_is_above_its_limit_in_print_too(limit: float, value: float, words: str) -> None:
    assert str(Refusal("max_loss", limit, value)) == f"max_loss {words}"


@given(st.floats(0, 1), st.floats(0, 1))
def test_printed_limits_and_values_compare_as_they_do(limit: float, value: float) -> None:
    printed_limit, printed_value = (
        Fraction(text) for text in (format_limit(limit), format_against_limit(value, limit))
    )
    assert printed_limit == Fraction(repr(limit))
    assert (printed_value > printed_limit) == (value > limit)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            {"protect": [{"method": "hide_items", "items": ["a"], "min_support": 2, "min_confidence": 0.5}]},
            "baskets have",
        ),
        ({"protect": [GENERALIZE], "roles": {"sensitive": ["ill"]}}, "no column is quasi_identifying"),
        ({"protect": [{"method": "encode_for_trees", "target": "ill"}]}, "linking cannot read codes"),
    ],
    ids=["baskets", "no quasi-identifiers", "codes"],
)
def test_a_gate_that_could_never_open_is_refused_at_once(policy: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Policy.model_validate({"data": {"path": "x.csv"}, "gate": {"max_linking_risk": 0.5}, **policy})


class KeyedSwap(KeyedMethod):
    """A method with a key that publishes no codes."""

    method: Literal["keyed_swap"] = "keyed_swap"

    def new_key(self, data: Any, randomness: Any = None) -> Any:
        raise NotImplementedError

    def protect(self, data: Any, key: Any = None, randomness: Any = None) -> Any:  # type: ignore[override]
        raise NotImplementedError


def test_a_key_is_no_code() -> None:
    """Every method with a key was taken for one whose codes linking does not read."""
    policy = Policy.model_validate(
        {
            "data": {"path": "x.csv"},
            "protect": [GENERALIZE],
            "gate": {"max_linking_risk": 0.5},
            "roles": {"quasi_identifying": ["age"]},
        }
    )
    policy.model_copy(update={"protect": (KeyedSwap(),)})._check_gate_can_open()  # type: ignore[operator]
    assert not KeyedSwap().publishes_codes
    assert sf.EncodeBloom().publishes_codes
