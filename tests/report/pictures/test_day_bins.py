# SPDX-License-Identifier: MIT
"""Days are shown in ranges of the calendar, each of them in exactly one."""

from __future__ import annotations

import re
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.report.pictures.day_bins import choose_day_bins, parse_day_cells
from sfumato.report.pictures.number_bins import NumberBins
from tests.report.pictures.test_histograms import count_sides, draw

EPOCH = date(1970, 1, 1)
DAYS = [date(2020, 1, 1) + timedelta(days=7 * n % 700) for n in range(600)]


def make_bins(first: date, last: date, most: int = 16) -> NumberBins:
    bins = choose_day_bins(np.arange((first - EPOCH).days, (last - EPOCH).days + 1, dtype=np.float64), most)
    assert bins is not None
    return bins


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        (date(2020, 2, 27), date(2020, 3, 1), ("2020-02-27", "2020-02-28", "2020-02-29", "2020-03-01")),
        (date(2024, 1, 3), date(2024, 1, 30), ("2024-01-01 to 2024-01-07",)),
        (date(2023, 12, 5), date(2024, 12, 24), ("2023-12", "2024-01", "2024-02")),
        (date(2020, 5, 5), date(2023, 2, 1), ("2020-04 to 2020-06",)),
        (date(2010, 5, 5), date(2019, 2, 1), ("2010", "2011")),
        (date(1931, 5, 5), date(2004, 2, 1), ("1930 to 1934",)),
        (date(2, 1, 1), date(1999, 12, 31), ("1 to 199", "200 to 399")),
        (date(2, 3, 1), date(2, 12, 31), ("0002-03", "0002-04")),
    ],
)
def test_ranges_follow_the_calendar(first: date, last: date, labels: tuple[str, ...]) -> None:
    assert make_bins(first, last).labels[: len(labels)] == labels


def test_days_far_out_and_too_far_out() -> None:
    days = np.append(np.arange(18_000.0, 19_000), [40_000.0])
    bins = choose_day_bins(np.repeat(days, [*[5] * 1000, 1]), 10)
    assert bins is not None and bins.open_ends
    assert bins.labels[-1] == "2022-01-01 and later"
    for far in ([], [5.0, 5.0], [0.0, 2_900_000.0], [-800_000.0, 0.0]):
        assert choose_day_bins(np.array(far), 10) is None


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-200_000, 200_000), min_size=2, max_size=30, unique=True), st.integers(2, 20))
def test_every_day_is_in_the_range_that_names_it(days: list[int], most: int) -> None:
    bins = choose_day_bins(np.array(days, dtype=np.float64), most)
    assert bins is not None
    assert len(bins.labels) <= most
    assert bins.count(parse_day_cells(pl.Series("x", days).cast(pl.Date))) is not None  # type: ignore[arg-type]
    for day, place in zip(days, bins.find_bins(np.array(days, dtype=np.float64)).tolist(), strict=True):
        spelled = str(np.datetime64(day, "D"))
        first, _, last = bins.labels[place].partition(" to ")
        if first.startswith("before "):
            assert spelled < first.removeprefix("before ")
        elif first.endswith(" and later"):
            assert spelled >= first.removesuffix(" and later")
        else:
            ends = [f"{int(end):04}" if re.fullmatch(r"\d+", end) else end for end in (first, last or first)]
            assert ends[0] <= spelled[: len(ends[0])] and spelled[: len(ends[1])] <= ends[1]


@pytest.mark.parametrize(
    ("texts", "low", "high"),
    [
        (["2020-01-31", "*", None], ["2020-01-31"], ["2020-01-31"]),
        (["2020-02"], ["2020-02-01"], ["2020-02-29"]),
        (
            ["[2020-01-31, 2020-02-03]", "[2020-02, 2020-03]"],
            ["2020-01-31", "2020-02-01"],
            ["2020-02-03", "2020-03-31"],
        ),
        (["2020-01-31 00:30:00+02:00"], ["2020-01-31"], ["2020-01-31"]),
        (["31.01.2020", "2020/01/30"], ["2020-01-31", "2020-01-30"], ["2020-01-31", "2020-01-30"]),
    ],
)
def test_cells_are_read_as_days(texts: list[str | None], low: list[str], high: list[str]) -> None:
    cells = parse_day_cells(pl.Series("x", texts, dtype=pl.String))
    assert cells is not None
    for numbers, ends in ((cells.low, low), (cells.high, high)):
        assert [str(np.datetime64(int(number), "D")) for number in numbers] == ends


@pytest.mark.parametrize("text", ["2020-02-31", "10:30", "spring", "[2020-02-03, 2020-01-31]", "[a, b]", "17"])
def test_other_cells_are_no_days(text: str) -> None:
    assert parse_day_cells(pl.Series("x", ["2020-01-31", text])) is None
    assert parse_day_cells(pl.Series("x", [1, 2])) is None


def test_many_days_are_drawn_in_ranges_before_beside_after() -> None:
    figure = draw(DAYS, [f"[{day}, {day + timedelta(days=9)}]" for day in DAYS])
    assert figure["head"] == "Range"
    assert figure["rows"][0][0] == "2020-01 to 2020-03"
    assert count_sides(figure)[0] == 600
    assert figure["note"] == "Published ranges are spread evenly over their days."
    assert "ranges of days" in figure["label"]
    assert ">2020-01<" in figure["svg"] and ">2021-12<" in figure["svg"]


def test_few_days_keep_a_bar_for_each() -> None:
    assert draw(DAYS[:10] * 30, DAYS[:10] * 30)["head"] == "Value"
