# SPDX-License-Identifier: MIT
"""Tables of SQLite and DuckDB files and of a real PostgreSQL server, by address; no password is ever shown."""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.reading.source import locate_source, parse_source
from sfumato.data.reading.table_reader import read_frame
from sfumato.errors import DataError, SfumatoError, hide_password
from sfumato.workflow.drafts.policy_draft import locate_data
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import show_input
from tests.data.postgres_server import PASSWORD, find_programs, run_server

CANARY = "ZZSECRETZZ"
PROGRAMS = find_programs()
POLICY = """\
[data]
path = "{path}"
[roles]
identifying = ["name"]
quasi_identifying = ["age"]
sensitive = ["pay"]
[[protect]]
method = "partition"
models = [{{ model = "k_anonymity", k = 2 }}]
[output]
path = "out"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if PROGRAMS is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    import adbc_driver_postgresql.dbapi as driver

    with run_server(PROGRAMS) as address:
        with driver.connect(with_password(address), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(
                'CREATE TABLE "People" (name text, age smallint, pay numeric(10, 2), long numeric, since date, '
                "seen timestamptz, alive boolean, zip char(7), kind uuid, ratio real)"
            )
            cursor.execute(
                f"INSERT INTO \"People\" VALUES ('{CANARY}', 31, 12.50, 1.23456789012345678901, '1950-01-31', "
                "'2020-01-01 12:00+02', true, '02139', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 0.1), "
                "('Bob', 31, 7, 2, NULL, NULL, NULL, NULL, NULL, NULL), "
                "('Cem', 45, 7, 2, NULL, NULL, false, '', NULL, 2), "
                "('Dan', 46, 9, 2, NULL, NULL, false, 'x', NULL, 2)"
            )
            cursor.execute('CREATE VIEW "pay list" AS SELECT name, age, pay FROM "People"')
        yield address


def with_password(address: str) -> str:
    return address.replace("@", f":{PASSWORD}@", 1)


def test_a_postgresql_table_keeps_its_types(server: str) -> None:
    frame = read_frame(f"{with_password(server)}?table=People")
    row = frame.row(0, named=True)
    moment = dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)
    assert (row["age"], row["pay"], row["since"], row["seen"]) == (31, 12.5, dt.date(1950, 1, 31), moment)
    assert (row["long"], row["zip"], row["alive"]) == ("1.23456789012345678901", "02139", True), "no digit is lost"
    assert frame["zip"].to_list()[1:] == [None, None, "x"]
    table = sf.Table.read(f"{with_password(server)}?table=public.People")
    assert table.frame["seen"][0] == "2020-01-01 10:00:00.000000+00:00"
    assert PASSWORD not in repr(table) + table.source
    assert sf.Table.read(f"{with_password(server)}?table=pay%20list").frame.columns == ["name", "age", "pay"]


def test_the_password_may_come_from_the_environment(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="PGPASSWORD"):
        read_frame(f"{server}?table=People")
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert read_frame(f"{server}?table=People").height == 4


def test_what_a_server_refuses_gets_a_sentence(server: str) -> None:
    good = with_password(server)
    cases = {
        f"{good}?table=people": 'there are "People", "pay list"',
        good: "name a table",
        good.replace(PASSWORD, "wrong"): "refuses this user or password",
        f"{good}x?table=People": "no such database",
        "postgresql://keeper:hidden@127.0.0.1:1/postgres?table=t": "cannot be reached",
        "postgresql://keeper:hid@den:x/y@127.0.0.1:1/postgres?table=t": "not an address",
    }
    for address, words in cases.items():
        with pytest.raises(DataError, match=words) as refusal:
            read_frame(address)
        assert not any(secret in str(refusal.value) for secret in (PASSWORD, CANARY, "hidden", "den:"))


def test_a_run_on_a_server_never_writes_the_password(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    address = f"{with_password(server)}?table=pay%20list"
    policy = Policy.parse(POLICY.format(path=address), tmp_path / "policy.toml")
    result = run_policy(policy)
    assert result.published
    for path in sorted((tmp_path / "out").rglob("*")):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path.name
    assert PASSWORD not in json.dumps(result.as_json(), default=str) + repr(policy.model_dump_json())
    opening = tmp_path / "out" / "private" / "input_opening.json"
    assert show_input(tmp_path / "out", address, opening).input_shown
    other = f"{with_password(server)}?table=People"
    assert show_input(tmp_path / "out", other, opening).input_shown is False


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("people.db")) as database, database:
        database.execute("CREATE TABLE people (id INTEGER, name TEXT, pay REAL, mixed)")
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", [(1, "Ann", 1.5, 1), (2, None, 2, CANARY)])
        database.execute("CREATE TABLE bytes (a BLOB)")
        database.execute("INSERT INTO bytes VALUES (?)", (b"\xff",))
        database.execute(
            "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT * FROM c"
        )
    with duckdb.connect("people.duckdb") as base:
        base.execute(
            "CREATE TABLE people AS SELECT '02139' AS zip, 12.50::DECIMAL(9, 2) AS pay, DATE '2020-01-31' AS day"
        )
        base.execute("CREATE VIEW files AS SELECT 1 AS a")
    return tmp_path


def test_database_files(files: Path) -> None:
    frame = read_frame("sqlite:///people.db?table=people")
    assert frame.rows() == [(1, "Ann", 1.5, "1"), (2, None, 2.0, CANARY)]
    assert read_frame(f"sqlite:///{files}/people.db?table=people").equals(frame)
    assert read_frame("duckdb:///people.duckdb?table=people").rows() == [("02139", 12.5, dt.date(2020, 1, 31))]
    assert sf.Baskets.read("sqlite:///people.db?table=people", item="mixed").ids == (1, 2)


def test_what_a_database_file_lacks_gets_a_sentence(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = bytearray((files / "people.db").read_bytes())
    damaged[100:400] = bytes(300)
    (files / "damaged.db").write_bytes(damaged)
    cases = {
        "people.db": r'"bytes", "endless", "people".*sqlite:///people.db\?table=bytes',
        "sqlite:///people.db?table=nobody": "no such table",
        "sqlite:///people.duckdb?table=people": "not an SQLite database",
        "duckdb:///nothing.duckdb?table=people": "does not exist",
        "sqlite:///people.db?tabel=people": "one option",
        "sqlite:///?table=people": "names no file",
        "damaged.db": "damaged",
    }
    for address, words in cases.items():
        with pytest.raises(DataError, match=words) as refusal:
            read_frame(address)
        assert CANARY not in str(refusal.value)
    with pytest.raises(DataError, match="bytes"):
        sf.Table.read("sqlite:///people.db?table=bytes")
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", "100K")
    with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT"):
        read_frame("sqlite:///people.db?table=endless")


def test_addresses(tmp_path: Path) -> None:
    assert parse_source("people.csv").kind == "file"
    assert parse_source("a/people.xlsx?sheet=My people").table == "My people"
    (tmp_path / "odd?sheet=1").write_text("a\n1\n")
    assert parse_source(tmp_path / "odd?sheet=1").table is None, "a file of that name comes first"
    server = parse_source("postgres://u:p@h/db?sslmode=require&table=s.t")
    assert (server.location, server.table) == ("postgresql://u:p@h/db?sslmode=require", "s.t")
    assert ":p@" not in repr(server)

    def locate(name: str) -> str:
        return f"/home/{name}" if not name.startswith("/") else name

    assert locate_source("sqlite:///a.db?table=t", locate) == "sqlite:////home/a.db?table=t"
    assert locate_source("sqlite:////x/a.db", locate) == "sqlite:////x/a.db"
    assert locate_source("a.xlsx?sheet=S", locate) == "/home/a.xlsx?sheet=S"
    assert locate_source("postgresql://h/db?table=t", locate) == "postgresql://h/db?table=t"
    for address in ("postgresql://u:p@ss:w/rd@h/db", "postgresql:/u:p@ss:w/rd@h/db", "postgresql://h/db?password=p@ss"):
        assert "ss" not in hide_password(address).replace("password", "")
    assert hide_password("/data/a:b@c.csv") == "/data/a:b@c.csv"
    for plain in ("postgresql://h:5432/db", "postgresql://[::1]:5432/db?table=t", "at postgresql://h:5432: no answer"):
        assert hide_password(plain) == plain
    assert parse_source("PostgreSQL://h/db?table=t").kind == "postgresql"
    assert parse_source("c:/people.csv").kind == "file"


def test_a_drafted_policy_holds_no_password() -> None:
    for address, location in {
        "postgresql://ann:hun@ter/2@h:5432/db?table=t": "postgresql://ann@h:5432/db?table=t",
        "postgresql://h/db?password=hunter2&table=t": "postgresql://h/db?table=t",
        "postgresql://h/db?password=hunter2": "postgresql://h/db",
        "sqlite:///people.db?table=t": "sqlite:///people.db?table=t",
    }.items():
        assert locate_data(address, Path("policy.toml")) == location


@pytest.mark.parametrize(
    "address",
    [
        "mysql://ann:hunter2@localhost/clinic",
        "postgresql+psycopg2://ann:hunter2@localhost/clinic?table=people",
        "jdbc:postgresql://localhost/clinic?user=ann&password=hunter2",
        "host=localhost user=ann password=hunter2",
        "host=localhost user=ann password='hunter2 hunter2'",
        "postgresql://ann:hunter2/clinic?table=people",
        "https://ann:hunter2@localhost/people.csv",
        "postgresql://ann:hunter2@localhost:1/clinic?table=a&table=b",
    ],
)
def test_a_mistyped_address_does_not_show_its_password(address: str) -> None:
    methods = {"protect": [{"method": "partition", "models": [{"model": "k_anonymity", "k": 2}]}]}
    policy = sf.Policy.model_validate({"data": {"path": address}, **methods})
    assert "hunter2" not in repr(policy)
    readers: list[Callable[[str], object]] = [
        sf.Table.read,
        sf.Baskets.read,
        sf.Sequences.read,
        sf.audit,
        sf.draft_policy,
    ]
    for read in readers:
        with pytest.raises(SfumatoError) as refusal:
            read(address)
        assert "hunter2" not in str(refusal.value)


def test_types_of_frames_are_plain(files: Path) -> None:
    assert read_frame("duckdb:///people.duckdb?table=files").schema == {"a": pl.Int32}
