# SPDX-License-Identifier: MIT
"""The loss that a gate limits is measured on the published file, not taken from the method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfumato.protect.method import KeyedMethod
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from sfumato.workflow.summary.release_utility import measure_utility
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.runs import policy_of

CHOSEN = {
    "microaggregate": 1e-6,
    "top code": 1e-9,
    "suppress entries": 1e-9,
    "swap confidential": 1e-9,
    # The method estimates from the release alone what is noise, or hidden in an interval; here it is known.
    "add noise": 0.05,
    "add noise, correlated": 0.05,
    "add noise, intervals": 0.2,
    "randomize response": 1e-9,
    "hide items": 1e-9,
    "hide rules, blocked": 1e-9,
    "publish patterns": 1e-9,
}
EXAMPLES = [example for example in METHOD_EXAMPLES if example.name in CHOSEN]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_loss_is_measured_whatever_the_method_says(example: Example, tmp_path: Path) -> None:
    data = example.data()
    policy = policy_of(example, data, tmp_path)
    policy = policy.model_copy(update={"measure": policy.measure.model_copy(update={"queries": 0})})
    release = apply_methods(policy, data, Randomness.seeded(4)).release
    silent = replace(release, losses={**release.losses, "loss": -1.0})
    measured = measure_utility(policy, release.data, data, silent)["loss"]
    assert measured == pytest.approx(release.losses["loss"], abs=CHOSEN[example.name])
    assert measured > 0


TABLES = [
    example
    for example in METHOD_EXAMPLES
    if example.subject.shape == "table" and not isinstance(example.subject, KeyedMethod)
]


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_every_loss_of_a_table_can_be_limited(example: Example, tmp_path: Path) -> None:
    """Or a gate with `max_loss` would never open."""
    data = example.data()
    policy = policy_of(example, data, tmp_path)
    policy = policy.model_copy(update={"measure": policy.measure.model_copy(update={"queries": 0})})
    release = apply_methods(policy, data, Randomness.seeded(4)).release
    if "loss" in release.losses:
        assert "loss" in measure_utility(policy, release.data, data, release), (
            "no code but the method's own measures its loss: give the kind of change a measure in "
            "src/sfumato/measure/change_losses.py"
        )
