# SPDX-License-Identifier: MIT
"""Filling unknowns: guess the items that a release marks as unknown.

Against baskets in which items were blocked rather than removed. The rest of a basket predicts what else is in it, and
the unchanged baskets show how well; which baskets were marked shows the rule that was hidden. What leaks is whether
someone has the item. After Saygin, Verykios, Clifton, *Using unknowns to prevent discovery of association rules*
(2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.attack.attack import Attack, Outcome
from sfumato.attack.baskets.marked_baskets import BasketMatrix, guess_by_marks
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError
from sfumato.public.unknown_items import find_unknown_mark, split_unknowns
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.runtime.progress import report_progress


class FillUnknowns(Attack):
    """A competitor reads "milk?" next to bread and butter, and knows what people with bread and butter buy.

    The adversary sees the published baskets and guesses for every unknown item whether it is present. It predicts from
    the rest of the basket (naive Bayes, trained on the baskets where the item is certain); or from which baskets were
    marked: the item was present where the basket holds what marked baskets hold more often than others, which is the
    left side of a hidden rule. Or it always answers yes, which is right wherever only present items were blocked, or
    always no. Item by item, the best way counts. The targets are all unknowns. If the release has none, it is tried on
    nobody, unless `items` names what to ask about in every basket: then the answer is read directly. The risk is the
    share of correct answers: compare it with the baseline, the better of always yes and always no, again of each item.
    Saygin, Verykios, Clifton 2001.
    """

    shape: ClassVar[str] = "baskets"
    public_fields: ClassVar[tuple[str, ...]] = ("guess",)
    private_fields: ClassVar[tuple[str, ...]] = ("items",)

    attack: Literal["fill_unknowns"] = "fill_unknowns"
    guess: Literal["learned", "present"] = "learned"
    """`learned` predicts from the other baskets where that is best; `present` assumes that every unknown item is
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
        right = [_flag_item_holders(truth, cell.item)[cell.rows] for cell in cells]
        yes = sum(int(flags.sum()) for flags in right)
        attempts = sum(len(cell.rows) for cell in cells)
        answers = [
            max(self._list_answers(known_baskets, cell), key=lambda answer: int((answer == true).sum()))
            for cell, true in zip(cells, right, strict=True)
        ]
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

    def _list_answers(self, known_baskets: Baskets, cell: _UnknownCells) -> list[Flags]:
        """For each basket asked about, whether it holds the item, in each of the adversary's ways."""
        report_progress("filling unknowns")
        always = np.ones(len(cell.rows), dtype=bool)
        if not cell.unknown:
            answer = np.asarray(_flag_item_holders(known_baskets, cell.item)[cell.rows])
            return [answer, always, ~always] if self.guess == "learned" else [answer]
        if self.guess == "present":
            return [always]
        guesses = guess_by_marks(_lay_out(known_baskets, cell.item, cell.rows))
        return [predict_item_presence(known_baskets, cell.item, cell.rows), always, ~always, *guesses]


@dataclass(frozen=True, eq=False)
class _UnknownCells:
    """The baskets that are asked about one item."""

    item: Item
    rows: Ints
    unknown: bool


def predict_item_presence(known_baskets: Baskets, item: Item, rows: Ints) -> Flags:
    """Predict whether baskets hold an item by naive Bayes over their other items, trained on all other baskets."""
    baskets = _lay_out(known_baskets, item, rows)
    holders, lackers = (group & ~baskets.is_marked for group in (baskets.shows_item, ~baskets.shows_item))
    odds = np.log((int(holders.sum()) + 1) / (int(lackers.sum()) + 1)) + baskets.score_by_bayes(holders, lackers)
    return np.asarray(odds > 0)


def _lay_out(known_baskets: Baskets, item: Item, rows: Ints) -> BasketMatrix:
    own_positions = [position for position, name in enumerate(known_baskets.items) if str(name) == str(item)]
    return BasketMatrix.of(known_baskets, _flag_item_holders(known_baskets, item), rows, own_positions)


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
