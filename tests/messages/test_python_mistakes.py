# SPDX-License-Identifier: MIT
"""Natural mistakes of a notebook, and the sentence that each of them gets; never a cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from tests.command_line import CANARY

ROLES = {"name": "identifying", "age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
METHOD = sf.Partition(models=[sf.KAnonymity(k=4)])
UNTYPED: Any = sf
"""For what a type checker would not let pass."""


def make_people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"{CANARY}{i}" for i in range(40)],
            "age": [20 + i * 7 % 50 for i in range(40)],
            "sex": ["f", "m"] * 20,
            "ill": ["flu", "cold", "none", "asthma"] * 10,
        }
    )


def run(people: pd.DataFrame, method: Any = METHOD, roles: Any = ROLES, **options: Any) -> Any:
    return sf.run(people, method, roles=roles, **options)


MISTAKES: dict[str, tuple[Callable[[pd.DataFrame], Any], tuple[str, ...]]] = {
    "a role that is misspelt": (lambda df: run(df, roles={**ROLES, "age": "quasi"}), ('mean "quasi_identifying"?',)),
    "a column without its role": (lambda df: run(df, roles={**ROLES, "ill": None}), ('"ill" has none',)),
    "a method by its name": (lambda df: run(df, "partition"), ("sf.Partition(...)",)),
    "another tool's method": (lambda df: run(df, "Mondrian"), ("sf.Partition(...)",)),
    "a model's class": (lambda df: sf.Partition(models=[sf.KAnonymity]), ("models[0]", "KAnonymity(...)", "the class")),
    "an attack's class": (lambda df: run(df, attacks=[sf.attack.Linking]), ("attack[0]", "Linking(...)")),
    "widths for rows": (lambda df: run(df, hierarchies={"age": [10, 20]}), ('"age"', "not of rows", "widths")),
    "values of two types": (lambda df: run(df.assign(age=[1, CANARY] * 20)), ('"age"', "several types", "astype(str)")),
    "complex numbers": (lambda df: run(df.assign(age=[1j] * 40)), ('"age"', "a type that a table lacks")),
    "a column twice": (lambda df: run(pd.concat([df, df[["age"]]], axis=1)), ('the same name: "age"', "rename")),
    "a path for a frame": (lambda df: sf.Table.of("people.csv"), ("sf.Table.read(path",)),
    "a frame for a path": (UNTYPED.Table.read, ("not DataFrame", "sf.Table.of(df)")),
    "a draft for a frame": (UNTYPED.draft_policy, ("not DataFrame",)),
    "the originals first": (
        lambda df: UNTYPED.check(sf.Table.of(df, ROLES), METHOD.protect(sf.Table.of(df, ROLES))),
        ("the release comes first", "Table"),
    ),
    "an attack on the originals": (
        lambda df: UNTYPED.attack.Linking().run(sf.Table.of(df, ROLES), METHOD.protect(sf.Table.of(df, ROLES))),
        ("the release comes first",),
    ),
    "an attack with a frame": (
        lambda df: UNTYPED.attack.Linking().run(METHOD.protect(sf.Table.of(df, ROLES)), df),
        ("the originals are a Table", "sf.Table.of(df"),
    ),
    "one form for all dates": (lambda df: UNTYPED.Table.of(df, dates="%Y"), ("by column", '{"born":')),
    "sep for separator": (lambda df: UNTYPED.Table.read("x.csv", sep=";"), ('"sep"', 'did you mean "separator"?')),
    "an unknown option": (lambda df: UNTYPED.Table.read("x.csv", colour=1), ('"colour"', "it also takes header")),
    "a list of roles": (lambda df: UNTYPED.Table.of(df, ["age"]), ("roles are given by column",)),
    "roles in third place": (lambda df: UNTYPED.run(df, METHOD, ROLES), ("roles are given by name",)),
    "k of a method": (lambda df: UNTYPED.Partition(k=5), ('"k"', "models=[sf.KAnonymity(k=5)]")),
    "a run that was not saved": (lambda df: UNTYPED.verify(run(df)), ("run.save(folder)",)),
    "a measure without its column": (
        lambda df: UNTYPED.measure.distinct_l(sf.Table.of(df, ROLES)),
        ("distinct_l", "'column'"),
    ),
    "a hierarchy of a frame": (UNTYPED.propose_hierarchy, ('df["age"]',)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, words = MISTAKES[name]
    with pytest.raises(sf.SfumatoError) as error_info:
        call(make_people())
    message = str(error_info.value)
    assert CANARY not in message and "https" not in message and "\n" not in message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [("Mondrian", "Partition"), ("read_csv", "Table.read"), ("kanonymity", "KAnonymity"), ("anonymize", "run")],
)
def test_a_name_of_another_tool_is_understood(name: str, suggestion: str) -> None:
    with pytest.raises(AttributeError, match=f'did you mean "{suggestion}"'):
        getattr(sf, name)


def test_what_is_not_a_mistake() -> None:
    people = make_people()
    assert UNTYPED.KAnonymity(k=np.int64(4)) == sf.KAnonymity(k=4)
    by_role = {"identifying": "name", "quasi_identifying": ["age", "sex"], "sensitive": "ill"}
    numbered = people.set_axis(range(4), axis=1)
    by_number = dict(zip(range(4), ROLES.values(), strict=True))
    for run_ in (run(people, roles=by_role), run(numbered, roles=by_number)):
        assert run_.published and run_.release.data.frame.width == 3
    proposal = UNTYPED.propose_hierarchy(people["age"])
    assert proposal is not None and proposal.column == "age"


def test_a_list_of_many_columns_says_how_many_more_there_are() -> None:
    wide = pd.DataFrame({f"question {n}": [n] for n in range(800)})
    with pytest.raises(sf.DataError, match=r'its columns are "question 0", .*"question 11" and 788 more'):
        sf.audit(wide, ["mood"])
