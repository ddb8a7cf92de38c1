# SPDX-License-Identifier: MIT
"""Check noise on a release that stays in its file, against originals that stay in theirs.

Numbers before and after are paired in a temporary file, and differences are sorted there: the system
keeps in memory what fits. The tests are those of `noise_checks`, on the whole column. Noise that is shaped like the
data is not checked in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats
from sfumato.engine.aligned_batches import align_batches
from sfumato.errors import DataError
from sfumato.measure.checks import Arguments
from sfumato.measure.noise.cut_checks import flag_outside_cuts, measure_narrowest_cut
from sfumato.measure.noise.noise_checks import (
    count_cells_changed_without_noise,
    flag_outside_intervals,
    measure_narrowest_remainder,
    read_noise_numbers,
)
from sfumato.measure.noise.stated_law import (
    StatedLaw,
    find_narrowest,
    judge_differences,
    pick_distances,
    split_into_parts,
)
from sfumato.measure.stored_checks import checks_stored_claim
from sfumato.release import Number

if TYPE_CHECKING:
    from sfumato.measure.stored_changes import StoredComparison
    from sfumato.measure.stored_claims import StoredEvidence


class NumberPair(NamedTuple):
    """Numbers of the same rows, before and after."""

    true: Floats
    published_numbers: Floats


class UsualDistance(NamedTuple):
    """The median of numbers, and how far they usually lie from it."""

    median: float
    distance: float


@dataclass(frozen=True, eq=False)
class StoredPairs:
    """A column before and after, in a temporary file: NaN where a cell is missing."""

    column: str
    number_pairs: Floats
    whole: bool
    single: bool
    """Whether originals have single precision."""
    path: Path
    source: str

    @classmethod
    def of(cls, column: str, comparison: StoredComparison, scratch: Path) -> StoredPairs:
        """Put the numbers of both files side by side."""
        original, published_table = comparison.original, comparison.published_table
        path = scratch / f"pairs-{list(published_table.rows.schema).index(column)}"
        number_pairs = np.memmap(path, np.float64, "w+", shape=(2, published_table.rows.height))
        whole, begin = True, 0
        for batch in align_batches(
            original.rows, published_table.rows, comparison.taken_rows, "comparing numbers", [column]
        ):
            end = begin + batch.published_frame.height
            number_pairs[0, begin:end], whole = read_noise_numbers(batch.original, column)
            number_pairs[1, begin:end], _ = read_noise_numbers(batch.published_frame, column)
            begin = end
        return cls(
            column, number_pairs, whole, original.rows.schema[column] == pl.Float32, path, published_table.source
        )

    def iterate(self) -> Iterator[NumberPair]:
        """The rows in which both are known, some at a time."""
        for part in split_into_parts(self.number_pairs.shape[1]):
            true, published_numbers = np.asarray(self.number_pairs[0, part]), np.asarray(self.number_pairs[1, part])
            known_mask = np.isfinite(true) & np.isfinite(published_numbers)
            yield NumberPair(true[known_mask], published_numbers[known_mask])

    @cached_property
    def count(self) -> int:
        """How many rows have both."""
        count = sum(len(pair.true) for pair in self.iterate())
        if not count and any(
            np.isfinite(self.number_pairs[:, part]).any() for part in split_into_parts(self.number_pairs.shape[1])
        ):
            raise DataError(f'{self.source}: no row has "{self.column}" both in the release and in the originals')
        return count

    @cached_property
    def differences(self) -> Floats:
        """What was added, sorted in a file."""
        return self._sort("added", self.count, (pair.published_numbers - pair.true for pair in self.iterate()))

    @cached_property
    def grain(self) -> float:
        """The storage precision of the largest number; 0 for whole ones."""
        pairs = [np.abs(pair).max(initial=0.0) for pair in self.iterate()]
        largest = max(map(float, pairs), default=0.0)
        return float(np.spacing(np.float32(largest) if self.single else largest))

    @cached_property
    def usual(self) -> UsualDistance:
        """The median of the originals, and that of their distances from it; the mean of these if it is 0."""
        parts = [self.number_pairs[0, part] for part in split_into_parts(self.number_pairs.shape[1])]
        known_count = int(sum(np.isfinite(part).sum() for part in parts))
        if not known_count:
            return UsualDistance(0.0, 0.0)
        sorted_numbers = self._sort("true", known_count, (part[np.isfinite(part)] for part in parts))
        ranks = np.unique([(known_count + 1) // 2, known_count // 2 + 1])
        middle = float(np.mean(sorted_numbers[ranks - 1]))
        distance = float(np.mean(pick_distances(sorted_numbers, middle, ranks)))
        means = (float(np.abs(sorted_numbers[part] - middle).sum()) for part in split_into_parts(known_count))
        return UsualDistance(middle, distance or sum(means) / known_count)

    def standardize(self, part: slice) -> Floats:
        """Standardized originals, and their distances from the centre; outliers are capped at three times the usual."""
        middle, usual = self.usual
        stand = np.clip((self.number_pairs[0, part] - middle) / (usual or 1.0), -3.0, 3.0)
        return np.array((stand, np.abs(stand)))

    def _sort(self, name: str, count: int, parts: Iterator[Floats]) -> Floats:
        if not count:
            return np.zeros(0)
        sorted_numbers = np.memmap(self.path.with_suffix(f".{name}"), np.float64, "w+", shape=(count,))
        begin = 0
        for part in parts:
            sorted_numbers[begin : begin + len(part)] = part
            begin += len(part)
        sorted_numbers.sort()
        return sorted_numbers


def _measure_privacy(pairs: StoredPairs, arguments: Arguments) -> Number:
    differences = pairs.differences
    if not len(differences):
        return 0.0
    held_count = max(1, int(np.ceil(arguments["confidence"] * len(differences) - 1e-9)))
    step = 1.0 if pairs.whole else 0.0
    span = arguments["high"] - arguments["low"] + step
    return float(round((find_narrowest(differences, held_count - 1) + step) / span, 12))


def _measure_law(pairs: StoredPairs, arguments: Arguments) -> Number:
    scale, step = arguments["scale"], arguments["step"]
    if not pairs.count:
        return 0.0
    blur = step / 2 if step else max(1e-5 * scale, arguments["grid"], 2 * pairs.grain)
    return judge_differences(pairs.differences, StatedLaw(arguments["kind"], scale, step), blur)


def _measure_centre(pairs: StoredPairs, arguments: Arguments) -> Number:
    if not pairs.count:
        return 0.0
    total = sum(float((pair.published_numbers - pair.true).sum()) for pair in pairs.iterate())
    mean_offset, error = abs(total / pairs.count), (arguments["deviation"] or 1e-300) / np.sqrt(pairs.count)
    return round(float(mean_offset / error), 12) if mean_offset else 0.0


def _count_unchanged(pairs: StoredPairs, _: Arguments) -> Number:
    return sum(int((pair.true == pair.published_numbers).sum()) for pair in pairs.iterate())


def _list_shown(pairs: StoredPairs) -> Floats:
    """The different published values; few, since they are midpoints."""
    middles = np.zeros(0)
    for pair in pairs.iterate():
        middles = np.union1d(middles, pair.published_numbers)
    return middles


def _measure_cut(pairs: StoredPairs, arguments: Arguments) -> Number:
    return measure_narrowest_cut(_list_shown(pairs), arguments["edges"], arguments["confidence"])


def _count_outside_cuts(pairs: StoredPairs, arguments: Arguments) -> Number:
    edges, whole, single = arguments["edges"], bool(arguments["whole"]), pairs.single
    return sum(int(flag_outside_cuts(*pair, edges, whole, single=single).sum()) for pair in pairs.iterate())


def _measure_interval(pairs: StoredPairs, arguments: Arguments) -> Number:
    limits = {name: arguments[name] for name in ("width", "low", "high", "confidence")}
    return measure_narrowest_remainder(_list_shown(pairs), pairs.whole, **limits)


def _count_outside(pairs: StoredPairs, arguments: Arguments) -> Number:
    width, origin, step = (arguments[name] for name in ("width", "origin", "step"))
    grain = 0.0 if step else pairs.grain
    return sum(int(flag_outside_intervals(*pair, width, origin, step, grain).sum()) for pair in pairs.iterate())


@checks_stored_claim("noise_dependence")
def _measure_dependence(evidence: StoredEvidence, arguments: Arguments) -> Number:
    """As `measure_noise_dependence`: noise counts by its rank, which is uniform."""
    pairs = find_pairs(evidence, arguments["column"])
    law = StatedLaw(arguments["kind"], arguments["scale"], arguments["step"])

    def rank(part: slice) -> Floats:
        differences = pairs.number_pairs[1, part] - pairs.number_pairs[0, part]
        return np.array((law.rank(differences), law.rank_size(differences)))

    size = pairs.number_pairs.shape[1]
    other_weights = [_make_weights(find_pairs(evidence, name)) for name in arguments["other_columns"]]
    return round(max(_associate(weigh, rank, size) for weigh in (pairs.standardize, *other_weights)), 12)


def _make_weights(other: StoredPairs) -> Callable[[slice], Floats]:
    def weigh(part: slice) -> Floats:
        other_noise = other.number_pairs[1, part] - other.number_pairs[0, part]
        return np.vstack((other.standardize(part), other_noise, np.abs(other_noise)))

    return weigh


def _associate(weigh: Callable[[slice], Floats], rank: Callable[[slice], Floats], size: int) -> float:
    """By how many standard errors uniform ranks correlate with weights: the maximum over all pairs of rows."""

    def iterate() -> Iterator[tuple[Floats, Floats]]:
        for part in split_into_parts(size):
            weights, places = weigh(part), rank(part)
            known_mask = np.isfinite(weights[-1]) & np.isfinite(places[0])
            yield weights[:, known_mask], places[:, known_mask]

    sums, most, count = np.zeros(1), np.zeros(1), 0
    for weights, _ in iterate():
        sums, most = sums + weights.sum(axis=1), np.maximum(most, np.abs(weights).max(axis=1, initial=0.0))
        count += weights.shape[1]
    if not count:
        return 0.0
    squares, products = np.zeros(1), np.zeros((1, 1))
    for weights, places in iterate():
        centred_weights = weights - (sums / count)[:, None]
        squares, products = (
            squares + np.einsum("ij,ij->i", centred_weights, centred_weights),
            products + centred_weights @ places.T,
        )
    lengths = np.sqrt(squares)
    varied_mask = lengths > 1e-9 * most
    return float((np.abs(products[varied_mask]) * np.sqrt(12) / lengths[varied_mask, None]).max(initial=0.0))


@checks_stored_claim("changed_without_noise")
def _count_changed_besides(evidence: StoredEvidence, arguments: Arguments) -> Number:
    assert evidence.comparison is not None
    names = arguments["columns"]
    return evidence.comparison.count_aligned(
        lambda original, published_table: count_cells_changed_without_noise(original, published_table, names)
    )


def find_pairs(evidence: StoredEvidence, column: str) -> StoredPairs:
    """The numbers of a column before and after, put side by side once."""
    assert evidence.comparison is not None and evidence.scratch is not None
    if column not in evidence.pairs:
        evidence.pairs[column] = StoredPairs.of(column, evidence.comparison, evidence.scratch)
    return evidence.pairs[column]


def measure_noise_loss(pairs: StoredPairs) -> float:
    """The share of the published variance that is noise, as in `change_losses`."""
    noise, published_squares = (
        _sum_squares(pairs, lambda pair: pair.published_numbers - pair.true),
        _sum_squares(pairs, lambda p: p.published_numbers),
    )
    return min(noise / (published_squares or 1.0), 1.0)


def measure_interval_loss(pairs: StoredPairs) -> float:
    """The share of the variance that midpoints do not show, as in `change_losses`."""
    hidden_squares = sum(float(((pair.published_numbers - pair.true) ** 2).sum()) for pair in pairs.iterate())
    return min(hidden_squares / (_sum_squares(pairs, lambda pair: pair.true) or 1.0), 1.0)


def _sum_squares(pairs: StoredPairs, choose: Callable[[NumberPair], Floats]) -> float:
    """The sum of squared distances from the mean."""
    mean = sum(float(choose(pair).sum()) for pair in pairs.iterate()) / max(pairs.count, 1)
    return sum(float(((choose(pair) - mean) ** 2).sum()) for pair in pairs.iterate())


def _make_check(
    measure: Callable[[StoredPairs, Arguments], Number],
) -> Callable[[StoredEvidence, Arguments], Number]:
    return lambda evidence, arguments: measure(find_pairs(evidence, arguments["column"]), arguments)


checks_stored_claim("noise_privacy")(_make_check(_measure_privacy))
checks_stored_claim("noise_law")(_make_check(_measure_law))
checks_stored_claim("noise_centre")(_make_check(_measure_centre))
checks_stored_claim("unchanged_cells")(_make_check(_count_unchanged))
checks_stored_claim("interval_privacy")(_make_check(_measure_interval))
checks_stored_claim("outside_interval")(_make_check(_count_outside))
checks_stored_claim("cut_privacy")(_make_check(_measure_cut))
checks_stored_claim("outside_cuts")(_make_check(_count_outside_cuts))
