# SPDX-License-Identifier: MIT
"""SPSS, Stata and SAS files: labels and missing codes are understood, and written only for published cells."""

from __future__ import annotations

import datetime as dt
import pickle
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pyreadstat
import pytest

import sfumato as sf
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.column_labels import ColumnLabels, choose_written_labels
from sfumato.data.reading.table_reader import read_frame, read_labelled
from sfumato.data.writing.table_writer import Format, write_frame
from sfumato.errors import DataError
from tests.data.foreign_files import PEOPLE, write_survey

CANARY = "ZZSECRETZZ"
FORMATS: tuple[tuple[Format, str], ...] = (("spss", "sav"), ("stata", "dta"))
parametrize_formats = pytest.mark.parametrize(("form", "ending"), FORMATS)


@parametrize_formats
def test_codes_are_read_as_their_words(form: Format, ending: str, tmp_path: Path) -> None:
    read = read_labelled(write_survey(tmp_path / f"survey.{ending}"))
    assert read.frame["sex"].to_list() == ["male", "female", "female", "refused"]
    assert read.frame["score"].to_list() == [1, 7, 3, 5], "words for some of the codes only: codes"
    assert read.frame["income"].to_list() == ([100, None, 300, None] if form == "spss" else [100, -9, 300, -8])
    assert read.frame["code"].to_list() == ["a", None, "b", "a"]
    assert read.labels["sex"].title == "Sex of the person"
    assert read.labels["score"].values == {1: "worst"}


def test_a_mark_makes_codes_missing(tmp_path: Path) -> None:
    table = sf.Table.read(write_survey(tmp_path / "survey.dta"), missing_marks=["-9", "-8", "refused"])
    assert table.frame["income"].to_list() == [100, None, 300, None]


def test_sas_files_are_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"ZIP": ["02139", "10001"], "AGE": [31.0, 42.5], "DAY": [dt.date(2020, 1, 31), None]})
    pyreadstat.write_xport(frame, str(tmp_path / "people.xpt"))
    read = read_frame(tmp_path / "people.xpt")
    assert read.rows() == [("02139", 31.0, dt.date(2020, 1, 31)), ("10001", 42.5, None)]
    (tmp_path / "cut.sas7bdat").write_bytes(
        bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011") + bytes(800)
    )
    with pytest.raises(DataError, match=r"cut.sas7bdat: a SAS file that is damaged"):
        read_frame(tmp_path / "cut.sas7bdat")


HARD = PEOPLE.with_columns(
    far=pl.Series([2**53 - 1, -(2**40), None]),
    third=pl.Series([1 / 3, 1e-300, -2.5e200]),
    small=pl.Series([0.1, 0.2, None], dtype=pl.Float32),
    wide=pl.Series(["x" * 2044, " é🙂", None]),
    never=pl.Series([None, None, None], dtype=pl.String),
    old=pl.Series([dt.date(1583, 1, 1), dt.date(9999, 12, 31), None]),
)


@parametrize_formats
def test_every_cell_reads_back(form: Format, ending: str, tmp_path: Path) -> None:
    write_frame(HARD, tmp_path / f"data.{ending}", form)
    frame = read_frame(tmp_path / f"data.{ending}")
    for name in HARD.columns:
        assert spell_cells(frame[name]).to_list() == spell_cells(HARD[name]).to_list(), name
    assert frame.select(PEOPLE.columns).schema == PEOPLE.schema


@parametrize_formats
def test_labels_of_published_cells_are_kept_and_no_others(form: Format, ending: str, tmp_path: Path) -> None:
    table = sf.Table.read(write_survey(tmp_path / f"survey.{ending}"))
    published = table.replace_frame(table.frame.filter(pl.col("sex") != "refused"))
    write_frame(published.frame, tmp_path / f"out.{ending}", form, labels=published.labels)
    raw = (tmp_path / f"out.{ending}").read_bytes()
    assert not any(word in raw for word in (b"refused", b"never chosen"))
    read = pyreadstat.read_sav if form == "spss" else pyreadstat.read_dta
    frame, metadata = read(str(tmp_path / f"out.{ending}"), output_format="polars")
    assert frame["sex"].to_list() == [1, 2, 2]
    assert metadata.variable_value_labels == {"sex": {1: "male", 2: "female"}, "score": {1: "worst"}}
    assert metadata.column_names_to_labels["sex"] == "Sex of the person"
    assert read_frame(tmp_path / f"out.{ending}").equals(published.frame)


@parametrize_formats
def test_files_hold_no_time_and_are_the_same_each_time(form: Format, ending: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_frame(PEOPLE, tmp_path / f"{name}.{ending}", form)
    raw = (tmp_path / f"one.{ending}").read_bytes()
    assert raw == (tmp_path / f"two.{ending}").read_bytes()
    assert (b"01 Jan 7000:00:00" if form == "spss" else b"\x1101 Jan 1970 00:00<") in raw
    assert str(dt.date.today().year).encode() not in raw


def test_published_labels_follow_the_cells() -> None:
    labels = ColumnLabels("Sex", MappingProxyType({1: "male", 2: "female", 3: "other"}))
    words = choose_written_labels(pl.Series(["male", None, "female"]), labels)
    assert (words.cells.to_list(), words.values) == ([1, None, 2], {1: "male", 2: "female"})
    starred = choose_written_labels(pl.Series(["male", "*"]), labels)
    assert (starred.cells.to_list(), starred.values) == (["male", "*"], {})
    codes = choose_written_labels(pl.Series([1, 7]), labels)
    assert (codes.cells.to_list(), codes.values) == ([1, 7], {1: "male"})
    all_named = choose_written_labels(pl.Series([1, 2]), labels)
    assert all_named.values == {}, "a reader would take these numbers for words"
    repeated_labels = ColumnLabels(None, MappingProxyType({1: "other", 2: "other"}))
    assert choose_written_labels(pl.Series(["other"]), repeated_labels).cells.to_list() == ["other"]


def test_a_released_table_is_pickled_without_labels(tmp_path: Path) -> None:
    table = sf.Table.read(write_survey(tmp_path / "survey.sav"))
    assert b"never chosen" in pickle.dumps(table)
    assert pickle.loads(pickle.dumps(table)).labels == table.labels
    assert b"never chosen" not in pickle.dumps(table.to_release())


BAD = {
    "marital-status": (pl.Series([1]), "spss", 'called "marital-status"'),
    "2nd": (pl.Series([1]), "stata", 'called "2nd"'),
    "a_name_that_is_longer_than_32_letters": (pl.Series([1]), "stata", "called"),
    "long": (pl.Series([1]), "stata", "called"),
    "by": (pl.Series([1]), "spss", "called"),
    "wide": (pl.Series([CANARY * 300]), "stata", "1 text is longer than 2,044"),
    "ends": (pl.Series([f"{CANARY} "]), "spss", "1 text ends in a blank"),
    "empty": (pl.Series([""]), "stata", "1 text is empty"),
    "early": (pl.Series([dt.date(1500, 1, 1)]), "spss", "1 date is before 1583"),
    "far": (pl.Series([2**53]), "stata", "1 whole number has"),
    "nul": (pl.Series(["a\0b"]), "spss", "1 text holds a NUL"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_a_format_cannot_hold_is_refused(name: str, tmp_path: Path) -> None:
    cells, form, words = BAD[name]
    with pytest.raises(DataError, match=words) as refusal:
        write_frame(cells.alias(name).to_frame(), tmp_path / "data", form)  # type: ignore[arg-type]
    assert CANARY not in str(refusal.value)
    assert f'"{name}"' in str(refusal.value)
    assert not (tmp_path / "data").exists()


def test_a_missing_library_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_survey(tmp_path / "survey.sav")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r'an SPSS file needs .* pip install "\.\[statistics\]"'):
        read_frame(path)
    with pytest.raises(DataError, match=r'writing a Stata file needs .* pip install "\.\[statistics\]"'):
        write_frame(PEOPLE, tmp_path / "data", "stata")
