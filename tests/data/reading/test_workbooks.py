# SPDX-License-Identifier: MIT
"""Workbooks: sheets that other programs wrote are read with their types, and ours hold the cells and nothing else."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.table_reader import read_frame
from sfumato.data.writing.excel_writer import name_column
from sfumato.data.writing.table_writer import write_frame
from sfumato.errors import DataError
from tests.data.foreign_files import PEOPLE, write_workbook

CANARY = "ZZSECRETZZ"
ROWS: list[list[Any]] = [
    ["zip", "age", "day", "moment", "alive", "mixed", "", "gap"],
    ["02139", 31, dt.date(2020, 1, 31), dt.datetime(2020, 1, 1, 12), True, 1, "x", None],
    [None, None, None, None, None, None, None, None],
    ["?", 42.0, dt.date(1950, 2, 1), dt.datetime(2020, 1, 2), False, "one", "y", None],
    ["10001", 4.5, None, None, None, 2.5, "#N/A", None],
]


def test_a_sheet_keeps_its_types(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "people.bin", {"People": ROWS, "Empty": []})
    frame = read_frame(path)
    assert frame.schema == {
        "zip": pl.String, "age": pl.Float64, "day": pl.Date, "moment": pl.Datetime("ms"), "alive": pl.Boolean,
        "mixed": pl.String, "column_6": pl.String, "gap": pl.String,
    }  # fmt: skip
    assert frame["zip"].to_list() == ["02139", None, "10001"]
    assert frame["day"].to_list() == [dt.date(2020, 1, 31), dt.date(1950, 2, 1), None]
    assert frame["mixed"].to_list() == ["1", "one", "2.5"]
    assert frame["column_6"].to_list() == ["x", "y", None], "an error is a missing cell"


def test_one_of_several_sheets_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_workbook(tmp_path / "two.xlsx", {"Old": [["a"], [1]], "New ones": [["b"], [2]]})
    assert read_frame("two.xlsx?sheet=New ones").rows() == [(2,)]
    with pytest.raises(DataError, match=r'2 sheets: "Old", "New ones"; name one, such as two.xlsx\?sheet=Old'):
        read_frame("two.xlsx")
    with pytest.raises(DataError, match="no such sheet"):
        read_frame("two.xlsx?sheet=Newer")
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="only a workbook"):
        read_frame("a.csv?sheet=Old")


def test_headers(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "twice.xlsx", {"S": [["a", "a"], [1, 2]]})
    with pytest.raises(DataError, match="columns 1 and 2 have the same name"):
        read_frame(path)
    table = sf.Table.read(path, header=False, columns=["x", "y"])
    assert table.frame.rows() == [("a", "a"), ("1", "2")]
    with pytest.raises(DataError, match="no rows"):
        sf.Table.read(write_workbook(tmp_path / "head.xlsx", {"S": [["a", "b"]]}))


def test_what_is_no_workbook_is_named(tmp_path: Path) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("people.csv", f"a\n{CANARY}\n")
    whole = write_workbook(tmp_path / "whole.xlsx", {"S": [["a"], [CANARY]]}).read_bytes()
    cases = {
        "archive.zip": (archive.getvalue(), "an archive"),
        "word.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "an Office document|damaged"),
        "cut.xlsx": (whole[: len(whole) // 2], "an Excel file that is damaged"),
    }
    for name, (content, words) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=f"{name}: .*({words})") as refusal:
            read_frame(tmp_path / name)
        assert CANARY not in str(refusal.value)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_frame(pl.DataFrame({"a": [0] * 200_000}), tmp_path / "bomb.xlsx", "excel")
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", "1M")
    with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT"):
        read_frame(tmp_path / "bomb.xlsx")


HARD = pl.DataFrame(
    {
        "text": ["=1+1", "a\r\nb\t_x000D_ & <c>", " blanks ", None, "\x01\x1f🙂", "@x"],
        "whole": [2**53 - 1, -5, 0, None, 7, 1],
        "real": [0.1, 1 / 3, 1e-300, None, -2.5e200, 1.0],
        "small": pl.Series([0.1, 0.2, None, 3, 4, 5], dtype=pl.Float32),
        "truth": [True, False, None, True, True, True],
        "day": [dt.date(1900, 3, 1), dt.date(9999, 12, 31), None, dt.date(2000, 2, 29), *[dt.date(1970, 1, 1)] * 2],
        "=name": ["1", "2", "3", "4", "5", "6"],
    }
)


def test_every_cell_reads_back(tmp_path: Path) -> None:
    write_frame(HARD, tmp_path / "data.xlsx", "excel")
    frame = read_frame(tmp_path / "data.xlsx")
    for name in HARD.columns:
        assert spell_cells(frame[name]).to_list() == spell_cells(HARD[name]).to_list(), name
    assert [frame.schema[name] for name in ("truth", "day", "=name")] == [pl.Boolean(), pl.Date(), pl.String()]


def test_no_cell_is_a_formula_and_no_property_tells_anything(tmp_path: Path) -> None:
    write_frame(HARD, tmp_path / "data.xlsx", "excel")
    sheet = openpyxl.load_workbook(tmp_path / "data.xlsx").active
    assert sheet is not None
    assert (sheet["A2"].value, sheet["A2"].data_type, sheet["A2"].number_format) == ("=1+1", "s", "@")
    assert sheet["G1"].data_type == "s"
    with zipfile.ZipFile(tmp_path / "data.xlsx") as archive:
        assert {part.date_time for part in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert not any("docProps" in part or "shared" in part for part in archive.namelist())
        assert b"<f" not in archive.read("xl/worksheets/sheet1.xml")
    write_frame(HARD, tmp_path / "again.xlsx", "excel")
    assert (tmp_path / "again.xlsx").read_bytes() == (tmp_path / "data.xlsx").read_bytes()


BAD = {
    "early": (pl.Series([dt.date(1899, 1, 1)]), "1 date is before 1900-03-01"),
    "digits": (pl.Series([2**53, -(2**63)]), "2 whole numbers have too many digits"),
    "endless": (pl.Series([float("inf")]), "1 number is infinite"),
    "long": (pl.Series([CANARY * 4000]), "1 text is longer"),
    "empty": (pl.Series(["", "a"]), "1 text is empty"),
    " blank": (pl.Series([1]), 'called " blank"'),
}


@pytest.mark.parametrize("name", BAD)
def test_what_a_workbook_cannot_hold_is_refused(name: str, tmp_path: Path) -> None:
    cells, words = BAD[name]
    with pytest.raises(DataError, match=words) as refusal:
        write_frame(cells.alias(name).to_frame(), tmp_path / "data.xlsx", "excel")
    assert CANARY not in str(refusal.value)
    assert f'"{name}"' in str(refusal.value)
    assert not (tmp_path / "data.xlsx").exists()


def test_rows_without_cells_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 row in which every cell is missing"):
        write_frame(pl.DataFrame({"a": [1, None]}), tmp_path / "data.xlsx", "excel")


def test_letters_of_columns() -> None:
    assert [name_column(n) for n in (0, 25, 26, 701, 702, 16_383)] == ["A", "Z", "AA", "ZZ", "AAA", "XFD"]


def test_people_come_back(tmp_path: Path) -> None:
    write_frame(PEOPLE, tmp_path / "p.xlsx", "excel")
    assert read_frame(tmp_path / "p.xlsx").equals(PEOPLE)
