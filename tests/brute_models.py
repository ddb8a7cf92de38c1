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


def distinct_l(inside: Values) -> int:
    return len(set(inside))


def entropy_l(inside: Values) -> float:
    return exp(-sum(float(p) * log(p) for p in shares(inside).values()))


def recursive_ratio(inside: Values, l: int) -> float:  # noqa: E741
    counts = sorted(Counter(inside).values(), reverse=True)
    rest = sum(counts[l - 1 :])
    return counts[0] / rest if rest else inf


def alpha(inside: Values) -> Fraction:
    return max(shares(inside).values())


def t_equal(inside: Values, whole: Values) -> Fraction:
    p, q = shares(inside), shares(whole)
    return sum((abs(p.get(value, Fraction()) - q[value]) for value in q), Fraction()) / 2


def t_ordered(inside: Values, whole: Values, order: Sequence[str | None]) -> Fraction:
    p, q = shares(inside), shares(whole)
    running, total = Fraction(), Fraction()
    for value in order:
        running += p.get(value, Fraction()) - q[value]
        total += abs(running)
    return total / (len(order) - 1) if len(order) > 1 else Fraction()


def beta(inside: Values, whole: Values) -> Fraction:
    p, q = shares(inside), shares(whole)
    return max((p[value] - q[value]) / q[value] for value in p)


def enhanced_beta_holds(inside: Values, whole: Values, bound: float) -> bool:
    p, q = shares(inside), shares(whole)
    return all((p[v] - q[v]) / q[v] <= min(bound, -log(q[v])) + 1e-12 for v in p)


def delta_disclosure(inside: Values, whole: Values) -> float:
    p, q = shares(inside), shares(whole)
    return max(abs(log(p[value] / q[value])) if value in p else inf for value in q)
