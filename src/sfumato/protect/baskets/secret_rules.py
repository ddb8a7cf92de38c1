# SPDX-License-Identifier: MIT
"""Rules to hide, in numbers: two sides of columns, and the thresholds they stay below.

A rule shows if its support and its confidence both reach their thresholds (≥), compared as integers and exact
fractions. A secret itemset is a rule without a left side: it shows if its support reaches the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from sfumato.baskets import Item, Items
from sfumato.errors import PolicyError, count_noun

"""The support from which a rule shows: a number of baskets, or a share of them."""
_SEPARATORS = (",", ", ", " ")
SideCodes = tuple[int, ...]
NamedRule = tuple[Items, Items]


class Vocabulary(Protocol):
    """Baskets, wherever they are, as far as the names of their items go."""

    @property
    def items(self) -> Items:
        """The names, sorted."""


@dataclass(frozen=True, slots=True)
class SecretRule:
    """A rule in numbers: indices into a vocabulary, or columns of a draft."""

    left: SideCodes
    """Empty for a secret itemset."""
    right: SideCodes

    @property
    def whole(self) -> SideCodes:
        """All its items."""
        return self.left + self.right

    def renumber_rule(self, number: Mapping[int, int]) -> SecretRule:
        """The same rule with other numbers."""
        return SecretRule(tuple(number[item] for item in self.left), tuple(number[item] for item in self.right))


@dataclass(frozen=True, slots=True)
class HidingThresholds:
    """The thresholds from which a rule shows."""

    least: int
    """The smallest frequent number of baskets."""
    confidence: Fraction
    """The smallest reported confidence; irrelevant for itemsets."""

    def shows(self, whole: int, left_count: int) -> bool:
        """Whether a rule held by `whole` baskets shows, if its left side is held by `left_count` (0 for itemsets)."""
        return whole >= self.least and whole * self.confidence.denominator >= self.confidence.numerator * left_count

    def count_surplus(self, whole: int, left_count: int) -> int:
        """How many baskets must stop holding the rule, with its left side unchanged, so that it no longer shows."""
        confident_count = -(-self.confidence.numerator * left_count // self.confidence.denominator)
        return max(0, whole + 1 - max(self.least, confident_count))

    def count_missing_lefts(self, whole: int, left_count: int) -> int:
        """How many more baskets must hold the left side alone, so that it no longer shows."""
        return max(0, whole * self.confidence.denominator // self.confidence.numerator + 1 - left_count)


def number_secret_rules(
    data: Vocabulary, rules: Sequence[NamedRule], itemsets: Sequence[Items]
) -> tuple[SecretRule, ...]:
    """The named rules and itemsets as indices into the vocabulary; an error gives the number of invalid ones."""
    wrong = sum(not left or not right or bool(set(map(str, left)) & set(map(str, right))) for left, right in rules)
    if wrong:
        verb, noun = ("has", "that rule") if wrong == 1 else ("have", "those rules")
        raise PolicyError(
            f"{wrong} of {count_noun(len(rules), 'rule')} {verb} an empty side, or the same item on both; give {noun} "
            "two sides without a common item"
        )
    if not all(itemsets):
        raise PolicyError(f"{sum(not items for items in itemsets)} of {len(itemsets)} itemsets are empty")
    if not rules and not itemsets:
        raise PolicyError("there is nothing to hide: name rules, itemsets, or a file that lists them")
    sides: list[tuple[Items, Items]] = [*rules, *(((), items) for items in itemsets)]
    item_places = index_item_names(data, [item for left, right in sides for item in (*left, *right)], "the rules")
    _refuse_two_readings(data, [side for pair in sides for side in pair])
    secret = [SecretRule(_number_side(left, item_places), _number_side(right, item_places)) for left, right in sides]
    return tuple(dict.fromkeys(secret))


def index_item_names(data: Vocabulary, names: Sequence[Item], subject: str) -> dict[Item, int]:
    """The index of each name in the vocabulary; `7` and `"7"` are the same item."""
    places_by_name = {str(item): position for position, item in enumerate(data.items)}
    unknown = {str(name) for name in names} - set(places_by_name)
    if unknown:
        arrow_cure = ", write the sides of a rule as a,b ==> c" if any(map(_has_other_arrow, unknown)) else ""
        raise PolicyError(
            f"{subject} name {count_noun(len(unknown), 'item')} that no basket holds; check the spelling{arrow_cure}, "
            f"or remove {'it' if len(unknown) == 1 else 'them'}: an item that does not occur needs no hiding"
        )
    return {name: places_by_name[str(name)] for name in names}


def _has_other_arrow(name: str) -> bool:
    """Whether this is probably a rule, spelled in another way."""
    return any(arrow in name for arrow in ("=>", "->", "→"))


def _refuse_two_readings(data: Vocabulary, sides: Sequence[Items]) -> None:
    """Refuse several items whose names together are the name of one: the wrong reading would leave a rule visible."""
    known_names = set(map(str, data.items))
    unclear = sum(
        len(side) > 1 and any(mark.join(map(str, side)) in known_names for mark in _SEPARATORS) for side in sides
    )
    if unclear:
        raise PolicyError(
            f"{count_noun(unclear, 'side')} of rules or itemsets can be read as several items or as one whose name "
            "has a comma "
            "or a blank; put that name in double quotes, or list the several items in another order"
        )


def _number_side(items: Items, item_places: Mapping[Item, int]) -> SideCodes:
    return tuple(sorted({item_places[item] for item in items}))


def name_rule(data: Vocabulary, rule: SecretRule) -> NamedRule:
    """A rule with the names of its items."""
    return tuple(data.items[position] for position in rule.left), tuple(data.items[position] for position in rule.right)
