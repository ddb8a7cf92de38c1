# SPDX-License-Identifier: MIT
"""Rules: association rules with their supports and confidences, without the baskets they were found in.

Anyone who gets a rule learns two supports, that of both sides together and that of the left side. So a set of rules is
a set of patterns, those two of each rule, and what is asked about patterns can be asked about rules: which supports of
few people follow from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.baskets import Item, Items
from sfumato.data.items.rule_set_files import RuleCount, RuleSet, read_rule_set, write_rule_set
from sfumato.errors import DataError, count_noun
from sfumato.patterns import Patterns

EMPTY_SIDE = -1
"""The number of an empty left side, which all baskets hold."""


def _make_no_rules() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rules(Patterns):
    """Rules as pairs of patterns: the two sides together, and the left side.

    The patterns are those two of each rule and no others. Rules are sorted: the most confident first, then the most
    supported, the shortest, and by items; so the order says nothing that the rules do not. The first one that fits is
    what a classifier goes by.
    """

    wholes: Ints = field(default_factory=_make_no_rules)
    """For each rule the pattern of both sides."""
    lefts: Ints = field(default_factory=_make_no_rules)
    """For each rule the pattern of its left side; −1 if that is empty."""

    @classmethod
    def of_counts(cls, rules: Iterable[RuleCount], baskets: int) -> Rules:
        """Build from rules with their two supports; contradictory supports are refused."""
        counts = list(rules)
        supports: dict[frozenset[Item], int] = {frozenset(): baskets}
        for rule in counts:
            if not rule.right or set(rule.left) & set(rule.right):
                raise DataError("a rule has no right side, or an item on both sides")
            for items, support in ((rule.left, rule.left_support), ((*rule.left, *rule.right), rule.support)):
                if supports.setdefault(frozenset(items), support) != support:
                    raise DataError("two rules give the same itemset different supports; no baskets have such rules")
        del supports[frozenset()]
        patterns = Patterns.of(supports.items(), baskets)
        number = {frozenset(items): index for index, (items, _) in enumerate(patterns.to_lists())}
        number[frozenset()] = EMPTY_SIDE
        pairs = sorted(
            {(number[frozenset((*rule.left, *rule.right))], number[frozenset(rule.left)]) for rule in counts},
            key=lambda pair: _rank(patterns, *pair),
        )
        if len(pairs) != len(counts):
            raise DataError(f"{count_noun(len(counts) - len(pairs), 'rule is', 'rules are')} repeated; give each once")
        columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        arrays = (patterns.items, patterns.offsets, patterns.codes, patterns.supports, baskets)
        return cls(*arrays, None, np.ascontiguousarray(columns[0]), np.ascontiguousarray(columns[1]))

    @classmethod
    def read(cls, path: str | PathLike[str], baskets: int | None = None) -> Rules:
        """Read a file that :meth:`write` wrote; it states the number of baskets."""
        content = read_rule_set(Path(path))
        return cls.of_counts(content.rules, content.baskets if baskets is None else baskets)

    def write(self, path: str | PathLike[str]) -> None:
        """Write the whole file in SPMF's form, or nothing."""
        write_rule_set(Path(path), RuleSet(self.list_counts(), self.baskets))

    def list_counts(self) -> tuple[RuleCount, ...]:
        """Every rule with its two supports, in order."""
        sets = [tuple(items) for items, _ in self.to_lists()]
        counts = []
        for whole, left_index in zip(self.wholes.tolist(), self.lefts.tolist(), strict=True):
            left_items: Items = () if left_index == EMPTY_SIDE else sets[left_index]
            right = tuple(item for item in sets[whole] if item not in left_items)
            of_left = self.baskets if left_index == EMPTY_SIDE else int(self.supports[left_index])
            counts.append(RuleCount(left_items, right, int(self.supports[whole]), of_left))
        return tuple(counts)

    @property
    def rules(self) -> pl.DataFrame:
        """The rules as a frame: `antecedent`, `consequent`, `support` and `confidence`."""
        counts = self.list_counts()
        kind = pl.List(pl.String if self.items and isinstance(self.items[0], str) else pl.Int64)
        return pl.DataFrame(
            {
                "antecedent": [list(rule.left) for rule in counts],
                "consequent": [list(rule.right) for rule in counts],
                "support": [rule.support for rule in counts],
                "confidence": [rule.support / rule.left_support for rule in counts],
            },
            schema={"antecedent": kind, "consequent": kind, "support": pl.Int64, "confidence": pl.Float64},
        )

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same rules."""
        if not isinstance(other, Rules):
            return NotImplemented
        return self.baskets == other.baskets and self.list_counts() == other.list_counts()

    def __hash__(self) -> int:
        """Equal rules have equal hashes."""
        return hash((self.items, self.baskets, len(self.wholes), int(self.supports.sum())))

    def __reduce__(self) -> tuple[type[Patterns], tuple[object, ...]]:
        """Copies are rebuilt, so that their arrays are read-only too."""
        arrays = (self.items, self.offsets, self.codes, self.supports)
        return Rules, (*arrays, self.baskets, self.complete_from, self.wholes, self.lefts)

    def __repr__(self) -> str:
        """Counts only: an item may name a person."""
        return f"Rules({len(self.wholes):,} rules of {len(self.items):,} items in {self.baskets:,} baskets)"


def _rank(patterns: Patterns, whole: int, left_index: int) -> tuple[Fraction, int, int, int, int]:
    """Confident, supported and short rules first; patterns are sorted by length, then by items."""
    support = int(patterns.supports[whole])
    of_left = patterns.baskets if left_index == EMPTY_SIDE else int(patterns.supports[left_index])
    length = 0 if left_index == EMPTY_SIDE else int(patterns.offsets[left_index + 1] - patterns.offsets[left_index])
    return -Fraction(support, max(of_left, 1)), -support, length, left_index, whole
