# SPDX-License-Identifier: MIT
"""The databases and printed percentages of the paper, rules counted by hand, and generated baskets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from sfumato.baskets import Baskets
from sfumato.randomness import Randomness

SUPPORT, CONFIDENCE = 0.33, 0.7
LEAST, SHARE = 2, Fraction(7, 10)
"""The thresholds as counts and fractions: 33 % of six baskets are two."""

_BITS = {
    "D": "111 111 111 110 100 101",
    "D1": "111 111 111 110 110 101",
    "D2": "101 111 111 110 110 101",
    "D3": "111 111 111 110 101 101",
    "D4": "110 111 111 110 101 101",
    "D5": "110 111 111 110 100 101",
    "D6": "101 111 111 110 100 101",
}
Rows = tuple[str, ...]
DATABASES: dict[str, Rows] = {
    name: tuple("".join(item for item, bit in zip("ABC", row, strict=True) if bit == "1") for row in bits.split())
    for name, bits in _BITS.items()
}
"""Tables 1 to 7, T1 to T6, as the changes that the text names give them."""

NINE = {
    "B ⇒ A": (66, 100),
    "C ⇒ A": (66, 100),
    "B ⇒ C": (50, 75),
    "C ⇒ B": (50, 75),
    "AB ⇒ C": (50, 75),
    "AC ⇒ B": (50, 75),
    "BC ⇒ A": (50, 100),
    "C ⇒ AB": (50, 75),
    "B ⇒ AC": (50, 75),
}
"""Section 2.1: the rules of D, with support and confidence in percent."""
HIDDEN_RULES = {"B ⇒ C": (50, 60), "AB ⇒ C": (50, 60), "B ⇒ AC": (50, 60)}
"""Section 2.1: what is left of three of them when T5 is made AB."""


@dataclass(frozen=True)
class PrintedRule:
    """A rule that the text of an example names, with its percentages."""

    example: int
    database: str
    rule: str
    support: int
    confidence: int


PRINTED_RULES = (
    PrintedRule(1, "D", "B ⇒ C", 50, 75),
    PrintedRule(1, "D1", "B ⇒ C", 50, 60),
    PrintedRule(1, "D1", "A ⇒ B", 67, 83),
    PrintedRule(1, "D2", "A ⇒ B", 67, 67),
    PrintedRule(2, "D", "C ⇒ B", 50, 75),
    PrintedRule(2, "D3", "C ⇒ B", 50, 60),
    PrintedRule(2, "D3", "A ⇒ C", 83, 83),
    PrintedRule(2, "D4", "A ⇒ C", 83, 67),
    PrintedRule(3, "D", "B ⇒ C", 50, 75),
    PrintedRule(3, "D5", "B ⇒ C", 33, 50),
    PrintedRule(3, "D5", "C ⇒ B", 50, 67),
    PrintedRule(4, "D", "C ⇒ B", 50, 75),
    PrintedRule(4, "D6", "C ⇒ B", 33, 50),
    PrintedRule(4, "D6", "B ⇒ C", 33, 67),
)
"""Section 4."""


def baskets(rows: Sequence[str]) -> Baskets:
    """Rows of one-letter items."""
    return Baskets.of([list(row) for row in rows])


def rows_of(data: Baskets) -> Rows:
    """The other way round."""
    return tuple("".join(map(str, row)) for row in data.to_lists())


def bits(rows: Sequence[str]) -> str:
    """Rows in the paper's notation (Table 2)."""
    return " ".join("".join("1" if item in row else "0" for item in "ABC") for row in rows)


@dataclass(frozen=True)
class RuleCount:
    """A rule's counts in a database."""

    whole: int
    antecedent_rows: int
    rows: int

    @property
    def shows(self) -> bool:
        """Whether it reaches both thresholds of the paper."""
        return self.whole >= LEAST and self.whole >= SHARE * self.antecedent_rows

    @property
    def percentages(self) -> tuple[Fraction, Fraction]:
        """Support and confidence in percent."""
        return Fraction(100 * self.whole, self.rows), Fraction(100 * self.whole, self.antecedent_rows or 1)

    def prints(self, support: int, confidence: int) -> bool:
        """Whether printed percentages are these, rounded either way: the paper has 66 % and 67 % for 4/6."""
        return all(
            abs(exact - percentage) < 1
            for exact, percentage in zip(self.percentages, (support, confidence), strict=True)
        )

    def __str__(self) -> str:
        """As the paper writes it."""
        return write_percentages(*(round(exact) for exact in self.percentages))


def write_percentages(support: int, confidence: int) -> str:
    """A rule's percentages."""
    return f"({support} %, {confidence} %)"


def count_rule(rows: Sequence[str], rule: str) -> RuleCount:
    """Count a rule by the book."""
    left, right = rule.split(" ⇒ ")

    def count_holding(items: str) -> int:
        return sum(set(items) <= set(row) for row in rows)

    return RuleCount(count_holding(left + right), count_holding(left), len(rows))


def find_rules_about(rows: Sequence[str], items: str) -> list[str]:
    """Every rule that shows at the paper's thresholds and has one of the items on its right side, by exhaustion."""
    return [
        rule for rule in list_rules(rows) if set(rule.split(" ⇒ ")[1]) & set(items) and count_rule(rows, rule).shows
    ]


def list_rules(rows: Sequence[str]) -> Iterator[str]:
    """All rules that a database's items allow."""
    items = sorted(set("".join(rows)))
    for size in range(2, len(items) + 1):
        for whole in combinations(items, size):
            for many in range(1, size):
                for antecedent in combinations(whole, many):
                    yield f"{''.join(antecedent)} ⇒ {''.join(item for item in whole if item not in antecedent)}"


def draw_baskets(rows: int, items: int, seed: int, first: float = 0.45) -> Baskets:
    """Baskets of items of falling frequency, every third of which is drawn in by others; `first` is i00's own share."""
    chance = Randomness.seeded(seed).generator()
    shares = 0.45 / np.arange(1, items + 1) ** 0.35
    shares[0] = first
    matrix = chance.random((rows, items)) < shares
    for item in range(0, items, 3):
        for other in ((item * 5 + 1) % items, (item * 7 + 2) % items):
            matrix[:, item] |= matrix[:, other] & (chance.random(rows) < 0.8)
    return Baskets.of([[f"i{item_code:02}" for item_code in np.flatnonzero(row)] for row in matrix])
