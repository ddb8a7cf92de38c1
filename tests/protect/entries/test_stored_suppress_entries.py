# SPDX-License-Identifier: MIT
"""Entries of rows that stay where they are: the blanks, types, claims and figures of memory, however rows are cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.cells.private_entries import PrivateEntries
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError, ImpossibleRelease, PolicyError
from sfumato.mine.entries import adversarial_search
from sfumato.protect.entries import appearances
from sfumato.protect.entries.stored_items import read_stored_cells
from sfumato.protect.stored_method import explain_unstored_method, plan_stored
from tests.protect.test_stored_rowwise import CutRows, publish

ROLES = {"name": "identifying", "age": "quasi_identifying", "a": "sensitive", "b": "insensitive", "c": "sensitive"}
PRIVATE: dict[str, Any] = {
    "share": 0.1,
    "large share": PrivateEntries(share=0.6),
    "columns": ("a",),
    "condition": {"columns": ("b", "c"), "where": {"a": ("x",), "name": ("p1", "p2", "p3", "p5", "p8", "p13")}},
    "share of a condition": {"share": 0.3, "where": {"b": ("1", "2")}},
    "share with names": {"columns": ("name", "c", "a"), "share": 0.2},
    "cells": ((0, "a"), (1, "b"), (3, "c"), (5, 2)),
    "several": ({"share": 0.05}, {"columns": ("c",), "share": 0.3}),
}


def make_people(rows: int, seed: int) -> pl.DataFrame:
    """Columns that predict one another, with missing cells, numbers that are texts, and a text that may be blanked."""
    chance = np.random.default_rng(seed)
    a = chance.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1])
    b = np.where(chance.random(rows) < 0.8, np.where(a == "x", "1", "2"), chance.choice(["1", "2", "w"], rows))
    frame = pl.DataFrame(
        {
            "name": [f"p{number}" for number in range(rows)],
            "age": chance.integers(20, 23, rows),
            "a": a,
            "b": b,
            "c": np.where(chance.random(rows) < 0.9, np.where(b == "1", 0.5, 2.0), 7.25),
        }
    )
    gaps = {name: pl.Series(chance.random(rows) < 0.05) for name in ("age", "a", "c")}
    return frame.with_columns(pl.when(~gap).then(pl.col(name)).alias(name) for name, gap in gaps.items())


def plan_and_protect(method: Any, frame: pl.DataFrame, lengths: Sequence[int], seed: int = 3) -> tuple[Any, Any]:
    plan = plan_stored(method, StoredTable.of(CutRows(frame, lengths), ROLES), sf.Randomness.seeded(seed))
    return plan, method.protect(sf.Table.of(frame, ROLES), sf.Randomness.seeded(seed))


@pytest.mark.parametrize("private", PRIVATE)
@pytest.mark.parametrize("search", ["grades", "grades+", "grades_once"])
def test_the_release_is_that_of_memory(private: str, search: str) -> None:
    method = sf.SuppressEntries(private=PRIVATE[private], confidence=0.7, min_support=3, search=search)
    plan, release = plan_and_protect(method, make_people(90, 1), [40, 7])
    published = publish(plan)
    assert published.equals(release.data.frame)
    assert published.schema == release.data.frame.schema
    assert plan.claims == release.claims
    assert plan.changes == release.changes
    assert dict(plan.losses) == dict(release.losses)
    assert plan.outline.missing is release.data.missing
    assert plan.outline.roles == release.data.roles
    for name in ("hidden", "reasons", "rules_before"):
        assert plan.details[name].equals(release.details[name]), name
    for name in ("exposed_entries", "objective", "bound", "proven", "passes", "complete", "sensitive_entries"):
        assert plan.details[name] == release.details[name], name
    assert not plan.leaves_rows_out
    if search != "grades_once":
        assert release.losses["derived_entries"] or private in ("large share", "columns", "cells", "condition")


@settings(deadline=None, max_examples=15)
@given(
    st.integers(5, 60), st.integers(0, 9), st.sampled_from([0.5, 0.8, 1.0]), st.integers(1, 4),
    st.sampled_from([None, 1, 2]), st.booleans(), st.lists(st.integers(1, 30), min_size=1, max_size=3),
)  # fmt: skip
def test_any_table_and_parameters(
    rows: int, seed: int, confidence: float, least: int, longest: int | None, prior: bool, lengths: list[int]
) -> None:
    method = sf.SuppressEntries(
        private=0.2, confidence=confidence, min_support=least, max_length=longest, prior=prior, search="grades"
    )
    plan, release = plan_and_protect(method, make_people(rows, seed), lengths, seed)
    assert publish(plan).equals(release.data.frame)
    assert dict(plan.losses) == dict(release.losses)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"search": "exact"}, "search = exact"),
        ({"learner_risk": 0.3}, "learner_risk"),
        ({"discretize": {"c": 2}}, "discretize"),
        ({"private": np.ones((9, 5), dtype=bool)}, "a mask"),
    ],
)
def test_what_does_not_run_is_said(fields: dict[str, Any], words: str) -> None:
    method = sf.SuppressEntries(**{"private": 0.1, "confidence": 0.8, **fields})
    assert explain_unstored_method(method) == f"suppress_entries with {words}"


@pytest.mark.parametrize(
    ("private", "error", "words"),
    [
        ({"columns": ("d",)}, PolicyError, 'name "d", which is not a column'),
        ({"where": {"a": ("nobody",)}}, PolicyError, r"the specification \(where\) fits no published cell"),
        ({"columns": ("name",)}, PolicyError, "fits no published cell"),
        (((90, "a"),), DataError, "1 private entry is outside the table, which has 90 rows"),
    ],
)
def test_wrong_entries_are_refused_as_in_memory(private: Any, error: type[Exception], words: str) -> None:
    method, frame = sf.SuppressEntries(private=private, confidence=0.8), make_people(90, 1)
    with pytest.raises(error, match=words):
        method.protect(sf.Table.of(frame, ROLES))
    with pytest.raises(error, match=words):
        plan_stored(method, StoredTable.of(CutRows(frame, [50]), ROLES), sf.Randomness.seeded(1))


def test_a_file_lists_entries(tmp_path: Path) -> None:
    path = tmp_path / "entries.csv"
    path.write_text("row,column\n0,a\n2,b\n4,c\n6,name\n", encoding="utf-8")
    plan, release = plan_and_protect(
        sf.SuppressEntries(private=path, confidence=0.8, search="grades"), make_people(90, 1), [31]
    )
    assert publish(plan).equals(release.data.frame)
    assert plan.details["hidden"]["row"].to_list() == [0, 2, 4]


def test_too_many_rows_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_MEMORY", "256MB")
    rows = CutRows(make_people(90, 1), [50])
    rows.height = 50_000_000
    monkeypatch.setattr(rows, "iterate_batches", None)
    method = sf.SuppressEntries(private=0.1, confidence=0.8)
    with pytest.raises(DataError, match=r"50,000,000 rows of 4 columns .* GB of memory are needed, and 256 MB"):
        plan_stored(method, StoredTable.of(rows, ROLES), sf.Randomness.seeded(1))


@pytest.mark.parametrize(("room", "words"), [(0, "rows in which they appear"), (24 * 4_000, "rules appear in")])
def test_rules_that_appear_in_too_many_rows_are_refused(room: int, words: str) -> None:
    method = sf.SuppressEntries(private=0.1, confidence=0.7, min_support=3, max_length=1)
    table = StoredTable.of(CutRows(make_people(900, 1), [500]), ROLES)
    cells = read_stored_cells(table, ["age", "a", "b", "c"], method.private, sf.Randomness.seeded(1).generator())
    with pytest.raises(ImpossibleRelease, match=rf"{words}.* SFUMATO_MEMORY higher"):
        method.find_entries(cells, room)
    assert len(method.find_entries(cells, 1 << 20).derived.entries)


def test_rows_are_listed_in_parts_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    method = sf.SuppressEntries(private=0.1, confidence=0.6, min_support=3, search="grades")
    at_once, _ = plan_and_protect(method, make_people(300, 2), [77])
    monkeypatch.setattr(appearances, "_PART", 37)
    monkeypatch.setattr(adversarial_search, "PART", 41)
    in_parts, _ = plan_and_protect(method, make_people(300, 2), [77])
    assert in_parts.details["reasons"].equals(at_once.details["reasons"])
    assert in_parts.details["reasons"].height
