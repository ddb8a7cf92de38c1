# SPDX-License-Identifier: MIT
"""Moments in blocks against plain sums, the law of Marchenko and Pastur, and whitening."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.mine.noise.spectrum import (
    NoisyMoments,
    compute_noise_bounds,
    compute_spectrum,
    make_positive,
    sum_moments,
)

Floats = npt.NDArray[np.float64]
cells = st.one_of(st.just(float("nan")), st.integers(-50, 50).map(float))
tables = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=cells, fill=st.nothing())
)


def by_hand(table: Floats) -> NoisyMoments:
    """Cell by cell."""
    rows, columns = table.shape
    there = [[not np.isnan(table[i, j]) for j in range(columns)] for i in range(rows)]
    mean = []
    for j in range(columns):
        held = [table[i, j] for i in range(rows) if there[i][j]]
        mean.append(sum(held) / len(held) if held else 0.0)
    filled = [[table[i, j] if there[i][j] else mean[j] for j in range(columns)] for i in range(rows)]
    covariance = [
        [sum((filled[i][j] - mean[j]) * (filled[i][k] - mean[k]) for i in range(rows)) / rows for k in range(columns)]
        for j in range(columns)
    ]
    together = [
        [sum(there[i][j] and there[i][k] for i in range(rows)) / rows for k in range(columns)] for j in range(columns)
    ]
    return NoisyMoments(rows, np.array(mean), np.array(covariance), np.array(together))


@settings(deadline=None)
@given(tables, st.integers(1, 5))
def test_moments_are_those_of_all_rows_at_once(table: Floats, step: int) -> None:
    found = sum_moments((table[at : at + step] for at in range(0, len(table), step)), table.shape[1])
    expected = by_hand(table)
    assert found.rows == expected.rows
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(found.covariance, expected.covariance, atol=1e-7)
    np.testing.assert_allclose(found.joint_shares, expected.joint_shares, atol=1e-12)


def test_large_numbers_lose_nothing() -> None:
    small = np.random.default_rng(1).normal(size=(1000, 3))
    near = sum_moments(iter([small]), 3).covariance
    far = sum_moments(iter([small[:300] + 1e8, small[300:] + 1e8]), 3).covariance
    np.testing.assert_allclose(far, near, atol=1e-6)


def test_no_rows() -> None:
    found = sum_moments(iter([]), 2)
    assert (found.rows, found.mean.tolist(), found.covariance.tolist()) == (0, [0.0, 0.0], [[0.0, 0.0], [0.0, 0.0]])


def test_complete_covariance_looks_at_rows_with_both() -> None:
    table = np.array([[1.0, 10.0], [3.0, np.nan], [np.nan, 30.0], [5.0, 20.0]])
    found = sum_moments(iter([table]), 2).complete
    assert found[0, 0] == pytest.approx(8 / 3)  # 1, 3, 5 around 3
    assert found[0, 1] == pytest.approx((-2 * -10 + 2 * 0) / 2)  # means 3 and 20, two rows with both


def test_bounds_by_hand() -> None:
    # n = 25 columns, m = 100 rows: 1 ± √¼, squared.
    assert (compute_noise_bounds(25, 100).low, compute_noise_bounds(25, 100).high) == (0.25, 2.25)
    assert compute_noise_bounds(25, 100, variance=4.0).high == 9.0
    assert compute_noise_bounds(100, 25).low == 0.0


@pytest.mark.parametrize(("rows", "columns"), [(4000, 40), (1500, 150)])
def test_eigenvalues_of_pure_noise_keep_the_law(rows: int, columns: int) -> None:
    noise = np.random.default_rng(columns).normal(size=(rows, columns))
    found = compute_spectrum(sum_moments(iter([noise]), columns), np.eye(columns))
    # Tracy and Widom: the largest strays from the bound by some columns^(−2/3) of it; 5 % are far beyond.
    assert found.eigenvalues[0] == pytest.approx(found.bounds.high, rel=0.05)
    assert found.eigenvalues[-1] == pytest.approx(found.bounds.low, rel=0.1)
    assert found.kept_count <= 1


def test_noise_of_any_shape_becomes_white() -> None:
    chance = np.random.default_rng(2)
    mixed = chance.normal(size=(5, 5)) * np.array([1e-4, 1.0, 1e3, 10.0, 1e5])
    noise = chance.normal(size=(5000, 5)) @ mixed
    found = compute_spectrum(sum_moments(iter([noise]), 5), mixed.T @ mixed)
    assert found.eigenvalues[0] < 1.1
    assert found.eigenvalues[-1] > 0.9
    np.testing.assert_allclose(found.inverse @ found.whiten, np.eye(5), atol=1e-6)


def test_everything_kept_is_no_change_and_nothing_kept_is_the_mean() -> None:
    chance = np.random.default_rng(3)
    mixed = chance.normal(size=(4, 4))
    found = compute_spectrum(sum_moments(iter([chance.normal(size=(50, 4))]), 4), mixed.T @ mixed)
    np.testing.assert_allclose(found.build_projection(4), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(found.build_projection(0), np.zeros((4, 4)), atol=1e-9)


def test_directions_without_noise_stay() -> None:
    # Noise that is the same in both columns leaves their difference as it was.
    found = compute_spectrum(sum_moments(iter([np.random.default_rng(4).normal(size=(100, 2))]), 2), np.ones((2, 2)))
    assert len(found.eigenvalues) == 1
    kept = found.build_projection(0) @ np.array([3.0, 1.0])
    assert kept[0] - kept[1] == pytest.approx(2.0)


@settings(deadline=None)
@given(arrays(np.float64, (3, 3), elements=st.integers(-5, 5).map(float)))
def test_positive_is_the_nearest(matrix: Floats) -> None:
    even = (matrix + matrix.T) / 2
    found = make_positive(matrix)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    below = np.minimum(np.linalg.eigvalsh(even), 0.0)
    assert np.linalg.norm(found - even) == pytest.approx(np.linalg.norm(below), abs=1e-9)
