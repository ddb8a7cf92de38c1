# SPDX-License-Identifier: MIT
"""What a release costs an analyst, measured on the published cells themselves."""

from __future__ import annotations

import polars as pl

from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.measure.alignment import Rows, align_originals
from sfumato.measure.anonymity.crowd_sizes import StarredRows, crowds, flag_starred_rows
from sfumato.table import Table


def discernibility(table: Table, starred_rows: StarredRows = "class", rows: int | None = None) -> int:
    """Σ over classes of |class|², and |D| for every suppressed row; `rows` is |D| if rows were left out."""
    total = len(table) if rows is None else rows
    class_frame = crowds(table, None, starred_rows)
    square_sum = int(class_frame.select((pl.col("rows") * pl.col("crowd")).sum()).item())
    return square_sum + (total - int(class_frame["rows"].sum())) * total


def average_class_size(table: Table, starred_rows: StarredRows = "class") -> float:
    """Published rows per class."""
    class_frame = crowds(table, None, starred_rows)
    return float(class_frame["rows"].sum()) / len(class_frame) if len(class_frame) else 0.0


def column_loss(published_cells: pl.Series, domain: Domain) -> float:
    """The mean over cells of (values that the label covers − 1) / (values − 1); a suppressed cell loses 1."""
    values, counts = count_cells(published_cells)
    labels = (
        values if published_cells.dtype.is_numeric() else spell_cells(values)
    )  # a number may be a mean, not a label
    total_loss = domain.measure_losses(labels) @ counts
    return float(total_loss) / len(published_cells) if len(published_cells) else 0.0


def read_domain(table: Table, name: str, original: Table | None = None) -> Domain:
    """The values that a published column may stand for: the hierarchy's leaves, or else those of the originals."""
    values = table.frame[name]
    if original is not None:
        return Domain.of_release(original.frame[name], values, original.hierarchies.get(name))
    if values.dtype == pl.String:
        values = values.filter((values != STAR).fill_null(True))
    return Domain.of(values, table.hierarchies.get(name))


def loss(table: Table, original: Table | None = None) -> float:
    """The mean loss over all quasi-identifying cells; ranges and sets need the originals for their size."""
    names = table.quasi_identifying
    return sum(column_loss(table.frame[name], read_domain(table, name, original)) for name in names) / len(names)


def distribution(original: pl.Series, published_cells: pl.Series, hierarchy: Hierarchy | None) -> pl.DataFrame:
    """How many people each published label stands for, before and after: `value`, `original`, `published`.

    Original cells are counted under the published label that covers them, so apart from the coarser labels only
    suppression shows as a difference.
    """
    published_counts = _count_spelled(published_cells, "published")
    labels = set(published_counts["value"]) - {STAR}
    original_counts = _count_spelled(original, "original")
    if hierarchy is not None:
        cover = {row[0]: next((label for label in row if label in labels), row[0]) for row in hierarchy.rows}
        original_counts = original_counts.with_columns(pl.col("value").replace(cover)).group_by("value").sum()
    joint_counts = original_counts.join(published_counts, on="value", how="full", coalesce=True, nulls_equal=True)
    joint_counts = joint_counts.with_columns(pl.col("original", "published").fill_null(0).cast(pl.Int64))
    return joint_counts.with_columns(label_cells(joint_counts["value"])).sort("value")


def _count_spelled(column: pl.Series, name: str) -> pl.DataFrame:
    """How many cells have each value: `value`, as text or null, and the counts under a name."""
    values, counts = count_cells(column)
    return pl.DataFrame({"value": spell_cells(values), name: counts}).group_by("value").sum()


def label_cells(values: pl.Series) -> pl.Series:
    """Cells as tables of values name them: a missing one is (missing), and a text that reads so stands in quotes."""
    return spell_cells(values).replace({"(missing)": '"(missing)"'}).fill_null("(missing)")


def blanked_share(published_table: Table, original: Table, rows: Rows = None) -> float:
    """Of the entries that had a value and whose column was published, the share that is empty in the release.

    Without `rows`, the original row of each published one, a release of fewer rows is compared by counts.
    """
    names = published_table.frame.columns
    if rows is not None or len(published_table) == len(original):
        original_frame = align_originals(original, published_table, rows)
        known_entries = sum(len(original_frame) - original_frame[name].null_count() for name in names)
        blanked_entries = sum(
            int((original_frame[name].is_not_null() & published_table.frame[name].is_null()).sum()) for name in names
        )
        return blanked_entries / known_entries if known_entries else 0.0
    original_entries = sum(len(original) - original.frame[name].null_count() for name in names)
    published_entries = sum(len(published_table) - published_table.frame[name].null_count() for name in names)
    return 1 - published_entries / original_entries if original_entries else 0.0


def total_variation(before_and_after: pl.DataFrame) -> float:
    """Half the sum of differences between the two distributions of `distribution`, as shares of people."""
    original, published_counts = before_and_after["original"], before_and_after["published"]
    total, published_total = original.sum(), published_counts.sum()
    if not total or not published_total:
        return 0.0
    gap = (original / total - published_counts / published_total).abs().sum()
    return float(gap) / 2


def suppressed_rows(table: Table) -> int:
    """Rows with `*` in every quasi-identifying column."""
    return int(flag_starred_rows(table.frame, table.quasi_identifying).sum())
