# SPDX-License-Identifier: MIT
"""The people of IBM's Quest generator: nine attributes, and functions that put them into group A or B.

Agrawal, Imielinski and Swami, *Database mining: a performance perspective*, TKDE 1993, made it for classifiers; Agrawal
and Srikant, *Privacy-preserving data mining*, SIGMOD 2000, took five functions for trees on noisy data. Nobody in it
exists.

==========  =====================================================================
salary      20,000 to 150,000
commission  0 from a salary of 75,000 on, else 10,000 to 75,000
age         20 to 80
elevel      education, 0 to 4
car         make, 1 to 20
zipcode     0 to 8
hvalue      of the house, (9 − zipcode) × 50,000 to (9 − zipcode) × 150,000
hyears      the house is owned for 1 to 30 years
loan        0 to 500,000
==========  =====================================================================

All are drawn apart and alike likely, as whole numbers. `Fn1` to `Fn5` are the functions of 2000; `F1` to `F10` those of
1993, of which `Fn1` and `Fn2` are the first two and `Fn3` is nearly the fourth. The seed only names them: the
definitions are known from the papers and from the generators of stream mining that follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.errors import PolicyError

People = Mapping[str, Ints]

GROUP = "group"
"""The column that a function writes: «A» or «B»."""
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
"""The least and the greatest value of each attribute."""
_NO_COMMISSION_FROM, _LEAST_COMMISSION = 75_000, 10_000


def quest_people(rows: int = 10_000, function: str | int = "Fn1", seed: int = 2000) -> pl.DataFrame:
    """So many people with their group, `A` where the function holds; the same for the same seed.

    A number means one of `Fn1` to `Fn5`. The attributes do not depend on the function.
    """
    name = f"Fn{function}" if isinstance(function, int) else function
    if name not in FUNCTIONS:
        raise PolicyError(f"there is no classification function «{name}»; choose from {', '.join(FUNCTIONS)}")
    if rows < 0:
        raise PolicyError(f"there are 0 people or more, not {rows}")
    people = _drawn(rows, np.random.Generator(np.random.PCG64(seed)))
    group = np.where(FUNCTIONS[name](people), "A", "B")
    return pl.DataFrame({**people, GROUP: pl.Series(group, dtype=pl.String)})


def quest_roles() -> dict[str, str]:
    """The part that each column plays: money is sensitive, the group is what an analyst wants to foretell."""
    money = ("salary", "commission", "hvalue", "loan")
    return {name: "sensitive" if name in money else "quasi_identifying" for name in RANGES} | {GROUP: "insensitive"}


def _drawn(rows: int, chance: np.random.Generator) -> dict[str, Ints]:
    def whole(low: int, high: int) -> Ints:
        return chance.integers(low, high, rows, endpoint=True)

    people = {name: whole(*limits) for name, limits in RANGES.items() if name not in ("commission", "hvalue")}
    earned = whole(_LEAST_COMMISSION, RANGES["commission"][1])
    people["commission"] = np.where(people["salary"] >= _NO_COMMISSION_FROM, 0, earned)
    people["hvalue"] = (9 - people["zipcode"]) * whole(50_000, 150_000)
    return {name: people[name] for name in RANGES}


def _within(values: Ints, low: int, high: int) -> Flags:
    return (values >= low) & (values <= high)


def _by_age(age: Ints, young: Flags, middle: Flags, old: Flags) -> Flags:
    """One condition below 40, one from 40 to 59, one from 60 on."""
    return np.where(age < 40, young, np.where(age < 60, middle, old))


def _ages(one: People) -> Flags:
    return (one["age"] < 40) | (one["age"] >= 60)


def _by_pay(age: Ints, pay: Ints) -> Flags:
    young, middle, old = _within(pay, 50_000, 100_000), _within(pay, 75_000, 125_000), _within(pay, 25_000, 75_000)
    return _by_age(age, young, middle, old)


def _by_education(one: People) -> Flags:
    level = one["elevel"]
    return _by_age(one["age"], level <= 1, _within(level, 1, 3), level >= 2)


def _education_and_salary(one: People, *, others: bool) -> Flags:
    """A range of salary by age and education; `others` also gives one to those whom the paper of 2000 leaves out."""
    level, pay = one["elevel"], one["salary"]
    low, middle, high = _within(pay, 25_000, 75_000), _within(pay, 50_000, 100_000), _within(pay, 75_000, 125_000)
    young = np.where(level <= 1, low, middle & (others | (level <= 3)))
    grown = np.where(_within(level, 1, 3), middle, high & (others | (level == 4)))
    old = np.where(level >= 2, middle, low & (others | (level == 1)))
    return _by_age(one["age"], young, grown, old)


def _by_loan(one: People) -> Flags:
    age, pay, loan = one["age"], one["salary"], one["loan"]
    k100, k200, k300 = _within(loan, 100_000, 300_000), _within(loan, 200_000, 400_000), _within(loan, 300_000, 500_000)
    return _by_age(
        age,
        np.where(_within(pay, 50_000, 100_000), k100, k200),
        np.where(_within(pay, 75_000, 125_000), k200, k300),
        np.where(_within(pay, 25_000, 75_000), k300, k100),
    )


def _left_over(one: People, less: int, *, loan: bool = False, education: bool = False, equity: bool = False) -> Flags:
    """Whether two thirds of what is earned, less or plus a share of something, stay above a sum."""
    left = 0.67 * (one["salary"] + one["commission"]) - less
    left = left - 0.2 * one["loan"] if loan else left
    left = left - 5_000 * one["elevel"] if education else left
    owned = 0.1 * one["hvalue"] * np.maximum(one["hyears"] - 20, 0)
    return np.asarray((left + 0.2 * owned if equity else left) > 0)


FUNCTIONS: Mapping[str, Callable[[People], Flags]] = {
    "Fn1": _ages,
    "Fn2": lambda one: _by_pay(one["age"], one["salary"]),
    "Fn3": lambda one: _education_and_salary(one, others=False),
    "Fn4": lambda one: _left_over(one, 10_000, loan=True),
    "Fn5": lambda one: _left_over(one, 10_000, loan=True, equity=True),
    "F1": _ages,
    "F2": lambda one: _by_pay(one["age"], one["salary"]),
    "F3": _by_education,
    "F4": lambda one: _education_and_salary(one, others=True),
    "F5": _by_loan,
    "F6": lambda one: _by_pay(one["age"], one["salary"] + one["commission"]),
    "F7": lambda one: _left_over(one, 20_000, loan=True),
    "F8": lambda one: _left_over(one, 20_000, education=True),
    "F9": lambda one: _left_over(one, 10_000, loan=True, education=True),
    "F10": lambda one: _left_over(one, 10_000, education=True, equity=True),
}
"""People in, whether each belongs to group A out."""
