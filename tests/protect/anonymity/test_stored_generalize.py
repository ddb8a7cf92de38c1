# SPDX-License-Identifier: MIT
"""Generalizing a table that stays where it is gives the release, the claims and the losses of memory."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.stored_rows import MemoryRows, StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError, ImpossibleRelease
from sfumato.kernels.anonymity import lattice_choice
from sfumato.protect.anonymity.stored_generalize import plan_generalization

ROLES = {
    "name": "identifying",
    "age": "quasi_identifying",
    "zip": "quasi_identifying",
    "sex": "quasi_identifying",
    "disease": "sensitive",
    "visits": "insensitive",
}
HIERARCHIES: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [5, 20]},
    "zip": {"kind": "prefix", "keep": [3, 2, 0]},
    "disease": {"kind": "tree", "groups": {"lung": ["flu", "cold"], "other": ["cut", "ache"]}},
}
K3 = sf.KAnonymity(k=3)
METHODS = {
    "k": sf.Generalize(models=[K3]),
    "suppressing": sf.Generalize(models=[K3], suppression_limit=0.1),
    "l": sf.Generalize(models=[K3, sf.LDiversity(l=2, column="disease")], suppression_limit=0.05),
    "blank": sf.Generalize(
        models=[sf.LDiversity(l=1.5, kind="entropy", column="disease")], suppression_limit=0.1, suppressed_rows="blank"
    ),
    "drop": sf.Generalize(models=[K3], suppression_limit=0.1, suppressed_rows="drop", metric="discernibility"),
    "t": sf.Generalize(models=[sf.TCloseness(t=0.3, column="disease", distance="ordered")], suppression_limit=0.1),
    "tree": sf.Generalize(models=[sf.TCloseness(t=0.25, column="disease", distance="hierarchical")]),
    "beta": sf.Generalize(models=[sf.BetaLikeness(beta=2, column="disease")], suppression_limit=0.2),
    "minimal": sf.Generalize(models=[K3], search="minimal", suppression_limit=0.02),
    "weighted": sf.Generalize(models=[K3], weights={"age": 5}),
    "recursive": sf.Generalize(
        models=[
            sf.LDiversity(l=2, c=3, kind="recursive", column="disease"),
            sf.AlphaKAnonymity(k=2, alpha=0.8, column="disease"),
        ],
        suppression_limit=0.1,
    ),
}


def people(rows: int, gaps: float = 0.0) -> pl.DataFrame:
    chance = np.random.default_rng(rows)
    frame = pl.DataFrame(
        {
            "name": [f"p{number}" for number in range(rows)],
            "age": chance.integers(20, 70, rows),
            "zip": [f"1{number:03d}" for number in chance.integers(0, 40, rows)],
            "sex": chance.choice(["f", "m"], rows),
            "disease": chance.choice(["flu", "cold", "cut", "ache"], rows, p=[0.5, 0.2, 0.2, 0.1]),
            "visits": chance.integers(0, 3, rows) / 2,
        }
    )
    holes = {name: pl.Series(chance.random(rows) < gaps) for name in ("age", "sex", "disease")}
    return frame.with_columns(pl.when(~hole).then(pl.col(name)).alias(name) for name, hole in holes.items())


def assert_same_release(method: sf.Generalize, frame: pl.DataFrame, rows: StoredRows, missing: str) -> None:
    table = sf.Table.of(frame, ROLES, HIERARCHIES, missing)
    stored = StoredTable.of(rows, ROLES, HIERARCHIES, missing)
    try:
        release = method.protect(table)
    except ImpossibleRelease as impossible:
        with pytest.raises(ImpossibleRelease) as error_info:
            plan_generalization(method, stored)
        assert str(error_info.value).split(";")[0] == str(impossible).split(";")[0]
        return
    plan = plan_generalization(method, stored)
    parts, row_numbers, offset = [], [], 0
    for batch in stored.rows.iterate_batches():
        part, rows_taken = plan.publish_numbered(batch)
        parts.append(part)
        row_numbers += (rows_taken + offset).to_list()
        offset += batch.height
    published = pl.concat(parts)
    assert published.equals(release.data.frame)
    assert published.schema == release.data.frame.schema == plan.outline.frame.schema
    assert plan.claims == release.claims
    assert plan.losses == release.losses
    assert plan.changes == release.changes
    assert plan.details.levels == release.details["levels"]
    assert plan.details.minimal == release.details["minimal"]
    assert plan.leaves_rows_out == (len(published) < len(table))
    assert row_numbers == release.details["rows"].tolist()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("gaps", "missing"), [(0.0, "own_value"), (0.05, "own_value"), (0.05, "drop")])
def test_every_model_gives_the_same_release(
    name: str, gaps: float, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lattice_choice, "_WORTH", -1)  # compiled loops, as for large tables
    frame = people(400, gaps)
    assert_same_release(METHODS[name], frame, MemoryRows(frame), missing)


def test_files_give_the_same_release(tmp_path: Path) -> None:
    frame = people(700, 0.02)
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    frame.head(300).write_parquet(paths[0])
    frame.tail(400).write_parquet(paths[1])
    for name in ("l", "drop", "t"):
        assert_same_release(METHODS[name], frame, DuckdbRows(paths, tmp_path, "people"), "own_value")


@settings(max_examples=25)
@given(
    st.integers(1, 60), st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from(["star", "blank", "drop"])
)
def test_small_tables_too(rows: int, k: int, limit: float, suppressed: Any) -> None:
    frame = people(rows)
    method = sf.Generalize(models=[sf.KAnonymity(k=k)], suppression_limit=limit, suppressed_rows=suppressed)
    assert_same_release(method, frame, MemoryRows(frame), "own_value")


def test_population_models_compare_with_it_too() -> None:
    frame = people(300)
    population = sf.Table.of(pl.concat([frame, frame, frame.head(100)]).drop("disease", "visits", "name"))
    for model in (sf.KMap(k=4, population=population), sf.DeltaPresence(high=0.8, population=population)):
        assert_same_release(sf.Generalize(models=[model], suppression_limit=0.1), frame, MemoryRows(frame), "own_value")


def test_a_unique_column_is_coarsened_before_it_is_counted() -> None:
    """A code for each person would make as many combinations as there are people."""
    frame = people(600).with_columns(pl.Series("zip", [f"{number:04d}" for number in range(600)]))
    row_counts = []

    class Watched(MemoryRows):
        def count_coded_rows(self, maps: Any, most: int | None = None) -> Any:
            coded_rows = super().count_coded_rows(maps, most)
            row_counts.append(len(coded_rows.counts))
            return coded_rows

    assert_same_release(METHODS["k"], frame, Watched(frame), "own_value")
    assert max(row_counts) < 600


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(400)
    stored = StoredTable.of(MemoryRows(frame), ROLES, HIERARCHIES)
    monkeypatch.setattr("sfumato.protect.anonymity.search.stored_grouping._FEWEST", 10)
    monkeypatch.setattr("sfumato.protect.anonymity.search.stored_grouping._BYTES_A_TUPLE", 1 << 60)
    with pytest.raises(DataError, match=r"more than 10 combinations .* SFUMATO_MEMORY"):
        plan_generalization(METHODS["k"], stored)
    strange = frame.with_columns(pl.when(pl.col("age") == 30).then(pl.lit("*")).otherwise(pl.col("sex")).alias("sex"))
    with pytest.raises(DataError, match=r'"sex" holds "\*" in \d+ rows'):
        plan_generalization(METHODS["k"], StoredTable.of(MemoryRows(strange), ROLES, HIERARCHIES))
    short = {**HIERARCHIES, "sex": [["f", "*"]]}
    with pytest.raises(DataError, match=r'column "sex": 1 value, in \d{3} rows, has no row'):
        plan_generalization(METHODS["k"], StoredTable.of(MemoryRows(frame), ROLES, short))


@pytest.mark.parametrize("name", ["suppressing", "drop", "blank"])
def test_a_plan_can_be_sent_to_whoever_recodes(name: str) -> None:
    """With its hierarchies and suppressed classes, without counted values and details."""
    frame = people(300)
    plan = plan_generalization(METHODS[name], StoredTable.of(MemoryRows(frame), ROLES, HIERARCHIES))
    publisher = pickle.loads(pickle.dumps(plan.publish))
    assert publisher(frame, 0).equals(plan.publish(frame))
    plan_copy = publisher.__self__
    assert plan_copy.details.levels == {} != plan.details.levels
    assert plan_copy.table._values == {} != plan.table._values
