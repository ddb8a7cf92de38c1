# SPDX-License-Identifier: MIT
"""What a report says of synthetic rows, counted plainly in the originals and in the written file."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.report.words.wording import format_count
from tests.contract.examples import Example
from tests.contract.report_pages import check_both, count, percent, read_lines, select, select_figures
from tests.contract.runs import run_example

DISTANCES = (
    r"From 0 \(equal\) to 1 \(different in every column\); the same on both sides is best\.",
    r"(closest 5 %|median) \| 0\.\d{3} \| 0\.\d{3}",
    r"Loss How far the joint distribution of two columns moved .* \| (.* %) \| \1",
    r"Shift of pairs of columns .*",
    r"Largest shift of a correlation .*",
    r"Error of queries .*",
    r"Words replaced .*",
)
"""Figures that tests/measure/synthesis and tests/measure compare with brute force."""
COPIES = ("equal a person", "equal a unique person")
"""Lines that `check_holdout` compares."""


def list_rows(frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a table as texts."""
    return [tuple(None if cell is None else str(cell) for cell in row) for row in frame.iter_rows()]


def check_counts(lines: Iterable[str], before: pl.DataFrame | None, after: pl.DataFrame) -> list[str]:
    """The tables of values: each line fits a column, by the rows that have the value or lie in the range."""
    frames = [frame for frame in (before, after) if frame is not None]
    told = []
    for line in select_figures(list(lines)):
        name, *numbers = line.split(" | ")
        if len(numbers) != len(frames) or not all(re.fullmatch(r"[\d,]+", number) for number in numbers):
            continue
        if name in COPIES:
            continue
        counted = [[count_cells(frame[column], name) for frame in frames] for column in after.columns]
        given = [int(number.replace(",", "")) for number in numbers]
        others = re.fullmatch(r"\d+ others?", name)
        told.append(line if others or given in counted else f"false: {line}")
    return told


def count_cells(column: pl.Series, name: str) -> int:
    """The cells that hold a value, or lie in a range."""
    cells = column.to_list()
    if name == "(missing)":
        return sum(cell is None for cell in cells)
    if (ends := re.fullmatch(r"(-?\d+) to (-?\d+)", name)) and column.dtype.is_numeric():
        return sum(cell is not None and int(ends[1]) <= cell < int(ends[2]) + 1 for cell in cells)
    return sum(str(cell) == name for cell in cells)


@select(sf.Synthesize)
def test_what_a_report_says_of_synthetic_rows(example: Example, tmp_path: Path) -> None:
    method, done, table = example.subject, run_example(example, tmp_path), example.data()
    after = sf.read_release(done.out).data.frame
    before = table.frame.select(after.columns)
    size = [
        f"rows in the release {after.height}",
        f"{after.width} columns",
        f"Data file data.csv, {after.height} rows, {after.width} columns",
    ]
    inside, outside = (read_lines(done.out / side / "report.html") for side in ("private", "release"))
    told = [
        *size,
        f"alike, columns in pairs {percent(1 - done.record['utility']['loss'])}",
        *check_moments(before, after),
        f"People in the originals {len(table)}",
        f"Columns in the originals {table.frame.width}",
        (
            "Rows drawn again Rows that equalled a unique person and were drawn again. | "
            f"{done.record['losses']['redrawn_rows']} | –"
        ),
        *check_counts(inside, before, after),
        *check_rare_words(inside, method, before, after),
        *(line for line in inside if any(re.fullmatch(pattern, line) for pattern in DISTANCES)),
    ]
    if method.kind == "full":
        told += check_holdout(inside, done.release.details["holdout"].tolist(), before, after)
    check_both(done, [*size, *check_counts(outside, None, after)], told)
    order = [line for line in inside if line.startswith("Rows keep the order of the input")]
    assert bool(order) == (method.kind == "partial"), "synthetic rows are in nobody's order"


def check_moments(before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
    """How far means and deviations of columns of numbers moved, at most."""
    shifts, ratios = [], []
    for name in before.columns:
        if before[name].dtype.is_numeric():
            was, now = before[name].drop_nulls().to_list(), after[name].drop_nulls().to_list()
            deviation = statistics.pstdev(was)
            shifts.append(abs(statistics.fmean(now) - statistics.fmean(was)) / deviation)
            ratios.append(abs(statistics.pstdev(now) / deviation - 1))
    mean = "Largest shift of a mean The largest shift of a column's mean, in standard deviations."
    spread = "Largest change of a spread The largest relative change of a column's standard deviation."
    return [f"{mean} | – | {format_count(max(shifts))}", f"{spread} | – | {percent(max(ratios))}"]


def check_rare_words(
    inside: Iterable[str], method: sf.Synthesize, before: pl.DataFrame, after: pl.DataFrame
) -> list[str]:
    """The share of text cells whose value fewer people have than a leaf must hold, counted among all people."""
    words = [name for name in before.columns if before[name].dtype == pl.String]
    cells = rare = 0
    for name in words:
        people = Counter(before[name].drop_nulls().to_list())
        cells += after.height
        rare += sum(cell is not None and people[cell] < method.min_leaf for cell in after[name].to_list())
    row = "Rare words Of the synthetic text cells, the share whose value fewer people have than a leaf must hold."
    told = [line for line in inside if line.startswith(row)]
    if method.rare == "redraw":
        assert not rare
        return [f"{row} | 0 % | –"]
    said = float(told[0].split(" | ")[1].removesuffix(" %")) / 100
    assert said >= rare / cells - 0.0005, "of the people learned from, no more have a value than of all"
    return told


def check_holdout(inside: Iterable[str], holdout: list[int], before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
    """Who was set aside, and how many rows equal one of them, or one of those learned from."""
    people, rows = list_rows(before), list_rows(after)
    aside = [people[row] for row in holdout]
    learnt = Counter(person for row, person in enumerate(people) if row not in set(holdout))
    told = []
    for line in inside:
        if line.startswith(f"{COPIES[0]} | "):
            training, strangers = (int(cell) for cell in line.split(" | ")[1:])
            assert strangers == sum(row in set(aside) for row in rows)
            assert training <= sum(row in learnt for row in rows), "as many people on either side, not all"
            told.append(line)
        elif line.startswith(f"{COPIES[1]} | "):
            strangers = int(line.split(" | ")[2])
            assert strangers <= sum(row in set(aside) for row in rows)
            told.append(line)
        elif found := re.match(r"(\d+) people were set aside: .* Of (\d+) synthetic rows, ([\d.]+) % are nearer", line):
            assert [int(found[1]), int(found[2])] == [len(aside), len(rows)]
            assert 0 <= float(found[3]) <= 100
            unique = Counter(people)
            copies = sum(row in learnt for row in rows)
            alone = sum(row in learnt and unique[row] == 1 for row in rows)
            assert line.endswith(
                f"{count(copies, 'synthetic row equals', 'synthetic rows equal')} the row of a training person in "
                f"every column, {alone} a unique one's."
                if copies
                else "No synthetic row equals the row of a training person in every column."
            )
            told.append(line)
        elif line.startswith("Synthetic rows that equal a person's row in every column, for "):
            assert f" for {min(len(aside), len(people) - len(aside))} people on either side." in line
            told.append(line)
    assert len(told) == 4
    return told
