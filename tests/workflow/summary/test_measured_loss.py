# SPDX-License-Identifier: MIT
"""The loss that a gate limits is measured on the published file, not taken from the method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.change_kinds import ChangeKind
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
    "encode items": 1e-9,
    "encode items, one to n": 1e-9,
}
EXAMPLES = [example for example in METHOD_EXAMPLES if example.name in CHOSEN]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_the_loss_is_measured_whatever_the_method_says(example: Example, tmp_path: Path) -> None:
    data = example.data()
    policy = policy_of(example, data, tmp_path)
    policy = policy.model_copy(update={"measure": policy.measure.model_copy(update={"queries": 0})})
    result = apply_methods(policy, data, Randomness.seeded(4))
    release, keys = result.release, result.keys
    silent = replace(release, losses={**release.losses, "loss": -1.0})
    measured = measure_utility(policy, release.data, data, silent, keys)["loss"]
    assert measured == pytest.approx(release.losses["loss"], abs=CHOSEN[example.name])
    assert measured > 0


TABLES = [example for example in METHOD_EXAMPLES if example.subject.shape == "table"]


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


def test_codes_that_nobody_can_decode_are_a_loss() -> None:
    """It was 0 for codes, measured by nobody, and `max_loss` opened."""
    frame = pl.DataFrame({"age": [20, 21, 30, 31], "ill": ["a", "b", "a", "b"]})
    table = sf.Table.of(frame, {"age": "quasi_identifying", "ill": "sensitive"})
    method = {"method": "encode_for_trees", "target": "ill"}
    policy = sf.Policy.model_validate({"data": {"path": "x.csv"}, "protect": [method]})
    release = apply_methods(policy, table, Randomness.seeded(4)).release
    assert measure_utility(policy, release.data, table, release)["loss"] == 0
    blurred_table = release.data.replace_frame(release.data.frame.with_columns(age=pl.col("age").min()))
    assert measure_utility(policy, blurred_table, table, release)["loss"] == 0.5
    assert measure_utility(policy, table, table, replace(release, changes=())) == {}


def test_codes_of_items_are_measured_with_their_key_only() -> None:
    baskets = sf.Baskets.of([{"a", "b"}, {"a"}, {"b", "c"}, {"d", "e"}])
    policy = sf.Policy.model_validate({"data": {"path": "x.dat"}, "protect": [{"method": "encode_bloom", "bits": 8}]})
    result = apply_methods(policy, baskets, Randomness.seeded(4))
    silent = replace(result.release, losses={**result.release.losses, "loss": -1.0})
    measured = measure_utility(policy, silent.data, baskets, silent, result.keys)["loss"]
    assert measured == pytest.approx(result.release.losses["loss"])
    assert measured > 0
    assert measure_utility(policy, silent.data, baskets, silent) == {}


def test_means_over_columns_are_absent_if_a_changed_column_cannot_be_compared(tmp_path: Path) -> None:
    """A report said that columns had shifted by 0 % and queries erred by 0 %, of the unchanged columns alone."""
    example = next(example for example in METHOD_EXAMPLES if example.name == "group rare values")
    data = example.data()
    policy = policy_of(example, data, tmp_path)
    release = apply_methods(policy, data, Randomness.seeded(4)).release
    changed_columns = {change.column for change in release.changes if change.kind is ChangeKind.GROUPED}
    assert changed_columns & set(data.quasi_identifying)
    assert not {"total_variation", "query_error"} & set(measure_utility(policy, release.data, data, release))
    release = replace(release, data=data.replace_frame(data.frame.drop(data.identifying)))
    assert {"total_variation", "query_error"} <= set(measure_utility(policy, release.data, data, release))


def test_a_method_on_baskets_that_hides_no_rules_has_a_measured_loss(tmp_path: Path) -> None:
    """Its run crashed: the side effects of no method were combined."""
    example = next(example for example in EXAMPLES if example.name == "hide items")
    data = example.data()
    release = replace(example.subject.protect(data), method=None)
    measured = measure_utility(policy_of(example, data, tmp_path), release.data, data, release)
    assert measured == {"loss": pytest.approx(release.losses["loss"])}
