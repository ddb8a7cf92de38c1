# SPDX-License-Identifier: MIT
"""Blocking: if an item would disclose a rule, publish its presence as unknown.

Nothing false is published, only less. An item of the right side becomes unknown in the smallest baskets that hold a
rule, until what is certain no longer shows it. If only present items became unknown, every question mark would mean
"yes"; so for each of them the same item becomes unknown in a basket that lacks it, preferably one that holds the rest
of the rule. Saygin, Verykios, Clifton, *Using unknowns to prevent discovery of association rules* (2001).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.errors import ImpossibleRelease, count_noun
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.secret_rules import SecretRule


def choose_decoys(draft: BasketDraft, rules: Sequence[SecretRule]) -> Flags:
    """Columns × baskets: where an absent item becomes unknown as well.

    The draft has the items removed that are to be unknown.
    """
    decoy_mask = np.zeros_like(draft.held_mask)
    for column in range(len(draft.places)):
        blocked_count = int((draft.original_mask[column] & ~draft.held_mask[column]).sum())
        if blocked_count:
            rows = _rank_decoy_baskets(draft, rules, column)[:blocked_count]
            decoy_mask[column, rows] = True
    return decoy_mask


def refuse_bare_unknowns(draft: BasketDraft, decoy_mask: Flags) -> None:
    """Stop if an item has fewer decoys than unknowns that were present: an unknown one would then more likely be
    present than not.
    """
    blocked_counts = (draft.original_mask & ~draft.held_mask).sum(axis=1)
    bare = int((decoy_mask.sum(axis=1) < blocked_counts).sum())
    if bare:
        raise ImpossibleRelease(
            f"{count_noun(bare, 'item of the rules is', 'items of the rules are')} absent from too few baskets for a "
            "decoy per unknown one, so an unknown item would more likely be present than not; use a strategy that "
            "removes items (joint, 1b)"
        )


def _rank_decoy_baskets(draft: BasketDraft, rules: Sequence[SecretRule], column: int) -> Ints:
    """The baskets that never held the item: first those that held most of the rest of a rule, then the smallest."""
    candidate_rows = np.flatnonzero(~draft.original_mask[column]).astype(np.int64)
    rest = np.zeros(len(candidate_rows))
    for rule in rules:
        if column in rule.right:
            other_columns = [other for other in rule.whole if other != column]
            share = (
                draft.original_mask[other_columns][:, candidate_rows].mean(axis=0)
                if other_columns
                else np.ones(len(candidate_rows))
            )
            rest = np.maximum(rest, share)
    return candidate_rows[np.lexsort((draft.sizes[candidate_rows], -rest))]
