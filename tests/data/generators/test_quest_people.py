# SPDX-License-Identifier: MIT
"""The Quest generator: nine attributes, and functions checked against their definitions row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from sfumato.data.generators.quest_people import FUNCTIONS, GROUP, RANGES, generate_quest_people, list_quest_roles
from sfumato.errors import PolicyError
from sfumato.table import Table

Person = dict[str, Any]


def by_age(person: Person, young: bool, middle: bool, old: bool) -> bool:
    return young if person["age"] < 40 else middle if person["age"] < 60 else old


def earns_between(person: Person, low: int, high: int) -> bool:
    return bool(low * 1000 <= person["salary"] <= high * 1000)


def owes_between(person: Person, low: int, high: int) -> bool:
    return bool(low * 1000 <= person["loan"] <= high * 1000)


def third(person: Person) -> bool:
    """Fn3 of Agrawal and Srikant 2000."""
    level = person["elevel"]
    young = (level in (0, 1) and earns_between(person, 25, 75)) or (level in (2, 3) and earns_between(person, 50, 100))
    middle = (level in (1, 2, 3) and earns_between(person, 50, 100)) or (level == 4 and earns_between(person, 75, 125))
    old = (level in (2, 3, 4) and earns_between(person, 50, 100)) or (level == 1 and earns_between(person, 25, 75))
    return by_age(person, young, middle, old)


def fourth(person: Person) -> bool:
    """F4 of Agrawal, Imielinski and Swami 1993."""
    level = person["elevel"]
    return by_age(
        person,
        earns_between(person, 25, 75) if level in (0, 1) else earns_between(person, 50, 100),
        earns_between(person, 50, 100) if level in (1, 2, 3) else earns_between(person, 75, 125),
        earns_between(person, 50, 100) if level in (2, 3, 4) else earns_between(person, 25, 75),
    )


def fifth(person: Person) -> bool:
    return by_age(
        person,
        owes_between(person, 100, 300) if earns_between(person, 50, 100) else owes_between(person, 200, 400),
        owes_between(person, 200, 400) if earns_between(person, 75, 125) else owes_between(person, 300, 500),
        owes_between(person, 300, 500) if earns_between(person, 25, 75) else owes_between(person, 100, 300),
    )


def sixth(person: Person) -> bool:
    whole = {**person, "salary": person["salary"] + person["commission"]}
    return by_age(person, earns_between(whole, 50, 100), earns_between(whole, 75, 125), earns_between(whole, 25, 75))


def equity(person: Person) -> float:
    return 0.1 * float(person["hvalue"]) * max(int(person["hyears"]) - 20, 0)


def earned(person: Person) -> float:
    return 0.67 * float(person["salary"] + person["commission"])


BY_THE_BOOK: dict[str, Callable[[Person], bool]] = {
    "Fn1": lambda person: person["age"] < 40 or person["age"] >= 60,
    "Fn2": lambda person: by_age(
        person, earns_between(person, 50, 100), earns_between(person, 75, 125), earns_between(person, 25, 75)
    ),
    "Fn3": third,
    "Fn4": lambda person: earned(person) - 0.2 * person["loan"] - 10_000 > 0,
    "Fn5": lambda person: earned(person) - 0.2 * person["loan"] + 0.2 * equity(person) - 10_000 > 0,
    "F3": lambda person: by_age(
        person, person["elevel"] in (0, 1), person["elevel"] in (1, 2, 3), person["elevel"] in (2, 3, 4)
    ),
    "F4": fourth,
    "F5": fifth,
    "F6": sixth,
    "F7": lambda person: earned(person) - 0.2 * person["loan"] - 20_000 > 0,
    "F8": lambda person: earned(person) - 5_000 * person["elevel"] - 20_000 > 0,
    "F9": lambda person: earned(person) - 5_000 * person["elevel"] - 0.2 * person["loan"] - 10_000 > 0,
    "F10": lambda person: earned(person) - 5_000 * person["elevel"] + 0.2 * equity(person) - 10_000 > 0,
}
BY_THE_BOOK |= {"F1": BY_THE_BOOK["Fn1"], "F2": BY_THE_BOOK["Fn2"]}


def test_every_function_is_checked_here() -> None:
    assert set(BY_THE_BOOK) == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_groups_are_those_of_the_definition(name: str) -> None:
    people = generate_quest_people(3000, name, seed=4)
    assert people[GROUP].to_list() == ["A" if BY_THE_BOOK[name](person) else "B" for person in people.to_dicts()]
    assert people[GROUP].n_unique() == 2


def test_attributes_lie_where_they_should_and_reach_the_ends() -> None:
    people = generate_quest_people(50_000)
    assert people.columns == [*RANGES, GROUP]
    for name, (low, high) in RANGES.items():
        column = people[name]
        assert column.dtype == pl.Int64
        assert low <= column.min() <= low + (high - low) * 0.02  # type: ignore[operator]
        assert high - (high - low) * 0.02 <= column.max() <= high  # type: ignore[operator]
    assert [people[name].n_unique() for name in ("age", "elevel", "car", "zipcode", "hyears")] == [61, 5, 20, 9, 30]


def test_commission_and_house_depend_on_salary_and_zipcode() -> None:
    people = generate_quest_people(20_000)
    well_paid = people.filter(pl.col("salary") >= 75_000)
    low_earners = people.filter(pl.col("salary") < 75_000)
    assert set(well_paid["commission"]) == {0}
    assert low_earners["commission"].min() >= 10_000  # type: ignore[operator]
    factor = 9 - people["zipcode"]
    assert (people["hvalue"] >= factor * 50_000).all() and (people["hvalue"] <= factor * 150_000).all()


def test_the_share_of_group_a() -> None:
    """Fn1: 41 of 61 ages. 5 standard errors at 100,000 rows."""
    share = (generate_quest_people(100_000)[GROUP] == "A").mean()
    assert share == pytest.approx(41 / 61, abs=5 * (41 * 20 / 61**2 / 100_000) ** 0.5)


def test_seeds_and_functions() -> None:
    first = generate_quest_people(100, "Fn1", 1)
    assert first.equals(generate_quest_people(100, 1, 1))
    assert not first.equals(generate_quest_people(100, "Fn1", 2))
    assert first.drop(GROUP).equals(generate_quest_people(100, "Fn4", 1).drop(GROUP))


def test_roles_name_every_column() -> None:
    table = Table.of(generate_quest_people(10), list_quest_roles())
    assert table.sensitive == ("salary", "commission", "hvalue", "loan")
    assert len(generate_quest_people(0)) == 0


@pytest.mark.parametrize("function", ["Fn6", 0, 6, "", "f1"])
def test_unknown_functions_are_refused(function: str | int) -> None:
    with pytest.raises(PolicyError, match="Fn1, Fn2"):
        generate_quest_people(10, function)


def test_a_negative_number_of_people_is_refused() -> None:
    with pytest.raises(PolicyError, match="-1"):
        generate_quest_people(-1)
