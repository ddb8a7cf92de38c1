# SPDX-License-Identifier: MIT
"""Proposed hierarchies: each covers its column, fits a policy, and says in words why."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.hierarchies.hierarchy_builders import parse_builder
from sfumato.data.hierarchies.hierarchy_proposals import choose_round_widths, count_level_rows, propose_hierarchy

MONTHS, LIVES = ["month", "quarter", "year"], ["month", "year", "decade"]
DAYS = [date(2020, 1, 1) + timedelta(days=n) for n in range(0, 1000, 9)]
ZIPS = ["12345", "12346", "12355", "12455", "13455", "23455", "23456"]


def propose(values: list[Any], name: str = "x") -> Any:
    return propose_hierarchy(pl.Series(name, values))


@pytest.mark.parametrize(
    ("name", "values", "description"),
    [
        ("age", list(range(17, 91)), {"kind": "intervals", "widths": [5, 10, 20, 40]}),
        ("children", [0, 1, 2, 3, 4, 5, 6] * 3, {"kind": "intervals", "widths": [2, 4]}),
        ("size", [1.5 + n / 100 for n in range(50)], {"kind": "intervals", "widths": [0.02, 0.1, 0.2, 0.4]}),
        ("gain", [0] * 80 + [2**n for n in range(40)], {"kind": "quantiles", "counts": [16, 8, 4, 2]}),
        ("zip", ZIPS, {"kind": "prefix", "keep": [4, 3, 2, 1]}),
        ("zip", [int(code) for code in ZIPS], {"kind": "prefix", "keep": [4, 3, 2, 1]}),
        ("zip", ["02138", "02139", "02141", "47910"], {"kind": "prefix", "keep": [4, 3]}),
        ("day", [str(day) for day in DAYS], {"kind": "date", "units": ["month", "quarter", "year"]}),
        ("day", DAYS, {"kind": "date", "units": ["month", "quarter", "year"]}),
        ("day", [day + timedelta(days=9999) * (n % 2) for n, day in enumerate(DAYS)], {"kind": "date", "units": LIVES}),
        ("day", [f"{day:%d.%m.%Y}" for day in DAYS], {"kind": "date", "units": MONTHS, "format": "%d.%m.%Y"}),
        ("day", [f"{day:%d/%m/%Y}" for day in DAYS], {"kind": "date", "units": MONTHS, "format": "%d/%m/%Y"}),
        ("day", ["01/02/2020", "03/04/2021", "05/06/2021"], {"kind": "date", "units": ["year"], "format": "%d/%m/%Y"}),
        ("day", [int(f"{day:%Y%m%d}") for day in DAYS], {"kind": "date", "units": MONTHS}),
        ("day", [date(2020, 1, n) for n in range(1, 20)], {"kind": "date", "units": ["week"]}),
    ],
)  # fmt: skip
def test_columns_that_a_policy_can_describe(name: str, values: list[Any], description: dict[str, Any]) -> None:
    proposal = propose(values, name)
    assert proposal.description == description
    assert parse_builder(proposal.description).build(pl.Series(name, values)) == proposal.hierarchy


def test_moments_with_a_time_are_dates() -> None:
    proposal = propose([datetime(2020, 1, 5, 10, 30), datetime(2020, 3, 5, 11), datetime(2022, 7, 5, 12)])
    assert proposal.description["kind"] == "date"


@pytest.mark.parametrize(
    ("values", "leaf", "path"),
    [
        (["Italy", "Norway", "Kenya", "Japan"], "Kenya", ("Middle and Eastern Africa", "Africa")),
        (["US", "DE", "JP", "BR", "CH"], "DE", ("Western Europe", "Europe")),
        (["TX", "CA", "NY", "WA", "OH", "DE"], "DE", ("South Atlantic", "South")),
        (["HS-grad", "Bachelors", "Masters", "10th", "unknown"], "10th", ("Secondary school",)),
        (["blue-collar", "admin.", "retired", "student", "management"], "admin.", ("Technicians and clerks",)),
        (["jan", "may", "oct", "dec"], "oct", ("fourth quarter", "second half")),
    ],
)  # fmt: skip
def test_known_words_get_the_groups_of_a_word_list(values: list[str], leaf: str, path: tuple[str, ...]) -> None:
    proposal = propose(values * 5)
    row = next(row for row in proposal.hierarchy.rows if row[0] == leaf)
    assert row[1 : 1 + len(path)] == path
    assert row[-1] == "*"


def test_other_words_are_grouped_by_how_many_rows_hold_them() -> None:
    proposal = propose(["red"] * 400 + ["blue"] * 300 + ["green"] * 200 + ["mauve"] * 3 + ["ochre"] * 2)
    labels = {row[0]: row[1] for row in proposal.hierarchy.rows}
    assert labels == {"red": "red", "blue": "blue", "green": "green", "mauve": "other values", "ochre": "other values"}
    named_like_the_group = propose(["red"] * 400 + ["blue"] * 300 + ["other values"] * 200 + ["mauve"] * 3 + ["x"] * 2)
    labels = {row[0]: row[1] for row in named_like_the_group.hierarchy.rows}
    assert labels["mauve"] == "other values (group)"
    assert labels["other values"] == "other values"


@pytest.mark.parametrize("values", [[], [None, None], [True, False, True], ["a", "b", None], [5, 5, 5], [1.5, 2.5]])
def test_nothing_is_proposed_for_two_values(values: list[Any]) -> None:
    assert propose(values) is None


@pytest.mark.parametrize("values", [[float("inf"), 1.0, 2.0, 3.0], [1e308, -1e308, 0.0], [1e-300, 2e-300, 5e-300]])
def test_extreme_numbers_do_no_harm(values: list[float]) -> None:
    proposal = propose(values)
    assert proposal is None or set(proposal.hierarchy.leaves)


@given(
    st.one_of(
        st.lists(st.integers(-(10**12), 10**12), max_size=30),
        st.lists(st.floats(allow_nan=False, allow_infinity=True, width=32), max_size=30),
        st.lists(st.text(max_size=8), max_size=30),
        st.lists(st.dates(), max_size=30),
        st.lists(st.sampled_from([None, "Italy", "unknown", "1305", "2020-01-01", "x;y", '"q"']), max_size=30),
    )
)  # fmt: skip
@settings(max_examples=30)
def test_a_proposal_covers_its_column(values: list[Any]) -> None:
    column = pl.Series("x", values)
    proposal = propose_hierarchy(column)
    if proposal is None:
        return
    proposal.hierarchy.code_leaves(column)  # raises if a value has no row
    levels = count_level_rows(proposal.hierarchy, column)
    assert levels["labels"].to_list() == sorted(levels["labels"].to_list(), reverse=True)
    assert levels["labels"][0] == column.drop_nulls().n_unique()
    assert levels["fewest_rows"].to_list() == sorted(levels["fewest_rows"].to_list())
    assert all(str(value) not in proposal.reason for value in set(values) if isinstance(value, int) and value > 99)


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.booleans())
@settings(max_examples=50)
def test_round_widths_nest(low: float, span: float, whole: bool) -> None:
    widths = choose_round_widths(low, low + span, whole=whole)
    if widths:
        parse_builder({"kind": "intervals", "widths": widths})  # raises unless each is a multiple of the one before
        assert not whole or widths[0] > 1


def test_counts_at_each_level() -> None:
    column = pl.Series("zip", ["13053"] * 3 + ["13068"] * 2 + ["14850", None])
    hierarchy = sf.Hierarchy.of([["13053", "130**", "*"], ["13068", "130**", "*"], ["14850", "148**", "*"]])
    assert count_level_rows(hierarchy, column).rows() == [(0, 3, 1, 3), (1, 2, 1, 5), (2, 1, 6, 6)]
