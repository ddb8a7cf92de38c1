# SPDX-License-Identifier: MIT
"""Distance to the closest record: are synthetic rows nearer to training records than to held-out ones?

A held-out person is as near to the release as the population is to itself. A training record should be no nearer. So
each synthetic row's distance to the closest training record is compared with its distance to the closest of equally
many held-out records: in a fair release, half of the rows are nearer to either. The distance is Gower's (1971): the
mean over columns of 0 or 1 for words, and of the difference over the range for numbers and dates, also those stored as
text; a missing cell is 1 from any value and 0 from another missing one. M. Platzer, T. Reutterer, *Holdout-based
empirical assessment of mixed-type synthetic data* (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, quote_names
from sfumato.measure.cell_readers import choose_number_reader
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

SAMPLE = 20_000
"""How many synthetic rows, and people on each side, are compared by default."""
_CHUNK = 500
# Farther from any number in 0 to 1 than the maximum distance, which is 1.
_MISSING = -9.0


@dataclass(frozen=True)
class ClosestRecords:
    """How far synthetic rows are from training records, and from as many held-out records."""

    rows: int
    """The number of synthetic rows compared."""
    people: int
    """The number of people on each side."""
    nearer: float
    """The share of rows nearer to a training record; 0.5 is fair. Rows equally far from both count half."""
    training_5th: float
    """The 5 % quantile of the distances to training records."""
    holdout_5th: float
    training_median: float
    holdout_median: float
    equal_training: int
    """How many rows are at distance 0 from a training record: copies in every compared column."""
    equal_holdout: int


def closest_records(
    published_table: Table,
    original: Table,
    holdout: Table,
    columns: Sequence[str] | None = None,
    sample: int | None = SAMPLE,
    seed: int = 0,
) -> ClosestRecords:
    """Compare distances to the training records with those to held-out records.

    Both sides are sampled to the same number, and rows and people to `sample` of each, drawn with `seed`; with None,
    only the larger side is sampled.
    """
    names = list(columns or published_table.frame.columns)
    for table in (published_table, original, holdout):
        absent = [name for name in names if name not in table.frame.columns]
        if absent or not len(table):
            problem = f"there is no column {quote_names(absent)}" if absent else "there are no rows"
            raise DataError(f"{table.source}: {problem} to compare")
    chance = np.random.default_rng(seed)
    most = len(published_table) if sample is None else sample
    side = min(len(original), len(holdout), max(most, 1) if sample is not None else len(holdout))
    frames = [
        _sample_rows(table.frame.select(names), size, chance)
        for table, size in ((published_table, min(most, len(published_table))), (original, side), (holdout, side))
    ]
    (rows, training_rows, aside), words = _encode_frames(frames)
    order = np.argsort(-_measure_column_spread(training_rows, words), kind="stable")
    rows, training_rows, aside = (np.ascontiguousarray(array[:, order]) for array in (rows, training_rows, aside))
    # Rounded, so that sums of the same differences tie.
    training_distances, far = (
        np.round(_find_least_distances(rows, people, words[order]) / len(names), 12)
        for people in (training_rows, aside)
    )
    return ClosestRecords(
        rows=len(rows),
        people=side,
        nearer=round(float((training_distances < far).mean() + (training_distances == far).mean() / 2), 12),
        training_5th=round(float(np.quantile(training_distances, 0.05)), 12),
        holdout_5th=round(float(np.quantile(far, 0.05)), 12),
        training_median=round(float(np.median(training_distances)), 12),
        holdout_median=round(float(np.median(far)), 12),
        equal_training=int((training_distances == 0).sum()),
        equal_holdout=int((far == 0).sum()),
    )


def _sample_rows(frame: pl.DataFrame, size: int, chance: np.random.Generator) -> pl.DataFrame:
    return frame if size >= frame.height else frame[np.sort(chance.choice(frame.height, size, replace=False))]


def _encode_frames(frames: Sequence[pl.DataFrame]) -> tuple[list[Floats], Flags]:
    """Each frame as numbers: words as codes, numbers by their position in the range of the originals."""
    columns, words = [], []
    for name in frames[0].columns:
        parts = [frame[name] for frame in frames]
        read = choose_number_reader(parts[1])
        words.append(read is None)
        if read is not None:
            numbers = [read(part).cast(pl.Float64, strict=False) for part in parts]
            known_numbers = np.concatenate([part.drop_nulls().to_numpy() for part in numbers[1:]])
            low, span = (
                (float(known_numbers.min()), float(np.ptp(known_numbers)) or 1.0) if len(known_numbers) else (0.0, 1.0)
            )
            columns.append([((part - low) / span).fill_null(_MISSING).to_numpy() for part in numbers])
        else:
            texts = pl.concat([spell_cells(part) for part in parts])
            codes = texts.rank("dense").fill_null(0).to_numpy().astype(np.float64)
            ends = np.cumsum([len(part) for part in parts])
            columns.append(np.split(codes, ends[:-1]))
    return [np.column_stack([column[index] for column in columns]) for index in range(len(frames))], np.array(words)


def _measure_column_spread(people: Floats, words: Flags) -> Floats:
    """The mean distance of two people in each column: the most discriminating columns are compared first."""
    other = np.roll(people, len(people) // 2 + 1, axis=0)
    gap = np.abs(people - other)
    return np.asarray(np.where(words, gap > 0, np.minimum(gap, 1.0)).mean(axis=0))


def _find_least_distances(rows: Floats, people: Floats, words: Flags) -> Floats:
    """The smallest distance of each row to anybody."""
    from sfumato.kernels.synthesis.closest_rows import find_closest_distances

    # Sort by words first: similar rows are adjacent, and each row's search begins among them.
    ranks = [
        np.concatenate([rows[:, index], people[:, index]])
        for index in [*np.flatnonzero(words), *np.flatnonzero(~words)]
    ]
    order = np.lexsort(ranks[::-1])
    people_mask = order >= len(rows)
    starts = np.empty(len(rows), dtype=np.int64)
    starts[order[~people_mask]] = np.cumsum(people_mask)[~people_mask]
    person_rows = np.ascontiguousarray(people[order[people_mask] - len(rows)])
    distances = np.empty(len(rows))
    for begin in range(0, len(rows), _CHUNK):
        report_progress("closest records", begin, len(rows))
        part = slice(begin, begin + _CHUNK)
        find_closest_distances(rows[part], person_rows, words, starts[part], distances[part])
    return distances
