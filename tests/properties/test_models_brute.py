# SPDX-License-Identifier: MIT
"""Generalize under every model against definitions and exhaustion, on random small tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.protect.anonymity.models.class_models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from tests import brute_models as book
from tests.brute import fitting_sizes, generalized, matches
from tests.tables import Small, small_tables

Accepts = Callable[[list[Any], list[Any]], bool]
ORDER = ["s0", "s1", "s2", "s3"]


def models() -> st.SearchStrategy[tuple[Any, Accepts]]:
    """A model, and whether a class (its values, the whole table's) satisfies it by the book."""

    def ordered(whole: list[Any]) -> list[Any]:
        return [value for value in ORDER if value in whole]

    return st.one_of(
        st.integers(1, 4).map(lambda k: (KAnonymity(k=k), lambda c, w: len(c) >= k)),
        st.integers(1, 3).map(lambda n: (LDiversity(l=n, column="s"), lambda c, w: book.distinct_l(c) >= n)),
        st.sampled_from([1.2, 1.5, 2.0, 2.5]).map(
            lambda n: (LDiversity(l=n, column="s", kind="entropy"), lambda c, w: book.entropy_l(c) >= n - 1e-9)
        ),
        st.tuples(st.integers(1, 3), st.sampled_from([0.7, 1.5, 3.0])).map(
            lambda lc: (
                LDiversity(l=lc[0], column="s", kind="recursive", c=lc[1]),
                lambda c, w: book.recursive_ratio(c, lc[0]) < lc[1],
            )
        ),
        st.sampled_from([0.1, 0.25, 0.5]).map(
            lambda t: (TCloseness(t=t, column="s"), lambda c, w: book.t_equal(c, w) <= Fraction(str(t)))
        ),
        st.sampled_from([0.1, 0.25, 0.5]).map(
            lambda t: (
                TCloseness(t=t, column="s", distance="ordered"),
                lambda c, w: book.t_ordered(c, w, ordered(w)) <= Fraction(str(t)),
            )
        ),
        st.sampled_from([0.34, 0.5, 0.75]).map(
            lambda a: (
                AlphaKAnonymity(k=2, alpha=a, column="s"),
                lambda c, w: len(c) >= 2 and book.alpha(c) <= Fraction(str(a)),
            )
        ),
        st.sampled_from([0.3, 1.0, 2.0]).map(
            lambda b: (BetaLikeness(beta=b, column="s"), lambda c, w: book.beta(c, w) <= Fraction(str(b)))
        ),
        st.sampled_from([0.3, 1.0]).map(
            lambda b: (
                BetaLikeness(beta=b, column="s", enhanced=True),
                lambda c, w: book.enhanced_beta_holds(c, w, b),
            )
        ),
        st.sampled_from([0.5, 1.1]).map(
            lambda d: (DeltaDisclosure(delta=d, column="s"), lambda c, w: book.delta_disclosure(c, w) < d - 1e-9)
        ),
    )


def nodes_by_the_book(small: Small, values: list[str], accepted: list[Accepts]) -> dict[tuple[int, ...], list[int]]:
    """Per node, the rows that may be published."""
    rows_by_node = {}
    for levels in product(*(range(len(hierarchy[0])) for hierarchy in small.hierarchies)):
        classes: dict[Any, list[int]] = defaultdict(list)
        for row, cells in enumerate(generalized(small.rows, small.hierarchies, levels)):
            classes[cells].append(row)
        good = [
            rows for rows in classes.values() if all(accepts([values[i] for i in rows], values) for accepts in accepted)
        ]
        rows_by_node[levels] = sorted(row for rows in good for row in rows)
    return rows_by_node


def table_of(small: Small, values: list[str]) -> sf.Table:
    table = small.table()
    return sf.Table.of(
        table.frame.with_columns(pl.Series("s", values)), dict(table.roles), dict(table.hierarchies), "own_value"
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Small, list[str], list[tuple[Any, Accepts]], float]:
    small = draw(small_tables(with_missing=draw(st.booleans())))
    values = draw(st.lists(st.sampled_from(ORDER), min_size=len(small.rows), max_size=len(small.rows)))
    return small, values, draw(st.lists(models(), min_size=1, max_size=2)), draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=cases(), metric=st.sampled_from(["loss", "discernibility"]))
def test_the_optimum_under_any_models(case: Any, metric: str) -> None:
    small, values, model_pairs, limit = case
    rows_by_node = nodes_by_the_book(small, values, [accepts for _, accepts in model_pairs])
    most = int(Fraction(str(limit)) * len(values))
    possible = [levels for levels, rows in rows_by_node.items() if rows and len(values) - len(rows) <= most]
    method = sf.Generalize(models=tuple(m for m, _ in model_pairs), suppression_limit=limit, metric=metric)
    table = table_of(small, values)
    if not possible:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(table)
        return
    release = method.protect(table)
    levels = tuple(release.details["levels"].values())
    assert levels in possible
    assert sorted(set(range(len(values))) - set(release.details["suppressed"].tolist())) == rows_by_node[levels]
    costs = [cost_of(small, values, node, rows_by_node[node], metric) for node in possible]
    assert cost_of(small, values, levels, rows_by_node[levels], metric) == min(costs)


def cost_of(small: Small, values: list[str], levels: tuple[int, ...], kept_rows: list[int], metric: str) -> Fraction:
    """What a node costs when just these rows are published."""
    from tests.brute import cell_loss

    published = generalized(small.rows, small.hierarchies, levels)
    count = len(values)
    if metric == "discernibility":
        sizes: dict[Any, int] = defaultdict(int)
        for row in kept_rows:
            sizes[published[row]] += 1
        return Fraction(sum(size**2 for size in sizes.values()) + (count - len(kept_rows)) * count)
    loss = Fraction((count - len(kept_rows)) * len(levels))
    for row in kept_rows:
        for column, level in enumerate(levels):
            loss += cell_loss(published[row][column], small.hierarchies[column], level)
    return loss / (count * len(levels))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=cases())
def test_all_minimal_nodes(case: Any) -> None:
    small, values, model_pairs, limit = case
    rows_by_node = nodes_by_the_book(small, values, [accepts for _, accepts in model_pairs])
    most = int(Fraction(str(limit)) * len(values))
    possible = {levels for levels, rows in rows_by_node.items() if rows and len(values) - len(rows) <= most}
    minimal = {
        node for node in possible if not any(two != node and all(map(int.__le__, two, node)) for two in possible)
    }
    result_nodes = sf.protect.minimal_nodes(
        table_of(small, values), [m for m, _ in model_pairs], suppression_limit=limit
    )
    assert set(result_nodes) == minimal
    assert len(result_nodes) == len(minimal)


def test_the_seeds_minimal_nodes() -> None:
    from tests.tables import hospital

    assert set(sf.protect.minimal_nodes(hospital(), [KAnonymity(k=2)])) == {(1, 1, 0), (0, 1, 2), (1, 0, 2)}
    assert set(sf.protect.minimal_nodes(hospital(), [KAnonymity(k=3)])) == {(1, 0, 2)}


def _shows(row: Any, cells: Any) -> bool:
    return all(row_cell is None or row_cell == cell for row_cell, cell in zip(row, cells, strict=True))


def kept_where_missing_matches_anything(
    small: Small, values: list[str], accepted: list[Accepts], levels: Any, least: int
) -> list[int]:
    """The largest set of rows in which the crowd of each satisfies the models: take refused rows out, again.

    So do all people who have whatever a row shows, published or not.
    """
    published = generalized(small.rows, small.hierarchies, levels)
    fits = fitting_sizes(published, published)
    visible_values = [
        [value for value, cells in zip(values, published, strict=True) if _shows(row, cells)] for row in published
    ]
    kept_rows = list(range(len(values)))
    while True:
        next_rows = []
        for row in kept_rows:
            crowd = [
                values[other]
                for other in kept_rows
                if other == row or matches(published[row], published[other], "matches_any")
            ]
            safe = all(accepts(crowd, values) and accepts(visible_values[row], values) for accepts in accepted)
            if safe and fits[row] >= least:
                next_rows.append(row)
        if next_rows == kept_rows:
            return kept_rows
        kept_rows = next_rows


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(case=cases())
def test_the_optimum_where_crowds_overlap(case: Any) -> None:
    """Without suppression, where a coarser crowd is no union of finer ones and nothing follows upward."""
    small, values, model_pairs, _ = case
    accepted = [accepts for _, accepts in model_pairs]
    least = max(ceil(getattr(model, "k", getattr(model, "l", 1))) for model, _ in model_pairs)
    shape = product(*(range(len(hierarchy[0])) for hierarchy in small.hierarchies))
    possible = [
        levels
        for levels in shape
        if len(kept_where_missing_matches_anything(small, values, accepted, levels, least)) == len(values)
    ]
    table = table_of(small, values)
    table = sf.Table.of(table.frame, dict(table.roles), dict(table.hierarchies), "matches_any")
    method = sf.Generalize(models=tuple(model for model, _ in model_pairs))
    if not possible:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(table)
        return
    all_rows = list(range(len(values)))
    best = min(cost_of(small, values, levels, all_rows, "loss") for levels in possible)
    release = method.protect(table)
    levels = tuple(release.details["levels"].values())
    assert levels in possible
    assert cost_of(small, values, levels, all_rows, "loss") == best
