# SPDX-License-Identifier: MIT
"""The likeliest value against a search through all values, and what it gains where data is uneven."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.noise.likeliest_value import LikeliestValue, estimate_likeliest_values
from sfumato.attack.noise.noisy_numbers import ColumnPrior
from sfumato.details import Details
from sfumato.public.noise_law import Noise
from sfumato.published_law import read_laws
from tests.contract.test_attacks import as_is, noise

Floats = npt.NDArray[np.float64]
Shape = Literal["gaussian", "uniform"]


def one_column(cells: Any, noise_facts: dict[str, Any] | None = None) -> sf.Release:
    noisy_table = sf.Table.of({"x": cells}, {"x": "sensitive"})
    return sf.Release(
        noisy_table, None, (), {}, Details(public=read_laws({} if noise_facts is None else {"x": noise_facts}))
    )


def truth(cells: Any) -> sf.Table:
    return sf.Table.of({"x": cells}, {"x": "sensitive"})


def crowds(rows: int, seed: int = 1) -> Floats:
    chance = np.random.default_rng(seed)
    return np.asarray(chance.choice([10.0, 20.0, 40.0], rows) + chance.normal(0, 0.3, rows))


priors = st.integers(1, 6).flatmap(
    lambda bins: st.tuples(
        st.lists(st.integers(1, 9), min_size=bins, max_size=bins),
        st.lists(st.integers(0, 9), min_size=bins, max_size=bins),
    ).filter(lambda two: sum(two[1]) > 0)
)


def prior(histogram: tuple[list[int], list[int]]) -> ColumnPrior:
    widths, weights = histogram
    return ColumnPrior(np.concatenate([[0.0], np.cumsum(widths)]).astype(np.float64), np.array(weights) / sum(weights))


@given(priors, st.sampled_from(["gaussian", "uniform"]), st.floats(0.5, 5), st.floats(-3, 30))
@settings(max_examples=60, deadline=None)
def test_no_value_on_a_fine_grid_is_likelier(histogram: Any, kind: Shape, scale: float, published_value: float) -> None:
    lies, added = prior(histogram), Noise(kind=kind, scale=scale)
    estimate = float(estimate_likeliest_values(np.array([published_value]), lies, added)[0])
    assert lies.low <= estimate <= lies.high

    def weight(value: Floats) -> Floats:
        inner = np.clip(np.searchsorted(lies.edges, value, side="right") - 1, 0, len(lies.density) - 1)
        left_bin = np.clip(np.searchsorted(lies.edges, value, side="left") - 1, 0, len(lies.density) - 1)
        return np.asarray(
            np.maximum(lies.density[inner], lies.density[left_bin]) * added.density(published_value - value)
        )

    grid = np.linspace(lies.low, lies.high, 2001)
    assert float(weight(np.array([estimate]))[0]) >= float(weight(grid).max()) * (1 - 1e-9) - 1e-300


@given(priors, st.sampled_from(["gaussian", "uniform"]), st.floats(0.5, 5), st.floats(-1, 20))
@example(([1, 1, 3], [0, 0, 1]), "gaussian", 1.4375, 16.5)  # eight deviations away
@settings(max_examples=60, deadline=None)
def test_the_mean_is_the_integral(histogram: Any, kind: Shape, scale: float, published_value: float) -> None:
    lies, added = prior(histogram), Noise(kind=kind, scale=scale)
    estimate = float(estimate_likeliest_values(np.array([published_value]), lies, added, "mean")[0])
    points = np.concatenate(
        [
            low + (np.arange(1000) + 0.5) * (high - low) / 1000
            for low, high in zip(lies.edges[:-1], lies.edges[1:], strict=True)
        ]
    )
    weights = np.repeat(lies.probabilities, 1000) * added.density(published_value - points)
    if weights.max() > 1e-6:  # what nobody can have seen depends on how the tail is summed
        assert estimate == pytest.approx(float((weights @ points) / weights.sum()), abs=0.05)
    assert lies.low - 1e-9 <= estimate <= lies.high + 1e-9


def test_whole_numbers_by_counting() -> None:
    """Ten values, three of which anybody has; noise of ±2.2 rounded. Each published one by hand."""
    lies = ColumnPrior(np.linspace(-0.5, 9.5, 11), np.array([0.5, 0, 0, 0, 0.2, 0, 0, 0, 0, 0.3]))
    added = Noise(kind="uniform", scale=2.2, step=1)
    estimates = estimate_likeliest_values(np.arange(-2.0, 12.0), lies, added)
    # Rounded noise is −2 to 2 with 1/4.4 each but the ends, 0.7/4.4: 2 is 0 + 2 (0.35) or 4 − 2 (0.14).
    assert estimates.tolist() == [0.0] * 5 + [4.0] * 4 + [9.0] * 5


@pytest.mark.parametrize(("kind", "scale"), [("gaussian", 5.0), ("uniform", 9.0)])
def test_crowds_draw_values_to_them(kind: Shape, scale: float) -> None:
    true = crowds(5000)
    added = Noise(kind=kind, scale=scale).draw(np.random.default_rng(2), 5000)
    noise_facts = {"kind": kind, "scale": scale, "step": 0, "range": [float(true.min()), float(true.max())]}
    noisy_release = one_column(true + added, noise_facts)
    mode, mean = (LikeliestValue(statistic=way).run(noisy_release, truth(true)) for way in ("mode", "mean"))
    assert mode.risk > 0.7
    assert mode.baseline / mode.attempts < 0.4
    assert mean.facts["rmse_over_deviation"]["estimate"] < 0.8 * mean.facts["rmse_over_deviation"]["published"]
    assert mean.facts["rmse_estimate"]["x"] <= mode.facts["rmse_estimate"]["x"]


@given(priors, st.sampled_from(["gaussian", "uniform"]), st.floats(0.5, 5), st.floats(-1, 20), st.floats(0.3, 3))
@settings(max_examples=60, deadline=None)
def test_no_window_on_a_fine_grid_is_heavier(
    histogram: Any, kind: Shape, scale: float, published_value: float, reach: float
) -> None:
    lies, added = prior(histogram), Noise(kind=kind, scale=scale)
    estimate = float(estimate_likeliest_values(np.array([published_value]), lies, added, "sharp window", reach)[0])
    points = np.linspace(lies.low, lies.high, 4001)
    points = (points[:-1] + points[1:]) / 2
    weights = lies.density[np.searchsorted(lies.edges, points) - 1] * added.density(published_value - points)
    running = np.concatenate([[0.0], np.cumsum(weights)])

    def weight(middle: Floats) -> Floats:
        return np.asarray(
            running[np.searchsorted(points, middle + reach)] - running[np.searchsorted(points, middle - reach)]
        )

    if weights.max() > 1e-6:  # what nobody can have seen depends on how the tail is summed
        assert float(weight(np.array([estimate]))[0]) >= 0.9 * float(weight(points).max())


def test_a_window_holds_two_ages() -> None:
    """With a tolerance of half a year, a guess between two ages is right about both."""
    lies = ColumnPrior(np.linspace(-0.5, 3.5, 5), np.array([0.3, 0.0, 0.3, 0.4]))
    added = Noise(kind="uniform", scale=50.0, step=1)
    estimates = estimate_likeliest_values(np.array([2.0]), lies, added, "sharp window", 0.5)
    assert estimates.tolist() == [2.5]


@pytest.mark.parametrize("kind", ["gaussian", "uniform"])
def test_it_is_as_strong_as_a_plain_reconstruction(kind: Shape) -> None:
    """Plain EM to the end and the heaviest window tell crowds apart that a smooth reconstruction blurs."""
    true, scale = crowds(1500), 8.0
    noisy_values = true + Noise(kind=kind, scale=scale).draw(np.random.default_rng(8), 1500)
    grid = np.arange(9.25, 41, 0.5)
    likely = Noise(kind=kind, scale=scale).density(noisy_values[:, None] - grid) + 1e-300
    shares = np.full(len(grid), 1 / len(grid))
    for _ in range(500):
        shares = (likely * shares / (likely @ shares)[:, None]).mean(axis=0)
    near_mask = np.abs(grid[:, None] - grid) <= 0.2 * true.std()
    plain = grid[(likely * shares @ near_mask).argmax(axis=1)]
    noise_facts = {"kind": kind, "scale": scale, "step": 0, "range": [9, 41]}
    outcome = LikeliestValue(attempts=1500).run(one_column(noisy_values, noise_facts), truth(true))
    smooth = LikeliestValue(attempts=1500, statistic="mode").run(one_column(noisy_values, noise_facts), truth(true))
    assert outcome.successes >= int((np.abs(plain - true) <= 0.2 * true.std()).sum())
    assert outcome.successes > smooth.successes >= smooth.baseline


def test_even_data_leaves_little() -> None:
    """Inside of a flat range any value is as likely: what is published is the best guess, but for its ends."""
    chance = np.random.default_rng(3)
    true = chance.uniform(0, 100, 5000)
    noise_facts = {"kind": "gaussian", "scale": 5.0, "step": 0, "range": [0, 100]}
    facts = (
        LikeliestValue(statistic="mean")
        .run(one_column(true + chance.normal(0, 5, 5000), noise_facts), truth(true))
        .facts
    )
    assert facts["rmse_estimate"]["x"] == pytest.approx(facts["rmse_published"]["x"], rel=0.06)


def test_the_original_tells_and_noise_does_not() -> None:
    data = truth(np.random.default_rng(4).normal(size=600))
    attack = LikeliestValue(tolerance=0.01)
    assert attack.run(as_is(data), data).risk == 1.0
    assert attack.estimate(as_is(data)).equals(data.frame)
    assert attack.run(noise(data), data).risk < 0.02


@given(st.integers(0, 10_000), st.sampled_from(["gaussian", "uniform"]), st.sampled_from(["mode", "mean"]))
@settings(max_examples=15, deadline=None)
def test_rows_in_another_order_and_other_units(seed: int, kind: Shape, way: Literal["mode", "mean"]) -> None:
    chance = np.random.default_rng(seed)
    noisy_values, order = crowds(80, seed) + Noise(kind=kind, scale=4.0).draw(chance, 80), chance.permutation(80)
    attack = LikeliestValue(statistic=way, bins=20)
    noise_facts = {"kind": kind, "scale": 4.0, "step": 0, "range": [0, 50]}
    estimates = attack.estimate(one_column(noisy_values, noise_facts))["x"].to_numpy()
    np.testing.assert_array_equal(
        attack.estimate(one_column(noisy_values[order], noise_facts))["x"].to_numpy(), estimates[order]
    )
    # Powers of two change no digit.
    wider = attack.estimate(one_column(noisy_values * 8, noise_facts | {"scale": 32.0, "range": [0, 400]}))[
        "x"
    ].to_numpy()
    np.testing.assert_allclose(wider / 8, estimates, rtol=1e-9)


def test_missing_cells_dates_and_whole_numbers() -> None:
    days = pl.Series([18_000, 18_400, None, 18_410, 18_030] * 40, dtype=pl.Int32).cast(pl.Date)
    noise_facts = {"kind": "uniform", "scale": 60.0, "step": 1, "range": [18_000, 18_400]}
    estimate = LikeliestValue().estimate(one_column(days, noise_facts))
    assert estimate.schema == {"x": pl.Date}
    assert estimate["x"].null_count() == 40
    ages = one_column(pl.Series([20, 31, None, 64]), {"kind": "gaussian", "scale": 3.0, "step": 1, "range": [20, 60]})
    rounded = LikeliestValue(statistic="mode").estimate(ages)["x"]
    assert rounded.dtype == pl.Float64
    assert all(value == round(value) and 20 <= value <= 60 for value in rounded.drop_nulls())


def test_columns_with_nothing_to_weigh() -> None:
    constant_release = one_column([4.0, 6.0], {"kind": "uniform", "scale": 3.0, "step": 0, "range": [5.0, 5.0]})
    assert LikeliestValue().estimate(constant_release)["x"].to_list() == [5.0, 5.0]
    middles = one_column([5.0, 15.0], {"kind": "discretize", "scale": 10.0, "step": 0, "origin": 0.0, "range": [0, 20]})
    assert LikeliestValue().estimate(middles)["x"].to_list() == [5.0, 15.0]
    blank_release = one_column(pl.Series([None, None], dtype=pl.Float64), {"kind": "gaussian", "scale": 1.0, "step": 0})
    assert LikeliestValue().estimate(blank_release)["x"].null_count() == 2
    no_range = one_column([1.0, 2.0, 9.0], {"kind": "gaussian", "scale": 1.0, "step": 0})
    assert LikeliestValue().estimate(no_range)["x"].null_count() == 0


def test_the_mean_of_rounded_gaussian_noise_stays_in_range() -> None:
    noise_facts = {"kind": "gaussian", "scale": 0.5, "step": 0, "range": [0.0, 1.0]}
    far = LikeliestValue(statistic="mean").estimate(one_column([0.1, 0.4, 0.9, 60.0], noise_facts))["x"]
    assert far[3] == 1.0
