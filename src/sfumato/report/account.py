# SPDX-License-Identifier: MIT
"""What a report tells: everything a run found out, gathered once, for the page that stays and the page that leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from sfumato.attack.attack import Outcome
from sfumato.protect.explain import DrawnNode
from sfumato.table import Table


@dataclass(frozen=True)
class Account:
    """One run, told to a person. `certificate` may leave; everything else but `published` stays."""

    title: str
    certificate: Mapping[str, Any]
    """The body of the certificate: methods, claims as re-measured, losses, levels, attacks, suppression, data."""
    original: Table
    published: Table
    """As read back from the written file."""
    before: Outcome
    """Linking against the originals themselves, as if they were released."""
    sizes_before: pl.DataFrame
    """Class sizes of the originals: `size`, `classes`, `rows`."""
    sizes_after: pl.DataFrame
    """Class sizes of the release, suppressed rows left out."""
    distributions: Mapping[str, pl.DataFrame]
    """Per released column: `value`, `original`, `published` counts."""
    column_loss: Mapping[str, float]
    """Per quasi-identifying column, the mean loss of its cells, 0 to 1."""
    details: Mapping[str, Any]
    """What the method decided (private): nodes searched, rows suppressed, …"""
    reasons: tuple[str, ...]
    """Why each column is at its level, a sentence each (private)."""
    lattice: tuple[DrawnNode, ...]
    """Every node of a lattice small enough to draw (private)."""
    advice: tuple[str, ...]
    """What to do next, a sentence each."""
    seconds: Mapping[str, float]
    """How long each step took."""
    source: str
    """Where the data came from (private)."""
