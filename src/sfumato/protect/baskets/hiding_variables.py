# SPDX-License-Identifier: MIT
"""The decisions of the integer program that hides rules, and which rules and itemsets each decision hits.

A sensible removal from a basket is a set of items in which each hits a rule that the others miss; restoring anything
more would only improve the release. Baskets that are equal for all rules and all itemsets at risk share one variable
for each such set: how many of them lose it. A basket with too many such sets has one variable per item instead, and
auxiliary ones for whether a rule or an itemset is hit by any of them. Both ways are exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from sfumato.arrays import Flags, Floats, Ints
from sfumato.protect.baskets.basket_columns import BasketDraft
from sfumato.protect.baskets.itemsets_at_risk import ItemsetsAtRisk
from sfumato.protect.baskets.secret_rules import HidingThresholds, SecretRule
from sfumato.runtime.progress import report_progress

MOST_CHOICES = 256
"""The largest number of removable sets per basket; beyond it, items are decided individually."""

Choice = frozenset[int]
VariableKind = Literal["whole", "left", "risk"]


@dataclass(frozen=True, eq=False)
class CriticalBaskets:
    """The baskets that hold some rule, and the rules that could show."""

    rules: tuple[SecretRule, ...]
    """Rules held by enough baskets; all others stay hidden whatever is removed."""
    rows: Ints
    wholes: Flags
    """Rules × critical baskets: which hold the rule."""
    lefts: Flags
    """The same for its left side."""
    whole: Ints
    """How many of all baskets hold each rule."""
    left_counts: Ints

    @classmethod
    def of(cls, draft: BasketDraft, rules: Sequence[SecretRule], least: int) -> CriticalBaskets:
        """Find them."""
        frequent_rules = tuple(rule for rule in rules if draft.count(rule.whole) >= least)
        wholes = np.zeros((len(frequent_rules), len(draft.sizes)), dtype=np.bool_)
        lefts = np.zeros_like(wholes)
        for u, rule in enumerate(frequent_rules):
            wholes[u] = draft.flag_holding(rule.whole)
            if rule.left:
                lefts[u] = draft.flag_holding(rule.left)
        rows = np.flatnonzero(wholes.any(axis=0)).astype(np.int64)
        return cls(frequent_rules, rows, wholes[:, rows], lefts[:, rows], wholes.sum(axis=1), lefts.sum(axis=1))

    def drop_decided_sides(self, thresholds: HidingThresholds) -> CriticalBaskets:
        """The same without the left sides of rules for which lowering the support is the shortest way, and so
        sufficient."""
        surplus = [
            thresholds.count_surplus(whole, left_count)
            for whole, left_count in zip(self.whole, self.left_counts, strict=True)
        ]
        is_open = np.array(surplus, dtype=np.int64) < self.whole + 1 - thresholds.least
        return replace(self, lefts=self.lefts & is_open[:, None])

    def count_most_hits(self, thresholds: HidingThresholds) -> Ints:
        """An upper bound on how many baskets of each rule a plan without unnecessary changes can change.

        In such a plan each change is needed by a rule that would show without it, so that rule has no basket to spare.
        A rule's support is low enough after `whole + 1 - least` baskets. Its confidence is low enough after the
        surplus, and later if its left side gets rarer, by its own changes or by those of rules that share items with
        its left side.
        """
        share = float(thresholds.confidence)
        by_support = self.whole + 1 - thresholds.least
        meet = np.array([[bool(set(a.left) & set(b.whole)) for b in self.rules] for a in self.rules], dtype=np.bool_)
        np.fill_diagonal(meet, False)
        most = by_support.astype(np.int64)
        for _ in range(8):
            excess = self.whole - share * self.left_counts + share * (meet @ most)
            by_confidence = np.floor(excess / max(1.0 - share, 1e-9) + 1e-9) + 1
            hit_bounds = np.where(self.left_counts > 0, np.minimum(by_support, by_confidence), by_support)
            most = np.maximum(hit_bounds, 0).astype(np.int64)
        return most


class VariableHits(NamedTuple):
    """Rules or itemsets, and the variable that hits each."""

    lines: Ints
    variables: Ints


@dataclass(eq=False)
class HidingVariables:
    """Decisions, numbered in order of creation."""

    upper: list[int] = field(default_factory=list)
    """How often each can be made."""
    cost: list[int] = field(default_factory=list)
    """How many items each removes each time."""
    takes: dict[int, tuple[int, Choice]] = field(default_factory=dict)
    """The group of baskets, and what one of them loses; not for auxiliary variables."""
    groups: list[Ints] = field(default_factory=list)
    """Equal critical baskets, as indices."""
    shared_variables: list[list[int]] = field(default_factory=list)
    """Variables of which a basket of the group can follow at most one; empty if it can follow all."""
    hits: dict[VariableKind, list[VariableHits]] = field(default_factory=lambda: {"whole": [], "left": [], "risk": []})
    """What each decision hits: each time it is made, a basket stops holding it."""
    any_of: list[tuple[int, tuple[int, ...], bool]] = field(default_factory=list)
    """(helper, variables, upward): the helper is at most 1 if any of them is (not upward), or at least 1 (upward)."""

    def add_variable(self, upper: int, cost: int) -> int:
        """Add a variable."""
        self.upper.append(upper)
        self.cost.append(cost)
        return len(self.upper) - 1

    @property
    def entries(self) -> int:
        """The approximate size of the program in numbers."""
        return sum(len(lines) for pairs in self.hits.values() for lines, _ in pairs)

    def list_hitting_variables(self, kind: VariableKind, lines: int) -> list[Ints]:
        """For each rule or itemset, the variables that hit it."""
        pairs = self.hits[kind]
        line = np.concatenate([pair.lines for pair in pairs]) if pairs else np.zeros(0, dtype=np.int64)
        variable = np.concatenate([pair.variables for pair in pairs]) if pairs else np.zeros(0, dtype=np.int64)
        order = np.argsort(line, kind="stable")
        return np.split(variable[order], np.cumsum(np.bincount(line, minlength=lines))[:-1]) if lines else []


def build_variables(
    critical: CriticalBaskets, at_risk: ItemsetsAtRisk, victims: frozenset[int], end: float, most_lost: int
) -> HidingVariables | None:
    """The decisions about all critical baskets; only victims can be removed. None if time runs out.

    A decision that alone loses more than `most_lost` itemsets is not considered.
    """
    variables = HidingVariables()
    families = [frozenset(rule.whole) & victims for rule in critical.rules]
    sides = _HitSides.of(critical, at_risk)
    choices: dict[bytes, list[Choice] | None] = {}
    alike = _group_alike_baskets(critical, at_risk)
    for done_count, members in enumerate(alike):
        if done_count % 64 == 0:
            report_progress("setting up the integer program", done_count, len(alike))
            if time.monotonic() > end:
                return None
        rule_mask = critical.wholes[:, members[0]]
        rule_families = [families[u] for u in np.flatnonzero(rule_mask)]
        bearable = _BearableChoice(sides, int(members[0]), most_lost)
        if (key := rule_mask.tobytes()) not in choices:
            choices[key] = list_sensible_choices(rule_families)
        known_choices = choices[key]
        if (
            few := list_sensible_choices(rule_families, bearable)
            if known_choices is None
            else list(filter(bearable, known_choices))
        ) is not None:
            _add_set_variables(variables, sides, members, few)
        else:
            for position in members:
                _add_item_variables(variables, sides, int(position), frozenset().union(*rule_families))
    return variables


def _group_alike_baskets(critical: CriticalBaskets, at_risk: ItemsetsAtRisk) -> list[Ints]:
    """The critical baskets in groups with the same rules, left sides and itemsets at risk."""
    basket_bits = np.packbits(np.concatenate([critical.wholes, critical.lefts, at_risk.held_mask]), axis=0).T
    groups = np.unique(basket_bits, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(groups, kind="stable").astype(np.int64)
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def list_sensible_choices(
    families: Sequence[Choice], is_allowed: Callable[[Choice], bool] | None = None
) -> list[Choice] | None:
    """Every set of items in which each hits a family that the others miss; None if there are too many.

    If a set is not allowed, no superset is.
    """
    choices: list[Choice] = []
    level: set[Choice] = {frozenset()}
    while level:
        larger: set[Choice] = set()
        for choice in level:
            for item in {item for family in families if not family & choice for item in family}:
                new = choice | {item}
                if new not in larger and all(any(family & new == {item} for family in families) for item in new):
                    larger |= {new} if is_allowed is None or is_allowed(new) else set()
            if len(choices) + len(larger) > MOST_CHOICES:
                return None
        choices += sorted(larger, key=sorted)
        level = larger
    return choices


@dataclass(frozen=True, eq=False)
class _HitSides:
    """For each kind of thing that can be hit: its columns, and the critical baskets that hold it."""

    columns: dict[VariableKind, Flags]
    """Things × columns."""
    held_masks: dict[VariableKind, Flags]
    """Critical baskets × things."""
    fragile: Ints
    """The number of itemsets that each one at risk represents if a single basket loses it, 0 for others."""
    hit_masks: dict[tuple[VariableKind, Choice], Flags] = field(default_factory=dict)
    """The things that a choice hits, cached."""

    def flag_hit(self, kind: VariableKind, choice: Choice) -> Flags:
        """Which things hold any of the columns."""
        if (kind, choice) not in self.hit_masks:
            self.hit_masks[kind, choice] = np.asarray(self.columns[kind][:, sorted(choice)].any(axis=1))
        return self.hit_masks[kind, choice]

    @classmethod
    def of(cls, critical: CriticalBaskets, at_risk: ItemsetsAtRisk) -> _HitSides:
        width = 1 + max((column for rule in critical.rules for column in rule.whole), default=0)
        sets: dict[VariableKind, list[frozenset[int]]] = {
            "whole": [frozenset(rule.whole) for rule in critical.rules],
            "left": [frozenset(rule.left) for rule in critical.rules],
            "risk": list(at_risk.columns),
        }
        columns = {kind: np.zeros((len(kind_lines), width), dtype=np.bool_) for kind, kind_lines in sets.items()}
        for kind, kind_lines in sets.items():
            for line, items in enumerate(kind_lines):
                columns[kind][line, sorted(items)] = True
        held_masks: dict[VariableKind, Flags] = {
            "whole": critical.wholes,
            "left": critical.lefts,
            "risk": at_risk.held_mask,
        }
        fragile = np.where(at_risk.spare == 0, at_risk.times, 0)
        return cls(
            columns, {kind: np.ascontiguousarray(kind_lines.T) for kind, kind_lines in held_masks.items()}, fragile
        )


class _BearableChoice:
    """Whether a choice for a basket alone loses at most the given number of itemsets."""

    def __init__(self, sides: _HitSides, basket: int, most: int) -> None:
        self._sides, self._most = sides, most
        self._fragile = sides.fragile * sides.held_masks["risk"][basket]
        self._is_always_bearable = int(self._fragile.sum()) <= most

    def __call__(self, choice: Choice) -> bool:
        return self._is_always_bearable or int(self._fragile[self._sides.flag_hit("risk", choice)].sum()) <= self._most


def _add_set_variables(variables: HidingVariables, sides: _HitSides, members: Ints, choices: Sequence[Choice]) -> None:
    """A variable for each set: how many of the members lose it."""
    choices = _select_undominated(sides, int(members[0]), choices) if len(choices) > 1 else choices
    numbers = [variables.add_variable(len(members), len(choice)) for choice in choices]
    for number, choice in zip(numbers, choices, strict=True):
        variables.takes[number] = (len(variables.groups), choice)
        for kind, held_mask in sides.held_masks.items():
            lines = np.flatnonzero(held_mask[members[0]] & sides.flag_hit(kind, choice))
            variables.hits[kind].append(VariableHits(lines, np.full(len(lines), number, dtype=np.int64)))
    variables.groups.append(members)
    variables.shared_variables.append(numbers)


def _select_undominated(sides: _HitSides, basket: int, choices: Sequence[Choice]) -> list[Choice]:
    """Drop choices dominated by another one that hits as many rules, harms no more and removes no more."""
    spares = np.concatenate(
        [
            [~(sides.held_masks["whole"][basket] & sides.flag_hit("whole", choice)) for choice in choices],
            [sides.held_masks["left"][basket] & sides.flag_hit("left", choice) for choice in choices],
            [sides.held_masks["risk"][basket] & sides.flag_hit("risk", choice) for choice in choices],
        ],
        axis=1,
    )
    sizes = np.array([len(choice) for choice in choices])
    kept_indices: list[int] = []
    for choice in np.lexsort((spares.sum(axis=1), sizes)).tolist():
        if not (~spares[kept_indices] | spares[choice]).all(axis=1).any():
            kept_indices.append(choice)
    return [choices[choice] for choice in sorted(kept_indices)]


def _add_item_variables(variables: HidingVariables, sides: _HitSides, basket: int, items: Choice) -> None:
    """One variable per item of a basket, and one per set of them by which a rule or an itemset is hit."""
    number = {item: variables.add_variable(1, 1) for item in sorted(items)}
    for item in sorted(items):
        variables.takes[number[item]] = (len(variables.groups), frozenset({item}))
    helper: dict[tuple[bool, tuple[int, ...]], int] = {}
    for kind, held_mask in sides.held_masks.items():
        lines = np.flatnonzero(held_mask[basket] & sides.flag_hit(kind, items))
        distinct, distinct_indices = np.unique(
            sides.columns[kind][lines][:, sorted(items)], axis=0, return_inverse=True
        )
        hit: list[int] = []
        for line in distinct:
            part_numbers = tuple(
                number[item] for item, is_present in zip(sorted(items), line.tolist(), strict=True) if is_present
            )
            key = (kind != "whole", part_numbers)
            if key not in helper:
                helper[key] = part_numbers[0] if len(part_numbers) == 1 else variables.add_variable(1, 0)
                if len(part_numbers) > 1:
                    variables.any_of.append((helper[key], part_numbers, kind != "whole"))
            hit.append(helper[key])
        variables.hits[kind].append(VariableHits(lines, np.array(hit, dtype=np.int64)[distinct_indices.reshape(-1)]))
    variables.groups.append(np.array([basket], dtype=np.int64))
    variables.shared_variables.append([])


class ItemRemoval(NamedTuple):
    """An item that is removed from a basket."""

    row: int
    column: int


def list_removals(variables: HidingVariables, critical: CriticalBaskets, values: Floats) -> tuple[ItemRemoval, ...]:
    """The (basket, column) pairs that decisions remove; of equal baskets the first ones."""
    used_counts = [0] * len(variables.groups)
    removals: list[ItemRemoval] = []
    for number, (group, choice) in variables.takes.items():
        many = round(float(values[number]))
        places = variables.groups[group][used_counts[group] : used_counts[group] + many]
        if variables.shared_variables[group]:
            used_counts[group] += many
        removals += [ItemRemoval(row, column) for row in critical.rows[places].tolist() for column in choice]
    return tuple(sorted(removals))
