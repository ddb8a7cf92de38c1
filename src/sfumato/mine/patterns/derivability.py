# SPDX-License-Identifier: MIT
"""What published supports force about itemsets that were not published, and about patterns of few people.

How many baskets hold some items and not some others is never negative. Each such inequality bounds the support of the
largest itemset in it, from below or from above (the deduction rules of Calders and Goethals, *Mining all non-derivable
frequent itemsets*, 2002). So supports without any inference channel can still force a pattern of one person: of
abc:1, ab:4, ac:4, bc:4, b:5, c:5 publish a, b, c and the pairs, and abc must be 1.

What is examined:

- every published set, where everything is known: its inference channels;
- every other set whose proper subsets are all known. If its bounds meet, it is known too, and its supersets are
  examined in turn. If its bounds are less than k apart, two of its patterns together are known to have so few;
- if everything from some support upwards is published, the rest lies below it;
- for at most `EXACT_ITEMS` items, every database that agrees (integer programming): nothing is missed then. For at
  most `MOST_ITEMS`, the same as far as the time allows.

With more items, inferences that need several unknown supports at once are not made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets, Item, Items
from sfumato.errors import DataError
from sfumato.mine.patterns.inference_channels import check_pattern_k
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.mine.patterns.support_worlds import NO_DATABASE, SupportWorlds, count_basket_kinds
from sfumato.patterns import Patterns

EXACT_ITEMS = 6
"""The most items for which all databases that agree with the supports are considered, however long that takes."""
MOST_ITEMS = 10
"""The most items for which they are considered at all: 59,048 patterns in databases of 1,024 kinds of baskets."""


class Conjunction(NamedTuple):
    """Baskets that hold all of some items and none of others."""

    present: Items
    absent: Items


@dataclass(frozen=True)
class ForcedPattern:
    """A pattern whose support lies between 1 and k − 1 in every database that agrees with the published supports."""

    conjunctions: tuple[Conjunction, ...]
    """The pattern: one conjunction, or one or the other of two."""
    least: int
    most: int


@dataclass(frozen=True)
class JointReasoning:
    """What follows from all supports together."""

    patterns: tuple[ForcedPattern, ...]
    complete: bool
    """Whether every pattern was examined: if not, there may be more."""


class SupportBounds(NamedTuple):
    """The smallest and the largest support that an itemset can have."""

    lower: int
    upper: int


@dataclass(frozen=True, eq=False)
class SupportReasoning:
    """All that follows from published supports, one unknown at a time."""

    known_sets: KnownSets
    """The published sets and those whose support follows exactly."""
    records: Ints
    """What is forced, as the kernel's records."""
    published_count: int
    """The number of published sets; those after them, in the order of `known.rows`, were derived."""


def support_bounds(patterns: Patterns, items: Iterable[Item]) -> SupportBounds:
    """Bounds on the support of an itemset, by the deduction rules for that itemset alone."""
    sorted_items = tuple(sorted(set(items), key=lambda item: (str(type(item)), item)))
    supports = _index_pattern_supports(patterns)
    item_codes = {item: code for code, item in enumerate(patterns.items)}
    bits = [item_codes.get(item, -1) for item in sorted_items]
    size = 1 << len(sorted_items)
    counts: list[int | None] = [patterns.baskets if not mask else None for mask in range(size)]
    for mask in range(1, size):
        members = [bits[index] for index in range(len(bits)) if mask >> index & 1]
        counts[mask] = supports.get(frozenset(members)) if -1 not in members else None
    if counts[-1] is not None:
        return SupportBounds(counts[-1], counts[-1])
    lower, upper = 0, patterns.baskets
    if patterns.complete_from is not None:
        upper = min(upper, patterns.complete_from - 1)
    for inner, rest in _list_deduction_intervals(counts, size):
        if (size - 1 ^ inner).bit_count() % 2:
            upper = min(upper, rest)
        else:
            lower = max(lower, -rest)
    return SupportBounds(lower, upper)


def _list_deduction_intervals(counts: list[int | None], size: int) -> Iterator[tuple[int, int]]:
    """If all sets from a subset up are known except the whole one: inclusion-exclusion without the whole."""
    for inner in range(size - 1):
        free = (size - 1) ^ inner
        total, more = 0, free
        while True:
            more = (more - 1) & free
            if (count := counts[inner | more]) is None:
                break
            total += -count if more.bit_count() % 2 else count
            if not more:
                yield inner, total
                break


def forced_patterns(patterns: Patterns, k: int) -> list[ForcedPattern]:
    """Every pattern that the published supports force to 1 to k − 1 people; longer ones follow shorter ones."""
    check_pattern_k(k)
    if not isinstance(patterns, Patterns):
        raise DataError(
            f"published patterns or rules are examined, not {type(patterns).__name__}; of a release, give its data; "
            "for baskets use inference_channels"
        )
    inferences = reason_from_supports(patterns, k)
    leaks = [*_decode_records(inferences, patterns.items), *_list_leftover_channels(inferences, patterns, k)]
    if len(patterns.items) <= EXACT_ITEMS and len(patterns):
        exact = find_exactly_forced(patterns, k).patterns  # its ranges are the tightest
        exact_conjunctions = {pattern.conjunctions[0] for pattern in exact}
        leaks = [
            leak for leak in leaks if len(leak.conjunctions) > 1 or leak.conjunctions[0] not in exact_conjunctions
        ] + list(exact)
    return sorted(
        leaks, key=lambda pattern: (sum(len(p) + len(a) for p, a in pattern.conjunctions), repr(pattern.conjunctions))
    )


def reason_from_supports(patterns: Patterns, k: int, until_found: bool = False) -> SupportReasoning:
    """Examine all sets whose proper subsets are known, until no further support follows, or something is found."""
    from sfumato.kernels.patterns.small_patterns import (
        CONTRADICTION,
        DERIVED,
        RECORD_ITEM,
        RECORD_KIND,
        RECORD_LEAST,
        RECORD_NODE,
    )

    offsets, codes, supports = patterns.offsets, patterns.codes, patterns.supports
    ceiling = None if patterns.complete_from is None else patterns.complete_from - 1
    while True:
        known_sets = KnownSets.of(offsets, codes, supports, patterns.baskets)
        records = known_sets.find_small_patterns(k, border=True, ceiling=ceiling)
        if (records[:, RECORD_KIND] == CONTRADICTION).any():
            raise DataError(NO_DATABASE)
        derived = records[records[:, RECORD_KIND] == DERIVED]
        if not len(derived) or (until_found and len(derived) < len(records)):
            return SupportReasoning(known_sets, records, len(patterns))
        sets = [
            (*known_sets.list_members(node), item) for node, item in derived[:, [RECORD_NODE, RECORD_ITEM]].tolist()
        ]
        offsets = np.concatenate((offsets, offsets[-1] + np.cumsum([len(itemset) for itemset in sets])))
        codes = np.concatenate((codes, np.array([code for itemset in sets for code in itemset], dtype=np.int32)))
        supports = np.concatenate((supports, derived[:, RECORD_LEAST]))


def find_exactly_forced(
    patterns: Patterns, k: int, witness: Ints | None = None, deadline: float = inf
) -> JointReasoning:
    """Conjunctions forced in every database that agrees; a witness is such a database, by sets of present items.

    A time of the clock at which to end is observed only with more than `EXACT_ITEMS` items.
    """
    search = SupportWorlds.of(patterns).find_forced(
        k, [] if witness is None else [witness], inf if len(patterns.items) <= EXACT_ITEMS else deadline
    )
    names = patterns.items
    leaks = [
        ForcedPattern(
            (Conjunction(_name_mask_items(cells.present, names), _name_mask_items(cells.absent, names)),),
            cells.least,
            cells.most,
        )
        for cells in search.forced_cells
    ]
    return JointReasoning(tuple(leaks), search.complete)


def reason_jointly(patterns: Patterns, k: int, data: Baskets, deadline: float) -> JointReasoning:
    """The same for patterns of these baskets, which are the witness; nothing with too many items."""
    if not patterns.items:
        return JointReasoning((), complete=True)
    if len(patterns.items) > MOST_ITEMS:
        return JointReasoning((), complete=False)
    return find_exactly_forced(patterns, k, count_basket_kinds(data, patterns.items), deadline)


def _name_mask_items(mask: int, names: Items) -> Items:
    return tuple(names[code] for code in range(len(names)) if mask >> code & 1)


def _decode_records(inferences: SupportReasoning, names: Items) -> Iterator[ForcedPattern]:
    """The records as patterns."""
    from sfumato.kernels.patterns.small_patterns import DERIVED, EITHER_SET

    for kind, node, item, mask, other, least, most in inferences.records.tolist():
        if kind == DERIVED:
            continue
        members = inferences.known_sets.list_members(node) + (() if item < 0 else (item,))
        masks = (mask, other) if kind == EITHER_SET else (mask,)
        yield ForcedPattern(
            tuple(_build_conjunction(members, present_mask, names) for present_mask in masks), least, most
        )


def _build_conjunction(members: tuple[int, ...], mask: int, names: Items) -> Conjunction:
    present_items = tuple(names[code] for index, code in enumerate(members) if mask >> index & 1)
    return Conjunction(present_items, tuple(names[code] for index, code in enumerate(members) if not mask >> index & 1))


def _index_pattern_supports(patterns: Patterns) -> dict[frozenset[int], int]:
    codes, offsets = patterns.codes.tolist(), patterns.offsets.tolist()
    return {
        frozenset(codes[offsets[index] : offsets[index + 1]]): support
        for index, support in enumerate(patterns.supports.tolist())
    }


def _list_leftover_channels(inferences: SupportReasoning, patterns: Patterns, k: int) -> Iterator[ForcedPattern]:
    """Channels of sets that lack a subset: only intervals in which every set is known, such as a rule's two sides."""
    if not len(inferences.known_sets.left_over):
        return
    supports = _index_pattern_supports(patterns) | {frozenset(): patterns.baskets}
    for row in inferences.known_sets.left_over.tolist():
        outer = tuple(patterns.codes[patterns.offsets[row] : patterns.offsets[row + 1]].tolist())
        exact: dict[frozenset[int], int] = {}
        next_sets = [frozenset(outer)]
        while next_sets:
            level, next_sets = next_sets, []
            for inner in level:
                larger_sets = [inner | {code} for code in outer if code not in inner]
                if inner in exact or inner not in supports or any(outer not in exact for outer in larger_sets):
                    continue
                exact[inner] = supports[inner] - sum(count for other, count in exact.items() if inner < other)
                next_sets += [inner - {code} for code in inner]
                if 0 < exact[inner] < k:
                    present_mask = sum(1 << index for index, code in enumerate(outer) if code in inner)
                    yield ForcedPattern(
                        (_build_conjunction(outer, present_mask, patterns.items),), exact[inner], exact[inner]
                    )
