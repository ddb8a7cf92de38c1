# SPDX-License-Identifier: MIT
"""Measures of noise, on differences made by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measure.noise import (
    changed_beside_noise,
    evidence_checks,
    interval_privacy,
    noise_centre,
    noise_dependence,
    noise_privacy,
    noise_shape,
    outside_interval,
)


def table(**columns: Any) -> sf.Table:
    return sf.Table.of(pl.DataFrame(columns), dict.fromkeys(columns, "sensitive"))


def test_privacy_is_the_narrowest_interval() -> None:
    """Differences 0, 1, 2, 9: three of four lie within 2, all within 9; of a range of 10."""
    before, after = table(x=[0.0, 10.0, 5.0, 5.0]), table(x=[0.0, 11.0, 7.0, 14.0])
    assert noise_privacy(before, after, "x", confidence=0.75) == 0.2
    assert noise_privacy(before, after, "x", confidence=0.76) == 0.9
    assert noise_privacy(before, after, "x", 0, 20, confidence=0.75) == 0.1
    far_below = table(x=[-9.0, 10.0, 6.0, 7.0])
    assert noise_privacy(before, far_below, "x", confidence=0.75) == 0.2


def test_whole_numbers_are_as_wide_as_they_are_many() -> None:
    before, after = table(x=[0, 10, 5, 5]), table(x=[0, 11, 7, 14])
    assert noise_privacy(before, after, "x", confidence=0.75) == 0.3
    days = [dt.date(2000, 1, 1), dt.date(2000, 1, 11)]
    assert noise_privacy(table(x=days), table(x=[str(day) for day in days]), "x") == 0.1


def test_centre_and_dependence() -> None:
    true = np.array([0.0, 1.0, 2.0, 3.0])
    shifted = table(x=true + 2)
    assert noise_centre(table(x=true), shifted, "x", deviation=1.0) == 4.0
    assert noise_centre(table(x=true), table(x=true), "x", deviation=1.0) == 0.0
    assert noise_dependence(table(x=true), shifted, "x", deviation=1.0) == pytest.approx(0.0, abs=1e-9)
    stretched = table(x=3 * true)
    # the slope is 2, and Σ (x − x̄)² = 5
    assert noise_dependence(table(x=true), stretched, "x", deviation=1.0) == pytest.approx(2 * np.sqrt(5))
    assert noise_dependence(table(x=[4.0, 4.0]), table(x=[5.0, 9.0]), "x") == 0.0
    assert noise_centre(table(x=true), shifted, "x") > 1e6  # a constant is no noise


def test_shape_knows_noise_that_is_not_like_the_data() -> None:
    chance = np.random.default_rng(1)
    spread = np.array([[1.0, 0.8], [0.8, 1.0]])
    true = chance.multivariate_normal([0, 0], spread, 4_000).T
    like, free = chance.multivariate_normal([0, 0], 4 * spread, 4_000).T, 2 * chance.normal(size=(2, 4_000))
    before = table(x=true[0], y=true[1])
    alike, unlike = (table(x=true[0] + one[0], y=true[1] + one[1]) for one in (like, free))
    assert noise_shape(before, alike, ("x", "y"), 4.0) < 5
    assert noise_shape(before, unlike, ("x", "y"), 4.0) > 20
    assert noise_shape(before, alike, ("x", "y"), 2.0) > 20


def test_intervals() -> None:
    before, after = table(x=[0.0, 3.0, 4.0, 9.0]), table(x=[2.5, 2.5, 2.5, 7.5])
    assert outside_interval(before, after, "x", 5.0, 0.0) == 0
    assert outside_interval(before, table(x=[2.5, 2.5, 7.5, 7.5]), "x", 5.0, 0.0) == 1
    assert outside_interval(before, table(x=[2.5, 2.5, 2.0, 7.5]), "x", 5.0, 0.0) == 1
    assert interval_privacy(before, after, "x", 5.0, 0.0, 10.0, 0.9) == pytest.approx(0.45)
    assert interval_privacy(before, table(x=[2.5] * 4), "x", 8.0, 0.0, 10.0, 0.9) == pytest.approx(0.72)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_whole_intervals(width: int) -> None:
    true = np.arange(-7, 8)
    begin = -7 + (true + 7) // width * width
    lower = begin + (width - 1) // 2
    assert outside_interval(table(x=true), table(x=lower), "x", float(width), -7.0, 1.0) == 0
    assert outside_interval(table(x=true), table(x=lower + 1), "x", float(width), -7.0, 1.0) == len(true)


def test_changes_beside_noise() -> None:
    before = table(x=[1, 2, None], y=["a", "b", None], who=["p", "q", "r"])
    after = table(x=[5, None, None], y=["a", "c", None])
    assert changed_beside_noise(before, after, ("x",)) == 2
    assert changed_beside_noise(before, table(x=[5, 3, None], y=["a", "b", None]), ("x",)) == 0
    assert changed_beside_noise(before, after, ("x",), rows=[0, 1, 2]) == 2


def test_what_cannot_be_compared() -> None:
    one, two = table(x=[1.0, 2.0]), table(x=[1.0])
    with pytest.raises(sf.DataError, match="1 published rows"):
        noise_privacy(one, two, "x")
    with pytest.raises(sf.DataError, match="do not have all rows"):
        noise_privacy(one, two, "x", rows=[7])
    with pytest.raises(sf.DataError, match="no column «y»"):
        noise_privacy(one, one, "y")
    with pytest.raises(sf.DataError, match="no range"):
        noise_privacy(table(x=[1.0, 1.0]), one, "x")
    with pytest.raises(sf.DataError, match="neither"):
        noise_privacy(table(x=[True, False]), one, "x")
    with pytest.raises(sf.PolicyError, match="confidence"):
        noise_privacy(one, one, "x", confidence=2.0)
    with pytest.raises(sf.DataError, match="no row has"):
        noise_privacy(
            table(x=[None, None]).with_frame(pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Int64)})), one, "x"
        )


def test_checks_have_their_names() -> None:
    assert set(evidence_checks()) == {
        "noise_privacy",
        "noise_centre",
        "noise_dependence",
        "noise_shape",
        "interval_privacy",
        "outside_interval",
        "changed_beside_noise",
    }
