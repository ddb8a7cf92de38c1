# SPDX-License-Identifier: MIT
"""Options that few use, each with a policy in which something false was once said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import sfumato as sf
from sfumato.details import HidingDetails
from sfumato.protect.method import HeadlineCount
from sfumato.public.thresholds import MiningThresholds
from sfumato.workflow.summary.advice import note_nothing_hidden
from tests.workflow.people_and_places import ROLES, make_people


def read_page(path: Path) -> str:
    """The words of a report."""
    text = re.sub(r"<(style|script|svg).*?</\1>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_a_proof_about_one_method_is_not_one_about_the_other(tmp_path: Path) -> None:
    """The keys of several methods were read as those of one: the last that set each."""
    dividing = sf.Partition(models=[sf.KAnonymity(k=2)])
    hiding = sf.SuppressEntries(private={"columns": ["ill"], "where": {"ill": "flu"}}, confidence=0.9, min_support=50)
    run = sf.run(make_people(60), [dividing, hiding], out=tmp_path / "out", randomness=sf.Randomness.seeded(3))
    partition, entries = (step.find_optimality() for step in run.release.details.list_steps())
    assert partition is None
    assert entries is not None and entries.is_proven
    words = read_page(tmp_path / "out" / "private" / "report.html")
    assert "Optimality of suppress_entries proven: nothing costs less among all sets of entries" in words
    assert words.count("proven") == 1


def write_people(path: Path, hidden_lines: list[str]) -> None:
    """240 people of two ages, and some who are unlike them."""
    public_lines = [f"{21 + row % 2},m,{'flu' if row % 3 else 'gout'}" for row in range(240)]
    path.write_text("\n".join(["age,sex,ill", *public_lines, *hidden_lines]) + "\n")


def certify(folder: Path, hidden_lines: list[str], how: str) -> tuple[bytes, dict[str, Any]]:
    """The data file and the certificate of a release that suppresses the people who are unlike others."""
    folder.mkdir()
    write_people(folder / "people.csv", hidden_lines)
    (folder / "policy.toml").write_text(
        f"""
        [data]
        path = "people.csv"
        [roles]
        quasi_identifying = ["age", "sex"]
        sensitive = ["ill"]
        [hierarchies]
        age = {{ kind = "intervals", widths = [10, 20] }}
        [[protect]]
        method = "generalize"
        models = [{{ model = "k_anonymity", k = 200 }}]
        suppression_limit = 0.1
        suppressed_rows = "{how}"
        """
    )
    sf.run(folder / "policy.toml", out=folder / "out")
    release = folder / "out" / "release"
    body = json.loads((release / "certificate.json").read_text())
    body["data"].pop("sha256")
    for name in ("created", "input_commitment", "files", "signature", "signer"):
        body.pop(name, None)
    return (release / "data.csv").read_bytes(), body


HIDDEN: tuple[list[str], ...] = (
    [],
    ["70,f,flu"],
    ["70,f,flu", "71,f,gout"],
    ["70,f,flu", "71,f,gout", "88,f,gout"],
    [",f,flu"],
)


def test_a_certificate_does_not_tell_of_people_who_were_left_out(tmp_path: Path) -> None:
    """Loss divided by the number of ages that occur: 0.50 if nobody was left out, 0.25, 0.15 or 0.10 otherwise."""
    certificates = [certify(tmp_path / str(number), hidden_lines, "drop") for number, hidden_lines in enumerate(HIDDEN)]
    assert len({data for data, _ in certificates}) == 1
    assert certificates[0][1]["utility"]["loss"] > 0
    assert all(body == certificates[0][1] for _, body in certificates)


def test_a_certificate_does_not_tell_the_values_of_starred_people(tmp_path: Path) -> None:
    """One row of stars, whoever it is."""
    people = (["70,f,flu"], ["21,f,flu"], ["99,f,flu"])
    certificates = [certify(tmp_path / str(number), hidden_lines, "star") for number, hidden_lines in enumerate(people)]
    assert len({data for data, _ in certificates}) == 1
    assert b"*" in certificates[0][0]
    assert all(body == certificates[0][1] for _, body in certificates)


def test_people_left_out_for_missing_cells_are_lost() -> None:
    """A loss of 0.45 passed a gate although 63 % of the people were gone."""
    frame = make_people(60).frame.with_columns(age=pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.col("age")))
    table = sf.Table.of(frame, ROLES, make_people(60).hierarchies, missing="drop")
    run = sf.run(table, sf.Generalize(models=[sf.KAnonymity(k=2)]))
    published = run.record["utility"]["published_loss"]
    assert len(run.release.data) == 40
    assert run.record["utility"]["loss"] == pytest.approx(published + (1 - published) / 3)


def test_nothing_changed_is_not_nothing_to_hide() -> None:
    """A literal search that can hide nothing left two rules visible, and the advice said that there were none."""
    method = sf.HideItems(items=("a",), min_support=1, min_confidence=0.5)
    release = sf.Release(
        sf.Baskets.of([["a", "b"]]), method, (), {"changes": 0, "exposed_rules": 2}, HidingDetails(sensitive=("a",))
    )
    assert note_nothing_hidden(release)[0].startswith("Nothing was changed, and 2 rules still show")
    quiet_release = sf.Release(release.data, method, (), {"changes": 0, "exposed_rules": 0}, release.details)
    assert "no secret exceeds its threshold" in note_nothing_hidden(quiet_release)[0]
    assert "gaps" not in note_nothing_hidden(quiet_release)[0]


class HideByPadding(sf.HideItems):
    """A method that counts what it adds, and knows no thresholds."""

    headline_count: ClassVar[HeadlineCount | None] = HeadlineCount(("added_baskets",), "baskets", "added")

    @classmethod
    def find_thresholds(cls, parameters: Mapping[str, Any]) -> MiningThresholds | None:
        return None


def test_that_nothing_changed_is_asked_of_the_method() -> None:
    """One whose count has another name never heard that nothing was changed, or was told of thresholds."""
    method = HideByPadding(items=("a",), min_support=1, min_confidence=0.5)
    release = sf.Release(sf.Baskets.of([["a", "b"]]), method, (), {"added_baskets": 0}, HidingDetails(sensitive=("a",)))
    (note,) = note_nothing_hidden(release)
    assert note.startswith("Nothing was changed.")
    assert "threshold" not in note
    assert note_nothing_hidden(replace(release, losses={"added_baskets": 1})) == ()
