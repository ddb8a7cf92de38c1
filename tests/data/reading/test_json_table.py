# SPDX-License-Identifier: MIT
"""JSON lines and lists of objects: types as JSON states them, and sentences for everything else."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.reading.table_reader import read_frame
from sfumato.errors import DataError

CANARY = "ZZSECRETZZ"
ROWS = [
    {"zip": "02139", "age": 31, "height": 1.5, "alive": True, "mixed": 1},
    {"zip": "10001", "age": None, "height": 2, "alive": None, "mixed": "x"},
    {"zip": "?", "age": 42, "height": 1e3, "alive": False, "late": "now"},
]


@pytest.mark.parametrize("whole", [True, False])
def test_types_are_those_of_json(whole: bool, tmp_path: Path) -> None:
    text = json.dumps(ROWS, indent=1) if whole else "\n".join(map(json.dumps, ROWS)) + "\n\n"
    (tmp_path / "people.csv").write_text(text)  # the name does not matter
    frame = read_frame(tmp_path / "people.csv")
    assert frame.schema == {
        "zip": pl.String, "age": pl.Int64, "height": pl.Float64, "alive": pl.Boolean, "mixed": pl.String,
        "late": pl.String,
    }  # fmt: skip
    assert frame["zip"].to_list() == ["02139", "10001", None]
    assert frame["mixed"].to_list() == ["1", "x", None]
    assert frame["late"].to_list() == [None, None, "now"]


def test_no_digit_is_lost(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 12345678901234567890123}\n{"n": 1}\n')
    assert read_frame(tmp_path / "a.jsonl")["n"].to_list() == ["12345678901234567890123", "1"]


BAD = {
    "not JSON": ('{"a": 1}\n{"a": ' + CANARY + "}\n", "line 2 is not valid JSON"),
    "a list inside": ('{"a": 1}\n{"a": ["' + CANARY + '"]}\n', "line 2 holds lists"),
    "no object": ('{"a": 1}\n"' + CANARY + '"\n', "line 2 is not a JSON object"),
    "a key twice": ('{"a": 1, "a": "' + CANARY + '"}\n', "line 1 names a key twice"),
    "nothing": ("[]", "no rows"),
    "deep": ('{"a": 1}\n' + "[" * 100_000 + "\n", "line 2 is not valid JSON"),
    "half a letter": ('{"a": "\\ud800"}\n', "not valid Unicode"),
    "many columns": ("{" + ",".join(f'"c{i}": 1' for i in range(20_001)) + "}", "20,000"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_get_a_sentence(name: str, tmp_path: Path) -> None:
    text, words = BAD[name]
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(DataError, match=words) as refusal:
        read_frame(tmp_path / "bad.json")
    assert "bad.json" in str(refusal.value)
    assert CANARY not in str(refusal.value)


def test_short_lines_of_many_missing_cells_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", "1M")
    (tmp_path / "bomb.json").write_text("{" + ",".join(f'"c{i}": 1' for i in range(1000)) + "}\n" + "{}\n" * 2000)
    with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT"):
        read_frame(tmp_path / "bomb.json")


def test_a_text_file_that_begins_with_a_brace_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("{a},b\n1,2\n")
    assert read_frame(tmp_path / "a.csv").columns == ["{a}", "b"]


def test_baskets_and_missing_marks(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(
        '{"id": 1, "item": "bread"}\n{"id": 1, "item": "milk"}\n{"id": 2, "item": "milk"}\n'
    )
    assert sf.Baskets.read(tmp_path / "b.jsonl").to_lists() == [["bread", "milk"], ["milk"]]
    (tmp_path / "c.jsonl").write_text('{"a": -1, "b": "unknown"}\n{"a": 5, "b": "x"}\n')
    table = sf.Table.read(tmp_path / "c.jsonl", missing_marks=["unknown", "-1"])
    assert table.frame.rows() == [(None, None), (5, "x")]
