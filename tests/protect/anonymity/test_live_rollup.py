# SPDX-License-Identifier: MIT
"""What makes a search over millions of rows short: merged to what is in question, in blocks, small classes first."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.arrays import Codes
from sfumato.protect.anonymity import live_rollup, row_blocks
from sfumato.protect.anonymity.grouping import Grouping
from sfumato.protect.anonymity.lattice import find_minimal_nodes, find_optimal_node
from sfumato.protect.anonymity.model_judge import ModelJudge
from sfumato.protect.anonymity.sensitive_values import ClassValues, SensitiveColumn
from sfumato.table import Missing
from tests.tables import Small, small_tables

VALUES = st.lists(st.sampled_from(["flu", "cold", "none", None]), min_size=12, max_size=12)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_rollup, "MANY_ROWS", 1)
    monkeypatch.setattr(row_blocks, "MANY_ROWS", 1)
    monkeypatch.setattr(row_blocks, "_LEAST", 1)
    monkeypatch.setattr(live_rollup, "_SAVED", 1e9)
    monkeypatch.setattr(live_rollup, "_LEFT", 1)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    small=small_tables(with_missing=True),
    values=VALUES,
    k=st.integers(2, 4),
    limit=st.sampled_from([0, 1, 3, 12]),
    other=st.sampled_from(["", "distinct", "entropy"]),
)
def test_merged_rows_lead_to_the_same_optimum(
    few_are_many: None, small: Small, values: list[str | None], k: int, limit: int, other: str
) -> None:
    plain = small.table("own_value")
    order = plain.frame.with_columns(sick=pl.Series(values[: len(plain)], dtype=pl.String)).sort(plain.frame.columns)
    table = sf.Table.of(order, {**plain.roles, "sick": "sensitive"}, dict(plain.hierarchies))
    models = [sf.KAnonymity(k=k), *([sf.LDiversity(l=2, column="sick", kind=other)] if other else [])]
    judge = ModelJudge(tuple(models))
    grouping = judge.build_grouping(table)
    found = find_optimal_node(grouping, judge, "loss", limit)
    minimal, _ = find_minimal_nodes(grouping, judge, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_rollup, "MANY_ROWS", 1 << 60)
        patch.setattr(row_blocks, "MANY_ROWS", 1 << 60)
        usual = judge.build_grouping(table)
        assert found.best == find_optimal_node(usual, judge, "loss", limit).best
        assert minimal == find_minimal_nodes(usual, judge, limit)[0]
        verdicts = [usual.decide(levels, judge) for levels in product(*map(range, usual.shape))]
    assert verdicts == [grouping.decide(levels, judge) for levels in product(*map(range, grouping.shape))]


def test_blocks_share_no_class(few_are_many: None) -> None:
    codes = np.array([0, 0, 1, 2, 2, 3], dtype=np.int32)
    assert row_blocks.split_into_blocks(codes, np.array([0, 0, 1, 1, 2], dtype=np.int32)) == [0, 3, 6]
    assert row_blocks.split_into_blocks(codes, np.array([0, 1, 0, 1, 2], dtype=np.int32)) == [0, 6]
    assert row_blocks.find_sorted_column(np.array([[3, 1, 2], [0, 0, 1]], dtype=np.int32)) == 1
    assert row_blocks.find_sorted_column(np.array([[3, 1, 2]], dtype=np.int32)) is None


def test_values_of_small_classes_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    hierarchy = sf.Hierarchy.of([(str(n), "*") for n in range(30)])
    weights = np.full(30, 2, dtype=np.int64)
    grouping = Grouping(
        (hierarchy,), np.arange(30, dtype=np.int32)[None], Missing.OWN_VALUE, None, weights, distinct=True
    )
    rows, counts = np.repeat(np.arange(30), 2), np.ones(60, dtype=np.int64)
    grouping.sensitive = {"s": SensitiveColumn("s", ("a", "b"), rows, np.tile([0, 1], 30), counts, None)}
    counted: list[int] = []
    pairs = SensitiveColumn.count_by_class

    def count(column: SensitiveColumn, of_row: Codes, classes: int) -> ClassValues:
        counted.append(classes)
        return pairs(column, of_row, classes)

    monkeypatch.setattr(SensitiveColumn, "count_by_class", count)
    judge = ModelJudge((sf.KAnonymity(k=3), sf.LDiversity(l=2, column="s")))
    found = find_optimal_node(grouping, judge, "loss", 5)
    assert found.best is not None and found.best.levels == (1,)
    assert counted == [1]  # the classes of the upper node alone
