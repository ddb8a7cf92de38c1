# SPDX-License-Identifier: MIT
"""What makes the lattice search short: witnesses against many nodes, and classes that are grouped once."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.kernels.anonymity import lattice_choice
from sfumato.protect.anonymity.models.model_judge import ModelJudge
from sfumato.protect.anonymity.search import rollup
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.protect.anonymity.search.witness import choose_witness, condemn_nodes
from tests.brute import best_node, every_node
from tests.tables import Small, small_tables

quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
VALUES = st.lists(st.sampled_from(["flu", "cold", "none", None]), min_size=12, max_size=12)


def with_values(small: Small, values: list[str | None]) -> sf.Table:
    plain = small.table("own_value")
    frame = plain.frame.with_columns(sick=pl.Series(values[: len(plain)], dtype=pl.String))
    return sf.Table.of(frame, {**plain.roles, "sick": "sensitive"}, dict(plain.hierarchies))


MODELS: dict[str, sf.protect.PrivacyModel] = {
    "k": sf.KAnonymity(k=2),
    "l": sf.LDiversity(l=2, column="sick"),
    "entropy": sf.LDiversity(l=1.6, column="sick", kind="entropy"),
    "t": sf.TCloseness(t=0.3, column="sick"),
}


@quick
@given(small=small_tables(with_missing=True), values=VALUES, model_name=st.sampled_from(sorted(MODELS)), data=st.data())
def test_a_witness_speaks_for_its_own_class_at_every_node(
    small: Small, values: list[str | None], model_name: str, data: st.DataObject
) -> None:
    table = with_values(small, values)
    judge = ModelJudge((MODELS[model_name],))
    grouping = judge.build_grouping(table)
    row = data.draw(st.integers(0, grouping.distinct_rows - 1))
    live = np.ones(grouping.shape, dtype=np.bool_)
    condemn_nodes(live, grouping, judge, row)
    for levels in product(*map(range, grouping.shape)):
        judged = grouping.judge(levels, judge)
        assert live[levels] == (not judged.refused_mask[judged.classes.of_row[row]])


@quick
@given(small=small_tables(with_missing=True), k=st.integers(2, 4))
def test_the_witness_is_refused_at_the_node_it_was_found_at(small: Small, k: int) -> None:
    judge = ModelJudge((sf.KAnonymity(k=k),))
    grouping = judge.build_grouping(small.table("own_value"))
    for levels in product(*map(range, grouping.shape)):
        judged = grouping.judge(levels, judge)
        if judged.suppressed_count:
            row = choose_witness(grouping, judged)
            assert judged.refused_mask[judged.classes.of_row[row]]


def test_a_witness_says_nothing_where_cells_match_anything(small_with_gaps: sf.Table) -> None:
    judge = ModelJudge((sf.KAnonymity(k=3),))
    grouping = judge.build_grouping(small_with_gaps)
    live = np.ones(grouping.shape, dtype=np.bool_)
    condemn_nodes(live, grouping, judge, 0)
    assert live.all()


@pytest.fixture
def small_with_gaps() -> sf.Table:
    cells = {"a": ["x", None, "y"], "b": ["1", "1", "2"]}
    return sf.Table.of(cells, dict.fromkeys(cells, "quasi_identifying"), missing="matches_any")


@quick
@given(small=small_tables(with_missing=True), values=VALUES, model_name=st.sampled_from(sorted(MODELS)))
def test_coarsened_rows_have_the_same_classes_at_coarser_nodes(
    small: Small, values: list[str | None], model_name: str
) -> None:
    judge = ModelJudge((MODELS[model_name],))
    grouping = judge.build_grouping(with_values(small, values))
    nodes = {levels: grouping.decide(levels, judge) for levels in product(*map(range, grouping.shape))}
    for base_levels in nodes:
        part = grouping.coarsen(base_levels)
        for levels in product(*(range(low, size) for low, size in zip(base_levels, grouping.shape, strict=True))):
            assert part.decide(levels, judge) == nodes[levels]


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "numpy"])
@quick
@given(
    small=small_tables(with_missing=True),
    k=st.integers(1, 4),
    limit=st.sampled_from([0.0, 0.25, 1.0]),
    metric=st.sampled_from(["loss", "loss_geometric", "discernibility", "height"]),
)
def test_the_optimum_stays_the_optimum_when_everything_is_rolled_up(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, small: Small, k: int, limit: float, metric: str
) -> None:
    monkeypatch.setattr(rollup, "_LONG", 1)
    monkeypatch.setattr(rollup, "_HABIT", 0)
    monkeypatch.setattr(lattice_choice, "_work_total", 0)
    monkeypatch.setattr(
        lattice_choice, "_COMPILED_MODULE", "sfumato.kernels.anonymity.lattice" if compiled else "no.such.module"
    )
    nodes = [node for node in every_node(small.rows, small.hierarchies, k, "own_value") if node.classes]
    best = best_node(nodes, metric, int(Fraction(str(limit)) * len(small.rows)))
    method = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=limit, metric=metric)
    if best is None:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(small.table("own_value"))
        return
    release = method.protect(small.table("own_value"))
    assert tuple(release.details["levels"].values()) == best.levels
    assert release.losses["suppressed_rows"] == best.suppressed


def test_what_is_kept_has_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(3)
    cells = {name: [str(n) for n in chance.integers(0, 50, 400)] for name in "abc"}
    table = sf.Table.of(cells, dict.fromkeys(cells, "quasi_identifying"))
    monkeypatch.setattr(rollup, "_LONG", 1)
    monkeypatch.setattr(rollup, "_HABIT", 0)
    monkeypatch.setattr(rollup, "_ROOM", 0)
    grouping = Grouping.of(table)
    rolled = rollup.RollUp(grouping)
    groupings = {id(rolled.group_below(levels)): rolled.group_below(levels) for levels in product(range(2), repeat=3)}
    row_total = sum(part.distinct_rows for part in groupings.values() if part is not grouping)
    assert 0 < row_total <= 2 * grouping.distinct_rows


def test_the_geometric_loss_of_one_column_keeps_its_bounds() -> None:
    """The bound once shared its memory with the factors, rose twice, and ruled out the cheapest node."""
    rows = [["v0", "g1.0", "g2.0", "g3.0"], ["v1", "g1.0", "g2.0", "g3.0"], ["v2", "g1.1", "g2.1", "g3.1"]]
    table = sf.Table.of({"a": [None, "v0", "v0", "v1"]}, {"a": "quasi_identifying"}, {"a": sf.Hierarchy.of(rows)})
    method = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.25, metric="loss_geometric")
    assert method.protect(table).details["levels"] == {"a": 1}
