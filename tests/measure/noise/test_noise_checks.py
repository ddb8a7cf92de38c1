# SPDX-License-Identifier: MIT
"""Measures of noise, on differences made by hand."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measure.noise.noise_checks import (
    count_cells_changed_without_noise,
    count_outside_interval,
    count_unchanged_cells,
    measure_interval_privacy,
    measure_noise_centre,
    measure_noise_dependence,
    measure_noise_law,
    measure_noise_shape,
    noise_privacy,
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
    # Three of the differences 0, 1, 2 and 9 lie within three whole numbers; the range has eleven.
    assert noise_privacy(before, after, "x", confidence=0.75) == pytest.approx(3 / 11)
    days = [dt.date(2000, 1, 1), dt.date(2000, 1, 11)]
    assert noise_privacy(table(x=days), table(x=[str(day) for day in days]), "x") == pytest.approx(1 / 11)


def test_centre() -> None:
    true = np.array([0.0, 1.0, 2.0, 3.0])
    shifted = table(x=true + 2)
    assert measure_noise_centre(table(x=true), shifted, "x", deviation=1.0) == 4.0
    assert measure_noise_centre(table(x=true), table(x=true), "x", deviation=1.0) == 0.0
    assert measure_noise_centre(table(x=true), shifted, "x") > 1e6  # a constant is no noise


def test_dependence_by_hand() -> None:
    """Uniform noise on [−1, 1] of −½ and ½ stands at −¼ and ¼, and the values at −1 and 1 of the usual distance: the
    sum is ½, its error √(2 / 12)."""
    before, after = table(x=[1.0, 3.0]), table(x=[0.5, 3.5])
    assert measure_noise_dependence(before, after, "x", "uniform", 1.0) == pytest.approx(0.5 * np.sqrt(6))
    # rounded noise stands in the middle of what it was rounded from: [−1, −½] and [½, 1] are at ⅛ and ⅞
    whole = table(x=[1, 3]), table(x=[0, 4])
    assert measure_noise_dependence(*whole, "x", "uniform", 1.0, 1.0) == pytest.approx(0.75 * np.sqrt(6))
    # sizes of ½, 0 and ½ stand at 0, −½ and 0, and the values at 1, 0 and 1, that is ⅓, −⅔ and ⅓ about their mean
    middle = table(x=[1.0, 2.0, 3.0]), table(x=[0.5, 2.0, 3.5])
    assert measure_noise_dependence(*middle, "x", "uniform", 1.0) == pytest.approx(1 / 3 * np.sqrt(12 / (6 / 9)))
    assert measure_noise_dependence(table(x=[4.0, 4.0]), table(x=[4.5, 3.9]), "x", "uniform", 1.0) == 0.0
    assert measure_noise_dependence(table(x=[4.0]), table(x=[4.5]), "x", "gaussian", 1.0) == 0.0


def test_dependence_sees_values_distances_sizes_and_other_columns() -> None:
    chance = np.random.default_rng(5)
    x, y, noise, other = chance.normal(size=(4, 1_000))
    original = table(x=x, y=y)

    def measure_dependence(added: Any, other_noise: Any = other, independent_count: int = 1) -> float:
        published = table(x=x + added, y=y + other_noise)
        return measure_noise_dependence(
            original, published, "x", "gaussian", 1.0, other_columns=("y",), independent=independent_count
        )

    assert measure_dependence(noise) < 5
    assert measure_dependence(x) > 20
    assert measure_dependence(y) > 20
    assert measure_dependence(np.sign(np.abs(x) - 0.67) * np.abs(noise)) > 15
    assert measure_dependence(np.sign(noise) * np.sort(np.abs(noise))[np.argsort(np.argsort(y))]) > 15
    assert measure_dependence(noise, noise) > 20
    assert measure_dependence(noise, noise * np.sign(other)) > 15
    assert measure_dependence(noise, noise, independent_count=0) < 5


LAWS: dict[str, Any] = {
    "gaussian": lambda chance, n: chance.normal(size=n),
    "uniform": lambda c, n: c.uniform(-1, 1, n),
}


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("scale", [1.0, 3.0, 40.0])
def test_the_law_knows_its_own_noise_and_no_other(kind: str, scale: float) -> None:
    chance, count = np.random.default_rng(3), 3_000
    true = chance.integers(0, 100, count)
    sample = scale * LAWS[kind](chance, count)
    honest = measure_noise_law(table(x=true), table(x=true + np.rint(sample).astype(int)), "x", kind, scale, 1.0)
    exact = measure_noise_law(table(x=true * 1.0), table(x=true + sample), "x", kind, scale)
    assert 0 <= honest < 4
    assert 0 <= exact < 4
    forged = {
        "fewer": np.where(chance.random(count) < 0.03, 1e-9, sample),
        "wider": 1.2 * sample,
        "narrower": sample / 1.2,
        "points": np.sort(sample)[(np.arange(count) // 273) * 273],
        "laplace": chance.laplace(0, sample.std() / np.sqrt(2), count),
        "swapped": scale * LAWS["uniform" if kind == "gaussian" else "gaussian"](chance, count) / np.sqrt(3),
    }
    for name, added in forged.items():
        assert measure_noise_law(table(x=true * 1.0), table(x=true + added), "x", kind, scale) > 6, name


def test_the_law_by_hand() -> None:
    """One difference of 3.9 standard deviations is as rare as it is: 10⁻⁴, times the three questions asked of it."""
    from statistics import NormalDist

    rare = 2 * NormalDist().cdf(-3.9)
    deviation = measure_noise_law(table(x=[0.0]), table(x=[3.9]), "x", "gaussian", 1.0)
    assert deviation == pytest.approx(-NormalDist().inv_cdf(3 * rare / 2), abs=1e-3)
    assert measure_noise_law(table(x=[0.0]), table(x=[1.5]), "x", "uniform", 1.0) > 30  # cannot be
    assert measure_noise_law(table(x=[0]), table(x=[1]), "x", "uniform", 0.6, 1.0) < 3  # was rounded
    with pytest.raises(sf.PolicyError, match="must be uniform or gaussian"):
        measure_noise_law(table(x=[0.0]), table(x=[1.5]), "x", "cauchy", 1.0)


def test_unchanged_cells() -> None:
    assert count_unchanged_cells(table(x=[1, 2, None, 4]), table(x=[1, 3, None, 4]), "x") == 2


def test_shape_knows_noise_that_is_not_like_the_data() -> None:
    chance = np.random.default_rng(1)
    spread = np.array([[1.0, 0.8], [0.8, 1.0]])
    true = chance.multivariate_normal([0, 0], spread, 4_000).T
    like_noise, free = chance.multivariate_normal([0, 0], 4 * spread, 4_000).T, 2 * chance.normal(size=(2, 4_000))
    original = table(x=true[0], y=true[1])
    alike, unlike = (table(x=true[0] + noise[0], y=true[1] + noise[1]) for noise in (like_noise, free))
    assert measure_noise_shape(original, alike, ("x", "y"), 4.0) < 5
    assert measure_noise_shape(original, unlike, ("x", "y"), 4.0) > 20
    assert measure_noise_shape(original, alike, ("x", "y"), 2.0) > 20


def test_shape_of_whole_numbers_that_are_published_with_decimals_has_no_rounding() -> None:
    chance = np.random.default_rng(2)
    true = chance.integers(0, 100, (2, 4_000))
    noise = chance.multivariate_normal([0, 0], 1e-6 * np.cov(true), 4_000).T
    original, published = table(x=true[0], y=true[1]), table(x=true[0] + noise[0], y=true[1] + noise[1])
    assert measure_noise_shape(original, published, ("x", "y"), 1e-6) < 5


def test_intervals() -> None:
    before, after = table(x=[0.0, 3.0, 4.0, 9.0]), table(x=[2.5, 2.5, 2.5, 7.5])
    assert count_outside_interval(before, after, "x", 5.0, 0.0) == 0
    assert count_outside_interval(before, table(x=[2.5, 2.5, 7.5, 7.5]), "x", 5.0, 0.0) == 1
    assert count_outside_interval(before, table(x=[2.5, 2.5, 2.0, 7.5]), "x", 5.0, 0.0) == 1
    assert measure_interval_privacy(before, after, "x", 5.0, 0.0, 10.0, 0.9) == pytest.approx(0.45)
    # of an interval of 8 around 2.5, what is below 0 cannot be: 6.5 is left
    assert measure_interval_privacy(before, table(x=[2.5] * 4), "x", 8.0, 0.0, 10.0, 0.9) == pytest.approx(0.585)
    assert measure_interval_privacy(before, table(x=[5.0] * 4), "x", 80.0, 0.0, 10.0, 0.9) == pytest.approx(0.9)
    whole = table(x=[0, 1, 2, 3]), table(x=[1, 1, 1, 3])
    # Of 3 and 4, 4 cannot be: one of four numbers is left.
    assert measure_interval_privacy(*whole, "x", 3.0, 0.0, 3.0, 0.9) == pytest.approx(0.9 / 4)


def test_where_nothing_is_known_nothing_is_told() -> None:
    empty_table = table(x=[1.0]).replace_frame(pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Float64)}))
    assert noise_privacy(empty_table, empty_table, "x") == 0
    assert measure_noise_law(empty_table, empty_table, "x", "gaussian", 1.0) == 0
    assert measure_noise_dependence(empty_table, empty_table, "x", "gaussian", 1.0) == 0
    assert measure_noise_centre(empty_table, empty_table, "x", 1.0) == 0
    assert count_unchanged_cells(empty_table, empty_table, "x") == 0
    assert measure_noise_shape(empty_table, empty_table, ("x",), 1.0) == 0
    assert measure_noise_shape(table(x=[1.0, 2.0]), empty_table, ("x",), 1.0) == float("inf")
    assert count_outside_interval(empty_table, empty_table, "x", 1.0, 0.0) == 0
    assert measure_interval_privacy(empty_table, empty_table, "x", 5.0, 0.0, 10.0, 0.9) == pytest.approx(0.45)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_whole_intervals(width: int) -> None:
    true = np.arange(-7, 8)
    begin = -7 + (true + 7) // width * width
    lower = begin + (width - 1) // 2
    assert count_outside_interval(table(x=true), table(x=lower), "x", float(width), -7.0, 1.0) == 0
    assert count_outside_interval(table(x=true), table(x=lower + 1), "x", float(width), -7.0, 1.0) == len(true)


def test_changes_beside_noise() -> None:
    people = table(x=[1, 2, None], y=["a", "b", None], who=["p", "q", "r"])
    before = sf.Table.of(people.frame, {"x": "sensitive", "y": "quasi_identifying", "who": "identifying"})
    after = table(x=[5, None, None], y=["a", "c", None])
    assert count_cells_changed_without_noise(before, after, ("x",)) == 2
    assert count_cells_changed_without_noise(before, table(x=[5, 3, None], y=["a", "b", None]), ("x",)) == 0
    assert count_cells_changed_without_noise(before, after, ("x",), rows=[0, 1, 2]) == 2


def test_what_cannot_be_compared() -> None:
    original, two = table(x=[1.0, 2.0]), table(x=[1.0])
    with pytest.raises(sf.DataError, match="1 published rows"):
        noise_privacy(original, two, "x")
    with pytest.raises(sf.DataError, match="lack some rows"):
        noise_privacy(original, two, "x", rows=[7])
    with pytest.raises(sf.DataError, match='no column "y"'):
        noise_privacy(original, original, "y")
    with pytest.raises(sf.DataError, match="no range"):
        noise_privacy(table(x=[1.0, 1.0]), original, "x")
    with pytest.raises(sf.DataError, match="neither"):
        noise_privacy(table(x=[True, False]), original, "x")
    with pytest.raises(sf.PolicyError, match="confidence"):
        noise_privacy(original, original, "x", confidence=2.0)
    with pytest.raises(sf.DataError, match="no row has"):
        noise_privacy(
            table(x=[None, None]).replace_frame(pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Int64)})),
            original,
            "x",
        )


@pytest.mark.parametrize("size", [1e-90, 1e-80, 1.0, 1e80, 1e95])
def test_the_shape_of_noise_is_judged_at_every_size(size: float) -> None:
    """Squares of variances overflow, or vanish, long before the numbers themselves do."""
    chance = np.random.default_rng(0)
    first = chance.normal(size=2000)
    second = first + 0.05 * chance.normal(size=2000)
    table = sf.Table.of({"a": first * size, "b": second * size}, {"a": "sensitive", "b": "sensitive"})
    release = sf.AddNoise(columns=("a", "b"), kind="correlated").protect(table, sf.Randomness.seeded(0))
    claim = next(candidate for candidate in release.claims if candidate.measure == "noise_shape")
    arguments: dict[str, Any] = dict(claim.arguments)
    assert measure_noise_shape(table, release.data, **arguments) < 6
    altered_table = release.data.replace_frame(
        table.frame.with_columns(
            pl.col(name) + pl.Series(chance.normal(size=2000) * release.public[name]["scale"]) for name in ("a", "b")
        )
    )
    assert measure_noise_shape(table, altered_table, **arguments) > 20
