# SPDX-License-Identifier: MIT
"""Whether a release still says only what is true: each cell the original, a generalization of it, or suppressed."""

from __future__ import annotations

import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchy import SUPPRESSED, spelt
from sfumato.data.published import Domain
from sfumato.errors import DataError
from sfumato.table import Table


def untrue_cells(published: Table, original: Table, rows: Ints) -> int:
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
            changed = _not_covered(changed, Domain.of(original.frame[name], original.hierarchies.get(name)))
        wrong += len(changed)
    return wrong


def changed_cells(published: Table, original: Table, rows: Ints) -> int:
    """How many published cells say something else than their original; an empty cell says nothing."""
    if len(rows) != len(published):
        raise DataError(f"{published.source}: {len(published)} rows are published, {len(rows)} are accounted for")
    wrong = 0
    for name in published.frame.columns:
        before, after = spelt(original.frame[name][rows]), spelt(published.frame[name])
        wrong += int((after.is_not_null() & ~before.eq_missing(after)).sum())
    return wrong


def _not_covered(changed: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """The changes that are no generalization; a missing cell may only take a label that covers every value."""
    place = {value: number for number, value in enumerate(domain.spellings or domain.leaves)}
    distinct = changed.unique()
    untrue = []
    for label, before in distinct.group_by("after").agg("before").iter_rows():
        try:
            covered = set(domain.covered(label).tolist())
        except DataError:
            covered = set()
        for value in before:
            whole = label == SUPPRESSED or len(covered) == len(domain.leaves)
            holds = label is not None and (
                whole if value is None else label == SUPPRESSED or place.get(value) in covered
            )
            if not holds:
                untrue.append((value, label))
    bad = pl.DataFrame(untrue, schema={"before": pl.String, "after": pl.String}, orient="row")
    return changed.join(bad, on=["before", "after"], how="semi", nulls_equal=True)
