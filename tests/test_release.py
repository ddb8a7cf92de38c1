# SPDX-License-Identifier: MIT
"""A release in Python: its data shares no memory with the originals, and a pickle is what a recipient may have."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.details import Details, accept_details, list_families
from tests.contract.canaries import bytes_of_arrow, leaked


def make_people() -> sf.Table:
    """Twelve people in two age groups, and one whose age and note nobody shares."""
    ages = [30, 31, 32, 33, 34, 35, 60, 61, 62, 63, 64, 65, 97]
    notes = [f"a note that is long enough {n:03}" for n in range(13)]
    return sf.Table.of(
        {"name": [f"zqname{n:03}" for n in range(13)], "age": ages, "note": notes},
        {"name": "identifying", "age": "quasi_identifying", "note": "insensitive"},
        {"age": {"kind": "intervals", "widths": [20]}},
        source="/home/zquser/secret folder/people.csv",
    )


def release_people() -> sf.Release:
    method = sf.Generalize(models=[sf.KAnonymity(k=5)], suppression_limit=0.1, suppressed_rows="drop")
    return method.protect(make_people())


def test_a_pickled_table_of_a_release_names_no_original_value_and_no_path() -> None:
    release = release_people()
    assert len(release.data) == 12
    packed = pickle.dumps(release.data)
    assert leaked(["long enough 012", "97", "zqname", "zquser", "people.csv", "30", "65"], [packed]) == []
    table_copy = pickle.loads(packed)
    assert table_copy.frame.equals(release.data.frame)
    assert dict(table_copy.roles) == dict(release.data.roles)
    assert table_copy.missing == release.data.missing
    assert table_copy.is_release
    assert dict(table_copy.hierarchies) == {}


def test_what_is_made_of_a_released_table_is_pickled_alike() -> None:
    part = release_people().data
    part = part.replace_frame(part.frame.head(3))
    assert leaked(["zquser", "97"], [pickle.dumps(part)]) == []


def test_a_table_of_originals_is_pickled_whole() -> None:
    people = make_people()
    table_copy = pickle.loads(pickle.dumps(people))
    assert table_copy == people
    assert table_copy.source == people.source
    assert not table_copy.is_release


def test_a_pickled_release_is_what_its_recipient_may_have() -> None:
    release = release_people()
    packed = pickle.dumps(release)
    assert leaked(["long enough 012", "97", "zqname", "zquser"], [packed]) == []
    release_copy = pickle.loads(packed)
    assert release_copy.method is None
    assert dict(release_copy.details) == {}
    assert release_copy.claims == release.claims
    assert dict(release_copy.losses) == {}, "exact losses compare with the originals"
    assert release_copy.data.frame.equals(release.data.frame)
    assert all(finding.holds for finding in sf.check(release_copy) if finding.measured is not None)


def test_a_pickled_claim_lists_no_value_that_only_suppressed_people_have() -> None:
    """The claim of an ordered t-closeness lists the values of its column in order."""
    ages, ills = [30] * 20 + [40] * 20 + [97], ["a1", "b2", "c3", "d4"] * 10 + ["zqrare"]
    roles = {"age": "quasi_identifying", "ill": "sensitive"}
    models = [sf.KAnonymity(k=5), sf.TCloseness(t=0.9, column="ill", distance="ordered")]
    release = sf.Generalize(models=models, suppression_limit=0.1).protect(
        sf.Table.of({"age": ages, "ill": ills}, roles)
    )
    assert any("zqrare" in str(claim.arguments) for claim in release.claims), "otherwise this shows nothing"
    assert leaked(["zqrare"], [pickle.dumps(release)]) == []
    release_copy = pickle.loads(pickle.dumps(release))
    assert any(claim.arguments.get("order") == ("a1", "b2", "c3", "d4") for claim in release_copy.claims)


def test_a_pickled_release_tells_only_the_budget_of_its_losses() -> None:
    release = sf.Release(make_people(), None, (), {"loss": 0.123456789, "suppressed_rows": 1, "epsilon": 2.0})
    assert dict(pickle.loads(pickle.dumps(release)).losses) == {"epsilon": 2.0}


def test_copies_within_the_process_keep_method_details_and_hierarchies() -> None:
    release = release_people()
    for release_copy in (copy.copy(release), copy.deepcopy(release)):
        assert release_copy.method == release.method
        assert set(release_copy.details) == set(release.details)
        assert release_copy.data == release.data
        assert set(release_copy.data.hierarchies) == {"age"}
    assert copy.deepcopy(release).details is not release.details


def test_a_release_made_by_hand_shares_no_memory_with_the_originals() -> None:
    people = make_people()
    shared = people.replace_frame(people.frame.drop("name").head(2))
    release = sf.Release(shared, None, (), {})
    arrow = release.data.frame.to_arrow(compat_level=pl.CompatLevel.newest())
    assert leaked([f"long enough {n:03}" for n in range(2, 13)], bytes_of_arrow(arrow)) == []
    assert not people.is_release


def test_whose_baskets_they_were_is_not_in_a_release(tmp_path: Path) -> None:
    baskets = sf.Baskets.of([["bread", "milk"], ["bread"], ["milk", "zqnuts"]], ids=["zqann", "zqbob", "zqcem"])
    release = sf.HideItems(items=("zqnuts",), min_support=0.1, min_confidence=0.5).protect(baskets)
    assert release.data.ids is None
    assert leaked(["zqann", "zqbob", "zqcem", "zqnuts"], [pickle.dumps(release), pickle.dumps(release.data)]) == []
    assert baskets.ids == ("zqann", "zqbob", "zqcem")


def test_details_given_by_name_belong_to_no_family() -> None:
    """`min_support` is a field of two families: nobody guesses which is meant, and a name of none is a mistake."""
    release = sf.Release(sf.Table.of({"a": [1, 2]}), None, (), {}, accept_details({"min_support": 2, "rows": [1, 0]}))
    assert dict(release.details) == {"min_support": 2, "rows": [1, 0]}
    assert all(
        release.details.get_family(family) is None for family in list_families().values() if family is not Details
    )
    with pytest.raises(sf.PolicyError, match="unknown details: suport"):
        accept_details({"suport": 2})
