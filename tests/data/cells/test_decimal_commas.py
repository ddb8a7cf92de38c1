# SPDX-License-Identifier: MIT
"""Numbers with a decimal comma: noticed, read when asked, the same by every reader, published with a point."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.cells.misread_columns import find_decimal_commas
from tests.command_line import Invoke

ROWS = [("Rossi", 20 + n % 40, f"{n // 7},{n % 7}5", f"1.{n + 100},50", "1,234") for n in range(120)]


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    lines = (";".join(map(str, row)) for row in ROWS)
    (tmp_path / "bank.csv").write_text("name;age;rate;saldo;share\n" + "\n".join(lines) + "\n")
    return tmp_path


def test_they_are_numbers_when_asked(bank: Path) -> None:
    words = sf.Table.read(bank / "bank.csv").frame
    assert words["rate"].dtype == words["saldo"].dtype == pl.String
    frame = sf.Table.read(bank / "bank.csv", decimal=",").frame
    assert frame["rate"].to_list()[:8] == [0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 1.05]
    assert frame["saldo"][0] == 1100.5
    assert frame["age"].dtype == pl.Int64
    assert frame["share"][0] == 1.234


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1,5", None, "-2,25", "3"], pl.Float64),
        (["1.5", "2.5"], pl.String),  # a point is not a comma
        (["1.234", "2.345"], pl.String),  # a thousand, or a little more than one?
        (["1,5", "2.5"], pl.String),
        (["1,5", "n/a"], pl.String),
        (["007,5", "1,5"], pl.String),
        (["1", "2"], pl.Int64),
    ],
)
def test_nothing_else_becomes_a_number(tmp_path: Path, cells: list[str | None], kind: type) -> None:
    (tmp_path / "a.csv").write_text("x;y\n" + "".join(f"{cell or ''};a\n" for cell in cells))
    assert sf.Table.read(tmp_path / "a.csv", decimal=",").frame["x"].dtype == kind


def test_thousands_are_not_taken_for_decimals() -> None:
    frame = pl.DataFrame({"a": ["1,234", "12,345"], "b": ["1,5", "1,234"], "c": ["a", "b"], "d": ["1", "2"]})
    assert find_decimal_commas(frame) == ("b",)


def test_audit_says_how_and_init_states_it(bank: Path, invoke: Invoke) -> None:
    output = " ".join(invoke("audit", "bank.csv").out.split())
    assert '"rate" and "saldo" look like numbers' in output or '"rate", "saldo" look like numbers' in output
    assert 'decimal = ","' in output
    output = " ".join(
        invoke("audit", "bank.csv", "--separator", ";", "--decimal", ",", "--missing-mark", "-").out.split()
    )
    assert "look like numbers" not in output
    assert "sfumato init bank.csv --separator ';' --decimal , --missing-mark -" in output
    assert invoke("init", "bank.csv", "--yes").code == 0
    assert 'decimal = ","' in (bank / "policy.toml").read_text()
    assert invoke("run", "policy.toml").code == 0
    assert invoke("verify", "out/release").code == 0


def test_duckdb_reads_the_same(bank: Path) -> None:
    def protect(engine: str) -> pl.DataFrame:
        policy = {
            "data": {"path": "bank.csv", "decimal": ",", "engine": engine},
            "roles": {"quasi_identifying": ["age", "rate"], "insensitive": ["share"], "identifying": ["name", "saldo"]},
            "protect": [{"method": "partition", "models": [{"model": "k_anonymity", "k": 10}]}],
            "output": {"format": "parquet"},
        }
        result = sf.run(sf.Policy.model_validate(policy), bank / engine)
        return pl.read_parquet(result.out / "release" / "data.parquet")

    memory = protect("memory")
    assert memory.equals(protect("duckdb"))
    assert memory["rate"].str.contains(r"^\[[\d.]+, [\d.]+\]$").all()
    assert memory["share"].dtype == pl.Float64


def test_another_sign_is_refused(bank: Path, invoke: Invoke) -> None:
    ran = invoke("audit", "bank.csv", "--decimal", ";")
    assert ran.code == 2
    assert 'decimal must be "." (1.5) or "," (1,5)' in ran.err
