# SPDX-License-Identifier: MIT
"""Intervals between cuts, whose midpoints are published: what everybody may know of such a column.

An interval includes its lower edge and excludes its upper one; the last includes both. Of whole numbers, the last edge
is one above the largest, so that every interval holds the numbers from one edge to below the next; of an even number of
them the lower middle is published. Edges and published values are public: nothing else is uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from sfumato.arrays import Floats, Ints
from sfumato.errors import DataError
from sfumato.public.number_law import LawNumber, NumberLaw
from sfumato.release import Release


@dataclass(frozen=True)
class CutIntervals:
    """The edges of a column's intervals, ascending, and whether it holds whole numbers."""

    edges: tuple[float, ...]
    whole: bool

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


class IntervalLaw(NumberLaw):
    """A column that holds midpoints of intervals between cuts: nothing was drawn, so shares can be counted."""

    can_be_estimated: ClassVar[bool] = False
    public_fields: ClassVar[tuple[str, ...]] = (
        "kind", "edges", "step", "confidence", "achieved", "domain", "range",
    )  # fmt: skip

    kind: Literal["intervals"] = "intervals"
    edges: tuple[LawNumber, ...] = Field(min_length=2)
    """The edges of the intervals, ascending."""

    @property
    def intervals(self) -> CutIntervals:
        """The intervals."""
        return CutIntervals(tuple(map(float, self.edges)), bool(self.step))


def list_cut_columns(release: Release) -> tuple[str, ...]:
    """The columns of a release that hold midpoints of intervals between cuts."""
    return tuple(name for name, law in release.public.items() if isinstance(law, IntervalLaw))


def get_cut_intervals(release: Release, column: str) -> CutIntervals:
    """The intervals of one column, as published in the release."""
    law = release.public.get(column)
    if not isinstance(law, IntervalLaw):
        raise DataError(f'the release has no intervals between cuts in "{column}"')
    return law.intervals
