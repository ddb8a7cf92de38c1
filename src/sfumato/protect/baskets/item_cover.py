# SPDX-License-Identifier: MIT
"""Hide an item by removing it from baskets: each rule about it requires a number of its baskets to lose the item.

That is a covering problem: the fewest baskets such that every rule has enough of them. The item itself is on no left
side, so the requirements do not change while baskets lose it. Solved greedily: the basket that serves most rules first;
ties go to the one in which the item's pairs are farthest from becoming infrequent; then unnecessary removals are
dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.protect.baskets.basket_columns import BasketDraft, ItemOccurrences
from sfumato.protect.baskets.item_rules import ShownRule, list_rules_about
from sfumato.protect.baskets.secret_rules import HidingThresholds
from sfumato.runtime.progress import report_progress

_MOST_CELLS = 200_000_000
"""Rules × baskets processed together: 200 MB. Further rules are handled in the next round."""
_REPORT_EVERY = 256


def hide_completely(draft: BasketDraft, columns: Sequence[int], thresholds: HidingThresholds) -> int:
    """Remove items until no rule about any of them shows; return how often the baskets were scanned.

    Removing one hidden item makes left sides with it rarer, which can make a rule about another one show again. So the
    items are revisited until none shows. Every round removes something, so it terminates.
    """
    occurrences, scans, calm = draft.list_occurrences(), 0, 0
    while calm < len(columns):
        column = columns[scans % len(columns)]
        shown_rules = list_rules_about(occurrences, draft.places[column], thresholds)
        scans += 1
        calm = calm + 1 if not shown_rules else 0
        if shown_rules:
            draft.remove(cover_item_rules(occurrences, draft.places[column], shown_rules, thresholds), column)
            occurrences = draft.list_occurrences()
    return scans


def cover_item_rules(
    occurrences: ItemOccurrences, item: int, shown_rules: Sequence[ShownRule], thresholds: HidingThresholds
) -> Ints:
    """Baskets that hold the item, such that every rule loses enough of them."""
    rows = np.unique(occurrences.rows[occurrences.codes == item])
    shown_rules = shown_rules[: max(1, _MOST_CELLS // len(rows))]
    places = sorted({position for shown_rule in shown_rules for position in shown_rule.rule.left})
    line = {position: index for index, position in enumerate(places)}
    held_mask = occurrences.flag_items(places)[:, rows]
    serves = np.array(
        [held_mask[[line[position] for position in shown_rule.rule.left]].all(axis=0) for shown_rule in shown_rules]
    )
    needs = np.array(
        [thresholds.count_surplus(shown_rule.whole, shown_rule.left_count) for shown_rule in shown_rules],
        dtype=np.int64,
    )
    return rows[cover_greedily(serves, needs, _measure_pair_harm(occurrences, item, rows, thresholds.least))]


def cover_greedily(serves: Flags, needs: Ints, harm: Floats) -> Ints:
    """Columns of `serves` such that every line has as many of them as it needs: greedy, then pruned."""
    # At most half a rule, so that harm only breaks ties.
    score = serves.sum(axis=0, dtype=np.float64) + 0.5 * (1.0 - harm / max(float(harm.max(initial=0.0)), 1e-9))
    remaining_needs = needs.copy()
    chosen_columns: list[int] = []
    while (remaining_needs > 0).any():
        best = int(np.argmax(score))
        score[best] = -1.0
        served_mask = serves[:, best]
        satisfied_mask = served_mask & (remaining_needs == 1)
        remaining_needs[served_mask] -= 1
        if satisfied_mask.any():
            score -= serves[satisfied_mask].sum(axis=0)
        chosen_columns.append(best)
        if len(chosen_columns) % _REPORT_EVERY == 0:
            report_progress("covering rules", len(needs) - int((remaining_needs > 0).sum()), len(needs))
    return _thin_cover(serves, needs, chosen_columns)


def _thin_cover(serves: Flags, needs: Ints, chosen_columns: list[int]) -> Ints:
    """Drop unnecessary choices: the latest are kept first and the earliest dropped first."""
    spare = serves[:, chosen_columns].sum(axis=1) - needs
    kept_columns: list[int] = []
    for column in chosen_columns:
        served_mask = serves[:, column]
        if (spare[served_mask] > 0).all():
            spare[served_mask] -= 1
        else:
            kept_columns.append(column)
    return np.array(sorted(kept_columns), dtype=np.int64)


def _measure_pair_harm(occurrences: ItemOccurrences, item: int, rows: Ints, least: int) -> Floats:
    """For each basket, how close its frequent pairs with the item are to becoming infrequent."""
    row_index = np.full(occurrences.count, -1, dtype=np.int64)
    row_index[rows] = np.arange(len(rows))
    companion_mask = (row_index[occurrences.rows] >= 0) & (occurrences.codes != item)
    spare = np.bincount(occurrences.codes[companion_mask], minlength=len(occurrences.items)) - least
    weights = np.where(spare >= 0, 1.0 / (np.maximum(spare, 0) + 1.0), 0.0)
    harm = np.bincount(
        row_index[occurrences.rows[companion_mask]], weights[occurrences.codes[companion_mask]], minlength=len(rows)
    )
    return harm.astype(np.float64)
