# SPDX-License-Identifier: MIT
"""Intervals between cuts, whose midpoints are published: what everybody may know of such a column.

An interval includes its lower edge and excludes its upper one; the last includes both. Of whole numbers, the last edge
is one above the largest, so that every interval holds the numbers from one edge to below the next; of an even number of
them the lower middle is published. Edges and published values are public: nothing else is uncertain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.release import Release

INTERVALS = "intervals"
"""The kind of such a column in `Release.public`."""


@dataclass(frozen=True)
class CutIntervals:
    """The edges of a column's intervals, ascending, and whether it holds whole numbers."""

    edges: tuple[float, ...]
    whole: bool

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> CutIntervals:
        """The intervals as a release publishes them."""
        return cls(tuple(float(edge) for edge in facts["edges"]), bool(facts["step"]))

    @property
    def narrowest(self) -> float:
        """The width of the narrowest interval; that of whole numbers is their count."""
        return min(high - low for low, high in pairwise(self.edges))

    @property
    def middles(self) -> Floats:
        """What is published for each interval."""
        ends = np.asarray(self.edges)
        if self.whole:
            return np.asarray(ends[:-1] + (np.diff(ends) - 1) // 2)
        return np.asarray(ends[:-1] / 2 + ends[1:] / 2)

    def find_places(self, numbers: Floats) -> Ints:
        """The number of each value's interval; values beyond the ends belong to the outermost."""
        return np.asarray(np.searchsorted(np.asarray(self.edges[1:-1]), numbers, side="right"), dtype=np.int64)


def list_cut_columns(release: Release) -> tuple[str, ...]:
    """The columns of a release that hold midpoints of intervals between cuts."""
    return tuple(name for name, facts in release.public.items() if facts.get("kind") == INTERVALS)
