# SPDX-License-Identifier: MIT
"""Patterns: itemsets and how many baskets hold each, without the baskets themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sfumato.arrays import Codes, Flags, Ints
from sfumato.baskets import Baskets, Item, Items
from sfumato.data.reading.arrow_memory import copy_numbers
from sfumato.errors import DataError, PolicyError, count_noun

Sets = pl.DataFrame | Mapping[Any, int] | Iterable[tuple[Iterable[Item], int]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Patterns:
    """Itemsets with their supports, and the number of baskets they were counted in.

    Every object has one normal form: the vocabulary is sorted and has no unused item, the codes of a set ascend, and
    sets are sorted by length, then by items. The empty set is not among them: `baskets` is its support. The arrays are
    read-only.
    """

    items: Items
    """The vocabulary: all integers (of 64 bits) or all text."""
    offsets: Ints
    """Set i holds ``codes[offsets[i]:offsets[i + 1]]``."""
    codes: Codes
    """Indices into ``items``."""
    supports: Ints
    """How many baskets hold each set."""
    baskets: int
    """How many baskets there are."""
    complete_from: int | None = None
    """The support from which the collection is complete; None if sets are withheld or it is unknown."""

    def __post_init__(self) -> None:
        """Check the arrays and bring them into the normal form."""
        sets = Baskets(self.items, self.offsets, self.codes)
        supports = np.array(self.supports, dtype=np.int64)
        _check_numbers(len(sets), supports, self.baskets, self.complete_from)
        lengths = np.diff(sets.offsets)
        order = _order_sets(sets, lengths)
        ends = np.cumsum(lengths[order], dtype=np.int64)
        # The position of each member in the codes before sorting.
        members = np.repeat(sets.offsets[order] - (ends - lengths[order]), lengths[order]) + np.arange(sets.codes.size)
        fields = {
            "items": sets.items,
            "offsets": np.concatenate(([0], ends)).astype(np.int64),
            "codes": sets.codes[members],
            "supports": supports[order],
        }
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, sets: Sets, baskets: int, complete_from: int | None = None) -> Patterns:
        """Build from a frame of `items` and `support`, a mapping from sets to supports, or pairs of both."""
        if isinstance(sets, pl.DataFrame):
            if not {"items", "support"} <= set(sets.columns):
                raise DataError('patterns are made from the columns "items" and "support"; rename those of the frame')
            lists, supports = sets["items"].to_list(), sets["support"].to_list()
        else:
            pairs = list(sets.items() if isinstance(sets, Mapping) else sets)
            lists, supports = [itemset for itemset, _ in pairs], [support for _, support in pairs]
        wrong = sum(isinstance(support, bool) or not isinstance(support, int | np.integer) for support in supports)
        if wrong:
            raise DataError(f"{wrong} of {len(supports)} supports are not whole numbers; give counts of baskets")
        as_baskets = Baskets.of(lists)
        return cls(
            as_baskets.items, as_baskets.offsets, as_baskets.codes, np.array(supports, np.int64), baskets, complete_from
        )

    @classmethod
    def read(cls, path: str | PathLike[str], baskets: int | None = None) -> Patterns:
        """Read a file in SPMF's form (:mod:`sfumato.data.items.pattern_files`); ours state the number of baskets."""
        from sfumato.data.items.pattern_files import read_pattern_arrays

        arrays = read_pattern_arrays(Path(path))
        if baskets is None and arrays.baskets is None:
            raise DataError(f"{path}: the file does not state the number of baskets; give `baskets`")
        total = arrays.baskets if baskets is None else baskets
        return cls(tuple(arrays.items), arrays.offsets, arrays.codes, arrays.supports, total or 0, arrays.complete_from)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the whole file in SPMF's form, or nothing."""
        from sfumato.data.items.pattern_files import PatternArrays, write_pattern_arrays

        arrays = PatternArrays(self.items, self.offsets, self.codes, self.supports, self.baskets, self.complete_from)
        write_pattern_arrays(Path(path), arrays)

    @property
    def frame(self) -> pl.DataFrame:
        """The sets as a frame: `items` (a sorted list) and `support`."""
        kind = pa.string() if self.items and isinstance(self.items[0], str) else pa.int64()
        members = pa.array(self.items, type=kind).take(copy_numbers(self.codes))
        lists = pa.LargeListArray.from_arrays(copy_numbers(self.offsets), members)
        return pl.DataFrame({"items": pl.Series(pl.from_arrow(lists)), "support": self.supports.copy()})

    def to_lists(self) -> list[tuple[list[Item], int]]:
        """Every set as a sorted list, and its support."""
        return list(zip(self.frame["items"].to_list(), self.supports.tolist(), strict=True))

    def take(self, rows: npt.NDArray[np.integer] | Flags) -> Patterns:
        """Some of the sets; the collection is then no longer complete."""
        set_indices = np.arange(len(self))[rows]
        lengths = np.diff(self.offsets)[set_indices]
        ends = np.cumsum(lengths, dtype=np.int64)
        members = np.repeat(self.offsets[set_indices] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
        offsets = np.concatenate(([0], ends)).astype(np.int64)
        return Patterns(self.items, offsets, self.codes[members], self.supports[set_indices], self.baskets)

    def __len__(self) -> int:
        """How many sets there are."""
        return self.supports.size

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same sets with the same supports, counted in as many baskets."""
        if not isinstance(other, Patterns):
            return NotImplemented
        return (
            self.items == other.items
            and self.baskets == other.baskets
            and self.complete_from == other.complete_from
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.supports, other.supports)
        )

    def __hash__(self) -> int:
        """Equal patterns have equal hashes."""
        return hash((self.items, self.baskets, len(self), int(self.supports.sum())))

    def __reduce__(self) -> tuple[type[Patterns], tuple[object, ...]]:
        """Copies are rebuilt, so that their arrays are read-only too."""
        return Patterns, (self.items, self.offsets, self.codes, self.supports, self.baskets, self.complete_from)

    def __repr__(self) -> str:
        """Counts only: an item may name a person."""
        return f"Patterns({len(self):,} itemsets of {len(self.items):,} items in {self.baskets:,} baskets)"


def _check_numbers(count: int, supports: Ints, baskets: int, complete_from: int | None) -> None:
    if isinstance(baskets, bool) or not isinstance(baskets, int) or baskets < 0:
        raise PolicyError("the number of baskets is a whole number, 0 or more")
    if complete_from is not None and (not isinstance(complete_from, int) or complete_from < 1):
        raise PolicyError("complete_from is a support: a whole number of baskets, 1 or more")
    if supports.ndim != 1 or supports.size != count:
        raise DataError(f"{count_noun(supports.size, 'support')} for {count_noun(count, 'itemset')}; give one for each")
    wrong = int(((supports < 0) | (supports > baskets)).sum())
    if wrong:
        raise DataError(f"{wrong} of {count} supports are below 0 or above {baskets}, the number of baskets")


def _order_sets(sets: Baskets, lengths: Ints) -> Ints:
    """By length, then by items; an empty or repeated set is refused."""
    if (lengths == 0).any():
        raise DataError(
            f"{count_noun(int((lengths == 0).sum()), 'itemset is', 'itemsets are')} empty; remove such ones, since the "
            "number of baskets is their support"
        )
    padded_codes = np.full((len(sets), int(lengths.max(initial=0))), -1, dtype=np.int32)
    padded_codes[np.arange(padded_codes.shape[1]) < lengths[:, None]] = sets.codes
    order = np.lexsort((*padded_codes.T[::-1], lengths)) if len(sets) else np.zeros(0, dtype=np.int64)
    repeat_count = int((np.diff(padded_codes[order], axis=0) == 0).all(axis=1).sum()) if len(sets) else 0
    if repeat_count:
        raise DataError(f"{count_noun(repeat_count, 'itemset is', 'itemsets are')} repeated; give each one support")
    return order
