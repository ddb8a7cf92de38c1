# SPDX-License-Identifier: MIT
"""The frame of reproductions: what is run, written, skipped and said, with studies of no consequence."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import polars as pl
import pytest

from sfumato.errors import DataError, PolicyError
from sfumato.progress import listening
from sfumato.reproduce import registry, run
from sfumato.reproduce.plots import Axis, Curve, Told, curves
from sfumato.reproduce.study import Findings, Grid, Setting, Statement, Study, data_folder, frame_of

HOSTILE = "<script>alert(1)</script>&{{ 7*7 }}"


def tiny(setting: Setting) -> Findings:
    plot = curves("A line", "Two points.", Axis("x"), Axis("y"), [Curve("ours", [(1, 2), (2, 4)])], [Told(1, 2, "2")])
    grid = Grid(
        "numbers", "Numbers", frame_of([{"x": 1, "theirs": None, "ours": 2.5}, {"x": 2, "theirs": 3, "ours": 4.0}])
    )
    said = (
        Statement("It rises.", "It rises.", True),
        Statement("It ends at 3.", "It ends at 4.", False),
        Statement("It took a day.", "It took a second.", None),
    )
    return Findings(said, (grid,), (plot,), (HOSTILE, f"quick: {setting.quick}"))


def study(name: str = "999-figure-1", needs: tuple[str, ...] = ()) -> Study:
    return Study(name, "A tiny figure", "Figure 1", "It rises.", "By hand.", tiny, "half of it.", needs)


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> None:
    some = (study(), study("999-figure-10"), study("998-table-2", needs=("there/is-none.csv",)))
    monkeypatch.setitem(sys.modules, "sfumato.reproduce.seed_999", cast(ModuleType, SimpleNamespace(STUDIES=some)))
    monkeypatch.setattr(registry, "SEEDS", ("seed_999",))
    monkeypatch.setattr(registry, "every", registry._studies)


@pytest.mark.usefixtures("studies")
def test_a_run_writes_a_page_and_a_csv_a_table(tmp_path: Path) -> None:
    summary = run.reproduce("all", tmp_path / "out", data=tmp_path)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(summary.files)
    assert summary.files == ("reproduce.html", "999-figure-1-numbers.csv", "999-figure-10-numbers.csv")
    written = pl.read_csv(tmp_path / "out" / "999-figure-1-numbers.csv")
    assert written.rows() == [(1, None, 2.5), (2, 3, 4.0)]
    assert [one.study.name for one in summary.skipped] == ["998-table-2"]
    assert (summary.done[0].followed, summary.done[0].judged) == (1, 2)


@pytest.mark.usefixtures("studies")
def test_the_page_stands_alone_and_escapes_what_it_is_told(tmp_path: Path) -> None:
    run.reproduce(out=tmp_path)
    page = (tmp_path / "reproduce.html").read_text(encoding="utf-8")
    assert not re.search(r"https?://|src=|@import|url\(|<script|<link", page)
    assert "&lt;script&gt;" in page and "default-src 'none'" in page
    assert page.count("<svg") == 2
    assert "real data is absent" in page and "there/is-none.csv" in page
    assert "follows" in page and "differs" in page and "cannot be judged" in page


@pytest.mark.usefixtures("studies")
def test_a_quick_run_says_so(tmp_path: Path) -> None:
    run.reproduce(["999-figure-1"], tmp_path, quick=True)
    page = (tmp_path / "reproduce.html").read_text(encoding="utf-8")
    assert "A quick run." in page and "half of it." in page and "quick: True" in page
    run.reproduce(["999-figure-1"], tmp_path)
    page = (tmp_path / "reproduce.html").read_text(encoding="utf-8")
    assert "A quick run." not in page and "half of it." not in page and "quick: False" in page


@pytest.mark.usefixtures("studies")
def test_studies_are_chosen_by_name_and_by_seed() -> None:
    assert [one.name for one in registry.chosen("999")] == ["999-figure-1", "999-figure-10"]
    assert [one.name for one in registry.chosen(["998", "999-figure-10"])] == ["999-figure-10", "998-table-2"]
    with pytest.raises(PolicyError, match=r"«000-figure-7».*all, 998, 998-table-2, 999, 999-figure-1, 999-figure-10"):
        registry.chosen(["000-figure-7"])
    with pytest.raises(PolicyError, match="nothing"):
        registry.chosen([])


@pytest.mark.usefixtures("studies")
def test_the_list_tells_what_is_missing(tmp_path: Path) -> None:
    assert {one.name: one.missing for one in registry.listed(tmp_path)} == {
        "999-figure-1": (),
        "999-figure-10": (),
        "998-table-2": ("there/is-none.csv",),
    }
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "is-none.csv").touch()
    assert all(one.missing == () for one in registry.listed(tmp_path))


@pytest.mark.usefixtures("studies")
def test_progress_and_summary_are_told(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int | None]] = []
    with listening(lambda *step: heard.append(step)):
        summary = run.reproduce("999", tmp_path)
    assert ("reproducing 999-figure-10", 1, 2) in heard
    assert summary.sentences()[0].startswith("999-figure-1: 1 of 2 statements followed")
    told = json.loads(json.dumps(summary.as_json()))
    assert told["studies"][0]["statements"][1] == {
        "theirs": "It ends at 3.",
        "ours": "It ends at 4.",
        "follows": False,
    }


@pytest.mark.usefixtures("studies")
def test_a_run_that_fails_leaves_the_page_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run.reproduce("999", tmp_path)
    before = (tmp_path / "reproduce.html").read_text(encoding="utf-8")

    def broken(setting: Setting) -> Findings:
        raise DataError("no")

    some = Study("999-figure-1", "t", "p", "s", "m", broken)
    monkeypatch.setattr(registry, "every", lambda: {some.name: some})
    with pytest.raises(DataError):
        run.reproduce("all", tmp_path)
    assert (tmp_path / "reproduce.html").read_text(encoding="utf-8") == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("studies")
def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be made"):
        run.reproduce("999", tmp_path / "file")
    with pytest.raises(DataError, match="no such folder"):
        run.reproduce("999", tmp_path, data=tmp_path / "nowhere")


def test_the_data_folder_is_the_one_given_or_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert data_folder(tmp_path / "nowhere") is None
    (tmp_path / "other").mkdir()
    assert data_folder(tmp_path / "other") == tmp_path / "other"


def test_names_are_file_names() -> None:
    with pytest.raises(PolicyError):
        Grid("../up", "t", pl.DataFrame())
    with pytest.raises(PolicyError):
        study("000 figure")
