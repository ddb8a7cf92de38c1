# SPDX-License-Identifier: MIT
"""Rows are parted by what columns say."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.attack.anonymity.equal_rows import group_equal_rows


def test_rows_that_are_alike_come_together_in_the_order_of_the_first() -> None:
    chance = np.random.default_rng(3)
    columns = [chance.integers(-2, 3, 400).astype(np.int16), chance.integers(0, 4, 400).astype(np.int16)]
    frame = pl.DataFrame({"a": columns[0], "b": columns[1]}).with_row_index("row")
    by_hand = frame.group_by("a", "b", maintain_order=True).agg("row")["row"].to_list()
    parts = group_equal_rows(columns, 20)
    assert parts is not None
    assert [rows.tolist() for rows in parts] == by_hand


def test_more_kinds_than_asked_for_are_not_listed() -> None:
    numbers = np.arange(5, dtype=np.int16)
    assert group_equal_rows([numbers], 4) is None
    assert group_equal_rows([numbers % 2, numbers], 4) is None
    assert group_equal_rows([numbers[:0]], 4) == []
