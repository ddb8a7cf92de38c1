# SPDX-License-Identifier: MIT
"""Baskets while they are being changed: for each relevant item, which baskets hold it now.

Only the items of a draft can change, so a large vocabulary costs nothing. Changes are differences from the original
baskets: an item removed and put back is not a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.baskets import Baskets, Item, Items
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule
from sfumato.protect.method import HeadlineCount
from sfumato.release import Number

ItemChange = tuple[int, Item, str]
CHANGED_ITEMS = HeadlineCount(("changes",), "changes", "items added, removed or made unknown")


@dataclass(frozen=True, eq=False, repr=False)
class ItemOccurrences:
    """Baskets as pairs of basket and item, under a vocabulary that stays the same whatever is removed."""

    items: Items
    rows: Ints
    """The basket of each occurrence, ascending."""
    codes: Codes
    """The index of its item in the vocabulary."""
    count: int
    """The number of baskets."""

    @classmethod
    def of(cls, data: Baskets) -> ItemOccurrences:
        """All occurrences of some baskets."""
        rows = np.repeat(np.arange(len(data), dtype=np.int64), np.diff(data.offsets))
        return cls(data.items, rows, data.codes, len(data))

    def flag_items(self, places: Sequence[int]) -> Flags:
        """Columns × baskets: whether each basket holds the item at each index."""
        column = np.full(len(self.items), -1, dtype=np.int64)
        column[list(places)] = np.arange(len(places))
        item_columns = column[self.codes]
        tracked_indices = np.flatnonzero(item_columns >= 0)
        held_mask = np.zeros((len(places), self.count), dtype=np.bool_)
        held_mask[item_columns[tracked_indices], self.rows[tracked_indices]] = True
        return held_mask

    def keep_occurrences(self, kept_mask: Flags) -> Baskets:
        """The baskets with only the kept occurrences."""
        sizes = np.bincount(self.rows[kept_mask], minlength=self.count)
        return Baskets(self.items, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), self.codes[kept_mask])


@dataclass(frozen=True, eq=False, repr=False)
class BasketDraft:
    """A writable copy of some columns of the baskets."""

    data: Baskets
    """The original baskets."""
    places: tuple[int, ...]
    """The index of each column's item in the vocabulary, ascending."""
    held_mask: Flags
    """Columns × baskets: whether the basket holds the item now."""
    original_mask: Flags
    """The same before any change."""
    sizes: Ints
    """How many items each basket holds now."""

    @classmethod
    def of(cls, data: Baskets, places: Iterable[int], sizes: Ints | None = None) -> BasketDraft:
        """The columns of the items at these indices; `sizes` if baskets have more items than the data shows."""
        sorted_places = tuple(sorted(set(places)))
        held_mask = ItemOccurrences.of(data).flag_items(sorted_places)
        return cls(
            data, sorted_places, held_mask, held_mask.copy(), np.diff(data.offsets) if sizes is None else sizes.copy()
        )

    @property
    def column(self) -> dict[int, int]:
        """The column of each index."""
        return {position: column for column, position in enumerate(self.places)}

    def flag_holding(self, columns: Sequence[int]) -> Flags:
        """Which baskets hold all of the columns' items."""
        is_held: Flags = np.logical_and.reduce(self.held_mask[list(columns)], axis=0)
        return is_held

    def list_holders(self, columns: Sequence[int]) -> Ints:
        """The baskets that hold all of the columns' items."""
        return np.flatnonzero(self.flag_holding(columns)).astype(np.int64)

    def count(self, columns: Sequence[int]) -> int:
        """How many baskets hold all of the columns' items; 0 for no columns, which represents a missing left side."""
        return int(np.count_nonzero(self.flag_holding(columns))) if columns else 0

    def shows(self, rule: SecretRule, thresholds: HidingThresholds) -> bool:
        """Whether a rule still shows."""
        return thresholds.shows(self.count(rule.whole), self.count(rule.left))

    def remove(self, rows: Ints, column: int) -> None:
        """Remove an item from baskets that hold it."""
        self.held_mask[column, rows] = False
        self.sizes[rows] -= 1

    def add(self, rows: Ints, column: int) -> None:
        """Add an item to baskets that do not hold it."""
        self.held_mask[column, rows] = True
        self.sizes[rows] += 1

    def count_companions(self, column: int) -> Ints:
        """How many baskets hold each item of the vocabulary together with this one."""
        holding_mask = self.held_mask[column]
        occurrence_mask = np.repeat(holding_mask, np.diff(self.data.offsets))
        counts = np.bincount(self.data.codes[occurrence_mask], minlength=len(self.data.items)).astype(np.int64)
        for other, position in enumerate(self.places):
            counts[position] = np.count_nonzero(holding_mask & self.held_mask[other])
        return counts

    def list_changes(self) -> list[ItemChange]:
        """Every remaining change: basket, item, and whether it was added or removed."""
        columns, rows = np.nonzero(self.held_mask != self.original_mask)
        order = np.lexsort((columns, rows))
        return [
            (row, self.data.items[self.places[column]], "added" if self.held_mask[column, row] else "removed")
            for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True)
        ]

    def list_occurrences(self) -> ItemOccurrences:
        """The occurrences as they are now."""
        occurrences = ItemOccurrences.of(self.data)
        column = np.full(len(occurrences.items), -1, dtype=np.int64)
        column[list(self.places)] = np.arange(len(self.places))
        item_columns = column[occurrences.codes]
        tracked_indices = np.flatnonzero(item_columns >= 0)
        kept_mask = np.ones(len(item_columns), dtype=np.bool_)
        kept_mask[tracked_indices] = self.held_mask[item_columns[tracked_indices], occurrences.rows[tracked_indices]]
        new_columns, new_rows = np.nonzero(self.held_mask & ~self.original_mask)
        if not len(new_rows):
            return ItemOccurrences(
                occurrences.items, occurrences.rows[kept_mask], occurrences.codes[kept_mask], occurrences.count
            )
        rows = np.concatenate([occurrences.rows[kept_mask], new_rows])
        codes = np.concatenate([occurrences.codes[kept_mask], np.array(self.places, dtype=np.int32)[new_columns]])
        order = np.argsort(rows, kind="stable")
        return ItemOccurrences(occurrences.items, rows[order], codes[order], occurrences.count)

    def publish(self) -> Baskets:
        """The baskets as they are now, without their owners."""
        occurrences = self.list_occurrences()
        return occurrences.keep_occurrences(np.ones(len(occurrences.codes), dtype=np.bool_))


def compute_change_losses(
    data: Baskets, published_baskets: Baskets, changes: Sequence[ItemChange]
) -> dict[str, Number]:
    """The analyst's loss from these changes; `published_baskets` is what is certain in the release."""
    frequencies_after = dict(zip(published_baskets.items, _count_item_frequencies(published_baskets), strict=True))
    drift = sum(
        abs(count - frequencies_after.get(item, 0))
        for item, count in zip(data.items, _count_item_frequencies(data), strict=True)
    )
    return summarize_changes(changes, data.codes.size, drift)


def summarize_changes(changes: Sequence[ItemChange], total: int, drift: int) -> dict[str, Number]:
    """The loss from changes in baskets of `total` items, whose frequencies moved by `drift` together."""
    words = [word for _, _, word in changes]
    return {
        "loss": round(min(len(changes) / total, 1.0), 12) if total else 0.0,
        "changes": len(changes),
        "removed": words.count("removed"),
        "added": words.count("added"),
        "unknown": words.count("unknown"),
        "changed_baskets": len({row for row, _, _ in changes}),
        "dissimilarity": round(drift / total, 12) if total else 0.0,
    }


def _count_item_frequencies(baskets: Baskets) -> list[int]:
    frequencies: list[int] = np.bincount(baskets.codes, minlength=len(baskets.items)).tolist()
    return frequencies
