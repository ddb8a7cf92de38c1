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
from sfumato.progress import report_progress
from sfumato.protect.baskets.basket_columns import BasketDraft, ItemOccurrences
from sfumato.protect.baskets.item_rules import ShownRule, list_rules_about
from sfumato.protect.baskets.secret_rules import HidingThresholds

_MOST_CELLS = 200_000_000
"""Rules × baskets processed together: 200 MB. Further rules are handled in the next round."""
_TOLD_EVERY = 256


def hide_completely(draft: BasketDraft, columns: Sequence[int], thresholds: HidingThresholds) -> int:
    """Remove items until no rule about any of them shows; return how often the baskets were scanned.

    Removing one hidden item makes left sides with it rarer, which can make a rule about another one show again. So the
    items are revisited until none shows. Every round removes something, so it terminates.
    """
    now, scans, calm = draft.list_occurrences(), 0, 0
    while calm < len(columns):
        column = columns[scans % len(columns)]
        shown = list_rules_about(now, draft.places[column], thresholds)
        scans += 1
        calm = calm + 1 if not shown else 0
        if shown:
            draft.remove(cover_item_rules(now, draft.places[column], shown, thresholds), column)
            now = draft.list_occurrences()
    return scans


def cover_item_rules(now: ItemOccurrences, item: int, shown: Sequence[ShownRule], thresholds: HidingThresholds) -> Ints:
    """Baskets that hold the item, such that every rule loses enough of them."""
    rows = np.unique(now.rows[now.codes == item])
    shown = shown[: max(1, _MOST_CELLS // len(rows))]
    places = sorted({position for shown_rule in shown for position in shown_rule.rule.left})
    line = {position: index for index, position in enumerate(places)}
    held = now.flag_items(places)[:, rows]
    serves = np.array([held[[line[position] for position in shown_rule.rule.left]].all(axis=0) for shown_rule in shown])
    needs = np.array(
        [thresholds.count_surplus(shown_rule.whole, shown_rule.left) for shown_rule in shown], dtype=np.int64
    )
    return rows[cover_greedily(serves, needs, _measure_pair_harm(now, item, rows, thresholds.least))]


def cover_greedily(serves: Flags, needs: Ints, harm: Floats) -> Ints:
    """Columns of `serves` such that every line has as many of them as it needs: greedy, then pruned."""
    # At most half a rule, so that harm only breaks ties.
    score = serves.sum(axis=0, dtype=np.float64) + 0.5 * (1.0 - harm / max(float(harm.max(initial=0.0)), 1e-9))
    left = needs.copy()
    chosen: list[int] = []
    while (left > 0).any():
        best = int(np.argmax(score))
        score[best] = -1.0
        served = serves[:, best]
        done = served & (left == 1)
        left[served] -= 1
        if done.any():
            score -= serves[done].sum(axis=0)
        chosen.append(best)
        if len(chosen) % _TOLD_EVERY == 0:
            report_progress("covering rules", len(needs) - int((left > 0).sum()), len(needs))
    return _thin_cover(serves, needs, chosen)


def _thin_cover(serves: Flags, needs: Ints, chosen: list[int]) -> Ints:
    """Drop unnecessary choices: the latest are kept first and the earliest dropped first."""
    spare = serves[:, chosen].sum(axis=1) - needs
    kept: list[int] = []
    for column in chosen:
        served = serves[:, column]
        if (spare[served] > 0).all():
            spare[served] -= 1
        else:
            kept.append(column)
    return np.array(sorted(kept), dtype=np.int64)


def _measure_pair_harm(now: ItemOccurrences, item: int, rows: Ints, least: int) -> Floats:
    """For each basket, how close its frequent pairs with the item are to becoming infrequent."""
    row_index = np.full(now.count, -1, dtype=np.int64)
    row_index[rows] = np.arange(len(rows))
    inside = (row_index[now.rows] >= 0) & (now.codes != item)
    spare = np.bincount(now.codes[inside], minlength=len(now.items)) - least
    weights = np.where(spare >= 0, 1.0 / (np.maximum(spare, 0) + 1.0), 0.0)
    harm = np.bincount(row_index[now.rows[inside]], weights[now.codes[inside]], minlength=len(rows))
    return harm.astype(np.float64)
