# SPDX-License-Identifier: MIT
"""Suppressed rows are a class that everybody can see: they are enough for every model, or tell nothing sensitive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.workflow.policy_parts.policy_sections import DataSection
from sfumato.workflow.summary.suppression_summary import summarize_suppression
from tests.contract.runs import GivenPolicy

ROLES = {"age": "quasi_identifying", "town": "quasi_identifying", "ill": "sensitive", "pay": "sensitive"}


def clinic(strangers: list[str]) -> sf.Table:
    """Twenty people who hide one another, and some of other ages and towns, each unlike all others."""
    frame = pl.DataFrame(
        {
            "age": [30] * 20 + [60 + index for index in range(len(strangers))],
            "town": ["Aton"] * 20 + [f"T{index}" for index in range(len(strangers))],
            "ill": ["flu", "cold"] * 10 + strangers,
            "pay": list(range(20 + len(strangers))),
        }
    )
    return sf.Table.of(frame, ROLES)


def words(release: Any) -> str:
    policy = GivenPolicy(data=DataSection(path="unread"), protect=(release.method,))
    return str(summarize_suppression(policy, release)["why"])


DIVERSE = sf.LDiversity(l=2, column="ill")


def test_rows_of_stars_with_one_disease_do_not_tell_it() -> None:
    """Five starred rows, all "hiv": under l = 2 each of five people was known to have it."""
    table = clinic(["hiv"] * 5)
    release = sf.Generalize(models=(DIVERSE,), suppression_limit=0.2).protect(table)
    stars = release.data.frame.filter(pl.col("town") == "*")
    assert len(stars) == release.losses["suppressed_rows"] == 5
    assert stars["ill"].null_count() == stars["pay"].null_count() == 5
    assert all(finding.holds for finding in sf.check(release, table))
    assert words(release) == "The 5 suppressed rows show neither quasi-identifying nor sensitive values."
    leaking_release = replace(
        release, data=release.data.replace_frame(release.data.frame.with_columns(table.frame["ill"]))
    )
    broken_properties = [finding.property for finding in sf.check(leaking_release, table) if not finding.holds]
    assert broken_properties == ["shown_in_suppressed"]


def test_as_many_rows_of_stars_as_the_models_want_are_a_class() -> None:
    table = clinic(["hiv", "flu", "hiv", "cold", "flu"])
    release = sf.Generalize(models=(sf.KAnonymity(k=5),), suppression_limit=0.2).protect(table)
    assert release.losses["suppressed_rows"] == 5
    assert release.data.frame["ill"].equals(table.frame["ill"])
    assert words(release).startswith("The 5 suppressed rows look alike")
    assert all(finding.holds for finding in sf.check(release, table))
    shorter = replace(release, data=release.data.replace_frame(release.data.frame.head(24)))
    assert {finding.property for finding in sf.check(shorter) if finding.holds is False} == {"k_anonymity"}


@pytest.mark.parametrize("recoding", ["global", "local"])
@pytest.mark.parametrize(
    "model",
    [
        DIVERSE,
        sf.AlphaKAnonymity(alpha=0.6, k=2, column="ill"),
        sf.TCloseness(t=0.5, column="ill"),
        sf.BetaLikeness(beta=2.0, column="ill"),
    ],
    ids=lambda model: str(model.model),
)
def test_empty_cells_do_not_tell_that_suppressed_people_have_the_same_value(model: Any, recoding: Any) -> None:
    """Whatever the suppressed people have, the release is the same: one of them cannot tell what the others have."""
    frames = []
    for strangers in (["hiv", "flu", "hiv", "cold", "flu"], ["hiv"] * 5, ["flu", "cold", "flu", "cold", "flu"]):
        table = clinic(strangers)
        method = sf.Generalize(models=(sf.KAnonymity(k=5), model), suppression_limit=0.2, recoding=recoding)
        release = method.protect(table)
        assert release.losses["suppressed_rows"] == 5
        assert all(finding.holds for finding in sf.check(release, table))
        frames.append(release.data.frame)
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])
    assert frames[0]["ill"].null_count() == frames[0]["pay"].null_count() == 5


def test_fewer_than_k_are_not_shown() -> None:
    table = clinic(["hiv", "flu"])
    for method in (
        sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.2),
        sf.KOptimize(k=3, seconds=5.0),
    ):
        release = method.protect(table)
        assert release.losses["suppressed_rows"] == 2
        assert release.data.frame["ill"].null_count() == 2
        assert all(finding.holds for finding in sf.check(release, table))


def test_how_many_rows_the_cheapest_cuts_suppress_is_no_promise() -> None:
    release = sf.KOptimize(k=3, seconds=5.0).protect(clinic(["hiv"] * 2))
    assert release.losses["suppressed_rows"] == 2
    assert "suppressed_share" not in {claim.property for claim in release.claims}


def test_the_custodian_may_always_blank_or_drop_them() -> None:
    table = clinic(["hiv", "flu", "hiv", "cold", "flu"])
    blank = sf.Generalize(models=(DIVERSE,), suppression_limit=0.2, suppressed_rows="blank").protect(table)
    assert blank.data.frame["ill"].null_count() == 5
    drop = sf.Generalize(models=(DIVERSE,), suppression_limit=0.2, suppressed_rows="drop").protect(table)
    assert len(drop.data) == 20
    for release in (blank, drop):
        assert all(finding.holds for finding in sf.check(release, table))


@pytest.mark.parametrize("distance", ["equal", "ordered"])
def test_closeness_to_a_table_with_empty_cells_needs_the_originals(distance: Any) -> None:
    table = clinic(["hiv"] * 5)
    method = sf.Generalize(models=(sf.TCloseness(t=0.3, column="ill", distance=distance),), suppression_limit=0.2)
    release = method.protect(table)
    assert release.data.frame["ill"].null_count() == 5
    closeness = [finding for finding in sf.check(release, table) if finding.property == "t_closeness"]
    assert [finding.holds for finding in closeness] == [True]
    assert [finding.holds for finding in sf.check(release) if finding.property == "t_closeness"] == [None]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from("xyz")), min_size=3, max_size=14),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_every_class_that_can_be_seen_satisfies_the_models(rows: list[tuple[int, int, str]], k: int, l: int) -> None:
    table = sf.Table.of(
        pl.DataFrame(rows, schema=["age", "town", "ill"], orient="row").cast({"town": pl.String}),
        {"age": "quasi_identifying", "town": "quasi_identifying", "ill": "sensitive"},
    )
    models = (sf.KAnonymity(k=k), sf.LDiversity(l=l, column="ill"))
    try:
        release = sf.Generalize(models=models, suppression_limit=0.5).protect(table)
    except sf.ImpossibleRelease:
        return
    for _, members in release.data.frame.cast({"age": pl.String}).group_by("age", "town"):
        known_values = members["ill"].drop_nulls()
        assert not len(known_values) or (len(known_values) >= k and known_values.n_unique() >= l)
    assert all(finding.holds for finding in sf.check(release, table))


@pytest.mark.parametrize("suppressed_rows", ["star", "drop"])
def test_a_class_of_everybody_is_published_before_everybody_is_suppressed(suppressed_rows: Any) -> None:
    table = sf.Table.of(
        {"q": [f"{i}.5" for i in range(20)], "ill": ["flu", "cold"] * 10},
        {"q": "quasi_identifying", "ill": "sensitive"},
    )
    method = sf.Generalize(
        models=(sf.KAnonymity(k=2), DIVERSE), suppression_limit=1, recoding="local", suppressed_rows=suppressed_rows
    )
    release = method.protect(table)
    assert release.data.frame["ill"].to_list() == table.frame["ill"].to_list()
    assert all(finding.holds for finding in sf.check(release, table))
