# SPDX-License-Identifier: MIT
"""Who lost the most: groups are counted on the file, and stay with the custodian."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.report.sections.group_losses import label_people
from sfumato.workflow import pipeline
from sfumato.workflow.policy import Policy

POLICY = """
title = "Groups"
data = { path = "people.csv" }
roles = { quasi_identifying = ["age", "town"], sensitive = ["disease"] }
hierarchies = { age = { kind = "intervals", widths = [10] } }
protect = [{ method = "generalize", models = [{ model = "k_anonymity", k = 5 }], suppression_limit = 0.2, HOW }]
gate = {}
"""


def read_text(page: Path) -> str:
    bare = re.sub(r"<style>.*?</style>|<svg.*?</svg>", "", page.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", bare))  # a no-break space becomes a plain one


@pytest.fixture(scope="module", params=['suppressed_rows = "drop"', 'suppressed_rows = "star"'])
def pages(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """300 people of 20 to 59 in Aton, and 45 of 70 to 79, of whom 40 live in towns of their own."""
    root = tmp_path_factory.mktemp("groups")
    rows = [f"{20 + n % 40},Aton,{'flu' if n % 2 else 'cold'}" for n in range(300)]
    rows += [f"{70 + n % 10},{'Aton' if n % 10 == 0 else f'LONE{n}'},flu" for n in range(45)]
    (root / "people.csv").write_text("age,town,disease\n" + "\n".join(rows) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SFUMATO_HOME", str(root / "home"))
        pipeline.run_policy(Policy.parse(POLICY.replace("HOW", request.param), root / "policy.toml"), root / "out")
    return tuple(read_text(root / "out" / part / "report.html") for part in ("private", "release"))  # type: ignore[return-value]


def test_the_worst_group_is_told(pages: tuple[str, str]) -> None:
    internal, _ = pages
    assert "Hit hardest: age 70 to 79, where 5 of 45 people are left (11 %; of everybody 88 %)." in internal
    assert "age Group People Left Detail lost 70 to 79 45 5 89 % 20 to 29 80 80 0 %" in internal
    assert "town Group People Left Detail lost other values 40 0 100 % Aton 305 305 0 %" in internal


def test_the_page_that_leaves_tells_nothing_by_group(pages: tuple[str, str]) -> None:
    internal, leaving = pages
    assert "Who lost the most" in internal
    for phrase in ("Who lost", "70 to 79", "of everybody", "LONE"):
        assert phrase not in leaving


def test_a_group_is_everyone_under_its_label_if_labels_have_several_levels() -> None:
    """Of 4 people in the thirties, one of whom is published as 31, the group of the thirties had 3."""
    hierarchy = sf.Hierarchy.of([[str(age), f"{age // 10}0s", "*"] for age in (31, 32, 33, 41)])
    original = sf.Table.of({"age": ["31", "31", "32", "33", "41"]}, {"age": "quasi_identifying"}, {"age": hierarchy})
    published_table = original.replace_frame(
        original.frame.with_columns(age=pl.Series(["31", "30s", "30s", "30s", "41"]))
    )
    assert label_people(original, published_table, "age").cast(str).to_list() == ["30s"] * 4 + ["41"]


def test_people_are_grouped_by_ranges_of_days() -> None:
    """Groups were the most frequent single dates, and everybody else "other values"."""
    days = [dt.date(1990, 1, 1) + dt.timedelta(days=50 * n) for n in range(60)]
    table = sf.Table.of({"born": [*days, None]}, roles={"born": "quasi_identifying"})
    groups = label_people(table, table, "born")
    assert groups.n_unique() <= 11
    assert groups.cast(str).to_list()[-1] == "(missing)"
    assert all(str(day.year) in group for day, group in zip(days, groups.cast(str).to_list(), strict=False))


@pytest.mark.parametrize("count", [10, 11])
def test_the_order_of_groups_and_the_columns_that_are_not_listed_are_told(tmp_path: Path, count: int) -> None:
    names = [f"q{number}" for number in range(count)]
    people = {name: ["ab"[row % 2] for row in range(20)] for name in names}
    people["q0"] = ["a"] * 19 + ["c"]
    roles = dict.fromkeys(names, "quasi_identifying")
    run = sf.run(people, sf.Generalize(models=[sf.KAnonymity(k=2)], suppression_limit=0.1), roles=roles)
    page = tmp_path / "report.html"
    page.write_text(run.report.internal, encoding="utf-8")
    text = read_text(page)
    assert "first the groups that lost the largest share of their people, among equals those that lost" in text
    rest = count - 9
    assert f" {rest} more {'column is' if rest == 1 else 'columns are'} not listed." in text
