# SPDX-License-Identifier: MIT
"""What a run keeps of a method's decisions is all that attacks on the finished release read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.details import ChainDetails, Details, EntryDetails, HidingDetails, list_families
from sfumato.randomness import Randomness
from sfumato.workflow.attack_run import _read_kept_details, _read_record
from sfumato.workflow.folder import StagingFolder
from sfumato.workflow.folders.private_record import keep_private
from tests.contract.examples import ATTACK_EXAMPLES, METHOD_EXAMPLES, Example
from tests.contract.quick_attacks import make_quick_attack, shorten_attack
from tests.contract.releases import make_once

FIRST_EXAMPLES = {type(make_once(example).release.details): example for example in reversed(METHOD_EXAMPLES)}
"""One example of each family of decisions."""


def strip_details(details: Details) -> Details:
    """The decisions as they are read from the folder of a run."""
    kept_names = {"rows", "public", "marks", *details.stored_fields}
    values = {name: value for name, value in details.items() if name in kept_names or isinstance(value, pl.DataFrame)}
    return type(details)(**values)


def list_attacks(shape: str) -> list[Any]:
    """The attacks on a shape, as in their examples, and as they are if nothing is given: then they read decisions."""
    attacks = [shorten_attack(example.subject) for example in ATTACK_EXAMPLES if example.subject.shape == shape]
    for kind in {type(attack) for attack in attacks}:
        with suppress(ValueError, sf.SfumatoError):
            attacks.append(make_quick_attack(kind))
    return attacks


def attack_release(attack: Any, release: sf.Release, data: Any) -> Any:
    """The outcome; the reason if the attack cannot run."""
    try:
        return attack.run(release, data, randomness=Randomness.seeded(3))
    except sf.SfumatoError as error:
        return str(error)


@pytest.mark.parametrize("example", FIRST_EXAMPLES.values(), ids=lambda example: example.name)
def test_attacks_read_only_what_is_stored(example: Example) -> None:
    result = make_once(example)
    stripped_release = replace(result.release, details=strip_details(result.release.details))
    for attack in list_attacks(example.subject.gives):
        outcome, outcome_again = (
            attack_release(attack, release, result.data) for release in (result.release, stripped_release)
        )
        assert outcome == outcome_again, (
            f"{attack.attack} reads a decision of {example.subject.method} that no run keeps: add it to stored_fields "
            f"of {type(result.release.details).__name__} (details.py)"
        )


@pytest.mark.parametrize("kind", FIRST_EXAMPLES, ids=lambda kind: kind.__name__)
def test_details_of_a_method_are_a_family(kind: type[Details]) -> None:
    cure = f'give {kind.__name__} a name of its own in details.py, family: ClassVar[str] = "…"'
    assert list_families().get(kind.family) is kind, cure


@pytest.mark.parametrize("family", list_families().values(), ids=lambda family: family.family)
def test_what_is_stored_are_fields(family: type[Details]) -> None:
    assert set(family.stored_fields) <= set(family._list_names())


def test_two_steps_keep_their_own_files(tmp_path: Path) -> None:
    """The frames of two methods by one name were one file, and both methods were read from the second one's."""
    frames = [pl.DataFrame({"row": [n], "column": ["age"], "value": [str(n)]}) for n in (1, 2)]
    steps = (
        EntryDetails(hidden=frames[0], private=[(1, "age")]),
        EntryDetails(hidden=frames[1]),
        HidingDetails(sensitive=(("a", "b"),), proven=True),
    )
    table = sf.Table.of({"age": [1, 2]}, {"age": "sensitive"})
    method = sf.RoundNumbers(columns=("age",), step=1)
    release = sf.Release(table, method, (), {}, ChainDetails(steps=steps), earlier_methods=(method, method))
    policy = sf.Policy.model_validate({"data": {"path": "x.csv"}, "protect": [method.model_dump()]})
    (tmp_path / "private").mkdir()
    keep_private(policy, table, release, {}, StagingFolder(tmp_path))
    kept_steps = _read_kept_details(_read_record(tmp_path / "private"), tmp_path / "private", {}, 3).list_steps()
    assert [step["hidden"]["value"].to_list() for step in kept_steps[:2]] == [["1"], ["2"]]
    assert kept_steps[0]["private"] == ((1, "age"),)
    assert kept_steps[2]["sensitive"] == (("a", "b"),)
    assert kept_steps[2]["proven"] is True
