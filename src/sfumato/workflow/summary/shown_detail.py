# SPDX-License-Identifier: MIT
"""How much detail a release keeps, as far as it may leave: measured on what the published rows show, and nothing else.

Loss and precision count the values that a label covers, among the values that occur. A value that only a suppressed
person has would change both in every row, and so tell of that person: by the size of the change, even how many such
people there are. Here, rows that were left out and rows of stars count with no value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from sfumato import measure
from sfumato.data.hierarchies.hierarchy import Hierarchy, spell_cells
from sfumato.measure.alignment import align_originals
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows
from sfumato.measure.change_losses import measure_change_loss
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.policy import Policy


def measure_shown_detail(policy: Policy, published_data: Any, original: Any, release: Release) -> dict[str, float]:
    """The loss and the precision of the published rows, among the values of the people whom they show.

    Empty if no crowd hides people, so that no such figure leaves, or if nobody is shown. What means lose is counted row
    by row, and has no precision.
    """
    methods = policy.methods()
    if not isinstance(published_data, Table) or not all(method.hides_in_crowds for method in methods):
        return {}
    if not all(method.truthful for method in methods):
        loss = measure_change_loss(original, published_data, release.changes, release.public, release.details.rows)
        return {} if loss is None else {"loss": round(loss, 12)}
    return _measure_labels(published_data, original, release)


def _measure_labels(published_table: Table, original: Table, release: Release) -> dict[str, float]:
    shown_people = _select_shown_people(published_table, original, release)
    if shown_people is None:
        return {}
    return {
        "loss": round(measure.loss(published_table, shown_people), 12),
        "precision": measure.precision(shown_people, published_table),
    }


def _select_shown_people(published_table: Table, original: Table, release: Release) -> Table | None:
    """The originals of the published rows, without the values of rows of stars; None if nobody is shown."""
    names = published_table.quasi_identifying
    starred_mask = flag_starred_rows(published_table.frame, names)
    if not names or starred_mask.all():
        return None
    frame = align_originals(original, published_table, release.details.rows)
    if starred_mask.any():
        frame = frame.with_columns(pl.when(~starred_mask).then(pl.col(names)))
    hierarchies = {
        name: _keep_shown_leaves(hierarchy, frame[name])
        for name, hierarchy in original.hierarchies.items()
        if name in names
    }
    return replace(original, frame=frame, hierarchies=hierarchies)


def _keep_shown_leaves(hierarchy: Hierarchy, cells: pl.Series) -> Hierarchy:
    """The same hierarchy for the values that are shown: others may be in it because a suppressed person has them."""
    shown_values = set(spell_cells(cells.drop_nulls().unique()).to_list())
    spellings = hierarchy.spell_leaves(cells.dtype)
    rows = tuple(row for row, spelling in zip(hierarchy.rows, spellings, strict=True) if spelling in shown_values)
    return replace(hierarchy, rows=rows) if rows else hierarchy
