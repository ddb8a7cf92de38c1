# SPDX-License-Identifier: MIT
"""The decision tree behind published rules, built again from the rules alone: a leaf is the left side of a rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sfumato.mine.patterns.rule_classifier import NOT, name_class
from sfumato.rules import Rules

Conditions = frozenset[str]


class LeafPath(NamedTuple):
    """A leaf with the conditions that lead to it."""

    conditions: tuple[str, ...]
    leaf: TreeNode


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree: the condition that leads to it, and the people who are there by class."""

    condition: str
    """Empty at the root."""
    counts: Mapping[str, int]
    children: tuple[TreeNode, ...] = ()

    @property
    def people(self) -> int:
        """How many people are at the node."""
        return sum(self.counts.values())

    @property
    def predicted_class(self) -> str:
        """The class that the rules say: the most common."""
        return max(sorted(self.counts), key=lambda name: self.counts[name])

    def list_leaves(self, path: tuple[str, ...] = ()) -> Iterator[LeafPath]:
        """Each leaf with the conditions that lead to it."""
        node_path = (*path, self.condition) if self.condition else path
        if not self.children:
            yield LeafPath(node_path, self)
        for child in self.children:
            yield from child.list_leaves(node_path)


def build_classifier_tree(rules: Rules) -> TreeNode | None:
    """The tree whose leaves are the left sides of the rules; None if they are those of no tree, or do not add up."""
    leaves: dict[Conditions, Counter[str]] = {}
    supports: dict[Conditions, int] = {}
    for rule in rules.list_counts():
        leaf_conditions = frozenset(map(str, rule.left))
        leaves.setdefault(leaf_conditions, Counter())[name_class(rule)] += rule.support
        supports[leaf_conditions] = rule.left_support
    whole = all(counts.total() == supports[leaf_conditions] for leaf_conditions, counts in leaves.items())
    if not leaves or not whole or sum(supports.values()) != rules.baskets:
        return None
    return _grow_again("", leaves)


def _grow_again(condition: str, leaves: Mapping[Conditions, Counter[str]]) -> TreeNode | None:
    """The node above some leaves: it asks what all of them answer, and of that what separates the classes best."""
    counts = _add_up(list(leaves.values()))
    if frozenset() in leaves:
        return TreeNode(condition, counts) if len(leaves) == 1 else None
    questions = {item.removeprefix(NOT) for leaf_conditions in leaves for item in leaf_conditions}
    splits = [parts for question in sorted(questions) if (parts := _divide_leaves(leaves, question)) is not None]
    if not splits:
        return None
    best = min(splits, key=_measure_impurity)
    children = [_grow_again(answer, part) for answer, part in best.items()]
    grown_children = tuple(child for child in children if child is not None)
    return TreeNode(condition, counts, grown_children) if len(grown_children) == len(children) else None


Division = dict[str, dict[Conditions, Counter[str]]]


def _divide_leaves(leaves: Mapping[Conditions, Counter[str]], question: str) -> Division | None:
    """The leaves by their answer to a question, without it; None if some do not answer or all answer alike."""
    parts: Division = {question: {}, NOT + question: {}}
    for leaf_conditions, counts in leaves.items():
        answers = [answer for answer in parts if answer in leaf_conditions]
        if len(answers) != 1:
            return None
        parts[answers[0]][leaf_conditions - {answers[0]}] = counts
    return parts if all(parts.values()) else None


def _measure_impurity(parts: Division) -> float:
    """Gini impurity times the number of people, by which the tree was grown."""
    sums = [_add_up(list(part.values())) for part in parts.values()]
    return sum(counts.total() - sum(count**2 for count in counts.values()) / counts.total() for counts in sums)


def _add_up(counts: Sequence[Counter[str]]) -> Counter[str]:
    return sum(counts, Counter())
