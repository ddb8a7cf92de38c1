# SPDX-License-Identifier: MIT
"""Check numbers that were cut into intervals: each published one is the midpoint of the interval of its original."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sfumato.measure.alignment import Rows, align_originals, make_comparison_check, require_columns
from sfumato.measure.checks import checks_claim
from sfumato.public.noise_law import read_numbers
from sfumato.table import Table

_SLACK = 1e-5
"""Midpoints are written with few decimals: how far one may be from the middle, as a share of its interval."""


def count_wrong_midpoints(
    original: Table, published_table: Table, column: str, edges: Sequence[float | str], rows: Rows = None
) -> int:
    """How many published numbers are not the middle of the interval between edges that contains the original.

    An original at an edge may belong to either side. Empty cells do not count; a number where there was none does.
    """
    frame = align_originals(original, published_table, rows)
    require_columns(frame, (column,), original.source)
    require_columns(published_table.frame, (column,), published_table.source)
    true, shown_numbers = read_numbers(frame[column]), read_numbers(published_table.frame[column])
    wrong = ~np.isnan(shown_numbers)
    for low, high in pairwise(map(float, edges)):
        slack = _SLACK * (high - low) + 4 * float(np.spacing(max(abs(low), abs(high))))
        is_middle = np.abs(shown_numbers - (low / 2 + high / 2)) <= slack
        wrong &= ~(is_middle & (true >= low - slack) & (true <= high + slack))
    return int(wrong.sum())


checks_claim("wrong_midpoints", "exactly", needs_original=True)(make_comparison_check(count_wrong_midpoints))
