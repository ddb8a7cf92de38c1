# SPDX-License-Identifier: MIT
"""Columns published as midpoints of intervals between cuts: given ones, or ones with about equally many people.

Against an adversary who reads a number from the release: it is known to within its interval only. What leaks: the cuts,
and where they come from the data, about where its quantiles lie. Such cuts are multiples of a 1-2-5 number that is a
hundredth of the range or more, so that hardly any single person moves one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.bound_words import spell_at_least
from sfumato.data.hierarchies.coarse_range import round_to_fine_grid
from sfumato.data.hierarchies.discretization import cut_counted_numbers
from sfumato.errors import PolicyError
from sfumato.protect.claims import claim_with_originals
from sfumato.protect.noise.noise_columns import NumberColumn, parse_end
from sfumato.public.cut_intervals import CutIntervals, IntervalLaw
from sfumato.release import Claim

Cuts = int | tuple[int | float | date, ...]
"""How many intervals with about equally many people, or where to cut."""
_FEWEST = 2
"""Whole numbers in an interval, at the least: the midpoint of fewer would be the value itself."""
_GRAIN = 2.0**14
"""How many times wider than rounding errors an interval of other numbers is, at the least."""


class CountedNumbers(NamedTuple):
    """The different numbers of a column, ascending, and how often each occurs."""

    numbers: Floats
    counts: Ints


@dataclass(frozen=True, eq=False)
class CutColumn:
    """One column, before and after."""

    column: NumberColumn
    intervals: CutIntervals
    from_data: bool
    """Whether the cuts depend on the data."""
    values: CountedNumbers
    """The different numbers of the whole column."""

    @classmethod
    def of(cls, column: NumberColumn, cuts: Cuts, values: CountedNumbers | None = None) -> CutColumn:
        """Cut the range of a column, of which the values may be counted already."""
        values = values or CountedNumbers(*np.unique_counts(column.numbers))
        end = column.high + column.step
        inner = _choose_quantiles(column, cuts, values) if isinstance(cuts, int) else _read_cuts(column, cuts)
        intervals = CutIntervals((column.low, *inner, end), column.whole is not None)
        return cls(column, intervals, isinstance(cuts, int), values)

    @cached_property
    def published_cells(self) -> pl.Series:
        """The midpoint of each value's interval."""
        middles = self.intervals.middles[self.intervals.find_places(self.column.numbers)]
        return self.column.replace_known(middles.astype(np.int64) if self.intervals.whole else middles)

    @property
    def loss(self) -> float:
        """The share of variance that the intervals hide; values are taken to be uniform within them."""
        if not len(self.values.numbers):
            return 0.0
        places = self.intervals.find_places(self.values.numbers)
        shares = np.bincount(places, self.values.counts, len(self.intervals.edges) - 1) / self.values.counts.sum()
        hidden_variance = float(shares @ np.diff(self.intervals.edges) ** 2) / 12
        middles = self.intervals.middles
        visible_variance = float(shares @ (middles - shares @ middles) ** 2)
        return hidden_variance / (hidden_variance + visible_variance) if hidden_variance else 0.0

    def measure_level(self, confidence: float) -> float:
        """The level that the narrowest interval gives."""
        return confidence * self.intervals.narrowest / self.column.width

    def state_law(self, confidence: float) -> IntervalLaw:
        """What an analyst must know; the ends of the data's own range follow from the midpoints, and are coarse."""
        number = int if self.intervals.whole else float
        return IntervalLaw(
            edges=tuple(number(edge) for edge in self.intervals.edges),
            step=int(self.column.step),
            confidence=confidence,
            achieved=self.measure_level(confidence),
            domain="data" if self.from_data or not self.column.has_given_range else "given",
            range=self.column.get_ends() if self.column.has_given_range else None,
        )

    def list_claims(self, confidence: float) -> list[Claim]:
        """How imprecise values are, and that each is in its interval."""
        name, level = self.column.name, self.measure_level(confidence)
        cut_arguments = {
            "column": name,
            "edges": tuple(map(repr, self.intervals.edges)),
            "whole": int(self.intervals.whole),
        }
        condition = ", given that the cuts, which were taken from the data, are public" if self.from_data else ""
        return [
            claim_with_originals(
                "cut_privacy",
                level * (1 - 1e-9),  # midpoints are rounded
                "at_least",
                {**cut_arguments, "confidence": confidence},
                f'With {confidence:g} confidence, "{name}" is known only to within {spell_at_least(level)} times its '
                f"range{condition}.",
            ),
            claim_with_originals(
                "outside_cuts",
                0,
                "exactly",
                cut_arguments,
                f'Every published "{name}" is the midpoint of the interval between cuts that contains the value.',
            ),
        ]


def _read_cuts(column: NumberColumn, cuts: Sequence[int | float | date]) -> list[float]:
    """Given cuts; between whole numbers, at the next one."""
    inner = [float(ceil(cut)) if column.whole is not None else cut for cut in map(parse_end, cuts)]
    edges = [column.low, *inner, column.high + column.step]
    if not inner or not all(low < high for low, high in pairwise(edges)):
        raise PolicyError(
            f'the cuts of "{column.name}" must be one or more different numbers in ascending order, inside of its range'
        )
    if any(high - low < _measure_least_width(column) for low, high in pairwise(edges)):
        raise PolicyError(
            f'two cuts of "{column.name}", or a cut and an end of its range, are so close that an interval between '
            "them would publish its value; leave one of them out"
        )
    return inner


def _choose_quantiles(column: NumberColumn, count: int, values: CountedNumbers) -> list[float]:
    """Cuts between about equally many people, on a coarse grid; fewer where values are so common that cuts coincide."""
    inner_edges = cut_counted_numbers(*values, count).edges[1:-1] if len(values.numbers) else ()
    whole, least, end = column.whole is not None, _measure_least_width(column), column.high + column.step
    inner: list[float] = []
    for cut in (round_to_fine_grid(edge, column.low, column.high, whole=whole) for edge in inner_edges):
        if cut - (inner[-1] if inner else column.low) >= least and end - cut >= least:
            inner.append(cut)
    return inner


def _measure_least_width(column: NumberColumn) -> float:
    return float(_FEWEST) if column.whole is not None else _GRAIN * column.grain
