# SPDX-License-Identifier: MIT
"""Two tables that differ in one hidden cell give the same release: its spelling does not tell what the cell was.

The hidden cell is of a dropped or blanked row, a private entry, or grouped with others. It may be the one that says
which number of 3/4/1970 is the month, the only word, the only time of day, the only decimal.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import openpyxl
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import ClaimBroken, DataError
from sfumato.workflow.policy import Policy

PEOPLE = 60
HIDDEN = 7
"""The row with the hidden cell."""
DROP: dict[str, Any] = {
    "method": "generalize",
    "models": [{"model": "k_anonymity", "k": 3}],
    "suppression_limit": 0.1,
    "suppressed_rows": "drop",
}
HIDING: dict[str, dict[str, Any]] = {
    "drop": DROP,
    "blank": DROP | {"suppressed_rows": "blank"},
    "entries": {
        "method": "suppress_entries",
        "private": [{"columns": ["v"], "where": {"ask": "yes"}}],
        "confidence": 0.99,
        "min_support": 2,
        "search": "grades",
    },
}
BY_THE_RUN = ("created", "input_commitment", "signature", "signer")
Row = dict[str, Any]


class Case(NamedTuple):
    """Published cells, which take turns, and two hidden ones."""

    cells: tuple[Any, ...]
    hidden: Any
    other: Any
    data: Mapping[str, Any] = MappingProxyType({})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True)
def _plain_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are drawn in half of the time of a run, and are not compared here."""
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<html></html>")


def people(cells: Sequence[Any], hidden_cell: Any) -> list[Row]:
    """Rows of people, of whom one has a job of their own and a hidden cell."""
    return [
        {
            "sex": "mf"[n // 3 % 2],
            "job": "smith" if n == HIDDEN else "abc"[n // 6 % 3],
            "v": hidden_cell if n == HIDDEN else cells[n % len(cells)],
            "ask": "yes" if n == HIDDEN else "no",
        }
        for n in range(PEOPLE)
    ]


def write_csv(rows: list[Row], path: Path) -> None:
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    path.write_text("\n".join(";".join(map(str, line)) for line in lines))


def write_json(rows: list[Row], path: Path) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows))


def write_excel(rows: list[Row], path: Path) -> None:
    book = openpyxl.Workbook()
    assert book.active is not None
    for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
        book.active.append(row)
    book.save(path)


def write_parquet(rows: list[Row], path: Path) -> None:
    pl.DataFrame(rows).write_parquet(path)


def run(path: Path, method: dict[str, Any], form: str, **data: Any) -> Path:
    policy = {
        "data": {"path": str(path), **data},
        "roles": {"identifying": ["ask"], "quasi_identifying": ["sex", "job"], "sensitive": ["v"]},
        "protect": [method],
        "measure": {"queries": 0},
        "output": {"format": form},
    }
    return sf.run(Policy.model_validate(policy), path.parent / "out", sf.Randomness.seeded(1)).out / "release"


def leaving(release: Path) -> tuple[bytes, dict[str, Any]]:
    """The bytes of the data file, and the certificate without what differs in each run."""
    body = json.loads((release / "certificate.json").read_text())
    stable_facts = {name: value for name, value in body.items() if name not in BY_THE_RUN}
    stable_facts["files"].pop("report.html")
    return (release / body["data"]["file"]).read_bytes(), stable_facts


def released(folder: Path, write: Callable[[list[Row], Path], None], case: Case, **how: Any) -> list[Any]:
    """What leaves of the two tables."""
    outputs = []
    for number, hidden_cell in enumerate((case.hidden, case.other)):
        path = folder / str(number) / "people"
        path.parent.mkdir(parents=True)
        write(people(case.cells, hidden_cell), path)
        outputs.append(leaving(run(path, how["method"], how["form"], **case.data, **how.get("data", {}))))
    return outputs


def column(output: Any) -> set[str]:
    """The cells of a written CSV file."""
    return set(pl.read_csv(output[0], infer_schema=False)["v"].drop_nulls())


TEXTS: dict[str, Case] = {
    "order of day and month": Case(("3/4/1970", "5/6/1971"), "3/4/1970", "3/14/1970"),
    "word among dates": Case(("3/14/1970", "5/26/1971"), "3/14/1970", "unknown"),
    "word among months": Case(("Mar 1970", "May 1971"), "Mar 1970", "unknown"),
    "unpadded day": Case(("30.06.2009", "12.07.2009"), "13.08.2009", "3.8.2009"),
    "word among 1.50": Case(("1.50", "2.25"), "3.5", "word"),
    "word among 1.0": Case(("1.0", "2.0"), "3.5", "word"),
    "word among 1e3": Case(("1e3", "2e3"), "3.0", "word"),
    "word among -0": Case(("-0", "1.5"), "3.0", "word"),
    "long decimal": Case(("1.50", "2.25"), "3.5", "3.1111111111111111"),
    "word with decimal commas": Case(("2,25", "1.234,50"), "3,5", "word", {"decimal": ","}),
}
PUBLISHED = {
    "order of day and month": {"3/4/1970", "5/6/1971"},
    "word among dates": {"1970-03-14", "1971-05-26"},
    "word among months": {"1970-03", "1971-05"},
    "unpadded day": {"30.06.2009", "12.07.2009"},
    "word among 1.50": {"1.5", "2.25"},
    "word among 1.0": {"1", "2"},
    "word among 1e3": {"1000", "2000"},
    "word among -0": {"0", "1.5"},
    "long decimal": {"1.5", "2.25"},
    "word with decimal commas": {"2.25", "1234.5"},
}


FEW = ("order of day and month", "word among dates", "word among 1.0", "word among 1.50")


@pytest.mark.parametrize(
    ("hiding", "name"),
    [*(("drop", name) for name in TEXTS), *((hiding, name) for hiding in ("blank", "entries") for name in FEW)],
)
def test_text(tmp_path: Path, name: str, hiding: str) -> None:
    first, second = released(tmp_path, write_csv, TEXTS[name], method=HIDING[hiding], form="csv")
    assert first == second
    if hiding == "drop":
        assert column(first) == PUBLISHED[name]


@pytest.mark.parametrize("form", ["parquet", "excel"])
@pytest.mark.parametrize("name", FEW)
def test_other_formats_of_the_release(tmp_path: Path, name: str, form: str) -> None:
    first, second = released(tmp_path, write_csv, TEXTS[name], method=HIDING["blank"], form=form)
    assert first == second


def test_a_grouped_word_among_months(tmp_path: Path) -> None:
    method = {"method": "group_rare_values", "columns": ["v"], "min_count": 5}
    case = Case(("Mar 1970", "May 1971"), "Jun 1970", "unknown")
    first, second = released(tmp_path, write_csv, case, method=method, form="csv")
    assert first == second
    assert column(first) == {"1970-03", "other"}


GROUP = {"method": "group_rare_values", "columns": ["v"], "min_count": 5}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_words_that_are_counted_apart_are_published_apart(tmp_path: Path, form: str) -> None:
    """1.0 and 1 are two words of a column that a word made text, also if that word and one of the two are hidden."""
    outputs = []
    for rare_cells in (["1"] * 4 + ["x"] * 3, ["3"] * 4 + ["2.0"] * 2 + ["y"]):
        path = tmp_path / rare_cells[0] / "codes"
        path.parent.mkdir()
        cells = ["1.0"] * 12 + ["2"] * 12 + rare_cells
        write_csv([{"v": cell, "sex": "mf"[n % 2], "job": "a", "ask": "no"} for n, cell in enumerate(cells)], path)
        release = run(path, GROUP, form)
        outputs.append(leaving(release))
        read_text = pl.read_parquet if form == "parquet" else pl.read_csv
        assert set(read_text(release / f"data.{form}")["v"]) == {"1.0", "2", "other"}
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_claim_that_one_spelling_breaks_says_the_cure(tmp_path: Path, engine: str) -> None:
    """1.0 and 1 are one number once the only word is gone; then everybody of a job has the same."""
    models = [{"model": "l_diversity", "column": "v", "l": 2, "kind": "distinct"}]
    method = {**DROP, "models": models}
    rows = [{"sex": "m", "job": "a", "v": ("1.0", "1")[n % 2], "ask": "no"} for n in range(PEOPLE)]
    rows.append({"sex": "f", "job": "smith", "v": "word", "ask": "no"})
    write_csv(rows, tmp_path / "people")
    with pytest.raises(ClaimBroken, match=r'in "v", .* write each in one way.* or keep words as text in Parquet'):
        run(tmp_path / "people", method, "parquet", engine=engine)
    write_parquet(rows, tmp_path / "people.parquet")
    release = run(tmp_path / "people.parquet", method, "parquet", engine=engine)
    assert set(pl.read_parquet(release / "data.parquet")["v"]) == {"1", "1.0"}


def test_a_claim_that_two_spellings_break_says_the_cure(tmp_path: Path) -> None:
    """Without 3/14/1970 nobody knows what 3/4/1970 is: it is published as written, and so is 03/04/1970."""
    method = {**DROP, "models": [{"model": "k_anonymity", "k": 5}]}
    days = ["3/4/1970"] * 30 + ["03/04/1970"] * 3 + ["3/14/1970"]
    write_csv([{"sex": "m", "job": day, "v": "x", "ask": "no"} for day in days], tmp_path / "people")
    with pytest.raises(ClaimBroken, match=r'in "job", .* state the form of dates under \[data\]'):
        run(tmp_path / "people", method, "csv")
    release = run(tmp_path / "people", method, "csv", dates={"job": "%m/%d/%Y"})
    assert set(pl.read_csv(release / "data.csv", infer_schema=False)["job"]) == {"1970-03-04"}


def test_whether_somebody_was_dropped_is_not_told_by_the_type(tmp_path: Path) -> None:
    rows = people(("1.0", "2.0"), "1.0")
    numbers = []
    for name, remaining_rows in (("all", rows), ("but one", [row for row in rows if row["ask"] == "no"])):
        (tmp_path / name).mkdir()
        write_csv(remaining_rows, tmp_path / name / "people")
        numbers.append(leaving(run(tmp_path / name / "people", DROP, "parquet"))[1]["data"]["integers"])
    assert numbers == [["v"], ["v"]]


STORED_TEXTS = ("1.0", "2.0")
"""JSON and workbooks say that these are no numbers."""


@pytest.mark.parametrize("write", [write_json, write_excel], ids=["json", "excel"])
@pytest.mark.parametrize("name", ["nobody is left out", "nothing is emptied"])
def test_texts_that_look_like_numbers_do_not_tell_whether_anything_was_hidden(
    tmp_path: Path, name: str, write: Callable[[list[Row], Path], None]
) -> None:
    """A column that was published whole stayed "1.0", and became 1 where a cell of a suppressed person was hidden."""
    rows = people(STORED_TEXTS, "1.0")
    is_left_out = name == "nobody is left out"
    other_rows = [row for row in rows if row["ask"] == "no"] if is_left_out else people(STORED_TEXTS, None)
    method = HIDING["drop" if is_left_out else "blank"]
    outputs = []
    for number, people_rows in enumerate((rows, other_rows)):
        (tmp_path / str(number)).mkdir()
        write(people_rows, tmp_path / str(number) / "people")
        outputs.append(leaving(run(tmp_path / str(number) / "people", method, "csv")))
    assert outputs[0][1]["data"]["numbers"] == outputs[1][1]["data"]["numbers"]
    assert column(outputs[0]) == column(outputs[1])
    assert is_left_out or outputs[0] == outputs[1]


DAYS = (dt.datetime(2020, 1, 5), dt.datetime(2021, 3, 4))
TIMES = (dt.datetime(2020, 1, 5, 10, 30), dt.datetime(2021, 3, 4, 11, 0))
SHEETS: dict[str, Case] = {
    "time of day among dates": Case(DAYS, DAYS[0], TIMES[0]),
    "word among dates": Case(DAYS, DAYS[0], "unknown"),
    "number among dates": Case(DAYS, DAYS[0], 5),
    "word among moments": Case(TIMES, TIMES[0], "unknown"),
    "word among times": Case((dt.time(10, 30), dt.time(11)), dt.time(11), "unknown"),
    "number among truth values": Case((True, False), True, 5),
    "word among truth values": Case((True, False), True, "unknown"),
    "word among decimals": Case((1.5, 2.0), 2.0, "unknown"),
}


@pytest.mark.parametrize(("hiding", "form"), [("drop", "parquet"), ("entries", "csv")])
@pytest.mark.parametrize("name", list(SHEETS))
def test_workbooks(tmp_path: Path, name: str, hiding: str, form: str) -> None:
    first, second = released(tmp_path, write_excel, SHEETS[name], method=HIDING[hiding], form=form)
    assert first == second


def test_truth_values_beside_numbers_stay_truth_values(tmp_path: Path) -> None:
    write_excel(people((True, False), 5), tmp_path / "people.xlsx")
    assert set(sf.Table.read(tmp_path / "people.xlsx").frame["v"]) == {"true", "false", "5"}


@pytest.mark.parametrize(
    "case", [Case((True, False), True, "unknown"), Case((1.5, 2.0), 2.0, "unknown"), TEXTS["word among dates"]]
)
def test_json(tmp_path: Path, case: Case) -> None:
    first, second = released(tmp_path, write_json, case, method=DROP, form="parquet")
    assert first == second


@pytest.mark.parametrize("name", ["order of day and month", "word among dates", "word among 1.50"])
def test_text_in_parquet(tmp_path: Path, name: str) -> None:
    """Its columns are declared as text, so that numbers stay text; dates are looked for all the same."""
    first, second = released(tmp_path, write_parquet, TEXTS[name], method=DROP, form="parquet")
    assert first == second


def test_declared_dates_are_published_as_such(tmp_path: Path) -> None:
    case = TEXTS["order of day and month"]._replace(data={"dates": {"v": "%m/%d/%Y"}})
    first, second = released(tmp_path, write_csv, case, method=DROP, form="csv")
    assert first == second
    assert column(first) == {"1970-03-04", "1971-05-06"}


@pytest.mark.parametrize("other", ["41.5", "41"])
@pytest.mark.parametrize("form", ["csv", "parquet", "excel"])
def test_a_step_alone_tells_whether_rounded_numbers_are_whole(tmp_path: Path, form: str, other: str) -> None:
    method = {"method": "round_numbers", "columns": ["v"], "step": 5}
    first, second = released(tmp_path, write_csv, Case(("23", "38"), "42", other), method=method, form=form)
    assert first == second
    assert first[1]["data"]["integers"] == ["v"]


@pytest.mark.parametrize("hiding", ["drop", "entries"])
@pytest.mark.parametrize("name", ["word among 1.50", "word among 1.0", "word with decimal commas"])
def test_numbers_that_stay_in_files(tmp_path: Path, name: str, hiding: str) -> None:
    how = {"method": HIDING[hiding], "form": "parquet", "data": {"engine": "duckdb"}}
    first, second = released(tmp_path, write_csv, TEXTS[name], **how)
    assert first == second


@pytest.mark.parametrize("cell", ["3/14/1970", "unknown"])
def test_dates_that_stay_in_files_have_to_be_declared(tmp_path: Path, cell: str) -> None:
    write_csv(people(("3/14/1970", "5/26/1971"), cell), tmp_path / "people")
    with pytest.raises(DataError, match=r'dates = \{ "v" = "%m/%d/%Y" \}') as error_info:
        run(tmp_path / "people", DROP, "parquet", engine="duckdb")
    assert "1970" not in str(error_info.value)


def test_private_entries_are_looked_for_in_the_published_spelling(tmp_path: Path) -> None:
    """Everybody of one job has one value, so that a rule predicts the entry, if both are spelled alike."""
    rows = people(("1.50", "2.25"), "1.50")
    for row in rows:
        row["v"] = "1.50" if row["job"] in ("a", "smith") else "2.25"
    rows[HIDDEN] = {"sex": "m", "job": "a", "v": "1.50", "ask": "yes"}
    rows[0]["v"] = "word"
    rows[0]["ask"] = "yes"
    write_csv(rows, tmp_path / "people")
    policy = {
        "data": {"path": str(tmp_path / "people")},
        "roles": {"identifying": ["ask"], "quasi_identifying": ["sex", "job"], "sensitive": ["v"]},
        "protect": [HIDING["entries"]],
        "measure": {"queries": 0},
    }
    result = sf.run(Policy.model_validate(policy), tmp_path / "out", sf.Randomness.seeded(1))
    hidden_entries = result.release.details["hidden"]
    assert set(hidden_entries["value"]) == {"1.5", "word"}
    assert result.release.data.frame["v"].dtype == pl.Float64
