# SPDX-License-Identifier: MIT
"""Draw randomized baskets: which items stay, and which are added, without looking at every absent item.

Items are added to few baskets, so the gaps between the drawn ones are drawn instead: they are geometric. The cost grows
with what is published, not with baskets times items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.public.basket_distortion import BasketDistortion
from sfumato.runtime.progress import report_progress

_AT_ONCE = 2_000_000


class BasketRows(NamedTuple):
    """Baskets under a fixed vocabulary, which may have items that no basket holds."""

    offsets: Ints
    codes: Codes

    def take(self, order: Ints) -> BasketRows:
        """The baskets in another order."""
        sizes = np.diff(self.offsets)[order]
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(self.offsets[order] - (ends - sizes), sizes)
        return BasketRows(np.concatenate([[0], ends]).astype(np.int64), self.codes[places])


def count_expected_items(rows: BasketRows, distortion: BasketDistortion) -> float:
    """How many items will be published, about."""
    return float(len(rows.codes) + (len(rows.offsets) - 1) * distortion.adds.sum())


def distort_baskets(rows: BasketRows, distortion: BasketDistortion, chance: np.random.Generator) -> BasketRows:
    """The randomized baskets, in the same order."""
    count = len(rows.offsets) - 1
    step = max(int(_AT_ONCE / max(count_expected_items(rows, distortion) / count, 1.0)), 1)
    width = len(distortion.categories)
    sizes, codes = [], []
    for begin in range(0, count, step):
        report_progress("randomizing baskets", begin, count)
        end = min(begin + step, count)
        code_slice = slice(int(rows.offsets[begin]), int(rows.offsets[end]))
        held_cells = (
            np.repeat(np.arange(end - begin), np.diff(rows.offsets[begin : end + 1])) * width + rows.codes[code_slice]
        )
        draw = _draw_masked if distortion.kind == "mask" else _draw_cut_and_pasted
        row, code = np.divmod(draw(np.sort(held_cells), end - begin, distortion, chance), width)
        sizes.append(np.bincount(row, minlength=end - begin))
        codes.append(code.astype(np.int32))
    return BasketRows(np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64), np.concatenate(codes))


def _draw_masked(held_cells: Ints, rows: int, distortion: BasketDistortion, chance: np.random.Generator) -> Ints:
    """Each item that a basket holds stays, each other one is added, independently."""
    width, adds = len(distortion.categories), distortion.adds
    kept_cells = held_cells[chance.random(len(held_cells)) < distortion.keeps[held_cells % width]]
    parts = [kept_cells]
    for share in np.unique(adds).tolist():
        alike = np.flatnonzero(adds == share)
        row, index = np.divmod(_scatter(rows * len(alike), share, chance), len(alike))
        added_cells = row * width + alike[index]
        positions = np.minimum(np.searchsorted(held_cells, added_cells), max(len(held_cells) - 1, 0))
        parts.append(added_cells[held_cells[positions] != added_cells] if len(held_cells) else added_cells)
    published_cells: Ints = np.sort(np.concatenate(parts), kind="stable")
    return published_cells


def _draw_cut_and_pasted(
    held_cells: Ints, rows: int, distortion: BasketDistortion, chance: np.random.Generator
) -> Ints:
    """Steps 1 to 3 of cut and paste: how many items of the basket, which of them, and random others."""
    assert distortion.cutoff is not None and distortion.level is not None
    width = len(distortion.categories)
    pasted_counts = chance.integers(0, distortion.cutoff + 1, rows)
    row = held_cells // width
    order = np.lexsort((chance.random(len(held_cells)), row))
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    rank = np.arange(len(held_cells)) - starts[row[order]]
    chosen_cells = held_cells[order][rank < pasted_counts[row[order]]]
    merged_cells = np.concatenate([np.sort(chosen_cells), _scatter(rows * width, distortion.level, chance)])
    merged_cells.sort(kind="stable")  # two sorted runs, which this merges
    return (
        merged_cells[np.concatenate([[True], merged_cells[1:] > merged_cells[:-1]])]
        if len(merged_cells)
        else merged_cells
    )


def _scatter(cells: int, share: float, chance: np.random.Generator) -> Ints:
    """Some of many cells, each drawn independently with the same probability, ascending."""
    parts: list[Ints] = []
    last = -1
    while last < cells - 1:
        many = int((cells - last) * share * 1.02) + 32
        # A gap longer than all cells is as good as any, and their sum does not overflow.
        draws = last + np.cumsum(np.minimum(chance.geometric(share, many), cells + 1))
        parts.append(draws)
        last = int(draws[-1])
    every = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return every[: int(np.searchsorted(every, cells))]
