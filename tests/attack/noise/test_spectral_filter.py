# SPDX-License-Identifier: MIT
"""The spectral filter, and what all attacks on noise share: columns, missing cells, dates, judging."""

from __future__ import annotations

import datetime
from dataclasses import replace
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
from sfumato.attack.noise.judged_estimates import measure_narrowest_errors
from sfumato.attack.noise.noisy_numbers import NumberAttack
from sfumato.attack.noise.spectral_filter import SpectralFilter
from sfumato.details import Details
from sfumato.published_law import read_laws
from tests.contract.test_attacks import as_is, noise

Floats = npt.NDArray[np.float64]


def table(cells: Floats) -> sf.Table:
    names = [f"c{number}" for number in range(cells.shape[1])]
    return sf.Table.of(pl.DataFrame(cells, schema=names), dict.fromkeys(names, "sensitive"))


def release(cells: Floats, scale: float | list[float] = 1.0, **more: Any) -> sf.Release:
    published = table(cells)
    scales = scale if isinstance(scale, list) else [scale] * cells.shape[1]
    public_facts = {
        name: {"kind": "gaussian", "scale": column_scale, "step": 0, **more}
        for name, column_scale in zip(published.frame.columns, scales, strict=True)
    }
    return sf.Release(published, None, (), {}, Details(public=read_laws(public_facts)))


def factors(rows: int, columns: int, rank: int, seed: int = 0) -> Floats:
    """Columns of deviation 1 that a few hidden causes explain, or all independent."""
    chance = np.random.default_rng(seed)
    if rank == columns:
        return chance.normal(size=(rows, columns))
    mixed = chance.normal(size=(rank, columns))
    return np.asarray(chance.normal(size=(rows, rank)) @ (mixed / np.sqrt((mixed**2).sum(axis=0))))


def plain_filter(noisy_values: Floats, variance: float) -> Floats:
    """The published filter, written down anew: centre, covariance / m, keep what sticks out, project, add the mean."""
    rows, columns = noisy_values.shape
    mean = noisy_values.mean(axis=0)
    values, vectors = np.linalg.eig((noisy_values - mean).T @ (noisy_values - mean) / rows)
    signal_vectors = vectors[:, values > variance * (1 + (columns / rows) ** 0.5) ** 2]
    return np.asarray((noisy_values - mean) @ signal_vectors @ signal_vectors.T + mean)


def rmse(estimate: Any, other: Any) -> float:
    cells = [matrix.to_numpy() if isinstance(matrix, pl.DataFrame) else matrix for matrix in (estimate, other)]
    return float(np.sqrt(np.nanmean((cells[0] - cells[1]) ** 2)))


@pytest.mark.parametrize(("columns", "rank", "deviation"), [(10, 2, 1.0), (30, 2, 1.0), (12, 5, 0.4), (6, 6, 1.0)])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_agrees_with_a_filter_written_independently(columns: int, rank: int, deviation: float, seed: int) -> None:
    noisy_values = factors(1500, columns, rank, seed) + np.random.default_rng(seed + 50).normal(
        0, deviation, (1500, columns)
    )
    estimate = SpectralFilter().estimate(release(noisy_values, deviation))
    np.testing.assert_allclose(estimate.to_numpy(), plain_filter(noisy_values, deviation**2), atol=1e-8)


def test_uniform_noise_is_filtered_by_its_variance() -> None:
    chance = np.random.default_rng(3)
    noisy_values = factors(2000, 10, 2) + chance.uniform(-(3**0.5), 3**0.5, (2000, 10))
    noisy_release = release(noisy_values, 3**0.5, kind="uniform")
    np.testing.assert_allclose(
        SpectralFilter().estimate(noisy_release).to_numpy(), plain_filter(noisy_values, 1.0), atol=1e-8
    )


def test_columns_of_different_noise_are_brought_to_the_same_first() -> None:
    """Unequal noise would hide the data of quiet columns under the noise of a loud one."""
    true = factors(3000, 8, 1)
    scales = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 6.0]
    noisy_values = true + np.random.default_rng(1).normal(size=true.shape) * scales
    estimate = SpectralFilter().estimate(release(noisy_values, scales))
    assert rmse(estimate, true) < 0.15
    assert rmse(plain_filter(noisy_values, float(np.mean(np.square(scales)))), true) > 1.0


def correlated(true: Floats, seed: int = 1) -> sf.Release:
    """Noise with the data's own covariance, as much of it as data."""
    covariance = np.cov(true.T, bias=True)
    noise_draws = np.random.default_rng(seed).multivariate_normal(np.zeros(len(covariance)), covariance, len(true))
    noisy_release = release(true + noise_draws, [float(np.sqrt(variance)) for variance in np.diag(covariance)])
    names = list(noisy_release.public)
    laws = {
        name: {
            "kind": "correlated",
            "scale": noisy_release.public[name]["scale"],
            "covariance": dict(zip(names, covariance[index].tolist(), strict=True)),
        }
        for index, name in enumerate(names)
    }
    return replace(noisy_release, details=Details(public=read_laws(laws)))


@pytest.mark.parametrize("deviation", [0.05, 0.2])
def test_noise_shaped_like_the_data_leaves_no_gain(deviation: float) -> None:
    true = factors(3000, 10, 2) + np.random.default_rng(9).normal(0, deviation, (3000, 10))
    shaped = correlated(true)
    outcome = SpectralFilter().run(shaped, table(true))
    errors = outcome.facts["rmse_over_deviation"]
    assert errors["estimate"] > 0.99 * errors["published"]
    # The same noise, drawn for every cell by itself, is filtered: the shape protects, not the amount.
    independent_release = release(
        true + np.random.default_rng(2).normal(size=true.shape) * true.std(axis=0), true.std(axis=0).tolist()
    )
    gained = SpectralFilter().run(independent_release, table(true)).facts["rmse_over_deviation"]
    assert gained["estimate"] < 0.65 * gained["published"]


def test_noise_that_is_singular_like_the_data() -> None:
    true = factors(2000, 6, 2)
    errors = SpectralFilter().run(correlated(true), table(true)).facts["rmse_over_deviation"]
    assert errors["estimate"] == pytest.approx(errors["published"], rel=0.01)


def test_pure_noise_is_taken_for_the_mean() -> None:
    noisy_values = np.random.default_rng(8).normal(size=(4000, 6)) + 40
    outcome = SpectralFilter().run(release(noisy_values), table(np.full_like(noisy_values, 40.0)))
    assert outcome.facts["directions_kept"] <= 1
    assert outcome.facts["directions"] == 6
    assert outcome.facts["noise_reaches"] == pytest.approx((1 + (6 / 4000) ** 0.5) ** 2)


def test_it_counts_and_tells_what_is_left_of_privacy() -> None:
    true = factors(2000, 30, 2)
    span = [float(true.min()), float(true.max())]
    share = 2 * 1.959964 / (span[1] - span[0])
    noisy_release = release(
        true + np.random.default_rng(4).normal(size=true.shape), range=span, privacy=share, confidence=0.95
    )
    outcome = SpectralFilter().run(noisy_release, table(true), control=table(factors(800, 30, 2, seed=5)))
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
    noisy_release = release(true + np.random.default_rng(4).normal(size=true.shape), range=[-4, 4], privacy=share)
    assert SpectralFilter().run(noisy_release, table(true)).facts["broken"] == []


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
    noisy_values, order = chance.normal(size=(rows, columns)) * 3, chance.permutation(rows)
    units = 10.0 ** chance.integers(-3, 4, columns)
    for attack in (SpectralFilter(), BayesEstimate()):
        estimates = attack.estimate(release(noisy_values)).to_numpy()
        np.testing.assert_allclose(
            attack.estimate(release(noisy_values[order])).to_numpy(), estimates[order], atol=1e-6
        )
        scaled = attack.estimate(release(noisy_values * units, units.tolist())).to_numpy()
        np.testing.assert_allclose(scaled / units, estimates, atol=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_filter_never_lengthens_a_row_and_keeps_means(seed: int) -> None:
    """It is a projection: with equal noise no row ends farther from the mean than it was, and twice is as once."""
    noisy_values = np.random.default_rng(seed).normal(size=(60, 4)) * 2
    estimates = SpectralFilter().estimate(release(noisy_values)).to_numpy()
    mean = noisy_values.mean(axis=0)
    np.testing.assert_allclose(estimates.mean(axis=0), mean, atol=1e-9)
    assert (np.linalg.norm(estimates - mean, axis=1) <= np.linalg.norm(noisy_values - mean, axis=1) + 1e-9).all()


def least_squares(noisy_values: Floats, rank: int) -> Floats:
    """The filter row by row: the point of the kept plane that is nearest to the cells that a row has."""
    mean = np.nanmean(noisy_values, axis=0)
    deviations, presence = np.nan_to_num(noisy_values - mean), np.isfinite(noisy_values).astype(np.float64)
    covariance = deviations.T @ deviations / (presence.T @ presence)
    plane = np.linalg.eigh(covariance)[1][:, -rank:]
    estimates = np.full_like(noisy_values, np.nan)
    for index, row in enumerate(noisy_values):
        cell_mask = ~np.isnan(row)
        coordinates = np.linalg.lstsq(plane[cell_mask], (row - mean)[cell_mask], rcond=None)[0]
        estimates[index, cell_mask] = (plane @ coordinates + mean)[cell_mask]
    return estimates


def test_missing_cells_stay_missing_and_disturb_little() -> None:
    true = factors(3000, 10, 2)
    noisy_values = true + np.random.default_rng(3).normal(size=true.shape)
    blanks = np.random.default_rng(4).random(true.shape) < 0.1
    blanks[:, 0] |= np.arange(3000) % 4 == 0
    frame = pl.DataFrame(np.where(blanks, np.nan, noisy_values), schema=[f"c{n}" for n in range(10)]).fill_nan(None)
    full_release = release(noisy_values)
    holed = sf.Release(
        sf.Table.of(frame, dict.fromkeys(frame.columns, "sensitive")), None, (), {}, full_release.details
    )
    estimate = SpectralFilter().estimate(holed)
    assert all(estimate[name].null_count() == frame[name].null_count() for name in frame.columns)
    # Of 10 columns about 9 are left to tell two factors: √(2/9) = 0.47. Cells that stood at the mean would pull.
    assert rmse(estimate, true) < 0.48
    by_hand = least_squares(np.where(blanks, np.nan, noisy_values), 2)
    assert np.nanmax(np.abs(estimate.to_numpy() - by_hand)) < 1e-3
    outcome = SpectralFilter(attempts=3000).run(holed, table(true))
    assert outcome.facts["directions_kept"] == 2


def test_dates_and_whole_numbers() -> None:
    chance = np.random.default_rng(5)
    factor = chance.normal(size=2000)
    days = np.rint(14_000 + 300 * factor).astype(np.int32)
    ages = np.rint(45 + 12 * factor).astype(np.int64)
    true_columns = {"born": pl.Series(days).cast(pl.Date), "age": pl.Series(ages)}
    moved = {
        "born": pl.Series(days + np.rint(chance.normal(0, 200, 2000)).astype(np.int32)).cast(pl.Date),
        "age": pl.Series(ages + np.rint(chance.normal(0, 8, 2000)).astype(np.int64)),
    }
    public_facts = {
        "born": {"kind": "gaussian", "scale": 200.0, "step": 1},
        "age": {"kind": "gaussian", "scale": 8.0, "step": 1},
    }
    roles = dict.fromkeys(true_columns, "sensitive") | {"city": "insensitive"}
    city = {"city": ["x"] * 2000}
    noisy_release = sf.Release(sf.Table.of(city | moved, roles), None, (), {}, Details(public=read_laws(public_facts)))
    estimate = SpectralFilter().estimate(noisy_release)
    assert estimate.schema == {"city": pl.String, "born": pl.Date, "age": pl.Float64}
    assert estimate["city"].equals(noisy_release.data.frame["city"])
    truth = sf.Table.of(city | true_columns, roles)
    facts = SpectralFilter().run(noisy_release, truth).facts
    assert facts["rmse_estimate"]["born"] < 0.8 * facts["rmse_published"]["born"]
    text = sf.Table.of(city | true_columns | {"born": true_columns["born"].dt.to_string()}, roles)
    assert SpectralFilter().run(noisy_release, text).facts == facts
    text_frame = noisy_release.data.frame.with_columns(pl.col("born").dt.to_string())
    from_file = sf.Release(sf.Table.of(text_frame, roles), None, (), {}, noisy_release.details)
    assert SpectralFilter().estimate(from_file).equals(estimate)
    assert isinstance(estimate["born"][0], datetime.date)


def test_rounding_is_noise_too() -> None:
    """Noise of 0.4 on whole numbers becomes 0.16 + 1/12; else the plane of pure rounding would seem to be data."""
    chance = np.random.default_rng(6)
    ages = np.rint(chance.normal(50, 20, 5000))
    noisy_values = np.rint(np.stack([ages] * 20, axis=1) + chance.normal(0, 0.4, (5000, 20)))
    facts = SpectralFilter().run(release(noisy_values, 0.4, step=1), table(np.stack([ages] * 20, axis=1))).facts
    assert facts["directions_kept"] == 1
    assert SpectralFilter().run(release(noisy_values, 0.4), table(noisy_values)).facts["directions_kept"] > 1


def test_few_rows_and_none() -> None:
    assert SpectralFilter().estimate(release(np.zeros((0, 2)))).height == 0
    outcome = SpectralFilter().run(release(np.zeros((0, 2))), table(np.zeros((0, 2))))
    assert (outcome.attempts, outcome.successes, outcome.control) == (0, 0, None)
    estimate = SpectralFilter().estimate(release(np.array([[3.0, 4.0]])))
    assert estimate.rows() == [(3.0, 4.0)]


def test_a_column_without_any_cell() -> None:
    frame = pl.DataFrame({"c0": [1.0, 2.0, 9.0], "c1": pl.Series([None, None, None], dtype=pl.Float64)})
    details = release(np.ones((1, 2))).details
    holed_release = sf.Release(sf.Table.of(frame, {"c0": "sensitive", "c1": "sensitive"}), None, (), {}, details)
    for attack in (SpectralFilter(), BayesEstimate()):
        assert attack.estimate(holed_release)["c1"].null_count() == 3
        assert attack.estimate(holed_release)["c0"].null_count() == 0


def test_a_release_is_not_changed_and_only_noisy_columns_are() -> None:
    noisy_release = release(factors(50, 3, 1))
    original_frame = noisy_release.data.frame.clone()
    estimate = SpectralFilter(columns=("c1",)).estimate(noisy_release)
    assert noisy_release.data.frame.equals(original_frame)
    assert estimate.select("c0", "c2").equals(original_frame.select("c0", "c2"))


def test_what_cannot_be_attacked() -> None:
    noisy_release = release(factors(20, 2, 1))
    with pytest.raises(sf.DataError, match='"zip" is not in the release'):
        SpectralFilter(columns=("zip",)).estimate(noisy_release)
    words = sf.Table.of({"job": ["a", "b"]}, {"job": "sensitive"})
    with pytest.raises(sf.DataError, match="no column of numbers"):
        SpectralFilter().run(as_is(words), words)
    with pytest.raises(sf.DataError, match='"job" holds no numbers'):
        SpectralFilter(columns=("job",)).estimate(as_is(words))
    endless = release(np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(sf.DataError, match='"c1" has 1 infinite cell;'):
        SpectralFilter().estimate(endless)
    with pytest.raises(sf.DataError, match="cannot be the people behind"):
        SpectralFilter().run(noisy_release, table(factors(5, 2, 1)))
    with pytest.raises(ValidationError, match="each once"):
        SpectralFilter(columns=("a", "a"))


def test_the_narrowest_interval() -> None:
    errors = np.array([-9.0, -1.0, 0.0, 1.0, 2.0, 50.0, np.nan])
    assert measure_narrowest_errors(errors, 4 / 6) == 3.0
    assert measure_narrowest_errors(errors, 1.0) == 59.0
    assert measure_narrowest_errors(np.array([np.nan]), 0.5) is None


def test_it_can_be_interrupted() -> None:
    from sfumato.runtime.progress import listen_to_progress

    def stop(step: str, done_count: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listen_to_progress(stop):
        SpectralFilter().estimate(release(factors(50, 3, 1)))
