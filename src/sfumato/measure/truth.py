# SPDX-License-Identifier: MIT
"""Whether a release still says only what is true: each cell the original, a generalization of it, or suppressed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.data.hierarchy import SUPPRESSED, Hierarchy, spelt
from sfumato.errors import DataError
from sfumato.table import Table


def untrue_cells(published: Table, original: Table, rows: npt.NDArray[np.int64]) -> int:
    """How many published cells neither are their original nor lie above it in the column's hierarchy.

    `rows` says which original row each published row was made from.
    """
    if len(rows) != len(published):
        raise DataError(f"{published.source}: {len(published)} rows are published, {len(rows)} are accounted for")
    generalized = set(original.quasi_identifying)
    wrong = 0
    for name in published.frame.columns:
        before, after = spelt(original.frame[name][rows]), spelt(published.frame[name])
        changed = pl.DataFrame({"before": before, "after": after}).filter(~before.eq_missing(after))
        if name in generalized and len(changed):
            changed = _not_above(changed, original.hierarchy(name))
        wrong += len(changed)
    return wrong


def _not_above(changed: pl.DataFrame, hierarchy: Hierarchy) -> pl.DataFrame:
    """The changes that are no generalization; a missing cell may only take a label that covers every leaf."""
    above: list[tuple[str | None, str]] = [
        (row[0], label) for row in hierarchy.rows for label in {*row[1:], SUPPRESSED}
    ]
    everything = {label for label, count in hierarchy.leaves_under.items() if count == len(hierarchy.rows)}
    above += [(None, label) for label in {*everything, SUPPRESSED}]
    allowed = pl.DataFrame(above, schema={"before": pl.String, "after": pl.String}, orient="row").unique()
    return changed.join(allowed, on=["before", "after"], how="anti", nulls_equal=True)
