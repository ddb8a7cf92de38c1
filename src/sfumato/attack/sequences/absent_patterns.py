# SPDX-License-Identifier: MIT
"""Which patterns somebody hid entirely: those that occur nowhere, although all that they consist of is common.

For a threshold of 0, whether marks show or not. Whoever deletes every match of a pattern leaves a hole: two items that
many people pass, and never in this order. What is common and should have met is suspect.
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
"""Of so many items pairs are looked at, and patterns of three; and so many are suspected."""


def rank_absent(
    published: Sequences, longest: int, max_gap: int | None = None, window: int | None = None
) -> list[list[NamedPattern]]:
    """Rankings of patterns of two and of three items that occur nowhere within the limits, the most suspect first."""
    holders = {name: count for ((name,),), count in mine_named(published, 1, 1, None, None).items()}
    names = sorted(holders, key=lambda name: (-holders[name], name))
    if longest < 2 or not names or not (published.flat or len(names) <= _PAIRED_ITEMS):
        return []
    pairs = _PairCounts.of(published, names[:_PAIRED_ITEMS], max_gap, window)
    shares = np.array([holders[name] for name in names], dtype=np.float64) / len(published)
    rankings = [*_rank_pairs(pairs, shares)]
    if longest > 2:
        some = names[:_CHAINED_ITEMS]
        chains = _flag_chains(published, some, max_gap, window)
        rankings += _rank_chains(some, chains, pairs.ordered[: len(some), : len(some)], shares)
    return [ranking for ranking in rankings if ranking]


class _PairCounts(NamedTuple):
    """In how many sequences there are pairs of some items: items × items."""

    names: list[str]
    ordered: FloatGrid
    """One after the other."""
    joined: FloatGrid
    """Both in one element."""
    has_elements: bool
    """Whether any element has several items."""

    @classmethod
    def of(cls, published: Sequences, names: list[str], max_gap: int | None, window: int | None) -> _PairCounts:
        number = {name: index for index, name in enumerate(names)}
        ordered, joined = (np.zeros((len(names), len(names))) for _ in range(2))
        for pattern, count in mine_named(_blur_others(published, names), 1, 2, max_gap, window).items():
            places = [number[name] for element in pattern for name in element]
            if len(pattern) == 2:
                ordered[places[0], places[1]] = count
            elif len(places) == 2:
                joined[places[0], places[1]] = joined[places[1], places[0]] = count
        return cls(names, ordered, joined, not published.flat)


def _rank_pairs(pairs: _PairCounts, shares: Floats) -> Iterator[list[NamedPattern]]:
    """By chance; by chance, without an item twice; by the other order; and by what lies between the two."""
    names, ordered = pairs.names, pairs.ordered
    chance = np.outer(shares[: len(names)], shares[: len(names)])
    between = np.array([np.minimum(row[:, None], ordered).sum(axis=0) for row in ordered])
    others = ~np.eye(len(names), dtype=np.bool_)
    for score in (chance, chance * others, ordered.T * others, between, between * others):
        yield [((names[i],), (names[j],)) for i, j in _list_highest(score, ordered == 0)]
    if pairs.has_elements:
        above = np.triu(np.ones_like(others), 1) > 0
        together = [(i, j) for i, j in _list_highest(chance * above, pairs.joined == 0)]
        yield [(tuple(sorted((names[i], names[j]))),) for i, j in together]


def _flag_chains(published: Sequences, names: list[str], max_gap: int | None, window: int | None) -> Flags:
    """Which patterns of three of some items, one after another, occur: items × items × items."""
    number = {name: index for index, name in enumerate(names)}
    occurs = np.zeros((len(names),) * 3, dtype=np.bool_)
    for pattern in mine_named(_blur_others(published, names), 1, 3, max_gap, window):
        if len(pattern) == 3:
            occurs[tuple(number[name] for (name,) in pattern)] = True
    return occurs


def _rank_chains(names: list[str], occurs: Flags, ordered: FloatGrid, shares: Floats) -> Iterator[list[NamedPattern]]:
    """Of those whose pairs all occur: by how often the pairs would meet, by the rarest pair, and by chance."""
    common = shares[: len(names)]
    first, second, around = ordered[:, :, None], ordered[None, :, :], ordered[:, None, :]
    possible = ~occurs & (first > 0) & (second > 0) & (around > 0)
    for score in (
        first * second / common[None, :, None],
        np.minimum(np.minimum(first, second), around),
        common[:, None, None] * common[None, :, None] * common[None, None, :],
    ):
        yield [tuple((names[index],) for index in places) for places in _list_highest(score, possible)]


def _list_highest(scores: Floats | FloatGrid, possible: Flags) -> list[tuple[int, ...]]:
    """The places of the highest scores above 0, of those that are possible."""
    asked = np.where(possible, scores, 0.0)
    order = np.argsort(-asked, axis=None, kind="stable")[: min(_SUSPECTS, int((asked > 0).sum()))]
    return [tuple(int(index) for index in places) for places in zip(*np.unravel_index(order, asked.shape), strict=True)]


def _blur_others(published: Sequences, names: list[str]) -> Sequences:
    """Sequences of single items in which a mark stands for all items but some: distances stay, and less is mined."""
    is_kept = np.array([str(item) in set(names) for item in published.items], dtype=np.bool_)
    if is_kept.all() or not published.flat:
        return published
    items = (*(item for item, kept in zip(published.items, is_kept, strict=True) if kept), MARK)
    codes = np.where(is_kept, np.cumsum(is_kept) - 1, len(items) - 1).astype(np.int32)
    return Sequences(items, published.offsets, published.element_offsets, codes[published.codes])
