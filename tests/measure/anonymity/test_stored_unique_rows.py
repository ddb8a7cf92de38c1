# SPDX-License-Identifier: MIT
"""Unique rows by few columns are those of memory, whether combinations are held or counted in the rows."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.generators.population import generate_population
from sfumato.engine import stored_rows
from sfumato.engine.stored_rows import MemoryRows
from sfumato.measure.anonymity.dense_unique_rows import count_dense_unique
from sfumato.measure.anonymity.stored_unique_rows import find_stored_unique_rows
from sfumato.measure.anonymity.unique_rows import find_unique_rows


@pytest.mark.parametrize("places", [0, 3000, 1 << 21])
@pytest.mark.parametrize(("tuple_limit", "ahead_limit"), [(0, 0), (500, 200), (1 << 21, 200)])
def test_unique_rows_are_those_of_memory(
    tuple_limit: int, ahead_limit: int, places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(find_stored_unique_rows.__globals__, "_MOST_TUPLES", tuple_limit)
    monkeypatch.setitem(find_stored_unique_rows.__globals__, "_MOST_AHEAD", ahead_limit)
    monkeypatch.setitem(count_dense_unique.__globals__, "MOST_PLACES", places)
    monkeypatch.setitem(count_dense_unique.__globals__, "MOST_AT_ONCE", 20_000)
    monkeypatch.setattr(stored_rows, "BATCH_ROWS", 70)
    frame = generate_population(800).drop("name")
    frame = frame.with_columns(pl.when(pl.col("age") > 40).then(pl.col("education")).alias("education"))
    rows = MemoryRows(frame)
    assert find_stored_unique_rows(rows, frame.columns) == find_unique_rows(frame)
    assert find_stored_unique_rows(rows, frame.columns[:2], 2) == find_unique_rows(frame, frame.columns[:2], 2)
    assert find_stored_unique_rows(rows, []) == ()
