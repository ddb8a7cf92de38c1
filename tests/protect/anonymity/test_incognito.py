# SPDX-License-Identifier: MIT
"""Incognito as printed: all nodes against exhaustion, and the counts of Figure 8 in plain Python."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.protect.anonymity import incognito
from tests.brute import every_node, generalized
from tests.properties.test_models_brute import cases, nodes_by_the_book, table_of
from tests.tables import Small, hospital, small_tables

quick = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
MEANINGS = ("own_value", "matches_any", "never_matches")


def release_of(table: sf.Table, k: int, limit: float = 0.0, **fields: Any) -> sf.Release | None:
    try:
        return sf.Generalize(
            models=(sf.KAnonymity(k=k),), suppression_limit=limit, search="incognito", **fields
        ).protect(table)  # fmt: skip
    except sf.ImpossibleRelease:
        return None


@quick
@given(
    small=small_tables(with_missing=True),
    k=st.integers(1, 4),
    limit=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    missing=st.sampled_from(MEANINGS),
)
def test_all_k_anonymous_generalizations(small: Small, k: int, limit: float, missing: str) -> None:
    most = int(Fraction(str(limit)) * len(small.rows))
    nodes = every_node(small.rows, small.hierarchies, k, missing)
    possible = {node.levels for node in nodes if node.suppressed <= most and node.classes}
    release = release_of(small.table(missing), k, limit)
    if release is None:
        assert not possible
        return
    generalizations = release.details["generalizations"]
    assert {tuple(levels) for levels in generalizations["levels"]} == possible
    assert generalizations.height == len(possible)
    minimal = {tuple(levels) for levels in generalizations.filter("minimal")["levels"]}
    assert minimal == set(release.details["minimal"])
    assert minimal == set(sf.protect.minimal_nodes(small.table(missing), [sf.KAnonymity(k=k)], limit))
    best = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=limit).protect(small.table(missing))
    assert release.losses["loss"] == best.losses["loss"]


@quick
@given(case=cases())
def test_other_models(case: Any) -> None:
    """Where its properties hold, all nodes; elsewhere it refuses."""
    small, values, model_pairs, limit = case
    method = sf.Generalize(models=tuple(model for model, _ in model_pairs), suppression_limit=limit, search="incognito")
    most = int(Fraction(str(limit)) * len(values))
    if most and not all(model.steady for model, _ in model_pairs):
        with pytest.raises((sf.PolicyError, sf.ImpossibleRelease), match=r"incognito prunes|at most"):
            method.protect(table_of(small, values))
        return
    rows_by_node = nodes_by_the_book(small, values, [accepts for _, accepts in model_pairs])
    possible = {levels for levels, rows in rows_by_node.items() if rows and len(values) - len(rows) <= most}
    try:
        level_lists = method.protect(table_of(small, values)).details["generalizations"]["levels"].to_list()
    except sf.ImpossibleRelease:
        level_lists = []
    assert {tuple(levels) for levels in level_lists} == possible


def count_by_the_book(small: Small, k: int) -> list[tuple[int, int, int]]:
    """Candidates, checked and accepted nodes for each size of subsets: Figure 8, one queue for a whole size."""
    width = len(small.hierarchies)
    heights = [len(hierarchy[0]) for hierarchy in small.hierarchies]
    graph: set[Any] = {((column, level),) for column in range(width) for level in range(heights[column])}
    counts = []
    for size in range(1, width + 1):
        kept_nodes, queue, checked, marked = set(graph), sorted(roots_of(graph), key=height), 0, set()
        while queue:
            node = queue.pop(0)
            if node in marked:
                continue
            checked += 1
            parents = [other for other in graph if is_step(node, other)]
            if is_anonymous(small, dict(node), k):
                marked |= set(parents)
            else:
                kept_nodes.remove(node)
                queue = sorted({*queue, *parents}, key=height)
        counts.append((len(graph), checked, len(kept_nodes)))
        graph = {
            node
            for columns in combinations(range(width), size + 1)
            for levels in product(*(range(heights[column]) for column in columns))
            for node in [tuple(zip(columns, levels, strict=True))]
            if all(node[:index] + node[index + 1 :] in kept_nodes for index in range(size + 1))
        }
    return counts


def height(node: Any) -> int:
    return sum(level for _, level in node)


def is_step(finer: Any, coarser: Any) -> bool:
    """Whether an edge leads from the one to the other: the same columns, one of them one level up."""
    steps = [b[1] - a[1] for a, b in zip(finer, coarser, strict=True)]
    return [column for column, _ in finer] == [column for column, _ in coarser] and sorted(steps) == [
        *[0] * (len(steps) - 1), 1
    ]  # fmt: skip


def roots_of(graph: set[Any]) -> list[Any]:
    return [node for node in graph if not any(is_step(other, node) for other in graph)]


def is_anonymous(small: Small, levels: dict[int, int], k: int) -> bool:
    rows = generalized(
        small.rows, small.hierarchies, tuple(levels.get(column, 0) for column in range(len(small.hierarchies)))
    )
    return min(Counter(tuple(row[column] for column in levels) for row in rows).values()) >= k


@quick
@given(small=small_tables(), k=st.integers(1, 4))
def test_the_counts_are_those_of_the_printed_algorithm(small: Small, k: int) -> None:
    release = release_of(small.table("own_value"), k)
    if release is None:
        return
    counts = release.details["node_counts"]
    ours = counts.filter(pl.col("search") == "incognito")
    assert ours["columns"].to_list() == list(range(1, len(small.hierarchies) + 1))
    assert ours.select("candidates", "checked", "accepted").rows() == count_by_the_book(small, k)
    assert counts.row(-1)[0] == "minimal"
    assert release.details["checked_nodes"] == ours["checked"][-1] <= release.details["nodes"]


def test_the_hospital() -> None:
    release = release_of(hospital(), 2)
    assert release is not None
    assert {tuple(levels) for levels in release.details["generalizations"]["levels"]} == {
        (0, 1, 2), (1, 0, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2)
    }  # fmt: skip
    assert set(release.details["minimal"]) == {(0, 1, 2), (1, 0, 2), (1, 1, 0)}


def test_a_lattice_too_large_to_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incognito, "MOST_NODES", 34)
    with pytest.raises(sf.PolicyError, match=r"35 combinations of levels.*search = minimal"):
        release_of(hospital(), 2)
