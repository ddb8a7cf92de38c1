# SPDX-License-Identifier: MIT
"""The secret that most matching rows have: the guess that is right for most of them.

Of labels that cover several values, one would be drawn, so its vote has less weight. A number is right for all
rows whose number it is close to. Prefer any other value over "not known".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.attack.anonymity.links import Links
from sfumato.attack.anonymity.row_search import RowSearch, expand_ranges
from sfumato.attack.candidates import CandidateSets
from sfumato.attack.row_distance import LabelColumn
from sfumato.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class SecretVotes:
    """The published secrets, ready to be counted among some rows."""

    secrets: LabelColumn
    tolerance: float | None
    """How far a guessed number may be from the right one, as a share of it; None if secrets are not numbers."""

    def choose_blindly(self) -> int:
        """The best guess for everybody alike."""
        labels, counts = np.unique(self.secrets.codes, return_counts=True)
        return int(self._elect(np.zeros(len(labels), dtype=np.int64), labels, counts, 1)[0])

    def choose(self, search: RowSearch, people: Table, neighbours: int) -> Ints:
        """For each person the best guess by the nearest rows, and all that are as near as the last of them."""
        persons, classes = search.list_nearest_classes(people, neighbours)
        width = len(self.secrets.texts)
        keys, times = np.unique(search.class_of_row * width + self.secrets.codes, return_counts=True)
        first = np.searchsorted(keys, np.arange(search.classes.height + 1) * width)
        lengths = np.diff(first)[classes]
        pairs = expand_ranges(first[classes], lengths)
        votes = np.repeat(persons, lengths) * width + keys[pairs] % width
        distinct, vote_index = np.unique(votes, return_inverse=True)
        counts = np.bincount(vote_index, weights=times[pairs])
        return self._elect(distinct // width, distinct % width, counts, len(people))

    def choose_among(self, links: Links, *, prefer_rare: bool) -> Ints:
        """For each person the best guess by all rows that fit, however near; the best blind guess where none does.

        Ties go to the commoner secret or to the rarer one: the better of both is right as often as a toss of coins.
        """
        sets = CandidateSets.of(links)
        guesses = np.full(len(links.counts), self.choose_blindly())
        for number, members in enumerate(_list_members(sets)):
            row_lists = [order[start[number] : start[number] + count[number]] for order, start, count in sets.parts]
            labels, counts = np.unique(self.secrets.codes[np.concatenate(row_lists)], return_counts=True)
            guesses[members] = self._elect(
                np.zeros(len(labels), dtype=np.int64), labels, counts, 1, prefer_rare=prefer_rare
            )[0]
        return guesses

    def _elect(
        self, persons: Ints, labels: Ints, counts: Floats | Ints, people: int, *, prefer_rare: bool = False
    ) -> Ints:
        """The label of each person that is right for the most rows; of several the commoner one in the release, or the
        rarer one."""
        scores = counts / self.secrets.sizes[labels]
        if self.tolerance is not None:
            scores = self._count_close_rows(persons, labels, counts, scores)
        scores[self.secrets.texts.is_null().to_numpy()[labels]] = 0.0
        sign = -1 if prefer_rare else 1
        order = np.lexsort((sign * labels, -sign * self._totals[labels], -scores, persons))
        first = np.searchsorted(persons[order], np.arange(people))
        return np.asarray(labels[order][first])

    @cached_property
    def _totals(self) -> Ints:
        """How many rows have each label."""
        return np.bincount(self.secrets.codes, minlength=len(self.secrets.texts))

    def _count_close_rows(self, persons: Ints, labels: Ints, counts: Floats | Ints, otherwise: Floats) -> Floats:
        """For each person and number, the rows of that person whose number it would be right for."""
        numbers = ((self.secrets.low + self.secrets.high) / 2)[labels]
        reach = (self.tolerance or 0.0) * np.abs(numbers) * (1 + 1e-9)
        close = otherwise.copy()
        bounds = np.searchsorted(persons, np.arange(int(persons.max(initial=-1)) + 2))
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            finite_indices = begin + np.flatnonzero(np.isfinite(numbers[begin:end]))
            if len(finite_indices) < 2:
                continue
            opened_weights = _sum_up_to(
                (numbers - reach)[finite_indices], counts[finite_indices], numbers[finite_indices], "right"
            )
            close[finite_indices] = opened_weights - _sum_up_to(
                (numbers + reach)[finite_indices], counts[finite_indices], numbers[finite_indices], "left"
            )
        return close


def _list_members(sets: CandidateSets) -> list[Ints]:
    """The people of each set of rows."""
    order = np.argsort(sets.of_person, kind="stable")
    return np.split(order, np.searchsorted(sets.of_person[order], np.arange(len(sets.sizes) + 1)))[1:-1]


def _sum_up_to(points: Floats, weights: Floats | Ints, limits: Floats, side: Literal["left", "right"]) -> Floats:
    """The weight of the points up to each limit; those at the limit only on the right side."""
    order = np.argsort(points, kind="stable")
    weight_sums = np.concatenate([[0.0], np.cumsum(weights[order], dtype=np.float64)])
    return np.asarray(weight_sums[np.searchsorted(points[order], limits, side)])
