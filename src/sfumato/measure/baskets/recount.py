# SPDX-License-Identifier: MIT
"""An independent count of itemsets: bit columns of baskets, combined item by item.

It shares no code with :mod:`sfumato.mine`, so that a bug there cannot hide itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Ints, Words
from sfumato.baskets import Baskets, Item
from sfumato.runtime.progress import report_progress

ItemNames = frozenset[str]


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """For each item the baskets that hold it, as bits. Items are compared as text: "7" and 7 are the same."""

    names: tuple[str, ...]
    bits: Words
    count: int
    """The number of baskets."""
    rows: Ints
    """The same data by basket: the items of each."""
    lines: Ints

    @classmethod
    def of(
        cls, baskets: Baskets, wanted_items: Iterable[Item] | None = None, least: int = 0, unknown_mark: str = ""
    ) -> ItemColumns:
        """The wanted items, or all; without those in too few baskets, and without marked ones if a mark is given."""
        supports = np.bincount(baskets.codes, minlength=len(baskets.items))
        names = [str(item) for item in baskets.items]
        wanted_names = set(names) if wanted_items is None else {str(item) for item in wanted_items}
        kept_codes = [
            code
            for code, name in enumerate(names)
            if name in wanted_names and supports[code] >= least and not (unknown_mark and name.endswith(unknown_mark))
        ]
        # Rarest first: the baskets of rare items are few, so later steps are small.
        kept_codes.sort(key=lambda code: (supports[code], code))
        line = np.full(len(names), -1, dtype=np.int64)
        line[kept_codes] = np.arange(len(kept_codes))
        rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        lines = line[baskets.codes] if names else np.zeros(0, dtype=np.int64)
        rows, lines = rows[lines >= 0], lines[lines >= 0]
        bits = np.zeros((len(kept_codes), (len(baskets) + 63) // 64), dtype=np.uint64)
        np.bitwise_or.at(bits, (lines, rows // 64), np.uint64(1) << (rows % 64).astype(np.uint64))
        return cls(tuple(names[code] for code in kept_codes), bits, len(baskets), rows, lines)

    def count_support(self, items: Iterable[Item]) -> int:
        """How many baskets hold all of some items."""
        lines = [self.names.index(name) if name in self.names else -1 for name in {str(item) for item in items}]
        if -1 in lines:
            return 0
        return self.count if not lines else count_ones(np.bitwise_and.reduce(self.bits[lines], axis=0))


@dataclass(frozen=True)
class CountedItemset:
    """An itemset, and how many baskets hold it."""

    lines: tuple[int, ...]
    support: int
    left_support: int
    """How many baskets hold it if those without the item `among` count as well."""


def count_ones(bits: Words) -> int:
    """How many bits are set."""
    return int(np.bitwise_count(bits).sum(dtype=np.int64))


def list_frequent_itemsets(
    columns: ItemColumns, least: int, required_line: int | None = None
) -> Iterator[CountedItemset]:
    """Every itemset held by at least `least` baskets; if `required_line` is given, of those that hold this item."""
    if len(columns.names) <= _MANY:
        yield from _recount_depth_first(columns.bits, least, required_line)
    else:
        yield from _recount_by_first_item(columns, least, required_line)


class _OpenItemset(NamedTuple):
    """An itemset that may be extended."""

    itemset: CountedItemset
    bits: Words
    """The baskets that hold it."""
    lines: Ints
    """The later items to try."""


def _extend_itemset(
    columns: Words, prefix: tuple[int, ...], bits: Words | None, lines: Ints, mask: Words | None, least: int
) -> Iterator[_OpenItemset]:
    """Extend an itemset by each later item with which it stays frequent."""
    joint_bits = columns[lines] if bits is None else columns[lines] & bits
    lefts = np.bitwise_count(joint_bits).sum(axis=1, dtype=np.int64)
    supports = lefts if mask is None else np.bitwise_count(joint_bits & mask).sum(axis=1, dtype=np.int64)
    frequent_indices = np.flatnonzero(supports >= least)
    for number, index in enumerate(frequent_indices.tolist()):
        itemset = CountedItemset((*prefix, int(lines[index])), int(supports[index]), int(lefts[index]))
        yield _OpenItemset(itemset, joint_bits[index], lines[frequent_indices[number + 1 :]])


_MANY = 128


def _recount_by_first_item(columns: ItemColumns, least: int, required_line: int | None) -> Iterator[CountedItemset]:
    """For many items: keep those frequent with the first, and combine only baskets of the first."""
    from scipy.sparse import csr_matrix

    shape = (columns.count, len(columns.names))
    by_basket = csr_matrix((np.ones(len(columns.rows), dtype=np.int8), (columns.rows, columns.lines)), shape=shape)
    by_item = by_basket.T.tocsr()
    basket_mask = np.ones(columns.count, dtype=bool)
    if required_line is not None:
        basket_mask[:] = False
        basket_mask[by_item.indices[by_item.indptr[required_line] : by_item.indptr[required_line + 1]]] = True
    for line in range(len(columns.names)):
        report_progress("counting itemsets again", line, len(columns.names))
        rows = by_item.indices[by_item.indptr[line] : by_item.indptr[line + 1]]
        support = int(basket_mask[rows].sum())
        if line == required_line or support < least:
            continue
        yield CountedItemset((line,), support, len(rows))
        joint_supports = np.bincount(by_basket[rows[basket_mask[rows]]].indices, minlength=len(columns.names))
        later_lines = np.flatnonzero(joint_supports >= least)
        later_lines = later_lines[
            (later_lines > line) & (later_lines != (-1 if required_line is None else required_line))
        ]
        if len(later_lines):
            bits = np.vstack(
                (_pack_flags(by_basket[rows][:, later_lines].toarray().T), _pack_flags(basket_mask[rows][None]))
            )
            for itemset in _recount_depth_first(bits, least, len(later_lines)):
                yield CountedItemset(
                    (line, *later_lines[list(itemset.lines)].tolist()), itemset.support, itemset.left_support
                )


def _pack_flags(flags: npt.NDArray[np.generic]) -> Words:
    packed_bytes = np.packbits(flags.astype(bool), axis=1, bitorder="little")
    return np.ascontiguousarray(np.pad(packed_bytes, ((0, 0), (0, -packed_bytes.shape[1] % 8)))).view(np.uint64)


def _recount_depth_first(columns: Words, least: int, required_line: int | None) -> Iterator[CountedItemset]:
    """Depth first, each itemset with every later item at once."""
    mask = None if required_line is None else columns[required_line]
    lines = np.array([line for line in range(len(columns)) if line != required_line], dtype=np.int64)
    stack = list(_extend_itemset(columns, (), None, lines, mask, least))[::-1]
    while stack:
        itemset, bits, rest = stack.pop()
        report_progress("counting itemsets again")
        yield itemset
        if len(rest):
            stack.extend(list(_extend_itemset(columns, itemset.lines, bits, rest, mask, least))[::-1])


def recount_itemsets(baskets: Baskets, least: int, unknown_mark: str = "") -> dict[ItemNames, int]:
    """Every frequent itemset, by the names of its items, with its support."""
    columns = ItemColumns.of(baskets, least=least, unknown_mark=unknown_mark)
    return {name_itemset(columns, itemset.lines): itemset.support for itemset in list_frequent_itemsets(columns, least)}


def name_itemset(columns: ItemColumns, lines: Sequence[int]) -> ItemNames:
    """The names of some items."""
    return frozenset(columns.names[line] for line in lines)
