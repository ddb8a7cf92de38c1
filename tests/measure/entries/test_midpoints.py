# SPDX-License-Identifier: MIT
"""Midpoints against a loop over all cells and intervals."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.hierarchies.discretization import cut_equal_width
from sfumato.measure.entries.midpoints import count_wrong_midpoints

NUMBERS = st.lists(st.none() | st.integers(-50, 50).map(float), min_size=1, max_size=12)


def make_table(cells: list[float | None]) -> sf.Table:
    return sf.Table.of({"a": pl.Series(cells, dtype=pl.Float64)}, {"a": "insensitive"})


@given(NUMBERS, st.integers(1, 5), st.data())
def test_every_cell_beside_its_midpoint_is_counted(cells: list[float | None], bins: int, draw: st.DataObject) -> None:
    cut = cut_equal_width(pl.Series(cells, dtype=pl.Float64), bins, coarse=True)
    right = cut.apply(pl.Series(cells, dtype=pl.Float64), "midpoint").to_list() if cut.edges else cells
    assert count_wrong_midpoints(make_table(cells), make_table(right), "a", cut.edges) == 0
    choices = st.sampled_from([*(cut.midpoints or (1.0,)), 77.0])
    published_cells = [draw.draw(st.just(cell) | choices | st.none()) for cell in right]
    wrong = sum(
        published_cell is not None
        and not any(
            was is not None and low <= was <= high and published_cell == middle
            for low, high, middle in zip(cut.edges, cut.edges[1:], cut.midpoints, strict=False)
        )
        for was, published_cell in zip(cells, published_cells, strict=True)
    )
    assert count_wrong_midpoints(make_table(cells), make_table(published_cells), "a", cut.edges) == wrong


def test_a_table_without_the_column_is_refused() -> None:
    with pytest.raises(sf.DataError, match='no column "b"'):
        count_wrong_midpoints(make_table([1.0]), make_table([1.0]), "b", (0.0, 2.0))
