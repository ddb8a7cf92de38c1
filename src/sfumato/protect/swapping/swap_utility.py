# SPDX-License-Identifier: MIT
"""The analyst's loss from swapping: how far joint distributions move, and how confidential columns correlate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Ints
from sfumato.protect.swapping.posteriors import NumberedColumn


def measure_joint_distance(columns: Sequence[NumberedColumn], old: Ints, new: Ints, categories: int) -> float:
    """The mean over columns x of the total variation between the joint distributions of (x, y), before and after."""
    changed_rows = np.flatnonzero(old != new)
    old_categories, new_categories = old[changed_rows], new[changed_rows]
    moved_count = 0
    for column, width in columns:
        values = column[changed_rows] * categories
        old_counts, new_counts = (
            np.bincount(values + y, minlength=width * categories) for y in (old_categories, new_categories)
        )
        moved_count += int(np.abs(old_counts - new_counts).sum())
    return moved_count / 2 / max(len(old), 1) / max(len(columns), 1)


def measure_association(first: Ints, other: Ints, first_width: int, other_width: int) -> float | None:
    """Cramér's V of two columns over the rows where both are known; None if a column does not vary there."""
    known_mask = (first < first_width) & (other < other_width)
    counts = np.bincount(
        first[known_mask] * other_width + other[known_mask], minlength=first_width * other_width
    ).reshape(first_width, other_width)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)].astype(np.float64)
    if min(counts.shape) < 2:
        return None
    expected_counts = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0, keepdims=True) / counts.sum()
    squares = float(((counts - expected_counts) ** 2 / expected_counts).sum())
    return round(float(np.sqrt(squares / counts.sum() / (min(counts.shape) - 1))), 12)
