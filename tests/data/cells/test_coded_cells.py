# SPDX-License-Identifier: MIT
"""Cells as numbers: the places of their values among those that occur, in order, a missing one last."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.cells.coded_cells import encode_cells, encode_narrowly

KINDS: dict[Any, Any] = {
    pl.String: st.text(max_size=3),
    pl.Int64: st.one_of(st.integers(-3, 9), st.integers(-(2**63), 2**63 - 1)),
    pl.UInt8: st.integers(0, 255),
    pl.UInt64: st.integers(2**64 - 9, 2**64 - 1),
    pl.Float64: st.floats(allow_nan=False),
    pl.Boolean: st.booleans(),
    pl.Date: st.dates(date(1900, 1, 1), date(2100, 1, 1)),
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(st.data())
def test_values_come_back_in_order(kind: Any, data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.one_of(st.none(), KINDS[kind]), max_size=12))
    column = pl.Series("x", cells, dtype=kind)
    values, codes = encode_cells(column)
    assert values.dtype == kind
    assert values.name == "x"
    assert [values[code] for code in codes.tolist()] == cells
    known_values = sorted({cell for cell in cells if cell is not None})
    assert values.to_list() == [*known_values, *([None] if None in cells else [])]


@pytest.mark.parametrize("count", [1, 254, 255, 256, 65_535, 65_536])
def test_a_missing_text_has_a_number_of_its_own(count: int) -> None:
    """Numbers of few bytes have room for one more."""
    column = pl.Series("a", [f"{number:06d}" for number in range(count)] + [None, "000000"])
    narrow, wide = encode_narrowly(column), encode_cells(column)
    assert narrow.values.equals(wide.values, null_equal=True)
    assert (narrow.codes == wide.codes).all()
    assert narrow.codes[count] == count
