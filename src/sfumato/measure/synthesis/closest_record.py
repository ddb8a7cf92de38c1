# SPDX-License-Identifier: MIT
"""Distance to the closest record: are synthetic rows nearer to the people they were learnt from than to others?

Somebody who was not learnt from is as near to the release as the population is to itself. Whoever was learnt from
should be no nearer. So each synthetic row's distance to the closest of them is set beside its distance to the closest
of equally many people who were set aside: a fair release has half of its rows nearer to either.
The distance is Gower's (1971): the mean over columns of 0 or 1 for words, and of the difference over the range for
numbers and dates, also those kept as text; a missing cell is 1 from any value and 0 from another missing one.
M. Platzer, T. Reutterer, *Holdout-based empirical assessment of mixed-type synthetic data* (2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats
from sfumato.data.hierarchy import spell_cells
from sfumato.errors import DataError, quote_names
from sfumato.measure.number_reader import choose_number_reader
from sfumato.progress import report_progress
from sfumato.table import Table

SAMPLE = 20_000
"""How many synthetic rows are judged, and people on each side, unless more is asked for."""
_CHUNK = 500
# Farther from any number of 0 to 1 than the most that is counted, which is 1.
_MISSING = -9.0


@dataclass(frozen=True)
class ClosestRecords:
    """How far synthetic rows are from people learnt from, and from as many people set aside."""

    rows: int
    """How many synthetic rows were judged."""
    people: int
    """How many people there were on each side."""
    nearer: float
    """The share of rows nearer to somebody learnt from; 0.5 is fair. Of rows equally far from both, half count."""
    training_5th: float
    """The distance below which the 5 % of rows lie that are closest to people learnt from."""
    holdout_5th: float
    training_median: float
    holdout_median: float
    equal_training: int
    """How many rows are at no distance from somebody learnt from: copies in every column compared."""
    equal_holdout: int


def closest_records(
    published: Table,
    original: Table,
    holdout: Table,
    columns: Sequence[str] | None = None,
    sample: int | None = SAMPLE,
    seed: int = 0,
) -> ClosestRecords:
    """Compare distances to the originals that were learnt from with those to people who were set aside.

    Both sides are thinned to the same number, and rows and people to `sample` of each, drawn by `seed`; with None
    nobody is left out but for the sides to be equal.
    """
    names = list(columns or published.frame.columns)
    for table in (published, original, holdout):
        absent = [name for name in names if name not in table.frame.columns]
        if absent or not len(table):
            problem = f"there is no column {quote_names(absent)}" if absent else "there are no rows"
            raise DataError(f"{table.source}: {problem} to compare")
    chance = np.random.default_rng(seed)
    most = len(published) if sample is None else sample
    side = min(len(original), len(holdout), max(most, 1) if sample is not None else len(holdout))
    frames = [
        _sample_rows(table.frame.select(names), size, chance)
        for table, size in ((published, min(most, len(published))), (original, side), (holdout, side))
    ]
    (rows, learnt, aside), words = _encode_frames(frames)
    order = np.argsort(-_measure_column_spread(learnt, words), kind="stable")
    rows, learnt, aside = (np.ascontiguousarray(array[:, order]) for array in (rows, learnt, aside))
    # Rounded, so that sums of the same differences tie.
    near, far = (
        np.round(_find_least_distances(rows, people, words[order]) / len(names), 12) for people in (learnt, aside)
    )
    return ClosestRecords(
        rows=len(rows),
        people=side,
        nearer=round(float((near < far).mean() + (near == far).mean() / 2), 12),
        training_5th=round(float(np.quantile(near, 0.05)), 12),
        holdout_5th=round(float(np.quantile(far, 0.05)), 12),
        training_median=round(float(np.median(near)), 12),
        holdout_median=round(float(np.median(far)), 12),
        equal_training=int((near == 0).sum()),
        equal_holdout=int((far == 0).sum()),
    )


def _sample_rows(frame: pl.DataFrame, size: int, chance: np.random.Generator) -> pl.DataFrame:
    return frame if size >= frame.height else frame[np.sort(chance.choice(frame.height, size, replace=False))]


def _encode_frames(frames: Sequence[pl.DataFrame]) -> tuple[list[Floats], Flags]:
    """Each frame as numbers: words by a number each, numbers by their place in the range of the people's."""
    columns, words = [], []
    for name in frames[0].columns:
        parts = [frame[name] for frame in frames]
        read = choose_number_reader(parts[1])
        words.append(read is None)
        if read is not None:
            numbers = [read(part).cast(pl.Float64, strict=False) for part in parts]
            known = np.concatenate([part.drop_nulls().to_numpy() for part in numbers[1:]])
            low, span = (float(known.min()), float(np.ptp(known)) or 1.0) if len(known) else (0.0, 1.0)
            columns.append([((part - low) / span).fill_null(_MISSING).to_numpy() for part in numbers])
        else:
            texts = pl.concat([spell_cells(part) for part in parts])
            codes = texts.rank("dense").fill_null(0).to_numpy().astype(np.float64)
            ends = np.cumsum([len(part) for part in parts])
            columns.append(np.split(codes, ends[:-1]))
    return [np.column_stack([column[index] for column in columns]) for index in range(len(frames))], np.array(words)


def _measure_column_spread(people: Floats, words: Flags) -> Floats:
    """How far two people are apart in each column, in the mean: the first to look at are those that tell most."""
    other = np.roll(people, len(people) // 2 + 1, axis=0)
    gap = np.abs(people - other)
    return np.asarray(np.where(words, gap > 0, np.minimum(gap, 1.0)).mean(axis=0))


def _find_least_distances(rows: Floats, people: Floats, words: Flags) -> Floats:
    """The least distance of each row to anybody."""
    from sfumato.kernels.synthesis.closest_rows import find_closest_distances

    # Words first: likes stand together, and the search of each row begins among its own.
    ranks = [
        np.concatenate([rows[:, index], people[:, index]])
        for index in [*np.flatnonzero(words), *np.flatnonzero(~words)]
    ]
    order = np.lexsort(ranks[::-1])
    here = order >= len(rows)
    starts = np.empty(len(rows), dtype=np.int64)
    starts[order[~here]] = np.cumsum(here)[~here]
    standing = np.ascontiguousarray(people[order[here] - len(rows)])
    distances = np.empty(len(rows))
    for begin in range(0, len(rows), _CHUNK):
        report_progress("closest records", begin, len(rows))
        part = slice(begin, begin + _CHUNK)
        find_closest_distances(rows[part], standing, words, starts[part], distances[part])
    return distances
