# SPDX-License-Identifier: MIT
"""Published numbers tell nothing by their last digits, and ranges nothing of their ends but a coarse grid.

The attacker of Mironov (2012): the sum of two floating-point numbers is not every number. Who knows how noise was drawn
asks of each value that someone could have whether any noise takes it to what is published.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.hierarchies.coarse_range import widen_range
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.public.noise_law import Noise
from sfumato.randomness import Randomness

Floats = Any
PAY = {"pay": (0.0, 10_000.0)}
REACH = 10_000.0


def pay_table(count: int, seed: int = 1) -> sf.Table:
    """Salaries with cents."""
    cents = np.random.default_rng(seed).integers(100_000, 900_000, count)
    return sf.Table.of(pl.DataFrame({"pay": cents / 100}), {"pay": "sensitive"})


CANDIDATES = {
    "cents": np.arange(1_000) / 100,
    "logarithms": np.log(np.arange(1, 1_001)),
}
"""A thousand values that a column can have, as everybody knows."""


def table_of(name: str, count: int) -> sf.Table:
    values = CANDIDATES[name][np.random.default_rng(1).integers(0, 1_000, count)]
    return sf.Table.of(pl.DataFrame({"x": values}), {"x": "sensitive"})


def could_become(candidates: Floats, published: float) -> Any:
    """Which candidates some number that numpy draws as uniform takes to the published one when it is added."""
    draws = np.rint((published - candidates + REACH) / (2 * REACH) * 2.0**53)
    matches = np.zeros(len(candidates), dtype=np.bool_)
    for offset in range(-4, 5):
        matches |= candidates + (-REACH + 2 * REACH * ((draws + offset) * 2.0**-53)) == published
    return matches


def narrowed(name: str, true: Floats, published: Floats) -> Any:
    """For each cell, how many values are left of a thousand; 0 where the true one is not among them."""
    candidates = CANDIDATES[name]
    counts = []
    for value, published_value in zip(true.tolist(), published.tolist(), strict=True):
        survivors = candidates[could_become(candidates, published_value)]
        counts.append(len(survivors) if value in survivors else 0)
    return np.array(counts)


def test_sums_of_floats_tell_some_values() -> None:
    """What was published before, so that the attacker is seen at work. Cents repeat their last bits every quarter."""
    chance = np.random.default_rng(3)
    for name, most in (("cents", 40), ("logarithms", 1)):
        true = table_of(name, 100_000).frame["x"].to_numpy()
        published = true + chance.uniform(-REACH, REACH, len(true))
        close = np.abs(published) < 8  # so little is left beside what was added that the value's own last bits are seen
        candidate_counts = narrowed(name, true[close], published[close])
        assert (candidate_counts > 0).all()
        assert (candidate_counts <= most).sum() > 30


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated"])
@pytest.mark.parametrize("name", list(CANDIDATES))
def test_no_value_is_told_by_the_last_bits(kind: str, name: str) -> None:
    """What the last bits seem to say is the truth no more often than by chance: of about 70 cells, in each of which one
    value of a thousand seems to be left, more than two are right less than once in 10⁴ releases."""
    table = table_of(name, 100_000)
    method = AddNoise(columns="x", kind=kind, privacy=1.9, ranges={"x": (0.0, REACH)})
    release = method.protect(table, Randomness.seeded(5))
    if kind == "uniform":
        assert release.public["x"]["scale"] == pytest.approx(REACH)
    true, published = (source.frame["x"].to_numpy() for source in (table, release.data))
    close = np.abs(published) < 8
    assert close.sum() > 30
    candidate_counts = narrowed(name, true[close], published[close])
    assert (candidate_counts == 1).sum() <= 2
    assert ((candidate_counts > 0) & (candidate_counts < 1_000)).mean() < 0.2


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_all_values_can_become_the_same_numbers(kind: str) -> None:
    """With the same draws, values that are moved by whole steps are published moved by as many: what can come out of
    one value can come out of any other, as far as the noise reaches."""
    table = pay_table(5_000)
    method = AddNoise(columns="pay", kind=kind, privacy=0.5, ranges=PAY)
    first = method.protect(table, Randomness.seeded(1))
    per_unit = round(1 / first.public["pay"]["grid"])
    steps = np.random.default_rng(2).integers(-900 * per_unit, 900 * per_unit, 5_000)
    moved = (np.rint(table.frame["pay"].to_numpy() * per_unit) + steps) / per_unit
    other = method.protect(table.replace_frame(pl.DataFrame({"pay": moved})), Randomness.seeded(1))
    step_counts = [
        np.rint(noisy_release.data.frame["pay"].to_numpy() * per_unit).astype(np.int64)
        for noisy_release in (first, other)
    ]
    assert np.array_equal(step_counts[1] - step_counts[0], steps)
    assert np.array_equal(step_counts[1] / per_unit, other.data.frame["pay"].to_numpy())


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated"])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_every_published_number_lies_on_the_grid_told(kind: str, size: float, dtype: Any) -> None:
    """Also of numbers with all their bits: what is published is the same as if they had none below the grid."""
    values = np.random.default_rng(2).normal(5, 1, 2_000) * size
    table = sf.Table.of(pl.DataFrame({"x": pl.Series(values, dtype=dtype)}), {"x": "sensitive"})
    release = AddNoise(columns="x", kind=kind, privacy=0.5, ranges={"x": (0, 10 * size)}).protect(table)
    grid, scale = release.public["x"]["grid"], release.public["x"]["scale"]
    assert 0 < grid <= scale * (1e-6 if dtype == pl.Float64 else 1e-3)
    published = release.data.frame["x"].cast(pl.Float64).to_numpy()
    steps = np.rint(published / grid)
    grid_values = steps / np.rint(1 / grid) if grid < 1 else steps * grid
    assert np.array_equal(np.asarray(pl.Series(grid_values, dtype=dtype).cast(pl.Float64)), published)


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_originals_that_differ_below_the_grid_become_the_same(kind: str) -> None:
    """With the same draws: nothing of the digits below the grid is left, in any binade."""
    table = pay_table(5_000)
    method = AddNoise(columns="pay", kind=kind, privacy=0.5, ranges=PAY)
    first = method.protect(table, Randomness.seeded(1))
    grid = first.public["pay"]["grid"]
    moved = table.frame["pay"] + np.random.default_rng(1).uniform(-0.4, 0.4, 5_000) * grid
    other = method.protect(table.replace_frame(table.frame.with_columns(moved)), Randomness.seeded(1))
    assert first.data.frame["pay"].equals(other.data.frame["pay"])


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_the_grid_does_not_depend_on_the_data(kind: str) -> None:
    """Only on the range given and the level: the same for whole thousands and for numbers with all their bits."""
    method = AddNoise(columns="x", kind=kind, privacy=0.3, ranges={"x": (0, 1e4)})
    grids = [
        method.protect(sf.Table.of({"x": values}, {"x": "sensitive"})).public["x"]
        for values in ([1000.0, 2000.0, 9000.0], [np.pi, 1e-9, 9999.9999], [0.0, 0.0, 0.1])
    ]
    assert grids[0] == grids[1] == grids[2]


def test_negative_zero_does_not_tell_a_sign() -> None:
    values = np.where(np.arange(20_000) % 2, -1e-13, 1e-13)
    table = sf.Table.of({"x": values}, {"x": "sensitive"})
    method = AddNoise(columns="x", kind="uniform", privacy=1e-3, ranges={"x": (-1e-3, 1e-3)})
    published = method.protect(table, Randomness.seeded(1)).data.frame["x"].to_numpy()
    assert not np.signbit(published[published == 0]).any()


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([18, 33, 89], [10, 90]),
        ([0, 1, 4], [0, 4]),
        ([1, 2, 3], [0, 4]),
        ([-7, 12], [-8, 12]),
        ([1043.17, 5991.5, 8120.99], [1000.0, 9000.0]),
        ([0.013, 0.0291], [0.012, 0.03]),
        ([dt.date(1951, 3, 4), dt.date(1999, 7, 7)], [-8000, 12000]),
    ],
)
@pytest.mark.parametrize("kind", ["uniform", "gaussian", "discretize"])
def test_a_range_of_the_data_is_coarse_and_not_told(kind: str, values: list[Any], bounds: list[float]) -> None:
    table = sf.Table.of({"x": values}, {"x": "sensitive"})
    release = AddNoise(columns="x", kind=kind, privacy=0.4).protect(table)
    assert "range" not in release.public["x"]
    claim = next(
        candidate for candidate in release.claims if candidate.property in ("noise_privacy", "interval_privacy")
    )
    assert [claim.arguments["low"], claim.arguments["high"]] == bounds
    exact = AddNoise(columns="x", kind=kind, privacy=0.4, exact_range=True).protect(table)
    days = [(value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else value for value in values]
    assert exact.public["x"]["range"] == [min(days), max(days)]


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "discretize"])
def test_what_is_public_is_the_same_for_other_ends(kind: str) -> None:
    """Two tables that differ in the person with the highest pay, and in nothing coarse."""
    base = np.linspace(1_000.0, 7_000.0, 500).round(2)
    method = AddNoise(columns="x", kind=kind, privacy=0.4)
    releases = [
        method.protect(sf.Table.of({"x": np.append(base, top)}, {"x": "sensitive"})) for top in (7_432.11, 7_966.66)
    ]
    assert releases[0].public == releases[1].public
    assert releases[0].claims == releases[1].claims


@settings(max_examples=300, deadline=None)
@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9), st.booleans())
def test_widened_ranges_hold_the_data_and_are_coarse(low: float, width: float, whole: bool) -> None:
    low, high = (float(round(low)), float(round(low) + 1 + round(width))) if whole else (low, low + width)
    if not high > low:
        return
    coarse = widen_range(low, high, whole=whole)
    assert float(coarse.low) <= low < high <= float(coarse.high)
    assert coarse.low <= low < high <= coarse.high
    span = high - low
    assert coarse.high - coarse.low <= 1.6 * span + 4 * whole + 1e-6 * abs(low)
    # Ends a twentieth of the range further in are told as the same, or as the next point of the grid.
    inner = widen_range(low + span / 20, high - span / 20, whole=False)
    assert whole or inner.low - coarse.low <= 0.6 * span


def test_the_covariance_told_is_that_of_the_release() -> None:
    """And the claims hold nothing of the data's but what is coarse: not when one person is another."""
    chance = np.random.default_rng(1)
    age = chance.integers(20, 80, 500)
    pay = (age * 50 + chance.normal(0, 300, 500)).round(2)
    pay[:2] = 100.0, 4_900.0
    claims = []
    for mine in (2_111.11, 2_999.99):
        pay[7] = mine
        table = sf.Table.of({"age": age, "pay": pay}, {"age": "sensitive", "pay": "sensitive"})
        release = AddNoise(columns=("age", "pay"), kind="correlated", privacy=0.5).protect(table)
        claims.append(release.claims)
        pay_facts, times = release.public["pay"], release.public["pay"]["times"]
        published = release.data.frame
        level: Any = [claim.arguments for claim in release.claims if claim.property == "noise_privacy"][1]
        least = Noise.of_privacy("gaussian", 0.5 * (level["high"] - level["low"]), 0.95).scale
        guessed = float(np.sqrt(published["pay"].to_numpy().var() * times / (1 + times)))
        assert pay_facts["scale"] == pytest.approx(max(least, guessed))
        alike = np.corrcoef(published["age"], published["pay"])[0, 1]
        assert pay_facts["covariance"]["age"] == pytest.approx(
            alike * pay_facts["scale"] * release.public["age"]["scale"]
        )
        assert all(finding.holds for finding in sf.check(release, table))
    assert claims[0] == claims[1]


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated"])
def test_much_noise_on_whole_numbers_hides_their_last_digits(kind: str) -> None:
    """Floats of 10¹⁷ and more are multiples of 16: noise drawn as such leaves every remainder as it was."""
    values = np.random.default_rng(1).integers(0, 2**53, 4_000)
    table = sf.Table.of({"x": values}, {"x": "sensitive"})
    release = AddNoise(columns="x", kind=kind, privacy=100.0, ranges={"x": (0, 2**53)}).protect(table)
    added = release.data.frame["x"].to_numpy() - values
    assert np.abs(added).max() > 10**17
    residue_counts = np.bincount(added % 16, minlength=16)
    assert (np.abs(residue_counts - 250) < 6.5 * np.sqrt(250)).all()  # once in 10⁹ releases
    assert all(finding.holds for finding in sf.check(release, table))
