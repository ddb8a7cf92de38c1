# SPDX-License-Identifier: MIT
"""How far a release moved from its original: distributions of columns and pairs, entropy, precision, class sizes.

A published label counts as its leaves, all equally likely (Xiao & Tao 2006; Kifer & Gehrke 2006), so every measure is
defined even if one column holds labels of several levels, ranges and sets. A missing cell is a value of its own; a
suppressed cell is spread over all values. The results describe the original data: they are for the custodian, and are
published only as far as a certificate contains them.

KL is Kullback and Leibler (1951), in bits, of the original from the release. Non-uniform entropy: de Waal & Willenborg
(1999), Gionis & Tassa (2009). Precision: Sweeney (2002). C_avg: LeFevre, DeWitt & Ramakrishnan (2006).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_cover import ColumnReading, LabelCover
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.data.roles.role import Role
from sfumato.errors import DataError, PolicyError, quote_names
from sfumato.measure.anonymity.crowd_sizes import StarredRows
from sfumato.measure.utility.label_losses import average_class_size
from sfumato.randomness import Randomness
from sfumato.table import Missing, Table

Distance = Literal["total_variation", "kl"]
"""`total_variation`: half the sum of differences, 0 to 1. `kl`: bits lost by using the release for the original."""

_DIGITS = 12
_ENTRIES = 4_000_000
"""The most numbers that a step holds in memory at once."""


@dataclass(frozen=True)
class NonUniformEntropy:
    """The information lost about original cells, given how frequent the original values are."""

    bits: float
    """The mean over cells of log₂ (people with a value that the label covers / people with the original value)."""
    share: float
    """The mean over columns of their shares: 0 is the original, 1 is everything suppressed."""
    columns: Mapping[str, float]
    """Each column's entropy as a share of its entropy if every cell were suppressed."""


def marginal_distance(
    original: Table, published_table: Table, kind: Distance = "total_variation", columns: Sequence[str] | None = None
) -> Mapping[str, float]:
    """How far each column's distribution moved; by default for every published column that is not identifying.

    KL is infinite if an original value is covered by no published row, for example because rows were left out.
    """
    truth = select_counted_rows(original, published_table)
    distances = {}
    for name in choose_compared_columns(original, published_table, columns):
        if _has_same_numbers(truth, published_table, name):
            distances[name] = 0.0
            continue
        original_reading, published_reading = read_column(truth, published_table, name)
        leaf_counts = original_reading.spread()
        seen_leaves = np.flatnonzero(leaf_counts)
        distances[name] = _compute_distance(
            leaf_counts[seen_leaves], published_reading.spread()[seen_leaves], len(truth), len(published_table), kind
        )
    return distances


def pair_distance(
    original: Table,
    published_table: Table,
    kind: Distance = "total_variation",
    columns: Sequence[str] | None = None,
    *,
    pairs: int | None = None,
    randomness: Randomness | None = None,
) -> Mapping[tuple[str, str], float]:
    """How far the joint distribution of each pair of columns moved; for all pairs, or a random sample of them."""
    truth = select_counted_rows(original, published_table)
    every = list(combinations(choose_compared_columns(original, published_table, columns), 2))
    if pairs is not None and pairs < len(every):
        generator = (randomness or Randomness.seeded(0)).generator()
        every = [every[i] for i in sorted(generator.choice(len(every), pairs, replace=False).tolist())]
    readings = {name: read_column(truth, published_table, name) for pair in every for name in pair}
    distances = {}
    for column, other in every:
        (original_reading, published_reading), (original_other, published_other) = readings[column], readings[other]
        people = _cross_codes(original_reading.codes, original_other.codes)
        read = _count_joint_rows(published_reading, published_other, people.first, people.second)
        distances[column, other] = _compute_distance(
            people.rows.astype(np.float64), read, len(truth), len(published_table), kind
        )
    return distances


def non_uniform_entropy(
    original: Table, published_table: Table, columns: Sequence[str] | None = None
) -> NonUniformEntropy:
    """How many bits of each quasi-identifying cell were lost; a row that was left out lost all of them."""
    truth = select_counted_rows(original, published_table)
    _count_left_out(truth, published_table)
    shares, bits = {}, 0.0
    names = _choose_quasi_identifying(original, columns)
    for name in names:
        original_reading, published_reading = read_column(truth, published_table, name)
        people = original_reading.spread()
        covered_people = published_reading.cover.sum_leaves(people)
        # What is still known beyond the whole table: nothing of a row that was left out.
        most, kept_bits = (
            float(rows @ _measure_bits(person_counts, len(truth)))
            for rows, person_counts in ((people, people), (published_reading.rows, covered_people))
        )
        shares[name] = round(1 - kept_bits / most, _DIGITS) + 0.0 if most else 0.0
        if (covered_people < 0.5).any() or shares[name] < 0:
            raise DataError(
                f'column "{name}": published cells stand for values that no original cell has, or too few have; '
                "non-uniform entropy is defined for generalized tables only"
            )
        bits += most - kept_bits
    mean = sum(shares.values()) / len(shares)
    cells = len(truth) * len(names)
    return NonUniformEntropy(round(bits / cells, _DIGITS) + 0.0, round(mean, _DIGITS), shares)


def _measure_bits(people: Floats, population_size: int) -> Floats:
    """log₂ (everybody / people), exact to the last digits where nearly everybody is meant; 0 for nobody."""
    missing = np.where(people > 0, population_size - people, 0.0)
    return np.asarray(-np.log1p(-missing / population_size) / np.log(2))


def precision(original: Table, published_table: Table, columns: Sequence[str] | None = None) -> float:
    """Sweeney's Prec: 1 − the mean over quasi-identifying cells of level / height; a suppressed cell or row counts as
    1.

    A label is at the lowest level at which it has its widest meaning; a range or a set is at the lowest level that has
    one label for all of it.
    """
    truth = select_counted_rows(original, published_table)
    left_out = _count_left_out(truth, published_table)
    names = _choose_quasi_identifying(original, columns)
    risen = 0.0
    for name in names:
        values, counts = count_cells(published_table.frame[name])
        hierarchy = truth.get_hierarchy(name)
        domain = Domain.of_release(truth.frame[name], published_table.frame[name], hierarchy)
        height = sum_levels(domain, hierarchy, values, counts)
        risen += (height + left_out) / len(truth)
    return round(1 - risen / len(names), _DIGITS)


def sum_levels(domain: Domain, hierarchy: Hierarchy, values: pl.Series, counts: Ints) -> float:
    """Σ of level / height over published cells, from their distinct values and counts."""
    return float(counts @ _compute_level_shares(domain, hierarchy, values))


def c_avg(table: Table, k: int, starred_rows: StarredRows = "suppressed") -> float:
    """The normalized average class size (rows / classes) / k: 1 is the minimum for classes of k people."""
    if k < 1:
        raise PolicyError(f"k = {k}: give k ≥ 1, since a class holds at least one person")
    return round(average_class_size(table, starred_rows) / k, _DIGITS)


def select_counted_rows(original: Table, published_table: Table) -> Table:
    """The originals that count: all, unless the table declares that rows with missing cells are dropped, and some were.

    A release of as many rows as there are originals left nobody out, whatever is declared.
    """
    if not len(original):
        raise DataError(f"{original.source}: the table has no rows, so no release can be compared with it; add rows")
    if original.missing is not Missing.DROP or len(published_table) == len(original):
        return original
    complete_table = original.replace_frame(original.frame.drop_nulls(list(original.quasi_identifying)))
    if not len(complete_table):
        raise DataError(
            f"{original.source}: each of the {len(original)} rows has a missing quasi-identifying cell, and missing = "
            "drop leaves them all out; use missing = own_value, or fill the cells"
        )
    return complete_table


def choose_compared_columns(original: Table, published_table: Table, columns: Sequence[str] | None) -> list[str]:
    """The requested columns, or every published one that is not identifying; an error if one is not in both tables."""
    original_names = set(original.frame.columns)
    if columns is None:
        identifying_names = {name for name, role in original.roles.items() if role is Role.IDENTIFYING}
        names = [name for name in published_table.frame.columns if name not in identifying_names]
    else:
        names = list(columns)
    absent = [name for name in names if name not in original_names or name not in published_table.frame.columns]
    if absent:
        raise DataError(
            f"{published_table.source}: {quote_names(absent)} cannot be compared: not a column of both "
            "the original and the release; name the columns to compare"
        )
    if not names:
        raise DataError(f"{published_table.source}: there is no column to compare with the original")
    return names


def _has_same_numbers(truth: Table, published_table: Table, name: str) -> bool:
    """Whether a column of numbers is as it was: no label can be among them, so nothing has to be read."""
    original_numbers, published_numbers = truth.frame[name], published_table.frame[name]
    if (
        not original_numbers.dtype.is_numeric()
        or original_numbers.dtype != published_numbers.dtype
        or name in truth.hierarchies
    ):
        return False
    return not original_numbers.null_count() and original_numbers.equals(published_numbers)


class ColumnReadings(NamedTuple):
    """A column before and after, over the same leaves."""

    before: ColumnReading
    after: ColumnReading


def read_column(truth: Table, published_table: Table, name: str) -> ColumnReadings:
    """A column before and after, over the same leaves."""
    column, published_cells = truth.frame[name], published_table.frame[name]
    domain = Domain.of_release(column, published_cells, truth.hierarchies.get(name))
    return ColumnReadings(domain.read_exactly(column), domain.read(published_cells, column.null_count() > 0))


def _choose_quasi_identifying(original: Table, columns: Sequence[str] | None) -> list[str]:
    names = list(original.quasi_identifying if columns is None else columns)
    if not names:
        raise DataError(f"{original.source}: no column is quasi_identifying, so there is nothing to measure")
    return names


def _count_left_out(truth: Table, published_table: Table) -> int:
    if len(published_table) > len(truth):
        raise DataError(
            f"{published_table.source}: {len(published_table)} rows are published from {len(truth)} originals; this "
            "measure is defined only if each published row is one of the originals"
        )
    return len(truth) - len(published_table)


def _compute_distance(
    original_counts: Floats, published_counts: Floats, rows: int, published_rows: int, kind: Distance
) -> float:
    """Both distances need the release's shares only where there are originals."""
    true, read = original_counts / rows, published_counts / max(published_rows, 1)
    if kind == "total_variation":
        return abs(round(1 - float(np.minimum(true, read).sum()), _DIGITS))
    if kind != "kl":
        raise PolicyError(f'the distance "{kind}" does not exist; choose total_variation or kl')
    if (read <= 0).any():
        return float("inf")
    return abs(round(float((true * np.log2(true / read)).sum()), _DIGITS))


@dataclass(frozen=True)
class _DistinctPairs:
    """The distinct pairs of two codes."""

    first: Ints
    second: Ints
    rows: Ints


def _cross_codes(first: Ints, second: Ints) -> _DistinctPairs:
    wide = int(second.max(initial=0)) + 1
    joint_codes = first * wide + second
    if int(joint_codes.max(initial=0)) < 10 * len(joint_codes):
        counts = np.bincount(joint_codes)
        distinct_codes = np.flatnonzero(counts)
        rows = counts[distinct_codes]
    else:
        distinct_codes, rows = np.unique(joint_codes, return_counts=True)
    return _DistinctPairs(distinct_codes // wide, distinct_codes % wide, rows.astype(np.int64))


def _count_joint_rows(first_reading: ColumnReading, other: ColumnReading, first: Ints, second: Ints) -> Floats:
    """The expected number of release rows at given pairs of leaves, with labels spread evenly."""
    from scipy.sparse import csr_matrix

    leaves = np.unique(first)
    if len(leaves) > len(np.unique(second)):
        return _count_joint_rows(other, first_reading, second, first)
    pairs = _cross_codes(first_reading.codes, other.codes)
    shape = (first_reading.cover.labels, other.cover.labels)
    rows: Any = csr_matrix((pairs.rows.astype(np.float64), (pairs.first, pairs.second)), shape=shape)
    if int((first_reading.cover.counts[pairs.first] * other.cover.counts[pairs.second]).sum()) <= _ENTRIES:
        joint = _build_share_matrix(first_reading.cover).T @ rows @ _build_share_matrix(other.cover)
        return np.asarray(joint[first, second], dtype=np.float64).ravel()
    read = np.zeros(len(first))
    for leaf_part in _split_leaves(leaves, max(*shape, len(first_reading.cover.order), len(other.cover.order))):
        leaf_selector = np.zeros((len(first_reading.cover.order), len(leaf_part)))
        leaf_selector[leaf_part, np.arange(len(leaf_part))] = 1.0
        spread = other.cover.spread(rows.T @ first_reading.average_values(leaf_selector))
        pair_mask = (first >= leaf_part[0]) & (first <= leaf_part[-1])
        read[pair_mask] = spread[second[pair_mask], np.searchsorted(leaf_part, first[pair_mask])]
    return read


def _build_share_matrix(cover: LabelCover) -> Any:
    """Labels × leaves, sparse: each leaf's share of a label."""
    from scipy.sparse import csr_matrix

    many = cover.stop - cover.start
    leaf_places = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many - cover.start, many)
    label = np.repeat(cover.label, many)
    return csr_matrix(
        (1 / cover.counts[label], (label, cover.order[leaf_places])), shape=(cover.labels, len(cover.order))
    )


def _split_leaves(leaves: Ints, width: int) -> Iterator[Ints]:
    step = max(1, _ENTRIES // max(width, 1))
    for begin in range(0, len(leaves), step):
        yield leaves[begin : begin + step]


def _compute_level_shares(domain: Domain, hierarchy: Hierarchy, labels: pl.Series) -> Floats:
    """The level of each label, as a share of the hierarchy's height."""
    cover, height, level_of_label = domain.cover(labels), hierarchy.height, _index_own_levels(hierarchy)
    levels = np.full(cover.labels, height, dtype=np.int64)
    for level in range(height, -1, -1):
        lowest, highest = _find_cover_extremes(cover, hierarchy.levels[level].group_of_leaf)
        levels[lowest == highest] = level
    own_levels = np.array([level_of_label.get(label, -1) for label in spell_cells(labels).to_list()], dtype=np.int64)
    shares = np.where(own_levels < 0, levels, own_levels) / max(height, 1)
    shares[cover.counts == 0] = 0.0
    shares[(spell_cells(labels) == STAR).fill_null(False).to_numpy()] = 0.0 if domain.star_is_value else 1.0
    return shares


def _index_own_levels(hierarchy: Hierarchy) -> dict[str, int]:
    """The lowest level at which each label of the hierarchy has its widest meaning."""
    widest: dict[str, tuple[int, int]] = {}
    for number, level in enumerate(hierarchy.levels):
        for label, leaves in zip(level.labels, level.leaves_under.tolist(), strict=True):
            if leaves > widest.get(label, (0, 0))[0]:
                widest[label] = (leaves, number)
    return {label: number for label, (_, number) in widest.items()}


def _find_cover_extremes(cover: LabelCover, values: Ints | Any) -> tuple[Ints, Ints]:
    """The smallest and largest of the leaves' values covered by each label."""
    ordered_values = np.append(np.asarray(values, dtype=np.int64)[cover.order], 0)
    ends = np.column_stack([cover.start, cover.stop]).ravel()
    least = np.full(cover.labels, np.iinfo(np.int64).max)
    greatest = np.full(cover.labels, -1, dtype=np.int64)
    if len(ends):
        np.minimum.at(least, cover.label, np.minimum.reduceat(ordered_values, ends)[::2])
        np.maximum.at(greatest, cover.label, np.maximum.reduceat(ordered_values, ends)[::2])
    return least, greatest
