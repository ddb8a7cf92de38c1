# SPDX-License-Identifier: MIT
"""Distinct rows against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.kernels.sequences.distinct_rows import find_distinct_rows


@pytest.mark.parametrize(("rows", "labels", "longest"), [(0, 1, 1), (1, 1, 3), (400, 2, 5), (300, 50, 3), (64, 1, 9)])
def test_equal_rows_have_the_same_number(rows: int, labels: int, longest: int) -> None:
    chance = np.random.default_rng(rows)
    listed = [tuple(chance.integers(-1, labels, chance.integers(0, longest + 1)).tolist()) for _ in range(rows)]
    codes = np.array([code for row in listed for code in row], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, listed)], dtype=np.int64)
    distinct_rows = find_distinct_rows(codes, offsets)
    number_by_row: dict[tuple[int, ...], int] = {}
    assert distinct_rows.numbers.tolist() == [number_by_row.setdefault(row, len(number_by_row)) for row in listed]
    assert [listed[row] for row in distinct_rows.firsts.tolist()] == list(number_by_row)
    assert distinct_rows.weights.tolist() == [listed.count(row) for row in number_by_row]
