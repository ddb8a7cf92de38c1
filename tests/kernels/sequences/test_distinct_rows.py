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
    found = find_distinct_rows(codes, offsets)
    known: dict[tuple[int, ...], int] = {}
    assert found.numbers.tolist() == [known.setdefault(row, len(known)) for row in listed]
    assert [listed[row] for row in found.firsts.tolist()] == list(known)
    assert found.weights.tolist() == [listed.count(row) for row in known]
