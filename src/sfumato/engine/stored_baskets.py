# SPDX-License-Identifier: MIT
"""Baskets as codes in two files of the scratch folder: how many items each basket has, and which.

Of a basket only the codes of its items are kept, four bytes for each, in the order of the vocabulary. A caller who
needs some items, or some baskets, takes them into memory (`take`), and gets an error first if they do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.baskets import Baskets, Item, Items, sort_row_codes
from sfumato.engine.memory_budget import find_memory_budget, format_size
from sfumato.errors import DataError
from sfumato.runtime.progress import report_progress

BATCH_BASKETS = 1 << 17
NO_ITEM = -1
"""The code of a missing item, until baskets are written."""


class CodedBatch(NamedTuple):
    """Some baskets in their order."""

    first: int
    """The number of the first of them."""
    offsets: Ints
    codes: Codes

    @property
    def sizes(self) -> Ints:
        """How many items each has."""
        return np.diff(self.offsets)


class Weight(NamedTuple):
    """The bytes that baskets take in memory with what is made of them."""

    basket: float = 40
    entry: float = 24
    """An item of a basket: held twice while arrays are checked, or once and next to it what a search lays out."""


class TakenBaskets(NamedTuple):
    """Baskets that were taken into memory, with some of their items."""

    baskets: Baskets
    rows: Ints
    """The number of each among all baskets."""
    sizes: Ints
    """How many items each has with those that were not taken."""


class BasketFiles(NamedTuple):
    """The files of baskets."""

    sizes: Path
    codes: Path


@dataclass(frozen=True, eq=False, repr=False)
class StoredBaskets:
    """Baskets in their files, and how many of them hold each item."""

    source: str
    """Their name in errors."""
    items: Items
    """The vocabulary, in the order of `Baskets`."""
    counts: Ints
    """How many baskets hold each item."""
    rows: int
    """The number of baskets."""
    smallest: int
    """The fewest items that a basket has."""
    files: BasketFiles

    def __len__(self) -> int:
        """The number of baskets."""
        return self.rows

    def __repr__(self) -> str:
        """Counts only: an item may name a person."""
        return f"StoredBaskets({self.rows:,} baskets, {len(self.items):,} items, {self.entries:,} occurrences)"

    @cached_property
    def entries(self) -> int:
        """How many items all baskets have together."""
        return int(self.counts.sum())

    @property
    def has_names(self) -> bool:
        """Whether items are texts."""
        return bool(self.items) and isinstance(self.items[0], str)

    def iterate(self, step: str) -> Iterator[CodedBatch]:
        """The baskets in their order, some at a time."""
        first = 0
        if not self.files.sizes.exists():
            raise DataError(f"{self.source}: the temporary copy of these baskets is gone; open their file again")
        with self.files.sizes.open("rb") as sizes, self.files.codes.open("rb") as codes:
            while first < self.rows:
                report_progress(step, first, self.rows)
                many = np.fromfile(sizes, np.int32, BATCH_BASKETS)
                offsets = np.concatenate(([0], np.cumsum(many, dtype=np.int64)))
                yield CodedBatch(first, offsets, np.fromfile(codes, np.int32, int(offsets[-1])))
                first += len(many)

    def take(
        self, kept_mask: Flags, needed_mask: Flags, purpose: str, cure: str, weight: Weight | None = None
    ) -> TakenBaskets:
        """The baskets that hold one of the `needed_mask` items, with those of their items that are `kept_mask`.

        The error says that there is too little memory for `purpose`, at some `weight`, and the `cure`.
        """
        rows, entries = self._count_taken(kept_mask, needed_mask)
        weight = weight or Weight()
        need, budget = rows * weight.basket + entries * weight.entry, find_memory_budget()
        if need > budget:
            raise DataError(
                f"{self.source}: {purpose} would hold {rows:,} baskets with {entries:,} items in memory, which takes "
                f"about {format_size(need)}, and {format_size(budget)} are available; {cure}, or set SFUMATO_MEMORY "
                "higher"
            )
        numbers, sizes, ends = (np.zeros(rows, dtype=np.int64) for _ in range(3))
        codes = np.empty(entries, dtype=np.int32)
        row = entry = 0
        for batch in self.iterate("reading baskets"):
            chosen_indices = np.flatnonzero(_count_flagged(batch, needed_mask))
            entry_mask = np.repeat(_flag(chosen_indices, len(batch.offsets) - 1), batch.sizes) & kept_mask[batch.codes]
            many = np.diff(np.concatenate(([0], np.cumsum(entry_mask, dtype=np.int64)))[batch.offsets])[chosen_indices]
            span, entry_count = slice(row, row + len(chosen_indices)), int(many.sum())
            numbers[span], sizes[span], ends[span] = chosen_indices + batch.first, batch.sizes[chosen_indices], many
            codes[entry : entry + entry_count] = batch.codes[entry_mask]
            row, entry = row + len(chosen_indices), entry + entry_count
        offsets = np.concatenate(([0], np.cumsum(ends)))
        return TakenBaskets(_build_baskets(self.items, kept_mask, offsets, codes), numbers, sizes)

    def _count_taken(self, kept_mask: Flags, needed_mask: Flags) -> tuple[int, int]:
        rows = entries = 0
        for batch in self.iterate("counting baskets"):
            basket_mask = _count_flagged(batch, needed_mask) > 0
            rows += int(np.count_nonzero(basket_mask))
            entries += int(_count_flagged(batch, kept_mask)[basket_mask].sum())
        return rows, entries


def _count_flagged(batch: CodedBatch, flags: Flags) -> Ints:
    """How many of the flagged items each basket has."""
    ends = np.concatenate(([0], np.cumsum(flags[batch.codes], dtype=np.int64)))
    return np.diff(ends[batch.offsets])


def _flag(chosen_indices: Ints, count: int) -> Flags:
    flags = np.zeros(count, dtype=np.bool_)
    flags[chosen_indices] = True
    return flags


def _build_baskets(items: Items, kept_mask: Flags, offsets: Ints, codes: Codes) -> Baskets:
    """Baskets under a vocabulary of the kept items."""
    rank = np.cumsum(kept_mask, dtype=np.int32) - np.int32(1)
    for begin in range(0, len(codes), BATCH_BASKETS):
        codes[begin : begin + BATCH_BASKETS] = rank[codes[begin : begin + BATCH_BASKETS]]
    return Baskets(tuple(items[code] for code in np.flatnonzero(kept_mask).tolist()), offsets, codes)


class BasketWriter:
    """Writes baskets as they are read, under codes that follow the first appearance of an item."""

    def __init__(self, scratch: Path, name: str) -> None:
        """Open both files."""
        self._scratch, self._name = scratch, name
        self._raw = BasketFiles(scratch / f"{name}-raw-sizes", scratch / f"{name}-raw-codes")
        self._sizes: IO[bytes] = self._raw.sizes.open("wb")
        self._codes: IO[bytes] = self._raw.codes.open("wb")
        self.rows = 0

    def add(self, sizes: Ints, codes: Codes) -> None:
        """Some more baskets."""
        sizes.astype(np.int32).tofile(self._sizes)
        codes.astype(np.int32, copy=False).tofile(self._codes)
        self.rows += len(sizes)

    def close(self) -> None:
        """Close both files."""
        self._sizes.close()
        self._codes.close()

    def finish(self, values: Sequence[Item], source: str) -> StoredBaskets:
        """The baskets under their vocabulary, each item once; `values` are the items in the order of their codes."""
        self.close()
        items = Baskets(tuple(values), np.array([0, len(values)]), np.arange(len(values), dtype=np.int32)).items
        number_of = {item: number for number, item in enumerate(items)}
        rank = np.array([number_of[_convert_to_stored(value, items)] for value in values], dtype=np.int32)
        raw = StoredBaskets(source, items, np.zeros(0, dtype=np.int64), self.rows, 0, self._raw)
        files = BasketFiles(self._scratch / f"{self._name}-sizes", self._scratch / f"{self._name}-codes")
        counts, smallest = np.zeros(len(items), dtype=np.int64), np.iinfo(np.int32).max
        with files.sizes.open("wb") as sizes, files.codes.open("wb") as codes:
            for batch in raw.iterate("ordering baskets"):
                offsets, sorted_codes = sort_row_codes(batch.offsets, rank[batch.codes], len(items))
                counts += np.bincount(sorted_codes, minlength=len(items))
                many = np.diff(offsets)
                smallest = min(smallest, int(many.min()))
                many.astype(np.int32).tofile(sizes)
                sorted_codes.tofile(codes)
        for path in self._raw:
            path.unlink()
        return StoredBaskets(source, items, counts, self.rows, smallest, files)


def _convert_to_stored(value: Item, items: Items) -> Item:
    return str(value) if items and isinstance(items[0], str) else int(value)
