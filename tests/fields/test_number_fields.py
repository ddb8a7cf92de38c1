# SPDX-License-Identifier: MIT
"""A truth is no number: pydantic counts true as 1, and a cap of `true` was a cap of 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.data.hierarchies.hierarchy_builders import parse_builder
from sfumato.parties.site_config import SiteConfig
from sfumato.runtime.lazy import find_tagged, find_tagged_class
from sfumato.workflow.policy_parts.policy_sections import GateSection

DESCRIPTIONS = {
    f"{tag} {name}": find_tagged_class(tag, name) for tag in ("method", "model", "attack") for name in find_tagged(tag)
} | {"policy": sf.Policy, "sites": SiteConfig}


def list_unguarded_numbers(part: Any, path: str = "") -> Iterator[str]:
    """Where a schema of pydantic takes whatever Python calls a number."""
    if isinstance(part, Mapping):
        function = part.get("function")
        if isinstance(function, Mapping) and str(getattr(function["function"], "__name__", "")).startswith("_refuse_"):
            return
        if part.get("type") in ("int", "float"):
            yield path
        for name, value in part.items():
            yield from list_unguarded_numbers(value, f"{path}.{name}")
    elif isinstance(part, (list, tuple)):
        for index, value in enumerate(part):
            yield from list_unguarded_numbers(value, f"{path}[{index}]")


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_every_number_of_every_field_is_guarded(name: str) -> None:
    assert list(list_unguarded_numbers(DESCRIPTIONS[name].__pydantic_core_schema__)) == []


REFUSALS: dict[str, tuple[Callable[[Any], object], str]] = {
    "mapping": (lambda truth: sf.TopCode(columns="age", k=5, caps={"age": truth}), r"caps\.age must be a number$"),
    "whole": (lambda truth: sf.KAnonymity(k=truth), "k must be a whole number$"),
    "share": (lambda truth: sf.SwapConfidential(column="ill", share=truth), "share must be a number$"),
    "optional": (lambda truth: sf.RandomizeResponse(column="ill", p=truth), "p must be a number$"),
    "range": (lambda truth: sf.AddNoise(columns="age", ranges={"age": (0, truth)}), r"ranges\.age\[1\] must be a"),
    "weights": (
        lambda truth: sf.Generalize(models=sf.KAnonymity(k=2), weights={"age": truth}),
        r"weights\.age must be a number$",
    ),
    "hierarchy": (lambda truth: parse_builder({"kind": "intervals", "widths": [truth]}), "must be a number$"),
    "gate": (lambda truth: GateSection(max_risk={"linking": truth}), "max_risk must be a number$"),
}


@pytest.mark.parametrize("truth", [True, False, np.True_], ids=["true", "false", "numpy"])
@pytest.mark.parametrize("name", REFUSALS)
def test_a_truth_is_refused_where_a_number_is_meant(name: str, truth: Any) -> None:
    describe, sentence = REFUSALS[name]
    with pytest.raises(sf.PolicyError, match=sentence):
        describe(truth)


def test_numbers_and_truths_stay_what_they_are() -> None:
    categories = sf.RandomizeResponse(column="ill", p=0.5, categories=(True, 1, 0.5)).categories
    assert [type(category) for category in categories or ()] == [bool, int, float]
    caps = sf.TopCode(columns=("a", "b"), k=5, caps={"a": np.float32(0.5), "b": np.int64(3)}).caps
    assert caps == {"a": 0.5, "b": 3.0}


def test_a_policy_with_a_truth_for_a_number_names_its_line() -> None:
    policy = """
    data = { path = "demo" }
    [[protect]]
    method = "top_code"
    columns = ["age"]
    k = 5
    caps = { age = true }
    """
    with pytest.raises(sf.PolicyError, match=r"line 7, protect\[0\]\.caps\.age: must be a number$"):
        sf.Policy.parse(policy, Path("policy.toml"))
