# SPDX-License-Identifier: MIT
"""The Bayes estimate: combine the data's distribution with the noise's to estimate each true value.

Against additive noise of any published shape, even where the data fills every direction and the spectral filter gains
nothing. With μ and Σy from the release and the noise's covariance Σr, the data has Σx = Σy − Σr, and the most likely
row is x̂ = μ + Σx (Σx + Σr)⁻¹ (y − μ): for Gaussian data and noise no estimate has a smaller error, otherwise no linear
one. Huang, Du, Chen, *Deriving private information from randomized data* (SIGMOD 2005).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.noise.noisy_numbers import (
    NumberEstimates,
    ValueAttack,
    choose_noisy_columns,
    compute_noise_covariance,
    filter_noisy_columns,
    read_number_blocks,
    read_number_matrix,
    replace_estimated_columns,
)
from sfumato.errors import DataError
from sfumato.mine.noise.spectrum import NoisyMoments, make_positive, sum_moments
from sfumato.release import Release
from sfumato.table import Table

_STEP = "Bayes estimate"
# In units of the noise: prevents division by zero for linearly dependent columns.
_RIDGE = 1e-9


class BayesEstimate(ValueAttack):
    """A statistician knows how salaries are distributed and how noise was drawn, and estimates each true salary.

    The adversary estimates the data's own covariance from the release, and shrinks every row towards the mean as far as
    noise outweighs data in each direction. Published columns without noise may help as `evidence`. One cell of each
    person is tried; a guess is right within a share of the column's standard deviation. The baseline is the better of
    reading the release and guessing the mean. Noise shaped like the data stops the spectral filter, but leaves this
    estimate some gain. Huang, Du, Chen 2005.
    """

    story: ClassVar[str] = (
        "A statistician knows the distribution of {target} and the law by which numbers were changed, and estimates "
        "each true value."
    )
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "tolerance", "evidence")
    column_fields: ClassVar[tuple[str, ...]] = ("columns", "evidence")

    attack: Literal["bayes_estimate"] = "bayes_estimate"
    evidence: tuple[str, ...] = ()
    """Columns of numbers or dates, published without noise, that correlate with the noisy ones."""

    def estimate_with_facts(self, release: Release) -> NumberEstimates:
        """Weigh data against noise, row by row."""
        published_table: Table = release.data
        names = filter_noisy_columns(release, choose_noisy_columns(release, self.columns))
        if not names or not len(published_table):
            return NumberEstimates(published_table.frame, {})
        all_columns = (*names, *self._choose_evidence_columns(release, names))
        noisy_moments = sum_moments(
            read_number_blocks(published_table.frame, all_columns, _STEP, published_table.source), len(all_columns)
        )
        belief = build_noise_belief(noisy_moments, compute_noise_covariance(release, names))
        rows = read_number_blocks(published_table.frame, all_columns, _STEP, published_table.source)
        return NumberEstimates(
            replace_estimated_columns(published_table.frame, names, belief.iterate_estimates(rows, len(names))), {}
        )

    def guess_otherwise(self, release: Release, name: str, rows: Ints) -> Mapping[str, Floats]:
        """The same estimate from the column alone: with few rows, covariances between columns are unreliable."""
        if not filter_noisy_columns(release, (name,)):
            return {}
        column_attack = self.model_copy(update={"columns": (name,), "evidence": ()})
        return {"from the column alone": read_number_matrix(column_attack.estimate(release)[rows], (name,))[:, 0]}

    def _choose_evidence_columns(self, release: Release, names: tuple[str, ...]) -> tuple[str, ...]:
        if not self.evidence:
            return ()
        noisy = filter_noisy_columns(release, self.evidence)
        if noisy:
            raise DataError(f'{release.data.source}: "{noisy[0]}" has noise, so it cannot be evidence')
        return tuple(name for name in choose_noisy_columns(release, self.evidence) if name not in names)


@dataclass(frozen=True, eq=False)
class NoiseBelief:
    """The prior of the data, in units of the noise."""

    mean: Floats
    unit: Floats
    data: Floats
    """The covariance of the data."""
    published_covariance: Floats
    """The covariance of the published values: data plus noise."""

    def compute_weights(self, published_mask: Flags) -> Floats:
        """The matrix that maps the centred published cells to the estimate, in the columns' own units."""
        solution = np.linalg.solve(
            self.published_covariance[np.ix_(published_mask, published_mask)], self.data[published_mask]
        ).T
        return np.asarray(self.unit[:, None] * solution / self.unit[published_mask])

    def iterate_estimates(self, rows: Iterator[Floats], column_count: int) -> Iterator[Floats]:
        """Blocks of estimates, columns × rows, of the first columns. Rows with the same missing cells are solved
        together.
        """
        for block in rows:
            deviations = block - self.mean
            present_mask = ~np.isnan(deviations)
            if present_mask.all():
                whole = self.compute_weights(np.ones(len(self.mean), dtype=np.bool_))[:column_count]
                yield whole @ deviations.T + self.mean[:column_count, None]
                continue
            patterns, pattern = np.unique(np.packbits(present_mask, axis=1), axis=0, return_inverse=True)
            order = np.argsort(pattern.reshape(-1), kind="stable")
            ends = np.cumsum(np.bincount(pattern.reshape(-1), minlength=len(patterns)))
            estimates = np.empty((column_count, len(block)))
            for number, members in enumerate(np.split(order, ends[:-1])):
                flags = np.unpackbits(patterns[number], count=len(self.mean)).astype(np.bool_)
                estimates[:, members] = (
                    self.compute_weights(flags)[:column_count] @ deviations[np.ix_(members, flags)].T
                )
            yield estimates + self.mean[:column_count, None]


def build_noise_belief(noisy_moments: NoisyMoments, noise: Floats) -> NoiseBelief:
    """Σx = Σy − Σr in units of the noise, made positive semi-definite."""
    spread = np.sqrt(np.maximum(noisy_moments.complete.diagonal(), 0.0))
    unit = spread.copy()
    unit[: len(noise)] = np.sqrt(noise.diagonal())
    unit = np.where(unit > 0, unit, 1.0)
    noise_covariance = np.zeros_like(noisy_moments.covariance)
    noise_covariance[: len(noise), : len(noise)] = noise
    scales = np.outer(unit, unit)
    data = make_positive((noisy_moments.complete - noise_covariance) / scales)
    return NoiseBelief(noisy_moments.mean, unit, data, data + noise_covariance / scales + _RIDGE * np.eye(len(unit)))
