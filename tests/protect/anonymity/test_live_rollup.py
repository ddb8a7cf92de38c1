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
from sfumato.protect.anonymity.models import sensitive_values
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.models.sensitive_values import ClassValues, SensitiveColumn
from sfumato.protect.anonymity.search import live_rollup, row_blocks
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.lattice import find_minimal_nodes, find_optimal_node
from sfumato.table import Missing
from tests.tables import Small, small_tables

VALUES = st.lists(st.sampled_from(["flu", "cold", "none", None]), min_size=12, max_size=12)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_rollup, "MANY_ROWS", 1)
    monkeypatch.setattr(row_blocks, "MANY_ROWS", 1)
    monkeypatch.setattr(row_blocks, "_LEAST", 1)
    monkeypatch.setattr(live_rollup, "_MOST_MERGED", 1e9)
    monkeypatch.setattr(live_rollup, "_FEWEST_NODES", 1)


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
    outcome = find_optimal_node(grouping, judge, "loss", limit)
    minimal, _ = find_minimal_nodes(grouping, judge, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_rollup, "MANY_ROWS", 1 << 60)
        patch.setattr(row_blocks, "MANY_ROWS", 1 << 60)
        usual = judge.build_grouping(table)
        assert outcome.best == find_optimal_node(usual, judge, "loss", limit).best
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
    rows, counts = np.repeat(np.arange(30, dtype=np.int32), 2), np.ones(60, dtype=np.int64)
    grouping.sensitive = {
        "s": SensitiveColumn("s", ("a", "b"), rows, np.tile(np.array([0, 1], np.int32), 30), counts, None)
    }
    class_counts: list[int] = []
    pairs = SensitiveColumn.count_by_class

    def count(column: SensitiveColumn, of_row: Codes, classes: int) -> ClassValues:
        class_counts.append(classes)
        return pairs(column, of_row, classes)

    monkeypatch.setattr(SensitiveColumn, "count_by_class", count)
    judge = ModelJudge((sf.KAnonymity(k=3), sf.LDiversity(l=2, column="s")))
    outcome = find_optimal_node(grouping, judge, "loss", 5)
    assert outcome.best is not None and outcome.best.levels == (1,)
    assert class_counts == [1]  # the classes of the upper node alone


@pytest.mark.parametrize("seed", range(8))
def test_values_are_counted_in_blocks_as_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows whose classes lie together in part, as after sorting by a column, and rows whose classes do not."""
    chance = np.random.default_rng(seed)
    rows, width = 400, 5
    key = np.sort(chance.integers(0, 40, rows)) * 7 + chance.integers(0, 7 if seed % 2 else 2, rows)
    if seed >= 6:
        key = chance.permutation(key)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    of_row = np.argsort(np.argsort(first))[inverse].astype(np.int32)  # numbered as they appear
    pair_rows = np.repeat(np.arange(rows, dtype=np.int32), 2)
    codes = chance.integers(0, width, 2 * rows).astype(np.int32)
    counts = chance.integers(1, 9, 2 * rows)
    column = SensitiveColumn("s", tuple("abcde"), pair_rows, codes, counts, None)
    classes = len(first)
    expected = np.zeros((classes, width), dtype=np.int64)
    np.add.at(expected, (of_row[pair_rows], codes), counts)
    for block, sparse in ((1 << 18, 16), (8, 16), (8, 0)):  # at once, in blocks, sorted
        monkeypatch.setattr(sensitive_values, "_BLOCK", block)
        monkeypatch.setattr(sensitive_values, "_DENSE", 1)
        monkeypatch.setattr(sensitive_values, "_SPARSE", sparse)
        monkeypatch.setattr(sensitive_values, "_SPARSE_BLOCK", sparse)
        pairs = column.count_by_class(of_row, classes)
        dense = np.zeros_like(expected)
        dense[pairs.classes, pairs.values] = pairs.counts
        assert (dense == expected).all()
        assert pairs.distinct.tolist() == (expected > 0).sum(axis=1).tolist()
    if seed < 6:
        monkeypatch.setattr(sensitive_values, "_BLOCK", 8)
        assert sensitive_values._split_classes(of_row, pair_rows, classes, width).shape[1] > 10
