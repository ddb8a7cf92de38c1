# SPDX-License-Identifier: MIT
"""A table of a PostgreSQL server by duckdb: the cells, the order, the release and the commitment of memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.reading.source import parse_source
from sfumato.data.reading.text_table import TextFormat
from sfumato.engine import server_copy
from sfumato.engine.staging import open_stored_rows
from sfumato.errors import DataError
from sfumato.table import Table
from sfumato.workflow.audit import audit
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import show_input
from tests.data.postgres_server import PASSWORD, find_programs, run_server
from tests.data.reading.test_databases import with_password

POLICY = """
[data]
path = "{path}"
missing_marks = ["", "?"]
[roles]
identifying = ["name", "seen", "ratio", "none"]
quasi_identifying = ["age", "Age"]
sensitive = ["pay"]
insensitive = ["long"]
[[protect]]
method = "generalize"
models = [{{ model = "k_anonymity", k = 2 }}]
suppression_limit = 0.5
[output]
format = "parquet"
"""
ROWS = 5_000


@pytest.fixture(scope="module")
def table() -> Iterator[str]:
    """Rows in no order, updated ones at the end; more than one batch of each kind, and an empty table."""
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    import adbc_driver_postgresql.dbapi as driver

    with run_server(programs) as address:
        with driver.connect(with_password(address), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(
                'CREATE TABLE people (name text, age smallint, "Age" text, pay numeric(10, 2), seen timestamptz, '
                "ratio double precision, long numeric, none numeric)"
            )
            cursor.execute(
                "INSERT INTO people SELECT 'p' || (i * 7919 % 5000), i * 31 % 9 + 40, "
                "CASE WHEN i % 3 = 0 THEN '?' WHEN i % 3 = 1 THEN 'ä' ELSE 'b' END, i % 40 + 0.25, "
                "CASE WHEN i % 5 > 0 THEN timestamptz '2020-01-01 12:00+02' + i * interval '1 hour' END, "
                "CASE WHEN i % 11 = 0 THEN 'NaN' ELSE i / 8.0 END, 1.23456789012345678901, NULL "
                f"FROM generate_series(1, {ROWS}) i"
            )
            cursor.execute("UPDATE people SET age = 50 WHERE pay < 2")
            cursor.execute("CREATE TABLE nobody (name text)")
        yield f"{with_password(address)}?table=people"


def test_rows_are_those_of_memory(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_copy, "_ROWS", 999)
    ours = Table.read(table).frame
    theirs = pl.concat(open_stored_rows(table, TextFormat(), tmp_path).iterate_batches())
    assert theirs.schema == ours.schema
    assert theirs.equals(ours)
    assert not (tmp_path / "sent.parquet").exists()
    audits = [audit(table, ["age", "pay"], engine=engine).as_json() for engine in ("memory", "duckdb")]
    assert audits[0] == audits[1]


def test_the_release_and_the_commitment_are_those_of_memory(table: str, tmp_path: Path) -> None:
    policy = Policy.parse(POLICY.format(path=table), tmp_path / "policy.toml")
    ours, theirs = (run_policy(policy, tmp_path / engine, engine=engine) for engine in ("memory", "duckdb"))
    assert ours.published and theirs.published
    frames = [pl.read_parquet(result.out / "release" / "data.parquet") for result in (ours, theirs)]
    assert frames[0].equals(frames[1])
    assert ours.record["losses"] == theirs.record["losses"]
    opening = theirs.out / "private" / "input_opening.json"
    assert show_input(theirs.out, table, opening).input_shown
    assert show_input(theirs.out, table.replace("people", "nobody"), opening).input_shown is False
    for path in sorted(theirs.out.rglob("*")):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path.name


def test_what_cannot_be_read_is_said(table: str, tmp_path: Path) -> None:
    for address, text, words in (
        (table.replace("people", "nobody"), TextFormat(), "no rows"),
        (table.replace("people", "nowhere"), TextFormat(), 'there are "nobody", "people"'),
        (table, TextFormat(columns=("a",)), "names the columns of text files only"),
    ):
        with pytest.raises(DataError, match=words) as refusal:
            open_stored_rows(address, text, tmp_path)
        assert PASSWORD not in str(refusal.value)


def test_a_large_table_is_not_held(table: str) -> None:
    """The server sends rows some at a time."""
    from sfumato.data.reading.database import open_server_table

    with open_server_table(parse_source(table)) as opened:
        first = next(iter(opened.batches))
    assert 0 < first.num_rows <= ROWS
    assert sf.Table.read(table).frame.height == ROWS
