# SPDX-License-Identifier: MIT
"""ISLF and DSRF as published: hide every rule with one item on the left and a hidden item on the right.

ISLF (increase support of the left side first) adds the left item to the largest baskets that hold neither; if that does
not suffice, it removes the hidden item from the largest baskets that hold it. DSRF does the second first. For study:
rules with more items on the left are ignored, and hiding a later item can make an earlier one show again. Wang, Lee,
Billis, Jafari, *Hiding sensitive items in privacy preserving association rule mining* (2004). Line 10 is read as
"partially supports the left side and does not support the right one"; DSRF, which is not printed, is ISLF with its two
blocks exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule
from sfumato.runtime.progress import report_progress


@dataclass
class HidingWork:
    """The work done, as Table 8 counts it."""

    scans: int = 0
    """One for the large items, one for the large pairs, and one for each search for baskets."""
    handled_rules: list[SecretRule] = field(default_factory=list)
    """The processed rules; other hidden rules were pruned."""


def hide_pairs(
    draft: BasketDraft, hidden_columns: Sequence[int], thresholds: HidingThresholds, left_first: bool
) -> HidingWork:
    """Algorithm ISLF (`left_first`) or DSRF, on the columns of the hidden items."""
    work = HidingWork(scans=1)
    large = [column for column in hidden_columns if draft.count([column]) >= thresholds.least]
    if not large:
        return work
    work.scans += 1
    pairs = {column: draft.original_mask @ draft.original_mask[column].astype(np.int64) for column in large}
    blocks = (_increase_left, _decrease_right) if left_first else (_decrease_right, _increase_left)
    for done_count, column in enumerate(large):
        report_progress("hiding items", done_count, len(large))
        for other in np.flatnonzero(pairs[column] >= thresholds.least).tolist():
            if other == column or not _is_confident(draft, other, column, thresholds):
                continue
            work.handled_rules.append(SecretRule((other,), (column,)))
            for block in blocks:
                if _is_confident(draft, other, column, thresholds):
                    work.scans += 1
                    block(draft, other, column, thresholds)
    return work


def _is_confident(draft: BasketDraft, left: int, right: int, thresholds: HidingThresholds) -> bool:
    """As published, only the confidence decides; a rule without baskets has none."""
    count = draft.count([left])
    return count > 0 and HidingThresholds(0, thresholds.confidence).shows(draft.count([left, right]), count)


def _increase_left(draft: BasketDraft, left: int, right: int, thresholds: HidingThresholds) -> None:
    """Lines 10 to 16: add the left item to the largest baskets that hold neither."""
    rows = np.flatnonzero(~draft.held_mask[left] & ~draft.held_mask[right])
    rows = rows[np.argsort(-draft.sizes[rows], kind="stable")]
    needed_count = thresholds.count_missing_lefts(draft.count([left, right]), draft.count([left]))
    draft.add(rows[:needed_count].astype(np.int64), left)


def _decrease_right(draft: BasketDraft, left: int, right: int, thresholds: HidingThresholds) -> None:
    """Lines 19 to 27: remove the hidden item from the largest baskets that hold it, with or without the left item."""
    rows = draft.list_holders([right])
    rows = rows[np.argsort(-draft.sizes[rows], kind="stable")]
    surplus = HidingThresholds(0, thresholds.confidence).count_surplus(draft.count([left, right]), draft.count([left]))
    useful = np.cumsum(draft.held_mask[left, rows])
    draft.remove(rows[: int(np.searchsorted(useful, surplus)) + 1], right)
