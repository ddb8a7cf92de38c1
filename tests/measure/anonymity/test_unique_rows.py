# SPDX-License-Identifier: MIT
"""Rows that are unique by few columns, counted by keys and by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from sfumato.measure.anonymity import unique_rows
from sfumato.measure.anonymity.unique_rows import find_unique_rows


def _draw_frame(rows: int, widths: tuple[int, ...], seed: int) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    texts = [pl.Series(f"t{i}", chance.integers(0, width, rows).astype(str)) for i, width in enumerate(widths)]
    holed = pl.Series("n", chance.integers(-3, 4, rows)).to_frame().select(pl.when(pl.col("n") != 0).then("n"))
    return pl.DataFrame([*texts, holed.to_series()])


def _count_by_hand(frame: pl.DataFrame, size: int) -> tuple[tuple[str, ...], float]:
    shares = {
        names: frame.group_by(names).len().filter(pl.col("len") == 1).height / frame.height
        for names in combinations(frame.columns, size)
    }
    best = min(shares, key=lambda names: (-shares[names], names))
    return best, shares[best]


@pytest.mark.parametrize("many", [1, 1_000_000], ids=["joined", "row by row"])
@pytest.mark.parametrize("few", [0, 1 << 19], ids=["sorted", "counted"])
@pytest.mark.parametrize("widths", [(2, 3, 4), (300, 2, 50), (400, 400, 400)])
def test_the_most_telling_columns_are_those_found_by_hand(
    widths: tuple[int, ...], few: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unique_rows, "_MANY_ROWS", many)
    monkeypatch.setattr(unique_rows, "_FEW_KEYS", few)
    frame = _draw_frame(500, widths, seed=sum(widths))
    uniqueness = find_unique_rows(frame)
    assert [(rows.columns, rows.share) for rows in uniqueness] == [_count_by_hand(frame, size) for size in (1, 2, 3)]


def test_keys_that_would_be_too_long_are_numbered_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unique_rows, "_LARGEST_KEY", 1 << 12)
    frame = _draw_frame(300, (90, 80, 70), seed=5)
    uniqueness = find_unique_rows(frame)
    assert [(rows.columns, rows.share) for rows in uniqueness] == [_count_by_hand(frame, size) for size in (1, 2, 3)]


def test_a_table_without_rows_has_none_that_are_unique() -> None:
    assert [rows.share for rows in find_unique_rows(pl.DataFrame({"a": [], "b": []}))] == [0.0, 0.0]
