# SPDX-License-Identifier: MIT
"""How unusual counts are, by exact binomial tails."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Floats, Ints


def find_least_tail(counts: Ints, trials: Ints, chances: Floats) -> float:
    """The smallest two-sided tail of several counts; 1 if there are none. Without trials, nothing is unusual."""
    from scipy.special import bdtr, bdtrc

    if not len(counts):
        return 1.0
    successes, chance = counts.astype(np.float64), np.clip(chances, 0.0, 1.0)
    lower_tails = bdtr(successes, trials, chance)
    upper_tails = np.where(counts > 0, bdtrc(successes - 1, trials, chance), 1.0)
    tails = np.where(trials > 0, np.minimum(lower_tails, upper_tails), 1.0)
    return min(2 * float(np.nanmin(tails)), 1.0)
