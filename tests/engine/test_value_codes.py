# SPDX-License-Identifier: MIT
"""Cells as places in a list: the same as the hierarchy's own way, or no answer."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.engine.value_codes import index_cells
from sfumato.errors import DataError


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=20))
def test_text(cells: list[str | None]) -> None:
    column = pl.Series("x", cells, dtype=pl.String)
    codes = index_cells(column, ("c", "a", "b"))
    assert codes is not None
    assert codes.tolist() == [3 if cell is None else "cab".index(cell) for cell in cells]


@given(st.lists(st.integers(-3, 9), min_size=1, max_size=20))
def test_whole_numbers(cells: list[int]) -> None:
    leaves = [str(number) for number in range(9, -4, -1)]
    codes = index_cells(pl.Series("x", cells), leaves)
    assert codes is not None
    assert codes.tolist() == [leaves.index(str(cell)) for cell in cells]
    assert codes.tolist() == Hierarchy.of([[leaf, "*"] for leaf in leaves]).code_leaves(pl.Series("x", cells)).tolist()


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("x", ["a", "strange"]),
        pl.Series("x", [1, 2]),
        pl.Series("x", [1, None]),
        pl.Series("x", [1, 1 << 40]),
        pl.Series("x", [1.0, 1.5]),
        pl.Series("x", [], dtype=pl.Int64),
    ],
)
def test_no_answer_where_a_cell_is_strange_or_has_to_be_spelt(column: pl.Series) -> None:
    assert index_cells(column, ("a", "1", "02")) is None


def test_a_number_is_spelt_without_zeros_before_it() -> None:
    table_leaf = Hierarchy.of([["01", "*"], ["2", "*"]], name="codes")
    assert index_cells(pl.Series("x", [1, 2]), table_leaf.leaves) is None
    with pytest.raises(DataError, match="1 value, in 1 row, has no row"):
        table_leaf.code_leaves(pl.Series("x", [1, 2]))
