# SPDX-License-Identifier: MIT
"""Range reveal: gaps that the release is sure of, what they leave of everybody's interval, and where there are none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.noise.range_reveal import RangeReveal, ValueSupport, bound_true_values
from sfumato.details import Details
from sfumato.public.noise_law import Noise
from sfumato.published_law import read_laws
from tests.attack.noise.test_likeliest_value import one_column, truth
from tests.contract.test_attacks import as_is, noise

Floats = npt.NDArray[np.float64]


def halves(rows: int, seed: int) -> Floats:
    chance = np.random.default_rng(seed)
    return np.where(chance.random(rows) < 0.5, chance.random(rows), 4 + chance.random(rows))


def uniform(true: Floats, scale: float, seed: int, told_range: bool = True) -> sf.Release:
    noise_facts = {"kind": "uniform", "scale": scale, "step": 0}
    span = {"range": [float(true.min()), float(true.max())]} if told_range else {}
    return one_column(true + np.random.default_rng(seed).uniform(-scale, scale, len(true)), noise_facts | span)


@pytest.mark.parametrize("told_range", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_crowds_far_apart_tell_every_half(seed: int, told_range: bool) -> None:
    true = halves(2000, seed)
    noisy_release = uniform(true, 1.0, seed + 10, told_range)
    outcome = RangeReveal(attempts=2000).run(noisy_release, truth(true))
    assert outcome.facts["components"] == {"x": 2}
    assert outcome.facts["one_component"] == 2000
    assert outcome.risk == 1.0
    assert outcome.baseline < 0.6 * 2000
    assert outcome.facts["width_left"]["x"] < 0.56  # of [0, 1] within y ± 1: 5/12, and some doubt at the edges
    estimates = RangeReveal().estimate(noisy_release)["x"].to_numpy()
    assert ((estimates > 2.5) == (true > 2.5)).all()
    assert np.sqrt(np.mean((estimates - true) ** 2)) < 0.5 * np.sqrt(
        np.mean((noisy_release.data.frame["x"].to_numpy() - true) ** 2)
    )


@pytest.mark.parametrize("shape", ["flat", "bell"])
def test_data_without_gaps_is_not_revealed(shape: str) -> None:
    chance = np.random.default_rng(5)
    true = chance.uniform(0, 20, 4000) if shape == "flat" else chance.normal(10, 2, 4000)
    outcome = RangeReveal().run(uniform(true, 1.0, 6), truth(true))
    if shape == "flat":
        assert outcome.facts["components"] == {"x": 1}
        assert outcome.successes == outcome.baseline
    assert outcome.facts["one_component"] <= 15  # the few at the ends of a bell stand alone
    assert outcome.risk < 0.1
    assert outcome.facts["width_left"]["x"] > 0.95


def test_crowds_that_noise_mixes_are_not_told_apart_by_few() -> None:
    true = np.where(np.random.default_rng(7).random(300) < 0.5, 0.0, 1.0) + np.random.default_rng(8).random(300)
    outcome = RangeReveal().run(uniform(true, 5.0, 9), truth(true))
    assert outcome.facts["components"] == {"x": 1}
    assert outcome.successes == outcome.baseline  # noise wider than the range: the range alone narrows it
    assert outcome.risk == 1.0


def test_single_values_are_told_by_many() -> None:
    true = np.random.default_rng(1).choice(np.arange(7.0), 100_000)
    outcome = RangeReveal().run(uniform(true, 0.9, 2), truth(true))
    assert outcome.facts["components"] == {"x": 7}
    assert outcome.risk == 1.0


def test_the_original_tells_and_noise_does_not() -> None:
    data = truth(np.random.default_rng(4).normal(size=600))
    assert RangeReveal().run(as_is(data), data).risk == 1.0
    assert RangeReveal().estimate(as_is(data)).equals(data.frame)
    assert RangeReveal().run(noise(data), data, control=data).risk < 0.02


def test_a_wrong_interval_is_no_success() -> None:
    """People whose noise was larger than the release says lie outside of what is left."""
    true = halves(2000, 1)
    noisy_release = uniform(true, 1.0, 2)
    strange = true.copy()
    strange[:1000] += 2.5
    outcome = RangeReveal(attempts=2000).run(noisy_release, truth(strange))
    assert 990 <= outcome.successes <= 1000
    noisy_values = noisy_release.data.frame["x"].to_numpy()
    gap_values = np.where(
        (noisy_values > 1.5) & (noisy_values < 2.5), noisy_values, true
    )  # as published, which is within reach, but in the gap
    gap_outcome = RangeReveal(attempts=2000).run(noisy_release, truth(gap_values))
    assert gap_outcome.successes == 2000 - int((gap_values != true).sum())


@pytest.mark.parametrize("seed", range(12))
def test_a_thin_stretch_is_no_gap(seed: int) -> None:
    """Where people are less dense by two thirds, few rows do not tell that nobody is."""
    chance = np.random.default_rng(seed)
    true = chance.uniform(0, 10, 300)
    true = true[(true < 4) | (true > 6) | (chance.random(300) < 0.3)]
    assert RangeReveal().run(uniform(true, 0.5, seed + 20), truth(true)).facts["components"] == {"x": 1}


def test_strangers_are_told_only_where_people_are() -> None:
    true = halves(1000, 1)
    outcome = RangeReveal().run(uniform(true, 1.0, 2), truth(true), control=truth(halves(400, 9)))
    assert outcome.control == 0  # two pieces of 1 are as wide as the noise
    narrow = np.random.default_rng(3).random(1000)
    outcome = RangeReveal().run(uniform(narrow, 1.0, 2), truth(narrow), control=truth(narrow[:400]))
    assert outcome.control == 400
    assert outcome.facts["risk_over_control"] == 0.0


def test_intervals_are_what_they_say() -> None:
    noise_facts = {"kind": "discretize", "scale": 10.0, "step": 0, "origin": 0.0, "range": [0.0, 37.0]}
    binned_release = one_column([5.0, 15.0, 35.0, None], noise_facts)
    outcome = RangeReveal(width=0.7).run(binned_release, truth([1.0, 19.0, 36.0, 4.0]))
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (4, 1, 1)  # [30, 37] is seven tenths
    assert RangeReveal().estimate(binned_release)["x"].to_list() == [5.0, 15.0, 33.5, None]


def test_what_noise_reaches() -> None:
    whole = Noise(kind="uniform", scale=2.2, step=1)
    assert [end.tolist() for end in bound_true_values(np.array([7.0]), whole)] == [
        [pytest.approx(4.3)],
        [pytest.approx(9.7)],
    ]
    interval = Noise(kind="discretize", scale=5.0, step=1, origin=3.0)
    assert [end.tolist() for end in bound_true_values(np.array([10.0]), interval)] == [[7.5], [12.5]]  # 8 to 12


pieces = st.lists(st.integers(0, 60), min_size=2, max_size=8, unique=True).map(sorted).filter(lambda p: len(p) % 2 == 0)


@given(pieces, st.integers(-10, 70), st.integers(0, 30))
@settings(max_examples=80, deadline=None)
def test_what_is_left_by_counting_unit_cells(ends: list[int], low: int, span: int) -> None:
    support = ValueSupport(np.array(ends[::2], dtype=np.float64), np.array(ends[1::2], dtype=np.float64))
    remainder = support.intersect(np.array([float(low)]), np.array([float(low + span)]), np.array([low + span / 2]))
    cells = [cell + 0.5 for start, other in zip(ends[::2], ends[1::2], strict=True) for cell in range(start, other)]
    mine = [cell for cell in cells if low < cell < low + span]
    assert remainder.width[0] == len(mine)
    if mine:
        assert remainder.middle[0] == pytest.approx(sum(mine) / len(mine))
    touched = [
        start for start, other in zip(ends[::2], ends[1::2], strict=True) if start <= low + span and other >= low
    ]
    assert remainder.components[0] == len(touched)


def test_gaussian_noise_has_no_bounds() -> None:
    noise_facts = {"kind": "gaussian", "scale": 1.0, "step": 0}
    with pytest.raises(sf.DataError, match='"x" has no bounds'):
        RangeReveal().run(one_column([1.0, 2.0], noise_facts), truth([1.0, 2.0]))
    two_columns = sf.Table.of({"x": [1.0, 2.0], "y": [1.0, 2.0]}, {"x": "sensitive", "y": "sensitive"})
    public = {"x": noise_facts, "y": noise_facts | {"kind": "uniform"}}
    outcome = RangeReveal().run(sf.Release(two_columns, None, (), {}, Details(public=read_laws(public))), two_columns)
    assert outcome.facts["columns"] == ["y"]


def test_dates_whole_numbers_and_missing_cells() -> None:
    chance = np.random.default_rng(2)
    days = np.where(chance.random(2000) < 0.5, 0, 4000) + chance.integers(0, 1000, 2000)
    noisy_values = pl.Series(days + chance.integers(-1000, 1001, 2000)).cast(pl.Int32).cast(pl.Date)
    holed = noisy_values.set(pl.Series(np.arange(2000) % 10 == 0), None)
    noise_facts = {"kind": "uniform", "scale": 1000.0, "step": 1, "range": [0, 4999]}
    noisy_release = one_column(holed, noise_facts)
    outcome = RangeReveal(attempts=2000).run(noisy_release, truth(pl.Series(days).cast(pl.Int32).cast(pl.Date)))
    assert outcome.successes == 1800  # nothing is said of missing cells
    estimate = RangeReveal().estimate(noisy_release)
    assert estimate.schema == {"x": pl.Date}
    assert estimate["x"].null_count() == 200


def test_nobody() -> None:
    empty = pl.Series([], dtype=pl.Float64)
    noise_facts = {"kind": "uniform", "scale": 1.0, "step": 0, "range": [0, 1]}
    assert RangeReveal().run(one_column(empty, noise_facts), truth(empty)).attempts == 0
    blank = one_column(pl.Series([None, None], dtype=pl.Float64), noise_facts)
    assert RangeReveal().run(blank, truth([1.0, 2.0])).successes == 0
