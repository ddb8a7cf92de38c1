# SPDX-License-Identifier: MIT
"""The frame of reproductions: what is run, written, skipped and judged, with studies of no consequence."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import polars as pl
import pytest

from papers import registry, run
from papers.__main__ import main
from papers.plots import Axis, Curve, StatedPoint, describe_bars, draw_bars, draw_curves
from papers.study import (
    Assumption,
    Findings,
    Grid,
    Pair,
    Paper,
    Setting,
    Statement,
    Study,
    Tolerance,
    compare,
    find_data,
    frame_of,
    require_all,
)
from sfumato.errors import DataError, PolicyError
from sfumato.runtime.progress import listen_to_progress

HOSTILE = "<script>alert(1)</script>&{{ 7*7 }}"
PAPER = Paper("nobody_1999", "Nobody (1999)", "On nothing")


def tiny(setting: Setting) -> Findings:
    x, y = Axis("x"), Axis("y")
    plot = draw_curves("A line", x, y, [Curve("ours", [(1, 2), (2, 4)])], [StatedPoint(1, 2, "2")])
    grid = Grid(
        "numbers", "Numbers", frame_of([{"x": 1, "theirs": None, "ours": 2.5}, {"x": 2, "theirs": 3, "ours": 4.0}])
    )
    statements = (
        Statement("It rises.", "It rises.", True),
        compare("It ends at", [Pair(3, 4)], Tolerance(0.5, "a whole number"), reason="Another ruler."),
        Statement("It took a day.", "It took a second.", None, "Another machine."),
        Statement("Ours is 4.", "4", True, source="independent count"),
    )
    return Findings(statements, (grid,), (plot,), (HOSTILE, f"quick: {setting.quick}"))


def study(name: str = "figure_1", needs: tuple[str, ...] = (), quickly: str = "half of it.") -> Study:
    return Study(PAPER, name, "work", "A tiny figure", "Figure 1", "It rises.", "By hand.", quickly, needs)


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> None:
    invented_studies = (study(), study("figure_10"), study("table_2", needs=("there/is-none.csv",)))
    work = SimpleNamespace(figure_1=tiny, figure_10=tiny, table_2=tiny)
    monkeypatch.setitem(sys.modules, "papers.nobody_1999", cast(ModuleType, SimpleNamespace(STUDIES=invented_studies)))
    monkeypatch.setitem(sys.modules, "papers.nobody_1999.work", cast(ModuleType, work))
    monkeypatch.setattr(registry, "PAPERS", ("nobody_1999",))


def read_page(folder: Path) -> str:
    return (folder / "papers.html").read_text(encoding="utf-8")


def test_a_row_outside_the_tolerance_differs() -> None:
    """A planted wrong number turns the verdict, and both numbers and the reason are shown."""
    tenth = Tolerance(0.1, "printed to a tenth")
    right = compare("risk", [Pair(10.39, 10.4), Pair(18.05, 18.0)], tenth, unit=" %")
    assert right.verdict == "reproduced" and right.explanation == ""
    wrong = compare("risk", [Pair(10.39, 10.4), Pair(18.05, 17.0)], tenth, unit=" %", reason="Another radius.")
    assert wrong.verdict == "differs"
    assert wrong.paper_result == "risk: 10.39, 18.05 %" and wrong.own_result == "10.4, 17 % (1 of 2 agree)"
    assert wrong.tolerance == "Tolerance: 0.1 points (printed to a tenth)."
    assert wrong.explanation == "Another radius."
    relative = Tolerance(0.1, "drawn at random", relative=True)
    assert compare("risk", [Pair(100, 111)], relative).verdict == "differs"
    assert compare("risk", [Pair(100, 109)], relative).verdict == "reproduced"
    exact = compare("rules", [Pair(3, 4)])
    assert exact.explanation == "The reason is not known." and exact.tolerance == "Tolerance: none."


def test_a_tolerance_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Tolerance(0.1)


def test_what_is_not_compared_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Statement("It took a day.", "It took a second.", None)
    assert Statement("It took a day.", "It took a second.", None, "Another machine.").verdict == "not comparable"


def test_a_statement_about_nothing_is_not_reproduced() -> None:
    vacuous = Statement("Of those that are cracked, none is long.", "0 of 0", True, cases=0)
    assert vacuous.verdict == "not comparable" and "shows nothing" in vacuous.explanation
    assert Statement("None is long.", "0 of 3", True, cases=3).verdict == "reproduced"
    assert Statement("One is long.", "0 of 0", False, "No.", cases=0).verdict == "differs"
    with pytest.raises(ValueError, match="nothing to compare"):
        compare("risk", [])


def at_radii(*holds: bool | None) -> Statement:
    """A statement with these outcomes at 1, 2 and 5 %."""
    reason = "No number."
    outcomes = dict(zip(("1 %", "2 %", "5 %"), holds, strict=True))
    statements = {
        value: Statement("Below 10 %", f"cracked {value}", outcome, reason) for value, outcome in outcomes.items()
    }
    return require_all("the radius", statements)


def test_a_statement_must_hold_at_every_value_that_was_tried() -> None:
    """One radius of three is not enough, whichever it is; the assumption is told with every verdict."""
    assumed = "Assumes the radius: 1 %, 2 %, 5 % (the paper does not state it)."
    everywhere = at_radii(True, True, True)
    assert everywhere.verdict == "reproduced" and everywhere.explanation == ""
    assert everywhere.assumption == assumed
    for index, value in enumerate(("1 %", "2 %", "5 %")):
        statement = at_radii(*(index == position for position in range(3)))
        assert statement.verdict == "differs" and statement.assumption == assumed
        assert f"the statement holds at {value} only" in statement.explanation
        assert statement.own_result == "1 %: cracked 1 %; 2 %: cracked 2 %; 5 %: cracked 5 %"
    assert "holds at none" in at_radii(False, False, False).explanation
    assert at_radii(None, None, None).verdict == "not comparable"
    assert at_radii(None, None, None).assumption == assumed


def test_one_choice_of_ours_reproduces_nothing() -> None:
    """Unless printed numbers identify it."""
    assumption = Assumption("the radius", ("2 %",))
    statement = Statement("Below 10 %", "4 %", True, assumes=(assumption,))
    assert statement.verdict == "not comparable" and "does not state the radius" in statement.explanation
    assert Statement("Below 10 %", "14 %", False, assumes=(assumption,)).verdict == "differs"
    identified = Assumption("the classes", ("aspen",), identified_by="Figure 8")
    identified_statement = Statement("Below 10 %", "4 %", True, assumes=(identified,))
    assert identified_statement.verdict == "reproduced" and "identified by Figure 8" in identified_statement.assumption
    with pytest.raises(ValueError, match="no value was tried"):
        Assumption("the radius", ())


def test_assumptions_and_tolerances_are_on_the_page_whatever_the_verdict(
    studies: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    statements = (at_radii(True, True, True), at_radii(True, False, True), at_radii(None, None, None))
    close = compare("risk", [Pair(1, 1)], Tolerance(0.5, "a whole number"))
    work = sys.modules["papers.nobody_1999.work"]
    monkeypatch.setattr(work, "figure_1", lambda setting: Findings((*statements, close)))
    for options in ([], ["--quick"]):
        assert main(["nobody_1999.figure_1", "--out", str(tmp_path), "--json", *options]) == 0
        json_statements = json.loads(capsys.readouterr().out)["studies"][0]["statements"]
        assert all("the radius: 1 %, 2 %, 5 %" in statement["assumes"] for statement in json_statements[:3])
        page = read_page(tmp_path)
        assert page.count("Assumes the radius: 1 %, 2 %, 5 % (the paper does not state it).") == 3
        assert page.count("Tolerance: 0.5 (a whole number).") == 1


def test_captions_follow_the_rows() -> None:
    x, y = Axis("privacy", percent=True), Axis("accuracy", percent=True)
    falling = draw_curves("t", x, y, [Curve("ByClass", [(0.1, 0.99), (1.0, 0.8), (2.0, 0.7)])]).caption
    assert falling.replace("\N{NO-BREAK SPACE}", " ") == "Accuracy by privacy. ByClass: 99 % at 10 % to 70 % at 200 %."
    turning = draw_curves("t", x, y, [Curve("ByClass", [(0.1, 0.6), (1.0, 0.8), (2.0, 0.7)])]).caption
    assert "highest 80" in turning and "lowest" not in turning
    groups = {"Fn1": {"Original": 100.0, "ByClass": 98.9}}
    assert draw_bars("t", groups, digits=1).caption == "Fn1: Original 100.0, ByClass 98.9."
    assert describe_bars({"Fn1": {"Original": 100.0, "ByClass": 101.0}}) == "Fn1: ByClass 101, Original 100."


@pytest.mark.usefixtures("studies")
def test_a_run_writes_a_page_and_a_csv_per_table(tmp_path: Path) -> None:
    summary = run.reproduce("all", tmp_path / "out", data=tmp_path)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(summary.files)
    tables = ("nobody_1999.figure_1.numbers.csv", "nobody_1999.figure_10.numbers.csv")
    assert summary.files == ("papers.html", *tables)
    assert pl.read_csv(tmp_path / "out" / tables[0]).rows() == [(1, None, 2.5), (2, 3, 4.0)]
    assert [bool(study_run.skip_reason) for study_run in summary.runs] == [False, False, True]
    first = summary.runs[0]
    assert [first.count(verdict) for verdict in ("reproduced", "differs", "not comparable")] == [1, 1, 1]


@pytest.mark.usefixtures("studies")
def test_the_page_stands_alone_and_escapes_what_it_is_given(tmp_path: Path) -> None:
    run.reproduce(out=tmp_path)
    page = read_page(tmp_path)
    assert not re.search(r"https?://|src=|@import|url\(|<script|<link", page)
    assert "&lt;script&gt;" in page and "default-src 'none'" in page
    assert page.count("<svg") == 2
    assert "real data are absent" in page and "there/is-none.csv" in page
    for words in ("reproduced", "differs", "not comparable", "Another ruler.", "Another machine.", "Nobody (1999)"):
        assert words in page


@pytest.mark.usefixtures("studies")
def test_a_quick_run_reproduces_nothing_that_is_smaller(tmp_path: Path) -> None:
    summary = run.reproduce(["nobody_1999.figure_1"], tmp_path, quick=True)
    page = read_page(tmp_path)
    assert "A quick run." in page and "half of it." in page and "quick: True" in page
    assert summary.runs[0].count("not comparable") == 3
    reasons = [statement.explanation for statement in summary.runs[0].findings.statements[:2]]
    assert reasons == [
        "It holds in a quick run: half of it.",
        "It does not hold in a quick run: half of it. Another ruler.",
    ]
    whole = run.run_study(study(quickly=""), Setting(quick=True))
    assert whole.count("reproduced") == 1
    run.reproduce(["nobody_1999.figure_1"], tmp_path)
    page = read_page(tmp_path)
    assert "A quick run." not in page and "half of it." not in page and "quick: False" in page


@pytest.mark.usefixtures("studies")
def test_studies_are_chosen_by_name_and_by_paper() -> None:
    assert [entry.name for entry in registry.find_studies("nobody_1999")] == ["figure_1", "figure_10", "table_2"]
    selection = registry.find_studies(["nobody_1999.table_2", "nobody_1999.figure_10"])
    assert [entry.name for entry in selection] == ["figure_10", "table_2"]
    with pytest.raises(PolicyError, match=r'"bu_2007".*all, nobody_1999, nobody_1999.figure_1, nobody_1999.figure_10'):
        registry.find_studies(["bu_2007"])
    with pytest.raises(PolicyError, match="nothing"):
        registry.find_studies([])


@pytest.mark.usefixtures("studies")
def test_the_command_lists_and_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert "nobody_1999: Nobody (1999), On nothing\n  nobody_1999.figure_1: A tiny figure\n" in listed
    assert "nobody_1999.table_2: A tiny figure (needs there/is-none.csv)" in listed
    assert main(["nobody_1999.figure_1", "--out", str(tmp_path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["studies"][0]["statements"][1]["verdict"] == "differs"
    assert main(["zzz", "--out", str(tmp_path)]) == 2
    assert "there is no study" in capsys.readouterr().err


@pytest.mark.usefixtures("studies")
def test_progress_and_summary(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    with listen_to_progress(lambda *step: steps.append(step)):
        summary = run.reproduce(["nobody_1999.figure_1", "nobody_1999.figure_10"], tmp_path)
    assert ("reproducing nobody_1999.figure_10", 1, 2) in steps
    assert summary.list_sentences()[0].startswith("nobody_1999.figure_1: 1 reproduced, 1 differ, 1 not comparable")


@pytest.mark.usefixtures("studies")
def test_a_run_that_fails_leaves_the_page_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.reproduce("nobody_1999.figure_1", tmp_path)
    page = read_page(tmp_path)

    def fail(setting: Setting) -> Findings:
        raise DataError("no")

    monkeypatch.setattr(sys.modules["papers.nobody_1999.work"], "figure_1", fail)
    with pytest.raises(DataError):
        run.reproduce("all", tmp_path)
    assert read_page(tmp_path) == page
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("studies")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be created"):
        run.reproduce("all", tmp_path / "file")
    with pytest.raises(DataError, match="no such folder"):
        run.reproduce("all", tmp_path, data=tmp_path / "nowhere")


def test_the_data_folder_is_the_one_given_or_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    assert find_data() == tmp_path
    assert find_data(tmp_path / "nowhere") is None
    (tmp_path / "other").mkdir()
    assert find_data(tmp_path / "other") == tmp_path / "other"


def test_names_are_file_names() -> None:
    with pytest.raises(PolicyError):
        Grid("../up", "t", pl.DataFrame())
    with pytest.raises(PolicyError):
        study("figure 1")


def test_every_study_says_what_the_paper_states_and_how_ours_is_made() -> None:
    studies = registry.list_studies()
    assert {entry.paper.name for entry in studies.values()} == set(registry.PAPERS)
    assert len(studies) == sum(len(import_module(f"papers.{name}").STUDIES) for name in registry.PAPERS)
    for listed_study in studies.values():
        assert listed_study.states and listed_study.procedure and listed_study.location and listed_study.title
        assert listed_study.paper.authors.endswith(f"({listed_study.paper.name[-4:]})")
