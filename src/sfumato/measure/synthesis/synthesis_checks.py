# SPDX-License-Identifier: MIT
"""Check synthetic data against the promise, and how close it comes to people, from the originals.

No code is shared with the method. Cells are compared as text, so that a file that was written and read again is judged
like the table it came from; dates, timestamps and amounts stored as text are numbers. Copies and distances mean little
by themselves, since common rows are drawn often: they are compared with those of held-out people, whom the method never
saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError
from sfumato.measure.alignment import Rows, require_columns, select_originals
from sfumato.measure.cell_readers import choose_number_reader
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.measure.synthesis.closest_record import SAMPLE, ClosestRecords, closest_records
from sfumato.release import Number
from sfumato.table import Table

__all__ = ["ClosestRecords", "closest_records"]  # defined elsewhere, looked up here


@dataclass(frozen=True)
class ExactCopies:
    """How many published rows equal some person's, in all published columns."""

    rows: int
    """Published rows that equal an original."""
    unique_rows: int
    """Of these, those that equal a unique original: such a row belongs to one person only."""
    people: int
    """How many people have a row that was published."""


def exact_copies(published_table: Table, original: Table, crowd_table: Table | None = None) -> ExactCopies:
    """Count published rows that equal someone's. Unique means among the originals, or the people of `crowd_table`."""
    names = published_table.frame.columns
    for table in (original, *(() if crowd_table is None else (crowd_table,))):
        require_columns(table.frame, names, table.source)
    published_frame, people = _spell_columns(published_table.frame, names), _spell_columns(original.frame, names)
    keys = published_frame.columns
    crowd = people if crowd_table is None else _spell_columns(crowd_table.frame, names)
    value_counts = people.group_by(keys).agg(pl.len().alias("people"))
    sizes = crowd.group_by(keys).agg(pl.len().alias("size"))
    people_counts = value_counts.join(sizes, on=keys, how="left", nulls_equal=True).with_columns(
        (pl.col("size").fill_null(1) == 1).alias("unique")
    )
    copies = (
        published_frame.group_by(keys)
        .agg(pl.len().alias("rows"))
        .join(people_counts, on=keys, how="inner", nulls_equal=True)
    )
    unique_copies = copies.filter(pl.col("unique"))
    return ExactCopies(
        int(copies["rows"].sum()),
        int(unique_copies["rows"].sum()),
        int(copies["people"].sum()),
    )


@dataclass(frozen=True)
class HoldoutComparison:
    """What a synthetic release shows about training records, compared with as many held-out ones."""

    people: int
    """The number of people on each side."""
    closest: ClosestRecords
    training: ExactCopies
    holdout: ExactCopies
    all_training: ExactCopies
    """Copies of all training people, not of as many as were held out."""

    def as_json(self) -> dict[str, float]:
        """The figures for a script or a certificate."""
        records = self.closest
        return {
            "people": self.people,
            "rows_judged": records.rows,
            "nearer_training": records.nearer,
            "closest_5th": records.training_5th,
            "closest_5th_holdout": records.holdout_5th,
            "closest_median": records.training_median,
            "closest_median_holdout": records.holdout_median,
            "copied_rows": self.training.rows,
            "copied_rows_holdout": self.holdout.rows,
            "copied_uniques": self.training.unique_rows,
            "copied_uniques_holdout": self.holdout.unique_rows,
        }


def compare_with_holdout(
    published_table: Table, original: Table, holdout: Rows, sample: int | None = SAMPLE, seed: int = 0
) -> HoldoutComparison:
    """Compare a release with the held-out rows of the originals; the others are sampled to as many."""
    aside = np.unique(np.asarray(holdout, dtype=np.int64))
    if not len(aside) or len(aside) >= len(original) or not 0 <= int(aside[0]) <= int(aside[-1]) < len(original):
        raise DataError(
            f"{original.source}: {len(aside)} of {len(original)} people are held out; give the table that "
            "the release was made from, and a hold-out above 0"
        )
    training_rows = np.setdiff1d(np.arange(len(original)), aside)
    size = min(len(aside), len(training_rows))
    chance = np.random.default_rng(seed)
    training_table, far = (
        original.replace_frame(original.frame[np.sort(chance.choice(side, size, replace=False))])
        for side in (training_rows, aside)
    )
    return HoldoutComparison(
        size,
        closest_records(published_table, training_table, far, sample=sample, seed=seed),
        exact_copies(published_table, training_table, original),
        exact_copies(published_table, far, original),
        exact_copies(published_table, original.replace_frame(original.frame[training_rows]), original),
    )


def pairwise_total_variation(
    original: Table, published_table: Table, bins: int = 10, columns: Sequence[str] | None = None
) -> float:
    """The mean total variation between the joint distributions of two columns, over all pairs of columns.

    Each word, compared as text, is a group; missing is a group of its own. Numbers (and dates, timestamps and amounts,
    also as text) are cut into at most `bins` groups. The cuts are quantiles of the n originals that are not missing:
    for k = 1 … bins − 1 the ⌈n k / bins⌉th smallest of them, without duplicates. A number belongs to the first cut that
    it does not exceed, or else lies above them all: so different numbers share a group if no cut lies between them,
    with more than `bins` of them, with few people, or where no original is. A published cell that is not a number
    counts as missing there. 0 means that every pair of columns is distributed as before, 1 that nothing is left.
    """
    names = list(columns or published_table.frame.columns)
    for table in (original, published_table):
        require_columns(table.frame, names, table.source)
        if not len(table):
            raise DataError(f"{table.source}: the table has no rows, so nothing can be compared; add rows")
    cut = [_group_cells(original.frame[name], published_table.frame[name], bins) for name in names]
    pairs = list(combinations(range(len(names)), 2)) or [(0, 0)]
    return round(sum(_compute_pair_variation(cut[a], cut[b]) for a, b in pairs) / len(pairs), 12)


def count_copied_uniques(original: Table, published_table: Table) -> int:
    """How many published rows equal an original that is unique."""
    return exact_copies(published_table, original).unique_rows


def count_foreign_values(original: Table, published_table: Table, columns: Sequence[str]) -> int:
    """How many published cells hold a word that no original has, a number beyond them all, or nothing where no original
    is missing.
    """
    for table in (original, published_table):
        require_columns(table.frame, columns, table.source)
    count = 0
    for name in columns:
        originals, cells = original.frame[name], published_table.frame[name]
        if originals.null_count() == 0:
            count += cells.null_count()
        read = choose_number_reader(originals)
        if read is not None:
            originals, cells = read(originals), read(cells)
            strange = (
                (cells < originals.min()) | (cells > originals.max())
                if originals.null_count() < len(originals)
                else None
            )
            count += cells.len() - cells.null_count() if strange is None else int(strange.fill_null(value=False).sum())
            count += cells.null_count() - published_table.frame[name].null_count()
        else:
            known_words = spell_cells(originals).drop_nulls().unique()
            count += int((~spell_cells(cells).drop_nulls().is_in(known_words.implode())).sum())
    return count


def count_people_at_extremes(original: Table, published_table: Table, columns: Sequence[str]) -> int:
    """How many originals reach the highest published number, or the lowest; the minimum over the columns.

    Dates, timestamps and amounts stored as text count as numbers; 0 if a column holds words, which have no extremes.
    """
    for table in (original, published_table):
        require_columns(table.frame, columns, table.source)
    fewest = len(original)
    for name in columns:
        read = choose_number_reader(original.frame[name])
        if read is None:
            return 0
        originals, numbers = read(original.frame[name]), read(published_table.frame[name])
        if numbers.null_count() < len(numbers):
            reach_counts = (int((originals >= numbers.max()).sum()), int((originals <= numbers.min()).sum()))
            fewest = min(fewest, *reach_counts)
    return fewest


def count_rare_words(original: Table, published_table: Table, fewest: int, columns: Sequence[str] | None = None) -> int:
    """How many published cells hold a word that fewer than `fewest` originals have, or none at all.

    Of the named columns; or of all except those of numbers, dates, timestamps and amounts.
    """
    names = published_table.frame.columns if columns is None else columns
    for table in (original, published_table):
        require_columns(table.frame, names, table.source)
    count = 0
    for name in names:
        original_cells = original.frame[name]
        if columns is not None or choose_number_reader(original_cells) is None:
            word_counts = spell_cells(original_cells).drop_nulls().alias("word").value_counts(name="people")
            common = word_counts.filter(pl.col("people") >= fewest)["word"]
            count += int((~spell_cells(published_table.frame[name]).drop_nulls().is_in(common.implode())).sum())
    return count


def _take_originals(evidence: Evidence) -> Table:
    """The originals of the published rows, since an earlier method may have left rows out; all, if rows were drawn."""
    original: Table = evidence.original
    if evidence.details.get("training") is not None:
        return original
    return original.replace_frame(select_originals(original, evidence.rows))


checks_claim("copied_uniques", "exactly", needs_original=True)(
    lambda evidence, _: count_copied_uniques(_take_originals(evidence), evidence.published_data)
)
checks_claim("people_at_extremes", "at_least", needs_original=True)(
    lambda evidence, arguments: count_people_at_extremes(
        _take_originals(evidence), evidence.published_data, **arguments
    )
)
checks_claim("rare_words", "exactly", needs_original=True)(
    lambda evidence, arguments: count_rare_words(_take_originals(evidence), evidence.published_data, **arguments)
)


@checks_claim("nearer_training", "at_most", needs_original=True)
def _measure_nearer_training(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    aside = evidence.details["holdout"]  # without it the claim stays open
    return compare_with_holdout(evidence.published_data, evidence.original, aside).closest.nearer


def _spell_columns(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame([spell_cells(frame[name]).alias(f"x{index}") for index, name in enumerate(names)])


class _CellGroups(NamedTuple):
    """The group of every cell of a column, before and after."""

    before: Ints
    after: Ints
    group_count: int


def _group_cells(original: pl.Series, published_cells: pl.Series, bins: int) -> _CellGroups:
    """The group of every cell of both columns, and the number of groups."""
    read = choose_number_reader(original)
    if read is not None:
        numbers = [read(values).cast(pl.Float64, strict=False) for values in (original, published_cells)]
        known_numbers = np.sort(numbers[0].drop_nulls().to_numpy())
        cuts = (
            np.unique(known_numbers[[max(-(-len(known_numbers) * step // bins) - 1, 0) for step in range(1, bins)]])
            if len(known_numbers)
            else known_numbers
        )
        groups = [
            np.where(values.is_null().to_numpy(), 0, 1 + np.searchsorted(cuts, values.fill_null(0.0).to_numpy()))
            for values in numbers
        ]
        return _CellGroups(groups[0], groups[1], len(cuts) + 2)
    texts = (
        pl.concat([spell_cells(original), spell_cells(published_cells)])
        .rank("dense")
        .fill_null(0)
        .to_numpy()
        .astype(np.int64)
    )
    return _CellGroups(texts[: len(original)], texts[len(original) :], int(texts.max()) + 1)


def _compute_pair_variation(first_groups: _CellGroups, other: _CellGroups) -> float:
    counts = []
    for first, second in ((first_groups.before, other.before), (first_groups.after, other.after)):
        keys = pl.DataFrame({"key": first.astype(np.int64) * other.group_count + second})
        counts.append(keys.group_by("key").agg((pl.len() / keys.height).alias("share")).sort("key"))
    joint_shares = counts[0].join(counts[1], on="key", how="full", coalesce=True, maintain_order="left_right")
    return float((joint_shares["share"].fill_null(0.0) - joint_shares["share_right"].fill_null(0.0)).abs().sum()) / 2
