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

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.attack.noise.noisy_numbers import (
    NumberEstimates,
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
        "An analyst looks for a few factors that explain the columns {target}, and removes everything else as noise."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "tolerance")
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    attack: Literal["spectral_filter"] = "spectral_filter"

    def estimate_with_facts(self, release: Release) -> NumberEstimates:
        """Project the rows onto the directions that hold more than noise."""
        published_table: Table = release.data
        names = filter_noisy_columns(release, choose_noisy_columns(release, self.columns))
        if not names or not len(published_table):
            return NumberEstimates(published_table.frame, {"directions": 0, "directions_kept": 0})
        noisy_moments = sum_moments(
            read_number_blocks(published_table.frame, names, _STEP, published_table.source), len(names)
        )
        noise = compute_noise_covariance(release, names)
        spectrum = compute_spectrum(noisy_moments, noise)
        rows = read_number_blocks(published_table.frame, names, _STEP, published_table.source)
        frame = replace_estimated_columns(
            published_table.frame,
            names,
            _project_rows(rows, noisy_moments.mean, spectrum.build_projection(), np.sqrt(noise.diagonal())),
        )
        return NumberEstimates(
            frame,
            {
                "directions": len(spectrum.eigenvalues),
                "directions_kept": spectrum.kept_count,
                "eigenvalues_over_noise": [float(f"{value:.9g}") for value in spectrum.eigenvalues],
                "noise_reaches": float(f"{spectrum.bounds.high:.9g}"),
            },
        )


def _project_rows(rows: Iterator[Floats], mean: Floats, projection: Floats, unit: Floats) -> Iterator[Floats]:
    """Centre the rows, project them, and add the mean back."""
    for block in rows:
        deviations = block - mean
        missing_mask = np.isnan(deviations)
        if missing_mask.any():
            row_mask = missing_mask.any(axis=1)
            deviations[row_mask] = _fill_missing_cells(deviations[row_mask], missing_mask[row_mask], projection, unit)
        estimates = projection @ deviations.T
        estimates += mean[:, None]
        yield estimates


def _fill_missing_cells(deviations: Floats, missing_mask: Flags, projection: Floats, unit: Floats) -> Floats:
    """Fill missing cells from the other cells of the row: first with zero, then with the filter's output."""
    current_rows = np.where(missing_mask, 0.0, deviations)
    for _ in range(_REFILLS):
        refilled_rows = np.where(missing_mask, current_rows @ projection.T, current_rows)
        largest_change = float((np.abs(refilled_rows - current_rows) / unit).max())
        current_rows = refilled_rows
        if largest_change < _STILL:
            break
    return current_rows
