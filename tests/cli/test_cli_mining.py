# SPDX-License-Identifier: MIT
"""`sfumato mine` and `attack`, as a person and as a script would run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("sfumato"))


def ran(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SFUMATO_HOME": str(tmp_path / "home"), "SFUMATO_DATA": str(tmp_path / "none")}
    return subprocess.run(
        [COMMAND, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    (tmp_path / "b.dat").write_text("1 2 3\n1 2\n1 3\n2 3\n")
    return tmp_path / "b.dat"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = "".join(f"{'xy'[n % 2]},{'pq'[n % 2]},{n % 3}\n" for n in range(12))
    (tmp_path / "t.csv").write_text("a,b,c\n" + rows)
    (tmp_path / "cells.csv").write_text("row,column\n0,b\n")
    return tmp_path / "t.csv"


def test_itemsets_for_a_script_and_a_file(tmp_path: Path, baskets: Path) -> None:
    result = ran(tmp_path, "mine", "b.dat", "--min-support", "2", "--json", "--out", "found.txt")
    assert result.returncode == 0, result.stderr
    supports = {tuple(row["items"]): row["support"] for row in json.loads(result.stdout)["rows"]}
    assert supports == {(1,): 3, (2,): 3, (3,): 3, (1, 2): 2, (1, 3): 2, (2, 3): 2}
    assert "1 2 #SUP: 2" in (tmp_path / "found.txt").read_text()


def test_rules_of_private_entries_are_written(tmp_path: Path, table: Path) -> None:
    result = ran(tmp_path, "mine", "t.csv", "--private", "cells.csv", "--min-support", "1", "--out", "rules.csv")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "rules.csv").read_text().startswith("antecedent,column,value,support")


def test_long_form_with_columns_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("who,what\na,x\na,y\nb,x\n")
    result = ran(tmp_path, "mine", "l.csv", "--id", "who", "--item", "what", "--min-support", "2", "--json")
    assert json.loads(result.stdout)["rows"] == [{"items": ["x"], "support": 2}]


def test_rules_for_a_person(tmp_path: Path, baskets: Path) -> None:
    result = ran(tmp_path, "mine", "b.dat", "--min-support", "0.5", "--rules", "--min-confidence", "0.6")
    assert result.returncode == 0
    assert "6 found." in result.stdout
    assert "confidence" in result.stdout


@pytest.mark.parametrize(("private", "count"), [("cells.csv", 2), ("columns=b", 0)])
def test_rules_that_tell_private_entries(tmp_path: Path, table: Path, private: str, count: int) -> None:
    result = ran(
        tmp_path, "mine", "t.csv", "--private", private, "--min-confidence", "0.8", "--min-support", "1", "--json"
    )
    assert result.returncode == 0, result.stdout
    assert json.loads(result.stdout)["count"] == count


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine", "none.dat"), "none.dat"),
        (("mine", "b.dat", "--min-support", "few"), "--min-support must be a count"),
        (("mine", "b.dat", "--min-support", "0"), "at least 1 row"),
        (("mine", "b.dat", "--kind", "some"), "kind must be"),
        (("mine", "t.csv", "--private", "share=much"), "share="),
        (("attack", "nowhere", "p.toml"), "p.toml"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path, baskets: Path, table: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = ran(tmp_path, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_subsequences_of_a_file_that_is_recognized(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("1 -1 2 -1 3 -1 -2\n1 -1 3 -1 -2\n")
    result = ran(tmp_path, "mine", "s.txt", "--min-support", "2", "--json", "--out", "found.txt")
    assert result.returncode == 0, result.stderr
    supports = {tuple(row["pattern"]): row["support"] for row in json.loads(result.stdout)["rows"]}
    assert supports == {(1,): 2, (3,): 2, (1, 3): 2}
    assert "1 -1 3 -1 #SUP: 2" in (tmp_path / "found.txt").read_text()
    adjacent = ran(tmp_path, "mine", "s.txt", "--min-support", "2", "--max-gap", "0", "--kind", "closed", "--json")
    assert json.loads(adjacent.stdout)["count"] == 2
    refusal = ran(tmp_path, "mine", "s.txt", "--rules")
    assert refusal.returncode == 2 and "holds sequences" in refusal.stderr


def test_subsequences_of_itemsets_in_a_long_form(tmp_path: Path) -> None:
    rows = "a,1,x\na,1,y\na,2,z\nb,1,x\nb,1,y\nb,5,z\n"
    (tmp_path / "l.csv").write_text("who,when,what\n" + rows)
    columns = ("--id", "who", "--item", "what", "--time", "when")
    result = ran(tmp_path, "mine", "l.csv", "--sequences", *columns, "--min-support", "2", "--kind", "maximal")
    assert result.returncode == 0, result.stderr
    assert "{x, y}, {z}" in result.stdout
