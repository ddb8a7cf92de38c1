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
    checked_lines = []
    for line in select_figures(list(lines)):
        name, *numbers = line.split(" | ")
        if len(numbers) != len(frames) or not all(re.fullmatch(r"[\d,]+", number) for number in numbers):
            continue
        if name in COPIES:
            continue
        true_counts = [[count_cells(frame[column], name) for frame in frames] for column in after.columns]
        stated_counts = [int(number.replace(",", "")) for number in numbers]
        rest_match = re.fullmatch(r"\d+ others?", name)
        checked_lines.append(line if rest_match or stated_counts in true_counts else f"false: {line}")
    return checked_lines


def count_cells(column: pl.Series, name: str) -> int:
    """The cells that hold a value, or lie in a range."""
    cells = column.to_list()
    if name == "(missing)":
        return sum(cell is None for cell in cells)
    if (ends := re.fullmatch(r"(-?\d+) to (-?\d+)", name)) and column.dtype.is_numeric():
        return sum(cell is not None and int(ends[1]) <= cell < int(ends[2]) + 1 for cell in cells)
    return sum(str(cell) == name for cell in cells)


LINKING = (
    "by linking",
    "linking finds",
    "before → after",
    "^originals ",
    "^release ",
    r"^Table \| Risk",
    "thin lines",
    "originals, and",
)
"""Words of the lines about linking before and after."""


@select(sf.Synthesize)
def test_what_a_report_says_of_synthetic_rows(example: Example, tmp_path: Path) -> None:
    method, result, table = example.subject, run_example(example, tmp_path), example.data()
    after = sf.read_release(result.out).data.frame
    before = table.frame.select(after.columns)
    size = [
        f"{'rows' if method.kind == 'full' else 'people'} in the release {after.height}",  # partial: rows are people's
        f"{after.width} columns",
        f"Data file data.csv, {after.height} rows, {after.width} columns",
    ]
    private_lines, public_lines = (read_lines(result.out / side / "report.html") for side in ("private", "release"))
    expected_lines = [
        *size,
        f"alike, columns in pairs {percent(1 - result.record['utility']['loss'])}",
        *check_moments(before, after),
        f"People in the originals {len(table)}",
        f"Columns in the originals {table.frame.width}",
        (
            "Rows drawn again Rows that equalled a unique person and were drawn again. | "
            f"{result.record['losses']['redrawn_rows']} | –"
        ),
        *check_counts(private_lines, before, after),
        *check_rare_words(private_lines, method, before, after),
        *(line for line in private_lines if any(re.fullmatch(pattern, line) for pattern in DISTANCES)),
    ]
    if method.kind == "partial":  # rows are people's, so that they are linked, as in reports of other methods
        expected_lines += [line for line in private_lines if any(re.search(words, line) for words in LINKING)]
    if method.kind == "full":
        expected_lines += check_holdout(private_lines, result.release.details["holdout"].tolist(), before, after)
    check_both(result, [*size, *check_counts(public_lines, None, after)], expected_lines)
    order = [line for line in private_lines if line.startswith("Rows keep the order of the input")]
    assert bool(order) == (method.kind == "partial"), "synthetic rows are in nobody's order"


def check_moments(before: pl.DataFrame, after: pl.DataFrame) -> list[str]:
    """How far means and deviations of columns of numbers moved, at most."""
    shifts, ratios = [], []
    for name in before.columns:
        if before[name].dtype.is_numeric():
            was, new_numbers = before[name].drop_nulls().to_list(), after[name].drop_nulls().to_list()
            deviation = statistics.pstdev(was)
            shifts.append(abs(statistics.fmean(new_numbers) - statistics.fmean(was)) / deviation)
            ratios.append(abs(statistics.pstdev(new_numbers) / deviation - 1))
    mean = "Largest shift of a mean The largest shift of a column's mean, in standard deviations."
    spread = "Largest change of a spread The largest relative change of a column's standard deviation."
    return [f"{mean} | – | {format_count(max(shifts))}", f"{spread} | – | {percent(max(ratios))}"]


def check_rare_words(
    private_lines: Iterable[str], method: sf.Synthesize, before: pl.DataFrame, after: pl.DataFrame
) -> list[str]:
    """The share of text cells whose value fewer people have than a leaf must hold, counted among all people."""
    words = [name for name in before.columns if before[name].dtype == pl.String]
    cells = rare = 0
    for name in words:
        people = Counter(before[name].drop_nulls().to_list())
        cells += after.height
        rare += sum(cell is not None and people[cell] < method.min_leaf for cell in after[name].to_list())
    row = "Rare words Of the synthetic text cells, the share whose value fewer people have than a leaf must hold."
    rare_lines = [line for line in private_lines if line.startswith(row)]
    if method.rare == "redraw":
        assert not rare
        return [f"{row} | 0 % | –"]
    stated_share = float(rare_lines[0].split(" | ")[1].removesuffix(" %")) / 100
    assert stated_share >= rare / cells - 0.0005, "of the people learned from, no more have a value than of all"
    return rare_lines


def check_holdout(
    private_lines: Iterable[str], holdout: list[int], before: pl.DataFrame, after: pl.DataFrame
) -> list[str]:
    """Who was set aside, and how many rows equal one of them, or one of those learned from."""
    people, rows = list_rows(before), list_rows(after)
    aside = [people[row] for row in holdout]
    training_counts = Counter(person for row, person in enumerate(people) if row not in set(holdout))
    checked_lines = []
    for line in private_lines:
        if line.startswith(f"{COPIES[0]} | "):
            training, strangers = (int(cell) for cell in line.split(" | ")[1:])
            assert strangers == sum(row in set(aside) for row in rows)
            assert training <= sum(row in training_counts for row in rows), "as many people on either side, not all"
            checked_lines.append(line)
        elif line.startswith(f"{COPIES[1]} | "):
            strangers = int(line.split(" | ")[2])
            assert strangers <= sum(row in set(aside) for row in rows)
            checked_lines.append(line)
        elif match := re.match(r"(\d+) people were set aside: .* Of (\d+) synthetic rows, ([\d.]+) % are nearer", line):
            assert [int(match[1]), int(match[2])] == [len(aside), len(rows)]
            assert 0 <= float(match[3]) <= 100
            unique = Counter(people)
            copies = sum(row in training_counts for row in rows)
            unique_copies = sum(row in training_counts and unique[row] == 1 for row in rows)
            assert line.endswith(
                f"{count(copies, 'synthetic row equals', 'synthetic rows equal')} the row of a training person in "
                f"every column, {unique_copies} a unique one's."
                if copies
                else "No synthetic row equals the row of a training person in every column."
            )
            checked_lines.append(line)
        elif line.startswith("Synthetic rows that equal a person's row in every column, for "):
            assert f" for {min(len(aside), len(people) - len(aside))} people on either side." in line
            checked_lines.append(line)
    assert len(checked_lines) == 4
    return checked_lines
