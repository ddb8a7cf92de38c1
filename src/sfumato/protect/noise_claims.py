# SPDX-License-Identifier: MIT
"""What is promised of noise. Chance is in it, so every threshold leaves room for what happens once in a million."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.mine.noises import Noise
from sfumato.protect.claims import with_originals
from sfumato.protect.noise_columns import NumberColumn
from sfumato.protect.noise_scales import ALARM, least_level
from sfumato.release import Claim

DEVIATIONS = 6.0
"""Standard errors that a mean may be off: of Gaussian or uniform noise, more happens at most once in 30 million cases,
so that many columns fail once in a million."""
_BY_CHANCE = "chance exceeds that less than once in a million releases"


def noise_claims(
    noisy: Sequence[tuple[NumberColumn, Noise]], kind: str, privacy: float, confidence: float
) -> tuple[Claim, ...]:
    """Per column its level, and that noise is noise; then that nothing else was changed."""
    found: list[Claim] = []
    for column, noise in noisy:
        if kind == "discretize":
            found += _interval_claims(column, noise, privacy, confidence)
        else:
            found += _added_claims(column, noise, privacy, confidence)
    if kind == "correlated":
        found.append(_shapewith_originals(noisy))
    names = tuple(column.name for column, _ in noisy)
    return (
        *found,
        with_originals(
            "changed_beside_noise",
            0,
            "exactly",
            {"columns": names},
            "No cell was changed but known ones of the noisy columns, and what was missing is missing.",
        ),
    )


def _added_claims(column: NumberColumn, noise: Noise, privacy: float, confidence: float) -> list[Claim]:
    count = len(column.numbers)
    level = privacy * least_level(noise.kind, confidence, count)
    deviation = float(np.sqrt(noise.variance + noise.step**2 / 12))
    of = {"column": column.name}
    return [
        with_originals(
            "noise_privacy",
            level,
            "at_least",
            {**of, "low": column.low, "high": column.high, "confidence": confidence},
            f"With {confidence:.4g} confidence, «{column.name}» is told to within {privacy:.4g} of its range; of "
            f"{count} differences that is measured as {level:.4g} or more, and {_BY_CHANCE}.",
        ),
        with_originals(
            "noise_centre",
            DEVIATIONS,
            "at_most",
            {**of, "deviation": deviation},
            f"What was added to «{column.name}» is 0 in the mean, within {DEVIATIONS:g} standard errors; {_BY_CHANCE}.",
        ),
        with_originals(
            "noise_dependence",
            DEVIATIONS,
            "at_most",
            {**of, "deviation": deviation},
            f"What was added to «{column.name}» does not go with its values, within {DEVIATIONS:g} standard errors; "
            f"{_BY_CHANCE}.",
        ),
    ]


def _interval_claims(column: NumberColumn, noise: Noise, privacy: float, confidence: float) -> list[Claim]:
    of = {"column": column.name, "width": noise.scale}
    return [
        with_originals(
            "interval_privacy",
            privacy * (1 - 1e-9),  # middles are rounded
            "at_least",
            {**of, "low": column.low, "high": column.high, "confidence": confidence},
            f"With {confidence:.4g} confidence, «{column.name}» is told to within {privacy:.4g} of its range.",
        ),
        with_originals(
            "outside_interval",
            0,
            "exactly",
            {**of, "origin": noise.origin, "step": noise.step},
            f"Every published «{column.name}» is the middle of the interval that the value lies in.",
        ),
    ]


def _shapewith_originals(noisy: Sequence[tuple[NumberColumn, Noise]]) -> Claim:
    """Products of two Gaussians stray by √(2x) + √2 x / √n standard errors with probability 2 e⁻ˣ at the most."""
    whole = np.logical_and.reduce([column.known for column, _ in noisy])
    count, pairs = int(whole.sum()), len(noisy) * (len(noisy) + 1) / 2
    rare = np.log(2 * pairs / ALARM)
    first, noise = noisy[0]
    chosen = first.numbers[whole[first.known]]
    return with_originals(
        "noise_shape",
        round(float(np.sqrt(2 * rare) + np.sqrt(2) * rare / np.sqrt(count)), 6),
        "at_most",
        {"columns": tuple(column.name for column, _ in noisy), "times": noise.variance / float(chosen.var())},
        f"What was added has the covariance of the data times a factor, within so many standard errors; {_BY_CHANCE}.",
    )
