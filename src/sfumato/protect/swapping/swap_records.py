# SPDX-License-Identifier: MIT
"""What phase II of swapping decides about: the records of U, and of each group of V as many as must be changed.

All members of a group of V have the same values, so a group is one record with a weight. An answer says which record
takes which category; its cost is the paper's Σ d(t, r), the loss in posterior of every change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.protect.swapping.identifiable import Identifiable


@dataclass(frozen=True, eq=False)
class Records:
    """Records that may or must be changed."""

    chances: Ints
    """The posterior of every category, in units of 10⁻¹²."""
    own: Ints
    """The true category."""
    weight: Ints
    """How many alike; 1 in U."""
    free: Flags
    """Whether it may stay as it is: true in U, false in V."""
    changes: int
    """How many of the free ones are changed."""

    @classmethod
    def of(cls, found: Identifiable, codes: Ints, chances: Ints, changes: int, per_group: Ints) -> Records:
        """U and then one record for every group of V, of which `per_group` are to be changed."""
        standing = np.concatenate([found.unique, found.first])
        weight = np.concatenate([np.ones(len(found.unique), dtype=np.int64), per_group])
        return cls(chances, codes[standing], weight, np.arange(len(standing)) < len(found.unique), changes)

    @property
    def categories(self) -> int:
        """How many categories there are."""
        return int(self.chances.shape[1])

    @property
    def available(self) -> Ints:
        """How many free records each category has."""
        return np.bincount(self.own[self.free], minlength=self.categories).astype(np.int64)

    @property
    def forced(self) -> Ints:
        """How many records of each category must be changed."""
        counts = np.zeros(self.categories, dtype=np.int64)
        np.add.at(counts, self.own[~self.free], self.weight[~self.free])
        return counts

    @property
    def moving(self) -> int:
        """How many records are changed in all."""
        return self.changes + int(self.weight[~self.free].sum())

    def some(self, which: Ints, changes: int) -> Records:
        """A part of them."""
        return Records(self.chances[which], self.own[which], self.weight[which], self.free[which], changes)


@dataclass(frozen=True, eq=False)
class Answer:
    """Who takes which category: one entry a copy of a record, those that stay may be left out."""

    record: Ints
    category: Ints

    @classmethod
    def nobody(cls) -> Answer:
        """Everybody stays."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def cost(self, records: Records) -> int:
        """Σ d(t, r), in units."""
        lost = records.chances[self.record, records.own[self.record]] - records.chances[self.record, self.category]
        return total(lost, np.ones(len(lost), dtype=np.int64))

    def shift(self, records: Records) -> Ints:
        """By how much the count of every category grows."""
        gained = np.bincount(self.category, minlength=records.categories)
        return (gained - np.bincount(records.own[self.record], minlength=records.categories)).astype(np.int64)


def total(amounts: Ints, weights: Ints) -> int:
    """Σ amount × weight, in two parts because it may be too large for 64 bits."""
    high, low = amounts >> 20, amounts & ((1 << 20) - 1)
    return (int((high * weights).sum()) << 20) + int((low * weights).sum())


def new_codes(codes: Ints, found: Identifiable, records: Records, answer: Answer, chance: np.random.Generator) -> Ints:
    """The confidential column after an answer; which members of a group of V are changed is drawn by lot."""
    fresh = codes.copy()
    moved = answer.category != records.own[answer.record]
    record, category = answer.record[moved], answer.category[moved]
    alone = record < len(found.unique)
    fresh[found.unique[record[alone]]] = category[alone]
    group, category = record[~alone] - len(found.unique), category[~alone]
    order = np.argsort(group, kind="stable")
    group, category = group[order], category[order]
    place = np.arange(len(group)) - np.searchsorted(group, group)
    # Members of a group by lot: sorted by group, and within it by a number drawn for each.
    of_member = np.repeat(np.arange(found.groups), found.sizes)
    shuffled = found.members[np.lexsort((chance.random(len(of_member)), of_member))]
    fresh[shuffled[found.starts[group] + place]] = category
    return fresh
