# SPDX-License-Identifier: MIT
"""The content of a report, gathered once for the page that stays and for the public page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from sfumato.attack.attack import Outcome
from sfumato.details import Details
from sfumato.measure.changes import ColumnDifference
from sfumato.protect.anonymity.explain import LatticeNode


@dataclass(frozen=True)
class ReportFigure:
    """A picture with its caption and its numbers as a table."""

    title: str
    svg: str
    label: str
    """A sentence for screen readers."""
    caption: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    wide: bool = False
    """Whether it takes the full width of the page."""


@dataclass(frozen=True)
class ReportSection:
    """A section of the report for one kind of method."""

    anchor: str
    title: str
    intro: str
    figures: tuple[ReportFigure, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences under the pictures."""


NO_CLASSES = pl.DataFrame(schema={"size": pl.Int64, "classes": pl.Int64, "rows": pl.Int64})


@dataclass(frozen=True)
class RunAccount:
    """One run: for the custodian with everything, for others from what is published alone."""

    title: str
    certificate: Mapping[str, Any]
    """The custodian's record of the run, or the certificate that leaves."""
    published_data: Any
    """As read back from the written file."""
    original: Any = None
    """None on the public page."""
    original_linking: Outcome | None = None
    """Linking against the originals as if they were released; None without quasi-identifying columns."""
    sizes_before: pl.DataFrame = field(default_factory=lambda: NO_CLASSES)
    """Class sizes of the originals: `size`, `classes`, `rows`."""
    sizes_after: pl.DataFrame = field(default_factory=lambda: NO_CLASSES)
    """Class sizes of the release without suppressed rows; empty if the method does not form classes."""
    distributions: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Per released column: `value`, `original`, `published` counts."""
    value_columns: frozenset[str] = frozenset()
    """Columns with a hierarchy whose published cells are values and no labels, whatever they look like."""
    details: Details = field(default_factory=Details)
    """The method's decisions (private), such as nodes searched and rows suppressed."""
    reasons: tuple[str, ...] = ()
    """Why each column is at its level, one sentence each (private)."""
    lattice: tuple[LatticeNode, ...] = ()
    """Every node of a lattice small enough to draw (private)."""
    advice: tuple[str, ...] = ()
    """What to do next, one sentence each."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each step took."""
    source: str = ""
    """Where the data came from (private)."""
    differences: Mapping[str, ColumnDifference] = field(default_factory=dict)
    """Per released column, how its cells differ from the originals (private)."""
    sections: tuple[ReportSection, ...] = ()
    """Sections for particular kinds of methods."""

    @property
    def internal(self) -> bool:
        """Whether it contains facts about the originals, and must stay."""
        return self.original is not None
