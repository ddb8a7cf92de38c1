# SPDX-License-Identifier: MIT
"""A second method that changes nothing changes no figure: what attacks read is about the method they mean."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack import ATTACKS
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from sfumato.workflow.policy_parts.method_order import refuse_misfits
from sfumato.workflow.policy_parts.policy_sections import DataSection
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.quick_attacks import make_quick_attack
from tests.contract.runs import GivenPolicy

TABLES = {
    type(example.subject): example
    for example in reversed(METHOD_EXAMPLES)
    if example.subject.shape == example.subject.gives == "table" and not example.subject.must_be_alone
}
"""The first example of every method that may be in a policy with others."""
CONSTANT = "ward"
IDLE = sf.RoundNumbers(columns=(CONSTANT,), step=10)
TABLE_ATTACKS = {attack.__name__: attack for attack in ATTACKS if attack.shape == "table"}


def add_constant(table: sf.Table) -> sf.Table:
    """The table with a column in which everybody has the same round number."""
    frame = table.frame.with_columns(pl.lit(50).alias(CONSTANT))
    return sf.Table.of(frame, {**table.roles, CONSTANT: "insensitive"}, dict(table.hierarchies), missing=table.missing)


def release_by(methods: tuple[Any, ...], data: sf.Table, folder: Path) -> sf.Release:
    (folder / "input").write_text("x")
    policy = GivenPolicy(data=DataSection(path=str(folder / "input")), protect=methods)
    return apply_methods(policy, data, Randomness.seeded(3)).release


def find_refusal(methods: tuple[Any, ...], data: sf.Table, folder: Path) -> str:
    """Why these methods do not go together in this order; empty if they do."""
    try:
        refuse_misfits(methods, data)
        GivenPolicy(data=DataSection(path=str(folder / "input")), protect=methods)
    except (sf.PolicyError, ValueError) as refusal:
        return str(refusal)
    return ""


def run_attacks(release: sf.Release, data: sf.Table, names: Iterable[str] | None = None) -> dict[str, Any]:
    """What each attack finds that needs no parameter: its counts and facts; one that cannot be run is left out."""
    outcomes: dict[str, Any] = {}
    for name, attack in TABLE_ATTACKS.items():
        if names is not None and name not in names:
            continue
        try:
            outcomes[name] = make_quick_attack(attack).run(release, data, randomness=Randomness.seeded(1)).as_json()
        except (sf.SfumatoError, ValueError):
            continue
    return outcomes


@pytest.mark.parametrize("example", TABLES.values(), ids=lambda example: example.name)
def test_attacks_find_the_same_beside_a_method_that_changes_nothing(example: Example, tmp_path: Path) -> None:
    data = add_constant(example.data())
    orders = [order for order in permutations((example.subject, IDLE)) if not find_refusal(order, data, tmp_path)]
    if not orders:
        pytest.skip(find_refusal((example.subject, IDLE), data, tmp_path))
    alone = release_by((example.subject,), data, tmp_path)
    expected = run_attacks(alone, data)
    assert expected
    for order in orders:
        release = release_by(order, data, tmp_path)
        assert release.data.frame.equals(alone.data.frame)
        outcomes = run_attacks(release, data, expected)
        different = [name for name in expected if outcomes.get(name) != expected[name]]
        assert not different, (
            f"{[method.method for method in order]}: {different} find something else than on the release of "
            f"{example.subject.method} alone, which is the same: read the parameters of a method from its own step "
            "(`release.list_steps()`), not from `release.method`"
        )
