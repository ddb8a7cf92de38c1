# SPDX-License-Identifier: MIT
"""The I-divergence (Kullback-Leibler) between the joint distributions of a swapped column and the others.

Li and Sarkar (2004) call D(P, P̃) = Σ P log (P / P̃) over full patterns the distance that swapping should keep small,
and estimate P by simple Bayes, because patterns that occur once tell nothing: each of them shifts by the same amount,
whichever records are swapped. Both are computed here, in bits. A pattern that the release lacks would make D infinite,
so half a count is added to every count. Needs the originals, so it stays with the custodian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import PolicyError
from sfumato.measure.alignment import Rows, require_columns, select_originals
from sfumato.measure.given_tables import require_tables
from sfumato.table import Table

PRIOR = 0.5
"""What is added to every count."""


@dataclass(frozen=True)
class JointDivergence:
    """How far the joint distribution of a column and others moved, in bits."""

    patterns: float
    """Over the full patterns that occur before or after."""
    simple_bayes: float
    """Over all patterns, where the others are taken to be independent given the column."""


def joint_divergence(
    original: Table, published_table: Table, column: str, columns: Sequence[str] | None = None, rows: Rows = None
) -> JointDivergence:
    """The I-divergence of the release from the originals, for a column and others; by default the quasi-identifying.

    `rows` maps each published row to its original row. A missing cell is a value of its own.
    """
    require_tables(original, published_table, columns)
    names = [name for name in (columns or published_table.quasi_identifying) if name != column]
    if not names:
        raise PolicyError(f'{published_table.source}: there is no column besides "{column}"; name some in columns')
    original_frame = select_originals(original, rows)
    require_columns(original_frame, (*names, column), original.source)
    require_columns(published_table.frame, (*names, column), published_table.source)
    if not original_frame.height or not len(published_table):
        raise PolicyError(f"{published_table.source}: a table without rows has no distribution to compare")
    coded_columns = [_number_together(original_frame[name], published_table.frame[name]) for name in (*names, column)]
    *other_columns, own_column = coded_columns
    return JointDivergence(
        round(_compare_patterns(coded_columns), 12) + 0.0, round(_compare_by_bayes(other_columns, own_column), 12) + 0.0
    )


@dataclass(frozen=True, eq=False)
class _AlignedColumn:
    """A column before and after, numbered alike."""

    original: Ints
    published_cells: Ints
    width: int


def _number_together(original: pl.Series, published_cells: pl.Series) -> _AlignedColumn:
    all_cells = pl.concat([spell_cells(original).alias("value"), spell_cells(published_cells).alias("value")])
    numbers = all_cells.rank("dense").cast(pl.Int64).fill_null(0).to_numpy().astype(np.int64)
    return _AlignedColumn(numbers[: len(original)], numbers[len(original) :], int(numbers.max(initial=0)) + 1)


def _compare_patterns(coded_columns: Sequence[_AlignedColumn]) -> float:
    """D over the full patterns that occur."""
    frames = [
        pl.DataFrame([getattr(column, side) for column in coded_columns]) for side in ("original", "published_cells")
    ]
    counts = [frame.group_by(pl.all()).agg(pl.len().alias("count")) for frame in frames]
    names = frames[0].columns
    joint_counts = counts[0].join(counts[1], on=names, how="full", coalesce=True)
    side_counts = (joint_counts[name].fill_null(0).to_numpy().astype(np.float64) for name in ("count", "count_right"))
    return _sum_divergence(*(_smooth_shares(part) for part in side_counts))


def _compare_by_bayes(other_columns: Sequence[_AlignedColumn], own_column: _AlignedColumn) -> float:
    """D of two simple Bayes models: that of the column, and of each other column given its value (the chain rule)."""
    values = [
        np.bincount(part, minlength=own_column.width).astype(np.float64)
        for part in (own_column.original, own_column.published_cells)
    ]
    present_mask = (values[0] + values[1]) > 0
    marginal = [_smooth_shares(counts[present_mask]) for counts in values]
    weights = np.zeros(own_column.width)
    weights[present_mask] = marginal[0]
    return _sum_divergence(*marginal) + sum(
        _compare_given(other, own_column, values, weights) for other in other_columns
    )


def _compare_given(
    other: _AlignedColumn, own_column: _AlignedColumn, values: Sequence[Floats], weights: Floats
) -> float:
    """The mean over values y of D between the distributions of x given y.

    Pairs that occur neither before nor after are alike for each y, and are only counted: there may be very many.
    """
    pairs, pair_index = np.unique(
        np.concatenate(
            [
                other.original * own_column.width + own_column.original,
                other.published_cells * own_column.width + own_column.published_cells,
            ]
        ),
        return_inverse=True,
    )
    early = np.bincount(pair_index[: len(own_column.original)], minlength=len(pairs)) + PRIOR
    late = np.bincount(pair_index[len(own_column.original) :], minlength=len(pairs)) + PRIOR
    y, height = pairs % own_column.width, len(np.unique(np.concatenate([other.original, other.published_cells])))
    original_totals, published_totals = (counts + PRIOR * height for counts in values)
    seen_terms = (
        weights[y] * (early / original_totals[y]) * np.log2(early / original_totals[y] / (late / published_totals[y]))
    )
    absent = height - np.bincount(y, minlength=own_column.width)
    unseen = weights * absent * (PRIOR / original_totals) * np.log2(published_totals / original_totals)
    return float(seen_terms.sum() + unseen.sum())


def _smooth_shares(counts: Floats) -> Floats:
    """Shares of counts, with half a count more each."""
    more = counts + PRIOR
    shares: Floats = more / more.sum()
    return shares


def _sum_divergence(true: Floats, read: Floats) -> float:
    return float((true * np.log2(true / read)).sum())
