# SPDX-License-Identifier: MIT
"""Intervals between cuts: against plain Python, what is claimed of them, and what attacks make of them."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.mine.noise.estimates import estimate_released_columns

ROLES = {"x": "quasi_identifying"}


def cut(values: Any, cuts: Any, ends: Any = None, **fields: Any) -> sf.Release:
    ranges = "from_data" if ends is None else {"x": ends}
    method = sf.AddNoise(columns="x", kind="discretize", discretize={"x": cuts}, ranges=ranges, **fields)
    return method.protect(sf.Table.of({"x": values}, ROLES))


@given(
    values=st.lists(st.integers(0, 40), min_size=1, max_size=30),
    cuts=st.lists(st.integers(1, 19).map(lambda n: 2 * n), min_size=1, max_size=6, unique=True).map(sorted),
)
def test_whole_numbers_by_the_book(values: list[int], cuts: list[int]) -> None:
    """From one cut to below the next; of an even number of them the lower middle."""
    edges = [0, *cuts, 41]
    release = cut(values, tuple(cuts), (0, 40))
    for value, published in zip(values, release.data.frame["x"], strict=True):
        index = bisect_right(edges, value) - 1
        interval = list(range(edges[index], edges[index + 1]))
        assert value in interval and published == interval[(len(interval) - 1) // 2]
    level = 0.95 * min(b - a for a, b in pairwise(edges)) / 41
    assert release.public["x"]["achieved"] == pytest.approx(level)
    assert release.public["x"]["edges"] == edges
    table = sf.Table.of({"x": values}, ROLES)
    findings = sf.check(release, table)
    assert {finding.property for finding in findings} >= {"cut_privacy", "outside_cuts", "changed_without_noise"}
    assert all(finding.holds for finding in findings)


def test_decimals_missing_cells_and_dates() -> None:
    release = cut([0.5, 2.0, None, 9.99, 10.0], (2.0, 7.5), (0.0, 10.0))
    assert release.data.frame["x"].to_list() == [1.0, 4.75, None, 8.75, 8.75]
    days = [date(2009, 1, 3), date(2009, 6, 30), date(2009, 12, 31)]
    release = cut(days, (date(2009, 7, 1),), (date(2009, 1, 1), date(2009, 12, 31)))
    assert release.data.frame["x"].to_list() == [date(2009, 4, 1), date(2009, 4, 1), date(2009, 9, 30)]
    assert all(finding.holds for finding in sf.check(release, sf.Table.of({"x": days}, ROLES)))
    shares = estimate_released_columns(release, ["x"])
    assert shares["probability"].to_list() == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


def test_equal_frequency_on_a_coarse_grid() -> None:
    values = np.random.default_rng(1).exponential(100, 4000).round(3)
    release = cut(values, 4, (0.0, 1000.0))
    edges = release.public["x"]["edges"]
    assert all(edge % 10 == 0 for edge in edges)  # a hundredth of the range
    shares = estimate_released_columns(release, ["x"])
    assert shares["from"].to_list() == edges[:-1]
    assert shares["probability"].to_list() == pytest.approx([0.25] * 4, abs=0.05)
    assert release.public["x"]["domain"] == "data"
    # One person more or less does not show in the cuts.
    assert cut(values[1:], 4, (0.0, 1000.0)).public["x"]["edges"] == edges
    level = next(claim for claim in release.claims if claim.property == "cut_privacy")
    assert "taken from the data" in level.meaning
    table = sf.Table.of({"x": values}, ROLES)
    assert all(finding.holds for finding in sf.check(release, table))


@given(values=st.lists(st.integers(0, 12), min_size=2, max_size=40), count=st.integers(2, 8))
def test_equal_frequency_never_publishes_a_value_by_its_interval(values: list[int], count: int) -> None:
    release = cut(values, count, (0, 12))
    edges = release.public["x"]["edges"]
    assert len(edges) <= count + 1
    assert all(high - low >= 2 for low, high in pairwise(edges))
    assert all(finding.holds for finding in sf.check(release, sf.Table.of({"x": values}, ROLES)))


def test_forged_releases_break_their_claims() -> None:
    values = list(range(41))
    table, release = sf.Table.of({"x": values}, ROLES), cut(values, (10, 30), (0, 40))

    def find_broken(column: pl.Series) -> set[str]:
        data = release.data.replace_frame(release.data.frame.with_columns(column.alias("x")))
        forged = sf.Release(data, release.method, release.claims, release.losses, release.details)
        return {finding.property for finding in sf.check(forged, table) if finding.holds is False}

    published = release.data.frame["x"]
    assert find_broken(published) == set()
    assert find_broken(pl.Series([published[40], *published[1:]])) == {"outside_cuts"}
    assert find_broken(published + 1) == {"outside_cuts"}
    assert find_broken(pl.Series(values)) == {"outside_cuts", "cut_privacy"}


def test_an_attacker_knows_the_cuts() -> None:
    """Who knows an age knows its published midpoint: linking finds the rows of its interval and town."""
    ages = np.random.default_rng(2).integers(0, 100, 300)
    towns = np.random.default_rng(3).choice(["a", "b"], 300)
    table = sf.Table.of({"x": ages, "town": towns}, {"x": "quasi_identifying", "town": "quasi_identifying"})
    method = sf.AddNoise(columns="x", kind="discretize", discretize={"x": (7, 30, 33)}, ranges={"x": (0, 100)})
    release = method.protect(table)
    outcome = sf.attack.Linking().run(release, table)
    # Everybody is found among those of the same interval and town: one of each class in the mean.
    assert outcome.successes == release.data.frame.n_unique() == 8


def test_beside_columns_of_equal_widths() -> None:
    table = sf.Table.of({"x": list(range(50)), "y": list(range(50))}, {"x": "sensitive", "y": "sensitive"})
    method = sf.AddNoise(
        columns=("x", "y"), kind="discretize", privacy=0.2, discretize={"y": (25,)}, ranges={"x": (0, 49), "y": (0, 49)}
    )
    release = method.protect(table)
    assert release.data.frame["y"].unique().sort().to_list() == [12, 37]
    assert release.public["x"]["kind"] == "discretize" and release.public["y"]["kind"] == "intervals"
    assert release.details["loss"].keys() == {"x", "y"}
    assert all(finding.holds for finding in sf.check(release, table))
    assert sf.AddNoise.model_validate_json(method.model_dump_json()) == method


@pytest.mark.parametrize(
    ("cuts", "words"),
    [
        ((30, 20), "ascending order"),
        ((0, 20), "inside of its range"),
        ((20, 41), "inside of its range"),
        ((20, 21), "would publish its value"),
        ((40,), "would publish its value"),
    ],
)
def test_cuts_that_do_not_cut_are_refused(cuts: Any, words: str) -> None:
    with pytest.raises(sf.PolicyError, match=words):
        cut(list(range(41)), cuts, (0, 40))


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ValidationError, match="kind = discretize"):
        sf.AddNoise(columns="x", discretize={"x": (1,)})
    with pytest.raises(ValidationError, match="two intervals or more"):
        sf.AddNoise(columns="x", kind="discretize", discretize={"x": 1})
    with pytest.raises(sf.PolicyError, match='`discretize` lists "y"'):
        sf.AddNoise(columns="x", kind="discretize", discretize={"y": 3}).protect(sf.Table.of({"x": [1, 2]}, ROLES))
