# SPDX-License-Identifier: MIT
"""What published supports force about itemsets that were not published, and about patterns of few people.

How many baskets hold some items and not some others is never negative. Each such inequality bounds the support of the
largest itemset in it, from below or from above (the deduction rules of Calders and Goethals, *Mining all non-derivable
frequent itemsets*, 2002). So supports without any inference channel can still force a pattern of one person: of
abc:1, ab:4, ac:4, bc:4, b:5, c:5 publish a, b, c and the pairs, and abc must be 1.

What is looked at:

- every published set, where all is known: its inference channels;
- every other set whose proper subsets are all known. Where its bounds meet, it is known too, and its supersets are
  looked at in turn. Where its bounds are less than k apart, two of its patterns together are known to have so few;
- if everything from some support on is published, the rest lies below it;
- of at most `EXACT_ITEMS` items, every database that agrees (integer programming): nothing is missed then.

With more items, inferences that need several unknown supports at once are not made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Item, Items
from sfumato.errors import DataError
from sfumato.mine.patterns.channels import checked_k
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.mine.patterns.worlds import Worlds
from sfumato.patterns import Patterns

EXACT_ITEMS = 6
"""Up to how many items all databases that agree with the supports are reasoned about."""


class Conjunction(NamedTuple):
    """Baskets that hold all of some items and none of others."""

    present: Items
    absent: Items


@dataclass(frozen=True)
class Forced:
    """A pattern whose support lies between 1 and k − 1 in every database that agrees with the published supports."""

    either: tuple[Conjunction, ...]
    """The pattern: one conjunction, or one or the other of two."""
    least: int
    most: int


class Bounds(NamedTuple):
    """The least and the largest support that an itemset can have."""

    lower: int
    upper: int


@dataclass(frozen=True, eq=False)
class Reasoning:
    """All that follows from published supports, one unknown at a time."""

    known: KnownSets
    """The published sets and those whose support follows exactly."""
    records: Ints
    """What is forced, as the kernel says it."""
    published: int
    """How many sets were published; those after them, in the order of `known.rows`, were derived."""


def support_bounds(patterns: Patterns, items: Iterable[Item]) -> Bounds:
    """Between which numbers the support of an itemset must lie, by the deduction rules for that itemset alone."""
    wanted = tuple(sorted(set(items), key=lambda item: (str(type(item)), item)))
    supports = _supports(patterns)
    place = {item: code for code, item in enumerate(patterns.items)}
    bits = [place.get(item, -1) for item in wanted]
    size = 1 << len(wanted)
    counts: list[int | None] = [patterns.baskets if not mask else None for mask in range(size)]
    for mask in range(1, size):
        members = [bits[at] for at in range(len(bits)) if mask >> at & 1]
        counts[mask] = supports.get(frozenset(members)) if -1 not in members else None
    if counts[-1] is not None:
        return Bounds(counts[-1], counts[-1])
    lower, upper = 0, patterns.baskets
    if patterns.complete_from is not None:
        upper = min(upper, patterns.complete_from - 1)
    for inner, rest in _intervals(counts, size):
        if (size - 1 ^ inner).bit_count() % 2:
            upper = min(upper, rest)
        else:
            lower = max(lower, -rest)
    return Bounds(lower, upper)


def _intervals(counts: list[int | None], size: int) -> Iterator[tuple[int, int]]:
    """Where all sets from a subset on are known but the whole one: what inclusion-exclusion gives without the whole."""
    for inner in range(size - 1):
        free = (size - 1) ^ inner
        total, more = 0, free
        while True:
            more = (more - 1) & free
            if (one := counts[inner | more]) is None:
                break
            total += -one if more.bit_count() % 2 else one
            if not more:
                yield inner, total
                break


def forced_patterns(patterns: Patterns, k: int) -> list[Forced]:
    """Every pattern found to be of 1 to k − 1 people by the published supports; longer ones follow shorter ones."""
    checked_k(k)
    reasoning = reasoned(patterns, k)
    found = [*_decoded(reasoning, patterns.items), *_left_over(reasoning, patterns, k)]
    if len(patterns.items) <= EXACT_ITEMS and len(patterns):
        seen = {one.either[0] for one in found if len(one.either) == 1}
        exact = exactly_forced(patterns, k)
        found += [one for one in exact if one.either[0] not in seen]
    return sorted(found, key=lambda one: (sum(len(p) + len(a) for p, a in one.either), repr(one.either)))


def reasoned(patterns: Patterns, k: int, until_found: bool = False) -> Reasoning:
    """Look at all sets whose proper subsets are known, until no further support follows, or something is found."""
    from sfumato.kernels.patterns.small_patterns import CONTRADICTION, DERIVED, ITEM, KIND, LEAST, NODE

    offsets, codes, supports = patterns.offsets, patterns.codes, patterns.supports
    ceiling = None if patterns.complete_from is None else patterns.complete_from - 1
    while True:
        known = KnownSets.of(offsets, codes, supports, patterns.baskets)
        records = known.small_patterns(k, border=True, ceiling=ceiling)
        if (records[:, KIND] == CONTRADICTION).any():
            raise DataError(
                "the published supports contradict one another: no database has them; check where they come from"
            )
        derived = records[records[:, KIND] == DERIVED]
        if not len(derived) or (until_found and len(derived) < len(records)):
            return Reasoning(known, records, len(patterns))
        sets = [(*known.members(node), item) for node, item in derived[:, [NODE, ITEM]].tolist()]
        offsets = np.concatenate((offsets, offsets[-1] + np.cumsum([len(one) for one in sets])))
        codes = np.concatenate((codes, np.array([code for one in sets for code in one], dtype=np.int32)))
        supports = np.concatenate((supports, derived[:, LEAST]))


def exactly_forced(patterns: Patterns, k: int, witness: Ints | None = None) -> list[Forced]:
    """Conjunctions forced in every database that agrees; a witness is such a database, by sets of present items."""
    worlds = Worlds.of(patterns)
    found = worlds.forced(k, [] if witness is None else [witness])
    names = patterns.items
    return [
        Forced((Conjunction(_named(one.present, names), _named(one.absent, names)),), one.least, one.most)
        for one in found
    ]


def _named(mask: int, names: Items) -> Items:
    return tuple(names[code] for code in range(len(names)) if mask >> code & 1)


def _decoded(reasoning: Reasoning, names: Items) -> Iterator[Forced]:
    """The records as patterns."""
    from sfumato.kernels.patterns.small_patterns import DERIVED, EITHER

    for kind, node, item, mask, other, least, most in reasoning.records.tolist():
        if kind == DERIVED:
            continue
        members = reasoning.known.members(node) + (() if item < 0 else (item,))
        masks = (mask, other) if kind == EITHER else (mask,)
        yield Forced(tuple(_conjunction(members, one, names) for one in masks), least, most)


def _conjunction(members: tuple[int, ...], mask: int, names: Items) -> Conjunction:
    held = tuple(names[code] for at, code in enumerate(members) if mask >> at & 1)
    return Conjunction(held, tuple(names[code] for at, code in enumerate(members) if not mask >> at & 1))


def _supports(patterns: Patterns) -> dict[frozenset[int], int]:
    codes, offsets = patterns.codes.tolist(), patterns.offsets.tolist()
    return {
        frozenset(codes[offsets[at] : offsets[at + 1]]): support
        for at, support in enumerate(patterns.supports.tolist())
    }


def _left_over(reasoning: Reasoning, patterns: Patterns, k: int) -> Iterator[Forced]:
    """Channels of sets that lack a subset: only intervals in which every set is known, such as a rule's two sides."""
    if not len(reasoning.known.left_over):
        return
    supports = _supports(patterns) | {frozenset(): patterns.baskets}
    for row in reasoning.known.left_over.tolist():
        outer = tuple(patterns.codes[patterns.offsets[row] : patterns.offsets[row + 1]].tolist())
        exact: dict[frozenset[int], int] = {}
        below = [frozenset(outer)]
        while below:
            level, below = below, []
            for inner in level:
                above = [inner | {code} for code in outer if code not in inner]
                if inner in exact or inner not in supports or any(one not in exact for one in above):
                    continue
                exact[inner] = supports[inner] - sum(count for other, count in exact.items() if inner < other)
                below += [inner - {code} for code in inner]
                if 0 < exact[inner] < k:
                    held = sum(1 << at for at, code in enumerate(outer) if code in inner)
                    yield Forced((_conjunction(outer, held, patterns.items),), exact[inner], exact[inner])
