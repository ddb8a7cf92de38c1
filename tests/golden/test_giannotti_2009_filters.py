# SPDX-License-Identifier: MIT
"""What filters take off at equal parts of signal and noise, and a range revealed."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.attack.noise.bayes_estimate import BayesEstimate
from sfumato.attack.noise.range_reveal import RangeReveal
from sfumato.attack.noise.spectral_filter import SpectralFilter
from sfumato.mine.noise.spectrum import compute_noise_bounds
from tests.attack.noise.test_likeliest_value import truth
from tests.attack.noise.test_range_reveal import halves, uniform
from tests.attack.noise.test_spectral_filter import factors, release, table


@pytest.mark.parametrize(("columns", "rank", "expected"), [(10, 2, 0.46), (30, 2, 0.26), (10, 10, 1.00)])
def test_spectral_filter_at_equal_signal_and_noise(columns: int, rank: int, expected: float) -> None:
    """RMSE 1.00 → .46 (10 columns, rank 2), 1.00 → .26 (30, rank 2), no gain at full rank."""
    true = factors(2000, columns, rank)
    noisy_release = release(true + np.random.default_rng(columns).normal(size=true.shape))
    facts = SpectralFilter().run(noisy_release, table(true)).facts
    assert facts["rmse_over_deviation"]["published"] == pytest.approx(1.0, abs=0.02)
    assert facts["rmse_over_deviation"]["estimate"] == pytest.approx(expected, abs=0.02)
    assert facts["directions_kept"] == rank


def test_the_bayes_estimate_still_gains_at_full_rank() -> None:
    """1.00 → .71."""
    true = factors(2000, 10, 10)
    noisy_release = release(true + np.random.default_rng(1).normal(size=true.shape))
    estimate_error = BayesEstimate().run(noisy_release, table(true)).facts["rmse_over_deviation"]["estimate"]
    assert estimate_error == pytest.approx(0.71, abs=0.02)


def test_the_law_is_marchenko_and_pasturs() -> None:
    """σ²(1 ± √(n/m))², n columns and m rows."""
    assert compute_noise_bounds(30, 2000, 4.0).high == pytest.approx(4 * (1 + (30 / 2000) ** 0.5) ** 2)
    assert compute_noise_bounds(30, 2000, 4.0).low == pytest.approx(4 * (1 - (30 / 2000) ** 0.5) ** 2)


def test_the_covariance_of_the_published_is_that_of_data_and_noise() -> None:
    """UᵀU + VᵀV: the printed last term, UᵀU again, is a slip."""
    chance = np.random.default_rng(2)
    data, noise = chance.normal(size=(200_000, 3)) * 2, chance.normal(size=(200_000, 3))
    whole = (data + noise).T @ (data + noise) / len(data)
    np.testing.assert_allclose(whole, data.T @ data / len(data) + noise.T @ noise / len(data), atol=0.05)


def test_uniform_noise_on_two_ranges_reveals_every_half() -> None:
    """α = 1 on X in [0, 1] ∪ [4, 5]."""
    true = halves(1000, 4)
    outcome = RangeReveal(attempts=1000).run(uniform(true, 1.0, 5), truth(true))
    assert (outcome.successes, outcome.facts["one_component"]) == (1000, 1000)
