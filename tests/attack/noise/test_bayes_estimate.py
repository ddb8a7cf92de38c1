# SPDX-License-Identifier: MIT
"""The Bayes estimate against the formula written down anew, with evidence, missing cells, and every shape of noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.attack.noise.likeliest_value import LikeliestValue
from sfumato.attack.noise.noisy_numbers import NumberAttack
from sfumato.attack.noise.range_reveal import RangeReveal
from sfumato.attack.noise.spectral_filter import SpectralFilter
from sfumato.details import Details
from sfumato.published_law import read_laws
from tests.attack.noise.test_spectral_filter import correlated, factors, release, rmse, table

Floats = npt.NDArray[np.float64]


def by_hand(noisy_values: Floats, noise: Floats) -> Floats:
    """x̂ = μ + Σx (Σx + Σr)⁻¹ (y − μ), one row at a time."""
    mean = noisy_values.mean(axis=0)
    data = (noisy_values - mean).T @ (noisy_values - mean) / len(noisy_values) - noise
    values, vectors = np.linalg.eigh(data)
    data = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    return np.array([mean + data @ np.linalg.inv(data + noise) @ (row - mean) for row in noisy_values])


@given(st.integers(0, 10_000), st.integers(3, 60), st.integers(1, 5), st.sampled_from([0.2, 1.0, 4.0]))
@settings(max_examples=40, deadline=None)
def test_it_is_the_papers_formula(seed: int, rows: int, columns: int, deviation: float) -> None:
    noisy_values = np.random.default_rng(seed).normal(size=(rows, columns)) * 2 + 7
    estimate = BayesEstimate().estimate(release(noisy_values, deviation)).to_numpy()
    np.testing.assert_allclose(estimate, by_hand(noisy_values, deviation**2 * np.eye(columns)), atol=1e-6)


def test_one_column_is_pulled_to_the_mean_by_the_share_of_data() -> None:
    noisy_values = np.array([[0.0], [10.0]])  # variance 25, of which 9 are noise: the rest is 16/25 of it
    assert BayesEstimate().estimate(release(noisy_values, 3.0))["c0"].to_list() == pytest.approx([1.8, 8.2])


def test_more_noise_than_variance_leaves_the_mean() -> None:
    noisy_values = np.array([[0.0], [10.0]])
    assert BayesEstimate().estimate(release(noisy_values, 6.0))["c0"].to_list() == [5.0, 5.0]


@pytest.mark.parametrize(("columns", "rank"), [(10, 2), (10, 10), (4, 1)])
def test_no_other_weighing_of_these_kinds_is_better(columns: int, rank: int) -> None:
    """On Gaussian data it beats the release, the mean and the filter; 5,000 rows leave 2 % to chance."""
    true = factors(5000, columns, rank)
    noisy_release = release(true + np.random.default_rng(1).normal(size=true.shape))
    error = rmse(BayesEstimate().estimate(noisy_release), true)
    for other in (noisy_release.data.frame, SpectralFilter().estimate(noisy_release), np.zeros_like(true)):
        assert error < 1.02 * rmse(other, true)


def test_noise_shaped_like_the_data_leaves_what_one_column_leaves() -> None:
    """With as much noise as data every direction has the same share: half the way to the mean, √½ of the error."""
    true = factors(5000, 6, 2) + np.random.default_rng(2).normal(0, 0.3, (5000, 6))
    errors = BayesEstimate().run(correlated(true), table(true)).facts["rmse_over_deviation"]
    assert errors["estimate"] == pytest.approx(0.5**0.5 * errors["published"], rel=0.03)


def test_published_numbers_without_noise_are_evidence() -> None:
    chance = np.random.default_rng(3)
    salary = chance.normal(size=3000)
    tax = salary * 0.4 + chance.normal(0, 0.04, 3000)
    roles = {"salary": "sensitive", "tax": "insensitive", "job": "insensitive"}
    job = ["a"] * 3000
    truth = sf.Table.of({"salary": salary, "tax": tax, "job": job}, roles)
    noisy = sf.Table.of({"salary": salary + chance.normal(size=3000), "tax": tax, "job": job}, roles)
    noisy_release = sf.Release(
        noisy, None, (), {}, Details(public=read_laws({"salary": {"kind": "gaussian", "scale": 1.0, "step": 0}}))
    )
    plain_attack, helped = BayesEstimate(), BayesEstimate(evidence=("tax",))
    assert plain_attack.run(noisy_release, truth).facts["rmse_estimate"]["salary"] == pytest.approx(0.71, abs=0.03)
    assert helped.run(noisy_release, truth).facts["rmse_estimate"]["salary"] == pytest.approx(0.1, abs=0.02)
    assert helped.estimate(noisy_release)["tax"].equals(noisy.frame["tax"])
    with pytest.raises(sf.DataError, match='"salary" has noise'):
        BayesEstimate(evidence=("salary",)).estimate(noisy_release)
    with pytest.raises(sf.DataError, match='"job" holds no numbers'):
        BayesEstimate(evidence=("job",)).estimate(noisy_release)


def test_each_row_is_told_by_the_cells_it_has() -> None:
    true = factors(2000, 5, 1)
    noisy_values = true + np.random.default_rng(4).normal(size=true.shape)
    holed = np.where(np.random.default_rng(5).random(true.shape) < 0.3, np.nan, noisy_values)
    names = [f"c{n}" for n in range(5)]
    frame = pl.DataFrame(holed, schema=names).fill_nan(None)
    holed_release = sf.Release(
        sf.Table.of(frame, dict.fromkeys(names, "sensitive")), None, (), {}, release(noisy_values).details
    )
    estimate = BayesEstimate().estimate(holed_release)
    assert all(estimate[name].is_null().equals(frame[name].is_null()) for name in names)
    # One factor of deviation 1 and j cells of noise 1: the error is 1/√(1 + j).
    count = (~np.isnan(holed)).sum(axis=1)
    for cells in (1, 3, 5):
        mine = count == cells
        assert rmse(estimate.to_numpy()[mine], true[mine]) == pytest.approx((1 + cells) ** -0.5, rel=0.12)


def test_columns_that_repeat_each_other() -> None:
    true = np.repeat(factors(500, 1, 1), 2, axis=1)
    noise = np.random.default_rng(6).normal(size=(500, 1))
    noisy_release = release(
        np.repeat(true[:, :1] + noise, 2, axis=1), kind="correlated", covariance={"c0": 1.0, "c1": 1.0}
    )
    estimate = BayesEstimate().estimate(noisy_release).to_numpy()
    np.testing.assert_allclose(estimate[:, 0], estimate[:, 1], atol=1e-6)
    assert rmse(estimate, true) == pytest.approx(0.71, abs=0.05)


ATTACKS = (BayesEstimate, LikeliestValue, SpectralFilter, RangeReveal)


@pytest.mark.parametrize("kind", ATTACKS)
def test_only_columns_with_a_published_law_are_attacked(kind: type[NumberAttack]) -> None:
    """Cuts are no noise, and numbers beside them were not changed at all: each would be right."""
    chance = np.random.default_rng(4)
    columns = {"age": chance.integers(0, 100, 300), "pay": chance.normal(0, 9, 300), "score": chance.normal(size=300)}
    original = sf.Table.of(columns, dict.fromkeys(columns, "sensitive"))
    ranges = {"age": (0, 100), "pay": (-60, 60)}
    cuts = sf.AddNoise(
        columns=("age", "pay"), kind="discretize", ranges=ranges, discretize={"age": (30, 65), "pay": (0.5,)}
    ).protect(original)
    outcome = kind().run(cuts, original)
    assert outcome.facts["columns"] == ["age", "pay"]
    assert outcome.successes == outcome.baseline < 100
    noisy = {"pay": {"kind": "uniform", "scale": 2.0, "step": 0}} | {"age": cuts.public["age"]}
    mixed = sf.Release(cuts.data, None, (), {}, Details(public=read_laws(noisy)))
    assert kind().run(mixed, original).facts["columns"] == ["pay"]
    assert kind(columns=("age",)).run(mixed, original).facts["columns"] == ["age"]
