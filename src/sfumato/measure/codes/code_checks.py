# SPDX-License-Identifier: MIT
"""Check from the baskets alone whether encoded baskets can be mined exactly, without key or encoding code.

An item can be recovered if some codes occur together in its baskets and nowhere else. That is so if and only if it
holds for *all* codes that its baskets have in common, so no mapping is needed to check it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets
from sfumato.errors import DataError
from sfumato.measure.checks import checks_claim
from sfumato.runtime.progress import report_progress


def count_shared_supports(published_baskets: Baskets) -> int:
    """The smallest number of codes that share a support; 0 without codes."""
    supports = Counter(np.bincount(published_baskets.codes, minlength=len(published_baskets.items)).tolist())
    return min(supports.values(), default=0)


def count_named_items(published_baskets: Baskets, original: Baskets) -> int:
    """How many items of the originals are published under their names."""
    return len({str(item) for item in published_baskets.items} & {str(item) for item in original.items})


def count_strange_bits(published_baskets: Baskets, bits: int) -> int:
    """How many published items are not the number of a bit below `bits`."""
    return sum(not (isinstance(item, int) and 0 <= item < bits) for item in published_baskets.items)


def count_unfiltered_items(
    published_baskets: Baskets, original: Baskets, rows: Sequence[int] | Ints | None = None
) -> int:
    """How many items have no code that all of their baskets hold: sets with them could be missed."""
    return sum(
        not common.size for _, common in _list_common_codes(original, PublishedCodes(published_baskets, original, rows))
    )


def count_unrecoverable_items(
    published_baskets: Baskets, original: Baskets, rows: Sequence[int] | Ints | None = None
) -> int:
    """How many items have baskets that no set of codes identifies exactly.

    `rows` maps each published basket to its original, −1 for fake baskets, which are left out.
    """
    codes = PublishedCodes(published_baskets, original, rows)
    return sum(
        not common.size or codes.count_holding(common) != many for many, common in _list_common_codes(original, codes)
    )


checks_claim("named_items", "exactly", needs_original=True)(
    lambda evidence, _: count_named_items(evidence.published_data, evidence.original)
)
checks_claim("shared_support", "at_least")(lambda evidence, _: count_shared_supports(evidence.published_data))
checks_claim("strange_bits", "exactly", arguments=("bits",))(
    lambda evidence, arguments: count_strange_bits(evidence.published_data, int(arguments["bits"]))
)
checks_claim("unfiltered_items", "exactly", needs_original=True)(
    lambda evidence, _: count_unfiltered_items(evidence.published_data, evidence.original, evidence.rows)
)
checks_claim("unrecoverable_items", "exactly", needs_original=True)(
    lambda evidence, _: count_unrecoverable_items(evidence.published_data, evidence.original, evidence.rows)
)


class PublishedCodes:
    """Published baskets in the order of the originals, by row and by code."""

    def __init__(self, published_baskets: Baskets, original: Baskets, rows: Sequence[int] | Ints | None) -> None:
        """`rows` maps each published basket to its original, −1 for fake ones; each original is published once."""
        row_numbers = np.arange(len(published_baskets)) if rows is None else np.asarray(rows, dtype=np.int64)
        if len(row_numbers) != len(published_baskets):
            raise DataError(f"{len(published_baskets)} baskets are published, but `rows` has {len(row_numbers)}")
        if not np.array_equal(np.sort(row_numbers[row_numbers >= 0]), np.arange(len(original))):
            raise DataError(f"each of the {len(original)} original baskets must be published exactly once")
        self.count, self.width = len(original), len(published_baskets.items)
        row = np.repeat(row_numbers, np.diff(published_baskets.offsets))
        codes = published_baskets.codes[row >= 0].astype(np.int64)
        row = row[row >= 0]
        order = np.argsort(row, kind="stable")
        self.codes = codes[order]
        self.starts = _compute_group_starts(row, self.count)
        self.by_code = row[np.argsort(codes, kind="stable")]
        self.code_starts = _compute_group_starts(codes, self.width)

    def list_cells(self) -> Ints:
        """A number for each published code of an original basket: that of the basket times the width, plus the code."""
        return np.repeat(np.arange(self.count), np.diff(self.starts)) * self.width + self.codes

    def concatenate_rows(self, rows: Ints) -> Ints:
        """The codes of some baskets, concatenated."""
        return self.codes[_list_range_numbers(self.starts[rows], self.starts[rows + 1])]

    def count_holding(self, codes: Ints) -> int:
        """How many baskets hold all of these codes."""
        sizes = self.code_starts[codes + 1] - self.code_starts[codes]
        rarest = codes[int(sizes.argmin())]
        rows = self.by_code[self.code_starts[rarest] : self.code_starts[rarest + 1]]
        code_flags = np.zeros(self.width, dtype=np.int64)
        code_flags[codes] = 1
        marks = np.concatenate(([0], np.cumsum(code_flags[self.concatenate_rows(rows)])))
        ends = np.cumsum(self.starts[rows + 1] - self.starts[rows])
        held_counts = np.diff(marks[np.concatenate(([0], ends))])
        return int((held_counts == len(codes)).sum())


def _list_common_codes(original: Baskets, published_codes: PublishedCodes) -> Iterator[tuple[int, Ints]]:
    """For each original item the number of its baskets, and the codes that all of these have in common."""
    row = np.repeat(np.arange(len(original)), np.diff(original.offsets))
    by_item = row[np.argsort(original.codes, kind="stable")]
    starts = _compute_group_starts(original.codes.astype(np.int64), len(original.items))
    for item in range(len(original.items)):
        if item % 256 == 0:
            report_progress("comparing columns", item, len(original.items))
        rows = by_item[starts[item] : starts[item + 1]]
        codes, counts = np.unique(published_codes.concatenate_rows(rows), return_counts=True)
        yield len(rows), codes[counts == len(rows)]


def _compute_group_starts(places: Ints, count: int) -> Ints:
    return np.concatenate(([0], np.cumsum(np.bincount(places, minlength=count)))).astype(np.int64)


def _list_range_numbers(starts: Ints, stops: Ints) -> Ints:
    """The numbers of several ranges, concatenated."""
    sizes = stops - starts
    shifts = np.repeat(starts - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return np.asarray(shifts + np.arange(int(sizes.sum())))
