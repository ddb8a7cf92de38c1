# SPDX-License-Identifier: MIT
"""How much detail a stored release keeps, as it may be published: the figures of `summary.shown_detail`, in files.

One pass over the published rows and their originals lists the values of the people who are shown. All else follows from
counts of the published labels.
"""

from __future__ import annotations

import polars as pl

from sfumato.data.hierarchies.hierarchy import build_flat_hierarchy
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.stored_changes import StoredComparison, measure_stored_loss
from sfumato.measure.utility.distances import sum_levels
from sfumato.protect.method import Method

_DIGITS = 12


def measure_stored_shown_detail(method: Method, comparison: StoredComparison) -> dict[str, float]:
    """The loss and the precision of the published rows, among the values of the people whom they show.

    Empty if no crowd hides people, if values are published that are not theirs, or if nobody is shown.
    """
    names = comparison.published_table.quasi_identifying
    if not (names and method.hides_in_crowds and method.truthful):
        return {}
    shown_values = comparison.list_shown_values(names)
    if shown_values is None:
        return {}
    losses, heights = [], []
    for name in names:
        losses.append(_measure_column_loss(comparison, name, shown_values[name]))
        heights.append(_measure_column_height(comparison, name, shown_values[name]))
    return {
        "loss": round(sum(losses) / len(names), _DIGITS),
        "precision": round(1 - sum(heights) / len(names), _DIGITS),
    }


def _measure_column_loss(comparison: StoredComparison, name: str, shown_values: pl.Series) -> float:
    hierarchy = comparison.original.hierarchies.get(name)
    kept_hierarchy = None if hierarchy is None else hierarchy.keep_leaves(shown_values)
    return measure_stored_loss(comparison.published_table, name, Domain.of(shown_values, kept_hierarchy))


def _measure_column_height(comparison: StoredComparison, name: str, shown_values: pl.Series) -> float:
    """The mean level of the published cells, as a share of the height of the hierarchy."""
    table: StoredTable = comparison.published_table
    hierarchy = comparison.original.hierarchies.get(name)
    kept_hierarchy = (
        build_flat_hierarchy(shown_values, f'values of "{name}"')
        if hierarchy is None
        else hierarchy.keep_leaves(shown_values)
    )
    value_counts = table.count_values(name)
    domain = Domain.of(shown_values, kept_hierarchy)
    return sum_levels(domain, kept_hierarchy, value_counts.frame[name], value_counts.counts) / len(table)
