# SPDX-License-Identifier: MIT
"""Every number that a report says of patterns, rules and classifiers, counted plainly.

Nothing here uses a miner or a measure of the package: supports are counted basket by basket, and the written files are
parsed by their lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import sfumato as sf
from tests.contract.examples import Example
from tests.contract.report_pages import (
    Itemset,
    check_both,
    complete_rows,
    count,
    percent,
    read_lines,
    select,
    take_baskets,
)
from tests.contract.runs import run_example


class PatternFile(NamedTuple):
    """A file of patterns or rules, parsed line by line."""

    items: dict[str, str]
    baskets: int
    lines: list[str]

    @classmethod
    def read(cls, folder: Path) -> PatternFile:
        """Read the file of a release."""
        lines = (folder / "release" / "data.txt").read_text(encoding="utf-8").splitlines()
        items = {line.split("=")[1]: line.split("=", 2)[2] for line in lines if line.startswith("@ITEM=")}
        baskets = next(int(line.split("=")[1]) for line in lines if line.startswith("@BASKETS="))
        return cls(items, baskets, [line for line in lines if not line.startswith("@")])

    def name(self, numbers: str) -> Itemset:
        """Items by their numbers."""
        return frozenset(self.items[number] for number in numbers.split())


def list_subsets(items: Iterable[str], least: int = 1) -> Iterator[Itemset]:
    """All subsets of at least some items."""
    ordered_items = sorted(items)
    return (
        frozenset(part) for size in range(least, len(ordered_items) + 1) for part in combinations(ordered_items, size)
    )


@cache
def mine_plainly(baskets: tuple[Itemset, ...], least: int) -> dict[Itemset, int]:
    """The support of every frequent itemset."""
    supports = {part: sum(part <= basket for basket in baskets) for part in list_subsets(frozenset().union(*baskets))}
    return {part: support for part, support in supports.items() if support >= least}


def list_channels(
    baskets: tuple[Itemset, ...], frequent: Iterable[Itemset], k: int
) -> dict[tuple[Itemset, Itemset], int]:
    """Every pattern "all of these and none of those" within a frequent itemset that few baskets fit."""
    channels = {}
    for whole in frequent:
        for present_items in list_subsets(whole, 0):
            absent_items = whole - present_items
            people = sum(present_items <= basket and not absent_items & basket for basket in baskets)
            if absent_items and 0 < people < k:
                channels[present_items, absent_items] = people
    return channels


def list_channel_lines(channels: Mapping[tuple[Itemset, Itemset], int], lines: Iterable[str]) -> list[str]:
    """The lines about channels; only a few are shown, and each is looked up."""
    true_lines = {
        f"Baskets with {', '.join(sorted(present_items)) or 'anything'} and none of {', '.join(sorted(absent_items))}: "
        f"{count(people, 'basket')}."
        for (present_items, absent_items), people in channels.items()
    }
    channel_lines = [line for line in lines if line.startswith("Baskets with ")]
    assert len(channel_lines) == min(len(channels), 8)
    return [line if line in true_lines else f"false: {line}" for line in channel_lines]


@select(sf.PublishPatterns)
def test_what_a_report_says_of_patterns(example: Example, tmp_path: Path) -> None:
    method, result, baskets = example.subject, run_example(example, tmp_path), take_baskets(example)
    file = PatternFile.read(result.out)
    parts = (re.fullmatch(r"([\d ]+) #SUP: (\d+)", line) for line in file.lines)
    published = {file.name(part[1]): int(part[2]) for part in parts if part}
    assert len(published) == len(file.lines)
    frequent = mine_plainly(baskets, method.min_support)
    channels = list_channels(baskets, frequent, method.k)
    item_count = len(frozenset().union(*published))
    size = [
        f"patterns in the release {len(published)}",
        count(item_count, "item"),
        f"Data file data.txt, {count(len(published), 'pattern')}, {count(item_count, 'item')}",
    ]
    errors = [min(abs(published.get(part, 0) - support) / support, 1.0) for part, support in frequent.items()]
    loss = percent(sum(errors) / len(errors))
    losses = {
        "Itemsets lost": len(frequent.keys() - published.keys()),
        "Ghost itemsets": len(published.keys() - frequent.keys()),
        "Supports changed": sum(published.get(part, support) != support for part, support in frequent.items()),
        "Baskets added": file.baskets - len(baskets),
    }
    lines = read_lines(result.out / "private" / "report.html")
    sentence = (
        f"The frequent itemsets had {count(len(channels), 'inference channel')} to fewer than {method.k} people. "
        f"{count(len(published), 'pattern is', 'patterns are')} published."
        f"{' Nothing was repaired, so readers can derive this.' * (method.repair == 'none' and bool(channels))}"
    )
    private_lines = [
        *size,
        f"of the supports kept {percent(1 - sum(errors) / len(errors))}",
        sentence,
        *(f"{name} | {number}" for name, number in losses.items()),
        *list_channel_lines(channels, lines),
        *check_lost_itemsets(lines, {part: frequent[part] for part in frequent.keys() - published.keys()}),
        f"Loss Mean relative error of the supports; a withheld itemset counts as 100 %. | {loss} | {loss}",
        *complete_rows(lines, losses),
        f"Baskets in the originals {len(baskets)}",
    ]
    check_both(result, size, private_lines)


def check_lost_itemsets(lines: Iterable[str], lost_itemsets: Mapping[Itemset, int]) -> list[str]:
    """The sentence that lists itemsets that are not published, or the most frequent of them."""
    begin = "Itemsets lost, with their support before: "
    sentences = [line for line in lines if line.startswith(begin)]
    true_texts = {f"{', '.join(sorted(part))} ({support})" for part, support in lost_itemsets.items()}
    for line in sentences:
        assert set(line.removeprefix(begin).removesuffix(".").split("; ")) <= true_texts, line
    assert len(sentences) == bool(lost_itemsets)
    return sentences


class PlainRule(NamedTuple):
    """A rule as a file or the originals have it."""

    left: Itemset
    right: Itemset

    def __str__(self) -> str:
        """The rule as reports write it."""
        return f"{', '.join(sorted(self.left))} → {', '.join(sorted(self.right))}"


class PlainFigures(NamedTuple):
    """What a rule says."""

    support: int
    confidence: float


def read_rules(file: PatternFile) -> dict[PlainRule, PlainFigures]:
    """The rules of a file."""
    parts = (re.fullmatch(r"([\d ]+) ==> ([\d ]+) #SUP: (\d+) #CONF: ([\d.]+)", line) for line in file.lines)
    rules = {
        PlainRule(file.name(part[1]), file.name(part[2])): PlainFigures(int(part[3]), float(part[4]))
        for part in parts
        if part
    }
    assert len(rules) == len(file.lines)
    return rules


def derive_rules(baskets: tuple[Itemset, ...], least: int, confidence: float) -> dict[PlainRule, PlainFigures]:
    """All rules of the originals."""
    frequent = mine_plainly(baskets, least)
    rules = {}
    for whole, support in frequent.items():
        for premise in list_subsets(whole):
            if premise != whole and support / frequent[premise] >= confidence - 1e-12:
                rules[PlainRule(premise, whole - premise)] = PlainFigures(support, support / frequent[premise])
    return rules


_SUPPORT = (
    " The support is the number of these baskets that hold both sides; the confidence is its share of the left side's."
)
_RAISED = (
    "askets were added where small groups had to be hidden: every support, and the number of baskets, is the true one "
    "or larger; a confidence may be higher or lower than the true one; and a rule near the thresholds may be invented "
    "or missing."
)
FIGURES = {
    "additive": f"baskets, counting added ones.{_SUPPORT} B{_RAISED}",
    "suppressive": f"baskets.{_SUPPORT}",
    "none": f"baskets.{_SUPPORT} Nothing was repaired: groups of fewer people than k may follow from the rules.",
}
"""What is said of the figures of rules after each repair."""


@select(sf.PublishRules)
def test_what_a_report_says_of_rules(example: Example, tmp_path: Path) -> None:
    method, result, baskets = example.subject, run_example(example, tmp_path), take_baskets(example)
    file = PatternFile.read(result.out)
    published, true = read_rules(file), derive_rules(baskets, method.min_support, method.min_confidence)
    item_count = len(frozenset().union(*(rule.left | rule.right for rule in published)))
    lines = read_lines(result.out / "private" / "report.html")
    size = [
        f"rules in the release {len(published)}",
        count(item_count, "item"),
        f"Data file data.txt, {count(len(published), 'rule')}, {count(item_count, 'item')}",
    ]
    lengths = Counter(len(rule.left | rule.right) for rule in published)
    confidences: dict[int, list[float]] = {length: [] for length in lengths}
    for rule, figures in published.items():
        confidences[len(rule.left | rule.right)].append(figures.confidence)
    begin = (
        f"{count(len(published), 'rule is', 'rules are')} published, about {count(item_count, 'item')} in "
        f"{file.baskets} "
    )
    figure_lines = [line for line in read_lines(result.out / "release" / "report.html") if line.startswith(begin)]
    true_lines = [begin + FIGURES[method.repair]]
    public_lines = [
        *size,
        *[line if line in true_lines else f"false: {line}" for line in figure_lines or [begin]],
        *check_rule_rows(lines, published),
        *(
            f"{length} items | {number} | {percent(sum(confidences[length]) / number)}"
            for length, number in lengths.items()
        ),
    ]
    errors = [abs(published[r].confidence - f.confidence) if r in published else 1.0 for r, f in true.items()]
    losses = {
        "Rules withheld": len(true.keys() - published.keys()),
        "Rules invented": len(published.keys() - true.keys()),
        "Rules changed": sum(
            r in published and abs(published[r].confidence - f.confidence) > 1e-9 for r, f in true.items()
        ),
        "Baskets added": file.baskets - len(baskets),
    }
    channels = list_channels(baskets, mine_plainly(baskets, method.min_support), method.k)
    loss = percent(sum(errors) / len(errors))
    private_lines = [
        *[line for line in public_lines if line not in figure_lines],
        begin + FIGURES[method.repair],
        f"of the confidences kept {percent(1 - sum(errors) / len(errors))}",
        *check_channel_sentence(lines, len(channels), method.k),
        *(f"{name} | {number}" for name, number in losses.items()),
        *list_channel_lines(channels, lines),
        *check_changed_rules(lines, published, true),
        f"Loss Mean error of the confidences; a rule that is not published counts as 100 %. | {loss} | {loss}",
        *complete_rows(lines, losses),
        f"Baskets in the originals {len(baskets)}",
    ]
    check_both(result, public_lines, private_lines)


def check_rule_rows(lines: Iterable[str], published: Mapping[PlainRule, PlainFigures]) -> list[str]:
    """The table of rules, of which a page shows some."""
    true_lines = {
        f"{rule} | {percent(f.confidence)} | {f.support} | {round(f.support / f.confidence)}"
        for rule, f in published.items()
    }
    rule_lines = [line for line in lines if " → " in line and line.count(" | ") == 3]
    return [line if line in true_lines else f"false: {line}" for line in rule_lines]


def check_channel_sentence(lines: Iterable[str], channels: int, k: int) -> list[str]:
    """How many channels the itemsets have; how many the rules disclose is at most that."""
    begin = f"The frequent itemsets had {count(channels, 'inference channel')} to fewer than {k} people."
    sentences = [line for line in lines if line.startswith(begin)]
    for line in sentences:
        disclosed = re.search(r"disclose (\d+) of them", line)
        assert disclosed is None or int(disclosed[1]) <= channels
    return sentences or [begin]


def check_changed_rules(
    lines: Iterable[str], published: Mapping[PlainRule, PlainFigures], true: Mapping[PlainRule, PlainFigures]
) -> list[str]:
    """Examples of withheld, invented and changed rules."""
    names = {
        **{("Withheld", str(rule)): figures for rule, figures in true.items() if rule not in published},
        **{("Invented", str(rule)): figures for rule, figures in published.items() if rule not in true},
        **{("Changed", str(rule)): figures for rule, figures in published.items() if rule in true},
    }
    checked_lines = []
    for line in lines:
        if more := re.fullmatch(r"(Withheld|Invented|Changed): (\d+) more\.", line):
            shown_count = sum(entry.startswith(f"{more[1]}: ") for entry in lines) - 1
            total = sum(kind == more[1] for kind, _ in names)
            checked_lines.append(
                line if more[1] == "Changed" or int(more[2]) == total - shown_count else f"false: {line}"
            )
        elif match := re.match(r"(Withheld|Invented|Changed): (.* → [^(]*) \(support (\d+), confidence (\S+ %)", line):
            figures = names.get((match[1], match[2]))
            says = figures is not None and (int(match[3]), match[4]) == (figures.support, percent(figures.confidence))
            checked_lines.append(line if says or match[1] == "Changed" else f"false: {line}")
    return checked_lines


def meets(condition: str, row: Mapping[str, Any]) -> bool:
    """Whether a person meets a condition of a tree, by its words."""
    if condition.startswith("not "):
        return not meets(condition.removeprefix("not "), row)
    name, sign, value = condition.split(" ", 2)
    if sign == "<":
        return row[name] is not None and float(row[name]) < float(value)
    return str(row[name]) == value


@select(sf.PublishClassifier)
def test_what_a_report_says_of_a_classifier(example: Example, tmp_path: Path) -> None:
    method, result = example.subject, run_example(example, tmp_path)
    people = example.data().frame.to_dicts()
    file = PatternFile.read(result.out)
    lines = read_lines(result.out / "private" / "report.html")
    leaves: dict[Itemset, Counter[str]] = {}
    for rule, figures in read_rules(file).items():
        leaf_people = [person for person in people if all(meets(part, person) for part in rule.left)]
        (conclusion,) = rule.right
        assert figures.support == sum(meets(conclusion, person) for person in leaf_people)
        assert figures.confidence == pytest.approx(figures.support / len(leaf_people))
        leaves[rule.left] = Counter(str(person[method.target]) for person in leaf_people)
    right = sum(max(classes.values()) for classes in leaves.values())
    classes = Counter(str(person[method.target]) for person in people)
    leaf_classes = {
        leaf: min(c for c in class_counts if class_counts[c] == max(class_counts.values()))
        for leaf, class_counts in leaves.items()
    }
    size = [
        f"rules in the release {len(file.lines)}",
        f"{len(file.items)} conditions and classes",
        f"Data file data.txt, {len(file.lines)} rules, {len(file.items)} conditions and classes",
    ]
    public_lines = [
        *size,
        (
            f'The tree predicts "{method.target}" for {len(people)} people in {len(leaves)} leaves. It is right for '
            f"{percent(right / len(people))} of those it was grown from; always predicting the most common class is "
            f"right for {percent(max(classes.values()) / len(people))}. Expect less for other people."
        ),
        *check_leaf_rows(lines, leaves, leaf_classes),
        *(
            f"{name} | {number} | {sum(f.total() for leaf, f in leaves.items() if leaf_classes[leaf] == name)} | "
            f"{sum(f[name] for leaf, f in leaves.items() if leaf_classes[leaf] == name)}"
            for name, number in classes.items()
        ),
    ]
    loss = percent(1 - right / len(people))
    private_lines = [
        *public_lines,
        f"of people classified right {percent(right / len(people))}",
        *check_withheld_splits(lines, people, result.out / "private" / "withheld_splits.parquet"),
        f"Loss Of the people whose class is known, the share that the rules get wrong. | {loss} | {loss}",
        *complete_rows(lines, {"Leaves": len(leaves)}),
        f"People in the originals {len(people)}",
    ]
    check_both(result, public_lines, private_lines)


def check_leaf_rows(
    lines: Iterable[str], leaves: Mapping[Itemset, Counter[str]], leaf_classes: Mapping[Itemset, str]
) -> list[str]:
    """The table of leaves: conditions in the order of the tree, the most common class, its share, the people."""
    checked_lines = []
    for line in lines:
        cells = line.split(" | ")
        leaf = frozenset(cells[0].split(" and "))
        if len(cells) == 4 and leaf in leaves:
            class_counts = leaves[leaf]
            true = [
                leaf_classes[leaf],
                percent(max(class_counts.values()) / class_counts.total()),
                str(class_counts.total()),
            ]
            same = cells[1:] == true or (cells[2:] == true[1:] and class_counts[cells[1]] == max(class_counts.values()))
            checked_lines.append(line if same else f"false: {line}")
    assert len(checked_lines) == len(leaves)
    return checked_lines


def check_withheld_splits(lines: Iterable[str], people: list[dict[str, Any]], path: Path) -> list[str]:
    """How many splits were withheld, and how many people are at each of those that are shown."""
    total = pl.read_parquet(path).height
    checked_lines = [
        f"At {total} nodes of the tree, a split would predict better and was withheld, because it discloses too much."
    ]
    for line in lines:
        if match := re.match(r"Withheld: .*, at (.*) \((\d+) people\), because", line):
            parts = [] if match[1] == "everybody" else match[1].split(" and ")
            people_count = sum(all(meets(part, person) for part in parts) for person in people)
            checked_lines.append(line if people_count == int(match[2]) else f"false: {line}, but {people_count}")
    more = re.search(r"(\d+) more are in", checked_lines[-1])
    assert total - (len(checked_lines) - 1) == (int(more[1]) if more else 0)
    return checked_lines
