# SPDX-License-Identifier: MIT
"""The section of the report about published rules or a published classifier, made from the published file alone."""

from __future__ import annotations

from collections import Counter

from sfumato.data.items.rule_set_files import RuleCount
from sfumato.errors import count_noun
from sfumato.mine.patterns.classifier_tree import TreeNode, build_classifier_tree
from sfumato.mine.patterns.rule_classifier import name_target
from sfumato.report.pictures.model_pictures import (
    MOST_NODES,
    NamedShare,
    choose_class_colours,
    draw_named_shares,
    draw_rule_spots,
    draw_tree,
)
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.sections.hidden_names import join_items
from sfumato.report.words import wording
from sfumato.rules import Rules

DRAWN_RULES = 10
"""How many rules are drawn, most confident first."""
MOST_LINES = 200
"""How many rules or leaves are listed."""


def build_model_section(published_rules: Rules) -> ReportSection:
    """The rules by name with their supports and confidences; of a classifier, its tree and how often it is right."""
    tree = build_classifier_tree(published_rules)
    if tree is None:
        return _build_rules_section(published_rules)
    return _build_tree_section(tree, name_target(published_rules))


def _build_rules_section(published_rules: Rules) -> ReportSection:
    rules = published_rules.list_counts()
    count = count_noun(len(rules), "rule is", "rules are")
    baskets = count_noun(published_rules.baskets, "basket")
    intro = f"{count} published, about {count_noun(len(published_rules.items), 'item')} in {baskets}. "
    if not rules:
        return ReportSection("model", "The published rules", intro + "Nothing reaches the thresholds safely.")
    intro += (
        "The support is the number of baskets that hold both sides; the confidence is its share of the left side's."
    )
    return ReportSection("model", "The published rules", intro, (_list_rules(rules), _place_rules(rules)))


def _list_rules(rules: tuple[RuleCount, ...]) -> ReportFigure:
    bars = [
        NamedShare(spell_rule(rule), rule.support / rule.left_support, f"{_format_confidence(rule)}, {rule.support:,}")
        for rule in rules[:DRAWN_RULES]
    ]
    caption = "Confidence, then support."
    if len(rules) > MOST_LINES:
        caption += f" The first {MOST_LINES} of {wording.format_count(len(rules))} rules are listed; the file has all."
    title = "The most confident rules" if len(rules) > DRAWN_RULES else "All rules"
    rows = tuple(
        (spell_rule(rule), _format_confidence(rule), *map(wording.format_count, (rule.support, rule.left_support)))
        for rule in rules[:MOST_LINES]
    )
    head = ("Rule", "Confidence", "Support", "Of left side")
    return ReportFigure(title, draw_named_shares(bars), f"{title}, with confidence and support.", caption, head, rows)


def _place_rules(rules: tuple[RuleCount, ...]) -> ReportFigure:
    longest = max(len(rule.left) + len(rule.right) for rule in rules)
    rows = []
    for size in range(1, longest + 1):
        of_size = [rule for rule in rules if len(rule.left) + len(rule.right) == size]
        if of_size:
            shares = [rule.support / rule.left_support for rule in of_size]
            middle = sum(shares) / len(shares)
            rows.append((count_noun(size, "item"), f"{len(of_size):,}", wording.format_percent(middle)))
    return ReportFigure(
        "Support and confidence of all rules",
        draw_rule_spots(rules),
        "All rules by confidence and support.",
        "Each spot is a rule; larger ones are several rules at about the same place.",
        ("Rules of", "Number", "Mean confidence"),
        tuple(rows),
    )


def _build_tree_section(tree: TreeNode, target: str) -> ReportSection:
    leaves = list(tree.list_leaves())
    right, usual = _count_right(tree), max(tree.counts.values())
    people = count_noun(tree.people, "person", "people")
    intro = (
        f'The tree predicts "{wording.shorten_label(target)}" for {people} '
        f"in {count_noun(len(leaves), 'leaf', 'leaves')}. It is right for "
        f"{wording.format_percent(right / tree.people)} of those it was grown from; always predicting the most "
        f"common class is right for {wording.format_percent(usual / tree.people)}. Expect less for other people."
    )
    return ReportSection("model", "The published classifier", intro, (_show_tree(tree), _show_accuracy(tree)))


def _count_right(tree: TreeNode) -> int:
    return sum(leaf.counts[leaf.predicted_class] for _, leaf in tree.list_leaves())


def _show_tree(tree: TreeNode) -> ReportFigure:
    leaves = sorted(tree.list_leaves(), key=lambda path: -path.leaf.people)
    rows = tuple(
        (
            wording.shorten_label(" and ".join(path) or "everybody", 200),
            wording.shorten_label(leaf.predicted_class),
            wording.format_percent(leaf.counts[leaf.predicted_class] / leaf.people),
            wording.format_count(leaf.people),
        )
        for path, leaf in leaves[:MOST_LINES]
    )
    caption = "Behind each leaf: the share of its most common class, and how many people are there."
    if len(leaves) * 2 - 1 > MOST_NODES:
        caption += " Deep parts are drawn together."
    if len(leaves) > MOST_LINES:
        caption += f" The {MOST_LINES} largest of {wording.format_count(len(leaves))} leaves are listed."
    label = "The tree as an outline: conditions, and at each leaf the share of each class."
    return ReportFigure("The tree", draw_tree(tree), label, caption, ("Leaf", "Class", "Share", "People"), rows)


def _show_accuracy(tree: TreeNode) -> ReportFigure:
    """How often each class is found, by the counts of the leaves."""
    hits: Counter[str] = Counter()
    predictions: Counter[str] = Counter()
    for _, leaf in tree.list_leaves():
        hits[leaf.predicted_class] += leaf.counts[leaf.predicted_class]
        predictions[leaf.predicted_class] += leaf.people
    colours = choose_class_colours(tree)
    shares = {name: hits[name] / tree.counts[name] for name in colours}
    bars = [
        NamedShare(wording.clean_label(name), shares[name], wording.format_percent(shares[name]), colours[name])
        for name in list(colours)[:DRAWN_RULES]
    ]
    rows = tuple(
        (wording.shorten_label(name), *map(wording.format_count, (tree.counts[name], predictions[name], hits[name])))
        for name in list(colours)[:MOST_LINES]
    )
    caption = (
        "Of the people of each class, the share that the tree finds. Counted from the leaves, by their own people."
    )
    head = ("Class", "People", "Said for", "Of these right")
    return ReportFigure("How often it is right", draw_named_shares(bars), caption, caption, head, rows)


def spell_rule(rule: RuleCount) -> str:
    """A rule as text."""
    return f"{join_items(map(str, rule.left))} → {join_items(map(str, rule.right))}"


def _format_confidence(rule: RuleCount) -> str:
    return wording.format_percent(rule.support / rule.left_support)
