# SPDX-License-Identifier: MIT
"""The support that a draft proposes for baskets."""

from __future__ import annotations

from sfumato.baskets import Baskets
from sfumato.workflow.drafts.basket_draft import ENOUGH_ITEMSETS, MOST_ITEMSETS, choose_support


def test_dense_baskets_get_a_support_at_which_few_itemsets_are_frequent() -> None:
    """Rounded down to one digit, it would be 2000, and 60,000 itemsets would be as frequent."""
    items = range(18)
    baskets = Baskets.of([[item for item in items if item != missing % 18] for missing in range(3000)])
    frequent = choose_support(baskets, "here", 10)
    assert ENOUGH_ITEMSETS <= frequent.itemsets.height <= MOST_ITEMSETS


def test_sparse_baskets_get_a_round_one() -> None:
    baskets = Baskets.of([[number % 7, 10 + number % 11, 30 + number % 13] for number in range(1234)])
    assert choose_support(baskets, "here", 10).min_support in (100, 80, 60, 50, 40, 30, 20, 10)
