# SPDX-License-Identifier: MIT
"""Generalize against every node worked out by hand, on random small tables with missing cells."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from tests.brute import best_node, crowd_sizes, every_node, generalized, kept_rows
from tests.tables import Small, small_tables

MEANINGS = ("own_value", "matches_any", "never_matches")
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(
    small=small_tables(with_missing=True),
    k=st.integers(1, 4),
    limit=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
    metric=st.sampled_from(["loss", "loss_geometric", "discernibility", "height"]),
    missing=st.sampled_from(MEANINGS),
)
def test_the_optimum_is_the_optimum(small: Small, k: int, limit: float, metric: str, missing: str) -> None:
    nodes = list(every_node(small.rows, small.hierarchies, k, missing))
    best = best_node(nodes, metric, int(Fraction(str(limit)) * len(small.rows)))
    method = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=limit, metric=metric)
    if best is None:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(small.table(missing))
        return
    release = method.protect(small.table(missing))
    assert tuple(release.details["levels"].values()) == best.levels
    assert release.losses["loss"] == pytest.approx(float(best.loss))
    assert release.losses["loss_geometric"] == pytest.approx(float(best.geometric) ** (1 / len(best.levels)) - 1)
    assert release.losses["discernibility"] == best.discernibility
    assert release.losses["height"] == sum(best.levels)
    assert release.losses["suppressed_rows"] == best.suppressed
    published = len(small.rows) - best.suppressed
    assert release.losses["average_class_size"] == pytest.approx(published / best.classes)


@quick
@given(
    small=small_tables(with_missing=True),
    k=st.integers(1, 4),
    missing=st.sampled_from(MEANINGS),
    starred=st.booleans(),
)
def test_releases_hold_by_the_book(small: Small, k: int, missing: str, starred: bool) -> None:
    """The published rows, cell by cell, and their crowds, by plain Python."""
    table = small.table(missing)
    how = "star" if starred else "drop"
    method = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=1.0, suppressed_rows=how)
    try:
        release = method.protect(table)
    except sf.ImpossibleRelease:
        return
    assert all(finding.holds for finding in sf.check(release, table))
    levels = tuple(release.details["levels"].values())
    expected = generalized(small.rows, small.hierarchies, levels)
    kept_indices = kept_rows(expected, k, missing)
    names = [name for name in release.data.frame.columns if name != "s"]
    published = release.data.frame.select(names).rows()
    if starred:
        assert published == [expected[i] if i in kept_indices else ("*",) * len(names) for i in range(len(expected))]
    else:
        assert published == [expected[i] for i in kept_indices]
    assert min(crowd_sizes([expected[i] for i in kept_indices], missing)) >= k


@quick
@given(small=small_tables(with_missing=True), missing=st.sampled_from((*MEANINGS, "drop")))
def test_measures_agree_with_pairs_of_rows(small: Small, missing: str) -> None:
    table = small.table(missing)
    rows = [row for row in small.rows if None not in row] if missing == "drop" else small.rows
    sizes = crowd_sizes(rows, missing)
    assert sf.measure.k_anonymity(table) == min(sizes, default=0)
    expected = sum(size == 1 for size in sizes) / len(sizes) if sizes else 0.0
    assert sf.measure.uniqueness(table) == pytest.approx(expected)
    crowds = sf.measure.crowds(table)
    assert crowds["rows"].sum() == len(rows)
    assert int((crowds["rows"] * crowds["crowd"]).sum()) == sum(sizes)


@quick
@given(small=small_tables(with_missing=True), k=st.integers(1, 3))
def test_losses_measured_on_the_cells_equal_the_methods(small: Small, k: int) -> None:
    """Two counts of the same thing, by code that shares nothing."""
    table = small.table()
    try:
        release = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=0.5).protect(table)
    except sf.ImpossibleRelease:
        return
    starred = "suppressed" if release.losses["suppressed_rows"] else "class"
    assert sf.measure.loss(release.data) == pytest.approx(release.losses["loss"])
    assert sf.measure.discernibility(release.data, starred) == release.losses["discernibility"]  # type: ignore[arg-type]
    size = sf.measure.average_class_size(release.data, starred)  # type: ignore[arg-type]
    assert size == pytest.approx(release.losses["average_class_size"])


@quick
@given(small=small_tables(with_missing=True), k=st.integers(1, 3))
def test_missing_dropped_is_protecting_the_rest(small: Small, k: int) -> None:
    whole = [row for row in small.rows if None not in row]
    method = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=0.5)
    if not whole:
        with pytest.raises(sf.DataError):
            method.protect(small.table("drop"))
        return
    try:
        small_release = method.protect(Small(whole, small.hierarchies).table())
    except sf.ImpossibleRelease:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(small.table("drop"))
        return
    release = method.protect(small.table("drop"))
    assert release.details["levels"] == small_release.details["levels"]
    assert release.losses["dropped_rows"] == len(small.rows) - len(whole)
    assert [small.rows[i] for i in release.details["rows"]] == whole
