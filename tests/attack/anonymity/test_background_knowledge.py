# SPDX-License-Identifier: MIT
from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.background_knowledge import BackgroundKnowledge
from tests.attack.anonymity.test_homogeneity import Mixed, commonest, mixed_releases
from tests.attack.anonymity.test_similarity import patients
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise
from tests.tables import figure_2


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases(), excluded=st.integers(0, 3))
def test_the_strongest_exclusion_by_trying_all(mixed: Mixed, excluded: int) -> None:
    """Some choice of wrong values to rule out makes the guess right: try every choice."""

    def count_right(found: list[list[int]]) -> tuple[int, int]:
        right = pinned = 0
        for person, rows in enumerate(found):
            own, here = mixed.values[person], [mixed.values[i] for i in rows]
            if own is None or own not in here:
                continue
            wrong = sorted(set(here) - {own}, key=str)
            choices = [set(choice) for size in range(excluded + 1) for choice in combinations(wrong, size)]
            left = [[value for value in here if value not in choice] for choice in choices]
            right += any(commonest(values, mixed.values)[0] == own for values in left)
            pinned += any(set(values) == {own} for values in left)
        return right, pinned

    outcome = BackgroundKnowledge(excluded=excluded).run(mixed.release, mixed.table)
    found = mixed.choose(lambda found: count_right(found)[0])
    assert (outcome.successes, outcome.facts["pinned"]) == count_right(found)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases(uniform=True, with_missing=False))
def test_l_diversity_bounds_it(mixed: Mixed) -> None:
    """With l values in every set, l − 2 exclusions pin nobody, and l − 1 everybody who has just l."""
    distinct = [len({mixed.values[i] for i in rows}) for rows in mixed.found]
    l = min(distinct)
    if l >= 2:
        assert BackgroundKnowledge(excluded=l - 2).run(mixed.release, mixed.table).facts["pinned"] == 0
    truth_flags = [
        value in {mixed.values[i] for i in rows} for value, rows in zip(mixed.values, mixed.found, strict=True)
    ]
    expected = sum(count == l and fits for count, fits in zip(distinct, truth_flags, strict=True))
    assert BackgroundKnowledge(excluded=l - 1).run(mixed.release, mixed.table).facts["pinned"] == expected


def test_the_3_diverse_table_of_the_seed() -> None:
    """Three values in each class of three: one exclusion pins nobody, two pin everybody."""
    table = patients()
    by_one = BackgroundKnowledge(column="salary", excluded=1).run(as_is(table), table)
    assert by_one.facts["pinned"] == 0
    assert by_one.successes == 6  # of three equally common salaries the last in line is still behind another
    by_two = BackgroundKnowledge(column="salary", excluded=2).run(as_is(table), table)
    assert (by_two.successes, by_two.facts["pinned"]) == (9, 9)
    assert BackgroundKnowledge(column="salary", excluded=0).run(as_is(table), table).facts["pinned"] == 0


def test_figure_2_of_the_seed() -> None:
    """No class has more than three problems; the one that has three needs two exclusions to pin Andre."""
    outcomes = [BackgroundKnowledge(excluded=n).run(as_is(figure_2()), figure_2()) for n in range(3)]
    assert [outcome.facts["pinned"] for outcome in outcomes] == [4, 8, 11]
    assert [outcome.successes for outcome in outcomes] == [7, 10, 11]


def test_the_baseline_excludes_too() -> None:
    """Without looking anybody up, one exclusion makes the two most common values guessable."""
    table = sf.Table.of({"q": ["x"] * 6, "s": list("aaabbc")}, {"q": "quasi_identifying", "s": "sensitive"})
    assert BackgroundKnowledge(excluded=0).run(as_is(table), table).baseline == 3
    assert BackgroundKnowledge(excluded=1).run(as_is(table), table).baseline == 5


def test_people_who_are_not_there() -> None:
    roles = {"q": "quasi_identifying", "s": "sensitive"}
    table = sf.Table.of({"q": list("xxyy"), "s": list("abcd")}, roles)
    strangers = sf.Table.of({"q": list("xyz"), "s": list("baa")}, roles)
    assert BackgroundKnowledge().run(as_is(table), table, control=strangers).control == 1


def test_it_succeeds_on_originals_and_fails_on_noise() -> None:
    data = people()
    assert BackgroundKnowledge().run(as_is(data), data).low > 0.5
    fresh = BackgroundKnowledge().run(
        noise(data), data
    )  # the nearest row of strangers tells no more than the most common value
    assert fresh.successes <= fresh.baseline


def test_json_round_trip() -> None:
    attack = BackgroundKnowledge(column="s", excluded=3)
    assert BackgroundKnowledge.model_validate_json(attack.model_dump_json()) == attack


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="excluded"):
        BackgroundKnowledge(excluded=-1)
    with pytest.raises(sf.DataError, match='"shoe"'):
        BackgroundKnowledge(column="shoe").run(as_is(figure_2()), figure_2())
