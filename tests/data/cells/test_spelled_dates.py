# SPDX-License-Identifier: MIT
"""Dates in the spellings of other countries: read by a stated form, and published as ranges."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.cells.spelled_dates import find_date_form, read_dates
from tests.command_line import Invoke

DAYS = [dt.date(1950, 1, 1) + dt.timedelta(days=331 * i) for i in range(60)]


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%d %B %Y", "%b %d, %Y", "%d.%m.%Y %H:%M"])
def test_the_only_form_that_fits_is_found(form: str) -> None:
    texts = pl.Series("born", [None, *(dt.datetime.combine(day, dt.time(9, 30)).strftime(form) for day in DAYS)])
    date_form = find_date_form(texts)
    assert date_form is not None
    read = read_dates(pl.DataFrame([texts]), {"born": date_form}, "people")["born"]
    assert read.cast(pl.String).str.slice(0, 10).to_list() == [None, *map(str, DAYS)]


@pytest.mark.parametrize(
    "cells",
    [
        ["03/04/1970", "05/06/1971"],  # which is the day?
        ["1970-04-03", "1971-06-05"],  # read without a form
        ["03.04.1970", "05.06.1971"],
        ["03/14/1970", "unknown"],
        ["03/14/0070", "03/15/0071"],
        ["12345", "23456"],
        [None, None],
        [],
    ],
)
def test_nothing_is_guessed(cells: list[str | None]) -> None:
    assert find_date_form(pl.Series("born", cells, dtype=pl.String)) is None


def test_a_drafted_policy_publishes_ranges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    rows = (f"{day:%m/%d/%Y},{'fm'[i % 2]}\n" for i, day in enumerate(DAYS))
    (tmp_path / "people.csv").write_text("birth_date,sex\n" + "".join(rows))
    assert 'published as 2009-06-30: "birth_date"' in invoke("init", "people.csv", "--yes").output
    assert 'dates = { birth_date = "%m/%d/%Y" }' in (tmp_path / "policy.toml").read_text()
    release = sf.run("policy.toml").release
    day = r"\d{4}-\d{2}-\d{2}"
    cells = release.data.frame["birth_date"].to_list()
    assert all(re.fullmatch(rf"\[{day}, {day}\]", cell) for cell in cells)
    for cell, birth_day in zip(cells, DAYS, strict=True):
        low, high = map(dt.date.fromisoformat, cell.strip("[]").split(", "))
        assert low <= birth_day <= high


def test_a_form_that_does_not_fit_is_refused() -> None:
    frame = pl.DataFrame({"born": ["03/14/1970", "13/14/1970", "SECRET"]})
    with pytest.raises(sf.DataError, match='in "born", 2 cells are not dates of the form %m/%d/%Y') as error:
        read_dates(frame, {"born": "%m/%d/%Y"}, "people.csv")
    assert "SECRET" not in str(error.value)
    with pytest.raises(sf.DataError, match=r'"brn".*did you mean "born"'):
        read_dates(frame, {"brn": "%m/%d/%Y"}, "people.csv")


@pytest.mark.parametrize("date_forms", [{"born": "%m/%d/%Y"}, {}], ids=["stated", "found"])
@pytest.mark.parametrize("method", ["partition", "generalize"])
def test_duckdb_reads_the_same_dates(tmp_path: Path, date_forms: dict[str, str], method: str) -> None:
    lines = [f"{day:%m/%d/%Y},{14 + i % 2} Mar 2001,{'' if i % 9 else 'unclear'}\n" for i, day in enumerate(DAYS)]
    (tmp_path / "1.csv").write_text("born,seen,note\n" + "".join(lines[:20]))
    (tmp_path / "2.csv").write_text("born,seen,note\n" + "".join(lines[20:]))
    years = {"born": {"kind": "date", "units": ["decade"]}} if date_forms and method == "generalize" else {}

    def protect(engine: str) -> pl.DataFrame:
        data_fields = {"path": f"{tmp_path}/*.csv", "dates": date_forms, "engine": engine}
        models = [{"model": "k_anonymity", "k": 10}]
        policy = {
            "data": data_fields,
            "roles": {"quasi_identifying": ["born"], "insensitive": ["seen", "note"]},
            "hierarchies": years,
            "protect": [{"method": method, "models": models}],
            "output": {"format": "parquet"},
        }
        result = sf.run(sf.Policy.model_validate(policy), tmp_path / engine)
        return pl.read_parquet(result.out / "release" / "data.parquet")

    memory, stored = protect("memory"), protect("duckdb")
    assert memory.equals(stored)
    assert memory["seen"].dtype == pl.Date
    if method == "partition":
        assert memory["born"].str.contains(r"^\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]$").all()
