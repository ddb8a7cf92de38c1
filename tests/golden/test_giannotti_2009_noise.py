# SPDX-License-Identifier: MIT
"""Agrawal and Srikant (2000): the privacy table, and how reconstruction goes on for too long."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measure.noise.noise_checks import noise_privacy
from sfumato.mine.noise.reconstruction import build_channel, build_noisy_edges, build_true_edges, count_in_bins
from sfumato.mine.noise.reconstruction_em import run_em
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.public.noise_law import Noise, privacy_level
from sfumato.randomness import Randomness

CONFIDENCES = (0.5, 0.95, 0.999)
# Printed are 1.34 and 6.8 for the Gaussian; 2 Φ⁻¹(0.75) is 1.349, and 2 Φ⁻¹(0.9995) is 6.58.
TABLE = {"discretize": (0.5, 0.95, 0.999), "uniform": (1.0, 1.9, 1.998), "gaussian": (1.349, 3.92, 6.581)}


@pytest.mark.parametrize("kind", TABLE)
def test_the_privacy_table_both_ways(kind: str) -> None:
    for confidence, width in zip(CONFIDENCES, TABLE[kind], strict=True):
        assert Noise.of((kind, 1.0)).interval(confidence) == pytest.approx(width, abs=5e-4)
        scale = Noise.of_privacy(kind, width, confidence).scale  # type: ignore[arg-type]
        assert scale == pytest.approx(1.0, abs=5e-4)
        assert privacy_level((kind, 7.0), (0, 14), confidence) == pytest.approx(width / 2, abs=5e-4)


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated"])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_the_privacy_table_by_simulation(kind: str, confidence: float) -> None:
    """60,000 values over [0, 100] at 100 %: measured on the differences alone."""
    values = np.random.default_rng(2).uniform(0, 100, 60_000)
    table = sf.Table.of(pl.DataFrame({"x": values}), {"x": "sensitive"})
    method = AddNoise(columns="x", kind=kind, confidence=confidence, ranges={"x": (0, 100)})
    release = method.protect(table, Randomness.seeded(4))
    privacy = noise_privacy(table, release.data, "x", 0, 100, confidence)
    more = 1.0
    if kind == "correlated":  # of one column alone it is Gaussian; its variance is a factor of two digits of the data's
        least = 100 / Noise.of(("gaussian", 1.0)).interval(confidence)
        more = float(np.sqrt(release.public["x"]["times"] * values.var())) / least
        assert 1.0 <= more < 1.05
        assert release.public["x"]["scale"] == pytest.approx(more * least, rel=0.02)
    assert privacy == pytest.approx(more, abs=0.03)


def test_if_we_want_very_high_privacy() -> None:
    """ "2α > W: value distortion provides more privacy than discretization at higher confidence": 100 % at 95 % leaves
    one interval, while noise leaves as many values as there were."""
    values = np.random.default_rng(3).uniform(0, 100, 1_000)
    table = sf.Table.of(pl.DataFrame({"x": values}), {"x": "sensitive"})
    assert AddNoise(columns="x", kind="discretize").protect(table).data.frame["x"].n_unique() == 1
    published = AddNoise(columns="x", kind="uniform").protect(table).data.frame["x"]
    assert published.n_unique() > 990  # on a grid, so two may meet


def test_reconstruction_goes_on_for_too_long_and_a_chi_square_test_stops_it() -> None:
    """Two triangles, 10,000 values, 50 bins, 100 % Gaussian privacy. L1 error after 20/100/200/1000/3000 steps, counted
    independently: .421/.277/.209/.231/.331."""
    noise, edges = Noise.of_privacy("gaussian", 1.0, 0.95), build_true_edges(0, 1, 50)
    noisy_edges = build_noisy_edges(noise, edges)
    channel = build_channel(noise, edges, noisy_edges)
    errors, stopped, published = [], [], []
    for seed in range(8):
        chance = np.random.default_rng(seed)
        hill = chance.triangular(0, 0.25, 0.5, 10_000)
        true = np.where(chance.random(10_000) < 0.5, hill, hill + 0.5)
        truth = np.histogram(true, edges)[0] / 10_000
        counts = count_in_bins(true + noise.draw(chance, 10_000), noisy_edges)
        estimates = (run_em(counts, channel, stop=steps) for steps in (20, 100, 200, 1_000, 3_000))
        errors.append([float(np.abs(estimate.probabilities - truth).sum()) for estimate in estimates])
        stopped.append(float(np.abs(run_em(counts, channel).probabilities - truth).sum()))
        late = run_em(counts, channel, stop="difference", tolerance=1e-6)
        published.append(float(np.abs(late.probabilities - truth).sum()))
    means = np.mean(errors, axis=0)
    assert means == pytest.approx([0.421, 0.277, 0.209, 0.231, 0.331], abs=0.03)
    assert np.mean(stopped) < 1.25 * means.min()
    assert np.median(stopped) < 1.1 * means.min()
    assert np.mean(published) > 1.5 * means.min()
