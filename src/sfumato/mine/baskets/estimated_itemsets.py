# SPDX-License-Identifier: MIT
"""Frequent itemsets behind randomized baskets: unbiased supports with intervals, found level by level.

A set is extended as long as its interval reaches the threshold: its estimate may be too low by chance, and a set that
is truly frequent should not be lost to that. Returned are the sets whose estimates reach it. Rizvi and Haritsa 2002;
Evfimievski, Srikant, Agrawal, Gehrke 2002.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, PolicyError, count_noun
from sfumato.mine.baskets.basket_bits import BasketBits
from sfumato.mine.baskets.distortion_inverse import DistortionInverse, EstimateScope, SupportEstimates, split_counts
from sfumato.public.basket_distortion import BasketDistortion, get_distortion
from sfumato.public.thresholds import Support, compute_least_count
from sfumato.release import Release
from sfumato.runtime.progress import report_progress

MOST_CANDIDATES = 20_000_000
_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class ItemsetLevel:
    """The sets of one length that may be frequent."""

    sets: Ints
    """A row of lines for each set, ascending."""
    counts: Ints
    """Sets × groups: how many published baskets show all of its items."""
    estimates: SupportEstimates
    index: dict[tuple[int, ...], int]
    """The row of each set."""


@dataclass(frozen=True, eq=False)
class ExploredItemsets:
    """Every set that may be frequent, by its length."""

    inverse: DistortionInverse
    items: Ints
    """The possible item of each line."""
    names: list[Item]
    """Its name."""
    levels: list[ItemsetLevel]
    threshold: float
    """The share of baskets from which a set is frequent."""

    def count_patterns(self, level: int, rows: Ints) -> Floats:
        """How many baskets of each group show each pattern of items of some sets of a level."""
        itemset_level = self.levels[level]
        return count_patterns(
            self.levels[:level], itemset_level.sets[rows], itemset_level.counts[rows], self.inverse.groups
        )


def estimate_itemsets(
    release: Release,
    min_support: Support,
    max_length: int | None = None,
    confidence: float = 0.95,
    *,
    of: EstimateScope = "baskets",
) -> pl.DataFrame:
    """The itemsets that were frequent before baskets were randomized, estimated from a release of `RandomizeBaskets`.

    The frame has `items` (sorted), `support` (the estimated share of baskets: unbiased, so it may leave [0, 1]) and the
    interval `low` to `high`. It covers the support in the original baskets or, `of="population"`, among the people that
    these were drawn from. A threshold is a count if it is an int, a share of the baskets if it is a float.
    """
    itemsets = explore_itemsets(release, min_support, max_length, confidence, of)
    rows = list(_list_frequent_rows(itemsets))
    inner = pl.Int64 if rows and isinstance(rows[0].items[0], int) else pl.String
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "items": pl.List(inner),
        "support": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def estimate_item_supports(release: Release) -> Floats:
    """The estimated share of baskets with each possible item, in the published order; NaN where none can be given."""
    distortion, baskets = get_distortion(release), release.data
    inverse = DistortionInverse.make(distortion, len(baskets), 0.95, "baskets")
    return _estimate_items(baskets, _number_possible_items(baskets, distortion), inverse).estimates.support


class _FrequentRow(NamedTuple):
    """An itemset with the interval of its support."""

    items: list[Item]
    support: float
    low: float
    high: float


def _list_frequent_rows(itemsets: ExploredItemsets) -> Iterator[_FrequentRow]:
    """The sets whose estimates reach the threshold; short ones first, then the most frequent."""
    for level in itemsets.levels:
        estimates = level.estimates
        frequent_rows = np.flatnonzero(estimates.support >= itemsets.threshold - 1e-12)
        for row in frequent_rows[np.argsort(-estimates.support[frequent_rows], kind="stable")].tolist():
            items = [itemsets.names[line] for line in level.sets[row].tolist()]
            yield _FrequentRow(
                items, float(estimates.support[row]), float(estimates.low[row]), float(estimates.high[row])
            )


def explore_itemsets(
    release: Release, min_support: Support, max_length: int | None, confidence: float, scope: EstimateScope
) -> ExploredItemsets:
    """Every set whose interval reaches the threshold, and whose subsets' intervals do."""
    distortion, baskets = get_distortion(release), release.data
    if not isinstance(baskets, Baskets) or not len(baskets):
        raise DataError("the release has no baskets, so there is nothing to estimate from")
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise PolicyError("max_length must be a whole number of items, at least 1, or None")
    if not distortion.informative:
        raise PolicyError("items are published as often whatever the truth is, so no support can be estimated")
    inverse = DistortionInverse.make(distortion, len(baskets), confidence, scope)
    threshold = compute_least_count(min_support, len(baskets)) / len(baskets)
    places = _number_possible_items(baskets, distortion)
    singles = _estimate_items(baskets, places, inverse)
    usable = inverse.list_usable_items()
    lines = usable[singles.estimates.high[usable] >= threshold]
    whole = bool(baskets.items) and isinstance(baskets.items[0], int)
    names: list[Item] = [int(distortion.categories[item]) if whole else distortion.categories[item] for item in lines]
    first = ItemsetLevel(
        np.arange(len(lines), dtype=np.int64)[:, None],
        singles.counts[lines],
        SupportEstimates(*(part[lines] for part in singles.estimates)),
        {(line,): line for line in range(len(lines))},
    )
    itemsets = ExploredItemsets(inverse, lines, names, [first], threshold)
    line_of = np.full(len(distortion.categories) + 1, -1, dtype=np.int64)
    line_of[lines] = np.arange(len(lines))
    longest = min(max_length or len(lines), inverse.longest or len(lines))
    if longest > 1 and len(lines) > 1:
        _extend_levels(itemsets, BasketBits.of(baskets, line_of[places], inverse.groups), longest)
    return itemsets


def _number_possible_items(baskets: Baskets, distortion: BasketDistortion) -> Ints:
    """The number among the possible items of each published one."""
    numbers = {name: number for number, name in enumerate(distortion.categories)}
    strange = sum(str(item) not in numbers for item in baskets.items)
    if strange:
        raise DataError(
            f"{count_noun(strange, 'published item is', 'published items are')} not among the {len(numbers)} "
            "possible ones; take the baskets and their "
            "`public` description from the same release, unchanged"
        )
    return np.array([numbers[str(item)] for item in baskets.items], dtype=np.int64)


def _estimate_items(baskets: Baskets, places: Ints, inverse: DistortionInverse) -> ItemsetLevel:
    """The support of every possible item."""
    width, groups = len(inverse.distortion.categories), inverse.groups
    ends = baskets.offsets[np.cumsum(groups)]
    counts = np.zeros((width, len(groups)), dtype=np.int64)
    if len(places):
        for group, (begin, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
            item_counts = np.bincount(baskets.codes[begin:end], minlength=len(places))
            counts[places, group] = item_counts
    sets = np.arange(width, dtype=np.int64)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # an item that tells nothing
        estimates = inverse.estimate(sets, count_patterns([], sets, counts, groups))
    return ItemsetLevel(sets, counts, estimates, {})


def count_patterns(shorter: list[ItemsetLevel], sets: Ints, counts: Ints, groups: Ints) -> Floats:
    """How many baskets of each group show each pattern of the items of sets, whose subsets are all known."""
    length = sets.shape[1]
    subsets = np.empty((len(sets), len(groups), 2**length))
    subsets[:, :, 0], subsets[:, :, -1] = groups, counts
    for mask in range(1, 2**length - 1):
        columns = [column for column in range(length) if mask >> (length - 1 - column) & 1]
        level = shorter[len(columns) - 1]
        rows = sets[:, columns[0]] if len(columns) == 1 else [level.index[tuple(s)] for s in sets[:, columns].tolist()]
        subsets[:, :, mask] = level.counts[rows]
    return split_counts(subsets)


def _extend_levels(itemsets: ExploredItemsets, bits: BasketBits, longest: int) -> None:
    """Add levels until no longer set may be frequent."""
    candidates = _list_pairs(len(itemsets.names))
    while len(candidates) and candidates.shape[1] <= longest:
        _refuse_many(len(candidates), candidates.shape[1])
        level = _estimate_level(itemsets, bits, candidates)
        if not len(level.sets):
            break
        itemsets.levels.append(level)
        candidates = _join_sets(level)


def _list_pairs(count: int) -> Ints:
    _refuse_many(count * (count - 1) // 2, 2)
    return np.stack(np.triu_indices(count, 1), axis=1).astype(np.int64)


def _refuse_many(count: int, length: int) -> None:
    if count > MOST_CANDIDATES:
        raise PolicyError(f"{count:,} itemsets of {length} items may be frequent; raise min_support, or set max_length")


def _estimate_level(itemsets: ExploredItemsets, bits: BasketBits, candidates: Ints) -> ItemsetLevel:
    """The candidates whose intervals reach the threshold."""
    inverse, length = itemsets.inverse, candidates.shape[1]
    step = max(_CELLS // (len(inverse.groups) << length), 1)
    parts = []
    for begin in range(0, len(candidates), step):
        report_progress(f"estimating itemsets of {length}", begin, len(candidates))
        sets = candidates[begin : begin + step]
        counts = bits.count(sets)
        patterns = count_patterns(itemsets.levels, sets, counts, inverse.groups)
        estimates = inverse.estimate(itemsets.items[sets], patterns)
        frequent_mask = estimates.high >= itemsets.threshold
        parts.append((sets[frequent_mask], counts[frequent_mask], *(part[frequent_mask] for part in estimates)))
    sets, counts, *estimate_parts = (np.concatenate(part) for part in zip(*parts, strict=True))
    index = {tuple(lines): row for row, lines in enumerate(sets.tolist())}
    return ItemsetLevel(sets, counts, SupportEstimates(*estimate_parts), index)


def _join_sets(level: ItemsetLevel) -> Ints:
    """Sets of one item more, all of whose subsets are in the level."""
    followers: dict[tuple[int, ...], list[int]] = {}
    for *start, last in level.sets.tolist():
        followers.setdefault(tuple(start), []).append(last)
    joined_sets = [
        (*start, line, other)
        for start, ends in followers.items()
        for line, other in combinations(sorted(ends), 2)
        if all((*start[:skip], *start[skip + 1 :], line, other) in level.index for skip in range(len(start)))
    ]
    return np.array(joined_sets, dtype=np.int64).reshape(len(joined_sets), level.sets.shape[1] + 1)
