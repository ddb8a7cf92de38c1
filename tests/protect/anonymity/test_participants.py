# SPDX-License-Identifier: MIT
"""People who are left out decide nothing: the others are published as if nobody had been left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.stored_rows import MemoryRows, StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.protect.anonymity.stored_generalize import plan_generalization
from sfumato.protect.anonymity.stored_partition import plan_partition

ROLES = {"age": "quasi_identifying", "pay": "quasi_identifying", "ill": "sensitive"}
STEPS: dict[str, Any] = {
    "age": {"kind": "intervals", "widths": [5, 20]},
    "pay": {"kind": "intervals", "widths": [500, 2000]},
}
K3 = sf.KAnonymity(k=3)
T = sf.TCloseness(t=0.3, column="ill", distance="ordered")
METHODS: dict[str, tuple[sf.Partition | sf.Generalize, dict[str, Any]]] = {
    "clusters": (sf.Partition(models=[K3]), {}),
    "cuts": (sf.Partition(models=[K3], refine=False), {}),
    "relaxed": (sf.Partition(models=[K3], relaxed=True), {}),
    "ranges beside a hierarchy": (sf.Partition(models=[K3]), STEPS),
    "labels of a hierarchy": (sf.Partition(models=[K3], publish="hierarchy"), STEPS),
    "close": (sf.Partition(models=[T]), {}),
    "levels": (sf.Generalize(models=[K3], suppression_limit=0.1), STEPS),
    "kept or suppressed": (sf.Generalize(models=[K3], suppression_limit=0.9), {}),
    "local levels": (sf.Generalize(models=[K3], suppression_limit=0.1, recoding="local"), STEPS),
    "close levels": (sf.Generalize(models=[T], suppression_limit=0.1), STEPS),
}
LEFT_OUT = [(None, 3000, 3), (None, 20_050, 3), (None, 20_050, 90), (44, None, None)]
"""A value that others have, too, one that nobody else has, also in the sensitive column, and another missing cell."""


def draw_people(seed: int) -> pl.DataFrame:
    chance = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": chance.integers(20, 70, 40),
            "pay": chance.integers(20, 61, 40) * 100,
            "ill": chance.integers(1, 6, 40),
        }
    )


def add_person(people: pl.DataFrame, person: tuple[int | None, ...]) -> pl.DataFrame:
    return people.vstack(pl.DataFrame([person], schema=people.schema, orient="row"))


@pytest.mark.parametrize("name", METHODS)
def test_a_cell_of_someone_left_out_changes_nothing(name: str) -> None:
    method, hierarchies = METHODS[name]
    for seed in range(12):
        people = draw_people(seed)
        alone = method.protect(sf.Table.of(people, ROLES, hierarchies, "drop"))
        for person in LEFT_OUT:
            release = method.protect(sf.Table.of(add_person(people, person), ROLES, hierarchies, "drop"))
            assert release.data.frame.equals(alone.data.frame), (seed, person)
            assert release.claims == alone.claims
            assert {**release.losses, "dropped_rows": 0} == dict(alone.losses)


def publish_stored(method: sf.Partition | sf.Generalize, rows: StoredRows, hierarchies: dict[str, Any]) -> pl.DataFrame:
    table = StoredTable.of(rows, ROLES, hierarchies, "drop")
    plan = plan_partition(method, table) if isinstance(method, sf.Partition) else plan_generalization(method, table)
    return pl.concat([plan.publish(batch) for batch in rows.iterate_batches()])


@pytest.mark.parametrize("name", [name for name in METHODS if name != "local levels"])
def test_a_cell_of_someone_left_out_changes_nothing_where_rows_stay_in_files(tmp_path: Path, name: str) -> None:
    method, hierarchies = METHODS[name]
    for seed in range(6):
        people = draw_people(seed)
        alone = method.protect(sf.Table.of(people, ROLES, hierarchies, "drop")).data.frame
        for person in LEFT_OUT:
            rows = MemoryRows(add_person(people, person))
            assert publish_stored(method, rows, hierarchies).equals(alone), (seed, person)
    file = tmp_path / "people.parquet"
    rows.frame.write_parquet(file)
    assert publish_stored(method, DuckdbRows([file], tmp_path, "people"), hierarchies).equals(alone)
