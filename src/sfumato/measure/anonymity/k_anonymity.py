# SPDX-License-Identifier: MIT
"""What a table reveals: k, uniqueness, class sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.measure.anonymity.crowd_sizes import StarredRows, crowds, flag_starred_rows, read_starred_rows
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number
from sfumato.table import Missing, Table


def k_anonymity(table: Table, columns: Sequence[str] | None = None, starred_rows: StarredRows = "class") -> int:
    """The size of the smallest class of a published person; 0 without published rows."""
    smallest = crowds(table, columns, starred_rows)["crowd"].min()
    return int(smallest) if isinstance(smallest, int) else 0


def uniqueness(table: Table, columns: Sequence[str] | None = None) -> float:
    """The share of people whose values are unique."""
    class_frame = crowds(table, columns)
    row_count = class_frame["rows"].sum()
    unique_count = class_frame.filter(pl.col("crowd") == 1)["rows"].sum()
    return float(unique_count) / float(row_count) if row_count else 0.0


def class_size_counts(
    table: Table, columns: Sequence[str] | None = None, starred_rows: StarredRows = "class"
) -> pl.DataFrame:
    """The number of classes and rows of each class size: `size`, `classes`, `rows`."""
    class_frame = crowds(table, columns, starred_rows)
    return (
        class_frame.group_by(pl.col("crowd").alias("size"))
        .agg(pl.len().cast(pl.Int64).alias("classes"), pl.col("rows").sum())
        .sort("size")
    )


def suppressed_share(table: Table) -> float:
    """The share of rows with `*` in every quasi-identifying column."""
    names = table.quasi_identifying
    return float(flag_starred_rows(table.frame, names).sum()) / len(table) if len(table) else 0.0


checks_claim("k_anonymity", "at_least", arguments=("starred_rows",))(
    lambda evidence, arguments: k_anonymity(evidence.published_data, None, read_starred_rows(arguments))
)


@checks_claim("suppressed_share", "at_most", "exactly", arguments=("starred_rows",), unit="share")
def _check_suppressed_share(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    """Rows of stars are suppressed rows, unless every row is one: then each column's level is a star."""
    share = suppressed_share(evidence.published_data)
    return 0.0 if share == 1 and arguments.get("starred_rows") != "suppressed" else share


def count_shown_in_suppressed(table: Table, columns: Sequence[str]) -> int:
    """How many cells of some columns are not empty in rows with `*` in every quasi-identifying column."""
    starred_frame = table.frame.filter(flag_starred_rows(table.frame, table.quasi_identifying))
    return sum(len(starred_frame) - starred_frame[name].null_count() for name in columns)


def left_out_share(published_table: Table, original: Table) -> float:
    """Of the rows that could be published, the share that is not in the release."""
    usable = original.frame
    if original.missing is Missing.DROP:
        usable = usable.drop_nulls(list(original.quasi_identifying))
    # A single division is rounded once, so a share within the limit is never measured above it.
    return (usable.height - len(published_table)) / usable.height if usable.height else 0.0


checks_claim("shown_in_suppressed", "exactly", arguments=("columns",))(
    lambda evidence, arguments: count_shown_in_suppressed(evidence.published_data, arguments["columns"])
)


@checks_claim("left_out_share", "at_most", properties=("suppressed_share",), needs_original=True, unit="share")
def _check_left_out_share(evidence: Evidence, _: Mapping[str, Any]) -> Number:
    return left_out_share(evidence.published_data, evidence.original)


@checks_claim("named_columns", "exactly", properties=("identifying_columns",), arguments=("names",))
def _check_named_columns(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    columns: list[str] = evidence.published_data.frame.columns
    return sum(name in columns for name in arguments["names"])
