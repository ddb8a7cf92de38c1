# SPDX-License-Identifier: MIT
"""Baskets that do not fit are mined, and rules hidden in them, under a limit that the system enforces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.workflow.test_bounded_memory import run_limited

PARTS, BASKETS = 20, 100_000
"""With fifteen rows a basket, thirty million rows, of which a run in memory would hold several gigabytes."""


def write_sales(path: Path, parts: int) -> None:
    """Rows of baskets that lie apart, some items frequent and most rare."""
    import pyarrow.parquet as pq

    chance, writer = np.random.default_rng(5), None
    for part in range(parts):
        visits = np.repeat(np.arange(part * BASKETS, (part + 1) * BASKETS), 15)
        rare = chance.integers(100, 50_000, len(visits))
        items = np.where(chance.random(len(visits)) < 0.2, chance.zipf(1.5, len(visits)) % 100, rare)
        frame = pl.DataFrame({"visit": visits, "product": [f"product {item}" for item in items]})
        table = frame.sample(fraction=1, shuffle=True, seed=part).to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


POLICY = """
[data]
path = "sales.parquet"
id = "visit"
item = "product"

[[protect]]
method = "hide_rules"
rules = ["product 3 ==> product 1"]
min_support = 0.001
min_confidence = 0.3
strategy = "1b"
"""


@pytest.mark.slow
def test_thirty_million_rows_are_mined_within_a_limit(tmp_path: Path) -> None:
    write_sales(tmp_path / "sales.parquet", PARTS)
    command = ("mine", tmp_path / "sales.parquet", "--id", "visit", "--item", "product", "--min-support", "0.01")
    refused_result = run_limited(tmp_path, *command, "--engine", "memory")
    assert refused_result.returncode != 0, "in memory it would not fit"
    result = run_limited(tmp_path, *command)
    assert result.returncode == 0, result.stderr
    assert "Engine: duckdb, since the file may take" in result.stderr, "chosen by the size of the data"
    itemsets = json.loads(result.stdout)["rows"]
    sales = pl.scan_parquet(tmp_path / "sales.parquet").filter(pl.col("product") == "product 1")
    item_support = next(row["support"] for row in itemsets if row["items"] == ["product 1"])
    assert item_support == sales.select(pl.col("visit").n_unique()).collect(engine="streaming").item()
    assert not list(tmp_path.glob("sfumato-scratch-*"))


@pytest.mark.slow
def test_a_rule_is_hidden_in_six_million_rows_within_a_limit(tmp_path: Path) -> None:
    write_sales(tmp_path / "sales.parquet", PARTS // 5)
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    result = run_limited(tmp_path, "run", tmp_path / "policy.toml", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["engine"] == "duckdb"
    assert report["losses"]["removed"] > 0
    checked = run_limited(tmp_path, "verify", tmp_path / "out", "--engine", "duckdb")
    assert checked.returncode == 0, checked.stderr
    assert not list(tmp_path.glob("sfumato-scratch-*"))
