# SPDX-License-Identifier: MIT
"""The whole way with files of other programs: read, protect, write, verify, compare; labels of hidden cells stay."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest
from typer.testing import CliRunner

from sfumato.cli.commands import app
from sfumato.data.writing.table_writer import write_frame
from sfumato.errors import DataError
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import read_release, verify
from tests.contract.canaries import bytes_of_file, leaked

HIDDEN = "zqhiddenwordzq"
POLICY = """\
[data]
path = "survey.sav"
[roles]
identifying = ["name"]
quasi_identifying = ["region"]
sensitive = ["answer"]
insensitive = ["zip", "alive"]
[[protect]]
method = "generalize"
models = [{{ model = "k_anonymity", k = 3 }}]
suppression_limit = 0.2
suppressed_rows = "drop"
[accept]
zip = "invented"
[output]
path = "{form}"
format = "{form}"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A survey in which one person alone lives in a region, and a region where nobody lives."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {
            "name": [f"person {n}" for n in range(21)],
            "region": [1 + n % 2 for n in range(20)] + [7],
            "answer": [n % 3 for n in range(20)] + [9],
            "zip": [f"{n % 4 + 1}0001" for n in range(21)],
            "alive": [n % 2 for n in range(21)],
        }
    )
    labels: dict[str, Any] = {
        "region": {1: "north", 2: "south", 7: HIDDEN, 8: f"{HIDDEN} too"},
        "answer": {0: "no", 1: "yes", 2: "perhaps", 9: HIDDEN},
        "alive": {0: "false", 1: "true"},
    }
    titles: dict[str, str | None] = {"region": "Where they live", "name": HIDDEN}
    pyreadstat.write_sav(frame, "survey.sav", column_labels=titles, variable_value_labels=labels)
    return tmp_path


@pytest.mark.parametrize("form", ["spss", "stata"])
def test_labels_go_along_and_those_of_hidden_cells_do_not(form: str, folder: Path) -> None:
    result = run_policy(Policy.parse(POLICY.format(form=form), folder / "policy.toml"))
    assert result.published
    assert verify(folder / form).holds
    for path in sorted((folder / form / "release").iterdir()):
        assert leaked([HIDDEN], bytes_of_file(path)) == [], path.name
    read = pyreadstat.read_sav if form == "spss" else pyreadstat.read_dta
    _, metadata = read(str(next((folder / form / "release").glob("data.*"))))
    assert metadata.variable_value_labels["region"] == {1: "north", 2: "south"}
    assert metadata.variable_value_labels["answer"] == {0: "no", 1: "yes", 2: "perhaps"}
    assert metadata.column_names_to_labels["region"] == "Where they live"
    published = read_release(folder / form).data.frame
    assert published["alive"].dtype == pl.Boolean
    assert set(published["region"]) == {"north", "south"}
    assert published["zip"].dtype == pl.String, "the file declares it as text"


def test_a_format_that_cannot_hold_a_column_is_refused_before_work(folder: Path) -> None:
    text = POLICY.format(form="stata").replace("survey.sav", "odd.csv").replace('"zip"', '"zip code"')
    (folder / "odd.csv").write_text("name,region,answer,zip code,alive\n" + "a,1,x,1,0\n" * 9)
    with pytest.raises(DataError, match=r'a Stata file cannot have columns called "zip code".*columns'):
        run_policy(Policy.parse(text.replace("\nzip =", '\n"zip code" ='), folder / "policy.toml"))
    assert not (folder / "stata").exists()


PEOPLE = pl.DataFrame({"zip": ["02139", "10001"] * 10, "age": [20 + n % 5 for n in range(20)]})


def write_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE people (zip TEXT, age INTEGER)")
        database.executemany("INSERT INTO people VALUES (?, ?)", PEOPLE.rows())


SOURCES: dict[str, Callable[[Path], Any]] = {
    "people.xlsx": lambda path: write_frame(PEOPLE, path, "excel"),
    "people.dta": lambda path: write_frame(PEOPLE, path, "stata"),
    "people.jsonl": PEOPLE.write_ndjson,
    "people.db": write_sqlite,
}


@pytest.mark.parametrize("name", SOURCES)
def test_commands_read_every_format(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    SOURCES[name](tmp_path / name)
    source = "sqlite:///people.db?table=people" if name == "people.db" else name
    measured = CliRunner().invoke(app, ["measure", source, "--quasi", "zip,age", "--json"])
    assert measured.exit_code == 0, measured.output
    assert json.loads(measured.output)["anonymity"]["k"] == 2


def test_mining_comma_lines_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("Item 1,Item 2\nwhole milk,bread\nwhole milk,\n")
    for options in ([], ["--format", "comma", "--header"]):
        mined = CliRunner().invoke(app, ["mine", str(tmp_path / "shop.csv"), "--min-support", "2", "--json", *options])
        assert json.loads(mined.output)["rows"] == [{"items": ["whole milk"], "support": 2}]
