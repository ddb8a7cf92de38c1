# SPDX-License-Identifier: MIT
"""The people of IBM's Quest generator: nine attributes, and functions that assign them to group A or B.

Agrawal, Imielinski and Swami, *Database mining: a performance perspective*, TKDE 1993, made it for classifiers; Agrawal
and Srikant, *Privacy-preserving data mining*, SIGMOD 2000, used five functions for trees on noisy data. Nobody in it
exists.

==========  =====================================================================
salary      20,000 to 150,000
commission  0 from a salary of 75,000, otherwise 10,000 to 75,000
age         20 to 80
elevel      education, 0 to 4
car         make, 1 to 20
zipcode     0 to 8
hvalue      of the house, (9 − zipcode) × 50,000 to (9 − zipcode) × 150,000
hyears      the house is owned for 1 to 30 years
loan        0 to 500,000
==========  =====================================================================

All are drawn independently and uniformly, as integers. `Fn1` to `Fn5` are the functions of 2000; `F1` to `F10` those of
1993, of which `Fn1` and `Fn2` are the first two and `Fn3` is nearly the fourth. The definitions are taken from the
papers and from the stream-mining generators that follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.errors import PolicyError

People = Mapping[str, Ints]

GROUP = "group"
"""The column that a function writes: "A" or "B"."""
RANGES: Mapping[str, tuple[int, int]] = {
    "salary": (20_000, 150_000),
    "commission": (0, 75_000),
    "age": (20, 80),
    "elevel": (0, 4),
    "car": (1, 20),
    "zipcode": (0, 8),
    "hvalue": (50_000, 1_350_000),
    "hyears": (1, 30),
    "loan": (0, 500_000),
}
"""The minimum and the maximum of each attribute."""
_NO_COMMISSION_FROM, _LEAST_COMMISSION = 75_000, 10_000


def generate_quest_people(rows: int = 10_000, function: str | int = "Fn1", seed: int = 2000) -> pl.DataFrame:
    """People with their group, `A` where the function holds; the same for the same seed.

    A number means one of `Fn1` to `Fn5`. The attributes do not depend on the function.
    """
    name = f"Fn{function}" if isinstance(function, int) else function
    if name not in FUNCTIONS:
        raise PolicyError(f'there is no classification function "{name}"; choose from {", ".join(FUNCTIONS)}')
    if rows < 0:
        raise PolicyError(f"the number of people must be 0 or more, not {rows}")
    people = _draw_quest_people(rows, np.random.Generator(np.random.PCG64(seed)))
    group = np.where(FUNCTIONS[name](people), "A", "B")
    return pl.DataFrame({**people, GROUP: pl.Series(group, dtype=pl.String)})


def list_quest_roles() -> dict[str, str]:
    """The role of each column: money is sensitive, the group is what an analyst wants to predict."""
    money = ("salary", "commission", "hvalue", "loan")
    return {name: "sensitive" if name in money else "quasi_identifying" for name in RANGES} | {GROUP: "insensitive"}


def _draw_quest_people(rows: int, chance: np.random.Generator) -> dict[str, Ints]:
    def draw_integers(low: int, high: int) -> Ints:
        return chance.integers(low, high, rows, endpoint=True)

    people = {name: draw_integers(*limits) for name, limits in RANGES.items() if name not in ("commission", "hvalue")}
    commissions = draw_integers(_LEAST_COMMISSION, RANGES["commission"][1])
    people["commission"] = np.where(people["salary"] >= _NO_COMMISSION_FROM, 0, commissions)
    people["hvalue"] = (9 - people["zipcode"]) * draw_integers(50_000, 150_000)
    return {name: people[name] for name in RANGES}


def _lies_within(values: Ints, low: int, high: int) -> Flags:
    return (values >= low) & (values <= high)


def _choose_by_age(age: Ints, young: Flags, middle: Flags, old: Flags) -> Flags:
    """One condition below 40, one from 40 to 59, one from 60."""
    return np.where(age < 40, young, np.where(age < 60, middle, old))


def _judge_by_age(people: People) -> Flags:
    return (people["age"] < 40) | (people["age"] >= 60)


def _judge_by_pay(age: Ints, pay: Ints) -> Flags:
    young, middle, old = (
        _lies_within(pay, 50_000, 100_000),
        _lies_within(pay, 75_000, 125_000),
        _lies_within(pay, 25_000, 75_000),
    )
    return _choose_by_age(age, young, middle, old)


def _judge_by_education(people: People) -> Flags:
    level = people["elevel"]
    return _choose_by_age(people["age"], level <= 1, _lies_within(level, 1, 3), level >= 2)


def _judge_by_education_and_salary(people: People, *, has_others: bool) -> Flags:
    """A range of salary by age and education; `has_others` also gives one to those that the paper of 2000 omits."""
    level, pay = people["elevel"], people["salary"]
    low, middle, high = (
        _lies_within(pay, 25_000, 75_000),
        _lies_within(pay, 50_000, 100_000),
        _lies_within(pay, 75_000, 125_000),
    )
    young = np.where(level <= 1, low, middle & (has_others | (level <= 3)))
    adult_mask = np.where(_lies_within(level, 1, 3), middle, high & (has_others | (level == 4)))
    old = np.where(level >= 2, middle, low & (has_others | (level == 1)))
    return _choose_by_age(people["age"], young, adult_mask, old)


def _judge_by_loan(people: People) -> Flags:
    age, pay, loan = people["age"], people["salary"], people["loan"]
    k100, k200, k300 = (
        _lies_within(loan, 100_000, 300_000),
        _lies_within(loan, 200_000, 400_000),
        _lies_within(loan, 300_000, 500_000),
    )
    return _choose_by_age(
        age,
        np.where(_lies_within(pay, 50_000, 100_000), k100, k200),
        np.where(_lies_within(pay, 75_000, 125_000), k200, k300),
        np.where(_lies_within(pay, 25_000, 75_000), k300, k100),
    )


def _judge_by_disposable_income(
    people: People, less: int, *, loan: bool = False, education: bool = False, equity: bool = False
) -> Flags:
    """Whether two thirds of the earnings, minus or plus a share of something, exceed an amount."""
    disposable_income = 0.67 * (people["salary"] + people["commission"]) - less
    disposable_income = disposable_income - 0.2 * people["loan"] if loan else disposable_income
    disposable_income = disposable_income - 5_000 * people["elevel"] if education else disposable_income
    home_equity = 0.1 * people["hvalue"] * np.maximum(people["hyears"] - 20, 0)
    return np.asarray((disposable_income + 0.2 * home_equity if equity else disposable_income) > 0)


FUNCTIONS: Mapping[str, Callable[[People], Flags]] = {
    "Fn1": _judge_by_age,
    "Fn2": lambda people: _judge_by_pay(people["age"], people["salary"]),
    "Fn3": lambda people: _judge_by_education_and_salary(people, has_others=False),
    "Fn4": lambda people: _judge_by_disposable_income(people, 10_000, loan=True),
    "Fn5": lambda people: _judge_by_disposable_income(people, 10_000, loan=True, equity=True),
    "F1": _judge_by_age,
    "F2": lambda people: _judge_by_pay(people["age"], people["salary"]),
    "F3": _judge_by_education,
    "F4": lambda people: _judge_by_education_and_salary(people, has_others=True),
    "F5": _judge_by_loan,
    "F6": lambda people: _judge_by_pay(people["age"], people["salary"] + people["commission"]),
    "F7": lambda people: _judge_by_disposable_income(people, 20_000, loan=True),
    "F8": lambda people: _judge_by_disposable_income(people, 20_000, education=True),
    "F9": lambda people: _judge_by_disposable_income(people, 10_000, loan=True, education=True),
    "F10": lambda people: _judge_by_disposable_income(people, 10_000, education=True, equity=True),
}
"""A function from people to whether each belongs to group A."""
