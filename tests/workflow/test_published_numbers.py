# SPDX-License-Identifier: MIT
"""What a certificate says of the cells of a text file may not make equal what its readers see as different."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.workflow.policy import Policy
from tests.faults.test_tampering import body_of, resign, set_in


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def publish(folder: Path, column: pl.Series, **output: bool) -> Path:
    """A release of which every row equals another one."""
    people = pl.DataFrame({"known": column, "ill": ["flu", "cold"] * (len(column) // 2)})
    roles = {"known": "quasi_identifying", "ill": "sensitive"}
    policy = {
        "protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 4}]}],
        "output": output,
    }
    out: Path = sf.run(sf.Table.of(people, roles), policy, out=folder / "out").out
    assert sf.verify(out).problems == ()
    return out


def replace_first_cell(out: Path, cell: str) -> None:
    path = out / "release" / "data.csv"
    header, row, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, f"{cell},{row.partition(',')[2]}", *rows]) + "\n")


@pytest.mark.parametrize("cell", ["07", "+7", "7.0", "7e0", "seven"])
def test_a_number_has_one_spelling_and_a_word_is_no_missing_one(tmp_path: Path, cell: str) -> None:
    """Somebody alone with "07" among sevens was certified as one of four, since both were read as numbers."""
    out = publish(tmp_path, pl.Series([7] * 8))
    replace_first_cell(out, cell)
    resign(out, lambda body: None)
    assert any("declared as numbers" in problem for problem in sf.verify(out).problems)


def test_large_numbers_that_one_float_holds_are_different(tmp_path: Path) -> None:
    out = publish(tmp_path, pl.Series([2**53] * 8))
    replace_first_cell(out, str(2**53 + 1))
    resign(out, set_in("data", "integers", value=[]))
    assert any("declared as numbers" in problem for problem in sf.verify(out).problems)


def test_a_formula_without_its_apostrophe_is_no_escaped_one(tmp_path: Path) -> None:
    """In a file of escaped formulas, =1+1 was read like '=1+1."""
    out = publish(tmp_path, pl.Series(["=1+1"] * 8), escape_formulas=True)
    assert body_of(out)["data"]["escaped_formulas"]
    replace_first_cell(out, "=1+1")
    resign(out, lambda body: None)
    assert any("said to be escaped" in problem for problem in sf.verify(out).problems)


def test_numbers_of_all_kinds_have_one_spelling(tmp_path: Path) -> None:
    numbers = [0.0, -0.0, 0.1, 0.1 + 0.2, 1e-300, 1e300, -2.5, 2.0**70, 1e16, 123456789.123456789] * 4
    publish(tmp_path, pl.Series(numbers))
    publish(tmp_path / "missing", pl.Series([None, *numbers[:3]] * 4, dtype=pl.Float64))
    publish(tmp_path / "whole", pl.Series([2**64 - 1, 0, 5, None] * 4, dtype=pl.UInt64))


@pytest.mark.parametrize("texts", [("1000", "1e3"), ("1", "1.0"), ("true", "True")])
def test_texts_of_json_that_read_as_one_number_stay_two_values(tmp_path: Path, texts: tuple[str, str]) -> None:
    """JSON says that "1000" and "1e3" are texts: records that differ in them are not alike, in the release neither."""
    rows = [
        {"code": texts[row % 2], "age": 20 + row % 10, "ill": ("flu", "cold", "cough")[row % 3]} for row in range(30)
    ]
    path = tmp_path / "people.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    policy = {
        "data": {"path": str(path)},
        "roles": {"quasi_identifying": ["code", "age"], "sensitive": ["ill"]},
        "protect": [{"method": "swap_confidential", "column": "ill", "share": 0.5}],
    }
    result = sf.run(Policy.model_validate(policy), out=tmp_path / "out")
    assert all(finding.holds for finding in result.findings)
    assert sf.verify(tmp_path / "out").problems == ()
    frame = pl.read_csv(tmp_path / "out" / "release" / "data.csv", infer_schema=False)
    assert frame["code"].to_list() == [row["code"] for row in rows]
