# SPDX-License-Identifier: MIT
"""The independent check for adversarial rules, against the paper's tables and against plain enumeration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.measure.entries.leftover_rules import (
    leftover_rules,
    visible_private_entries,
)
from sfumato.mine.entries import agreeing_rows
from tests.brute_rules import adversarial

Rows = list[list[str | None]]
Places = set[tuple[int, int]]

TITLES = ("title", "gender", "marital_status", "education", "salary_level")
# Aggarwal, Pei and Zhang (2006), Table 2, with the hidden values of Table 1; row 5 (Ian) as printed.
EMPLOYEES: Rows = [
    ["Manager", "F", "Married", "Univ.", "SL-5"],
    ["Assistant", "F", "Unmarr.", "Coll.", "SL-3"],
    ["Manager", "F", "Married", "Ph.D.", "SL-5"],
    ["Assistant", "M", "Married", "Coll.", "SL-3"],
    ["Manager", "M", "Married", "Univ.", "SL-5"],
    ["Accountant", "F", "Unmarr.", "MBA", "SL-5"],
    ["Manager", "F", "Unmarr.", "Univ.", "SL-5"],
    ["Assistant", "F", "Married", "Univ.", "SL-3"],
    ["Manager", "F", "Married", "MBA", "SL-7"],
    ["Accountant", "M", "Married", "Univ.", "SL-4"],
]
PRIVATE: Places = {(4, 3), (5, 1), (7, 4), (8, 2), (9, 1)}


def published(rows: Rows, private: Places, blanked: Places = frozenset()) -> tuple[sf.Table, pl.DataFrame]:  # type: ignore[assignment]
    """The table with its private and blanked entries gone, and the list of the private ones."""
    width = len(rows[0])
    names = [f"c{index}" for index in range(width)]
    blank_cells = private | blanked
    columns = {
        name: pl.Series(
            [None if (i, index) in blank_cells else row[index] for i, row in enumerate(rows)], dtype=pl.String
        )
        for index, name in enumerate(names)
    }
    places = sorted(position for position in private if rows[position[0]][position[1]] is not None)
    hidden_entries = pl.DataFrame(
        [(row, names[index], rows[row][index]) for row, index in places],
        schema={"row": pl.Int64, "column": pl.String, "value": pl.String},
        orient="row",
    )
    return sf.Table.of(columns), hidden_entries


def test_the_employees_of_the_seed() -> None:
    """By hand: 8 rules at δ 0.6, γ 2 as printed, 6 if Ian is a man."""
    assert leftover_rules(*published(EMPLOYEES, PRIVATE), "3/5", 2) == 8
    men = [list(row) for row in EMPLOYEES]
    men[5][1] = "M"
    assert leftover_rules(*published(men, PRIVATE), "3/5", 2) == 6


def test_blanking_can_make_rules() -> None:
    """Blanking creates rules: both tables."""
    first: Rows = [["a", "b", "y"], ["e", "b", "z"], ["a", "c", "y"], ["f", "b", "z"]]
    secret = {(2, 2), (3, 2)}
    before = leftover_rules(*published(first, secret), "3/5", 1, max_length=1)
    after = leftover_rules(*published(first, secret, {(0, 2)}), "3/5", 1, max_length=1)
    assert (before, after) == (1, 1)  # a → y goes, b → z comes
    second: Rows = [["b", "y"], ["b", "y"], ["b", "y"], ["b", "z"]]
    secret = {(2, 1), (3, 1)}
    assert leftover_rules(*published(second, secret), Fraction(3, 5), 1) == 0
    assert leftover_rules(*published(second, secret, {(3, 0)}), Fraction(3, 5), 1) == 1


def test_the_stop_of_grades_is_not_enough() -> None:
    """The published stop is not enough: after K = {t2.3, t1.1} a rule is left."""
    rows: Rows = [list("000"), list("000"), list("010"), list("110")]
    private = {(0, 2), (3, 1)}
    assert leftover_rules(*published(rows, private), "3/5", 1) == 3
    assert leftover_rules(*published(rows, private, {(1, 2), (0, 0)}), "3/5", 1) == 1


def test_thresholds_are_exact() -> None:
    """Two of three is 2/3 and not a hair more; the same beside the hidden ones."""
    rows: Rows = [["a", "y"], ["a", "y"], ["a", "z"], ["a", "y"], ["a", "y"], ["a", "z"]]
    table, hidden_entries = published(rows, {(3, 1), (4, 1), (5, 1)})
    assert leftover_rules(table, hidden_entries, "2/3", 3) == 1
    assert leftover_rules(table, hidden_entries, Fraction(2, 3) + Fraction(1, 10**30), 3) == 0
    assert leftover_rules(table, hidden_entries, "0.6666", 4) == 0


def test_the_prior_counts_only_if_asked_for() -> None:
    rows: Rows = [["a", "y"], ["b", "y"], ["c", "y"]]
    table, hidden_entries = published(rows, {(2, 1)})
    assert leftover_rules(table, hidden_entries, "4/5", 2) == 0
    assert leftover_rules(table, hidden_entries, "4/5", 2, prior=True) == 1


cells = st.sampled_from(["x", "y", "z", None])


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, Places, Places]:
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=height, max_size=height))
    places = [(row, column) for row in range(height) for column in range(width)]
    marks = draw(st.lists(st.sampled_from("...pk"), min_size=len(places), max_size=len(places)))
    private = {position for position, mark in zip(places, marks, strict=True) if mark == "p"}
    blanked = {position for position, mark in zip(places, marks, strict=True) if mark == "k"}
    return rows, private, blanked


@given(
    tables(),
    st.fractions(Fraction(1, 12), Fraction(1), max_denominator=12),
    st.integers(1, 4),
    st.sampled_from([None, 1, 2, 3]),
    st.booleans(),
    st.sampled_from(["table", "sorted", "compiled"]),
)
@settings(max_examples=300, deadline=None)
def test_as_many_as_enumeration_finds(
    case: tuple[Rows, Places, Places], share: Fraction, least: int, longest: int | None, prior: bool, way: str
) -> None:
    rows, private, blanked = case
    table, hidden_entries = published(rows, private, blanked)
    expected = len(adversarial(rows, private, blanked, share, least, longest, prior))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreeing_rows, "_DENSE", 0 if way == "sorted" else agreeing_rows._DENSE)
        patch.setattr(agreeing_rows, "_MANY", 0 if way == "compiled" else agreeing_rows._MANY)
        assert leftover_rules(table, hidden_entries, share, least, longest, prior) == expected


def test_numbers_and_their_text_are_one() -> None:
    """A value is told as text and published as a number, whole or not."""
    frame = pl.DataFrame({"a": [1.0, 1.0, 1.0, 2.5, 2.5, 2.5], "y": [7, 7, None, 8, 8, None]})
    hidden_entries = pl.DataFrame({"row": [2, 5], "column": ["y", "y"], "value": ["7", "8"]})
    assert leftover_rules(sf.Table.of(frame), hidden_entries, "1", 2) == 2


def test_private_entries_that_are_visible_are_found() -> None:
    table, hidden_entries = published(EMPLOYEES, PRIVATE)
    assert visible_private_entries(table, hidden_entries) == 0
    untouched, _ = published(EMPLOYEES, set())
    assert visible_private_entries(untouched, hidden_entries) == 5
    assert leftover_rules(untouched, hidden_entries, "3/5", 2) > 0


def test_claims_reach_the_checks() -> None:
    table, hidden_entries = published(EMPLOYEES, PRIVATE)
    evidence = Evidence(table, details={"hidden": hidden_entries})
    arguments: dict[str, Any] = {"confidence": "3/5", "min_support": 2, "max_length": 0, "prior": 0}
    assert CHECKS["leftover_rules"](evidence, arguments) == 8
    short = len(adversarial(EMPLOYEES, PRIVATE, set(), Fraction(3, 5), 2, 1))
    assert CHECKS["leftover_rules"](evidence, arguments | {"max_length": 1}) == short == 6
    assert CHECKS["visible_private_entries"](evidence, {}) == 0
    with pytest.raises(sf.PolicyError, match="not available"):
        CHECKS["leftover_rules"](Evidence(table), arguments)


def test_nothing_private_nothing_left() -> None:
    table, hidden_entries = published(EMPLOYEES, set())
    assert leftover_rules(table, hidden_entries, "1/100", 1) == 0
    all_cells = {(row, column) for row in range(10) for column in range(5)}
    assert leftover_rules(*published(EMPLOYEES, all_cells), "1/100", 1, prior=True) == 0
    assert leftover_rules(*published(EMPLOYEES, PRIVATE), "1/100", 11, prior=True) == 0


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"row": [0], "column": ["c0"]}, "row, column and value"),
        ({"row": [10], "column": ["c0"], "value": ["x"]}, "1 have no row"),
        ({"row": [-1], "column": ["c0"], "value": ["x"]}, "1 have no row"),
        ({"row": [0], "column": ["salary"], "value": ["x"]}, '"salary"'),
        ({"row": [0, 0], "column": ["c0", "c0"], "value": ["x", "y"]}, "1 are listed twice"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(entries: dict[str, list[object]], words: str) -> None:
    table, _ = published(EMPLOYEES, PRIVATE)
    with pytest.raises(sf.DataError, match=words):
        leftover_rules(table, pl.DataFrame(entries), "1/2", 1)


def test_bad_thresholds_are_refused() -> None:
    table, hidden_entries = published(EMPLOYEES, PRIVATE)
    for share, least, longest in (("0", 1, None), ("3/2", 1, None), ("1/2", 0, None), ("1/2", 1, 0)):
        with pytest.raises(sf.PolicyError):
            leftover_rules(table, hidden_entries, share, least, longest)


def test_without_memory_there_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    table, hidden_entries = published(EMPLOYEES, PRIVATE)
    monkeypatch.setattr(agreeing_rows, "_look_up_keys", none_left)
    with pytest.raises(sf.DataError, match="no answer"):
        leftover_rules(table, hidden_entries, "3/5", 2)


def test_a_thousand_rows_of_ten_columns() -> None:
    """Quick, and monotone: fewer rules at a higher support, none at one that no row reaches."""
    chance = np.random.default_rng(3)
    shares = 1 / np.arange(1, 11) ** 2
    rows: Rows = [[str(digit) for digit in row] for row in chance.choice(10, (1000, 10), p=shares / shares.sum())]
    private = {
        (int(cell_index) // 10, int(cell_index) % 10) for cell_index in chance.choice(10_000, 100, replace=False)
    }
    table, hidden_entries = published(rows, private)
    counts = [leftover_rules(table, hidden_entries, "4/5", least) for least in (2, 10, 50, 1001)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 0
