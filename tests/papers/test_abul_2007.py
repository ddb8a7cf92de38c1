# SPDX-License-Identifier: MIT
"""Abul et al. (2007) made again: the matching set and its marks, M1 to M3, and the distance from the optimum."""

from __future__ import annotations

import os
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest

from papers.abul_2007 import STUDIES
from papers.abul_2007.distortion import SIZES, STRATEGIES, choose_patterns
from papers.abul_2007.example import MATCHES, list_matches
from papers.abul_2007.optimum import choose_least, count_parts, holds, list_costs, measure_damage
from papers.study import Findings, Setting
from papers.tracks import TRACKS
from sfumato.sequences import Sequences

BY_NAME = {study.name: study for study in STUDIES}
YES, OPEN = "reproduced", "not comparable"
DATA = Path(os.environ.get("SFUMATO_DATA", ""))


@cache
def quickly(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True, data=DATA))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("example", [YES] * 5), ("trucks", [OPEN] * 3), ("optimum", [OPEN, YES])],
)
def test_the_verdicts(name: str, expected: list[str]) -> None:
    statements = quickly(name).statements
    assert [statement.verdict for statement in statements] == expected
    assert all(statement.reason for statement in statements if statement.verdict != YES)


def test_marks_and_matches() -> None:
    assert list_matches() == MATCHES
    assert list_matches({1}) == {(2, 3, 4), (2, 3, 5)}
    matches = quickly("example").grids[0].frame["matches_left"].to_list()
    assert matches == [2, 2, 0, 2, 2, 4, 4, 4]


def check_distortion(findings: Findings, names: set[str]) -> None:
    """The heuristics mark fewer items than chance does."""
    described, measures = (grid.frame for grid in findings.grids)
    assert set(described["data"]) == names
    marks = {(row["data"], row["threshold"], row["strategy"]): row["m1"] for row in measures.to_dicts()}
    assert len(marks) == 2 * len(names) * len(STRATEGIES)
    assert all(marks[name, threshold, "HH"] < marks[name, threshold, "RR"] for name, threshold, _ in marks)
    assert len(findings.plots) == 3 * len(names)


def test_generated_trucks_have_the_published_size() -> None:
    findings = quickly("trucks")
    check_distortion(findings, {"trucks"})
    [row] = findings.grids[0].frame.to_dicts()
    count, length = SIZES["trucks"]
    assert row["sequences"] == count and row["mean_length"] == pytest.approx(length, abs=0.2)


@pytest.mark.slow
def test_generated_cars() -> None:
    check_distortion(quickly("cars"), {"cars"})


@pytest.mark.slow
@pytest.mark.skipif(not all((DATA / path).is_file() for path in TRACKS.values()), reason="no real data")
def test_tracks() -> None:
    check_distortion(quickly("tracks"), set(TRACKS))


def test_the_patterns_share_no_cell() -> None:
    data = Sequences.of([list("abc"), list("ab"), list("bcd"), list("cdb"), list("cd")])
    assert choose_patterns(data) == [["c", "d"], ["a", "b"]]


def test_parts_are_those_of_listing() -> None:
    for walk in ("", "aba", "abcab", "aaaa"):
        parts = {part for size in range(len(walk) + 1) for part in combinations(walk, size)}
        assert count_parts(walk) == len(parts)
    assert holds("xayb", ("a", "b")) and not holds("ba", ("a", "b"))


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_no_choice_of_marks_is_better(threshold: int) -> None:
    """Every set of marks in every walk is tried."""
    walks = [list(walk) for walk in ("aab", "bcab", "acb", "cbc")]
    patterns = [("a", "b"), ("c", "b")]
    walk_parts = [[list(part) for size in range(len(walk) + 1) for part in combinations(walk, size)] for walk in walks]
    best = min(
        measure_damage(walks, list(marked_walks), patterns)
        for marked_walks in product(*walk_parts)
        if all(sum(holds(walk, pattern) for walk in marked_walks) <= threshold for pattern in patterns)
    )
    least_damage = choose_least([list_costs(walk, patterns) for walk in walks], len(patterns), threshold)
    assert least_damage == best and (least_damage > 0) == (threshold < 3)
