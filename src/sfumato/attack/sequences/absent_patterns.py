# SPDX-License-Identifier: MIT
"""Which patterns someone hid entirely: those that occur nowhere, although all that they consist of is common.

For a threshold of 0, whether marks show or not. A method that deletes every match of a pattern leaves a hole: two items
that many people pass, and never in this order. What is common and should have met is suspect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, FloatGrid, Floats
from sfumato.attack.sequences.secret_patterns import NamedPattern, mine_named
from sfumato.public.marked_items import MARK
from sfumato.sequences import Sequences

_PAIRED_ITEMS, _CHAINED_ITEMS, _SUSPECTS = 200, 40, 400
"""Limits: items combined into pairs and triples, and patterns suspected."""


def rank_absent(
    published_sequences: Sequences, longest: int, max_gap: int | None = None, window: int | None = None
) -> list[list[NamedPattern]]:
    """Rankings of patterns of two and of three items that occur nowhere within the limits, the most suspect first."""
    holders = {name: count for ((name,),), count in mine_named(published_sequences, 1, 1, None, None).items()}
    names = sorted(holders, key=lambda name: (-holders[name], name))
    if longest < 2 or not names or not (published_sequences.flat or len(names) <= _PAIRED_ITEMS):
        return []
    pairs = _PairCounts.of(published_sequences, names[:_PAIRED_ITEMS], max_gap, window)
    shares = np.array([holders[name] for name in names], dtype=np.float64) / len(published_sequences)
    rankings = [*_rank_pairs(pairs, shares)]
    if longest > 2:
        chained_names = names[:_CHAINED_ITEMS]
        chains = _flag_chains(published_sequences, chained_names, max_gap, window)
        rankings += _rank_chains(
            chained_names, chains, pairs.ordered_counts[: len(chained_names), : len(chained_names)], shares
        )
    return [ranking for ranking in rankings if ranking]


class _PairCounts(NamedTuple):
    """In how many sequences there are pairs of some items: items × items."""

    names: list[str]
    ordered_counts: FloatGrid
    """One after the other."""
    joined_counts: FloatGrid
    """Both in one element."""
    has_elements: bool
    """Whether any element has several items."""

    @classmethod
    def of(
        cls, published_sequences: Sequences, names: list[str], max_gap: int | None, window: int | None
    ) -> _PairCounts:
        number = {name: index for index, name in enumerate(names)}
        ordered_counts, joined_counts = (np.zeros((len(names), len(names))) for _ in range(2))
        for pattern, count in mine_named(_blur_others(published_sequences, names), 1, 2, max_gap, window).items():
            places = [number[name] for element in pattern for name in element]
            if len(pattern) == 2:
                ordered_counts[places[0], places[1]] = count
            elif len(places) == 2:
                joined_counts[places[0], places[1]] = joined_counts[places[1], places[0]] = count
        return cls(names, ordered_counts, joined_counts, not published_sequences.flat)


def _rank_pairs(pairs: _PairCounts, shares: Floats) -> Iterator[list[NamedPattern]]:
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
        yield [((names[i],), (names[j],)) for i, j in _list_highest(score, ordered_counts == 0)]
    if pairs.has_elements:
        upper_triangle = np.triu(np.ones_like(off_diagonal), 1) > 0
        joint_pairs = [(i, j) for i, j in _list_highest(chance * upper_triangle, pairs.joined_counts == 0)]
        yield [(tuple(sorted((names[i], names[j]))),) for i, j in joint_pairs]


def _flag_chains(published_sequences: Sequences, names: list[str], max_gap: int | None, window: int | None) -> Flags:
    """Which patterns of three of some items, one after another, occur: items × items × items."""
    number = {name: index for index, name in enumerate(names)}
    occurs = np.zeros((len(names),) * 3, dtype=np.bool_)
    for pattern in mine_named(_blur_others(published_sequences, names), 1, 3, max_gap, window):
        if len(pattern) == 3:
            occurs[tuple(number[name] for (name,) in pattern)] = True
    return occurs


def _rank_chains(
    names: list[str], occurs: Flags, ordered_counts: FloatGrid, shares: Floats
) -> Iterator[list[NamedPattern]]:
    """Of those whose pairs all occur: by how often the pairs would meet, by the rarest pair, and by chance."""
    common = shares[: len(names)]
    first, second, outer_counts = ordered_counts[:, :, None], ordered_counts[None, :, :], ordered_counts[:, None, :]
    possible = ~occurs & (first > 0) & (second > 0) & (outer_counts > 0)
    for score in (
        first * second / common[None, :, None],
        np.minimum(np.minimum(first, second), outer_counts),
        common[:, None, None] * common[None, :, None] * common[None, None, :],
    ):
        yield [tuple((names[index],) for index in places) for places in _list_highest(score, possible)]


def _list_highest(scores: Floats | FloatGrid, possible: Flags) -> list[tuple[int, ...]]:
    """The places of the highest scores above 0, of those that are possible."""
    possible_scores = np.where(possible, scores, 0.0)
    order = np.argsort(-possible_scores, axis=None, kind="stable")[: min(_SUSPECTS, int((possible_scores > 0).sum()))]
    return [
        tuple(int(index) for index in places)
        for places in zip(*np.unravel_index(order, possible_scores.shape), strict=True)
    ]


def _blur_others(published_sequences: Sequences, names: list[str]) -> Sequences:
    """Sequences of single items in which a mark stands for all items but some: distances stay, and less is mined."""
    is_kept = np.array([str(item) in set(names) for item in published_sequences.items], dtype=np.bool_)
    if is_kept.all() or not published_sequences.flat:
        return published_sequences
    items = (
        *(item for item, is_item_kept in zip(published_sequences.items, is_kept, strict=True) if is_item_kept),
        MARK,
    )
    codes = np.where(is_kept, np.cumsum(is_kept) - 1, len(items) - 1).astype(np.int32)
    return Sequences(
        items, published_sequences.offsets, published_sequences.element_offsets, codes[published_sequences.codes]
    )
