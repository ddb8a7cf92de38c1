# SPDX-License-Identifier: MIT
"""Damaged workbooks, statistics files and databases: read, or refused with the name of the file; never a crash."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl
import pytest

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.table_reader import read_frame
from sfumato.data.writing.table_writer import Format, write_frame
from sfumato.errors import DataError
from sfumato.table import Table
from tests.data.foreign_files import write_survey
from tests.faults.binary_harness import damage

CANARY = "ZZSECRETZZ"
FRAME = pl.DataFrame(
    {"text": [f"{CANARY}{n % 7}" for n in range(60)], "n": range(60), "x": [n / 3 for n in range(60)]}
).with_columns(day=pl.col("n").cast(pl.Date), truth=pl.col("n") % 2 == 0)
KINDS: dict[str, Format] = {"a.xlsx": "excel", "a.dta": "stata", "a.sav": "spss"}


def make_seeds(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name, form in KINDS.items():
        write_frame(FRAME, folder / name, form)
        yield name, (folder / name).read_bytes()
    for name in ("s.sav", "s.dta"):
        yield name, write_survey(folder / name).read_bytes()
    with closing(sqlite3.connect(folder / "a.db")) as database, database:
        database.execute("CREATE TABLE t (a TEXT, b REAL)")
        database.executemany("INSERT INTO t VALUES (?, ?)", FRAME.select("text", "x").rows())
    yield "a.db", (folder / "a.db").read_bytes()
    with duckdb.connect(folder / "a.duckdb") as base:
        base.execute("CREATE TABLE t AS SELECT 'ZZSECRETZZ' || i AS a, i AS b FROM range(60) r(i)")
    yield "a.duckdb", (folder / "a.duckdb").read_bytes()


def read_damaged(folder: Path, file_count: int, seed: int) -> list[bool]:
    """For each damaged file, whether it was read."""
    chance = random.Random(seed)
    outcomes = []
    for position, (name, content) in enumerate(list(make_seeds(folder))):
        path = folder / f"damaged_{name}"
        for number in range(file_count):
            cut = content[: chance.randrange(16, len(content))]
            path.write_bytes(cut if (position + number) % 3 == 0 else damage(chance, content))
            try:
                frame = Table.of(read_frame(path)).frame
                [spell_cells(column).str.len_bytes().sum() for column in frame.get_columns()]
                outcomes.append(True)
            except DataError as error:
                assert CANARY not in str(error)
                outcomes.append(False)
    return outcomes


def test_damaged_foreign_files(tmp_path: Path) -> None:
    outcomes = read_damaged(tmp_path, 1, seed=1)
    assert len(outcomes) == 7
    assert not all(outcomes)


@pytest.mark.slow
def test_hundreds_of_damaged_foreign_files(tmp_path: Path) -> None:
    outcomes = read_damaged(tmp_path, 60, seed=2)
    assert len(set(outcomes)) == 2
