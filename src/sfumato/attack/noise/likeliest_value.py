# SPDX-License-Identifier: MIT
"""The likeliest value: estimate each true value from the column's distribution and the noise's.

Against additive noise in a single column; no other column is needed. Reconstruction, which is what analysts are meant
to do with the release, gives the adversary a prior; with it, every published value has a posterior distribution of true
values. Where data is uneven, a value between two clusters most likely came from the nearer one. The mode is right most
often; the mean has the smallest error. Agrawal, Srikant (SIGMOD 2000) for the prior; Agrawal, Aggarwal (PODS 2001) for
the privacy that remains once it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats
from sfumato.attack.noise.noisy_numbers import (
    ColumnPrior,
    ValueAttack,
    choose_noisy_columns,
    filter_noisy_columns,
    read_number_matrix,
    reconstruct_prior,
    replace_estimated_columns,
)
from sfumato.progress import report_progress
from sfumato.public.noise_law import Noise, get_noise
from sfumato.release import Release
from sfumato.table import Table

_STEP = "likeliest value"
_CELLS = 1_000_000


class LikeliestValue(ValueAttack):
    """An employer sees that salaries cluster at the steps of a pay scale, and assigns a noisy one to the likeliest
    step.

    The adversary reconstructs every column's distribution from the release, and takes for each published value the most
    likely true value, or with `statistic = "mean"` the posterior mean. One cell of each person is tried; a guess is
    right within a share of the column's standard deviation. The baseline is the better of reading the release and
    guessing the mean. Intervals (`discretize`) give this attack nothing to weigh. Agrawal, Aggarwal 2001.
    """

    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "tolerance", "statistic", "bins")

    attack: Literal["likeliest_value"] = "likeliest_value"
    statistic: Literal["mode", "mean"] = "mode"
    """The likeliest value (the mode), or the mean of all values weighted by their probability."""
    bins: int = Field(default=100, ge=2)
    """The number of bins in which a column's distribution is reconstructed; for integers, at most one bin per value."""

    def estimated(self, release: Release) -> tuple[pl.DataFrame, Mapping[str, Any]]:
        """Weigh every value that a published one could have been."""
        published: Table = release.data
        frame = published.frame
        for name in filter_noisy_columns(release, choose_noisy_columns(release, self.columns)):
            report_progress(f'{_STEP} of "{name}"', 0, frame.height)
            noise, cells = get_noise(release, name), read_number_matrix(frame, (name,), published.source)[:, 0]
            there = np.isfinite(cells)
            if noise.kind == "discretize" or not there.any():
                continue
            estimates = np.full(len(cells), np.nan)
            low, high = release.public[name].get("range") or (0.0, 1.0)
            if low == high:  # everybody has the same value, and the release reveals it
                estimates[there] = low
            else:
                prior = reconstruct_prior(release, name, cells[there], self.bins)
                estimates[there] = estimate_likeliest_values(cells[there], prior, noise, self.statistic)
            frame = replace_estimated_columns(frame, (name,), iter([estimates[None, :]]))
        return frame, {"statistic": self.statistic}


def estimate_likeliest_values(
    values: Floats, prior: ColumnPrior, noise: Noise, statistic: Literal["mode", "mean"] = "mode"
) -> Floats:
    """The mode or the mean of the true values behind each noisy one; an impossible value goes to the nearest end."""
    distinct, value_index = np.unique(values, return_inverse=True)
    estimates = np.empty_like(distinct)
    weigh = _estimate_modes if statistic == "mode" else _estimate_posterior_means
    step = max(1, _CELLS // len(prior.edges))
    for start in range(0, len(distinct), step):
        report_progress(_STEP, start, len(distinct))
        part = distinct[start : start + step]
        guess = weigh(part[:, None], prior, noise)
        estimates[start : start + step] = np.where(np.isfinite(guess), guess, np.clip(part, prior.low, prior.high))
    return np.asarray(estimates[value_index.reshape(-1)])


def _estimate_modes(seen: Floats, prior: ColumnPrior, noise: Noise) -> Floats:
    """The prior is uniform within a bin, so the bin's best value is nearest to the published one; the best bin wins.

    Uniform noise is equally likely within its reach: there the mode is the middle of what the bin and the noise allow.
    """
    inset = noise.step / 2  # whole numbers lie half a step inside the edges of their bins
    low, high = prior.edges[:-1] + inset, prior.edges[1:] - inset
    if noise.kind == "uniform":
        reach = noise.scale + inset
        low, high = np.maximum(low, seen - reach), np.minimum(high, seen + reach)
        best = (low + high) / 2
        best = np.rint(best / noise.step) * noise.step if noise.step else best
        chance = np.where(low <= high, _compute_noise_density(seen - best, noise), 0.0)
    else:
        best = np.clip(seen, low, high)
        chance = _compute_noise_density(seen - best, noise)
    weight = prior.density * chance
    top = weight.argmax(axis=1)
    here = np.arange(len(seen))
    return np.where(weight[here, top] > 0, np.broadcast_to(best, weight.shape)[here, top], np.nan)


def _estimate_posterior_means(seen: Floats, prior: ColumnPrior, noise: Noise) -> Floats:
    """∫ x p(x) f(y − x) dx / ∫ p(x) f(y − x) dx, exact for a prior that is uniform in every bin."""
    if noise.kind == "uniform":
        reach = noise.scale + noise.step / 2
        ends = np.clip(prior.edges, seen - reach, seen + reach)
        mass = np.diff(ends, axis=1)
        moment = mass * (ends[:, :-1] + ends[:, 1:]) / 2
    else:
        apart = seen - prior.edges
        # Far above its mean a distribution function is 1 to all digits: mirror it there.
        mirrored = np.diff(noise.below(-apart), axis=1)
        mass = np.where(apart[:, 1:] > 0, mirrored, -np.diff(noise.below(apart), axis=1))
        moment = seen * mass - noise.variance * np.diff(noise.density(apart), axis=1)
    total = mass @ prior.density
    # Far outside, the whole posterior is a rounding error of 0.
    means = np.divide(moment @ prior.density, total, out=np.full(len(seen), np.nan), where=total > 1e-290)
    return np.asarray(np.clip(means, prior.low, prior.high))


def _compute_noise_density(apart: Floats, noise: Noise) -> Floats:
    """The density of noise at this distance, or its probability where values are rounded."""
    if not noise.step:
        return noise.density(apart)
    return np.asarray(noise.below(apart + noise.step / 2) - noise.below(apart - noise.step / 2))
