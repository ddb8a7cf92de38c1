# SPDX-License-Identifier: MIT
"""Seed 001's noise made again: Warner's table exactly, trees and attacks as PLANNED says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sfumato.reproduce.seed_001 import STUDIES
from sfumato.reproduce.seed_001_answers import TABLE_1, majority, open_error, spinner_error
from sfumato.reproduce.seed_001_noise import PLANNED
from sfumato.reproduce.study import Findings, Setting, Study

BY_NAME: Mapping[str, Study] = {study.name: study for study in STUDIES}


def quickly(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True))


def test_every_study_says_what_the_seed_states_and_how_ours_is_made() -> None:
    assert {
        "001-warner-table-1",
        "001-averaging",
        "001-privacy-table",
        "001-reconstruction",
        "001-accuracy",
        "001-privacy-levels",
        "001-spectral",
        "001-range-reveal",
    } <= set(BY_NAME)
    for study in STUDIES:
        assert study.states and study.made and study.place
        assert study.seed == "001" and not study.needs


@pytest.mark.parametrize(("truth", "printed"), TABLE_1.items())
def test_warners_table_1(truth: tuple[float, float], printed: tuple[float, tuple[float, float, float, float]]) -> None:
    """Warner 1965, Table 1: every bias and ratio to the two decimals that are printed."""
    bias, error = open_error(*truth)
    assert bias == pytest.approx(printed[0], abs=0.00501)
    for p, ratio in zip((0.6, 0.7, 0.8, 0.9), printed[1], strict=True):
        assert spinner_error(p) / error == pytest.approx(ratio, abs=0.00501)


def test_warners_table_is_whole_and_followed() -> None:
    found = quickly("001-warner-table-1")
    assert [one.follows for one in found.statements] == [True] * 3
    assert found.grids[0].frame.shape == (12, 17)


def test_a_majority_of_answers() -> None:
    """By hand: of five answers, three or more are right with 10 p³q² + 5 p⁴q + p⁵."""
    p, q = 0.7, 0.3
    assert majority(0.7, 5) == pytest.approx(10 * p**3 * q**2 + 5 * p**4 * q + p**5)
    assert majority(0.7, 1) == pytest.approx(0.7)
    assert [one.follows for one in quickly("001-averaging").statements] == [True] * 3


def test_the_privacy_table_shows_the_misprint() -> None:
    found = quickly("001-privacy-table")
    assert [one.follows for one in found.statements] == [None, True, False, True]
    rows = {(row["noise"], row["confidence"]): row for row in found.grids[0].frame.to_dicts()}
    assert rows["gaussian", "99.9%"]["theirs"] == 6.8 and rows["gaussian", "99.9%"]["ours"] == pytest.approx(
        6.58, abs=0.005
    )
    assert rows["gaussian", "50.0%"]["ours"] == pytest.approx(1.349, abs=0.0005)
    for row in rows.values():
        assert row["simulated"] == pytest.approx(row["ours"], rel=0.03)


def test_reconstruction_over_iterates_and_the_test_stops_it() -> None:
    found = quickly("001-reconstruction")
    assert [one.follows for one in found.statements] == [True, None, True, True]
    errors = found.grids[0].frame
    assert set(PLANNED) <= set(errors["steps"].to_list())
    assert errors["by"].drop_nulls().to_list() == ["χ²"] * 4
    assert len(found.plots) == 4


def test_the_filter_and_the_range_do_what_golden_says() -> None:
    found = quickly("001-spectral")
    assert [one.follows for one in found.statements] == [True] * 5
    assert len(found.plots) == 2
    assert [one.follows for one in quickly("001-range-reveal").statements] == [True] * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["001-accuracy", "001-privacy-levels"])
def test_trees_follow_the_pictures(name: str) -> None:
    found = quickly(name)
    assert all(one.follows for one in found.statements)
    assert found.plots and all("<svg" in one.svg for one in found.plots)
