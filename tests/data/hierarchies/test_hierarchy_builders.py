# SPDX-License-Identifier: MIT
"""Hierarchies built from a description: true labels, nesting levels, and clear words for bad parameters."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.hierarchies.hierarchy_builders import Dates, Intervals, Prefix, Quantiles, Tree, parse_builder
from sfumato.errors import DataError, PolicyError, SfumatoError

CANARY = "ZZSECRETZZ"


def labels(hierarchy: Hierarchy, leaf: str) -> tuple[str, ...]:
    return next(row for row in hierarchy.rows if row[0] == leaf)


def test_intervals() -> None:
    hierarchy = Intervals(widths=(5, 10)).build(pl.Series("age", [23, 29, 30, None, -1]))
    assert labels(hierarchy, "23") == ("23", "[20, 25)", "[20, 30)", "*")
    assert labels(hierarchy, "30") == ("30", "[30, 35)", "[30, 40)", "*")
    assert labels(hierarchy, "-1") == ("-1", "[-5, 0)", "[-10, 0)", "*")


def test_intervals_with_an_origin() -> None:
    hierarchy = Intervals(widths=(5,), origin=3).build(pl.Series("age", [2, 3, 7, 8]))
    assert [labels(hierarchy, text)[1] for text in ("2", "3", "7", "8")] == ["[-2, 3)", "[3, 8)", "[3, 8)", "[8, 13)"]


def _lies_inside(label: str, value: float) -> bool:
    low, high = (float(part) for part in re.findall(r"-?[0-9.e+-]+", label.strip("[)")))
    return low <= value < high


@pytest.mark.parametrize("widths", [(0.1, 0.3), (0.1, 0.2), (0.2, 0.6), (0.05, 0.1, 0.7), (0.3,), (1.1, 3.3)])
def test_decimal_intervals_are_true_and_nest(widths: tuple[float, ...]) -> None:
    """0.3 / 0.1 is a little less than 3 in floats; the label must still hold 0.3."""
    values = [round(number / 10, 1) for number in range(-20, 40)]
    hierarchy = Intervals(widths=widths).build(pl.Series("dose", values))
    for row in hierarchy.rows:
        for label in row[1:-1]:
            assert _lies_inside(label, float(row[0])), row


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=30),
    st.integers(1, 50),
    st.lists(st.integers(2, 6), max_size=3),
)
def test_whole_intervals_are_true_and_nest(values: list[int], first: int, factors: list[int]) -> None:
    widths = [first]
    for factor in factors:
        widths.append(widths[-1] * factor)
    for row in Intervals(widths=tuple(widths)).build(pl.Series(values)).rows:
        assert all(_lies_inside(label, float(row[0])) for label in row[1:-1])


def test_quantiles_hold_about_as_many_rows_each() -> None:
    column = pl.Series("income", list(range(100)))
    hierarchy = Quantiles(counts=(10, 2)).build(column)
    assert [len(level.labels) for level in hierarchy.levels] == [100, 10, 2, 1]
    assert labels(hierarchy, "0")[1:] == ("[0, 9]", "[0, 49]", "*")
    assert labels(hierarchy, "99")[1:] == ("[90, 100]", "[50, 100]", "*")


def test_quantiles_name_the_extremes_only_if_asked_to() -> None:
    column = pl.Series("income", [1043.17, *range(2_000, 8_000, 100), 9_120.99])
    hierarchy = Quantiles(counts=(4, 2)).build(column)
    assert labels(hierarchy, "1043.17")[1:3] == ("[1000, 3400]", "[1000, 4900]")
    assert labels(hierarchy, "9120.99")[1:3] == ("[6600, 10000]", "[5000, 10000]")
    exact = Quantiles(counts=(2,), exact_ends=True).build(column)
    assert labels(exact, "1043.17")[1] == "[1043.17, 4900]"


def test_quantiles_keep_equal_values_together() -> None:
    hierarchy = Quantiles(counts=(4,)).build(pl.Series("income", [1] * 90 + [2, 3, 4, 5]))
    assert labels(hierarchy, "1")[1] == "1"


def test_prefix() -> None:
    hierarchy = Prefix(keep=(4, 3, 0)).build(pl.Series("zip", ["13053", "130", "02135"]))
    assert labels(hierarchy, "13053") == ("13053", "1305*", "130**", "*")
    assert labels(hierarchy, "02135") == ("02135", "0213*", "021**", "*")
    assert labels(hierarchy, "130")[2] == "130**", "codes of another length do not stand out"


def test_dates() -> None:
    column = pl.Series("born", ["1999-12-31", "2000-01-01", None])
    hierarchy = Dates(units=("month", "quarter", "year", "decade")).build(column)
    assert labels(hierarchy, "1999-12-31") == ("1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*")
    weeks = Dates(units=("week",)).build(column)
    assert labels(weeks, "1999-12-31")[1] == "1999-W52"
    assert labels(weeks, "2000-01-01")[1] == "1999-W52"


@pytest.mark.parametrize(
    ("column", "spelling"),
    [
        (pl.Series("d", [date(2020, 5, 6)]), None),
        (pl.Series("d", [datetime(2020, 5, 6, 7)]), None),
        (pl.Series("d", ["06.05.2020"]), "%d.%m.%Y"),
        (pl.Series("d", [20200506]), None),
        (pl.Series("d", ["2020-05-06T07:08:09"]), None),
    ],
)
def test_dates_in_many_spellings(column: pl.Series, spelling: str | None) -> None:
    assert Dates(units=("month",), format=spelling).build(column).rows[0][1] == "2020-05"


def test_tree() -> None:
    groups = {"Europe": {"North": ["Norway"], "South": ["Italy", "Spain"]}, "Asia": ["Japan"]}
    hierarchy = Tree(groups=groups).build(pl.Series("country", ["Norway"]))
    assert labels(hierarchy, "Norway")[-3:] == ("North", "Europe", "*")
    assert labels(hierarchy, "Japan")[-2:] == ("Asia", "*")
    assert hierarchy.leaves == ("Norway", "Italy", "Spain", "Japan")


@pytest.mark.parametrize("column", [pl.Series("c", [None, None], dtype=pl.String), pl.Series("c", [], dtype=pl.Int64)])
@pytest.mark.parametrize(
    "builder", [Intervals(widths=(5,)), Quantiles(counts=(2,)), Prefix(keep=(2,)), Dates(units=("year",))]
)
def test_columns_without_a_value(builder: Any, column: pl.Series) -> None:
    hierarchy = builder.build(column)
    assert hierarchy.levels[-1].labels == ("*",)
    assert len(hierarchy.code_leaves(column)) == len(column)


@pytest.mark.parametrize("builder", [Intervals(widths=(5,)), Quantiles(counts=(2,)), Dates(units=("year",))])
def test_text_where_numbers_or_dates_are_needed(builder: Any) -> None:
    with pytest.raises(DataError, match='"pay"') as refusal:
        builder.build(pl.Series("pay", [CANARY, "5"]))
    assert CANARY not in str(refusal.value)


BAD: list[dict[str, Any]] = [
    {},
    {"kind": "magic"},
    {"kind": "intervals"},
    {"kind": "intervals", "widths": []},
    {"kind": "intervals", "widths": [0]},
    {"kind": "intervals", "widths": [-5]},
    {"kind": "intervals", "widths": [5, 7]},
    {"kind": "intervals", "widths": [10, 5]},
    {"kind": "intervals", "widths": [5, 5]},
    {"kind": "intervals", "widths": [float("inf")]},
    {"kind": "intervals", "widths": [float("nan")]},
    {"kind": "intervals", "widths": [5], "origin": float("nan")},
    {"kind": "intervals", "widths": [5], "origin": float("inf")},
    {"kind": "intervals", "widths": 5},
    {"kind": "intervals", "widths": [5], "more": 1},
    {"kind": "quantiles", "counts": []},
    {"kind": "quantiles", "counts": [0]},
    {"kind": "quantiles", "counts": [-4]},
    {"kind": "quantiles", "counts": [16, 3]},
    {"kind": "quantiles", "counts": [4, 16]},
    {"kind": "prefix", "keep": []},
    {"kind": "prefix", "keep": [-1]},
    {"kind": "prefix", "keep": [2, 3]},
    {"kind": "prefix", "keep": [2, 2]},
    {"kind": "date", "units": []},
    {"kind": "date", "units": ["century"]},
    {"kind": "date", "units": ["year", "month"]},
    {"kind": "date", "units": ["week", "year"]},
    {"kind": "tree"},
    {"kind": "tree", "groups": []},
]


@pytest.mark.parametrize("description", BAD, ids=str)
def test_bad_parameters(description: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        parse_builder(description)


@pytest.mark.parametrize(
    "groups",
    [{}, {"a": 5}, {"a": []}, {"a": ["x"], "b": ["x"]}, {"a": {"c": ["x"]}, "b": {"c": ["y"]}}, {"a": None}],
    ids=str,
)  # fmt: skip
def test_bad_trees(groups: Any) -> None:
    """Refused when read or when built, or built into something that nests."""
    try:
        hierarchy = Tree(groups=groups).build(pl.Series("c", ["x"]))
    except (SfumatoError, ValueError):
        return
    assert hierarchy.levels[-1].labels == ("*",)


@pytest.mark.parametrize("spelling", ["%", "%Y %Y", "%Q", "(", "%Y-%m-%d-%Y", "%%", "%-"])
def test_bad_date_formats(spelling: str) -> None:
    with pytest.raises((SfumatoError, ValueError)):
        Dates(units=("year",), format=spelling).build(pl.Series("d", ["2020-05-06"]))


@pytest.mark.parametrize(
    "description",
    [
        {"kind": "intervals", "widths": [1e-300]},
        {"kind": "intervals", "widths": [1e300]},
        {"kind": "intervals", "widths": [5], "origin": 1e300},
        {"kind": "quantiles", "counts": [2**63]},
        {"kind": "quantiles", "counts": [10**23]},
        {"kind": "prefix", "keep": [10**11]},
        {"kind": "prefix", "keep": [10**23]},
    ],
    ids=str,
)
def test_extreme_parameters(description: dict[str, Any]) -> None:
    """A right answer or a clear error; no warning, no exception of the machinery, no memory eaten."""
    try:
        hierarchy = parse_builder(description).build(pl.Series("c", [1, 2, 3, 40, 1000]))
    except SfumatoError:
        return
    assert hierarchy.levels[-1].labels == ("*",)
