# SPDX-License-Identifier: MIT
"""Reconstruction against brute force, exact cases, and simulation."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.details import Details
from sfumato.mine.noise.reconstruction import (
    binned_em,
    build_channel,
    build_noisy_edges,
    build_true_edges,
    count_in_bins,
    reconstruct_distribution,
)
from sfumato.mine.noise.reconstruction_em import StepRisk, run_em
from sfumato.public.noise_law import Noise
from sfumato.published_law import read_laws
from sfumato.release import Release

GAUSSIAN = Noise(kind="gaussian", scale=0.3)
UNIFORM = Noise(kind="uniform", scale=0.35)


def two_hills(count: int, seed: int = 0) -> np.ndarray:
    chance = np.random.default_rng(seed)
    hill = chance.triangular(0, 0.25, 0.5, count)
    return np.where(chance.random(count) < 0.3, hill, hill + 0.5)


def simulated(noise: Noise, true_edges: np.ndarray, noisy_edges: np.ndarray, count: int = 200_000) -> np.ndarray:
    """The channel by drawing: the first and the last noisy bins take all beyond."""
    chance = np.random.default_rng(5)
    matrix = np.zeros((len(noisy_edges) - 1, len(true_edges) - 1))
    for index, (low, high) in enumerate(pairwise(true_edges)):
        end = int(np.floor(high)) + 1 if high == true_edges[-1] else int(np.ceil(high))
        true = chance.integers(int(np.ceil(low)), end, count) if noise.step else None
        values = chance.uniform(low, high, count) if true is None else true.astype(float)
        draws = noise.draw(chance, count)
        noisy_values = values + (np.rint(draws) if noise.step else draws)
        matrix[:, index] = (
            np.bincount(np.searchsorted(noisy_edges[1:-1], noisy_values, side="right"), minlength=len(matrix)) / count
        )
    return matrix


@pytest.mark.parametrize(
    ("noise", "true", "noisy"),
    [
        (GAUSSIAN, [0, 0.1, 0.5, 1.0], [-1, -0.2, 0.1, 0.15, 0.9, 2]),
        (UNIFORM, [0, 0.1, 0.5, 1.0], [-1, -0.2, 0.1, 0.15, 0.9, 2]),
        (Noise(kind="gaussian", scale=1.7, step=1), [-0.5, 0.5, 4.5, 9.5], [-4.5, -1.5, 0.5, 5.5, 12.5]),
        (Noise(kind="uniform", scale=2.3, step=1), [0, 3, 5, 10], [-3, -1, 2, 2.5, 4, 8, 13]),
        (Noise(kind="uniform", scale=0.3, step=1), [-0.5, 0.5, 1.5], [-0.5, 0.5, 1.5]),
    ],
)
def test_the_channel_is_what_drawing_gives(noise: Noise, true: list[float], noisy: list[float]) -> None:
    true_edges, noisy_edges = np.array(true, dtype=float), np.array(noisy, dtype=float)
    matrix = build_channel(noise, true_edges, noisy_edges)
    assert matrix.sum(axis=0) == pytest.approx(np.ones(len(true) - 1))
    assert np.abs(matrix - simulated(noise, true_edges, noisy_edges)).max() < 5 * np.sqrt(0.25 / 200_000)


def test_whole_numbers_have_their_upper_edge_in_the_last_bin() -> None:
    exact = build_channel(Noise(kind="uniform", scale=0.2, step=1), [0, 2, 4], [0, 1, 2, 3, 4, 5])
    assert exact == pytest.approx(np.array([[0.5, 0], [0.5, 0], [0, 1 / 3], [0, 1 / 3], [0, 1 / 3]]))


def test_a_scipy_distribution_is_noise_too() -> None:
    from scipy.stats import norm

    edges = build_true_edges(0, 1, 10)
    noisy = build_noisy_edges(GAUSSIAN, edges)
    assert build_channel(norm(0, 0.3), edges, noisy) == pytest.approx(build_channel(GAUSSIAN, edges, noisy), abs=1e-9)
    values = two_hills(2_000) + norm(0, 0.3).rvs(2_000, random_state=1)
    by_name = reconstruct_distribution(values, ("gaussian", 0.3), 10, range=(0, 1), stop=20)
    assert reconstruct_distribution(values, norm(0, 0.3), 10, range=(0, 1), stop=20).mean == pytest.approx(
        by_name.mean, abs=0.01
    )


def likelihood(probabilities: np.ndarray, counts: np.ndarray, channel: np.ndarray) -> float:
    filled_bins = counts > 0
    return float(counts[filled_bins] @ np.log(channel[filled_bins] @ probabilities))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=4, max_size=8).filter(any), st.integers(2, 4), st.integers(0, 10**6))
def test_every_step_raises_the_likelihood(counts: list[int], bins: int, seed: int) -> None:
    channel = np.random.default_rng(seed).dirichlet(np.ones(len(counts)), size=bins).T
    observed = np.array(counts)
    likelihoods = [
        likelihood(binned_em(observed, channel, stop=steps), observed, channel) for steps in (0, 1, 2, 5, 20)
    ]
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(likelihoods))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=3, max_size=6).filter(any), st.integers(0, 10**6))
def test_many_steps_lead_to_the_likeliest(counts: list[int], seed: int) -> None:
    """Three bins: a grid over all distributions finds nothing likelier."""
    channel = np.random.default_rng(seed).dirichlet(np.ones(len(counts)), size=3).T
    observed = np.array(counts)
    best = likelihood(binned_em(observed, channel, stop=5_000), observed, channel)
    grid = np.linspace(0, 1, 41)
    candidates = [np.array([a, b, 1 - a - b]) for a in grid for b in grid if a + b <= 1 + 1e-12]
    with np.errstate(divide="ignore", invalid="ignore"):
        grid_best = max(likelihood(np.maximum(candidate, 0), observed, channel) for candidate in candidates)
    assert best >= grid_best - 1e-3


def test_no_noise_to_speak_of_is_the_histogram() -> None:
    values = two_hills(3_000)
    distribution = reconstruct_distribution(values, ("uniform", 1e-9), 20, range=(0, 1))
    assert distribution.probabilities == pytest.approx(np.histogram(values, distribution.edges)[0] / 3_000, abs=1e-6)
    whole = np.random.default_rng(1).integers(0, 9, 500)
    exact = reconstruct_distribution(whole, {"sigma": 0.01, "step": 1}, 50, range=(0, 8))
    assert exact.edges.tolist() == (np.arange(10) - 0.5).tolist()
    assert exact.probabilities == pytest.approx(np.bincount(whole, minlength=9) / 500)
    assert exact.std == pytest.approx(whole.std())
    assert exact.mean == pytest.approx(whole.mean())


@pytest.mark.parametrize(("step", "origin"), [(0.0, 0.0), (1.0, -3.0)])
def test_intervals_are_the_histogram(step: float, origin: float) -> None:
    true = np.random.default_rng(2).integers(0, 30, 4_000).astype(float)
    places = np.floor((true - origin) / 5)
    middles = origin + places * 5 + (np.floor((5 - 1) / 2) if step else 2.5)
    noise = Noise(kind="discretize", scale=5, step=step, origin=origin)
    distribution = reconstruct_distribution(middles, noise, range=(0, 29))
    assert distribution.iterations == 1
    expected = np.bincount((places - places.min()).astype(int)) / 4_000
    assert distribution.probabilities == pytest.approx(expected)


def test_intervals_into_other_bins() -> None:
    """Twenty of 40 values in [0, 10), the rest in [10, 20): in halves each gets its even share."""
    noise = Noise(kind="discretize", scale=10)
    values = np.repeat([5.0, 15.0], [20, 20])
    assert reconstruct_distribution(values, noise, [0, 5, 10, 15, 20]).probabilities == pytest.approx(np.full(4, 0.25))


@pytest.mark.parametrize(("noise", "most"), [(GAUSSIAN, 0.02), (UNIFORM, 0.1)])
def test_both_forms_agree_but_for_binning(noise: Noise, most: float) -> None:
    chance = np.random.default_rng(3)
    noisy = two_hills(4_000) + noise.draw(chance, 4_000)
    for steps in (1, 5, 30):
        bins, values = (
            reconstruct_distribution(noisy, noise, 50, steps, range=(0, 1), form=form, intervals="none")
            for form in ("bins", "values")
        )
        assert np.abs(bins.probabilities - values.probabilities).sum() < most


def test_the_published_sum_word_for_word() -> None:
    """Step (3) of Agrawal and Srikant (2000), in plain Python."""
    noisy, middles = [0.1, 0.7, 1.2, -0.1], [0.125, 0.375, 0.625, 0.875]
    probabilities = [0.25] * 4
    for _ in range(3):
        fresh = []
        for a in range(4):
            total = 0.0
            for value in noisy:
                dense = [float(GAUSSIAN.density(np.array(value - z))) for z in middles]
                total += dense[a] * probabilities[a] / sum(d * p for d, p in zip(dense, probabilities, strict=True))
            fresh.append(total / len(noisy))
        probabilities = fresh
    distribution = reconstruct_distribution(np.array(noisy), GAUSSIAN, 4, 3, range=(0, 1), form="values")
    assert distribution.probabilities == pytest.approx(probabilities)


@pytest.mark.parametrize("noise", [GAUSSIAN, UNIFORM])
def test_it_recovers_two_hills(noise: Noise) -> None:
    true = two_hills(50_000)
    noisy = true + noise.draw(np.random.default_rng(4), 50_000)
    distribution = reconstruct_distribution(noisy, noise, 20, range=(0, 1))
    truth = np.histogram(true, distribution.edges)[0] / 50_000
    noisy_shares = np.histogram(np.clip(noisy, 0, 1), distribution.edges)[0] / 50_000
    assert np.abs(distribution.probabilities - truth).sum() < 0.35 * np.abs(noisy_shares - truth).sum()
    assert distribution.p_value > 0.01
    assert distribution.mean == pytest.approx(true.mean(), abs=0.01)
    assert distribution.std == pytest.approx(true.std(), abs=0.02)
    assert distribution.quantile([0.1, 0.5, 0.9]) == pytest.approx(np.quantile(true, [0.1, 0.5, 0.9]), abs=0.05)
    assert (distribution.low <= distribution.probabilities).all()
    assert (distribution.probabilities <= distribution.high).all()


def test_strict_intervals_hold_the_truth_and_bootstrap_ones_shrink() -> None:
    shape = np.array([0.05, 0.3, 0.1, 0.35, 0.2])
    widths = []
    for count in (500, 50_000):
        chance = np.random.default_rng(count)
        true = (chance.choice(5, count, p=shape) + chance.random(count)) / 5
        noisy = true + UNIFORM.draw(chance, count)
        strict = reconstruct_distribution(noisy, UNIFORM, 5, range=(0, 1), intervals="strict")
        assert ((strict.low <= shape) & (shape <= strict.high)).all()
        loose = reconstruct_distribution(noisy, UNIFORM, 5, range=(0, 1))
        assert (loose.high - loose.low).mean() < (strict.high - strict.low).mean()
        widths.append(((loose.high - loose.low).mean(), (strict.high - strict.low).mean()))
    assert widths[1][0] < 0.3 * widths[0][0]
    assert widths[1][1] < 0.6 * widths[0][1]


def test_wrong_noise_shows_in_the_p_value() -> None:
    noisy = two_hills(20_000) * 0 + 0.5 + np.random.default_rng(1).normal(0, 0.1, 20_000)
    assert reconstruct_distribution(noisy, GAUSSIAN, 20, range=(0, 1), intervals="none").p_value < 1e-6


def test_stops() -> None:
    noisy = two_hills(2_000) + GAUSSIAN.draw(np.random.default_rng(1), 2_000)
    assert reconstruct_distribution(noisy, GAUSSIAN, 20, 7, range=(0, 1)).iterations == 7
    same = reconstruct_distribution(noisy, GAUSSIAN, 20, "difference", range=(0, 1), tolerance=1e-2)
    assert same.stop_reason == "difference"
    cut = reconstruct_distribution(noisy, GAUSSIAN, 20, "difference", range=(0, 1), tolerance=0, most=30)
    assert (cut.stop_reason, cut.iterations) == ("iterations", 30)
    quick = reconstruct_distribution(noisy, GAUSSIAN, 20, range=(0, 1), level=1e-9)
    assert (quick.stop_reason, quick.iterations) == ("chi2", 1)
    assert quick.p_value >= 1e-9
    assert reconstruct_distribution(noisy, GAUSSIAN, 20, range=(0, 1), most=0).iterations == 0
    assert reconstruct_distribution(noisy, GAUSSIAN, 20, range=(0, 1), most=1).stop_reason in ("chi2", "iterations")


def triangles(seed: int) -> np.ndarray:
    """Two of them, equally full."""
    chance = np.random.default_rng(seed)
    left, right = chance.triangular(0, 0.25, 0.5, 10_000), chance.triangular(0.5, 0.75, 1, 10_000)
    return np.where(chance.random(10_000) < 0.5, left, right)


def bell(seed: int) -> np.ndarray:
    return np.clip(np.random.default_rng(seed).normal(0.5, 0.15, 10_000), 0, 1)


@pytest.mark.parametrize(
    ("shape", "noise", "factor"),
    [
        (triangles, Noise(kind="gaussian", scale=1 / 3.92), 1.25),  # many steps are right, past a plateau of χ²
        (bell, Noise(kind="gaussian", scale=1 / 3.92), 1.8),  # few are
        (bell, Noise(kind="uniform", scale=0.25), 1.8),
    ],
)
def test_chi2_stops_neither_on_a_plateau_nor_too_late(
    shape: Callable[[int], np.ndarray], noise: Noise, factor: float
) -> None:
    """10,000 values, 50 bins: the mean error is near that of the best fixed number of steps, which nobody knows."""
    edges = build_true_edges(0, 1, 50)
    noisy_edges = build_noisy_edges(noise, edges)
    channel = build_channel(noise, edges, noisy_edges)
    stopped, fixed = [], []
    for seed in range(1, 25):
        true = shape(seed)
        truth = np.histogram(true, edges)[0] / len(true)
        counts = count_in_bins(true + noise.draw(np.random.default_rng(1_000 + seed), len(true)), noisy_edges)
        estimates = [run_em(counts, channel, stop=steps).probabilities for steps in (20, 50, 200, 500, 1_000, 3_000)]
        fixed.append([float(np.abs(estimate - truth).sum()) for estimate in estimates])
        stopped.append(float(np.abs(run_em(counts, channel).probabilities - truth).sum()))
    assert np.mean(stopped) < factor * np.mean(fixed, axis=0).min()
    assert np.mean(np.array(stopped) > np.array(fixed)[:, -1]) < 0.2


def test_chi2_is_not_fooled_by_the_plateau_of_seed_1() -> None:
    """It stopped after 7 steps with an error of 0.49; 200 steps give 0.35."""
    chance, count = np.random.default_rng(1), 10_000
    true = np.where(
        chance.random(count) < 0.5, chance.triangular(0, 0.25, 0.5, count), chance.triangular(0.5, 0.75, 1, count)
    )
    noisy = true + chance.normal(0, 1 / 3.92, count)
    distribution = reconstruct_distribution(noisy, ("gaussian", 1 / 3.92), 50, range=(0, 1), intervals="none")
    assert distribution.stop_reason == "chi2"
    assert distribution.iterations > 100
    assert np.abs(distribution.probabilities - np.histogram(true, distribution.edges)[0] / count).sum() < 0.4


def test_the_sum_over_values_takes_as_many_steps() -> None:
    noisy = two_hills(1_000) + UNIFORM.draw(np.random.default_rng(1), 1_000)
    bins, values = (
        reconstruct_distribution(noisy, UNIFORM, 50, range=(0, 1), form=form, intervals="none")
        for form in ("bins", "values")
    )
    assert (values.iterations, values.stop_reason) == (bins.iterations, "chi2")


def test_risk_counts_what_is_fitted() -> None:
    """Without noise, one step fits all: 9 free parameters, and √(2 p (1 − p) / (π n)) in each of 10 bins."""
    risk = StepRisk.of(np.eye(10), np.full(10, 0.1), 1_000)
    error = 10 * np.sqrt(2 * 0.1 * 0.9 / (np.pi * 1_000))
    assert risk.measure_risk(1) == pytest.approx(2 * 9 + 1_000 * error**4)
    assert risk.measure_risk(50) == pytest.approx(risk.measure_risk(1))


def test_many_bins_take_seconds() -> None:
    """5,000 took minutes. Steps are counted on fewer, noisy bins are as fine as the noise, intervals are left out."""
    noise = Noise(kind="gaussian", scale=1 / 3.92)
    noisy = two_hills(5_000) + noise.draw(np.random.default_rng(2), 5_000)
    left_out = reconstruct_distribution(noisy, noise, 5_000, 400, range=(0, 1))
    assert left_out.intervals == "none"
    assert np.isnan(left_out.low).all()
    many, few = (reconstruct_distribution(noisy, noise, bins, range=(0, 1)) for bins in (1_000, 50))
    assert many.intervals == few.intervals == "bootstrap"
    assert np.abs(many.probabilities.reshape(50, 20).sum(axis=1) - few.probabilities).sum() < 0.05
    assert len(build_noisy_edges(noise, build_true_edges(0, 1, 5_000))) < 500
    assert len(build_noisy_edges(UNIFORM, build_true_edges(0, 1, 5_000))) < 2_000


def test_a_start_near_the_end_is_kept() -> None:
    edges = build_true_edges(0, 1, 10)
    noisy = build_noisy_edges(UNIFORM, edges)
    channel, shape = build_channel(UNIFORM, edges, noisy), np.linspace(1, 3, 10) / 20
    counts = np.rint(100_000 * channel @ shape).astype(int)
    result = run_em(counts, channel, shape)
    assert result.iterations == 1
    assert result.probabilities == pytest.approx(shape, abs=1e-3)


def test_a_start_that_thinks_a_bin_impossible_can_be_wrong() -> None:
    assert binned_em([10, 30], np.eye(2), start=[0.0, 1.0], stop=1) == pytest.approx([0.25, 0.75])


def test_strict_intervals_of_plain_shares_are_wider_than_those_of_one_share() -> None:
    """Two intervals with half of 1,000 values each: one share alone is known within 1.96 · √(0.25 / 1000) = 0.031."""
    noise = Noise(kind="discretize", scale=10)
    distribution = reconstruct_distribution(np.repeat([5.0, 15.0], 500), noise, range=(0, 20), intervals="strict")
    assert distribution.low == pytest.approx([0.5 - 0.04, 0.5 - 0.04], abs=0.009)
    assert distribution.high == pytest.approx([0.5 + 0.04, 0.5 + 0.04], abs=0.009)


def test_releases_missing_values_and_frames() -> None:
    frame = pl.DataFrame({"age": [10, None, 30, 35], "sex": ["f", "m", "f", "m"]})
    public = {"age": {"kind": "uniform", "scale": 6.0, "step": 1, "range": [8, 40]}}
    release = Release(sf.Table.of(frame), None, (), {}, Details(public=read_laws(public)))
    distribution = reconstruct_distribution(release, column="age", bins=4)
    assert distribution.count == 3
    assert (distribution.edges[0], distribution.edges[-1]) == (7.5, 40.5)
    assert distribution.probabilities.sum() == pytest.approx(1)
    assert distribution.to_frame().columns == ["from", "to", "probability", "low", "high", "density"]
    assert (distribution.density * np.diff(distribution.edges)).sum() == pytest.approx(1)
    assert distribution.quantile(0.0) == distribution.edges[:-1][distribution.probabilities > 0][0]
    assert reconstruct_distribution(release).count == 3


NOISY = [1.5, 2.0, 7.25, 8.0]


@pytest.mark.parametrize(
    "values",
    [
        np.array([*NOISY, np.nan]),
        [None, *NOISY],
        (1.5, 2, None, 7.25, np.float32(8.0)),
        pl.Series([*NOISY, None, np.nan]),
        pd.Series([*NOISY, np.nan]),
        pl.Series(NOISY).to_arrow(),
        (noise_case for noise_case in NOISY),
    ],
)
def test_missing_values_are_left_out(values: object) -> None:
    distribution = reconstruct_distribution(values, ("uniform", 2.0), 5, range=(0, 10))
    assert distribution.count == 4
    assert distribution.probabilities == pytest.approx(
        reconstruct_distribution(NOISY, ("uniform", 2.0), 5, range=(0, 10)).probabilities
    )


def test_tables_and_frames() -> None:
    frame = pl.DataFrame({"x": NOISY, "y": [1.0, 1.0, 1.0, np.nan]})
    for data in (frame, frame.to_pandas(), sf.Table.of(frame), frame.to_dict(as_series=False), frame.to_arrow()):
        assert reconstruct_distribution(data, ("uniform", 2.0), 5, column="x").count == 4
        assert reconstruct_distribution(data, ("uniform", 2.0), 5, column="y").count == 3
    assert reconstruct_distribution(frame.select("x"), ("uniform", 2.0), 5).count == 4
    with pytest.raises(sf.PolicyError, match="name the column to reconstruct; there are x, y"):
        reconstruct_distribution(frame, ("uniform", 2.0))
    with pytest.raises(sf.PolicyError, match='no column "z"; there are x, y'):
        reconstruct_distribution(sf.Table.of(frame), ("uniform", 2.0), column="z")


def test_intervals_are_put_together_whole() -> None:
    true = np.random.default_rng(2).integers(0, 30, 4_000).astype(float)
    middles = np.floor(true / 5) * 5 + 2
    noise = Noise(kind="discretize", scale=5, step=1)
    distribution = reconstruct_distribution(middles, noise, 3, range=(0, 29))
    assert distribution.edges.tolist() == [-0.5, 9.5, 19.5, 29.5]
    assert distribution.probabilities == pytest.approx(np.histogram(true, distribution.edges)[0] / 4_000)
    assert len(reconstruct_distribution(middles, noise, 100, range=(0, 29)).probabilities) == 6
    with pytest.raises(sf.PolicyError, match="must be a number of bins"):
        reconstruct_distribution(middles, noise, 0, range=(0, 29))


@pytest.mark.parametrize("text", [False, True])
def test_dates_stay_dates(text: bool) -> None:
    chance = np.random.default_rng(3)
    days = pl.Series("day", chance.integers(18_262, 18_262 + 366, 500)).cast(pl.Int32).cast(pl.Date)
    column = days.cast(pl.String) if text else days
    public = {"day": {"kind": "uniform", "scale": 20.0, "step": 1, "range": [18_262, 18_627]}}
    release = Release(sf.Table.of(column.to_frame()), None, (), {}, Details(public=read_laws(public)))
    distribution = reconstruct_distribution(release, bins=[18_262, 18_293, 18_322, 18_627], range=(18_262, 18_627))
    frame = distribution.to_frame()
    assert frame["from"].to_list() == [dt.date(2020, 1, 1), dt.date(2020, 2, 1), dt.date(2020, 3, 1)]
    assert frame["to"].to_list() == [dt.date(2020, 1, 31), dt.date(2020, 2, 29), dt.date(2020, 12, 31)]
    assert distribution.edges.tolist() == [18_262, 18_293, 18_322, 18_627]
    whole = reconstruct_distribution(release, bins=2).to_frame()
    assert (whole["from"][0], whole["to"][-1]) == (dt.date(2020, 1, 1), dt.date(2020, 12, 31))
    assert whole["to"][0] + dt.timedelta(1) == whole["from"][1]


def test_scipy_distributions_that_are_no_noise() -> None:
    from scipy.stats import norm, poisson

    with pytest.raises(sf.PolicyError, match=r"norm\(0, 2.5\)"):
        reconstruct_distribution(NOISY, norm)
    with pytest.raises(sf.PolicyError, match="discrete"):
        reconstruct_distribution(NOISY, poisson(3))


def test_sizes() -> None:
    """Numbers may be small or large; those whose squares are too large are refused."""
    values = np.random.default_rng(1).normal(50, 20, 300)
    expected = reconstruct_distribution(values, ("gaussian", 12), 20, range=(0, 100)).probabilities
    for size in (1e-200, 1e140):
        distribution = reconstruct_distribution(values * size, ("gaussian", 12 * size), 20, range=(0, 100 * size))
        assert distribution.probabilities == pytest.approx(expected)
    for arguments in (
        {"values": values * 1e300, "noise": ("gaussian", 12e300), "range": (0, 1e302)},
        {"values": values, "noise": ("gaussian", 12), "range": (-1e308, 1e308)},
        {"values": values, "noise": ("uniform", 1e200), "range": (0, 100)},
        {"values": values, "noise": ("uniform", 50), "bins": [-1e308, 0, 1e308]},
    ):
        with pytest.raises(sf.PolicyError, match="beyond 1e150"):
            reconstruct_distribution(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "arguments", "error", "words"),
    [
        ([], {}, sf.DataError, "no noisy values"),
        ([None, None], {}, sf.DataError, "no noisy values"),
        ([np.nan], {}, sf.DataError, "no noisy values"),
        ([1.0, np.inf], {}, sf.DataError, "1 of 2"),
        ([1.0, np.nan, None, -np.inf], {}, sf.DataError, "1 of 2"),
        ([None, "a"], {}, sf.DataError, '"values" holds text'),
        ([1.0, dt.date(2020, 1, 1)], {}, sf.DataError, "only numbers, or only dates"),
        (7.0, {}, sf.DataError, "as a list"),
        (["a"], {}, sf.DataError, "holds text"),
        ([1.0], {"bins": 0}, sf.PolicyError, "must be a number of bins"),
        ([1.0], {"bins": 2.5}, sf.PolicyError, "must be a number of bins"),
        ([1.0], {"bins": "many"}, sf.PolicyError, "must be a number of bins"),
        ([1.0], {"bins": None}, sf.PolicyError, "must be a number of bins"),
        ([1.0], {"bins": [0.0, 0.0]}, sf.PolicyError, "ascending"),
        ([1.0], {"stop": "soon"}, sf.PolicyError, "`stop`"),
        ([1.0], {"form": "word"}, sf.PolicyError, "form"),
        ([1.0], {"intervals": "word"}, sf.PolicyError, "intervals"),
        ([1.0], {"confidence": 1.0}, sf.PolicyError, "confidence"),
        ([1.0, 9.0], {"range": (0, 2)}, sf.DataError, "1 of 2 values cannot come"),
        ([1.0], {"noise": None}, sf.PolicyError, "give the noise"),
        ([1.0], {"range": (2, 1)}, sf.PolicyError, "range"),
    ],
)
def test_bad_input(values: object, arguments: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        reconstruct_distribution(values, **({"noise": ("uniform", 1.0)} | arguments))  # type: ignore[arg-type]


def test_values_are_counted_in_their_bins() -> None:
    edges = np.array([0.0, 1.0, 3.0, 4.0])
    assert count_in_bins(np.array([-9.0, 0.5, 1.0, 2.9, 3.0, 99.0]), edges).tolist() == [2, 2, 2]
    even = np.linspace(0, 1, 11)
    values = np.random.default_rng(0).random(1_000)
    assert count_in_bins(values, even).tolist() == np.histogram(values, even)[0].tolist()


def test_impossible_channels() -> None:
    with pytest.raises(sf.PolicyError, match="do not match a channel"):
        binned_em([1, 2], np.eye(3))
    with pytest.raises(sf.DataError, match="no noisy values"):
        binned_em([0, 0], np.eye(2))
    with pytest.raises(sf.PolicyError, match="a start needs 2"):
        binned_em([1, 1], np.eye(2), start=[1.0])
    with pytest.raises(sf.PolicyError, match="no whole number"):
        build_channel(Noise(kind="uniform", scale=1, step=1), [0.1, 0.2, 5], [0, 1, 2])


def test_bins_of_unequal_width_begin_with_equal_density() -> None:
    """Whole numbers shared out over bins: two in some, one in others. A wide bin is not twice as dense for it."""
    chance = np.random.default_rng(4)
    true = chance.integers(0, 77, 5_000)
    noisy = np.rint(true + chance.normal(0, 12, len(true)))
    distribution = reconstruct_distribution(
        noisy, Noise(kind="gaussian", scale=12, step=1), bins=50, range=(0, 76), intervals="none"
    )
    widths = np.diff(distribution.edges)
    assert set(widths) == {1.0, 2.0}
    inner = slice(10, -10)
    wide, narrow = (distribution.density[inner][widths[inner] == width].mean() for width in (2.0, 1.0))
    assert wide / narrow == pytest.approx(1.0, abs=0.1)
