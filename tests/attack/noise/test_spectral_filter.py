# SPDX-License-Identifier: MIT
"""The spectral filter, and what all attacks on noise share: columns, missing cells, dates, judging."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.attack.noise.noisy_numbers import NumberAttack, measure_narrowest_errors
from sfumato.attack.noise.spectral_filter import SpectralFilter
from sfumato.details import read_details
from tests.contract.test_attacks import as_is, noise

Floats = npt.NDArray[np.float64]


def table(cells: Floats) -> sf.Table:
    names = [f"c{number}" for number in range(cells.shape[1])]
    return sf.Table.of(pl.DataFrame(cells, schema=names), dict.fromkeys(names, "sensitive"))


def release(cells: Floats, scale: float | list[float] = 1.0, **more: Any) -> sf.Release:
    published = table(cells)
    scales = scale if isinstance(scale, list) else [scale] * cells.shape[1]
    told = {
        name: {"kind": "gaussian", "scale": one, "step": 0, **more}
        for name, one in zip(published.frame.columns, scales, strict=True)
    }
    return sf.Release(published, None, (), {}, read_details({"public": told}))


def factors(rows: int, columns: int, rank: int, seed: int = 0) -> Floats:
    """Columns of deviation 1 that a few hidden causes explain, or all independent."""
    chance = np.random.default_rng(seed)
    if rank == columns:
        return chance.normal(size=(rows, columns))
    mixed = chance.normal(size=(rank, columns))
    return np.asarray(chance.normal(size=(rows, rank)) @ (mixed / np.sqrt((mixed**2).sum(axis=0))))


def plain_filter(seen: Floats, variance: float) -> Floats:
    """The published filter, written down anew: centre, covariance / m, keep what sticks out, project, add the mean."""
    rows, columns = seen.shape
    mean = seen.mean(axis=0)
    values, vectors = np.linalg.eig((seen - mean).T @ (seen - mean) / rows)
    kept = vectors[:, values > variance * (1 + (columns / rows) ** 0.5) ** 2]
    return np.asarray((seen - mean) @ kept @ kept.T + mean)


def rmse(one: Any, other: Any) -> float:
    cells = [each.to_numpy() if isinstance(each, pl.DataFrame) else each for each in (one, other)]
    return float(np.sqrt(np.nanmean((cells[0] - cells[1]) ** 2)))


@pytest.mark.parametrize(("columns", "rank", "deviation"), [(10, 2, 1.0), (30, 2, 1.0), (12, 5, 0.4), (6, 6, 1.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_agrees_with_a_filter_written_independently(columns: int, rank: int, deviation: float, seed: int) -> None:
    seen = factors(1500, columns, rank, seed) + np.random.default_rng(seed + 50).normal(0, deviation, (1500, columns))
    found = SpectralFilter().estimate(release(seen, deviation))
    np.testing.assert_allclose(found.to_numpy(), plain_filter(seen, deviation**2), atol=1e-8)


def test_uniform_noise_is_filtered_by_its_variance() -> None:
    chance = np.random.default_rng(3)
    seen = factors(2000, 10, 2) + chance.uniform(-(3**0.5), 3**0.5, (2000, 10))
    told = release(seen, 3**0.5, kind="uniform")
    np.testing.assert_allclose(SpectralFilter().estimate(told).to_numpy(), plain_filter(seen, 1.0), atol=1e-8)


def test_columns_of_different_noise_are_brought_to_the_same_first() -> None:
    """Unequal noise would hide the data of quiet columns under the noise of a loud one."""
    true = factors(3000, 8, 1)
    scales = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 6.0]
    seen = true + np.random.default_rng(1).normal(size=true.shape) * scales
    found = SpectralFilter().estimate(release(seen, scales))
    assert rmse(found, true) < 0.15
    assert rmse(plain_filter(seen, float(np.mean(np.square(scales)))), true) > 1.0


def correlated(true: Floats, seed: int = 1) -> sf.Release:
    """Noise with the data's own covariance, as much of it as data."""
    covariance = np.cov(true.T, bias=True)
    drawn = np.random.default_rng(seed).multivariate_normal(np.zeros(len(covariance)), covariance, len(true))
    made = release(true + drawn, [float(np.sqrt(one)) for one in np.diag(covariance)])
    names = list(made.public)
    for place, name in enumerate(names):
        made.details["public"][name]["kind"] = "correlated"
        made.details["public"][name]["covariance"] = dict(zip(names, covariance[place].tolist(), strict=True))
    return made


@pytest.mark.parametrize("deviation", [0.05, 0.2])
def test_noise_shaped_like_the_data_leaves_no_gain(deviation: float) -> None:
    true = factors(3000, 10, 2) + np.random.default_rng(9).normal(0, deviation, (3000, 10))
    shaped = correlated(true)
    found = SpectralFilter().run(shaped, table(true))
    errors = found.facts["rmse_over_deviation"]
    assert errors["estimate"] > 0.99 * errors["published"]
    # The same noise, drawn for every cell by itself, is filtered: the shape protects, not the amount.
    alone = release(
        true + np.random.default_rng(2).normal(size=true.shape) * true.std(axis=0), true.std(axis=0).tolist()
    )
    gained = SpectralFilter().run(alone, table(true)).facts["rmse_over_deviation"]
    assert gained["estimate"] < 0.65 * gained["published"]


def test_noise_that_is_singular_like_the_data() -> None:
    true = factors(2000, 6, 2)
    found = SpectralFilter().run(correlated(true), table(true)).facts["rmse_over_deviation"]
    assert found["estimate"] == pytest.approx(found["published"], rel=0.01)


def test_pure_noise_is_taken_for_the_mean() -> None:
    seen = np.random.default_rng(8).normal(size=(4000, 6)) + 40
    outcome = SpectralFilter().run(release(seen), table(np.full_like(seen, 40.0)))
    assert outcome.facts["directions_kept"] <= 1
    assert outcome.facts["directions"] == 6
    assert outcome.facts["noise_reaches"] == pytest.approx((1 + (6 / 4000) ** 0.5) ** 2)


def test_it_counts_and_tells_what_is_left_of_privacy() -> None:
    true = factors(2000, 30, 2)
    span = [float(true.min()), float(true.max())]
    share = 2 * 1.959964 / (span[1] - span[0])
    made = release(true + np.random.default_rng(4).normal(size=true.shape), range=span, privacy=share, confidence=0.95)
    outcome = SpectralFilter().run(made, table(true), control=table(factors(800, 30, 2, seed=5)))
    # Within 0.2 deviations of a Gaussian error of 0.26: 56 %; of 1.00: 16 %. Four deviations of 500 tries are 9 %.
    assert outcome.attempts == 500
    assert outcome.risk == pytest.approx(0.56, abs=0.09)
    assert outcome.baseline / 500 == pytest.approx(0.16, abs=0.07)
    assert set(outcome.facts["baseline_is"].split(" or ")) <= {"as published", "the mean"}
    assert outcome.control is not None and outcome.control / 500 == pytest.approx(0.16, abs=0.07)
    assert outcome.facts["privacy_published"]["c0"] == pytest.approx(share, rel=0.06)
    assert outcome.facts["privacy_left"]["c0"] < 0.45 * share
    assert outcome.facts["broken"] == outcome.facts["columns"]


@pytest.mark.parametrize(("deviation", "best"), [(0.01, "as published"), (20.0, "the mean")])
def test_the_baseline_is_the_better_of_two_simple_guesses(deviation: float, best: str) -> None:
    true = factors(500, 4, 4)
    outcome = SpectralFilter().run(
        release(true + np.random.default_rng(1).normal(0, deviation, true.shape), deviation), table(true)
    )
    assert outcome.facts["baseline_is"] == best
    assert outcome.baseline / 500 == pytest.approx(1.0 if best == "as published" else 0.16, abs=0.07)


def test_a_promise_that_holds_is_not_called_broken() -> None:
    true = factors(2000, 4, 4)
    share = 2 * 1.959964 / 8
    made = release(true + np.random.default_rng(4).normal(size=true.shape), range=[-4, 4], privacy=share)
    assert SpectralFilter().run(made, table(true)).facts["broken"] == []


@pytest.mark.parametrize("attack", [SpectralFilter(tolerance=0.01), BayesEstimate(tolerance=0.01)])
def test_the_original_tells_and_noise_does_not(attack: NumberAttack) -> None:
    data = table(factors(600, 5, 2))
    assert attack.run(as_is(data), data).risk == 1.0
    assert attack.estimate(as_is(data)).equals(data.frame)
    assert attack.run(noise(data), data).risk < 0.02


def test_more_noise_than_can_be_filtered() -> None:
    true = factors(500, 5, 5)
    loud = release(true + np.random.default_rng(1).normal(0, 30, true.shape), 30.0)
    outcome = SpectralFilter(tolerance=0.01).run(loud, table(true))
    assert outcome.risk < 0.03


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_rows_in_another_order_and_columns_in_other_units(seed: int, rows: int, columns: int) -> None:
    chance = np.random.default_rng(seed)
    seen, order = chance.normal(size=(rows, columns)) * 3, chance.permutation(rows)
    units = 10.0 ** chance.integers(-3, 4, columns)
    for attack in (SpectralFilter(), BayesEstimate()):
        found = attack.estimate(release(seen)).to_numpy()
        np.testing.assert_allclose(attack.estimate(release(seen[order])).to_numpy(), found[order], atol=1e-6)
        scaled = attack.estimate(release(seen * units, units.tolist())).to_numpy()
        np.testing.assert_allclose(scaled / units, found, atol=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_filter_never_lengthens_a_row_and_keeps_means(seed: int) -> None:
    """It is a projection: with equal noise no row ends farther from the mean than it was, and twice is as once."""
    seen = np.random.default_rng(seed).normal(size=(60, 4)) * 2
    found = SpectralFilter().estimate(release(seen)).to_numpy()
    mean = seen.mean(axis=0)
    np.testing.assert_allclose(found.mean(axis=0), mean, atol=1e-9)
    assert (np.linalg.norm(found - mean, axis=1) <= np.linalg.norm(seen - mean, axis=1) + 1e-9).all()


def least_squares(seen: Floats, kept: int) -> Floats:
    """The filter row by row: the point of the kept plane that is nearest to the cells that a row has."""
    mean = np.nanmean(seen, axis=0)
    apart, there = np.nan_to_num(seen - mean), np.isfinite(seen).astype(np.float64)
    covariance = apart.T @ apart / (there.T @ there)
    plane = np.linalg.eigh(covariance)[1][:, -kept:]
    found = np.full_like(seen, np.nan)
    for at, row in enumerate(seen):
        here = ~np.isnan(row)
        where = np.linalg.lstsq(plane[here], (row - mean)[here], rcond=None)[0]
        found[at, here] = (plane @ where + mean)[here]
    return found


def test_missing_cells_stay_missing_and_disturb_little() -> None:
    true = factors(3000, 10, 2)
    seen = true + np.random.default_rng(3).normal(size=true.shape)
    gone = np.random.default_rng(4).random(true.shape) < 0.1
    gone[:, 0] |= np.arange(3000) % 4 == 0
    frame = pl.DataFrame(np.where(gone, np.nan, seen), schema=[f"c{n}" for n in range(10)]).fill_nan(None)
    made = release(seen)
    holed = sf.Release(sf.Table.of(frame, dict.fromkeys(frame.columns, "sensitive")), None, (), {}, made.details)
    found = SpectralFilter().estimate(holed)
    assert all(found[name].null_count() == frame[name].null_count() for name in frame.columns)
    # Of 10 columns about 9 are left to tell two factors: √(2/9) = 0.47. Cells that stood at the mean would pull.
    assert rmse(found, true) < 0.48
    by_hand = least_squares(np.where(gone, np.nan, seen), 2)
    assert np.nanmax(np.abs(found.to_numpy() - by_hand)) < 1e-3
    outcome = SpectralFilter(attempts=3000).run(holed, table(true))
    assert outcome.facts["directions_kept"] == 2


def test_dates_and_whole_numbers() -> None:
    chance = np.random.default_rng(5)
    factor = chance.normal(size=2000)
    days = np.rint(14_000 + 300 * factor).astype(np.int32)
    ages = np.rint(45 + 12 * factor).astype(np.int64)
    both = {"born": pl.Series(days).cast(pl.Date), "age": pl.Series(ages)}
    moved = {
        "born": pl.Series(days + np.rint(chance.normal(0, 200, 2000)).astype(np.int32)).cast(pl.Date),
        "age": pl.Series(ages + np.rint(chance.normal(0, 8, 2000)).astype(np.int64)),
    }
    told = {
        "born": {"kind": "gaussian", "scale": 200.0, "step": 1},
        "age": {"kind": "gaussian", "scale": 8.0, "step": 1},
    }
    roles = dict.fromkeys(both, "sensitive") | {"city": "insensitive"}
    city = {"city": ["x"] * 2000}
    made = sf.Release(sf.Table.of(city | moved, roles), None, (), {}, read_details({"public": told}))
    found = SpectralFilter().estimate(made)
    assert found.schema == {"city": pl.String, "born": pl.Date, "age": pl.Float64}
    assert found["city"].equals(made.data.frame["city"])
    truth = sf.Table.of(city | both, roles)
    facts = SpectralFilter().run(made, truth).facts
    assert facts["rmse_estimate"]["born"] < 0.8 * facts["rmse_published"]["born"]
    text = sf.Table.of(city | both | {"born": both["born"].dt.to_string()}, roles)
    assert SpectralFilter().run(made, text).facts == facts
    spelt = made.data.frame.with_columns(pl.col("born").dt.to_string())
    from_file = sf.Release(sf.Table.of(spelt, roles), None, (), {}, made.details)
    assert SpectralFilter().estimate(from_file).equals(found)
    assert isinstance(found["born"][0], datetime.date)


def test_rounding_is_noise_too() -> None:
    """Noise of 0.4 on whole numbers becomes 0.16 + 1/12; else the plane of pure rounding would seem to be data."""
    chance = np.random.default_rng(6)
    ages = np.rint(chance.normal(50, 20, 5000))
    seen = np.rint(np.stack([ages] * 20, axis=1) + chance.normal(0, 0.4, (5000, 20)))
    facts = SpectralFilter().run(release(seen, 0.4, step=1), table(np.stack([ages] * 20, axis=1))).facts
    assert facts["directions_kept"] == 1
    assert SpectralFilter().run(release(seen, 0.4), table(seen)).facts["directions_kept"] > 1


def test_few_rows_and_none() -> None:
    assert SpectralFilter().estimate(release(np.zeros((0, 2)))).height == 0
    outcome = SpectralFilter().run(release(np.zeros((0, 2))), table(np.zeros((0, 2))))
    assert (outcome.attempts, outcome.successes, outcome.control) == (0, 0, None)
    one = SpectralFilter().estimate(release(np.array([[3.0, 4.0]])))
    assert one.rows() == [(3.0, 4.0)]


def test_a_column_without_any_cell() -> None:
    frame = pl.DataFrame({"c0": [1.0, 2.0, 9.0], "c1": pl.Series([None, None, None], dtype=pl.Float64)})
    told = release(np.ones((1, 2))).details
    made = sf.Release(sf.Table.of(frame, {"c0": "sensitive", "c1": "sensitive"}), None, (), {}, told)
    for attack in (SpectralFilter(), BayesEstimate()):
        assert attack.estimate(made)["c1"].null_count() == 3
        assert attack.estimate(made)["c0"].null_count() == 0


def test_a_release_is_not_changed_and_only_noisy_columns_are() -> None:
    made = release(factors(50, 3, 1))
    before = made.data.frame.clone()
    found = SpectralFilter(columns=("c1",)).estimate(made)
    assert made.data.frame.equals(before)
    assert found.select("c0", "c2").equals(before.select("c0", "c2"))


def test_what_cannot_be_attacked() -> None:
    made = release(factors(20, 2, 1))
    with pytest.raises(sf.DataError, match='"zip" is not in the release'):
        SpectralFilter(columns=("zip",)).estimate(made)
    words = sf.Table.of({"job": ["a", "b"]}, {"job": "sensitive"})
    with pytest.raises(sf.DataError, match="no column of numbers"):
        SpectralFilter().run(as_is(words), words)
    with pytest.raises(sf.DataError, match='"job" holds no numbers'):
        SpectralFilter(columns=("job",)).estimate(as_is(words))
    endless = release(np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(sf.DataError, match='"c1" has 1 infinite cells'):
        SpectralFilter().estimate(endless)
    with pytest.raises(sf.DataError, match="cannot be the people behind"):
        SpectralFilter().run(made, table(factors(5, 2, 1)))
    with pytest.raises(ValidationError, match="each once"):
        SpectralFilter(columns=("a", "a"))


def test_the_narrowest_interval() -> None:
    errors = np.array([-9.0, -1.0, 0.0, 1.0, 2.0, 50.0, np.nan])
    assert measure_narrowest_errors(errors, 4 / 6) == 3.0
    assert measure_narrowest_errors(errors, 1.0) == 59.0
    assert measure_narrowest_errors(np.array([np.nan]), 0.5) is None


def test_it_can_be_interrupted() -> None:
    from sfumato.progress import listen_to_progress

    def stop(step: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listen_to_progress(stop):
        SpectralFilter().estimate(release(factors(50, 3, 1)))
