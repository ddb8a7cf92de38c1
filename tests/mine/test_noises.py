# SPDX-License-Identifier: MIT
"""Noise: its spellings, and the privacy it gives, both ways."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.details import Details
from sfumato.public.noise_law import (
    Noise,
    get_noise,
    get_noise_covariance,
    list_noisy_columns,
    privacy_level,
    read_numbers,
)
from sfumato.published_law import read_laws
from sfumato.release import Release

KINDS = ("uniform", "gaussian", "discretize")


@pytest.mark.parametrize(
    "spelling",
    [
        Noise(kind="gaussian", scale=2.5),
        ("gaussian", 2.5),
        {"kind": "gaussian", "scale": 2.5},
        {"sigma": 2.5},
        ("normal", 2.5),
        ("Gaussian", 2.5),
        ["GAUSS", 2.5],
        {"kind": "Normal", "scale": 2.5},
        {"kind": "gaussian", "std": 2.5},
        {"sd": 2.5},
        {"stddev": 2.5},
        {"kind": "correlated", "scale": 2.5, "covariance": {"x": 6.25}, "privacy": 1.0},
    ],
)
def test_spellings(spelling: object) -> None:
    assert Noise.of(spelling) == Noise(kind="gaussian", scale=2.5)


def test_what_is_no_noise_is_refused() -> None:
    with pytest.raises(sf.PolicyError, match="write noise as"):
        Noise.of(2.5)
    for spelling, words in (
        (("gaussian", 0), "its scale"),
        (("gaussian", float("nan")), "its scale"),
        (("gaussian", "wide"), "its scale"),
        (("pink", 1), "its kind"),
        ((1, 2), "its kind"),
        ({"kind": "gaussian", "stdev": 12}, "its scale"),
        ({"sigma": 2, "step": -1}, "its step"),
        ({}, "its kind, scale"),
        ({"kind": "uniform", "std": 2}, '"std" belongs to gaussian'),
        ({"sigma": 2, "scale": 3}, "given twice: sigma, scale"),
        ("gaussian", "write noise as"),
    ):
        with pytest.raises(sf.PolicyError, match=words):
            Noise.of(spelling)
    with pytest.raises(sf.PolicyError, match="between 0 and 1"):
        Noise(kind="uniform", scale=1).interval(1.0)
    with pytest.raises(sf.PolicyError, match="no width"):
        privacy_level(("uniform", 1.0), (3, 3))


@given(
    st.sampled_from(KINDS),
    st.floats(0.01, 5.0),
    st.floats(0.05, 0.999),
    st.floats(-1e3, 1e3),
    st.floats(0.1, 1e4),
)
def test_level_to_scale_and_back(kind: str, level: float, confidence: float, low: float, span: float) -> None:
    noise = Noise.of_privacy(kind, level * span, confidence)  # type: ignore[arg-type]
    assert privacy_level(noise, span, confidence) == pytest.approx(level)
    assert privacy_level(noise, (low, low + span), confidence) == pytest.approx(level)


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_density_distribution_and_draws_agree(kind: str) -> None:
    noise = Noise.of((kind, 2.0))
    grid = np.linspace(-15, 15, 300_001)
    assert noise.density(grid).sum() * (grid[1] - grid[0]) == pytest.approx(1.0, abs=1e-4)
    sample = noise.draw(np.random.default_rng(1), 40_000)
    assert sample.var() == pytest.approx(noise.variance, rel=0.05)
    # Kolmogorov's statistic exceeds 1.95 / √n once in a thousand
    sample.sort()
    assert np.abs(noise.cumulate(sample) - (np.arange(40_000) + 0.5) / 40_000).max() < 1.95 / 200


def test_what_a_release_tells() -> None:
    public = {
        "age": {"kind": "uniform", "scale": 3.0, "step": 1},
        "pay": {"kind": "correlated", "scale": 2.0, "covariance": {"pay": 4.0, "rent": 1.0}},
        "rent": {"kind": "correlated", "scale": 1.0, "covariance": {"pay": 1.0, "rent": 1.0}},
        "vote": {"kind": "warner", "p": 0.7, "q": 0.3, "categories": ["a", "b"]},
    }
    release = Release(None, None, (), {}, Details(public=read_laws(public)))
    assert list_noisy_columns(release) == ("age", "pay", "rent")
    assert get_noise(release, "age") == Noise(kind="uniform", scale=3.0, step=1.0)
    assert get_noise_covariance(release, ("age", "pay", "rent")).tolist() == [[3, 0, 0], [0, 4, 1], [0, 1, 1]]
    with pytest.raises(sf.DataError, match='no noise in "vote"'):
        get_noise(release, "vote")


def test_columns_as_numbers() -> None:
    assert read_numbers(pl.Series([1, None, 3])).tolist()[::2] == [1.0, 3.0]
    days = [dt.date(1970, 1, 3), dt.date(1969, 12, 31)]
    assert read_numbers(pl.Series(days)).tolist() == [2.0, -1.0]
    assert read_numbers(pl.Series([str(day) for day in days])).tolist() == [2.0, -1.0]
    with pytest.raises(sf.DataError, match="holds text"):
        read_numbers(pl.Series("x", ["secret"]))
    with pytest.raises(sf.DataError, match="neither numbers nor dates"):
        read_numbers(pl.Series("x", [True]))
