# SPDX-License-Identifier: MIT
"""How much detail a release keeps, as it may be published: measured on what published rows show, and nothing else.

Loss and precision count the values that a label covers, among the values that occur. A value that only a suppressed
person has would change both in every row, and so tell of that person: by the size of the change, even how many such
people there are. Here, rows that were left out and rows of stars count with no value.

The loss of a method that publishes other values than it was given, such as means and medians, is measured by how far
these are from the originals. One person's value has no bound, so one person can move such a loss from 0 to 1, even if
no published cell shows that person. It is not published.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from sfumato import measure
from sfumato.measure.alignment import align_originals
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows
from sfumato.release import Release
from sfumato.table import Table
from sfumato.workflow.policy import Policy


def measure_shown_detail(policy: Policy, published_data: Any, original: Any, release: Release) -> dict[str, float]:
    """The loss and the precision of the published rows, among the values of the people whom they show.

    Empty if no crowd hides people, if values are published that are not theirs, or if nobody is shown.
    """
    is_shown = all(method.hides_in_crowds and method.truthful for method in policy.methods)
    if not is_shown or not isinstance(published_data, Table):
        return {}
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
        name: hierarchy.keep_leaves(frame[name])  # others may be in it because a suppressed person has them
        for name, hierarchy in original.hierarchies.items()
        if name in names
    }
    return replace(original, frame=frame, hierarchies=hierarchies)
