# SPDX-License-Identifier: MIT
"""Measure claims on a release that stays in its file: its classes are counted once for all measures.

Which claims can be measured in this way, the measures say themselves (`stored_checks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags
from sfumato.engine.stored_rows import RowCounts
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError, PolicyError
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows, read_starred_rows
from sfumato.measure.checks import Arguments, explain_unmeasured
from sfumato.measure.noise.stored_noise import StoredPairs
from sfumato.measure.stored_changes import StoredComparison
from sfumato.measure.stored_checks import find_stored_measure
from sfumato.release import Claim, Finding
from sfumato.table import Missing, Table


@dataclass(frozen=True)
class StoredEvidence:
    """A release in its file, and what only its custodian has."""

    published_table: StoredTable
    comparison: StoredComparison | None = None
    """The release next to its originals; None for an auditor."""
    population: Table | None = None
    """The population that a model compares with."""
    scratch: Path | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only the custodian knows: which entries are private."""
    pairs: dict[str, StoredPairs] = field(default_factory=dict)
    """Columns whose numbers were put next to their originals."""
    _counts_by_columns: dict[tuple[str, ...], RowCounts] = field(default_factory=dict)

    def count_classes(self, *columns: str) -> RowCounts:
        """The classes, with the values of some columns in each."""
        if columns not in self._counts_by_columns:
            names = self.published_table.quasi_identifying
            if not names:
                raise DataError("no column is quasi_identifying, so there are no classes to count")
            unknown = [name for name in columns if name not in self.published_table.rows.schema]
            if unknown:
                raise DataError(f'there is no column "{unknown[0]}" to measure')
            self._counts_by_columns[columns] = self.published_table.rows.count_rows([*names, *columns])
        return self._counts_by_columns[columns]

    def forget_values(self) -> None:
        """Give back the values counted in each class; the sizes of classes are needed for longer."""
        for columns in [columns for columns in self._counts_by_columns if columns]:
            del self._counts_by_columns[columns]

    def flag_placed(self, class_counts: RowCounts, arguments: Arguments) -> Flags:
        """Which of the counted rows belong to a class: not those of suppressed rows, if they are distinguished."""
        names = list(self.published_table.quasi_identifying)
        placed_mask: Flags = np.ones(len(class_counts.counts), dtype=np.bool_)
        if self.published_table.missing is Missing.DROP:
            placed_mask &= (
                class_counts.frame.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series().to_numpy()
            )
        if read_starred_rows(arguments) == "suppressed":
            placed_mask &= ~flag_starred_rows(class_counts.frame, names).to_numpy()
        return placed_mask

    def restore(self, column: str) -> StoredEvidence:
        """The same evidence with a column as in the originals."""
        assert self.comparison is not None and self.scratch is not None
        return StoredEvidence(self.comparison.restore(column, self.scratch))


def measure_stored_claim(claim: Claim, evidence: StoredEvidence) -> Finding:
    """Measure a claim on the file; a claim that needs missing originals stays open."""
    if claim.needs_original and evidence.comparison is None:
        return Finding.of(claim, None)
    measure = find_stored_measure(claim.measure)
    if measure is None:
        raise PolicyError(f'the claim "{claim.property}" cannot be measured in its file; use --engine memory')
    try:
        return Finding.of(claim, measure(evidence, claim.arguments))
    except (KeyError, TypeError, ValueError):
        raise PolicyError(explain_unmeasured(claim)) from None
