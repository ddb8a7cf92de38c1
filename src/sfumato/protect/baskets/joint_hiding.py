# SPDX-License-Identifier: MIT
"""All rules together: remove the occurrences that serve most rules and endanger the fewest itemsets.

The published strategies consider one rule at a time and the size of a basket; if rules overlap, one pays again for what
another removed. Here every occurrence of an item of a right side is weighed: how many rules that still show does it
serve, and how close to infrequent are the itemsets of its basket that contain it? The best are removed in batches, the
weights are recomputed, and in the end unnecessary removals are undone. Items are only removed, so it terminates; a rule
that shows again because another's left side became rarer is handled in the next pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints, Singles
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.hiding_variables import CriticalBaskets
from sfumato.protect.baskets.itemsets_at_risk import ItemsetsAtRisk, find_itemsets_at_risk
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule
from sfumato.runtime.progress import report_progress

LONGEST = 4
"""Itemsets of this many items estimate the risk well enough: longer ones change little, and may be very many."""
_PASSES = 12
"""The number of batches, so that weights reflect what was already removed."""
_CHANGE = 0.1
"""The cost of a change itself: a tenth of a lost itemset."""


def hide_jointly(draft: BasketDraft, rules: tuple[SecretRule, ...], thresholds: HidingThresholds) -> int:
    """Hide all rules in a draft; return how often the baskets were scanned."""
    if not any(draft.shows(rule, thresholds) for rule in rules):
        return 1
    critical = CriticalBaskets.of(draft, rules, thresholds.least)
    most = critical.count_most_hits(thresholds)
    at_risk = find_itemsets_at_risk(
        draft, critical.rules, thresholds.least, critical.rows, critical.wholes, most, longest=LONGEST
    )
    rule_standing = _RuleStanding(draft, critical, thresholds, _LossRisk.of(at_risk, len(draft.places)))
    passes = 1
    while (shown_mask := rule_standing.flag_shown()).any():
        report_progress("hiding rules", int((~shown_mask).sum()), len(critical.rules))
        rule_standing.take_out(shown_mask)
        passes += 1
    rule_standing.put_back()
    return passes + 1


@dataclass(eq=False)
class _LossRisk:
    """The itemsets at risk in each kind of basket, and how many baskets each has lost so far."""

    at_risk: ItemsetsAtRisk
    holds: Flags
    """Columns × itemsets: whether the itemset contains the column."""
    kind: Ints
    """The kind of each critical basket: those of a kind hold the same itemsets at risk."""
    incidence: Singles
    """Kinds × itemsets."""
    hit: dict[int, Flags] = field(default_factory=dict)
    """For changed baskets: which itemsets they no longer hold."""

    @classmethod
    def of(cls, at_risk: ItemsetsAtRisk, columns: int) -> _LossRisk:
        holds = np.zeros((columns, len(at_risk)), dtype=np.bool_)
        for number, items in enumerate(at_risk.columns):
            holds[sorted(items), number] = True
        basket_bits = np.ascontiguousarray(np.packbits(at_risk.held_mask, axis=0).T)
        _, first, kind = np.unique(basket_bits, axis=0, return_index=True, return_inverse=True)
        held_values = np.ascontiguousarray(at_risk.held_mask[:, first].T.astype(np.float32))
        return cls(at_risk, holds, kind.reshape(-1).astype(np.int64), held_values)

    def __post_init__(self) -> None:
        self.spare = self.at_risk.spare.copy()

    def measure_harm(self, column: int, places: Ints) -> Floats:
        """For each basket, how much removing the item endangers itemsets; 1 is the loss of an itemset."""
        loss_weights = np.where(self.spare >= 0, self.at_risk.times / (np.maximum(self.spare, 0) + 1.0), 0.0)
        by_kind = self.incidence @ (loss_weights * self.holds[column]).astype(np.float32)
        harm: Floats = by_kind[self.kind[places]].astype(np.float64)
        return harm

    def take(self, basket: int, column: int) -> None:
        """Count an item that was removed."""
        hit_mask = self.hit.setdefault(basket, np.zeros(len(self.at_risk), dtype=np.bool_))
        new = self.holds[column] & self.at_risk.held_mask[:, basket] & ~hit_mask
        self.spare -= new
        hit_mask |= new


class _Removal(NamedTuple):
    """An occurrence that was removed."""

    harm: float
    basket: int
    """Its index among the critical ones."""
    column: int


class _RemovableItems(NamedTuple):
    """Occurrences of items that may be removed."""

    gains: Floats
    harms: Floats
    baskets: Ints
    """Among the critical ones."""
    columns: Ints


class _RuleStanding:
    """The state of the rules while occurrences are removed from the critical baskets."""

    def __init__(
        self, draft: BasketDraft, critical: CriticalBaskets, thresholds: HidingThresholds, risk: _LossRisk
    ) -> None:
        self.draft, self.rules, self.rows = draft, critical.rules, critical.rows
        self.thresholds, self.risk = thresholds, risk
        self.wholes, self.lefts = critical.wholes.copy(), critical.lefts.copy()
        self.whole: list[int] = critical.whole.tolist()
        self.left_counts: list[int] = critical.left_counts.tolist()
        surplus = sum(map(thresholds.count_surplus, self.whole, self.left_counts))
        self.quota = max(1, surplus // _PASSES)
        self.removals: list[_Removal] = []
        self.by_column = [
            [u for u, rule in enumerate(self.rules) if column in rule.whole] for column in range(len(draft.places))
        ]

    def flag_shown(self) -> Flags:
        """Which rules show."""
        return np.array(list(map(self.thresholds.shows, self.whole, self.left_counts)), dtype=np.bool_)

    def take_out(self, shown_mask: Flags) -> None:
        """One pass: the best occurrences, up to a share of the total work."""
        candidates = self._list_candidates(shown_mask)
        remaining_quota = self.quota
        worth = candidates.gains / (_CHANGE + candidates.harms)
        order = np.lexsort((candidates.columns, candidates.baskets, candidates.harms, -worth))
        for index in order.tolist():
            basket_index, item = int(candidates.baskets[index]), int(candidates.columns[index])
            if self._serves(basket_index, item):
                self._remove(basket_index, item, float(candidates.harms[index]))
                remaining_quota -= 1
                if not remaining_quota:
                    return

    def _serves(self, basket: int, column: int) -> bool:
        """Whether removing the item still lowers a rule that shows."""
        return any(
            self.wholes[u, basket]
            and column in self.rules[u].right
            and self.thresholds.shows(self.whole[u], self.left_counts[u])
            for u in self.by_column[column]
        )

    def _list_candidates(self, shown_mask: Flags) -> _RemovableItems:
        """Every occurrence that would serve a rule: its gain, its harm, and its position."""
        candidates: list[_RemovableItems] = []
        for column in sorted({c for u in np.flatnonzero(shown_mask) for c in self.rules[u].right}):
            gain, useful = self._weigh_removal(column, shown_mask)
            places = np.flatnonzero(useful).astype(np.int64)
            harm = self.risk.measure_harm(column, places)
            candidates.append(_RemovableItems(gain[places], harm, places, np.full(len(places), column, dtype=np.int64)))
        return _RemovableItems(*(np.concatenate(part) for part in zip(*candidates, strict=True)))

    def _weigh_removal(self, column: int, shown_mask: Flags) -> tuple[Floats, Flags]:
        """For each basket, how much removing the item lowers the rules that show, and whether it serves one."""
        gain = np.zeros(len(self.rows))
        useful = np.zeros(len(self.rows), dtype=np.bool_)
        share = float(self.thresholds.confidence)
        for u in np.flatnonzero(shown_mask).tolist():
            rule = self.rules[u]
            if column in rule.right:
                gain += self.wholes[u]
                useful |= self.wholes[u]
            elif column in rule.left:
                # The left side also gets rarer, which raises the confidence.
                by_support = self.thresholds.least >= share * self.left_counts[u]
                gain += self.wholes[u] if by_support else self.wholes[u] - share * self.lefts[u]
        return gain, useful

    def _remove(self, basket: int, column: int, harm: float) -> None:
        self.draft.remove(self.rows[basket : basket + 1], column)
        self.removals.append(_Removal(harm, basket, column))
        self.risk.take(basket, column)
        self._count(basket, column)

    def _count(self, basket: int, column: int) -> None:
        """Recount the rules of one basket after its item changed."""
        held_mask = self.draft.held_mask[:, self.rows[basket]]
        for u in self.by_column[column]:
            rule = self.rules[u]
            is_held = bool(held_mask[list(rule.whole)].all())
            self.whole[u] += int(is_held) - int(self.wholes[u, basket])
            self.wholes[u, basket] = is_held
            if column in rule.left:
                is_held = bool(held_mask[list(rule.left)].all())
                self.left_counts[u] += int(is_held) - int(self.lefts[u, basket])
                self.lefts[u, basket] = is_held

    def put_back(self) -> None:
        """Undo unnecessary removals, the most harmful first."""
        for done_count, (_, position, column) in enumerate(
            sorted(self.removals, key=lambda removal: (-removal.harm, removal.basket, removal.column))
        ):
            if done_count % 256 == 0:
                report_progress("undoing unnecessary changes", done_count, len(self.removals))
            rows = self.rows[position : position + 1]
            self.draft.add(rows, column)
            self._count(position, column)
            if any(self.thresholds.shows(self.whole[u], self.left_counts[u]) for u in self.by_column[column]):
                self.draft.remove(rows, column)
                self._count(position, column)
