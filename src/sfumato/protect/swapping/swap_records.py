# SPDX-License-Identifier: MIT
"""The records that phase II of swapping decides about: U, and of each group of V as many as must be changed.

All members of a group of V have the same values, so a group is one record with a weight. A solution assigns categories
to records; its cost is the paper's Σ d(t, r), the loss in posterior of every change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.protect.swapping.identifiable_records import IdentifiableRecords


@dataclass(frozen=True, eq=False)
class SwapRecords:
    """Records that may or must be changed."""

    chances: Ints
    """The posterior of every category, in units of 10⁻¹²."""
    own_categories: Ints
    """The true category."""
    weight: Ints
    """The number of equal records; 1 in U."""
    free: Flags
    """Whether it may stay unchanged: true in U, false in V."""
    changes: int
    """How many of the free records are changed."""

    @classmethod
    def of(
        cls, identifiable: IdentifiableRecords, codes: Ints, chances: Ints, changes: int, per_group: Ints
    ) -> SwapRecords:
        """U and then one record for every group of V, of which `per_group` are changed."""
        record_indices = np.concatenate([identifiable.unique, identifiable.first])
        weight = np.concatenate([np.ones(len(identifiable.unique), dtype=np.int64), per_group])
        return cls(
            chances, codes[record_indices], weight, np.arange(len(record_indices)) < len(identifiable.unique), changes
        )

    @property
    def categories(self) -> int:
        """The number of categories."""
        return int(self.chances.shape[1])

    @property
    def available(self) -> Ints:
        """How many free records each category has."""
        return np.bincount(self.own_categories[self.free], minlength=self.categories).astype(np.int64)

    @property
    def forced_counts(self) -> Ints:
        """How many records of each category must be changed."""
        counts = np.zeros(self.categories, dtype=np.int64)
        np.add.at(counts, self.own_categories[~self.free], self.weight[~self.free])
        return counts

    @property
    def moving_count(self) -> int:
        """The total number of changed records."""
        return self.changes + int(self.weight[~self.free].sum())

    def take(self, record_indices: Ints, changes: int) -> SwapRecords:
        """A subset of the records."""
        return SwapRecords(
            self.chances[record_indices],
            self.own_categories[record_indices],
            self.weight[record_indices],
            self.free[record_indices],
            changes,
        )


@dataclass(frozen=True, eq=False)
class SwapAnswer:
    """The assigned categories: one entry per copy of a record; unchanged ones may be omitted."""

    record: Ints
    category: Ints

    @classmethod
    def change_nobody(cls) -> SwapAnswer:
        """The solution without changes."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def compute_cost(self, records: SwapRecords) -> int:
        """Σ d(t, r), in units."""
        lost_chances = (
            records.chances[self.record, records.own_categories[self.record]]
            - records.chances[self.record, self.category]
        )
        return sum_exactly(lost_chances, np.ones(len(lost_chances), dtype=np.int64))

    def shift(self, records: SwapRecords) -> Ints:
        """The change in the count of every category."""
        new_counts = np.bincount(self.category, minlength=records.categories)
        return (new_counts - np.bincount(records.own_categories[self.record], minlength=records.categories)).astype(
            np.int64
        )


def sum_exactly(amounts: Ints, weights: Ints) -> int:
    """Σ amount × weight, in two parts because it may exceed 64 bits."""
    high, low = amounts >> 20, amounts & ((1 << 20) - 1)
    return (int((high * weights).sum()) << 20) + int((low * weights).sum())


def apply_answer(
    codes: Ints,
    identifiable: IdentifiableRecords,
    records: SwapRecords,
    answer: SwapAnswer,
    chance: np.random.Generator,
) -> Ints:
    """The confidential column after a solution; the changed members of a group of V are drawn at random."""
    fresh = codes.copy()
    moved_mask = answer.category != records.own_categories[answer.record]
    record, category = answer.record[moved_mask], answer.category[moved_mask]
    unique_mask = record < len(identifiable.unique)
    fresh[identifiable.unique[record[unique_mask]]] = category[unique_mask]
    group, category = record[~unique_mask] - len(identifiable.unique), category[~unique_mask]
    order = np.argsort(group, kind="stable")
    group, category = group[order], category[order]
    rank_in_group = np.arange(len(group)) - np.searchsorted(group, group)
    # Shuffle members within groups: sort by group, then by a random number.
    of_member = np.repeat(np.arange(identifiable.groups), identifiable.sizes)
    shuffled_members = identifiable.members[np.lexsort((chance.random(len(of_member)), of_member))]
    fresh[shuffled_members[identifiable.starts[group] + rank_in_group]] = category
    return fresh
