# SPDX-License-Identifier: MIT
"""The likeliest value: from how the whole column lies, and how noise was drawn, where each single value was.

Against additive noise in a column by itself: no other column is needed. Reconstruction, which is what an analyst is
meant to do with the release, gives the adversary a prior; with it, every published value has a distribution of true
ones behind it. Where data is uneven, a value between two crowds most likely came from the nearer one. The likeliest
value (the mode) is right most often; the mean of the distribution has the smallest error. Agrawal, Srikant (SIGMOD
2000) for the prior; Agrawal, Aggarwal (PODS 2001) for what is left of privacy once it is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Floats
from sfumato.attack.noise.noisy_numbers import Prior, ValueAttack, attacked, numbers, prior_of, replaced, with_noise
from sfumato.progress import tell
from sfumato.public.noise_law import Noise, noise_of
from sfumato.release import Release
from sfumato.table import Table

_STEP = "likeliest value"
_CELLS = 1_000_000


class LikeliestValue(ValueAttack):
    """An employer sees that salaries crowd at the steps of a pay scale, and takes a noisy one for the likeliest step.

    The adversary reconstructs every column's distribution from the release, and takes for each published value the true
    one that is likeliest given it, or with `statistic = "mean"` the one that is right in the mean. One cell of each
    person is tried; it is right within a share of the column's standard deviation. The baseline is the better of
    reading the release and saying the mean. Intervals (`discretize`) leave nothing to weigh. Agrawal, Aggarwal 2001.
    """

    public_fields: ClassVar[tuple[str, ...]] = ("columns", "attempts", "tolerance", "statistic", "bins")

    attack: Literal["likeliest_value"] = "likeliest_value"
    statistic: Literal["mode", "mean"] = "mode"
    """The likeliest value, or the mean of all values weighed by how likely they are."""
    bins: int = Field(default=100, ge=2)
    """Into how many bins a column's distribution is reconstructed; no more than whole numbers where it holds those."""

    def estimated(self, release: Release) -> tuple[pl.DataFrame, Mapping[str, Any]]:
        """Weigh every value that a published one could have been."""
        published: Table = release.data
        frame = published.frame
        for name in with_noise(release, attacked(release, self.columns)):
            tell(f"{_STEP} of «{name}»", 0, frame.height)
            noise, cells = noise_of(release, name), numbers(frame, (name,), published.source)[:, 0]
            there = np.isfinite(cells)
            if noise.kind == "discretize" or not there.any():
                continue
            found = np.full(len(cells), np.nan)
            low, high = release.public[name].get("range") or (0.0, 1.0)
            if low == high:  # everybody has the same value, and the release says which
                found[there] = low
            else:
                prior = prior_of(release, name, cells[there], self.bins)
                found[there] = likeliest(cells[there], prior, noise, self.statistic)
            frame = replaced(frame, (name,), iter([found[None, :]]))
        return frame, {"statistic": self.statistic}


def likeliest(values: Floats, prior: Prior, noise: Noise, statistic: Literal["mode", "mean"] = "mode") -> Floats:
    """The mode or the mean of the true values behind each noisy one; one that cannot be goes to the nearest end."""
    distinct, place = np.unique(values, return_inverse=True)
    found = np.empty_like(distinct)
    weigh = _mode if statistic == "mode" else _mean
    step = max(1, _CELLS // len(prior.edges))
    for start in range(0, len(distinct), step):
        tell(_STEP, start, len(distinct))
        part = distinct[start : start + step]
        guess = weigh(part[:, None], prior, noise)
        found[start : start + step] = np.where(np.isfinite(guess), guess, np.clip(part, prior.low, prior.high))
    return np.asarray(found[place.reshape(-1)])


def _mode(seen: Floats, prior: Prior, noise: Noise) -> Floats:
    """Within a bin the prior is even, so its best value is the one nearest to what is seen; among bins the best wins.

    Uniform noise is as likely everywhere it reaches: there it is the middle of what the bin and the noise allow.
    """
    inset = noise.step / 2  # whole numbers lie half a step inside of the edges of their bins
    low, high = prior.edges[:-1] + inset, prior.edges[1:] - inset
    if noise.kind == "uniform":
        reach = noise.scale + inset
        low, high = np.maximum(low, seen - reach), np.minimum(high, seen + reach)
        best = (low + high) / 2
        best = np.rint(best / noise.step) * noise.step if noise.step else best
        chance = np.where(low <= high, _chance(seen - best, noise), 0.0)
    else:
        best = np.clip(seen, low, high)
        chance = _chance(seen - best, noise)
    weight = prior.density * chance
    top = weight.argmax(axis=1)
    here = np.arange(len(seen))
    return np.where(weight[here, top] > 0, np.broadcast_to(best, weight.shape)[here, top], np.nan)


def _mean(seen: Floats, prior: Prior, noise: Noise) -> Floats:
    """∫ x p(x) f(y − x) dx / ∫ p(x) f(y − x) dx, exact for a prior that is even in every bin."""
    if noise.kind == "uniform":
        reach = noise.scale + noise.step / 2
        ends = np.clip(prior.edges, seen - reach, seen + reach)
        mass = np.diff(ends, axis=1)
        moment = mass * (ends[:, :-1] + ends[:, 1:]) / 2
    else:
        apart = seen - prior.edges
        # Far above its mean a distribution function is 1 to all digits: there it is mirrored.
        mirrored = np.diff(noise.below(-apart), axis=1)
        mass = np.where(apart[:, 1:] > 0, mirrored, -np.diff(noise.below(apart), axis=1))
        moment = seen * mass - noise.variance * np.diff(noise.density(apart), axis=1)
    total = mass @ prior.density
    # Far outside, the whole posterior is a rounding error of 0.
    found = np.divide(moment @ prior.density, total, out=np.full(len(seen), np.nan), where=total > 1e-290)
    return np.asarray(np.clip(found, prior.low, prior.high))


def _chance(apart: Floats, noise: Noise) -> Floats:
    """How likely noise is to take a value so far, or there by rounding."""
    if not noise.step:
        return noise.density(apart)
    return np.asarray(noise.below(apart + noise.step / 2) - noise.below(apart - noise.step / 2))
