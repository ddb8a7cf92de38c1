# SPDX-License-Identifier: MIT
from __future__ import annotations

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.homogeneity import Homogeneity
from sfumato.attack.anonymity.similarity import Similarity
from tests.attack.anonymity.test_homogeneity import Mixed, mixed_releases
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise

STOMACH = {"stomach": ("Gastric Ulcer", "Gastritis", "Stomach Cancer"), "lung": ("Bronchitis", "Pneumonia")}
PATIENTS = [
    ("476**", "2*", 20, "Gastric Ulcer"),
    ("476**", "2*", 30, "Gastritis"),
    ("476**", "2*", 40, "Stomach Cancer"),
    ("4790*", "≥40", 50, "Gastritis"),
    ("4790*", "≥40", 100, "Flu"),
    ("4790*", "≥40", 70, "Bronchitis"),
    ("476**", "3*", 60, "Bronchitis"),
    ("476**", "3*", 80, "Pneumonia"),
    ("476**", "3*", 90, "Stomach Cancer"),
]
ZIPS = [["47678", "476**"], ["47602", "476**"], ["47905", "4790*"]]
AGES = [["27", "2*"], ["22", "2*"], ["36", "3*"], ["52", "≥40"]]
ROLES = {"zip": "quasi_identifying", "age": "quasi_identifying", "salary": "sensitive", "disease": "sensitive"}


def patients() -> sf.Table:
    """Giannotti et al. (2009), the 3-diverse patient table; salaries in thousands."""
    frame = pl.DataFrame(PATIENTS, schema=["zip", "age", "salary", "disease"], orient="row")
    return sf.Table.of(frame, ROLES, {"zip": ZIPS, "age": AGES})


def bob() -> sf.Table:
    roles = {"name": "identifying", "zip": "quasi_identifying", "age": "quasi_identifying"}
    return sf.Table.of({"name": ["Bob"], "zip": ["47678"], "age": ["27"]}, roles)


def test_the_conclusions_of_the_slides() -> None:
    """Bob's salary is in [20k, 40k], which is low; Bob has some disease of the stomach."""
    assert Similarity(column="salary", width=0.25).draw_conclusions(patients(), bob()) == [(20.0, 40.0)]
    assert Similarity(column="disease", groups=STOMACH).draw_conclusions(patients(), bob()) == ["stomach"]
    assert Homogeneity().run(as_is(patients()), patients()).successes == 0


def test_the_slides_table_in_counts() -> None:
    """Only the first class says one thing: 20 of 80 is a quarter of the range, the other classes span 50 and 30."""
    outcome = Similarity(column="salary", width=0.25).run(as_is(patients()), patients())
    assert (outcome.attempts, outcome.successes) == (9, 3)
    assert outcome.facts == {"similar_classes": 1, "classes": 3, "people_in_them": 3}
    assert outcome.baseline == 3  # 20, 30, 40, and every other window of 20 as well
    assert Similarity(column="salary", width=0.24).run(as_is(patients()), patients()).successes == 0
    assert Similarity(column="salary", width=0.375).run(as_is(patients()), patients()).successes == 6
    outcome = Similarity(column="disease", groups=STOMACH).run(as_is(patients()), patients())
    assert (outcome.successes, outcome.baseline) == (3, 3)  # of these three, the most common group is right for all


def test_a_group_is_not_taken_for_a_value_of_its_name() -> None:
    table = sf.Table.of({"q": ["x", "x"], "s": ["cold", "flu"]}, {"q": "quasi_identifying", "s": "sensitive"})
    attack = Similarity(column="s", groups={"cold": ("flu", "cough")})
    assert attack.run(as_is(table), table).successes == 0
    assert attack.draw_conclusions(table, table) == [None, None]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases(), grouped=st.sampled_from([("a",), ("a", "b"), ("b", "c")]))
def test_groups_by_hand(mixed: Mixed, grouped: tuple[str, ...]) -> None:
    if not set(grouped) & set(mixed.values):
        return
    meaning = {value: "group" if value in grouped else value for value in ("a", "b", "c", None)}

    def count_right(found: list[list[int]]) -> int:
        said = [{meaning[mixed.values[i]] for i in rows} for rows in found]
        return sum(None not in one and one == {meaning[mixed.values[at]]} for at, one in enumerate(said))

    outcome = Similarity(column="s", groups={"group": grouped}).run(mixed.release, mixed.table)
    assert outcome.successes == count_right(mixed.choose(count_right))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(mixed=mixed_releases(), width=st.sampled_from([0.0, 0.1, 0.4, 0.75]))
def test_ranges_by_hand(mixed: Mixed, width: float) -> None:
    """The letters stand for 0, 4 and 10, so that gaps are 0.4 and 0.6 of the whole."""
    number = {"a": 0.0, "b": 4.0, "c": 10.0, None: None}
    salaries = [number[value] for value in mixed.values]
    column = pl.Series("s", salaries, dtype=pl.Float64)
    table = mixed.table.replace_frame(mixed.table.frame.with_columns(column))
    published = mixed.release.data.replace_frame(mixed.release.data.frame.with_columns(column))
    present_salaries = [salary for salary in salaries if salary is not None]
    whole = max(present_salaries) - min(present_salaries) if present_salaries else 0.0

    def list_claims(found: list[list[int]]) -> list[tuple[float, float] | None]:
        claims: list[tuple[float, float] | None] = []
        for rows in found:
            told = [salary for i in rows if (salary := salaries[i]) is not None]
            is_narrow = len(told) == len(rows) and max(told) - min(told) <= width * whole
            claims.append((min(told), max(told)) if is_narrow else None)
        return claims

    def count_right(found: list[list[int]]) -> int:
        pairs = zip(list_claims(found), salaries, strict=True)
        return sum(claim is not None and own is not None and claim[0] <= own <= claim[1] for claim, own in pairs)

    outcome = Similarity(column="s", width=width).run(as_is(published), table)
    found = mixed.choose(count_right)
    assert outcome.successes == count_right(found)
    held = {low: sum(low <= other <= low + width * whole for other in present_salaries) for low in present_salaries}
    best = min((low for low in held if held[low] == max(held.values())), default=0.0)
    pairs = zip(list_claims(found), salaries, strict=True)
    assert outcome.baseline == sum(
        claim is not None and own is not None and best <= own <= best + width * whole for claim, own in pairs
    )


def test_people_who_are_not_there() -> None:
    strangers = sf.Table.of(
        {"zip": ["47678", "47602", "47905"], "age": ["22", "36", "52"], "salary": [25, 60, 60], "disease": ["Flu"] * 3},
        ROLES,
    )
    outcome = Similarity(column="salary", width=0.25).run(as_is(patients()), patients(), control=strangers)
    assert outcome.control == 1
    outcome = Similarity(column="disease", groups=STOMACH).run(as_is(patients()), patients(), control=strangers)
    assert outcome.control == 0


def test_one_salary_for_all_is_a_range_of_nothing() -> None:
    table = sf.Table.of({"q": ["x", "y"], "s": [7, 7]}, {"q": "quasi_identifying", "s": "sensitive"})
    outcome = Similarity(column="s", width=0.0).run(as_is(table), table)
    assert (outcome.successes, outcome.baseline) == (2, 2)


@pytest.mark.parametrize(
    "attack",
    [
        Similarity(column="disease", groups={"stomach": ("gastritis", "gastric ulcer", "stomach cancer")}),
        Similarity(column="level", width=0.1),
    ],
    ids=["groups", "width"],
)
def test_it_succeeds_on_originals_and_fails_on_noise(attack: Similarity) -> None:
    data = people()
    level = data.frame["salary_level"].cast(pl.Categorical).to_physical().cast(pl.Int64).alias("level")
    roles = {**data.roles, "level": "sensitive"}
    data = sf.Table.of(data.frame.with_columns(level), roles, data.hierarchies)
    assert attack.run(as_is(data), data).low > 0.5
    assert attack.run(noise(data), data).risk < 0.02


@pytest.mark.parametrize("attack", [Similarity(column="d", groups=STOMACH), Similarity(column="d", width=0.2)])
def test_json_round_trip(attack: Similarity) -> None:
    assert Similarity.model_validate_json(attack.model_dump_json()) == attack


def test_bad_input_is_named() -> None:
    table = patients()
    with pytest.raises(ValueError, match="one of the two"):
        Similarity(column="salary")
    with pytest.raises(ValueError, match="one of the two"):
        Similarity(column="salary", groups=STOMACH, width=0.1)
    with pytest.raises(ValueError, match="each in one group"):
        Similarity(column="disease", groups={"a": ("Flu",), "b": ("Flu",)})
    with pytest.raises(sf.DataError, match='9 cells of "disease" are neither numbers'):
        Similarity(column="disease", width=0.1).run(as_is(table), table)
    with pytest.raises(sf.DataError, match='no value of a group occurs in "disease"'):
        Similarity(column="disease", groups={"a": ("flu",)}).run(as_is(table), table)
    with pytest.raises(sf.DataError, match='"shoe"'):
        Similarity(column="shoe", width=0.1).run(as_is(table), table)
