# SPDX-License-Identifier: MIT
"""What distinguishes baskets in which an item was present from decoys, given which baskets were marked.

Methods that hide a rule mark its right side as unknown in baskets that hold the left side, and as decoys in others that
lack the item. The left side therefore shows: it is more common in marked baskets than elsewhere, and baskets that hold
it without showing the item are all marked, as long as some decoys had to do without it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.baskets import Baskets

_MOST_CANDIDATES = 256


class BasketMatrix(NamedTuple):
    """Which baskets hold which items (sparse, a row for each basket), and in which ones an item is unknown."""

    item_matrix: Any
    rows: Ints
    """The baskets in which the item is unknown."""
    is_marked: Flags
    """The same, as a flag for each basket."""
    shows_item: Flags
    """The baskets that certainly hold it."""

    @classmethod
    def of(cls, known_baskets: Baskets, shows_item: Flags, rows: Ints, own_positions: list[int]) -> BasketMatrix:
        """The items of all baskets, except the one that is unknown."""
        from scipy.sparse import csr_matrix

        shape = (len(known_baskets), len(known_baskets.items))
        cells = (np.ones(known_baskets.codes.size), known_baskets.codes, known_baskets.offsets)
        is_marked = np.zeros(shape[0], dtype=bool)
        is_marked[rows] = True
        other_positions = np.setdiff1d(np.arange(shape[1]), own_positions)
        return cls(csr_matrix(cells, shape=shape)[:, other_positions], rows, is_marked, shows_item)

    def score_by_bayes(self, first: Flags, second: Flags) -> Floats:
        """For each marked basket, the log of how much likelier its items are in one group of baskets than in another.

        Each group gets one pseudo-basket of each kind, so that no probability is zero.
        """
        shares = [(_count_holders(self.item_matrix[group]) + 1) / (int(group.sum()) + 2) for group in (first, second)]
        held_weights, lacked_weights = np.log(shares[0] / shares[1]), np.log((1 - shares[0]) / (1 - shares[1]))
        return np.asarray(lacked_weights.sum() + self.item_matrix[self.rows] @ (held_weights - lacked_weights))


def guess_by_marks(baskets: BasketMatrix) -> list[Flags]:
    """Ways to say in which marked baskets the item was present, each by what is visible alone."""
    if not baskets.item_matrix.shape[1] or not len(baskets.rows):
        return []
    scores = baskets.score_by_bayes(baskets.is_marked, ~baskets.is_marked & ~baskets.shows_item)
    # Half of the marked baskets are decoys.
    likeliest_half = np.asarray(scores >= np.median(scores))
    marked_items = baskets.item_matrix[baskets.rows]
    sets = ([int(_measure_excess(baskets).argmax())], _find_left_side(baskets))
    return [np.asarray(_count_members(marked_items, items) == len(items)) for items in sets] + [likeliest_half]


def _measure_excess(baskets: BasketMatrix) -> Floats:
    """For each item, how much larger its share of the marked baskets is than of all others."""
    marked_holders, holders = _count_holders(baskets.item_matrix[baskets.rows]), _count_holders(baskets.item_matrix)
    other_count = len(baskets.is_marked) - len(baskets.rows)
    return np.asarray(marked_holders / len(baskets.rows) - (holders - marked_holders) / max(other_count, 1))


def _find_left_side(baskets: BasketMatrix) -> list[int]:
    """One or two items that half of the marked baskets hold, and that are marked most often where the item does not
    show; of several, those that fewest marked baskets hold. Empty if no item is so common.
    """
    marked_items, marked_count = baskets.item_matrix[baskets.rows], len(baskets.rows)
    candidates = np.flatnonzero(2 * _count_holders(marked_items) >= marked_count)
    candidates = candidates[np.argsort(-_measure_excess(baskets)[candidates], kind="stable")][:_MOST_CANDIDATES]
    if not candidates.size:
        return []
    # The diagonal is of single items.
    in_marked = _count_pairs(marked_items[:, candidates])
    in_silent = _count_pairs(baskets.item_matrix[~baskets.shows_item][:, candidates])
    share = np.where(2 * in_marked >= marked_count, in_marked / np.maximum(in_silent, 1), -1)
    best = int(np.lexsort((in_marked.ravel(), -share.ravel()))[0])
    return sorted({int(candidates[number]) for number in divmod(best, candidates.size)})


def _count_holders(item_matrix: Any) -> Floats:
    return np.asarray(item_matrix.sum(axis=0)).ravel()


def _count_pairs(item_matrix: Any) -> Floats:
    """How many baskets hold each two items."""
    return np.asarray((item_matrix.T @ item_matrix).toarray())


def _count_members(item_matrix: Any, items: list[int]) -> Floats:
    """How many of some items each basket holds."""
    return np.asarray(item_matrix[:, items].sum(axis=1)).ravel()
