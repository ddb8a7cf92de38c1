# SPDX-License-Identifier: MIT
"""Wang, Lee, Billis and Jafari (2004) made again: databases exactly, misprints, and what the algorithms leave."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from papers.run import reproduce
from papers.study import Findings, Setting, Study
from papers.wang_2004 import STUDIES
from papers.wang_2004.data import (
    DATABASES,
    LEAST,
    NINE,
    PRINTED_RULES,
    SHARE,
    count_rule,
    draw_baskets,
    find_rules_about,
    list_rules,
)
from papers.wang_2004.hiding import CASES
from tests import brute_baskets

BY_NAME: Mapping[str, Study] = {study.name: study for study in STUDIES}


@cache
def get_findings(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True))


def verdicts(name: str) -> list[str]:
    return [statement.verdict for statement in get_findings(name).statements]


@pytest.mark.parametrize("name", DATABASES)
def test_rules_are_counted_as_by_brute_force(name: str) -> None:
    rows = DATABASES[name]
    by_book = {
        f"{''.join(sorted(left))} ⇒ {''.join(sorted(right))}": counts
        for (left, right), counts in brute_baskets.rules(rows, LEAST, SHARE).items()
    }
    ours = {rule for rule in list_rules(rows) if count_rule(rows, rule).shows}
    assert ours == by_book.keys()
    for rule, (support, confidence) in by_book.items():
        rule_count = count_rule(rows, rule)
        assert rule_count.percentages == (Fraction(100 * support, 6), 100 * confidence)
    for items in ("B", "C", "BC"):
        assert set(find_rules_about(rows, items)) == {
            rule for rule in by_book if set(rule.split(" ⇒ ")[1]) & set(items)
        }


def test_table_1() -> None:
    assert verdicts("table_1") == ["reproduced"] * 4
    rows = get_findings("table_1").grids[0].frame
    assert rows["rule"].to_list() == list(NINE) and rows["shows"].all() and rows["same"].all()


def test_the_examples_agree_but_for_three_misprints() -> None:
    """A ⇒ B in D1 (83, 83), A ⇒ C in D4 (67, 67), C ⇒ B in D5 (33, 67)."""
    findings = get_findings("examples")
    assert verdicts("examples") == [*["reproduced"] * 4, "differs", "reproduced", "reproduced"]
    databases, printed = (grid.frame for grid in findings.grids)
    assert databases["same"].all() and databases["rules_left"].sum() == 0
    odd = printed.filter(~pl.col("same"))
    assert odd.select("database", "rule", "ours").rows() == [
        ("D1", "A ⇒ B", "(83 %, 83 %)"),
        ("D4", "A ⇒ C", "(67 %, 67 %)"),
        ("D5", "C ⇒ B", "(33 %, 67 %)"),
    ]
    assert len(printed) == len(PRINTED_RULES) and "(33 %, 67 %)" in findings.statements[4].explanation


def test_table_8() -> None:
    findings = get_findings("table_8")
    assert verdicts("table_8") == [*["reproduced"] * 5, "differs"]
    rows = {row["algorithm"]: row for row in findings.grids[0].frame.to_dicts()}
    assert (rows["ISLF"]["scans_ours"], rows["ISLF"]["pruned_ours"]) == (3, 2)
    assert (rows["Dasseni 1.a"]["scans_ours"], rows["Dasseni 1.a"]["pruned_ours"]) == (4, 0)
    assert rows["DSRF"]["scans_theirs"] is None


def test_what_is_left_over() -> None:
    findings = get_findings("left_over")
    assert verdicts("left_over") == ["reproduced", "differs", "differs", "reproduced"]
    rows = findings.grids[0].frame
    assert all(f"{case.stays} (" in rules_text for case, rules_text in zip(CASES, rows["rules_left"], strict=True))
    assert rows["left_by_complete"].sum() == rows["left_by_exact"].sum() == 0
    # AB ⇒ C has support 33 % and confidence 100 %, and nothing was changed.
    assert rows["rules_left"][0] == "AB ⇒ C (33 %, 100 %)" and rows["published"][0] == rows["database"][0]


def test_side_effects() -> None:
    findings = get_findings("side_effects")
    assert verdicts("side_effects") == ["not comparable"]
    effects = {(row["baskets"][:1], row["strategy"]): row for row in findings.grids[0].frame.to_dicts()}
    assert all(effects["D", name]["exposed"] == 0 for name in ("islf", "dsrf", "complete", "exact"))
    large = {name: effects["1", name] for name in ("islf", "dsrf", "complete", "exact")}
    assert large["islf"]["exposed"] > 0 and large["islf"]["ghosts"] > 0
    assert large["complete"]["exposed"] == large["exact"]["exposed"] == large["exact"]["ghosts"] == 0
    assert large["exact"]["removed"] <= large["complete"]["removed"] <= large["dsrf"]["removed"]
    assert len(findings.plots) == 2 and all("<svg" in plot.svg for plot in findings.plots)


def test_the_generated_baskets_are_the_same_for_the_same_seed() -> None:
    assert draw_baskets(50, 9, 1) == draw_baskets(50, 9, 1)
    assert draw_baskets(50, 9, 1) != draw_baskets(50, 9, 2)
    item_counts = [sum("i00" in row for row in draw_baskets(400, 9, 1, first).to_lists()) for first in (0.0, 0.4, 0.8)]
    assert item_counts == sorted(item_counts) and item_counts[0] < item_counts[2]


def test_the_page_is_written(tmp_path: Path) -> None:
    summary = reproduce("wang_2004", tmp_path, quick=True)
    assert [sum(study_run.count(verdict) for study_run in summary.runs) for verdict in ("reproduced", "differs")] == [
        16,
        4,
    ]
    page = (tmp_path / "papers.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 and "https://" not in page and "http://" not in page
    assert pl.read_csv(tmp_path / "wang_2004.table_8.scans.csv")["scans_theirs"].to_list() == [3, 4, None, None]


def test_sentences_hold_no_names_of_variables() -> None:
    """A verdict read "The is_same databases"."""
    statements = get_findings("examples").statements
    assert any(one.own_result.startswith("The same databases (") for one in statements)
    assert not any("_" in one.own_result for one in statements)
