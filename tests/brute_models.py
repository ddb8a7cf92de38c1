# SPDX-License-Identifier: MIT
"""Every anonymity model by its definition, in plain Python, for one class of people at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import exp, inf, log

Values = Sequence[str | None]


def shares(values: Values) -> dict[str | None, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def distinct_l(class_values: Values) -> int:
    return len(set(class_values))


def entropy_l(class_values: Values) -> float:
    return exp(-sum(float(p) * log(p) for p in shares(class_values).values()))


def recursive_ratio(class_values: Values, l: int) -> float:
    counts = sorted(Counter(class_values).values(), reverse=True)
    rest = sum(counts[l - 1 :])
    return counts[0] / rest if rest else inf


def alpha(class_values: Values) -> Fraction:
    return max(shares(class_values).values())


def t_equal(class_values: Values, whole: Values) -> Fraction:
    p, q = shares(class_values), shares(whole)
    return sum((abs(p.get(value, Fraction()) - q[value]) for value in q), Fraction()) / 2


def t_ordered(class_values: Values, whole: Values, order: Sequence[str | None]) -> Fraction:
    p, q = shares(class_values), shares(whole)
    running, total = Fraction(), Fraction()
    for value in order:
        running += p.get(value, Fraction()) - q[value]
        total += abs(running)
    return total / (len(order) - 1) if len(order) > 1 else Fraction()


def beta(class_values: Values, whole: Values) -> Fraction:
    p, q = shares(class_values), shares(whole)
    return max((p[value] - q[value]) / q[value] for value in p)


def enhanced_beta_holds(class_values: Values, whole: Values, bound: float) -> bool:
    p, q = shares(class_values), shares(whole)
    return all((p[v] - q[v]) / q[v] <= min(bound, -log(q[v])) + 1e-12 for v in p)


def delta_disclosure(class_values: Values, whole: Values) -> float:
    p, q = shares(class_values), shares(whole)
    return max(abs(log(p[value] / q[value])) if value in p else inf for value in q)
