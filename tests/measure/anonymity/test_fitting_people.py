# SPDX-License-Identifier: MIT
"""People who fit published rows, by hand, by brute force, and after rows were blanked to look like a crowd."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.anonymity.fitting_people import count_fewest_fitting, fitting_people
from sfumato.protect.claims import guard_blanks
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from sfumato.workflow.policy import Policy
from tests.brute import fitting_sizes, generalized
from tests.tables import Small, small_tables

ROLES = {"age": "quasi_identifying", "town": "quasi_identifying"}


def table(ages: list[Any], towns: list[Any]) -> sf.Table:
    return sf.Table.of({"age": ages, "town": towns}, ROLES, missing="matches_any")


PEOPLE = table([20, 21, 30, 30, None], ["Ulm", "Ulm", "Bonn", "Jena", "Jena"])


@pytest.mark.parametrize(
    ("age", "town", "people"),
    [
        ("20", "Ulm", 1),
        (None, "Ulm", 2),
        (None, None, 5),
        ("*", "*", 5),
        ("[20, 29]", "Ulm", 2),
        ("[20, 30]", None, 4),  # a missing age is not known to be among them
        ("30", "{Bonn, Jena}", 2),
        ("20", "Bonn", 0),
        ("99", "Ulm", 0),
    ],
)
def test_who_fits_by_hand(age: str | None, town: str | None, people: int) -> None:
    published = table([age], [town])
    assert fitting_people(published, PEOPLE).rows() == [(1, people)]
    assert count_fewest_fitting(published, PEOPLE) == people


def test_starred_rows_may_be_left_out() -> None:
    published = table(["20", "*"], ["Ulm", "*"])
    assert fitting_people(published, PEOPLE, "class")["people"].to_list() == [1, 5]
    assert fitting_people(published, PEOPLE, "suppressed")["people"].to_list() == [1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(small=small_tables(with_missing=True), data=st.data())
def test_people_agree_with_every_pair_of_rows(small: Small, data: Any) -> None:
    levels = [data.draw(st.integers(0, len(hierarchy[0]) - 1)) for hierarchy in small.hierarchies]
    people = generalized(small.rows, small.hierarchies, levels)
    rows = [tuple(None if data.draw(st.booleans()) else cell for cell in row) for row in people]
    original = small.table("matches_any")
    names = list(original.quasi_identifying)
    cells = pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")
    published = sf.Table.of(cells, dict.fromkeys(names, "quasi_identifying"), missing="matches_any")
    assert count_fewest_fitting(published, original) == min(fitting_sizes(rows, people))


def test_blanking_whole_records_makes_no_crowd() -> None:
    """With k − 1 empty rows every file is k-anonymous in the sense of matches_any; nobody is hidden by that."""
    k = 5
    ages = list(range(20, 40))
    original = table([*ages, *ages], ["Ulm"] * 20 + ["Bonn"] * 20)
    frame = original.frame.with_row_index("row")
    blanked = frame.select(pl.when(pl.col("row") >= k - 1).then(pl.col(name)).alias(name) for name in ROLES)
    published = original.replace_frame(blanked)
    assert sf.measure.k_anonymity(published) == k
    claims = guard_blanks((sf.KAnonymity(k=k).claim({}),), published)
    assert [claim.property for claim in claims] == ["k_anonymity", "fitting_people"]
    release = sf.Release(published, None, claims, {})
    crowd, fitting = sf.check(release, original)
    assert crowd.holds and not fitting.holds and fitting.measured == 1
    assert "shares" not in claims[0].meaning and "hides nobody" in claims[0].meaning


def test_generalizing_hides_everybody_among_k_people_whatever_is_missing() -> None:
    ages = [str(age) for age in (20, 21, 22, 23, 30, 31, 32, 33)]
    original = sf.Table.of(
        {"age": [*ages, None, None], "town": [*["Ulm"] * 8, None, None]},
        ROLES,
        {"age": sf.Hierarchy.of([[age, age[0] + "x", "*"] for age in ages])},
        missing="matches_any",
    )
    release = sf.Generalize(models=[sf.KAnonymity(k=3)]).protect(original)
    assert release.data.frame["age"].to_list()[:8] == ["2x"] * 4 + ["3x"] * 4
    findings = {finding.property: finding for finding in sf.check(release, original)}
    assert findings["fitting_people"].measured == 4
    assert all(finding.holds for finding in findings.values())


def test_crowds_that_a_later_method_blanks_are_claimed_beside_the_people_who_fit() -> None:
    chance = np.random.default_rng(1)
    columns = {name: chance.integers(0, 3, 60).astype(str).tolist() for name in ("age", "town", "ill")}
    original = sf.Table.of(columns, ROLES | {"ill": "sensitive"})
    policy = Policy.model_validate(
        {
            "data": {"path": "people.csv"},
            "roles": {"quasi_identifying": list(ROLES), "sensitive": ["ill"]},
            "protect": [
                {"method": "generalize", "models": [{"model": "k_anonymity", "k": 3}]},
                {"method": "suppress_entries", "private": 0.2, "confidence": 0.6, "min_support": 2},
            ],
        }
    )
    release = apply_methods(policy, original, Randomness.seeded(1)).release
    findings = {finding.property: finding for finding in sf.check(release, original)}
    assert findings["k_anonymity"].holds and findings["fitting_people"].holds
    assert findings["fitting_people"].threshold == 3
    crowd, people = findings["k_anonymity"].measured, findings["fitting_people"].measured
    assert crowd is not None and people is not None and crowd > people
