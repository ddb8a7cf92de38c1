# SPDX-License-Identifier: MIT
"""Changes outside the columns that a method names: by a plain comparison, and of a release that lacks a column."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.alignment import count_changes_elsewhere
from tests.contract.releases import make_once
from tests.contract.test_kept_columns import TABLES

CELLS = st.lists(st.sampled_from(["a", "b", None]), min_size=4, max_size=4)
ROLES = {"name": "identifying", "city": "quasi_identifying", "job": "sensitive", "visit": "insensitive"}


def build_people(city: list[str | None], job: list[str | None], visit: list[str | None]) -> sf.Table:
    return sf.Table.of({"name": list("wxyz"), "city": city, "job": job, "visit": visit}, ROLES)


@given(CELLS, CELLS, CELLS, CELLS, CELLS, st.permutations(range(4)))
def test_changes_by_a_plain_comparison(
    city: list[str | None],
    job: list[str | None],
    visit: list[str | None],
    new_city: list[str | None],
    new_job: list[str | None],
    rows: list[int],
) -> None:
    original = build_people(city, job, visit)
    frame = pl.DataFrame({"city": new_city, "job": new_job, "visit": [visit[row] for row in rows]})
    release = sf.Table.of(frame, {name: role for name, role in ROLES.items() if name != "name"})
    expected = sum(cell != city[row] for cell, row in zip(new_city, rows, strict=True))
    assert count_changes_elsewhere(original, release, ["job"], rows) == expected


@pytest.mark.parametrize("absent", ["city", "job", "visit"])
def test_a_release_without_a_column_is_refused(absent: str) -> None:
    original = build_people(["a"] * 4, ["b"] * 4, ["c"] * 4)
    release = original.replace_frame(original.frame.drop("name", absent))
    with pytest.raises(sf.DataError, match=f'no column "{absent}"'):
        count_changes_elsewhere(original, release, ["job"], None)


@pytest.mark.parametrize("name", ["swap confidential", "add noise", "randomize response"])
def test_methods_that_keep_the_rest_notice_a_column_that_is_gone(name: str) -> None:
    sample = make_once(next(example for example in TABLES if example.name == name))
    column = next(change.column for change in sample.release.changes if change.trivial)
    frame = sample.release.data.frame.drop(column)
    with pytest.raises(sf.DataError, match=f'no column "{column}"'):
        sf.check(replace(sample.release, data=sample.release.data.replace_frame(frame)), original=sample.data)
