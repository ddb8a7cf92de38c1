# SPDX-License-Identifier: MIT
"""How each column changed, measured on the published file against the originals, independently of the method.

Every published cell equals its original, is newly empty, is a generalization of it, or has another value.
`refuse_false_statements` compares these counts with what the methods state about their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.change import Change, ChangeKind
from sfumato.change_kinds import CellDifference
from sfumato.data.coded_cells import count_cells, count_pairs
from sfumato.data.hierarchy import spell_cells
from sfumato.data.published_labels import Domain
from sfumato.errors import ClaimBroken, quote_names
from sfumato.measure.alignment import align_originals
from sfumato.measure.truth import cover_cells, find_differing_cells
from sfumato.table import Table


@dataclass(frozen=True)
class ColumnDifference:
    """How the cells of one published column differ from the originals, in counts."""

    column: str
    cells: int
    blanked: int
    """Cells that are empty and were not."""
    coarser: int
    """Cells whose label covers the original."""
    other: int
    """Cells with any other value."""
    loss: float | None
    """The mean share of values that a label leaves open, 0 to 1; None if cells have other values."""
    other_values: int = 0
    """How many different values the cells with any other value have."""
    strange: int = 0
    """Cells with a value that no original has."""

    @property
    def changed(self) -> int:
        """Cells that differ in any way."""
        return self.blanked + self.coarser + self.other

    @property
    def share(self) -> float:
        """The share of cells that differ."""
        return self.changed / self.cells if self.cells else 0.0


def measure_changes(
    original: Table, published: Table, rows: npt.NDArray[np.int64] | None = None
) -> dict[str, ColumnDifference]:
    """Compare every published column with the original rows that its cells were made from."""
    before = align_originals(original, published, rows)
    return {name: _compare_columns(before[name], published.frame[name], original) for name in published.frame.columns}


def _compare_columns(before: pl.Series, after: pl.Series, original: Table) -> ColumnDifference:
    name = before.name
    differs = find_differing_cells(before, after)
    if before.dtype.is_numeric() and name not in original.hierarchies and not differs.any():
        return ColumnDifference(name, len(after), 0, 0, 0, 0.0)  # a number is no label that leaves anything open
    blanked = int((differs & after.is_null()).sum())
    pairs = count_pairs(before, after, (differs & after.is_not_null()).to_numpy())
    domain = Domain.of(original.frame[name], original.hierarchies.get(name))
    was, now = spell_cells(pairs["first"]), spell_cells(pairs["second"])
    covered = cover_cells(was, now, domain) if pairs.height else np.zeros(0, dtype=np.bool_)
    others = pairs.with_columns(now).filter(pl.Series(~covered, dtype=pl.Boolean))
    other = int(others["count"].sum())
    coarser = int(pairs["count"].sum()) - other
    if not other:
        return ColumnDifference(name, len(after), blanked, coarser, 0, _measure_loss(after, domain))
    known = pl.Series(domain.spellings or domain.leaves, dtype=pl.String).implode()
    strange = int(others.filter(~pl.col("second").is_in(known))["count"].sum())
    return ColumnDifference(name, len(after), blanked, coarser, other, None, others["second"].n_unique(), strange)


def _measure_loss(labels: pl.Series, domain: Domain) -> float:
    """The mean share of leaves that a label leaves open; empty cells do not count."""
    values, counts = count_cells(labels)
    present = values.is_not_null()
    lost = domain.measure_losses(spell_cells(values.filter(present)).to_list()) @ counts[present.to_numpy()]
    return float(lost) / len(labels) if len(labels) else 0.0


def refuse_false_statements(changes: Iterable[Change], differences: Mapping[str, ColumnDifference]) -> None:
    """Stop a release if the file contradicts a method's statement about it."""
    stated: dict[str, list[Change]] = {}
    for change in changes:
        stated.setdefault(change.column, []).append(change)
    false = [name for name, difference in differences.items() if not _admits(stated.get(name, []), difference)]
    if false:
        columns = quote_names(false)
        raise ClaimBroken(
            f"nothing was released, because what the methods state about {columns} is not what happened to "
            f"{'it' if len(false) == 1 else 'them'} in the written file"
        )


def _admits(changes: list[Change], difference: ColumnDifference) -> bool:
    """Whether the statements about a column allow every way in which its cells differ."""
    if not changes or any(change.dropped for change in changes):
        return False
    allowed = {CellDifference.COARSER} if any(change.starred for change in changes) else set()
    for change in changes:
        allowed |= change.kind.meaning.differences
    if any(getattr(difference, way.value) for way in CellDifference if way not in allowed):
        return False
    kinds = {change.kind for change in changes} - {ChangeKind.KEPT, ChangeKind.BLANKED}
    return len(kinds) != 1 or _has_stated_values(kinds.pop(), difference)


def _has_stated_values(kind: ChangeKind, difference: ColumnDifference) -> bool:
    """Whether cells with any other value have such as the statement says."""
    most = kind.meaning.most_new_values
    if most is not None and difference.other_values > most:
        return False
    return not (kind.meaning.values_of_other_rows and difference.strange)
