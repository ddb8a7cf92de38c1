# SPDX-License-Identifier: MIT
"""Baskets by Spark: those of duckdb, in the same order, with the same refusals; mined, hidden and verified alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.engine.engine_names import EngineName
from sfumato.errors import DataError
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.verification import verify
from tests.engine.spark.spark_fixtures import open_session
from tests.engine.test_stored_baskets import rebuild
from tests.workflow.stored.test_stored_basket_run import CASES, write_policy


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[Any]:
    with open_session() as spark_session:
        yield spark_session


def write_sales(folder: Path, kind: str, ids: pl.DataType, items: pl.DataType) -> Path:
    """Rows of many baskets in no order, some twice, a basket that most rows belong to, and one without items."""
    draws = np.random.default_rng(5)
    visits = np.where(draws.random(300) < 0.5, 7, draws.integers(0, 40, 300))
    frame = pl.DataFrame({"visit": visits, "other": [[1]] * 300, "product": draws.integers(1, 30, 300)})
    lone = pl.DataFrame({"visit": [99], "other": [[1]], "product": [None]}, schema=frame.schema)
    whole = pl.concat([frame.head(100), lone, frame.slice(100)]).with_columns(
        pl.col("visit").cast(ids), pl.col("product").cast(pl.String).cast(items)
    )
    path = folder / f"sales.{kind}"
    whole.write_parquet(path) if kind == "parquet" else whole.drop("other").write_csv(path)
    return path


@pytest.mark.parametrize(
    ("kind", "ids", "items"),
    [
        ("parquet", pl.Int32(), pl.Categorical()),
        ("parquet", pl.UInt64(), pl.Int16()),
        ("csv", pl.String(), pl.String()),
    ],
)
def test_baskets_are_those_of_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, ids: pl.DataType, items: pl.DataType
) -> None:
    """Cut into many runs, whose baskets go on in others."""
    for module in ("file_units", "spark.spark_baskets"):
        monkeypatch.setattr(f"sfumato.engine.{module}.UNIT_ROWS", 60)
    source = BasketSource(write_sales(tmp_path, kind, ids, items), id="visit", item="product")
    ours, theirs = (open_stored_baskets(source, tmp_path, name, engine=name) for name in ("duckdb", "spark"))
    assert rebuild(ours) == rebuild(theirs)
    assert (ours.items, ours.rows, ours.smallest) == (theirs.items, theirs.rows, theirs.smallest)
    assert ours.counts.tolist() == theirs.counts.tolist()
    file_names = {path.name for path in tmp_path.iterdir()}
    assert file_names == {
        f"sales.{kind}",
        *(f"{name}-{part}" for name in ("duckdb", "spark") for part in ("sizes", "codes")),
    }


@pytest.mark.parametrize("visits", [["a", "", "b", None], ["a", "b", "a", "a"]])
def test_gaps_are_told_in_the_same_words(tmp_path: Path, visits: list[str | None]) -> None:
    path = tmp_path / "gaps.parquet"
    pl.DataFrame({"id": visits, "item": ["x", None, "y", None]}).write_parquet(path)
    messages = []
    for engine in ("duckdb", "spark"):
        with pytest.raises(DataError, match="is missing in") as error:
            open_stored_baskets(BasketSource(path), tmp_path, engine=engine)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_more_items_than_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_sales(tmp_path, "parquet", pl.Int64(), pl.String())
    monkeypatch.setattr("sfumato.engine.basket_staging.find_memory_budget", lambda: 3000)
    with pytest.raises(DataError, match="more than 10 different items"):
        open_stored_baskets(BasketSource(path, id="visit", item="product"), tmp_path, engine="spark")


def test_itemsets_and_rules_are_those_of_memory(tmp_path: Path) -> None:
    path = write_sales(tmp_path, "csv", pl.String(), pl.String())
    names: Any = {"id": "visit", "item": "product"}
    engines: tuple[EngineName, ...] = ("memory", "spark")
    itemsets = [sf.mine.frequent_itemsets(path, 3, engine=engine, **names) for engine in engines]
    rules = [sf.mine.association_rules(path, 3, 0.5, engine=engine, **names) for engine in engines]
    assert itemsets[0].equals(itemsets[1])
    assert rules[0].equals(rules[1])
    assert rules[0].height


@pytest.mark.parametrize("case", ["items in rows", "attacked", pytest.param("rules in lines", marks=pytest.mark.slow)])
def test_what_is_hidden_is_what_duckdb_hides(tmp_path: Path, case: str) -> None:
    policy = write_policy(tmp_path, *CASES[case])
    ours, theirs = (run_policy(policy, tmp_path / engine, engine=engine) for engine in ("duckdb", "spark"))
    name = ours.certificate.body["data"]["file"]
    assert (ours.out / "release" / name).read_bytes() == (theirs.out / "release" / name).read_bytes()
    assert theirs.published and ours.findings == theirs.findings
    assert [outcome for _, outcome in ours.attacks] == [outcome for _, outcome in theirs.attacks]
    for part in ("claims", "losses", "suppression", "gate", "utility", "data", "verdict"):
        assert ours.record[part] == theirs.record[part], part
    assert theirs.record["engine"]["name"] == "spark"
    checked, spark_check = (verify(theirs.out, engine=engine) for engine in ("duckdb", "spark"))
    assert spark_check.holds
    assert spark_check.as_json() == {**checked.as_json(), "engine": "spark"}
