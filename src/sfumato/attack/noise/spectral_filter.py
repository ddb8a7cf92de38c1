# SPDX-License-Identifier: MIT
"""The spectral filter: noise spreads evenly over all directions and data does not, so most noise can be projected out.

Against additive noise drawn independently for every cell, where columns are correlated. The attack needs only the
release and the noise's variance, which is public. What leaks is the values themselves, up to the noise in the few
directions of the data: with 30 columns that two hidden factors explain, three quarters of the error disappear. Noise
shaped like the data, or data without correlations, stops it. Kargupta, Datta, Wang, Sivakumar, *On the privacy
preserving properties of random data perturbation techniques* (ICDM 2003). The eigenvalue bound is Marchenko and
Pastur's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats
from sfumato.attack.attack import GuessedColumns
from sfumato.attack.noise.noisy_numbers import (
    ValueAttack,
    choose_noisy_columns,
    compute_noise_covariance,
    filter_noisy_columns,
    read_number_blocks,
    replace_estimated_columns,
)
from sfumato.mine.noise.spectrum import compute_spectrum, sum_moments
from sfumato.release import Release
from sfumato.table import Table

_STEP = "spectral filter"
# Rounds of filling missing cells, and the change at which they stop, in standard deviations of the noise.
_REFILLS, _STILL = 50, 1e-6


class SpectralFilter(ValueAttack):
    """An analyst finds that two factors explain thirty noisy columns, and removes everything else as noise.

    The adversary knows the release and how the noise was drawn. It computes the eigenvectors of the covariance, keeps
    those whose eigenvalue exceeds what noise alone can produce (Marchenko and Pastur), and projects every row onto
    them. One cell of each person is tried; a guess is right within a share of the column's standard deviation. The
    baseline is the better of reading the release and guessing the mean. Noise shaped like the data stops this attack.
    Kargupta and others 2003.
    """

    story: ClassVar[str] = (
        "An analyst finds that a few factors explain the noisy columns {target}, and removes everything else as noise."
    )
    guesses: ClassVar[GuessedColumns] = "noise"
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "tolerance")

    attack: Literal["spectral_filter"] = "spectral_filter"

    def estimate_with_facts(self, release: Release) -> tuple[pl.DataFrame, Mapping[str, Any]]:
        """Project the rows onto the directions that hold more than noise."""
        published: Table = release.data
        names = filter_noisy_columns(release, choose_noisy_columns(release, self.columns))
        if not names or not len(published):
            return published.frame, {"directions": 0, "directions_kept": 0}
        noisy_moments = sum_moments(read_number_blocks(published.frame, names, _STEP, published.source), len(names))
        noise = compute_noise_covariance(release, names)
        seen = compute_spectrum(noisy_moments, noise)
        rows = read_number_blocks(published.frame, names, _STEP, published.source)
        frame = replace_estimated_columns(
            published.frame,
            names,
            _project_rows(rows, noisy_moments.mean, seen.build_projection(), np.sqrt(noise.diagonal())),
        )
        return frame, {
            "directions": len(seen.eigenvalues),
            "directions_kept": seen.kept,
            "eigenvalues_over_noise": [float(f"{value:.9g}") for value in seen.eigenvalues],
            "noise_reaches": float(f"{seen.bounds.high:.9g}"),
        }


def _project_rows(rows: Iterator[Floats], mean: Floats, projection: Floats, unit: Floats) -> Iterator[Floats]:
    """Centre the rows, project them, and add the mean back."""
    for block in rows:
        apart = block - mean
        gone = np.isnan(apart)
        if gone.any():
            holed = gone.any(axis=1)
            apart[holed] = _fill_missing_cells(apart[holed], gone[holed], projection, unit)
        projected = projection @ apart.T
        projected += mean[:, None]
        yield projected


def _fill_missing_cells(apart: Floats, gone: Flags, projection: Floats, unit: Floats) -> Floats:
    """Fill missing cells from the other cells of the row: first with zero, then with the filter's output."""
    now = np.where(gone, 0.0, apart)
    for _ in range(_REFILLS):
        filled = np.where(gone, now @ projection.T, now)
        moved = float((np.abs(filled - now) / unit).max())
        now = filled
        if moved < _STILL:
            break
    return now
