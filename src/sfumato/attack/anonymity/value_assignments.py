# SPDX-License-Identifier: MIT
"""The ways in which the sensitive values of a published class may have been handed out among its people.

For the minimality attack: each way says which finer levels would have shown an offending class, so had to be refused.
Classes with few ways are counted out; the others are drawn from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from sfumato.arrays import Flags, Floats, Ints

_MOST_TABLES = 4000  # a class with more ways of sharing its values out among its parts is sampled
_MOST_CELLS = 20_000_000  # people × draws of one class
FEWEST_DRAWS = 30


class MinimalityUnsound(Exception):
    """Why nothing can be inferred from minimality; said in the facts."""


@dataclass(frozen=True)
class RefusalRule:
    """When a class offends."""

    k: int
    l: int
    share: float
    protected_mask: Flags  # which values the share applies to

    @property
    def smallest(self) -> int:
        """A smaller class offends whatever it holds."""
        least_size = ceil(round(1 / self.share, 12)) if self.protected_mask.all() else 1
        return max(self.k, self.l, least_size)

    def refuses(self, counts: Ints, sizes: Ints, codes: Ints) -> Flags:
        """For counts of values (last axis) in classes (the axis before) of some sizes."""
        refused_mask = (sizes < self.k) | ((counts > 0).sum(axis=-1) < self.l)
        largest = np.where(self.protected_mask[codes], counts, 0).max(axis=-1, initial=0)
        return np.asarray(refused_mask | (np.round(largest / sizes - self.share, 12) > 0))


@dataclass(frozen=True)
class PublishedClass:
    """A published class split by its members' labels one level lower."""

    people: Ints
    cell: Ints  # the part of each of them
    sizes: Ints  # how many people each part has
    codes: Ints
    counts: Ints  # the values of the class, and how often each stands there
    members: tuple[Ints, ...]  # for each neighbour a 0/1 table: its classes × the parts that lie in them


@dataclass(frozen=True)
class ValueAssignments:
    """Ways of handing out the values of a class, brought together by which neighbours would have been refused."""

    masks: Ints  # bit n: neighbour n has an offending class here
    weight: Floats  # how likely each is before the release is looked at
    mean: Floats  # weight × the share of each value in each part
    square: Floats  # weight × the square of that share
    draws: int | None  # how many ways were drawn; None if all were counted

    def compute_refusal_chances(self, full: int) -> Floats:
        """How likely each set of refused neighbours is."""
        return np.bincount(self.masks, weights=self.weight, minlength=full + 1).astype(np.float64)


def enumerate_assignments(
    published_class: PublishedClass, rule: RefusalRule, neighbours: Ints, draws: int, chance: np.random.Generator
) -> ValueAssignments:
    """Every way of sharing the values out among the parts, or as many as are drawn."""
    tables = _enumerate_count_tables(published_class.sizes.tolist(), published_class.counts.tolist())
    draw_count = None
    if tables is None:
        tables = _deal_values(published_class, draws, chance)
        draw_count, weight = len(tables), np.full(len(tables), 1 / len(tables))
    else:
        logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, max(int(published_class.sizes.sum()), 1) + 1)))])
        ways = -logs[tables].sum(axis=(1, 2))  # the multinomial numbers, up to a factor common to all
        weight = np.exp(ways - ways.max())
        weight /= weight.sum()
    masks = np.zeros(len(tables), dtype=np.int64)
    for bit, neighbour in enumerate(neighbours.tolist()):
        member = published_class.members[neighbour]
        refused_mask = rule.refuses(
            np.matmul(member, tables), member @ published_class.sizes, published_class.codes
        ).any(axis=1)
        masks |= refused_mask.astype(np.int64) << bit
    shares = tables / published_class.sizes[:, None]
    kinds, kind = np.unique(masks, return_inverse=True)
    by_kind = (kind == np.arange(len(kinds))[:, None]) * weight
    mean, square = np.tensordot(by_kind, shares, 1), np.tensordot(by_kind, shares**2, 1)
    return ValueAssignments(kinds, by_kind.sum(axis=1), mean, square, draw_count)


def _enumerate_count_tables(rows: list[int], columns: list[int]) -> Ints | None:
    """Every table of counts with these sums; None if there are too many."""
    partial_tables: list[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = [((), tuple(columns))]
    for size in rows[:-1]:
        shorter_tables, partial_tables = partial_tables, []
        for filled_rows, remaining_counts in shorter_tables:
            for take in _enumerate_takes(size, remaining_counts):
                partial_tables.append(
                    ((*filled_rows, take), tuple(a - b for a, b in zip(remaining_counts, take, strict=True)))
                )
                if len(partial_tables) > _MOST_TABLES:
                    return None
    return np.asarray(
        [(*filled_rows, remaining_counts) for filled_rows, remaining_counts in partial_tables], dtype=np.int64
    )


def _enumerate_takes(size: int, remaining_counts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way to choose `size` of the remaining values."""
    if len(remaining_counts) == 1:
        yield (size,)
        return
    for first in range(max(0, size - sum(remaining_counts[1:])), min(size, remaining_counts[0]) + 1):
        for other_takes in _enumerate_takes(size - first, remaining_counts[1:]):
            yield (first, *other_takes)


def _deal_values(published_class: PublishedClass, draws: int, chance: np.random.Generator) -> Ints:
    """Values dealt out at random to the people of a class, counted by part."""
    parts, kinds = len(published_class.sizes), len(published_class.counts)
    draws = min(draws, _MOST_CELLS // max(len(published_class.people), parts * kinds))
    if draws < FEWEST_DRAWS:
        raise MinimalityUnsound("none: a class is too large for its ways to be counted or drawn")
    values = np.repeat(np.arange(kinds), published_class.counts)
    dealt = chance.permuted(np.broadcast_to(values, (draws, len(values))), axis=1)
    cell_index = (np.arange(draws)[:, None] * parts + published_class.cell) * kinds + dealt
    return np.bincount(cell_index.ravel(), minlength=draws * parts * kinds).reshape(draws, parts, kinds)
