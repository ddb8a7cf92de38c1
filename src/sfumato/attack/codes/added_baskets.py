# SPDX-License-Identifier: MIT
"""Tell added baskets from true ones: an adversary who can has the true supports behind padded ones.

Padding adds baskets that hold rare items more often than true baskets do. So published baskets are a mixture of two
kinds, in each of which every code has a probability of its own, and the EM algorithm separates them from the published
baskets alone. It begins with the directions in which codes vary together most: if codes are independent within both
kinds, their covariance is the product of their differences between the kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.baskets import Baskets
from sfumato.runtime.progress import report_progress

_CODES = 400
"""The most common codes distinguish the kinds; rare ones add little."""
_DIRECTIONS = 3
_STEPS = 100


def weigh_true_baskets(baskets: Baskets, real: int) -> Iterator[Floats]:
    """Ways to divide published baskets into `real` true ones and added ones: how likely each basket is a true one.

    Which of the two kinds is the true one does not show; the caller compares supports with known ones.
    """
    if not 0 < real < len(baskets):
        return
    code_matrix = _build_code_matrix(baskets)
    for done_count, start in enumerate(_list_starts(code_matrix, real)):
        report_progress("telling added baskets apart", done_count, 2 * _DIRECTIONS)
        yield _separate(code_matrix, start, real)


def _build_code_matrix(baskets: Baskets) -> Any:
    """Baskets by the most common codes, sparse."""
    from scipy.sparse import csr_matrix

    supports = np.bincount(baskets.codes, minlength=len(baskets.items))
    matrix = csr_matrix(
        (np.ones(baskets.codes.size), baskets.codes, baskets.offsets), shape=(len(baskets), len(baskets.items))
    )
    common: Ints = np.argsort(-supports, kind="stable")[:_CODES]
    # A code that all baskets hold, or none, distinguishes nothing.
    return matrix[:, common[(supports[common] > 0) & (supports[common] < len(baskets))]]


def _list_starts(code_matrix: Any, real: int) -> Iterator[Floats]:
    """Baskets that are far to either side, in the directions in which codes vary together most."""
    count = code_matrix.shape[0]
    mean = np.asarray(code_matrix.sum(axis=0)).ravel() / count
    deviation = np.sqrt(mean * (1 - mean))
    correlations = ((code_matrix.T @ code_matrix).toarray() / count - np.outer(mean, mean)) / np.outer(
        deviation, deviation
    )
    np.fill_diagonal(correlations, 0.0)
    directions = np.linalg.eigh(correlations)[1].T[::-1][:_DIRECTIONS]
    for direction in directions:
        for side in (1.0, -1.0):
            far = side * (code_matrix @ (direction / deviation))
            yield np.where(far >= np.quantile(far, 1 - real / count), 0.9, 0.1)


def _separate(code_matrix: Any, chances: Floats, real: int) -> Floats:
    """The EM algorithm for two kinds of baskets; the share of true ones is known."""
    count, prior = code_matrix.shape[0], np.log(real / (code_matrix.shape[0] - real))
    for _ in range(_STEPS):
        # Half a basket more of each kind, so that no probability is 0 or 1.
        true = (code_matrix.T @ chances + 0.5) / (chances.sum() + 1)
        added_shares = (code_matrix.T @ (1 - chances) + 0.5) / (count - chances.sum() + 1)
        odds = prior + np.log((1 - true) / (1 - added_shares)).sum()
        odds = odds + code_matrix @ np.log(true * (1 - added_shares) / (added_shares * (1 - true)))
        previous_chances, chances = chances, 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        if np.abs(chances - previous_chances).max() < 1e-6:
            break
    return np.asarray(chances)
