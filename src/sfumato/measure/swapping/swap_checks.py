# SPDX-License-Identifier: MIT
"""Check swapped data against the promise, from the originals and the release, by group-bys alone.

Identifiable records are found again from the originals: a record is identifiable if all records with its pattern have
its confidential value. So only the custodian can check. Values are compared as text, so that a file that was written
and read again is judged like the table it came from. Li and Sarkar (2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import PolicyError
from sfumato.measure.alignment import (
    Rows,
    align_originals,
    count_changes_elsewhere,
    make_comparison_check,
    require_columns,
    select_originals,
)
from sfumato.measure.checks import checks_claim
from sfumato.table import Table


def identifiable_records(table: Table, column: str, pattern: Sequence[str], rows: Rows = None) -> pl.DataFrame:
    """For every row its `status` (`unique`, `collective` or null) and its `group`, the first of the rows that share its
    pattern. A missing confidential value is never identifiable, and makes the rest of its group undetermined.
    """
    original_frame = select_originals(table, rows)
    require_columns(original_frame, (column, *pattern), table.source)
    cells = pl.DataFrame([spell_cells(original_frame[name]).alias(f"x{index}") for index, name in enumerate(pattern)])
    keys = cells.columns
    cells_with_rows = cells.with_columns(spell_cells(original_frame[column]).alias("y")).with_row_index("row")
    size, kinds, is_known = pl.len().over(keys), pl.col("y").n_unique().over(keys), pl.col("y").is_not_null()
    alike = is_known & (kinds == 1)
    status = pl.when(alike & (size == 1)).then(pl.lit("unique")).when(alike).then(pl.lit("collective"))
    return cells_with_rows.select(status.alias("status"), pl.col("row").min().over(keys).cast(pl.Int64).alias("group"))


def count_uniques_off_share(
    original: Table, published_table: Table, column: str, pattern: Sequence[str], share: float, rows: Rows = None
) -> int:
    """By how many records the number of changed uniquely identifiable ones differs from round(share × all of them)."""
    unique = _flag_unique_records(original, column, pattern, rows)
    return abs(
        int((_flag_changed_cells(original, published_table, column, rows) & unique).sum())
        - round(share * int(unique.sum()))
    )


def count_unbroken_groups(
    original: Table,
    published_table: Table,
    column: str,
    pattern: Sequence[str],
    group_share: float = 1,
    rows: Rows = None,
) -> int:
    """How many collectively identifiable groups still agree, or lack the promised number of changed records.

    `group_share` is a number of records if it is whole (an int), a share of the group if it is a fraction; at least one
    record is changed, and at least one is not.
    """
    status_frame = identifiable_records(original, column, pattern, rows)
    groups = (
        status_frame.with_columns(
            _flag_changed_cells(original, published_table, column, rows).alias("changed"),
            spell_cells(published_table.frame[column]).alias("now"),
        )
        .filter(pl.col("status") == "collective")
        .group_by("group")
        .agg(pl.len().alias("size"), pl.col("changed").sum(), pl.col("now").n_unique().alias("values"))
    )
    broken_count = 0
    for size, changed_count, values in groups.select("size", "changed", "values").iter_rows():
        wanted_count = group_share if isinstance(group_share, int) else round(group_share * size)
        broken_count += values > 1 and changed_count == min(max(wanted_count, 1), size - 1)
    return groups.height - broken_count


def measure_marginal_shift(original: Table, published_table: Table, column: str, rows: Rows = None) -> int:
    """Σ over the values of a column of the difference in their counts; missing is a value."""
    original_counts, published_counts = (
        _count_spelt_values(select_originals(original, rows)[column]),
        _count_spelt_values(published_table.frame[column]),
    )
    return sum(
        abs(original_counts.get(value, 0) - published_counts.get(value, 0))
        for value in original_counts.keys() | published_counts.keys()
    )


def compare_value_shares(original: Table, published_table: Table, column: str, rows: Rows = None) -> pl.DataFrame:
    """Each `value` of a column with its share of the rows `before` and `after`, the largest change first."""
    original_frame = select_originals(original, rows)
    require_columns(original_frame, [column], original.source)
    require_columns(published_table.frame, [column], published_table.source)
    original_counts, published_counts = (
        _count_spelt_values(frame[column]) for frame in (original_frame, published_table.frame)
    )
    values = sorted(original_counts.keys() | published_counts.keys(), key=lambda value: (value is None, value or ""))
    shares = [
        (
            value,
            original_counts.get(value, 0) / original_frame.height,
            published_counts.get(value, 0) / len(published_table),
        )
        for value in values
    ]
    frame = pl.DataFrame(shares, {"value": pl.String, "before": pl.Float64, "after": pl.Float64}, orient="row")
    return frame.sort((pl.col("after") - pl.col("before")).abs(), descending=True, maintain_order=True)


def count_cells_changed_elsewhere(
    original: Table,
    published_table: Table,
    column: str,
    pattern: Sequence[str],
    confidential: Sequence[str] = (),
    rows: Rows = None,
) -> int:
    """How many cells were changed that may not be: other columns, and the column in records that are not identifiable.

    `confidential` lists columns that are also swapped, and judged separately. A missing cell must stay missing.
    """
    count = count_changes_elsewhere(original, published_table, (column, *confidential), rows)
    original_frame = align_originals(original, published_table, rows)
    is_identifiable = identifiable_records(original, column, pattern, rows)["status"].is_not_null()
    lost_mask = spell_cells(published_table.frame[column]).is_null() & original_frame[column].is_not_null()
    return count + int(
        (_flag_changed_cells(original, published_table, column, rows) & (~is_identifiable | lost_mask)).sum()
    )


def joint_total_variation(
    original: Table,
    published_table: Table,
    column: str,
    columns: Sequence[str] | None = None,
    width: int = 1,
    rows: Rows = None,
) -> float:
    """The mean total variation between joint distributions of a column with `width` others, over all sets of them.

    By default the others are the quasi-identifying columns. With all of them at once it is the share of changed
    records, if only identifiable ones change.
    """
    names = [name for name in (columns or published_table.quasi_identifying) if name != column]
    if not 1 <= width <= len(names):
        raise PolicyError(f"{published_table.source}: {len(names)} columns have no sets of {width}")
    original_frame = select_originals(original, rows)
    require_columns(original_frame, (*names, column), original.source)
    original_columns, published_columns = (
        {n: spell_cells(f[n]) for n in (*names, column)} for f in (original_frame, published_table.frame)
    )
    distances = []
    for chosen_names in combinations(names, width):
        frames = [
            pl.DataFrame([columns[name].alias(name) for name in (*chosen_names, column)])
            for columns in (original_columns, published_columns)
        ]
        shares = [frame.group_by(pl.all()).agg((pl.len() / frame.height).alias("\0share")) for frame in frames]
        joint_shares = shares[0].join(
            shares[1], on=[*chosen_names, column], how="full", nulls_equal=True, coalesce=True
        )
        gap = (joint_shares["\0share"].fill_null(0) - joint_shares["\0share_right"].fill_null(0)).abs().sum()
        distances.append(float(gap) / 2)
    return round(sum(distances) / len(distances), 12)


checks_claim("uniques_off_share", "exactly", needs_original=True, of_groups=True)(
    make_comparison_check(count_uniques_off_share)
)
checks_claim("groups_unbroken", "exactly", needs_original=True)(make_comparison_check(count_unbroken_groups))
checks_claim("marginal_shift", "exactly", needs_original=True)(make_comparison_check(measure_marginal_shift))
checks_claim("changed_elsewhere", "exactly", needs_original=True, of_the_rest=True)(
    make_comparison_check(count_cells_changed_elsewhere)
)


def _flag_unique_records(original: Table, column: str, pattern: Sequence[str], rows: Rows) -> pl.Series:
    status = identifiable_records(original, column, pattern, rows)["status"]
    return (status == "unique").fill_null(value=False)


def _flag_changed_cells(original: Table, published_table: Table, column: str, rows: Rows) -> pl.Series:
    original_frame = align_originals(original, published_table, rows)
    require_columns(original_frame, [column], original.source)
    require_columns(published_table.frame, [column], published_table.source)
    return spell_cells(original_frame[column]).ne_missing(spell_cells(published_table.frame[column]))


def _count_spelt_values(column: pl.Series) -> dict[str | None, int]:
    value_counts = spell_cells(column).alias("value").value_counts(name="count")
    return dict(zip(value_counts["value"].to_list(), value_counts["count"].to_list(), strict=True))
