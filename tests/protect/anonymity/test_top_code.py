# SPDX-License-Identifier: MIT
"""Top and bottom coding: numbers worked out by hand, and brute force on small tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.anonymity.coded_limits import count_beyond_limits, count_miscoded_cells, count_rows_at_limits

Ends = Literal["top", "bottom", "both"]
INCOMES = [12, 18, 21, 23, 25, 26, 28, 31, 34, 36, 39, 41, 44, 48, 52, 57, 63, 88, 140, 950]


def table_of(values: list[Any], dtype: Any = None) -> sf.Table:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype), "other": list(range(len(values)))}, strict=False)
    return sf.Table.of(frame, {"x": "sensitive", "other": "insensitive"})


def coded(values: list[Any], dtype: Any = None, **fields: Any) -> list[Any]:
    published_values: list[Any] = (
        sf.TopCode(columns="x", **fields).protect(table_of(values, dtype)).data.frame["x"].to_list()
    )
    return published_values


def test_incomes_by_hand() -> None:
    """Three reach 88 and three 21 from below; the grid is 2, as is a hundredth of 67 rounded up and not less than 2."""
    assert coded(INCOMES, k=3) == [*INCOMES[:-3], 88, 88, 88]
    assert coded(INCOMES, k=4) == [*INCOMES[:-4], 62, 62, 62, 62]
    assert coded(INCOMES, k=3, ends="bottom") == [22, 22, 22, *INCOMES[3:]]
    assert coded(INCOMES, k=3, ends="both") == [22, 22, 22, *INCOMES[3:-3], 88, 88, 88]


def test_the_share_counts_where_it_is_more_than_k() -> None:
    """A quarter of twenty are five: the fifth from above has 57, and the grid is 2."""
    assert coded(INCOMES, k=3, share=0.25) == [*INCOMES[:-5], 56, 56, 56, 56, 56]


def test_a_cap_that_is_given_stands() -> None:
    assert coded(INCOMES, k=3, caps={"x": 70}) == [*INCOMES[:-3], 70, 70, 70]
    assert coded(INCOMES, k=3, caps={"x": 70.9}) == [*INCOMES[:-3], 70, 70, 70]
    assert coded(INCOMES, k=3, ends="bottom", floors={"x": 20.1}) == [21, 21, 21, *INCOMES[3:]]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"k": 3, "caps": {"x": 100}}, "only 2 rows"),
        ({"k": 3, "caps": {"x": 1000}}, "only 0 rows"),
        ({"k": 11}, "20 numbers, fewer than twice the 11"),
        ({"k": 3, "ends": "both", "caps": {"x": 30}, "floors": {"x": 30}}, "not below"),
    ],
)
def test_a_cap_that_few_would_have_is_refused(fields: dict[str, Any], error: str) -> None:
    with pytest.raises(sf.ImpossibleRelease, match=error):
        coded(INCOMES, **fields)


def test_given_limits_need_no_others() -> None:
    """Three numbers have no two at each end, but two of them reach the cap."""
    assert coded([1, 5, 6], k=2, caps={"x": 5}) == [1, 5, 5]
    assert coded([1, 2, 6], k=2, ends="bottom", floors={"x": 2.0}) == [2, 2, 6]
    assert coded([1, 2, 6, 7], k=2, ends="both", floors={"x": 2}, caps={"x": 6}) == [2, 2, 6, 6]
    with pytest.raises(sf.ImpossibleRelease, match="only 1 row would"):
        coded([1, 5, 6], k=2, caps={"x": 6})


@pytest.mark.parametrize(("ends", "limits"), [("top", "floors"), ("bottom", "caps")])
def test_limits_of_the_other_end_are_refused(ends: Ends, limits: str) -> None:
    with pytest.raises(sf.PolicyError, match=f"{limits} are for numbers at the"):
        sf.TopCode(columns="x", k=3, ends=ends, **{limits: {"x": 30}})


def test_what_holds_no_numbers_is_refused() -> None:
    for values in (["a", "b"] * 9, [None] * 18, [1.0, float("inf")] * 9):
        with pytest.raises(sf.DataError, match="x"):
            coded(values, pl.Int64 if values[0] is None else None, k=3)
    with pytest.raises(sf.PolicyError, match="nowhere"):
        sf.TopCode(columns="nowhere", k=3).protect(table_of(INCOMES))
    with pytest.raises(sf.PolicyError, match="which `columns` does not"):
        sf.TopCode(columns="x", k=3, caps={"other": 1}).protect(table_of(INCOMES))


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt16, pl.Int64, pl.Float32, pl.Float64])
def test_a_column_keeps_its_kind_and_its_claims_hold_when_it_was_written(dtype: Any, tmp_path: Path) -> None:
    values = [n / 10 if dtype.is_float() else n for n in range(1, 101)]
    table = table_of([*values, None], dtype)
    release = sf.TopCode(columns="x", k=4, ends="both").protect(table)
    assert release.data.frame["x"].dtype == dtype
    assert release.data.frame["x"].null_count() == 1
    assert all(finding.holds for finding in sf.check(release, table))
    release.data.frame.write_csv(tmp_path / "x.csv")
    written_table = release.data.replace_frame(pl.read_csv(tmp_path / "x.csv"))
    assert all(finding.holds for finding in sf.check(sf.Release(written_table, None, release.claims, {}), table))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.integers(-50, 400)), min_size=1, max_size=40),
    st.integers(2, 5),
    st.sampled_from(["top", "bottom", "both"]),
    st.sampled_from([0.01, 0.2, 0.4]),
    st.booleans(),
)
def test_against_brute_force(values: list[int | None], k: int, ends: Ends, share: float, floats: bool) -> None:
    """Every cell is its original or the limit it lies beyond; enough rows have the limit, which nobody could be."""
    input_values = [None if value is None else value / 7 if floats else value for value in values]
    table = table_of(input_values, pl.Float64 if floats else pl.Int64)
    try:
        release = sf.TopCode(columns="x", k=k, ends=ends, share=share).protect(table)
    except sf.SfumatoError:
        known_values = sorted(value for value in input_values if value is not None)
        least_count = max(k, -(-len(known_values) * share // 1))
        middle = known_values[int(least_count) - 1 : len(known_values) - int(least_count) + 1]
        # Refused for one of two reasons: too few numbers, or all between the ends within one cell of the grid.
        assert len(known_values) < 2 * least_count or (ends == "both" and (floats or middle[-1] - middle[0] <= 3))
        return
    published, limits = release.data.frame["x"].to_list(), release.details["limits"]["x"]
    low, high = (float("-inf") if limits.floor is None else limits.floor), limits.cap
    high = float("inf") if high is None else high
    assert published == [None if value is None else min(max(value, low), high) for value in input_values]
    for end in (limits.floor, limits.cap):
        assert end is None or published.count(end) >= k
    assert all(finding.holds for finding in sf.check(release, table))


def test_the_measures_count_what_breaks_a_promise() -> None:
    before, after = table_of([1, 5, 9, 12, None]), table_of([2, 5, 8, 10, 3])
    assert count_beyond_limits(after, "x", floor=3, cap=8) == 2
    assert count_beyond_limits(after, "x") == 0
    assert count_rows_at_limits(after, "x", floor=2, cap=9) == 0
    assert count_rows_at_limits(after, "x", floor=2) == 1
    assert count_miscoded_cells(before, after, "x", floor=2, cap=10) == 2  # 9 became 8, and the missing cell 3
    with pytest.raises(sf.DataError, match="no numbers"):
        count_beyond_limits(table_of(["a"]), "x", cap=1)


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.Int32, pl.Int64, pl.UInt64])
@pytest.mark.parametrize("limit", [1000.0, -1000.0, 3e9, 1e30, -1e30])
def test_a_limit_that_the_column_cannot_hold_is_refused_in_words(kind: type[pl.DataType], limit: float) -> None:
    """Numbers of few bytes could not even be compared with it."""
    table = table_of([1, 1, 2, 3, 3], kind)
    for method in (
        sf.TopCode(columns="x", k=2, caps={"x": limit}),
        sf.TopCode(columns="x", k=2, ends="bottom", floors={"x": limit}),
    ):
        try:
            release = method.protect(table)
        except sf.SfumatoError as error:
            assert "move it inward" in str(error)
        else:  # everybody lies beyond it
            assert set(release.data.frame["x"]) == {int(limit)}
