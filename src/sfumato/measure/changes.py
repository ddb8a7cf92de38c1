# SPDX-License-Identifier: MIT
"""How each column changed, measured on the published file against the originals, independently of the method.

Every published cell equals its original, is newly empty, is a generalization of it, is `*`, or has another value, where
there was one or none.
`refuse_false_statements` compares these counts with what the methods state about their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.change import Change, ChangeKind, describe_changes
from sfumato.change_kinds import CellDifference
from sfumato.data.cells.coded_cells import count_cells, count_value_pairs
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.published_labels import Domain
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
    """Cells whose label, other than `*`, covers the original."""
    other: int
    """Cells with any other value, that had one before."""
    loss: float | None
    """The mean share of values that a label leaves open, 0 to 1, all of them if a cell was emptied; None if cells have
    other values."""
    other_values: int = 0
    """How many different values the cells with any other value have."""
    strange: int = 0
    """Cells with a value that no original has."""
    filled: int = 0
    """Cells that were empty and have a value, other than a label of all values."""
    suppressed: int = 0
    """Cells that are `*` and were not."""
    known_cells: int = 0
    """Cells that had a value in the originals, if they were counted."""
    published_originals: int = 0
    """Cells of a quasi-identifying column, other than `*`, with a value that somebody had in the originals."""

    @property
    def changed_count(self) -> int:
        """Cells that differ in any way."""
        return self.blanked + self.coarser + self.suppressed + self.other + self.filled

    @property
    def share(self) -> float:
        """The share of cells that differ."""
        return self.changed_count / self.cells if self.cells else 0.0


def measure_changes(
    original: Table, published_table: Table, rows: npt.NDArray[np.int64] | None = None
) -> dict[str, ColumnDifference]:
    """Compare every published column with the original rows that its cells were made from."""
    original_frame = align_originals(original, published_table, rows)
    differences = (
        _compare_columns(original_frame[name], published_table.frame[name], original)
        for name in published_table.frame.columns
    )
    return {
        difference.column: replace(
            difference,
            known_cells=original_frame[difference.column].count(),
            published_originals=_count_published_originals(difference.column, original, published_table),
        )
        for difference in differences
    }


def _compare_columns(original_cells: pl.Series, published_cells: pl.Series, original: Table) -> ColumnDifference:
    name = original_cells.name
    differs = find_differing_cells(original_cells, published_cells)
    if original_cells.dtype.is_numeric() and name not in original.hierarchies and not differs.any():
        # A number is no label that leaves anything open.
        return ColumnDifference(name, len(published_cells), 0, 0, 0, 0.0)
    blanked_count = int((differs & published_cells.is_null()).sum())
    pairs = count_value_pairs(original_cells, published_cells, (differs & published_cells.is_not_null()).to_numpy())
    domain = Domain.of(original.frame[name], original.hierarchies.get(name))
    was, published_texts = spell_cells(pairs["first"]), spell_cells(pairs["second"])
    covered_mask = cover_cells(was, published_texts, domain) if pairs.height else np.zeros(0, dtype=np.bool_)
    other_pairs = pairs.with_columns(published_texts).filter(pl.Series(~covered_mask, dtype=pl.Boolean))
    moved_count, filled_count, suppressed_count = (
        int(other_pairs["count"].sum()),
        count_filled(other_pairs),
        count_suppressed(pairs),
    )
    coarser = int(pairs["count"].sum()) - moved_count - suppressed_count
    size = len(published_cells)
    if not moved_count:
        loss = _measure_loss(published_cells, domain) + blanked_count / max(size, 1)
        return ColumnDifference(name, size, blanked_count, coarser, 0, loss, suppressed=suppressed_count)
    known_texts = pl.Series(domain.spellings or domain.leaves, dtype=pl.String).implode()
    strange = int(other_pairs.filter(~pl.col("second").is_in(known_texts))["count"].sum())
    values = other_pairs["second"].n_unique()
    return ColumnDifference(
        name,
        size,
        blanked_count,
        coarser,
        moved_count - filled_count,
        None,
        values,
        strange,
        filled_count,
        suppressed=suppressed_count,
    )


def _count_published_originals(name: str, original: Table, published_table: Table) -> int:
    if name not in original.quasi_identifying:
        return 0
    values, counts = count_cells(published_table.frame[name])
    return count_published_originals(values, counts, original.frame[name])


def count_published_originals(labels: pl.Series, counts: npt.NDArray[np.int64], values: pl.Series) -> int:
    """How many cells have a value of the originals; labels are counted, and `*` is no value."""
    texts = spell_cells(labels)
    is_shown = texts.is_in(spell_cells(values.unique()).drop_nulls().implode()) & (texts != STAR)
    return int(counts[is_shown.fill_null(value=False).to_numpy()].sum())


def count_filled(pairs: pl.DataFrame) -> int:
    """Of cells that differ, counted in pairs, how many were empty and are not."""
    return int(pairs.filter(pl.col("first").is_null() & pl.col("second").is_not_null())["count"].sum())


def count_suppressed(pairs: pl.DataFrame) -> int:
    """Of cells that differ, counted in pairs, how many are `*`."""
    return int(pairs.filter(spell_cells(pairs["second"]) == STAR)["count"].sum())


def _measure_loss(labels: pl.Series, domain: Domain) -> float:
    """The mean share of leaves that a label leaves open; empty cells do not count."""
    values, counts = count_cells(labels)
    present = values.is_not_null()
    total_loss = domain.measure_losses(spell_cells(values.filter(present)).to_list()) @ counts[present.to_numpy()]
    return float(total_loss) / len(labels) if len(labels) else 0.0


_WAYS = {
    CellDifference.BLANKED: "are empty and were not",
    CellDifference.COARSER: "have a label of their original",
    CellDifference.SUPPRESSED: 'are "*" and were not',
    CellDifference.FILLED: "were empty and have a value",
    CellDifference.OTHER: "have another value",
}


def refuse_false_statements(changes: Iterable[Change], differences: Mapping[str, ColumnDifference]) -> None:
    """Stop a release if the file contradicts a method's statement about it."""
    stated_changes: dict[str, list[Change]] = {}
    for change in changes:
        stated_changes.setdefault(change.column, []).append(change)
    false = {name: _explain_false(stated_changes.get(name, []), difference) for name, difference in differences.items()}
    columns = [name for name, reason in false.items() if reason]
    if columns:
        raise ClaimBroken(
            f"nothing was released, because what the methods state about {quote_names(columns)} is not what happened "
            f'to {"it" if len(columns) == 1 else "them"} in the written file: "{columns[0]}" is stated as '
            f"{false[columns[0]]}"
        )


def _explain_false(changes: list[Change], difference: ColumnDifference) -> str:
    """What a column is stated as, and what its cells are that the statements do not allow; empty if they allow all."""
    if not changes:
        return "nothing, and it is published"
    words = f'"{describe_changes(changes)}"'
    if any(change.is_dropped for change in changes):
        return f"{words}, and it is published"
    allowed_differences = {CellDifference.SUPPRESSED} if any(change.starred for change in changes) else set()
    for change in changes:
        allowed_differences |= change.kind.meaning.differences
    for way in CellDifference:
        if way not in allowed_differences and (count := getattr(difference, way.value)):
            return f"{words}, and {count} of {difference.cells} cells {_WAYS[way]}"
    kinds = {change.kind for change in changes} - {ChangeKind.KEPT, ChangeKind.BLANKED}
    wrong = _explain_values(kinds.pop(), difference) if len(kinds) == 1 else ""
    return f"{words}, and {wrong}" if wrong else ""


def _explain_values(kind: ChangeKind, difference: ColumnDifference) -> str:
    """Which cells have other values than the statement says; empty if none has."""
    most = kind.meaning.most_new_values
    if most is not None and difference.other_values > most:
        return f"cells have {difference.other_values} new values, where it allows {most}"
    if kind.is_truthful and not kind.meaning.publishes_originals and difference.published_originals:
        return f"{difference.published_originals} of {difference.cells} cells have a value of the originals"
    if kind is ChangeKind.CODED and difference.known_cells and not difference.changed_count:
        return "every cell is as in the originals"
    if kind.meaning.values_of_other_rows and difference.strange:
        return f"{difference.strange} of {difference.cells} cells have a value that no original has"
    return ""
