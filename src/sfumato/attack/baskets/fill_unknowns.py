# SPDX-License-Identifier: MIT
"""Filling unknowns: guess the items that a release marks as unknown.

Against baskets in which items were blocked rather than removed. The rest of a basket predicts what else is in it, and
the unchanged baskets show how well. What leaks is whether someone has the item. After Saygin, Verykios, Clifton,
*Using unknowns to prevent discovery of association rules* (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.attack import Attack, Outcome
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError
from sfumato.progress import report_progress
from sfumato.public.unknown_items import find_unknown_mark, split_unknowns
from sfumato.randomness import Randomness
from sfumato.release import Release


class FillUnknowns(Attack):
    """A competitor reads "milk?" next to bread and butter, and knows what people with bread and butter buy.

    The adversary sees the published baskets and guesses for every unknown item whether it is present. It either
    predicts from the rest of the basket (naive Bayes, trained on the baskets where the item is certain), or always
    answers yes, which is right wherever only present items were blocked, or always no; item by item, the best of the
    three counts. The targets are all unknowns. If the release has none, it is tried on nobody, unless `items` names
    what to ask about in every basket: then the answer is read directly. The risk is the share of correct answers:
    compare it with the baseline, the better of always yes and always no, again of each item.
    Saygin, Verykios, Clifton 2001.
    """

    shape: ClassVar[str] = "baskets"
    public_fields: ClassVar[tuple[str, ...]] = ("guess",)
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["fill_unknowns"] = "fill_unknowns"
    guess: Literal["learned", "present"] = "learned"
    """`learned` predicts from the certain baskets where that is best; `present` assumes that every unknown item is
    present."""
    items: tuple[Item, ...] | None = None
    """The items to ask about if nothing is unknown; by default none."""

    def run(
        self, release: Release, truth: Baskets, control: Baskets | None = None, randomness: Randomness | None = None
    ) -> Outcome:
        """Guess every unknown; count correct guesses."""
        published_baskets: Baskets = release.data
        if len(published_baskets) != len(truth):
            raise DataError(
                f"{len(published_baskets)} published baskets cannot be compared with {len(truth)} originals"
            )
        parts = split_unknowns(published_baskets, find_unknown_mark(release))
        known_baskets, cells = parts.known_items, self._list_unknown_cells(parts.unknown_items)
        answers = [self._answer(known_baskets, cell) for cell in cells]
        right = [_flag_item_holders(truth, cell.item)[cell.rows] for cell in cells]
        yes = sum(int(flags.sum()) for flags in right)
        attempts = sum(len(cell.rows) for cell in cells)
        answers = [self._choose_answer(*pair) for pair in zip(answers, right, strict=True)]
        hits = [answer == true for answer, true in zip(answers, right, strict=True)]
        return Outcome(
            attempts=attempts,
            successes=sum(int(flags.sum()) for flags in hits),
            baseline=sum(max(int(flags.sum()), int((~flags).sum())) for flags in right),
            control=None if control is None else _count_true_in_strangers(cells, answers, control),
            facts={
                "unknowns": sum(len(cell.rows) for cell in cells if cell.unknown),
                "were_there": yes,
                "guessed_there": sum(int(answer.sum()) for answer in answers),
                "items": len(cells),
            },
        )

    def _list_unknown_cells(self, unknown: Baskets) -> list[_UnknownCells]:
        if unknown.codes.size:
            return [
                _UnknownCells(item, np.flatnonzero(_flag_item_holders(unknown, item)), True) for item in unknown.items
            ]
        every = np.arange(len(unknown))
        return [_UnknownCells(item, every, False) for item in self.items or ()]

    def _choose_answer(self, answer: Flags, true: Flags) -> Flags:
        """The prediction, always yes or always no, whichever is right most often."""
        constant = np.ones(len(answer), dtype=bool)
        ways = (answer, constant, ~constant) if self.guess == "learned" else (answer,)
        return max(ways, key=lambda way: int((way == true).sum()))

    def _answer(self, known_baskets: Baskets, cell: _UnknownCells) -> Flags:
        """For each basket asked about, whether it holds the item."""
        report_progress("filling unknowns")
        holder_mask = _flag_item_holders(known_baskets, cell.item)
        if not cell.unknown:
            return np.asarray(holder_mask[cell.rows])
        if self.guess == "present":
            return np.ones(len(cell.rows), dtype=bool)
        return predict_item_presence(known_baskets, cell.item, cell.rows)


@dataclass(frozen=True, eq=False)
class _UnknownCells:
    """The baskets that are asked about one item."""

    item: Item
    rows: Ints
    unknown: bool


def predict_item_presence(known_baskets: Baskets, item: Item, rows: Ints) -> Flags:
    """Predict whether baskets hold an item by naive Bayes over their other items, trained on all other baskets."""
    from scipy.sparse import csr_matrix

    shape = (len(known_baskets), len(known_baskets.items))
    if not shape[1]:
        return np.zeros(len(rows), dtype=bool)
    matrix = csr_matrix((np.ones(known_baskets.codes.size), known_baskets.codes, known_baskets.offsets), shape=shape)
    holder_mask = _flag_item_holders(known_baskets, item)
    certain = np.ones(len(known_baskets), dtype=bool)
    certain[rows] = False
    counts = [
        np.asarray(matrix[group].sum(axis=0)).ravel() for group in (holder_mask & certain, ~holder_mask & certain)
    ]
    sizes = [int((holder_mask & certain).sum()), int((~holder_mask & certain).sum())]
    # One pseudo-basket of each kind, so that no probability is zero.
    shares = [(count + 1) / (size + 2) for count, size in zip(counts, sizes, strict=True)]
    holding_logs = np.log(shares[0] / shares[1])
    lacking = np.log((1 - shares[0]) / (1 - shares[1]))
    own_positions = [position for position, name in enumerate(known_baskets.items) if str(name) == str(item)]
    holding_logs[own_positions], lacking[own_positions] = 0.0, 0.0
    odds: Floats = np.log((sizes[0] + 1) / (sizes[1] + 1)) + lacking.sum() + matrix[rows] @ (holding_logs - lacking)
    return np.asarray(odds > 0)


def _flag_item_holders(baskets: Baskets, item: Item) -> Flags:
    """Which baskets hold an item; `7` and `"7"` are the same."""
    holder_mask = np.zeros(len(baskets), dtype=bool)
    item_codes = [code for code, name in enumerate(baskets.items) if str(name) == str(item)]
    if item_codes:
        holder_mask[np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))[baskets.codes == item_codes[0]]] = True
    return holder_mask


def _count_true_in_strangers(cells: Sequence[_UnknownCells], answers: Sequence[Flags], control: Baskets) -> int:
    """How many of the same answers would be right about other people, basket by basket."""
    hits = 0
    for cell, answer in zip(cells, answers, strict=True):
        inside_mask = cell.rows < len(control)
        hits += int((_flag_item_holders(control, cell.item)[cell.rows[inside_mask]] == answer[inside_mask]).sum())
    return hits
