# SPDX-License-Identifier: MIT
"""What a report tells: everything a run found out, gathered once, for the page that stays and the page that leaves."""

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
    """A picture with its caption, and its numbers for those who cannot see it."""

    title: str
    svg: str
    label: str
    """What the picture shows, in a sentence for a screen reader."""
    caption: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    wide: bool = False
    """Whether it takes the whole width of the page."""


@dataclass(frozen=True)
class ReportSection:
    """A part of the report that belongs to one kind of method."""

    anchor: str
    title: str
    intro: str
    figures: tuple[ReportFigure, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences under the pictures."""


@dataclass(frozen=True)
class RunAccount:
    """One run, told to a person: to the custodian with everything, or to others from what leaves alone."""

    title: str
    certificate: Mapping[str, Any]
    """What was found: the custodian's record of the run, or the certificate that leaves."""
    original: Any
    """None on the page that leaves."""
    published: Any
    """As read back from the written file."""
    before: Outcome | None
    """Linking against the originals themselves, as if they were released; None where nobody can be linked."""
    sizes_before: pl.DataFrame
    """Class sizes of the originals: `size`, `classes`, `rows`."""
    sizes_after: pl.DataFrame
    """Class sizes of the release, suppressed rows left out."""
    distributions: Mapping[str, pl.DataFrame]
    """Per released column: `value`, `original`, `published` counts."""
    column_loss: Mapping[str, float]
    """Per quasi-identifying column, the mean loss of its cells, 0 to 1."""
    details: Details
    """What the method decided (private): nodes searched, rows suppressed, …"""
    reasons: tuple[str, ...]
    """Why each column is at its level, a sentence each (private)."""
    lattice: tuple[LatticeNode, ...]
    """Every node of a lattice small enough to draw (private)."""
    advice: tuple[str, ...]
    """What to do next, a sentence each."""
    seconds: Mapping[str, float]
    """How long each step took."""
    source: str
    """Where the data came from (private)."""
    differences: Mapping[str, ColumnDifference] = field(default_factory=dict)
    """Per released column, how its cells differ from the originals (private)."""
    sections: tuple[ReportSection, ...] = ()
    """What only this kind of method has to show."""

    @property
    def internal(self) -> bool:
        """Whether it speaks of the originals, and so stays."""
        return self.original is not None
