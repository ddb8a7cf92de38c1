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
    presence = [[not np.isnan(table[i, j]) for j in range(columns)] for i in range(rows)]
    mean = []
    for j in range(columns):
        column_cells = [table[i, j] for i in range(rows) if presence[i][j]]
        mean.append(sum(column_cells) / len(column_cells) if column_cells else 0.0)
    filled = [[table[i, j] if presence[i][j] else mean[j] for j in range(columns)] for i in range(rows)]
    covariance = [
        [sum((filled[i][j] - mean[j]) * (filled[i][k] - mean[k]) for i in range(rows)) / rows for k in range(columns)]
        for j in range(columns)
    ]
    joint_covariance = [
        [sum(presence[i][j] and presence[i][k] for i in range(rows)) / rows for k in range(columns)]
        for j in range(columns)
    ]
    return NoisyMoments(rows, np.array(mean), np.array(covariance), np.array(joint_covariance))


@settings(deadline=None)
@given(tables, st.integers(1, 5))
def test_moments_are_those_of_all_rows_at_once(table: Floats, step: int) -> None:
    moments = sum_moments((table[start : start + step] for start in range(0, len(table), step)), table.shape[1])
    expected = by_hand(table)
    assert moments.rows == expected.rows
    np.testing.assert_allclose(moments.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(moments.covariance, expected.covariance, atol=1e-7)
    np.testing.assert_allclose(moments.joint_shares, expected.joint_shares, atol=1e-12)


def test_large_numbers_lose_nothing() -> None:
    small = np.random.default_rng(1).normal(size=(1000, 3))
    small_covariance = sum_moments(iter([small]), 3).covariance
    far = sum_moments(iter([small[:300] + 1e8, small[300:] + 1e8]), 3).covariance
    np.testing.assert_allclose(far, small_covariance, atol=1e-6)


def test_no_rows() -> None:
    moments = sum_moments(iter([]), 2)
    assert (moments.rows, moments.mean.tolist(), moments.covariance.tolist()) == (
        0,
        [0.0, 0.0],
        [[0.0, 0.0], [0.0, 0.0]],
    )


def test_complete_covariance_looks_at_rows_with_both() -> None:
    table = np.array([[1.0, 10.0], [3.0, np.nan], [np.nan, 30.0], [5.0, 20.0]])
    pair_covariance = sum_moments(iter([table]), 2).complete
    assert pair_covariance[0, 0] == pytest.approx(8 / 3)  # 1, 3, 5 around 3
    assert pair_covariance[0, 1] == pytest.approx((-2 * -10 + 2 * 0) / 2)  # means 3 and 20, two rows with both


def test_bounds_by_hand() -> None:
    # n = 25 columns, m = 100 rows: 1 ± √¼, squared.
    assert (compute_noise_bounds(25, 100).low, compute_noise_bounds(25, 100).high) == (0.25, 2.25)
    assert compute_noise_bounds(25, 100, variance=4.0).high == 9.0
    assert compute_noise_bounds(100, 25).low == 0.0


@pytest.mark.parametrize(("rows", "columns"), [(4000, 40), (1500, 150)])
def test_eigenvalues_of_pure_noise_keep_the_law(rows: int, columns: int) -> None:
    noise = np.random.default_rng(columns).normal(size=(rows, columns))
    spectrum = compute_spectrum(sum_moments(iter([noise]), columns), np.eye(columns))
    # Tracy and Widom: the largest strays from the bound by some columns^(−2/3) of it; 5 % are far beyond.
    assert spectrum.eigenvalues[0] == pytest.approx(spectrum.bounds.high, rel=0.05)
    assert spectrum.eigenvalues[-1] == pytest.approx(spectrum.bounds.low, rel=0.1)
    assert spectrum.kept_count <= 1


def test_noise_of_any_shape_becomes_white() -> None:
    chance = np.random.default_rng(2)
    mixed = chance.normal(size=(5, 5)) * np.array([1e-4, 1.0, 1e3, 10.0, 1e5])
    noise = chance.normal(size=(5000, 5)) @ mixed
    spectrum = compute_spectrum(sum_moments(iter([noise]), 5), mixed.T @ mixed)
    assert spectrum.eigenvalues[0] < 1.1
    assert spectrum.eigenvalues[-1] > 0.9
    np.testing.assert_allclose(spectrum.inverse @ spectrum.whiten, np.eye(5), atol=1e-6)


def test_everything_kept_is_no_change_and_nothing_kept_is_the_mean() -> None:
    chance = np.random.default_rng(3)
    mixed = chance.normal(size=(4, 4))
    spectrum = compute_spectrum(sum_moments(iter([chance.normal(size=(50, 4))]), 4), mixed.T @ mixed)
    np.testing.assert_allclose(spectrum.build_projection(4), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(spectrum.build_projection(0), np.zeros((4, 4)), atol=1e-9)


def test_directions_without_noise_stay() -> None:
    # Noise that is the same in both columns leaves their difference as it was.
    spectrum = compute_spectrum(sum_moments(iter([np.random.default_rng(4).normal(size=(100, 2))]), 2), np.ones((2, 2)))
    assert len(spectrum.eigenvalues) == 1
    projection = spectrum.build_projection(0) @ np.array([3.0, 1.0])
    assert projection[0] - projection[1] == pytest.approx(2.0)


@settings(deadline=None)
@given(arrays(np.float64, (3, 3), elements=st.integers(-5, 5).map(float)))
def test_positive_is_the_nearest(matrix: Floats) -> None:
    even = (matrix + matrix.T) / 2
    positive_matrix = make_positive(matrix)
    assert np.linalg.eigvalsh(positive_matrix).min() > -1e-9
    negative_part = np.minimum(np.linalg.eigvalsh(even), 0.0)
    assert np.linalg.norm(positive_matrix - even) == pytest.approx(np.linalg.norm(negative_part), abs=1e-9)
