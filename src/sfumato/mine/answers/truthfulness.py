# SPDX-License-Identifier: MIT
"""Is randomizing worth it? Warner's comparison of randomized answers with direct ones that are not always true.

Someone asked directly about a sensitive topic may lie. The estimate from direct answers is then biased however many
are asked; that from randomized answers is not, but has more variance. Table 1 of Warner (JASA 1965) compares the mean
square errors, here by formula and by simulation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.errors import PolicyError
from sfumato.mine.answers.proportions import warner_estimate
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress

TRUTHFUL = (
    *((t, 1.0) for t in (0.95, 0.9, 0.7, 0.5)),
    *((1.0, t) for t in (0.95, 0.9, 0.7, 0.5)),
    *((t, t) for t in (0.95, 0.9, 0.7, 0.5)),
)
"""Table 1's rows: the probabilities that members of A and of B answer truthfully when asked directly."""
SPINNERS = (0.6, 0.7, 0.8, 0.9)
"""Table 1's columns: p, the probability that the spinner points to A."""


def compute_warner_variance(share: float, n: int, p: float) -> float:
    """The variance of Warner's estimate, also its mean square error, since it is unbiased: formula (5)."""
    if abs(p - 0.5) < 1e-12:
        raise PolicyError("p = 1/2: answers do not depend on the truth, so the share cannot be estimated")
    return (1 / (16 * (p - 0.5) ** 2) - (share - 0.5) ** 2) / n


def compute_regular_bias(share: float, truth_a: float, truth_b: float) -> float:
    """The bias of direct answers if members of A and B tell the truth with these probabilities."""
    return share * (truth_a - 1) + (1 - share) * (1 - truth_b)


def compute_regular_error(share: float, n: int, truth_a: float, truth_b: float) -> float:
    """The mean square error of direct answers."""
    bias = compute_regular_bias(share, truth_a, truth_b)
    observed_share = share + bias
    return observed_share * (1 - observed_share) / n + bias**2


def compare_truthfulness(
    share: float = 0.6,
    n: int = 1000,
    truthful: Sequence[tuple[float, float]] = TRUTHFUL,
    spinners: Sequence[float] = SPINNERS,
) -> pl.DataFrame:
    """Warner's Table 1 by formula: `truth_a`, `truth_b`, `bias`, and for each p the ratio of mean square errors."""
    rows = [
        {"truth_a": a, "truth_b": b, "bias": compute_regular_bias(share, a, b)}
        | {f"p={p:g}": compute_warner_variance(share, n, p) / compute_regular_error(share, n, a, b) for p in spinners}
        for a, b in truthful
    ]
    return pl.DataFrame(rows)


def simulate_truthfulness(
    share: float = 0.6,
    n: int = 1000,
    surveys: int = 20_000,
    truthful: Sequence[tuple[float, float]] = TRUTHFUL,
    spinners: Sequence[float] = SPINNERS,
    randomness: Randomness | None = None,
) -> pl.DataFrame:
    """The same table from simulated surveys: draw people, ask them directly and with the spinner, compare estimates."""
    chance = (randomness or Randomness.seeded(0)).generator()
    spinner_errors = {}
    for index, p in enumerate(spinners):
        report_progress("asking with a spinner", index, len(spinners))
        members = chance.binomial(n, share, surveys)
        yes = chance.binomial(members, p) + chance.binomial(n - members, 1 - p)
        spinner_errors[p] = float(np.mean((warner_estimate(yes, n, p) - share) ** 2))
    rows = []
    for index, (a, b) in enumerate(truthful):
        report_progress("asking plainly", index, len(truthful))
        members = chance.binomial(n, share, surveys)
        observed_shares = (chance.binomial(members, a) + chance.binomial(n - members, 1 - b)) / n
        error = float(np.mean((observed_shares - share) ** 2))
        ratios = {f"p={p:g}": spinner_errors[p] / error for p in spinners}
        rows.append({"truth_a": a, "truth_b": b, "bias": float(observed_shares.mean()) - share} | ratios)
    return pl.DataFrame(rows)
