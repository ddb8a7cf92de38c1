# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engine.classes import count_class_sizes, pack_row_keys

CELLS: dict[str, tuple[st.SearchStrategy[Any], pl.DataType]] = {
    "text": (st.text(max_size=2), pl.String()),
    "whole": (st.integers(-(2**62), 2**62), pl.Int64()),
    "small": (st.integers(0, 255), pl.UInt8()),
    "float": (st.floats(allow_nan=False, allow_infinity=False), pl.Float64()),
    "truth": (st.booleans(), pl.Boolean()),
    "date": (st.dates(), pl.Date()),
}


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(0, 30))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    columns = {}
    for number, kind in enumerate(kinds):
        cells, dtype = CELLS[kind]
        few = draw(st.lists(st.none() | cells, min_size=1, max_size=4))
        values = draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows))
        columns[f"c{number}"] = pl.Series(values, dtype=dtype)
    return pl.DataFrame(columns)


@settings(deadline=None, max_examples=200)
@given(frames())
def test_sizes_are_those_of_counting_tuples(frame: pl.DataFrame) -> None:
    expected = sorted(Counter(frame.rows()).values())
    assert sorted(count_class_sizes(frame, frame.columns).tolist()) == expected


def test_many_wide_columns_do_not_overflow_the_key() -> None:
    chance = np.random.default_rng(1)
    frame = pl.DataFrame({f"c{i}": chance.integers(0, 2**40, 200).repeat(2) for i in range(12)})
    assert count_class_sizes(frame, frame.columns).tolist() == [2] * 200
    assert pack_row_keys(frame, frame.columns)[1] <= 2**62


@pytest.mark.parametrize("rows", [70_000, 300_000])
def test_large_tables_take_the_compiled_way(rows: int) -> None:
    chance = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "a": chance.integers(0, 100, rows).astype(np.uint8),
            "b": chance.integers(0, 3000, rows),
            "c": chance.integers(0, 5, rows).astype(str),
        }
    )
    expected = np.sort(frame.group_by(frame.columns).len()["len"].to_numpy())
    assert np.array_equal(np.sort(count_class_sizes(frame, frame.columns)), expected)


@pytest.mark.parametrize("name", ["a", "size", "size_", "SIZE_", "len"])
def test_other_engines_count_alike(name: str) -> None:
    frame = pl.DataFrame({name: [1, 1, None, None, 2], "b": ["x", "x", "y", "y", "z"]})
    relation = duckdb.sql("select * from frame")
    for other in (frame.lazy(), relation, frame.to_arrow(), frame.to_pandas()):
        assert sorted(count_class_sizes(other, [name, "b"]).tolist()) == [1, 2, 2]


@pytest.mark.parametrize("kind", [pl.UInt64, pl.Int64])
@pytest.mark.parametrize("missing", [False, True])
def test_numbers_at_the_ends_of_their_type(kind: Any, missing: bool) -> None:
    """Few values close together, of which the lowest or the one before it is more than a signed number holds."""
    end = 2**64 - 3 if kind == pl.UInt64 else -(2**63)
    cells = [end, end + 1, end, None if missing else end + 1]
    frame = pl.DataFrame({"a": pl.Series(cells, dtype=kind), "b": [True, False, True, False]})
    assert sorted(count_class_sizes(frame, ["a", "b"])) == ([1, 1, 2] if missing else [2, 2])
