# SPDX-License-Identifier: MIT
"""Hiding in baskets that stay in their file: what is removed from which baskets, and how it is written some at a time.

What is hidden, `stored_hide_items` and `stored_hide_rules` decide, on the few baskets and items that matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Items
from sfumato.details import HidingDetails
from sfumato.engine.stored_baskets import CodedBatch, StoredBaskets, TakenBaskets
from sfumato.protect.baskets.basket_columns import BasketDraft, summarize_changes
from sfumato.release import Release

CURE = "raise min_support"
"""What to do if the baskets that matter do not fit into memory."""


@dataclass(frozen=True, eq=False, repr=False)
class StoredHidingPlan:
    """What is removed from which baskets, decided before any is written."""

    original: StoredBaskets
    rows: Ints
    """The baskets that lose an item, ascending; one that loses several is listed as often."""
    codes: Ints
    """The item that each loses, ascending within a basket."""
    smallest: int
    """The fewest items of a published basket."""
    release: Release
    """What is claimed and lost; its data is what was read."""

    @cached_property
    def counts(self) -> Ints:
        """How many published baskets hold each item."""
        lost_counts: Ints = np.bincount(self.codes, minlength=len(self.original.items))
        return self.original.counts - lost_counts

    def publish(self) -> Iterator[CodedBatch]:
        """The published baskets in their order, some at a time, under the vocabulary of the originals."""
        width = len(self.original.items)
        lost_cells = self.rows * width + self.codes
        for batch in self.original.iterate("writing"):
            count = len(batch.offsets) - 1
            begin, end = np.searchsorted(self.rows, (batch.first, batch.first + count))
            if begin == end:
                yield batch
                continue
            rows = np.repeat(np.arange(batch.first, batch.first + count), batch.sizes)
            kept_mask = ~np.isin(rows * width + batch.codes, lost_cells[begin:end])
            sizes = np.bincount(rows[kept_mask] - batch.first, minlength=count)
            yield CodedBatch(batch.first, np.concatenate(([0], np.cumsum(sizes))), batch.codes[kept_mask])


def build_hiding_plan(
    baskets: StoredBaskets,
    taken_baskets: TakenBaskets,
    draft: BasketDraft,
    release: Release,
    details: Mapping[str, Any],
) -> StoredHidingPlan:
    """What the draft says about all baskets."""
    places = {item: position for position, item in enumerate(baskets.items)}
    changes = [(int(taken_baskets.rows[row]), item, word) for row, item, word in draft.list_changes()]
    assert all(word == "removed" for _, _, word in changes), "the strategies only remove"
    losses = {**summarize_changes(changes, baskets.entries, len(changes)), **release.losses}
    return StoredHidingPlan(
        original=baskets,
        rows=np.array([row for row, _, _ in changes], dtype=np.int64),
        codes=np.array([places[item] for _, item, _ in changes], dtype=np.int64),
        smallest=min(baskets.smallest, int(draft.sizes.min(initial=baskets.smallest))),
        release=Release(baskets, release.method, release.claims, losses, HidingDetails(changes=changes, **details)),
    )


def renumber_items(items: Items, taken_items: Items) -> dict[int, int]:
    """The index of each item that was taken, by its index among all."""
    positions = {item: number for number, item in enumerate(items)}
    return {positions[item]: number for number, item in enumerate(taken_items)}
