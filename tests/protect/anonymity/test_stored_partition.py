# SPDX-License-Identifier: MIT
"""Partitioning a table that stays where it is gives the release, the claims and the losses of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine.duckdb_rows import DuckdbRows
from sfumato.engine.stored_rows import MemoryRows, StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError, PolicyError, SfumatoError
from sfumato.protect.anonymity import stored_partition
from sfumato.protect.anonymity.parts.partition_lines import index_distinct_rows
from sfumato.protect.anonymity.stored_partition import PartitionPlan, plan_partition
from tests.protect.anonymity.test_partition import MODELS, patients
from tests.protect.anonymity.test_partition import methods as partitions
from tests.protect.anonymity.test_stored_generalize import HIERARCHIES, ROLES, people
from tests.tables import hierarchies

TWO = sf.KAnonymity(k=2)


class SomeRows(MemoryRows):
    """Rows in memory, three at a time."""

    def iterate_batches(self, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        yield from (self.frame if columns is None else self.frame.select(columns)).iter_slices(3)


@st.composite
def tables(draw: st.DrawFn) -> sf.Table:
    """Up to 24 rows of few values: numbers, texts, dates and values with a hierarchy, some of them missing."""
    rows = draw(st.integers(1, 24))
    tree = draw(hierarchies())

    def column(values: st.SearchStrategy[object], kind: object) -> pl.Series:
        cells = draw(st.lists(values | st.none() if draw(st.booleans()) else values, min_size=rows, max_size=rows))
        return pl.Series(cells, dtype=kind)  # type: ignore[arg-type]

    data = {
        "number": column(st.integers(-1, 2), pl.Int64),
        "real": column(st.sampled_from([0.0, -0.0, 1.5, float("nan")]), pl.Float64),
        "text": column(st.sampled_from(["a", "b, c", "{a, b}"]), pl.String),
        "day": column(st.sampled_from([date(2020, 1, 31), date(2020, 2, 1), date(1999, 5, 5)]), pl.Date),
        "leaf": column(st.sampled_from([row[0] for row in tree]), pl.String),
        "s": column(st.sampled_from("xyz"), pl.String),
        "id": pl.Series(range(rows)),
    }
    used = draw(st.lists(st.sampled_from(["number", "real", "text", "day", "leaf"]), min_size=1, unique=True))
    roles = {name: "quasi_identifying" if name in used else "insensitive" for name in data}
    missing = draw(st.sampled_from(["own_value", "drop"]))
    return sf.Table.of(data, roles | {"s": "sensitive", "id": "identifying"}, {"leaf": tree}, missing)


def store(table: sf.Table, rows: StoredRows) -> StoredTable:
    return StoredTable.of(rows, table.roles, table.hierarchies, table.missing.value)


def publish(plan: PartitionPlan) -> tuple[pl.DataFrame, list[int]]:
    """What is written, and the numbers of the published rows."""
    frames, numbers, first = [plan.outline.frame], list[int](), 0
    for batch in plan.table.rows.iterate_batches():
        frame, row_numbers = plan.publish_numbered(batch, first)
        assert frame.equals(plan.publish(batch, first)), "asked again, it says the same"
        frames.append(frame)
        numbers += (row_numbers + first).to_list()
        first += batch.height
    return pl.concat(frames), numbers


def assert_same(method: sf.Partition, table: sf.Table, rows: StoredRows) -> None:
    try:
        release = method.protect(table)
    except SfumatoError as error:
        with pytest.raises(type(error)):
            plan_partition(method, store(table, rows))
        return
    plan = plan_partition(method, store(table, rows))
    frame, numbers = publish(plan)
    assert frame.equals(release.data.frame)
    assert frame.schema == release.data.frame.schema
    assert numbers == release.details["rows"].tolist()
    assert plan.leaves_rows_out == (len(release.data) < len(table))
    assert plan.claims == release.claims
    assert plan.losses == release.losses
    assert plan.changes == release.changes
    assert (plan.details["classes"], plan.details["parts"]) == (release.details["classes"], release.details["parts"])


@given(tables(), partitions)
@settings(max_examples=100, deadline=None)
def test_every_batch_is_published_as_in_memory(table: sf.Table, method: sf.Partition) -> None:
    assert_same(method, table, SomeRows(table.frame))


@given(tables(), st.sampled_from(MODELS), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_rows_decides_nothing(
    table: sf.Table, models: tuple[sf.protect.PrivacyModel, ...], chance: object
) -> None:
    order = list(range(len(table)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    method = sf.Partition(models=models)
    judged = list(table.quasi_identifying)
    if any(model.list_columns() for model in models):  # otherwise "s" is not looked at
        judged.append("s")
    try:
        ours = method.protect(table)
    except SfumatoError:
        return
    theirs = method.protect(table.replace_frame(table.frame[order]))
    assert ours.losses == theirs.losses
    counts = [release.data.frame.select(judged).group_by(judged).len() for release in (ours, theirs)]
    assert counts[0].sort(judged).equals(counts[1].sort(judged))


@pytest.mark.parametrize(
    "method",
    [
        sf.Partition(models=[sf.KAnonymity(k=3)]),
        sf.Partition(models=[TWO, sf.LDiversity(l=2, column="disease"), sf.TCloseness(t=0.4, column="disease")]),
        sf.Partition(models=[sf.KAnonymity(k=3)], relaxed=True, publish="hierarchy"),
    ],
    ids=["k", "k, l and t", "relaxed"],
)
@pytest.mark.parametrize("missing", ["own_value", "drop"])
def test_duckdb_counts_what_memory_does(method: sf.Partition, missing: str, tmp_path: Path) -> None:
    frame = people(700, 0.02)
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    for file, part in zip(files, frame.iter_slices(250), strict=True):
        part.write_parquet(file)
    table = sf.Table.of(frame, ROLES, HIERARCHIES, missing)
    assert_same(method, table, DuckdbRows(files, tmp_path, "parts"))


def test_a_crowd_of_equal_people_is_one_line_but_for_some() -> None:
    """By hand: of 101 equal people and k = 3, 99 are a line, and one of each value, the first, may go elsewhere."""
    frame = pl.DataFrame({"a": [1] * 101 + [2] * 2, "s": ["y"] * 40 + ["x"] * 63})
    table = sf.Table.of(frame, {"a": "quasi_identifying", "s": "sensitive"})
    method = sf.Partition(models=[sf.KAnonymity(k=3), sf.LDiversity(l=2, column="s")])
    plan = plan_partition(method, store(table, MemoryRows(frame)))
    assert plan.lone_rows.tolist() == [0, 40, 101, 102]
    assert_same(method, table, SomeRows(frame))
    size_plan = plan_partition(sf.Partition(models=[sf.KAnonymity(k=3)]), store(table, MemoryRows(frame)))
    assert size_plan.lone_rows.tolist() == [*range(2 + 7 * 3), 101, 102], "without judged values, seven more classes"


def test_a_line_counts_each_judged_value_once() -> None:
    """Two judged columns: ten equal people have one value of the first and ten of the second."""
    frame = pl.DataFrame({"a": [1] * 10 + [2] * 10, "s": ["x"] * 10 + ["y"] * 10, "t": [*"abcdefghij"] * 2})
    table = sf.Table.of(frame, {"a": "quasi_identifying", "s": "sensitive", "t": "sensitive"})
    method = sf.Partition(models=[sf.LDiversity(l=2, column="s"), sf.LDiversity(l=2, column="t")])
    assert method.protect(table).data.frame["a"].to_list() == ["[1, 2]"] * 20
    assert_same(method, table, SomeRows(frame))


def test_rows_of_very_many_columns_are_found() -> None:
    chance = np.random.default_rng(1)
    cells = chance.integers(0, 1 << 30, (200, 7)).astype(np.int32)
    index, of_row = index_distinct_rows(np.vstack([cells, cells]), [1 << 30] * 7)
    assert len(index.prefixes) > 1
    assert (of_row[:200] == of_row[200:]).all()
    assert (index.find_rows(cells, "rows") == of_row[:200]).all()
    assert (cells[np.argsort(of_row[:200])] == np.array(sorted(cells.tolist()))).all()
    with pytest.raises(DataError, match="rows: some rows were not there when rows were counted"):
        index.find_rows(cells + 1, "rows")


def test_what_does_not_fit_is_refused_before_anything_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(300)
    table = sf.Table.of(frame, ROLES, HIERARCHIES)
    monkeypatch.setattr(stored_partition, "_FEWEST", 1)
    monkeypatch.setattr(stored_partition, "find_memory_budget", lambda: 2 * 500 * 50)
    for relaxed in (False, True):
        with pytest.raises(DataError, match=r"more than 50 people differ .* set SFUMATO_MEMORY higher, round"):
            plan_partition(sf.Partition(models=[TWO], relaxed=relaxed), store(table, MemoryRows(frame)))
    monkeypatch.setattr(stored_partition, "find_memory_budget", lambda: 2 * 500 * 30)
    with pytest.raises(DataError, match=r'the column "age" has \d+ values, and memory holds partitions of 30; call it'):
        plan_partition(sf.Partition(models=[TWO]), store(table, MemoryRows(frame)))


def test_bad_input() -> None:
    table = patients()
    rows = MemoryRows(table.frame)
    with pytest.raises(DataError, match="no rows"):
        plan_partition(sf.Partition(models=[TWO]), store(table, MemoryRows(table.frame.clear())))
    with pytest.raises(PolicyError, match="no people to hide"):
        plan_partition(
            sf.Partition(models=[TWO]), StoredTable.of(rows, dict.fromkeys(table.frame.columns, "sensitive"))
        )
    with pytest.raises(PolicyError, match="k_map compares with a population"):
        plan_partition(sf.Partition(models=[sf.KMap(k=2, population=table)]), store(table, rows))
    with pytest.raises(DataError, match='"nothing", which the table does not have'):
        plan_partition(sf.Partition(models=[sf.LDiversity(l=2, column="nothing")]), store(table, rows))
    with pytest.raises(sf.ImpossibleRelease, match=r"all rows together \(6 rows\) do not satisfy k_anonymity"):
        plan_partition(sf.Partition(models=[sf.KAnonymity(k=7)]), store(table, rows))
