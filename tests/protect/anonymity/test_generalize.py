# SPDX-License-Identifier: MIT
"""The options of Generalize beyond the optimum: local recoding, heuristic search, weights, populations, reasons."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.changes import measure_changes, refuse_false_statements
from sfumato.protect.anonymity.explain import explain, explain_release
from tests.brute import best_node, every_node, work_out
from tests.contract.examples import people
from tests.tables import Small, hospital, small_tables

quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(small=small_tables(with_missing=True), k=st.integers(1, 3), diverse=st.booleans())
def test_local_recoding_keeps_every_promise(small: Small, k: int, diverse: bool) -> None:
    """Each class of published tuples satisfies the models, cells are true, and nothing is worse than globally."""
    table = small.table()
    models: tuple[Any, ...] = (sf.KAnonymity(k=k),)
    if diverse:
        models = (*models, sf.LDiversity(l=2, column="s"))
    method = sf.Generalize(models=models, suppression_limit=0.5, recoding="local")
    try:
        release = method.protect(table)
    except sf.ImpossibleRelease:
        return
    assert all(finding.holds for finding in sf.check(release, table))
    names = table.quasi_identifying
    rows = release.data.frame.select(names).rows()
    published_rows = [row for row in rows if row != ("*",) * len(names)]
    if release.losses["suppressed_rows"]:
        sizes = Counter(published_rows)
        assert release.losses["suppressed_rows"] == len(rows) - len(published_rows)
    else:
        sizes = Counter(rows)
    assert min(sizes.values(), default=k) >= k
    global_release = sf.Generalize(models=models, suppression_limit=0.5).protect(table)
    if not diverse:
        assert release.losses["loss"] <= global_release.losses["loss"] + 1e-9


TOWNS = [["Rome", "Italy", "*"], ["Milan", "Italy", "*"], ["Oslo", "Norway", "*"], ["Bergen", "Norway", "*"]]
CITY_STATES = [["Rome", "Italy", "*"], ["Milan", "Italy", "*"], ["Monaco", "Monaco", "*"], ["Nice", "France", "*"]]


@pytest.mark.parametrize(
    ("towns", "tree", "recoding", "kind", "level"),
    [
        (["Rome", "Rome", "Oslo", "Oslo"], TOWNS, "global", "kept", 0),
        (["Rome", "Milan", "Oslo", "Bergen"], TOWNS, "global", "generalized", 1),
        (["Rome", "Milan", "Monaco", "Monaco"], CITY_STATES, "global", "partly_generalized", 1),
        (["Rome", "Rome", "Oslo", "Oslo"], TOWNS, "local", "kept", 0),
        (["Rome", "Rome", "Oslo", "Bergen"], TOWNS, "local", "partly_generalized", None),
        (["Rome", "Milan", "Oslo", "Bergen"], TOWNS, "local", "generalized", 1),
    ],
)
def test_a_column_is_stated_to_show_values_if_it_does(
    towns: list[str], tree: list[list[str]], recoding: Literal["global", "local"], kind: str, level: int | None
) -> None:
    table = sf.Table.of({"town": towns}, {"town": "quasi_identifying"}, {"town": tree})
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), recoding=recoding).protect(table)
    (change,) = release.changes
    assert (change.kind, change.level, change.height) == (kind, level, 2)
    assert (kind == "generalized") == set(towns).isdisjoint(release.data.frame["town"])
    refuse_false_statements(release.changes, measure_changes(table, release.data, release.details.rows))


@quick
@given(
    small=small_tables(),
    k=st.integers(2, 4),
    limit=st.sampled_from([0.0, 0.5, 1.0]),
    metric=st.sampled_from(["loss", "discernibility", "height"]),
)
def test_a_minimal_node_is_called_the_best_only_if_it_is(small: Small, k: int, limit: float, metric: Any) -> None:
    models = (sf.KAnonymity(k=k),)
    try:
        best = sf.Generalize(models=models, suppression_limit=limit, metric=metric).protect(small.table())
    except sf.ImpossibleRelease:
        return
    minimal = sf.Generalize(models=models, suppression_limit=limit, metric=metric, search="minimal").protect(
        small.table()
    )
    assert minimal.losses[metric] >= best.losses[metric]
    if minimal.details["proven"]:
        assert minimal.losses[metric] == best.losses[metric]
    assert minimal.details["proven"] or limit > 0


def test_a_coarser_node_that_suppresses_less_may_lose_less_than_all_minimal_ones() -> None:
    """One of the originals is suppressed at the finest node; one level up all are published."""
    tree = [["a", "ab", "*"], ["b", "ab", "*"], ["c", "cd", "*"], ["d", "cd", "*"]]
    table = sf.Table.of({"q": ["a", "a", "b", "c", "d"]}, {"q": "quasi_identifying"}, {"q": tree})
    found = {}
    for search in ("minimal", "optimal"):
        release = sf.Generalize(models=(sf.KAnonymity(k=2),), search=search, suppression_limit=0.6).protect(table)
        found[search] = (release.details["levels"]["q"], release.losses["loss"], release.details["proven"])
    assert found == {"minimal": (0, 0.6, False), "optimal": (1, pytest.approx(1 / 3), True)}


@quick
@given(small=small_tables(), k=st.integers(1, 3))
def test_a_heuristic_search_finds_something_true(small: Small, k: int) -> None:
    method = sf.Generalize(models=(sf.KAnonymity(k=k),), search="heuristic", seconds=0.05)
    best = best_node(list(every_node(small.rows, small.hierarchies, k, "own_value")), "loss", 0)
    if best is None:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(small.table())
        return
    release = method.protect(small.table())
    levels = tuple(release.details["levels"].values())
    node = work_out(small.rows, small.hierarchies, levels, k, "own_value")
    assert node.suppressed == 0
    assert release.losses["loss"] == pytest.approx(float(node.loss))
    assert node.loss >= best.loss
    if release.details["proven"]:
        assert node.loss == best.loss


def test_a_heuristic_search_goes_where_no_optimal_one_can() -> None:
    columns = {f"q{i}": [f"v{(row * (i + 1)) % 3}" for row in range(300)] for i in range(26)}
    table = sf.Table.of(columns, dict.fromkeys(columns, "quasi_identifying"))
    with pytest.raises(sf.PolicyError, match="67,108,864 combinations"):
        sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(table)
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), search="heuristic", seconds=0.5).protect(table)
    assert not release.details["proven"]
    assert all(finding.holds for finding in sf.check(release, table))


@quick
@given(
    small=small_tables(),
    k=st.integers(1, 3),
    weights=st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=3, max_size=3),
)
def test_weights_decide_what_is_best(small: Small, k: int, weights: list[float]) -> None:
    table = small.table()
    column_weights = dict(zip(table.quasi_identifying, weights, strict=False))
    method = sf.Generalize(models=(sf.KAnonymity(k=k),), weights=column_weights)
    try:
        release = method.protect(table)
    except sf.ImpossibleRelease:
        return
    whole = sum(column_weights.values())

    def weighted(node: Any) -> float:
        columns = [
            work_out([(row[i],) for row in small.rows], [small.hierarchies[i]], (level,), 1, "own_value").loss
            for i, level in enumerate(node.levels)
        ]
        return sum(w * float(x) for w, x in zip(column_weights.values(), columns, strict=True)) / whole

    safe = [n for n in every_node(small.rows, small.hierarchies, k, "own_value") if n.suppressed == 0]
    assert release.losses["weighted_loss"] == pytest.approx(min(weighted(node) for node in safe))


def test_a_population_may_hide_people() -> None:
    """Everybody is alone in the release, and one of two in the population."""
    table = sf.Table.of({"age": ["1", "2", "3"]}, {"age": "quasi_identifying"}, {"age": [[a, "*"] for a in "123"]})
    population = sf.Table.of({"age": ["1", "1", "2", "2", "3", "3"]}, source="census")
    release = sf.Generalize(models=(sf.KMap(k=2, population=population),)).protect(table)
    assert release.details["levels"] == {"age": 0}
    assert next((f.property, f.measured, f.holds) for f in sf.check(release, table)) == ("k_map", 2, True)
    present = sf.DeltaPresence(high=0.5, population=population)
    assert sf.Generalize(models=(present,)).protect(table).details["levels"] == {"age": 0}
    with pytest.raises(sf.ImpossibleRelease):
        sf.Generalize(models=(sf.DeltaPresence(high=0.4, population=population),)).protect(table)


def test_presence_of_absent_people() -> None:
    """Someone who fits no published class is known not to be there: low > 0 forbids that."""
    table = sf.Table.of({"age": ["1", "2"]}, {"age": "quasi_identifying"}, {"age": [[a, "*"] for a in "123"]})
    population = sf.Table.of({"age": ["1", "1", "2", "2", "3"]}, source="census")
    release = sf.Generalize(models=(sf.DeltaPresence(low=0.1, high=0.5, population=population),)).protect(table)
    assert release.details["levels"] == {"age": 1}


def test_models_that_compare_need_suppressed_rows_to_stay() -> None:
    with pytest.raises(ValueError, match="use star"):
        sf.Generalize(models=(sf.TCloseness(t=0.2, column="s"),), suppression_limit=0.1, suppressed_rows="drop")


def test_reasons_for_levels() -> None:
    table = hospital()
    release = sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(table)
    whys = {why.column: why for why in explain(release, table)}
    assert whys["zip"].level == 0
    assert whys["dob"].forced_by == 6
    assert whys["sex"].forced_by == 2
    assert whys["dob"].finer_levels == {"dob": 0, "sex": 1, "zip": 2}
    assert "6 rows" in whys["dob"].describe_reason()
    assert len(explain_release(release, table).lattice) == 12
    assert [node.levels for node in explain_release(release, table).lattice if node.is_chosen] == [(1, 1, 0)]


def test_a_column_that_cannot_be_finer_says_what_it_would_take() -> None:
    table = sf.Table.of({"id": ["1", "2", "3", "4"]}, {"id": "quasi_identifying"}, {"id": [[a, "*"] for a in "1234"]})
    release = sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(table)
    (why,) = explain(release, table)
    assert why.finer_loss is None
    assert why.needed_limit == 1.0
    assert "suppression limit of 1 or more" in why.describe_reason()


def test_the_nearest_possible_setting_is_told() -> None:
    table = sf.Table.of({"sex": ["f"] * 5 + ["m"] * 3}, {"sex": "quasi_identifying"}, {"sex": [["f", "f"], ["m", "m"]]})
    with pytest.raises(sf.ImpossibleRelease, match=r"suppression_limit to 0\.375 .* k = 3 at most"):
        sf.Generalize(models=(sf.KAnonymity(k=4),)).protect(table)


@pytest.mark.parametrize("men", [4, 7, 17, 29])
def test_the_suppression_limit_that_is_told_suffices_as_it_is_written(men: int) -> None:
    """2 of 6 rows are 0.3333…: with 0.3333 only one may be suppressed."""
    sexes = {"sex": ["f"] * 2 + ["m"] * men}
    table = sf.Table.of(sexes, {"sex": "quasi_identifying"}, {"sex": [["f"], ["m"]]})
    with pytest.raises(sf.ImpossibleRelease) as caught:
        sf.Generalize(models=(sf.KAnonymity(k=3),)).protect(table)
    limit = float(re.findall(r"raise suppression_limit to ([0-9.]+) or more", str(caught.value))[0])
    release = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=limit).protect(table)
    assert release.losses["suppressed_rows"] == 2


def test_nothing_is_advised_that_does_not_help() -> None:
    """Everything is * already, and nobody is hidden among one."""
    table = sf.Table.of({"sex": ["f"]}, {"sex": "quasi_identifying"})
    with pytest.raises(sf.ImpossibleRelease) as caught:
        sf.Generalize(models=(sf.KAnonymity(k=3),)).protect(table)
    assert str(caught.value).endswith("0 of 1 row suppressed (at the top, 1 is); relax the models, or add rows")


def test_minimal_search_publishes_one_of_the_minimal_nodes() -> None:
    table = people(300)
    release = sf.Generalize(models=(sf.KAnonymity(k=3),), search="minimal", suppression_limit=0.1).protect(table)
    assert tuple(release.details["levels"].values()) in release.details["minimal"]
    optimal = sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.1).protect(table)
    assert release.losses["loss"] >= optimal.losses["loss"] - 1e-12


def test_a_class_accepted_by_a_hair_rules_nothing_out() -> None:
    """Its distance is exactly t, up to rounding: the search must not take it for refused (found by exhaustion)."""
    table = sf.Table.of(
        {"q": [None] * 5 + ["v0"], "s": ["s0", "s1", "s1", "s2", "s2", "s0"]},
        {"q": "quasi_identifying", "s": "sensitive"},
    )
    release = sf.Generalize(models=(sf.TCloseness(t=0.5, column="s", distance="ordered"),)).protect(table)
    assert release.details["levels"] == {"q": 0}
    assert all(finding.holds for finding in sf.check(release, table))


def test_local_recoding_publishes_one_class_of_everybody_if_only_that_is_safe() -> None:
    """The only accepted class shows `*` for all; as suppressed rows, all of them were more than the limit allows."""
    table = sf.Table.of(
        {"age": [20, 31, 42, 53, 64, 75], "pay": [1, 2, 3, 1, 2, 3]},
        roles={"age": "quasi_identifying", "pay": "sensitive"},
    )
    models = (sf.KAnonymity(k=5), sf.DeltaDisclosure(delta=1, column="pay"))
    for recoding in ("global", "local"):
        release = sf.Generalize(models=models, suppression_limit=0.2, recoding=recoding).protect(table)
        assert release.data.frame["age"].to_list() == ["*"] * 6
        assert release.data.frame["pay"].to_list() == [1, 2, 3, 1, 2, 3]
        assert release.losses["suppressed_rows"] == 0
        assert all(finding.holds for finding in sf.check(release, table))
