# SPDX-License-Identifier: MIT
"""Noise in Giannotti et al. (2009) made again: Warner's table exactly, trees and attacks as counted independently."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
import pytest

from papers.giannotti_2009 import STUDIES
from papers.giannotti_2009.answers import TABLE_1, majority, open_error, spinner_error
from papers.giannotti_2009.noise import STEP_ERRORS
from papers.giannotti_2009.trees import state_privacy_levels
from papers.study import Findings, Setting, Study

BY_NAME: Mapping[str, Study] = {study.name: study for study in STUDIES}


def quickly(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True))


@pytest.mark.parametrize(("truth", "printed"), TABLE_1.items())
def test_warners_table_1(truth: tuple[float, float], printed: tuple[float, tuple[float, float, float, float]]) -> None:
    """Warner 1965, Table 1: every bias and ratio to the two decimals that are printed."""
    bias, error = open_error(*truth)
    assert bias == pytest.approx(printed[0], abs=0.00501)
    for p, ratio in zip((0.6, 0.7, 0.8, 0.9), printed[1], strict=True):
        assert spinner_error(p) / error == pytest.approx(ratio, abs=0.00501)


def test_warners_table_is_whole_and_followed() -> None:
    findings = quickly("warner_table_1")
    assert {statement.verdict for statement in findings.statements} == {"reproduced"}
    assert findings.grids[0].frame.shape == (12, 17)


def test_a_majority_of_answers() -> None:
    """By hand: of five answers, three or more are right with 10 p³q² + 5 p⁴q + p⁵."""
    p, q = 0.7, 0.3
    assert majority(0.7, 5) == pytest.approx(10 * p**3 * q**2 + 5 * p**4 * q + p**5)
    assert majority(0.7, 1) == pytest.approx(0.7)
    assert {statement.verdict for statement in quickly("averaging").statements} == {"reproduced"}


def test_the_privacy_table_shows_the_misprint() -> None:
    findings = quickly("privacy_table")
    assert [statement.verdict for statement in findings.statements] == [
        "reproduced",
        "reproduced",
        "differs",
        "reproduced",
    ]
    rows = {(row["noise"], row["confidence"]): row for row in findings.grids[0].frame.to_dicts()}
    assert rows["gaussian", "99.9%"]["theirs"] == 6.8 and rows["gaussian", "99.9%"]["ours"] == pytest.approx(
        6.58, abs=0.005
    )
    assert rows["gaussian", "50.0%"]["ours"] == pytest.approx(1.349, abs=0.0005)
    for row in rows.values():
        assert row["simulated"] == pytest.approx(row["ours"], rel=0.03)


def test_reconstruction_over_iterates_and_the_test_stops_it() -> None:
    findings = quickly("reconstruction")
    assert [statement.verdict for statement in findings.statements] == [
        "not comparable",
        "not comparable",
        "reproduced",
        "differs",
    ]
    assert [statement.source for statement in findings.statements] == [
        "paper",
        "paper",
        "independent count",
        "independent count",
    ]
    errors = findings.grids[0].frame
    assert set(STEP_ERRORS) <= set(errors["steps"].to_list())
    assert errors["by"].drop_nulls().to_list() == ["χ²"] * 4
    assert len(findings.plots) == 4


def test_the_filter_and_the_range_do_what_was_counted() -> None:
    findings = quickly("spectral")
    assert [statement.verdict for statement in findings.statements] == ["not comparable", "reproduced", "reproduced"]
    assert len(findings.plots) == 2
    assert {statement.verdict for statement in quickly("range_reveal").statements} == {"reproduced"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["accuracy", "privacy_levels"])
def test_trees_are_drawn_with_the_numbers_of_the_table(name: str) -> None:
    findings = quickly(name)
    assert {statement.verdict for statement in findings.statements if statement.source == "paper"} == {"not comparable"}
    assert findings.plots and all("<svg" in plot.svg for plot in findings.plots)
    assert findings.grids[0].frame["function"][0] in findings.plots[0].title + findings.plots[0].caption


def levels(random: tuple[float, float, float]) -> pl.DataFrame:
    ways = {
        "ByClass(G)": (0.99, 0.98, 0.8), "ByClass(U)": (0.99, 0.95, 0.9),
        "Random(G)": random, "Random(U)": (0.7, 0.6, 0.5),
    }  # fmt: skip
    rows = [
        {"function": function, "way": way, "privacy": privacy, "accuracy": accuracy, "original": 1.0}
        for function in ("Fn1", "Fn3")
        for way, accuracies in ways.items()
        for privacy, accuracy in zip((0.1, 1.0, 2.0), accuracies, strict=True)
    ]
    return pl.DataFrame(rows)


def test_curves_without_numbers_are_shown_at_all_levels_and_not_judged() -> None:
    """A curve that rises in between does not fall, though its ends do."""
    statements = state_privacy_levels(levels((0.8, 0.9, 0.7)))
    assert {statement.verdict for statement in statements} == {"not comparable"}
    by_class, _, bumpy, smooth = statements
    assert by_class.own_result == (
        "Points below Original, by level: 10%: Fn1 1.0, Fn3 1.0; 100%: Fn1 2.0, Fn3 2.0; 200%: Fn1 20.0, Fn3 20.0."
    )
    assert bumpy.own_result == "Lower than at the level before: Fn1 at 1 of 2, Fn3 at 1 of 2 steps."
    assert smooth.own_result == "Lower than at the level before: Fn1 at 2 of 2, Fn3 at 2 of 2 steps."
