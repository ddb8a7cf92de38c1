# SPDX-License-Identifier: MIT
"""Cutting numbers into intervals."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.data.hierarchies.discretization import (
    Discretization,
    Numbers,
    cut_at,
    cut_equal_frequency,
    cut_equal_width,
)
from sfumato.errors import DataError, PolicyError

finite = st.floats(allow_nan=False, allow_infinity=False)
tidy = st.integers(-50, 50).map(float)
columns = st.one_of(
    st.lists(tidy, min_size=1, max_size=60),
    st.lists(finite, min_size=1, max_size=60),
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0]), min_size=1, max_size=60),
)
bin_counts = st.integers(1, 25)
cut_lists = st.lists(
    st.one_of(tidy, finite.filter(lambda cut: abs(cut) < sys.float_info.max)),
    min_size=1,
    max_size=8,
    unique=True,
).map(sorted)

Cutter = Callable[[Numbers, int], Discretization]
cutters = pytest.mark.parametrize("cutter", [cut_equal_width, cut_equal_frequency])


def lies_within(cut: Discretization, code: int, value: float) -> bool:
    """The definition, spelled out: lower edge in, upper out, the last has both, an open end has none."""
    low, high, last = cut.edges[code], cut.edges[code + 1], code == len(cut.edges) - 2
    is_above = value >= low or (cut.open_below and code == 0)
    is_below = value < high or (last and (cut.open_above or value == high))
    return is_above and is_below


def check_properties(cut: Discretization, values: list[float]) -> None:
    codes = cut.code_values(values)
    assert all(lies_within(cut, code, value) for code, value in zip(codes.tolist(), values, strict=True))
    order = np.argsort(values, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    assert len(cut.labels) == len(cut.midpoints) == len(cut.edges) - 1
    assert np.bincount(codes, minlength=len(cut.labels)).sum() == len(values)
    assert len(np.bincount(codes, minlength=len(cut.labels))) == len(cut.labels)
    assert all(lies_within(cut, code, middle) for code, middle in enumerate(cut.midpoints))
    assert len(set(cut.labels)) == len(cut.labels)


class TestProperties:
    @cutters
    @given(values=columns, bins=bin_counts)
    @example(values=[-1.7976931348623157e308, 1.7976931348623157e308], bins=7)
    @example(values=[5e-324, 1e-323], bins=3)
    @example(values=[1.0, math.nextafter(1.0, 2.0)], bins=4)
    def test_every_value_lies_in_its_interval(self, cutter: Cutter, values: list[float], bins: int) -> None:
        cut = cutter(values, bins)
        assert 1 <= len(cut.labels) <= bins
        check_properties(cut, values)

    @given(values=columns, cuts=cut_lists)
    def test_fixed_cuts_hold_every_value(self, values: list[float], cuts: list[float]) -> None:
        cut = cut_at(values, cuts)
        assert len(cut.labels) == len(cuts) + 1
        check_properties(cut, values)

    @given(values=st.lists(tidy, min_size=2, max_size=80), bins=st.integers(2, 12))
    def test_equal_width_is_equal(self, values: list[float], bins: int) -> None:
        steps = np.diff(cut_equal_width(values, bins).edges)
        width = (max(values) - min(values)) / bins
        assert np.allclose(steps, width, rtol=5e-6, atol=0)

    @given(values=st.lists(finite, min_size=1, max_size=80, unique=True), bins=bin_counts)
    def test_equal_frequency_is_equal_without_ties(self, values: list[float], bins: int) -> None:
        counts = np.bincount(cut_equal_frequency(values, bins).code_values(values))
        assert counts.max() - counts.min() <= 1
        assert len(counts) == min(bins, len(values))

    @given(values=st.lists(st.integers(0, 9).map(float), min_size=1, max_size=80), bins=bin_counts)
    def test_equal_frequency_leaves_no_interval_empty(self, values: list[float], bins: int) -> None:
        cut = cut_equal_frequency(values, bins)
        assert np.bincount(cut.code_values(values), minlength=len(cut.labels)).min() >= 1

    @cutters
    @given(values=columns, bins=bin_counts)
    def test_missing_values_change_nothing(self, cutter: Cutter, values: list[float], bins: int) -> None:
        holed = pl.Series("x", [None, *values, None, math.nan], dtype=pl.Float64)
        cut = cutter(values, bins)
        assert cutter(holed, bins) == cut
        assert cut.code_values(holed).tolist() == [-1, *cut.code_values(values).tolist(), -1, -1]


class TestByHand:
    def test_equal_width(self) -> None:
        cut = cut_equal_width([20, 29, 30, 35, 50], 3)
        assert cut.edges == (20, 30, 40, 50)
        assert cut.labels == ("[20, 30)", "[30, 40)", "[40, 50]")
        assert cut.midpoints == (25, 35, 45)
        assert cut.code_values([20, 29.9, 30, 40, 50]).tolist() == [0, 0, 1, 2, 2]

    def test_tenths_are_cut_where_the_label_says(self) -> None:
        cut = cut_equal_width([0.0, 1.0], 10)
        assert cut.labels[2:4] == ("[0.2, 0.3)", "[0.3, 0.4)")
        assert cut.code_values([0.3]).tolist() == [3]
        assert cut.midpoints[:3] == (0.05, 0.15, 0.25)

    def test_thirds_have_compact_labels(self) -> None:
        assert cut_equal_width([0, 1], 3).labels == ("[0, 0.333333)", "[0.333333, 0.666667)", "[0.666667, 1]")

    def test_equal_frequency(self) -> None:
        cut = cut_equal_frequency([1, 2, 3, 4, 5, 6, 7, 8], 4)
        assert cut.edges == (1, 3, 5, 7, 8)
        assert cut.labels == ("[1, 3)", "[3, 5)", "[5, 7)", "[7, 8]")
        assert cut.midpoints == (2, 4, 6, 7.5)

    def test_a_cut_between_long_numbers_is_short(self) -> None:
        cut = cut_equal_frequency([-0.8123, -0.7456, 0.3387123, 0.3394987, 0.3421234, 0.3987], 3)
        assert cut.edges == (-0.8123, 0, 0.34, 0.3987)
        assert cut.labels == ("[-0.8123, 0)", "[0, 0.34)", "[0.34, 0.3987]")

    def test_ties_stay_together(self) -> None:
        values = [0.0] * 7 + [1, 2, 3]
        cut = cut_equal_frequency(values, 3)
        assert cut.edges == (0, 1, 3)
        assert np.bincount(cut.code_values(values)).tolist() == [7, 3]

    def test_a_cut_goes_to_the_nearer_side_of_a_tie(self) -> None:
        assert cut_equal_frequency([1, 2, 2, 2, 2, 3, 4, 5], 2).edges == (1, 3, 5)
        assert cut_equal_frequency([1, 2, 3, 4, 4, 4, 4, 5], 2).edges == (1, 4, 5)

    def test_few_distinct_values_get_an_interval_each(self) -> None:
        values = [1.0] * 90 + [2.0] * 5 + [4.0] * 5
        cut = cut_equal_frequency(values, 5)
        assert cut.labels == ("[1, 2)", "[2, 4)", "[4, 4]")
        assert cut.midpoints == (1.5, 3, 4)
        assert np.bincount(cut.code_values(values)).tolist() == [90, 5, 5]

    @cutters
    def test_constant(self, cutter: Cutter) -> None:
        cut = cutter([7, 7, 7], 4)
        assert cut.edges == (7, 7)
        assert cut.labels == ("[7, 7]",)
        assert cut.midpoints == (7,)
        assert cut.code_values([7, 7]).tolist() == [0, 0]

    def test_cuts(self) -> None:
        values = [10, 17, 18, 40, 64, 65, 91]
        cut = cut_at(values, [18, 40, 65])
        assert cut.labels == ("< 18", "[18, 40)", "[40, 65)", "≥ 65")
        assert cut.midpoints == (14, 29, 52.5, 78)
        assert cut.code_values(values).tolist() == [0, 0, 1, 2, 2, 3, 3]
        assert cut.code_values([-1000, 1000]).tolist() == [0, 3]

    def test_cuts_nobody_is_beyond(self) -> None:
        cut = cut_at([20, 30], [18, 40, 65])
        assert cut.labels == ("< 18", "[18, 40)", "[40, 65)", "≥ 65")
        assert cut.midpoints == (7, 29, 52.5, 77.5)

    def test_one_cut(self) -> None:
        assert cut_at([1, 9], [5]).labels == ("< 5", "≥ 5")
        assert cut_at([1, 9], [5]).midpoints == (3, 7)
        assert cut_at([], [5]).midpoints == (2.5, 7.5)

    def test_the_middle_of_neighbouring_floats_stays_below_the_cut(self) -> None:
        just_below = math.nextafter(1.0, 0.0)
        assert cut_at([just_below], [1.0]).midpoints[0] == just_below

    def test_large_and_small_numbers(self) -> None:
        assert cut_at([], [1_000_000, 1_484_705.5]).labels[1] == "[1000000, 1484705.5)"
        assert cut_equal_width([-0.0, 0.004], 2).labels == ("[0, 0.002)", "[0.002, 0.004]")


class TestApply:
    series = pl.Series("age", [20, None, 35, 50])

    def test_labels(self) -> None:
        labels = cut_equal_width(self.series, 3).apply(self.series)
        assert labels.name == "age"
        assert labels.dtype == pl.String
        assert labels.to_list() == ["[20, 30)", None, "[30, 40)", "[40, 50]"]

    def test_midpoints(self) -> None:
        midpoints = cut_equal_width(self.series, 3).apply(self.series, as_="midpoint")
        assert midpoints.dtype == pl.Float64
        assert midpoints.to_list() == [25, None, 35, 45]

    def test_nan_becomes_null(self) -> None:
        holed = pl.Series("x", [1.0, math.nan, 3.0])
        assert cut_equal_width(holed, 1).apply(holed, as_="midpoint").to_list() == [2, None, 2]

    def test_unknown_form(self) -> None:
        with pytest.raises(PolicyError, match='"mean"'):
            cut_equal_width(self.series, 3).apply(self.series, as_="mean")  # type: ignore[arg-type]

    @pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2)])
    def test_every_numeric_type(self, dtype: pl.DataType) -> None:
        typed = self.series.cast(dtype)
        assert cut_equal_width(typed, 3).apply(typed).to_list() == ["[20, 30)", None, "[30, 40)", "[40, 50]"]


class TestRefusals:
    @cutters
    @pytest.mark.parametrize("bins", [0, -3])
    def test_bins(self, cutter: Cutter, bins: int) -> None:
        with pytest.raises(PolicyError, match=f"not {bins}"):
            cutter([1, 2], bins)

    @pytest.mark.parametrize("cuts", [[], [3, 3], [5, 1], [1, math.inf], [math.nan]])
    def test_cuts(self, cuts: list[float]) -> None:
        with pytest.raises(PolicyError, match="cuts must be"):
            cut_at([1, 2], cuts)

    @cutters
    def test_infinities_are_counted_and_not_shown(self, cutter: Cutter) -> None:
        values = pl.Series("weight", [4711.25, math.inf, -math.inf, math.inf])
        with pytest.raises(DataError, match='3 values of "weight" are infinite') as error:
            cutter(values, 2)
        assert "4711" not in str(error.value)

    def test_words(self) -> None:
        with pytest.raises(DataError, match="only numbers") as error:
            cut_equal_width(pl.Series("town", ["Vinci", "Milan"]), 2)
        assert '"town"' in str(error.value)
        assert "Vinci" not in str(error.value)

    def test_values_outside(self) -> None:
        cut = cut_equal_width([20, 50], 3)
        with pytest.raises(DataError, match='2 values of "age" are outside') as error:
            cut.code_values(pl.Series("age", [4711, 30, 0, None]))
        assert "4711" not in str(error.value)

    @pytest.mark.parametrize("edges", [(1.0,), (2.0, 1.0), (1.0, 1.0, 2.0), (0.0, math.inf)])
    def test_edges(self, edges: tuple[float, ...]) -> None:
        with pytest.raises(PolicyError):
            Discretization(edges)


@cutters
@pytest.mark.parametrize("values", [[], [None, None], pl.Series("x", [None, math.nan])])
def test_nothing_to_learn_from(cutter: Cutter, values: list[float]) -> None:
    cut = cutter(values, 5)
    assert cut == Discretization(())
    assert cut.labels == ()
    assert cut.midpoints == ()
    assert cut.code_values(values).tolist() == [-1] * len(values)
    assert cut.apply(pl.Series("x", [None, None])).to_list() == [None, None]
    with pytest.raises(DataError, match="1 value is outside"):
        cut.code_values([3.0])


def test_the_papers_cardinalities() -> None:
    """Aggarwal et al. (2006), section 6.2: Adult's age, fnlwgt and education-num discretized to 10, 150 and 17."""
    generator = np.random.default_rng(3)
    age = generator.integers(17, 91, 30_000)
    weight = generator.integers(12_285, 1_484_706, 30_000)
    assert len(set(cut_equal_width(age, 10).apply(pl.Series(age)))) == 10
    assert len(set(cut_equal_width(weight, 150).apply(pl.Series(weight), "midpoint"))) == 150
    assert len(set(cut_equal_frequency(weight, 150).code_values(weight).tolist())) == 150
    # education-num has 16 values, so that 17 intervals can be asked for, and 16 be used
    years = np.repeat(np.arange(1, 17), 9)
    assert len(cut_equal_width(years, 17).labels) == 17
    assert len(set(cut_equal_width(years, 17).code_values(years).tolist())) == 16
    assert len(cut_equal_frequency(years, 17).labels) == 16
