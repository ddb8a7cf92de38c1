# SPDX-License-Identifier: MIT
"""A written release is read back in parts, and any difference is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import ClaimBroken
from sfumato.workflow.shapes import read_back as module
from sfumato.workflow.shapes.file_shapes import TableShape
from sfumato.workflow.shapes.read_back import read_back, reads_back_exactly

FRAME = pl.DataFrame(
    {
        "code": ["007", "a,b", 'c"d', None, " e ", "1.50"] * 40,
        "count": [1, 2, None, -4, 5, 6] * 40,
        "share": [0.1, None, 1e300, -2.5, 3.0, 1 / 3] * 40,
    }
)


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGE", 1)
    monkeypatch.setattr(module, "PART", 256)


def _write(frame: pl.DataFrame, folder: Path, form: str = "csv") -> tuple[sf.Table, Path, dict[str, Any]]:
    table, shape = sf.Table.of(frame, roles=dict.fromkeys(frame.columns, "insensitive")), TableShape()
    path = folder / shape.name_file(form)
    shape.write(table, path, form)
    body = shape.describe_file(table, form)
    return table, path, {**body, "data": {**body["data"], "format": form}}


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_table_that_reads_back_is_held_once(tmp_path: Path, form: str) -> None:
    table, path, body = _write(FRAME, tmp_path, form)
    assert reads_back_exactly(table.frame, path, body["data"])
    assert read_back(TableShape(), table, path, body) is table


@pytest.mark.parametrize(
    ("before", "after"),
    [("007", "008"), ("007", "7"), ("\n ", "\n"), ("-4,", "-5,"), ("2.5", "2.6"), ("1.50", "1.5")],
)
def test_one_other_cell_at_the_end_is_found(tmp_path: Path, before: str, after: str) -> None:
    table, path, body = _write(FRAME, tmp_path)
    begin, _, end = path.read_text().rpartition(before)
    path.write_text(begin + after + end)
    assert not reads_back_exactly(table.frame, path, body["data"])
    with pytest.raises(ClaimBroken, match="does not read back"):
        read_back(TableShape(), table, path, body)


@pytest.mark.parametrize("lines", [-1, 1])
def test_a_row_too_few_or_too_many_is_found(tmp_path: Path, lines: int) -> None:
    table, path, body = _write(FRAME, tmp_path)
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(text[:-1] if lines < 0 else [*text, text[-1]]))
    assert not reads_back_exactly(table.frame, path, body["data"])
    with pytest.raises(ClaimBroken):
        read_back(TableShape(), table, path, body)


def test_other_names_and_ragged_rows_are_found(tmp_path: Path) -> None:
    table, path, body = _write(FRAME, tmp_path)
    text = path.read_text()
    path.write_text(text.replace("share", "shares", 1))
    assert not reads_back_exactly(table.frame, path, body["data"])
    path.write_text(text + "1,2\n")
    assert not reads_back_exactly(table.frame, path, body["data"])


def test_cells_longer_than_a_part_are_read_whole(tmp_path: Path) -> None:
    table, path, body = _write(pl.DataFrame({"text": ["x" * 5_000, "y"]}), tmp_path)
    assert read_back(TableShape(), table, path, body).frame.equals(table.frame)


def test_types_that_text_does_not_show_are_read_whole(tmp_path: Path) -> None:
    table, path, body = _write(FRAME.with_columns(pl.lit(True).alias("flag")), tmp_path)
    assert not reads_back_exactly(table.frame, path, body["data"])
    assert read_back(TableShape(), table, path, body).frame.equals(table.frame)


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize("least", [2**53 + 1, -(2**63), 2**63 - 4])
def test_whole_numbers_keep_all_their_digits(tmp_path: Path, form: str, least: int) -> None:
    """A float holds them only up to 2^53."""
    numbers = pl.Series("card", [least, least + 1, None, least + 3] * 60, dtype=pl.Int64)
    table, path, body = _write(numbers.to_frame().with_columns(pl.lit("x").alias("word")), tmp_path, form)
    assert reads_back_exactly(table.frame, path, body["data"])
    body["roles"], body["missing"] = {"card": "insensitive", "word": "insensitive"}, "own_value"
    assert TableShape().read(path, body).frame["card"].equals(numbers)
