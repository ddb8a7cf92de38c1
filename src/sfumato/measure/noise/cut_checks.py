# SPDX-License-Identifier: MIT
"""Check columns that were cut into intervals of different widths, from the originals and the release."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sfumato.arrays import Flags, Floats
from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.public.noise_law import read_numbers
from sfumato.table import Table

_SLACK = 1e-9


def measure_cut_privacy(
    original: Table,
    published_table: Table,
    column: str,
    edges: Sequence[float | str],
    whole: int = 0,
    confidence: float = 0.95,
    rows: Rows = None,
) -> float:
    """The privacy level of intervals between cuts: the width of the narrowest one that is published, or the distance of
    two published values in it, times the confidence, as a share of the range. Edges are numbers, or texts of numbers.
    """
    _, published_numbers = _pair_cells(original, published_table, column, rows)
    return measure_narrowest_cut(np.unique(published_numbers), edges, confidence)


def measure_narrowest_cut(published_numbers: Floats, edges: Sequence[float | str], confidence: float) -> float:
    """The same from the different published values, ascending."""
    cuts, range_width = np.asarray(edges, dtype=np.float64), float(edges[-1]) - float(edges[0])
    widths = np.diff(cuts)
    narrowest = float(widths.min())
    for middle in published_numbers:
        interval = int(np.clip(np.searchsorted(cuts, middle, side="right") - 1, 0, len(widths) - 1))
        # Several published values in one interval tell more than the interval.
        several = published_numbers[(published_numbers >= cuts[interval]) & (published_numbers < cuts[interval + 1])]
        narrowest = min(narrowest, float(widths[interval]), *np.diff(several).tolist())
    return round(confidence * narrowest / range_width, 12)


def count_outside_cuts(
    original: Table,
    published_table: Table,
    column: str,
    edges: Sequence[float | str],
    whole: int = 0,
    rows: Rows = None,
) -> int:
    """How many published values are not the middle of the interval that holds the original; of an even number of whole
    numbers, the lower middle. Values at an edge may be on either side of it, since they were rounded.
    """
    true, published_numbers = _pair_cells(original, published_table, column, rows)
    single = str(original.frame[column].dtype) == "Float32"
    return int(flag_outside_cuts(true, published_numbers, edges, bool(whole), single=single).sum())


def flag_outside_cuts(
    true: Floats, published_numbers: Floats, edges: Sequence[float | str], whole: bool, *, single: bool
) -> Flags:
    """Which published values are not the middle of the interval that holds the original."""
    cuts = np.asarray(edges, dtype=np.float64)
    wrong = np.ones(len(true), dtype=np.bool_)
    for low, high in pairwise(cuts.tolist()):
        last = high - 1 if whole else high
        middle = low + np.floor((high - low - 1) / 2) if whole else (low + high) / 2
        slack = 0.0 if whole else _SLACK * (high - low + abs(middle)) + 2 * _measure_grain(single, low, high)
        wrong &= ~((true >= low - slack) & (true <= last + slack) & (np.abs(published_numbers - middle) <= slack))
    return wrong


def _measure_grain(single: bool, low: float, high: float) -> float:
    """The rounding error of stored numbers."""
    largest = max(abs(low), abs(high))
    return float(np.spacing(np.float32(largest))) if single else float(np.spacing(largest))


def _pair_cells(original: Table, published_table: Table, column: str, rows: Rows) -> tuple[Floats, Floats]:
    """The known cells before and after, as numbers."""
    original_frame = align_originals(original, published_table, rows)
    require_columns(original_frame, [column], original.source)
    require_columns(published_table.frame, [column], published_table.source)
    true, published_numbers = read_numbers(original_frame[column]), read_numbers(published_table.frame[column])
    known_mask = ~np.isnan(true) & ~np.isnan(published_numbers)
    return true[known_mask], published_numbers[known_mask]


checks_claim("cut_privacy", "at_least", needs_original=True)(make_comparison_check(measure_cut_privacy))
checks_claim("outside_cuts", "exactly", needs_original=True)(make_comparison_check(count_outside_cuts))
