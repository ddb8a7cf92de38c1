# SPDX-License-Identifier: MIT
"""Ranges with round ends, and histograms of what they hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.report.pictures.number_bins import NumberCells, are_digits_codes, choose_bins, parse_cells

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-1000, 1000).map(float)


def cells_of(*values: float) -> NumberCells:
    cells = parse_cells(pl.Series("x", values, dtype=pl.Float64))
    assert cells is not None
    return cells


def test_whole_numbers_are_named_by_their_first_and_last() -> None:
    bins = choose_bins(np.arange(18.0, 96.0), 10)
    assert bins is not None
    assert bins.labels == tuple(f"{low} to {low + 9}" for low in range(10, 100, 10))
    assert bins.count(cells_of(19, 20, 29, 95)) == [1, 2, 0, 0, 0, 0, 0, 0, 1]
    assert choose_bins(np.array([1.0, 2.0, 3.0]), 8).labels == ("1", "2", "3")  # type: ignore[union-attr]


def test_other_numbers_are_named_by_their_ends() -> None:
    bins = choose_bins(np.array([0.01, 0.4, 0.99]), 4)
    assert bins is not None
    assert bins.labels == ("0 to under 0.25", "0.25 to under 0.5", "0.5 to under 0.75", "0.75 to under 1")
    years = choose_bins(np.arange(1950.0, 2030.0), 8)
    assert years is not None
    assert years.labels[0] == "1950 to 1959"


@pytest.mark.parametrize("numbers", [[0.7, 1.0], [0.0, 0.3, 0.7], [0.0, 0.0045, 0.0048], [-0.6, 0.3], [1e-12, 9e-12]])
def test_a_decimal_is_in_the_range_that_its_label_begins_with(numbers: list[float]) -> None:
    """7 × 0.1 is not 0.7 to a computer, and 0.7 was counted among "0.6 to under 0.7"."""
    bins = choose_bins(np.array(numbers), 10)
    assert bins is not None
    assert not bins.open_ends
    for number, place in zip(numbers, bins.find_bins(np.array(numbers)), strict=True):
        low, high = bins.labels[place].split(" to under ")
        assert float(low) <= number < float(high)


def test_a_few_far_out_do_not_flatten_the_rest() -> None:
    bins = choose_bins(np.concatenate([np.arange(1000.0) % 80, [90_000.0]]), 10)
    assert bins is not None
    assert bins.open_ends
    assert bins.labels[-1] == "70 and more"
    assert bins.count(cells_of(90_000.0)) == [0] * 7 + [1]


def test_equal_or_huge_numbers_are_not_divided() -> None:
    assert choose_bins(np.array([]), 8) is None
    assert choose_bins(np.array([5.0, 5.0]), 8) is None
    assert choose_bins(np.array([-1.7e308, 1.7e308]), 8) is None
    assert choose_bins(np.array([1e17, 1e17 + 16]), 8) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=30), st.integers(2, 20))
def test_every_number_is_in_the_range_that_names_it(numbers: list[float], most: int) -> None:
    values = np.array(numbers)
    bins = choose_bins(values, most)
    if bins is None:
        return
    assert len(bins.labels) == len(bins.edges) - 1 <= most
    assert sum(bins.count(cells_of(*numbers))) == len(numbers)
    indices = bins.find_bins(values)
    inside_mask = (values >= bins.edges[0]) & (values < bins.edges[-1])
    assert (values[inside_mask] >= bins.edges[indices[inside_mask]]).all()
    assert (values[inside_mask] < bins.edges[indices[inside_mask] + 1]).all()
    assert bins.open_ends == bool((~inside_mask).any())


def test_ranges_are_spread_over_their_numbers() -> None:
    cells = parse_cells(pl.Series(["[10, 29]"] * 4 + ["35", "*", None]))
    assert cells is not None
    assert cells.ranges
    bins = choose_bins(np.arange(10.0, 40.0), 3)
    assert bins is not None
    assert bins.count(cells) == [2, 2, 1]


@pytest.mark.parametrize("column", [["a"], ["1", "b"], ["007"], ["20-29"], ["*"], [None]])
def test_names_are_not_numbers(column: list[str | None]) -> None:
    assert parse_cells(pl.Series(column, dtype=pl.String)) is None


def test_digits_that_a_hierarchy_masks_are_a_code() -> None:
    assert are_digits_codes(sf.Hierarchy.of([["13053", "1305*", "*"], ["13068", "1306*", "*"]]))
    assert not are_digits_codes(sf.Hierarchy.of([["21", "20-29", "*"], ["35", "30-39", "*"]]))
    assert not are_digits_codes(None)


def test_counts_of_spread_ranges_add_up() -> None:
    low, high = np.zeros(400), np.full(400, 89.0)
    bins = choose_bins(np.concatenate([low, high]), 16)
    assert bins is not None
    counts = bins.count(NumberCells(low, high, whole=True, ranges=True))
    assert sum(counts) == 400 and max(counts) - min(counts[:-1]) <= 1
    mixed = NumberCells(np.array([3.0, 3.0, 0.0]), np.array([3.0, 3.0, 89.0]), whole=True, ranges=True)
    assert sum(bins.count(mixed)) == 3 and bins.count(mixed)[0] >= 2
