# SPDX-License-Identifier: MIT
"""Seed 002 made again: its databases exactly, its misprints told, and what its algorithms leave."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from sfumato.reproduce import STUDIES as ALL
from sfumato.reproduce import reproduce
from sfumato.reproduce.seed_002 import STUDIES
from sfumato.reproduce.seed_002_data import (
    DATABASES,
    LEAST,
    NINE,
    PRINTED,
    SHARE,
    counted,
    every_rule,
    rules_about,
    shop,
)
from sfumato.reproduce.seed_002_hiding import CASES
from sfumato.reproduce.study import Findings, Setting, Study
from tests import brute_baskets

BY_NAME: Mapping[str, Study] = {study.name: study for study in STUDIES}


@cache
def found(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True))


def verdicts(name: str) -> list[bool | None]:
    return [one.follows for one in found(name).statements]


def test_every_study_says_what_the_seed_states_and_how_ours_is_made() -> None:
    assert list(BY_NAME) == ["002-table-1", "002-examples", "002-table-8", "002-left-over", "002-side-effects"]
    assert [name for name in ALL if name.startswith("002-")] == list(BY_NAME)
    for study in STUDIES:
        assert study.states and study.made and study.place
        assert study.seed == "002" and not study.needs


@pytest.mark.parametrize("name", DATABASES)
def test_rules_are_counted_as_by_brute_force(name: str) -> None:
    rows = DATABASES[name]
    by_book = {
        f"{''.join(sorted(left))} ⇒ {''.join(sorted(right))}": told
        for (left, right), told in brute_baskets.rules(rows, LEAST, SHARE).items()
    }
    ours = {rule for rule in every_rule(rows) if counted(rows, rule).shows}
    assert ours == by_book.keys()
    for rule, (support, confidence) in by_book.items():
        one = counted(rows, rule)
        assert one.percentages == (Fraction(100 * support, 6), 100 * confidence)
    for items in ("B", "C", "BC"):
        assert set(rules_about(rows, items)) == {rule for rule in by_book if set(rule.split(" ⇒ ")[1]) & set(items)}


def test_table_1() -> None:
    assert verdicts("002-table-1") == [True] * 4
    rows = found("002-table-1").grids[0].frame
    assert rows["rule"].to_list() == list(NINE) and rows["shows"].all() and rows["same"].all()


def test_the_examples_agree_but_for_three_misprints() -> None:
    """GOLDEN 002: A ⇒ B in D1 (83, 83), A ⇒ C in D4 (67, 67), C ⇒ B in D5 (33, 67)."""
    findings = found("002-examples")
    assert [one.follows for one in findings.statements] == [True] * 5 + [False] * 3 + [True] * 2
    databases, printed = (grid.frame for grid in findings.grids)
    assert databases["same"].all() and databases["rules_left"].sum() == 0
    odd = printed.filter(~pl.col("same"))
    assert odd.select("database", "rule", "ours").rows() == [
        ("D1", "A ⇒ B", "(83 %, 83 %)"),
        ("D4", "A ⇒ C", "(67 %, 67 %)"),
        ("D5", "C ⇒ B", "(33 %, 67 %)"),
    ]
    assert [one.erratum for one in PRINTED] == (~printed["same"]).to_list()


def test_table_8() -> None:
    findings = found("002-table-8")
    assert [one.follows for one in findings.statements] == [True] * 5 + [False]
    rows = {row["algorithm"]: row for row in findings.grids[0].frame.to_dicts()}
    assert (rows["ISLF"]["scans_ours"], rows["ISLF"]["pruned_ours"]) == (3, 2)
    assert (rows["Dasseni 1.a"]["scans_ours"], rows["Dasseni 1.a"]["pruned_ours"]) == (4, 0)
    assert rows["DSRF"]["scans_theirs"] is None


def test_what_is_left_over() -> None:
    findings = found("002-left-over")
    assert [one.follows for one in findings.statements] == [True, False, False, True]
    rows = findings.grids[0].frame
    assert all(f"{case.stays} (" in left for case, left in zip(CASES, rows["rules_left"], strict=True))
    assert rows["left_by_complete"].sum() == rows["left_by_exact"].sum() == 0
    # GOLDEN 002: AB ⇒ C has support 33 % and confidence 100 %, and nothing was changed.
    assert rows["rules_left"][0] == "AB ⇒ C (33 %, 100 %)" and rows["published"][0] == rows["database"][0]


def test_side_effects() -> None:
    findings = found("002-side-effects")
    assert [one.follows for one in findings.statements] == [True, None, None, None, None]
    effects = {(row["baskets"][:1], row["strategy"]): row for row in findings.grids[0].frame.to_dicts()}
    assert all(effects["D", name]["exposed"] == 0 for name in ("islf", "dsrf", "complete", "exact"))
    large = {name: effects["1", name] for name in ("islf", "dsrf", "complete", "exact")}
    assert large["islf"]["exposed"] > 0 and large["islf"]["ghosts"] > 0
    assert large["complete"]["exposed"] == large["exact"]["exposed"] == large["exact"]["ghosts"] == 0
    assert large["exact"]["removed"] <= large["complete"]["removed"] <= large["dsrf"]["removed"]
    assert len(findings.plots) == 2 and all("<svg" in one.svg for one in findings.plots)


def test_the_generated_baskets_are_the_same_for_the_same_seed() -> None:
    assert shop(50, 9, 1) == shop(50, 9, 1)
    assert shop(50, 9, 1) != shop(50, 9, 2)
    held = [sum("i00" in row for row in shop(400, 9, 1, first).to_lists()) for first in (0.0, 0.4, 0.8)]
    assert held == sorted(held) and held[0] < held[2]


def test_the_page_is_written(tmp_path: Path) -> None:
    summary = reproduce("002", tmp_path, quick=True)
    assert (sum(one.followed for one in summary.done), sum(one.judged for one in summary.done)) == (19, 25)
    page = (tmp_path / "reproduce.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 and "https://" not in page and "http://" not in page
    assert pl.read_csv(tmp_path / "002-table-8-scans.csv")["scans_theirs"].to_list() == [3, 4, None, None]
