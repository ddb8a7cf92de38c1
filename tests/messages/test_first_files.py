# SPDX-License-Identifier: MIT
"""Files that a new user brings, and the sentence that `sfumato init` says about each; never a cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import CANARY, Invoke

HEAD = ("name", "age", "born", "salary")
PARTED = "read as a single column, but seems to hold several; "


def write_rows(separator: str, preface: str = "", head: tuple[str, ...] = HEAD, amount: str = "000.50") -> str:
    rows = [
        (f"{CANARY}{i}", str(20 + i % 30), f"{1 + i % 12}/{1 + i % 28}/1970", f"{i + 1}{amount}") for i in range(24)
    ]
    return preface + "".join(separator.join(row) + "\n" for row in (head, *rows))


LATIN = write_rows(";").replace("name", "año").encode("latin-1")
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "report.pdf": (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", "this is a PDF document, not a table; export the table as CSV"),
    "photo.csv": (b"\x89PNG\r\n\x1a\n", "this is a picture, not a table"),
    "frame.pkl": (b"\x80\x04\x95", "this is a Python pickle, which is never opened, not a table"),
    "page.csv": ("<!DOCTYPE html><html><table>", "this is a web page, not a table"),
    "feed.xml": ('<?xml version="1.0"?><a/>', "this is an XML file, not a table"),
    "caret.csv": (write_rows("^"), f'{PARTED}give its separator: --separator "^"'),
    "blanks.txt": (write_rows("   "), f"{PARTED}save it as CSV"),
    "title.csv": (write_rows(",", "Report\n"), "the first line has 1 cell, and 25 lines have 4; remove what is above"),
    "files.zip": (b"PK\x03\x04zzz", "an archive, or a damaged workbook; unpack an archive first"),
    "two_bytes.csv": (write_rows(";").encode("utf-16-le"), "name the encoding: utf-16-le"),
    "latin.csv": (LATIN, "name the file's encoding (latin-1, cp1252, utf-16, …) with --encoding"),
}
NOTED: dict[str, tuple[str, str]] = {
    "comma.csv": (
        write_rows(";", amount=".000,50"),
        'Numbers have a decimal comma (decimal = ","), and are published as 1.5.',
    ),
    "slashes.csv": (write_rows(";"), 'Read as dates, and published as 2009-06-30: "born".'),
    "ambiguous.csv": (
        "born,sex\n" + "".join(f"{1 + i % 12}/{1 + i % 11}/1970,{'fm'[i % 2]}\n" for i in range(24)),
        '"born" looks like dates in a spelling that is read as words, without an order',
    ),
    "visits.csv": (
        "patient_id,age\n" + "".join(f"{1000 + i % 12},{20 + i % 12}\n" for i in range(60)),
        'Values of "patient_id" repeat. If a person has several rows, k counts rows and not people',
    ),
    "trips.csv": (
        "walk,x,y,t\n" + "".join(f"{i % 4},{i * 7},{i * 3},{i}\n" for i in range(60)),
        'The rows look like points of trips ("x", "y", "t"), and here each point counts as a person',
    ),
    "walks.txt": (
        "".join(" -1 ".join(str(1 + (i * 7 + n * n) % 23) for n in range(12)) + " -1 -2\n" for i in range(23)),
        "100 % of the sequences differ from all others, and they have 12 steps on average",
    ),
    "unnamed.csv": (write_rows(";", head=("name", "", "", "")), "3 of 4 columns have no name. If a title is above"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_gets_a_sentence(name: str, folder: Path, invoke: Invoke) -> None:
    content, sentence = REFUSED[name]
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = invoke("init", name, "--yes")
    assert ran.code == 2
    assert ran.err.startswith(f"sfumato: {name}: ") and ran.err.count("\n") == 1
    assert sentence in ran.err
    assert not (folder / "policy.toml").exists()


@pytest.mark.parametrize("name", NOTED)
def test_what_is_read_otherwise_than_meant_is_noted(name: str, folder: Path, invoke: Invoke) -> None:
    content, sentence = NOTED[name]
    (folder / name).write_text(content)
    ran = invoke("init", name, "--yes")
    assert ran.code == 0, ran.err
    assert sentence in ran.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "write"),
    [
        (("--separator", "^"), lambda: write_rows("^")),
        (("--separator", ","), lambda: "town:job\n" + "Rome:cook\nOslo:nurse\nBern:smith\n" * 9),
    ],
)
def test_a_separator_that_is_given_is_believed(
    words: tuple[str, ...], write: Callable[[], str], folder: Path, invoke: Invoke
) -> None:
    (folder / "odd.csv").write_text(write())
    assert invoke("init", "odd.csv", "--yes", *words).code == 0


def test_a_link_to_nothing_is_named(folder: Path, invoke: Invoke) -> None:
    (folder / "people.csv").symlink_to("nowhere.csv")
    assert (
        "people.csv: the file does not exist; it is a link to a file that is not there"
        in invoke("init", "people.csv").err
    )


def write_workbook(path: Path, rows: list[list[object]]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


PATIENTS: list[list[object]] = [[f"{CANARY}{i}", 1950 + i % 40, "fm"[i % 2]] for i in range(24)]


@pytest.mark.parametrize("title_row", [["Person", None, "Facts"], ["Export of 2024", None, None]])
def test_names_below_a_title_of_a_workbook_are_no_row(title_row: list[object], folder: Path, invoke: Invoke) -> None:
    write_workbook(folder / "people.xlsx", [title_row, ["name", "born", "sex"], *PATIENTS])
    ran = invoke("init", "people.xlsx", "--yes")
    assert ran.code == 2
    assert "columns have no name, and the row below seems to name them; remove what is above it" in ran.err
    write_workbook(folder / "plain.xlsx", [["name", None, "sex"], *PATIENTS])
    assert invoke("init", "plain.xlsx", "--yes").code == 0, "one name is missing, and no row looks like names"


def test_formulas_without_values_are_noted(folder: Path, invoke: Invoke) -> None:
    rows = [[*row, f"=B{number}*2"] for number, row in enumerate(PATIENTS, 2)]
    write_workbook(folder / "people.xlsx", [["name", "born", "sex", "double"], *rows])
    assert '"double" has no value in any row. If formulas' in invoke("init", "people.xlsx", "--yes").output


@pytest.mark.parametrize("name", ["people.xlsx", "people.jsonl"])
def test_marks_are_noticed_in_files_with_types(name: str, folder: Path, invoke: Invoke) -> None:
    rows: list[list[object]] = [[i % 7, -99 if i % 5 == 0 else 1000 + i] for i in range(40)]
    if name.endswith("xlsx"):
        write_workbook(folder / name, [["group", "income"], *rows])
    else:
        (folder / name).write_text("".join(f'{{"group": {group}, "income": {other}}}\n' for group, other in rows))
    assert "8 cells in 1 column may mean missing" in invoke("init", name, "--yes").output
    assert '"-99"  in "income" (8 rows)' in (folder / "policy.toml").read_text()
    assert invoke("init", name, "--yes", "--missing-mark=-99", "--out", "marked.toml").code == 0
    assert 'missing_marks = ["", "?", "-99"]' in (folder / "marked.toml").read_text()


BASKETS = [["milk", "rolls"], ["milk"], ["beer", "milk", "rolls"], ["rolls"]] * 30


@pytest.mark.parametrize("separator", [",", ";"])
def test_lines_of_items_are_baskets_under_any_separator(separator: str, folder: Path, invoke: Invoke) -> None:
    (folder / "sales.csv").write_text("".join(separator.join(basket) + "\n" for basket in BASKETS))
    assert invoke("init", "sales.csv", "--yes").code == 0
    assert "publish_patterns" in (folder / "policy.toml").read_text()
    ran = invoke("audit", "sales.csv")
    assert ran.code == 2 and "baskets, which have no columns to audit" in ran.err


def test_a_header_that_numbers_items_is_one_of_baskets(folder: Path, invoke: Invoke) -> None:
    rows = [[str(len(basket)), *basket, *[""] * (3 - len(basket))] for basket in BASKETS]
    text = "".join(",".join(row) + "\n" for row in [["Item(s)", "Item 1", "Item 2", "Item 3"], *rows])
    (folder / "sales.csv").write_text(text)
    assert invoke("init", "sales.csv", "--yes").code == 0
    assert "publish_patterns" in (folder / "policy.toml").read_text()
