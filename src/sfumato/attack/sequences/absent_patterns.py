# SPDX-License-Identifier: MIT
"""Which patterns someone hid entirely: those that occur nowhere, although all that they consist of is common.

For a threshold of 0, whether marks show or not. A method that deletes every match of a pattern leaves a hole: two items
that many people pass, and never in this order. What is common and should have met is suspect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, FloatGrid, Floats
from sfumato.attack.sequences.named_patterns import NamedPattern, Ranking, TiedPatterns
from sfumato.attack.sequences.secret_patterns import mine_named
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

_OTHER_ITEMS = "\0"
"""Stands for any item that is not combined; no item has this name."""
_PAIRED_ITEMS, _CHAINED_ITEMS, _SUSPECTS = 200, 40, 400
"""Limits: items combined into pairs and triples, and patterns suspected."""


def rank_absent(
    published_sequences: Sequences,
    longest: int,
    max_gap: int | None = None,
    window: int | None = None,
    mark: str = MARK,
) -> list[Ranking]:
    """Rankings of patterns of two and of three items that occur nowhere within the limits, the most suspect first."""
    holders = {name: count for ((name,),), count in mine_named(published_sequences, 1, 1, mark=mark).items()}
    names = sorted(holders, key=lambda name: (-holders[name], name))
    if longest < 2 or not names or not (published_sequences.flat or len(names) <= _PAIRED_ITEMS):
        return []
    pairs = _VisitPairCounts.of(_MinedItems.of(published_sequences, names[:_PAIRED_ITEMS], mark), max_gap, window)
    shares = np.array([holders[name] for name in names], dtype=np.float64) / len(published_sequences)
    rankings = [*_rank_pairs(pairs, shares)]
    if longest > 2:
        chained_names = names[:_CHAINED_ITEMS]
        chains = _flag_chains(_MinedItems.of(published_sequences, chained_names, mark), max_gap, window)
        rankings += _rank_chains(
            chained_names, chains, pairs.ordered_counts[: len(chained_names), : len(chained_names)], shares
        )
    return [ranking for ranking in rankings if ranking]


class _VisitPairCounts(NamedTuple):
    """In how many sequences there are pairs of some items: items × items."""

    names: list[str]
    ordered_counts: FloatGrid
    """One after the other."""
    joined_counts: FloatGrid
    """Both in one element."""
    has_elements: bool
    """Whether any element has several items."""

    @classmethod
    def of(cls, mined_items: _MinedItems, max_gap: int | None, window: int | None) -> _VisitPairCounts:
        names = mined_items.names
        number = {name: index for index, name in enumerate(names)}
        ordered_counts, joined_counts = (np.zeros((len(names), len(names))) for _ in range(2))
        for pattern, count in mined_items.mine(2, max_gap, window).items():
            places = [number[name] for element in pattern for name in element]
            if len(pattern) == 2:
                ordered_counts[places[0], places[1]] = count
            elif len(places) == 2:
                joined_counts[places[0], places[1]] = joined_counts[places[1], places[0]] = count
        return cls(names, ordered_counts, joined_counts, not mined_items.sequences.flat)


def _rank_pairs(pairs: _VisitPairCounts, shares: Floats) -> Iterator[Ranking]:
    """By chance; by chance, without an item twice; by the other order; and by what lies between the two."""
    names, ordered_counts = pairs.names, pairs.ordered_counts
    chance = np.outer(shares[: len(names)], shares[: len(names)])
    between_scores = np.array([np.minimum(row[:, None], ordered_counts).sum(axis=0) for row in ordered_counts])
    off_diagonal = ~np.eye(len(names), dtype=np.bool_)
    for score in (
        chance,
        chance * off_diagonal,
        ordered_counts.T * off_diagonal,
        between_scores,
        between_scores * off_diagonal,
    ):
        yield _rank_highest(score, ordered_counts == 0, lambda places: tuple((names[index],) for index in places))
    if pairs.has_elements:
        upper_triangle = np.triu(np.ones_like(off_diagonal), 1) > 0
        yield _rank_highest(
            chance * upper_triangle,
            pairs.joined_counts == 0,
            lambda places: (tuple(sorted(names[index] for index in places)),),
        )


def _flag_chains(mined_items: _MinedItems, max_gap: int | None, window: int | None) -> Flags:
    """Which patterns of three of some items, one after another, occur: items × items × items."""
    number = {name: index for index, name in enumerate(mined_items.names)}
    occurs = np.zeros((len(number),) * 3, dtype=np.bool_)
    for pattern in mined_items.mine(3, max_gap, window):
        if len(pattern) == 3:
            occurs[tuple(number[name] for (name,) in pattern)] = True
    return occurs


def _rank_chains(names: list[str], occurs: Flags, ordered_counts: FloatGrid, shares: Floats) -> Iterator[Ranking]:
    """Of those whose pairs all occur: by how often the pairs would meet, by the rarest pair, and by chance."""
    common = shares[: len(names)]
    first, second, outer_counts = ordered_counts[:, :, None], ordered_counts[None, :, :], ordered_counts[:, None, :]
    possible = ~occurs & (first > 0) & (second > 0) & (outer_counts > 0)
    for score in (
        first * second / common[None, :, None],
        np.minimum(np.minimum(first, second), outer_counts),
        common[:, None, None] * common[None, :, None] * common[None, None, :],
    ):
        yield _rank_highest(score, possible, lambda places: tuple((names[index],) for index in places))


def _rank_highest(
    scores: Floats | FloatGrid, possible: Flags, name: Callable[[tuple[int, ...]], NamedPattern]
) -> Ranking:
    """The patterns of the highest scores above 0, of those that are possible; no tie is cut."""
    places = np.argwhere(possible & (scores > 0))
    if not len(places):
        return []
    logarithms = np.round(np.log(scores[tuple(places.T)]), 9)  # the order of factors does not matter
    order = np.argsort(-logarithms, kind="stable")
    order = order[logarithms[order] >= logarithms[order[min(_SUSPECTS, order.size) - 1]]]
    patterns = [name(tuple(indices)) for indices in places[order].tolist()]
    starts = np.flatnonzero(np.diff(logarithms[order], prepend=np.inf)).tolist()
    return [TiedPatterns(patterns[start:stop], stop - start) for start, stop in pairwise([*starts, len(patterns)])]


class _MinedItems(NamedTuple):
    """Sequences, and those of their items that are combined to patterns."""

    sequences: Sequences
    names: list[str]
    mark: str
    """What stands for any other item; empty if nothing does."""

    @classmethod
    def of(cls, published_sequences: Sequences, names: list[str], mark: str) -> _MinedItems:
        """In sequences of single items one mark stands for all others: distances stay, and less is mined."""
        is_kept = np.array([str(item) in set(names) for item in published_sequences.items], dtype=np.bool_)
        if is_kept.all() or not published_sequences.flat:
            return cls(published_sequences, names, mark)
        other_mark = mark or _OTHER_ITEMS
        items = (
            *(item for item, is_item_kept in zip(published_sequences.items, is_kept, strict=True) if is_item_kept),
            other_mark,
        )
        codes = np.where(is_kept, np.cumsum(is_kept) - 1, len(items) - 1).astype(np.int32)
        blurred_sequences = Sequences(
            items, published_sequences.offsets, published_sequences.element_offsets, codes[published_sequences.codes]
        )
        return cls(blurred_sequences, names, other_mark)

    def mine(self, longest: int, max_gap: int | None, window: int | None) -> dict[NamedPattern, int]:
        """All patterns of the items, and how many sequences hold each."""
        return mine_named(self.sequences, 1, longest, max_gap, window, mark=self.mark)
