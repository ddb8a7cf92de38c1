# SPDX-License-Identifier: MIT
"""Cells that a spreadsheet would calculate are counted, escaped on demand, and read back as they were."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.composition import read_other
from sfumato.cli.messages import describe_formulas
from sfumato.data.reading.table_reader import read_frame
from sfumato.data.writing.formulas import count_formulas, escape_words, find_formulas, unescape_words
from sfumato.workflow.shapes.file_shapes import describe_text_format, find_shape
from sfumato.workflow.verification import read_release

FORMULAS = ["=cmd()", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", '"=1', "-", "+49 30", "-1,5", "＝1"]
PLAIN = ["-5", "+3.2", "-.5", "1e5", "-1e-5", "", "a=b", "'-5", "5-3", "[-5, 3)", " x", "*", "'quoted'"]
SIGNS = st.text(alphabet="'\"=+-@\t\r\n 05.ea", max_size=7)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def test_formulas_are_told_from_numbers_and_text() -> None:
    assert find_formulas(pl.Series([*FORMULAS, *PLAIN])).to_list() == [True] * len(FORMULAS) + [False] * len(PLAIN)
    assert find_formulas(pl.Series([None], dtype=pl.String)).to_list() == [False]


def test_names_of_columns_count_and_numbers_do_not() -> None:
    frame = pl.DataFrame({"=x": [-1, -2], "b": ["=1", None], "c": ["-5", "x"], "@d": ["@", "+"]})
    assert count_formulas(frame) == {"cells": 5, "columns": ["=x", "b", "@d"]}


@given(st.lists(SIGNS))
@settings(deadline=None)
def test_escaping_leaves_no_formula_and_can_be_undone(words: list[str]) -> None:
    escaped = escape_words(words)
    assert not find_formulas(pl.Series(escaped, dtype=pl.String)).any()
    assert unescape_words(escaped) == words
    assert len(set(escaped)) == len(set(words))


@pytest.mark.parametrize("form", ["csv", "tsv"])
@given(cells=st.lists(st.one_of(st.none(), SIGNS), min_size=1), name=SIGNS.filter(lambda text: text == text.strip()))
@settings(deadline=None)
def test_an_escaped_file_reads_back_exactly(
    form: str, cells: list[str | None], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    frame = pl.DataFrame({name or "x": pl.Series(cells, dtype=pl.String), "number": range(len(cells))})
    table = sf.Table.of(frame, dict.fromkeys(frame.columns, "insensitive"))
    shape, path = find_shape(table), tmp_path_factory.getbasetemp() / f"escaped.{form}"
    shape.write(table, path, form, escape=True)
    body = shape.describe_file(table, form, escape=True)
    read = shape.read(path, {**body, "data": {**body["data"], "format": form}})
    assert read.frame.rows() == frame.rows()
    assert read.frame.columns == frame.columns
    text = describe_text_format(form, body["data"]["missing_mark"], ("number",), ())
    assert count_formulas(read_frame(path, text)) == {"cells": 0, "columns": []}


def write_people(tmp_path: Path, form: str, *, escape: bool) -> Path:
    """People whose notes, codes and column names look like formulas; escaped ones are among them already."""
    notes = ["=cmd()", "'=cmd()", "''=x", "-5", "+3.2", "-x", "@a", '"=q', "", "'plain", "x", "-1-1"]
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "=note", "-number", "job"])
        for row in range(60):
            writer.writerow([30 + row % 2, notes[row % 12], -row, "=A1" if row % 3 else "clerk"])
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[data]\npath = "people.csv"\n[roles]\nquasi_identifying = ["age"]\n'
        'insensitive = ["=note", "-number"]\nsensitive = ["job"]\n'
        '[accept]\n"=note" = "invented"\n"-number" = "invented"\n'
        '[[protect]]\nmethod = "generalize"\nmodels = [{ model = "k_anonymity", k = 5 }]\n'
        f'[output]\npath = "out"\nformat = "{form}"\nescape_formulas = {str(escape).lower()}\n'
    )
    return policy


def raw_cells(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_run_counts_escapes_and_verifies(tmp_path: Path, form: str) -> None:
    result = sf.run(sf.Policy.read(write_people(tmp_path, form, escape=True)))
    body = result.certificate.body
    # Five of twelve notes and 40 jobs look like formulas, and two names.
    assert body["formulas"] == {"cells": 5 * 5 + 40 + 2, "columns": ["=note", "-number", "job"]}
    assert body["data"]["escaped_formulas"] is True
    cells = raw_cells(tmp_path / "out" / "release" / f"data.{form}")
    assert cells[0] == ["age", "'=note", "'-number", "job"]
    assert [row[1] for row in cells[1:13]] == [
        "'=cmd()",
        "''=cmd()",
        "'''=x",
        "-5",
        "+3.2",
        "'-x",
        "'@a",
        "'\"=q",
        body["data"]["missing_mark"],
        "'plain",
        "x",
        "'-1-1",
    ]
    assert sf.verify(tmp_path / "out").holds
    read = read_release(tmp_path / "out").data.frame
    original = sf.Table.read(tmp_path / "people.csv").frame
    assert read["=note"].to_list() == original["=note"].to_list()
    assert read["-number"].to_list() == original["-number"].to_list()
    other = read_other(tmp_path / "out", sf.Table.read(tmp_path / "people.csv"))
    assert other.frame["=note"].to_list() == original["=note"].to_list()


def test_without_the_option_cells_stay_and_are_counted(tmp_path: Path) -> None:
    result = sf.run(sf.Policy.read(write_people(tmp_path, "csv", escape=False)))
    assert result.certificate.body["formulas"]["cells"] == 67
    assert result.as_json()["formulas"] == result.certificate.body["formulas"]
    assert result.certificate.body["data"]["escaped_formulas"] is False
    assert raw_cells(tmp_path / "out" / "release" / "data.csv")[1][1] == "=cmd()"
    report = (tmp_path / "out" / "release" / "report.html").read_text()
    assert "67 cells look like a formula, in =note, -number, job" in report
    sentence = describe_formulas(result.certificate.body)
    assert sentence.startswith("67 cells look like a spreadsheet formula")
    assert sentence.endswith("set escape_formulas = true under [output].")


def test_a_file_without_formulas_gets_no_word_on_the_terminal() -> None:
    assert describe_formulas({"formulas": {"cells": 0, "columns": []}, "data": {}}) == ""
    sentence = describe_formulas({"formulas": {"cells": 1, "columns": ["\r\x1b"]}, "data": {"escaped_formulas": True}})
    assert sentence == '1 cell looks like a spreadsheet formula, in "\\r\\u001b": each is prefixed with an apostrophe.'
    arrow = describe_formulas({"formulas": {"cells": 2, "columns": ["a"]}, "data": {"format": "arrow"}})
    assert "this format keeps them as they are" in arrow


@pytest.mark.parametrize(("form", "escaped"), [("long", True), ("spmf", False)])
def test_items_of_baskets_are_escaped_in_the_long_form(tmp_path: Path, form: str, escaped: bool) -> None:
    baskets = [["=cmd()", "bread"], ["'=cmd()", "bread"], ["=cmd()", "-5"]] * 20
    sf.Baskets.of(baskets).write(tmp_path / "shop.csv")
    (tmp_path / "policy.toml").write_text(
        '[data]\npath = "shop.csv"\n[[protect]]\nmethod = "hide_items"\nitems = ["-5"]\nmin_support = 0.1\n'
        f'min_confidence = 0.6\n[output]\npath = "out"\nformat = "{form}"\nescape_formulas = true\n'
    )
    result = sf.run(sf.Policy.read(tmp_path / "policy.toml"))
    body: Any = json.loads((tmp_path / "out" / "release" / "certificate.json").read_text())
    assert body["formulas"] == {"cells": 40, "columns": ["item"]}
    assert body["data"]["escaped_formulas"] is escaped
    text = next((tmp_path / "out" / "release").glob("data.*")).read_text()
    assert ("''=cmd()" in text) is escaped
    assert result.published
    assert sf.verify(tmp_path / "out").holds
    assert {"=cmd()", "'=cmd()"} <= set(read_release(tmp_path / "out").data.items)


def test_verify_refuses_another_count(tmp_path: Path) -> None:
    from sfumato.workflow.signing.signature import load_signing_key, sign_certificate

    sf.run(sf.Policy.read(write_people(tmp_path, "csv", escape=True)))
    path = tmp_path / "out" / "release" / "certificate.json"
    body = json.loads(path.read_text())
    body = {name: value for name, value in body.items() if name not in ("signer", "signature")}
    body["formulas"] = {"cells": 0, "columns": []}
    path.write_bytes(sign_certificate(body, load_signing_key()))
    assert sf.verify(tmp_path / "out").problems == ("the certificate's count of formulas differs from the data file's",)
