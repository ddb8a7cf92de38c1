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
    known = sorted(items)
    return (frozenset(part) for size in range(least, len(known) + 1) for part in combinations(known, size))


@cache
def mine_plainly(baskets: tuple[Itemset, ...], least: int) -> dict[Itemset, int]:
    """The support of every frequent itemset."""
    supports = {part: sum(part <= basket for basket in baskets) for part in list_subsets(frozenset().union(*baskets))}
    return {part: support for part, support in supports.items() if support >= least}


def list_channels(
    baskets: tuple[Itemset, ...], frequent: Iterable[Itemset], k: int
) -> dict[tuple[Itemset, Itemset], int]:
    """Every pattern "all of these and none of those" within a frequent itemset that few baskets fit."""
    found = {}
    for whole in frequent:
        for some in list_subsets(whole, 0):
            others = whole - some
            people = sum(some <= basket and not others & basket for basket in baskets)
            if others and 0 < people < k:
                found[some, others] = people
    return found


def list_channel_lines(channels: Mapping[tuple[Itemset, Itemset], int], shown: Iterable[str]) -> list[str]:
    """The lines about channels; only a few are shown, and each is looked up."""
    known = {
        f"Baskets with {', '.join(sorted(some)) or 'anything'} and none of {', '.join(sorted(others))}: "
        f"{count(people, 'basket')}."
        for (some, others), people in channels.items()
    }
    told = [line for line in shown if line.startswith("Baskets with ")]
    assert len(told) == min(len(channels), 8)
    return [line if line in known else f"false: {line}" for line in told]


@select(sf.PublishPatterns)
def test_what_a_report_says_of_patterns(example: Example, tmp_path: Path) -> None:
    method, done, baskets = example.subject, run_example(example, tmp_path), take_baskets(example)
    file = PatternFile.read(done.out)
    parts = (re.fullmatch(r"([\d ]+) #SUP: (\d+)", line) for line in file.lines)
    published = {file.name(part[1]): int(part[2]) for part in parts if part}
    assert len(published) == len(file.lines)
    frequent = mine_plainly(baskets, method.min_support)
    channels = list_channels(baskets, frequent, method.k)
    held = len(frozenset().union(*published))
    size = [
        f"patterns in the release {len(published)}",
        count(held, "item"),
        f"Data file data.txt, {count(len(published), 'pattern')}, {count(held, 'item')}",
    ]
    errors = [min(abs(published.get(part, 0) - support) / support, 1.0) for part, support in frequent.items()]
    loss = percent(sum(errors) / len(errors))
    losses = {
        "Itemsets lost": len(frequent.keys() - published.keys()),
        "Ghost itemsets": len(published.keys() - frequent.keys()),
        "Supports changed": sum(published.get(part, support) != support for part, support in frequent.items()),
        "Baskets added": file.baskets - len(baskets),
    }
    lines = read_lines(done.out / "private" / "report.html")
    said = (
        f"The frequent itemsets had {count(len(channels), 'inference channel')} to fewer than {method.k} people. "
        f"{count(len(published), 'pattern is', 'patterns are')} published."
        f"{' Nothing was repaired, so readers can derive this.' * (method.repair == 'none' and bool(channels))}"
    )
    inside = [
        *size,
        f"of the supports kept {percent(1 - sum(errors) / len(errors))}",
        said,
        *(f"{name} | {number}" for name, number in losses.items()),
        *list_channel_lines(channels, lines),
        *check_lost_itemsets(lines, {part: frequent[part] for part in frequent.keys() - published.keys()}),
        f"Loss Mean relative error of the supports; a withheld itemset counts as 100 %. | {loss} | {loss}",
        *complete_rows(lines, losses),
        f"Baskets in the originals {len(baskets)}",
    ]
    check_both(done, size, inside)


def check_lost_itemsets(lines: Iterable[str], lost: Mapping[Itemset, int]) -> list[str]:
    """The sentence that lists itemsets that are not published, or the most frequent of them."""
    begin = "Itemsets lost, with their support before: "
    told = [line for line in lines if line.startswith(begin)]
    known = {f"{', '.join(sorted(part))} ({support})" for part, support in lost.items()}
    for line in told:
        assert set(line.removeprefix(begin).removesuffix(".").split("; ")) <= known, line
    assert len(told) == bool(lost)
    return told


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
        for left in list_subsets(whole):
            if left != whole and support / frequent[left] >= confidence - 1e-12:
                rules[PlainRule(left, whole - left)] = PlainFigures(support, support / frequent[left])
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
    method, done, baskets = example.subject, run_example(example, tmp_path), take_baskets(example)
    file = PatternFile.read(done.out)
    published, true = read_rules(file), derive_rules(baskets, method.min_support, method.min_confidence)
    held = len(frozenset().union(*(rule.left | rule.right for rule in published)))
    lines = read_lines(done.out / "private" / "report.html")
    size = [
        f"rules in the release {len(published)}",
        count(held, "item"),
        f"Data file data.txt, {count(len(published), 'rule')}, {count(held, 'item')}",
    ]
    lengths = Counter(len(rule.left | rule.right) for rule in published)
    confidences: dict[int, list[float]] = {length: [] for length in lengths}
    for rule, figures in published.items():
        confidences[len(rule.left | rule.right)].append(figures.confidence)
    begin = f"{count(len(published), 'rule is', 'rules are')} published, about {count(held, 'item')} in {file.baskets} "
    told = [line for line in read_lines(done.out / "release" / "report.html") if line.startswith(begin)]
    known = [begin + FIGURES[method.repair]]
    outside = [
        *size,
        *[line if line in known else f"false: {line}" for line in told or [begin]],
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
    inside = [
        *[line for line in outside if line not in told],
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
    check_both(done, outside, inside)


def check_rule_rows(lines: Iterable[str], published: Mapping[PlainRule, PlainFigures]) -> list[str]:
    """The table of rules, of which a page shows some."""
    known = {
        f"{rule} | {percent(f.confidence)} | {f.support} | {round(f.support / f.confidence)}"
        for rule, f in published.items()
    }
    told = [line for line in lines if " → " in line and line.count(" | ") == 3]
    return [line if line in known else f"false: {line}" for line in told]


def check_channel_sentence(lines: Iterable[str], channels: int, k: int) -> list[str]:
    """How many channels the itemsets have; how many the rules disclose is at most that."""
    begin = f"The frequent itemsets had {count(channels, 'inference channel')} to fewer than {k} people."
    told = [line for line in lines if line.startswith(begin)]
    for line in told:
        disclosed = re.search(r"disclose (\d+) of them", line)
        assert disclosed is None or int(disclosed[1]) <= channels
    return told or [begin]


def check_changed_rules(
    lines: Iterable[str], published: Mapping[PlainRule, PlainFigures], true: Mapping[PlainRule, PlainFigures]
) -> list[str]:
    """Examples of withheld, invented and changed rules."""
    names = {
        **{("Withheld", str(rule)): figures for rule, figures in true.items() if rule not in published},
        **{("Invented", str(rule)): figures for rule, figures in published.items() if rule not in true},
        **{("Changed", str(rule)): figures for rule, figures in published.items() if rule in true},
    }
    told = []
    for line in lines:
        if more := re.fullmatch(r"(Withheld|Invented|Changed): (\d+) more\.", line):
            shown = sum(one.startswith(f"{more[1]}: ") for one in lines) - 1
            total = sum(kind == more[1] for kind, _ in names)
            told.append(line if more[1] == "Changed" or int(more[2]) == total - shown else f"false: {line}")
        elif found := re.match(r"(Withheld|Invented|Changed): (.* → [^(]*) \(support (\d+), confidence (\S+ %)", line):
            figures = names.get((found[1], found[2]))
            says = figures is not None and (int(found[3]), found[4]) == (figures.support, percent(figures.confidence))
            told.append(line if says or found[1] == "Changed" else f"false: {line}")
    return told


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
    method, done = example.subject, run_example(example, tmp_path)
    people = example.data().frame.to_dicts()
    file = PatternFile.read(done.out)
    lines = read_lines(done.out / "private" / "report.html")
    leaves: dict[Itemset, Counter[str]] = {}
    for rule, figures in read_rules(file).items():
        here = [person for person in people if all(meets(part, person) for part in rule.left)]
        (said,) = rule.right
        assert figures.support == sum(meets(said, person) for person in here)
        assert figures.confidence == pytest.approx(figures.support / len(here))
        leaves[rule.left] = Counter(str(person[method.target]) for person in here)
    right = sum(max(classes.values()) for classes in leaves.values())
    classes = Counter(str(person[method.target]) for person in people)
    chosen = {leaf: min(c for c in found if found[c] == max(found.values())) for leaf, found in leaves.items()}
    size = [
        f"rules in the release {len(file.lines)}",
        f"{len(file.items)} conditions and classes",
        f"Data file data.txt, {len(file.lines)} rules, {len(file.items)} conditions and classes",
    ]
    outside = [
        *size,
        (
            f'The tree predicts "{method.target}" for {len(people)} people in {len(leaves)} leaves. It is right for '
            f"{percent(right / len(people))} of those it was grown from; always predicting the most common class is "
            f"right for {percent(max(classes.values()) / len(people))}. Expect less for other people."
        ),
        *check_leaf_rows(lines, leaves, chosen),
        *(
            f"{name} | {number} | {sum(f.total() for leaf, f in leaves.items() if chosen[leaf] == name)} | "
            f"{sum(f[name] for leaf, f in leaves.items() if chosen[leaf] == name)}"
            for name, number in classes.items()
        ),
    ]
    loss = percent(1 - right / len(people))
    inside = [
        *outside,
        f"of people classified right {percent(right / len(people))}",
        *check_withheld_splits(lines, people, done.out / "private" / "withheld_splits.parquet"),
        f"Loss Of the people whose class is known, the share that the rules get wrong. | {loss} | {loss}",
        *complete_rows(lines, {"Leaves": len(leaves)}),
        f"People in the originals {len(people)}",
    ]
    check_both(done, outside, inside)


def check_leaf_rows(
    lines: Iterable[str], leaves: Mapping[Itemset, Counter[str]], chosen: Mapping[Itemset, str]
) -> list[str]:
    """The table of leaves: conditions in the order of the tree, the most common class, its share, the people."""
    told = []
    for line in lines:
        cells = line.split(" | ")
        leaf = frozenset(cells[0].split(" and "))
        if len(cells) == 4 and leaf in leaves:
            found = leaves[leaf]
            true = [chosen[leaf], percent(max(found.values()) / found.total()), str(found.total())]
            same = cells[1:] == true or (cells[2:] == true[1:] and found[cells[1]] == max(found.values()))
            told.append(line if same else f"false: {line}")
    assert len(told) == len(leaves)
    return told


def check_withheld_splits(lines: Iterable[str], people: list[dict[str, Any]], path: Path) -> list[str]:
    """How many splits were withheld, and how many people are at each of those that are shown."""
    total = pl.read_parquet(path).height
    told = [
        f"At {total} nodes of the tree, a split would predict better and was withheld, because it discloses too much."
    ]
    for line in lines:
        if found := re.match(r"Withheld: .*, at (.*) \((\d+) people\), because", line):
            parts = [] if found[1] == "everybody" else found[1].split(" and ")
            here = sum(all(meets(part, person) for part in parts) for person in people)
            told.append(line if here == int(found[2]) else f"false: {line}, but {here}")
    more = re.search(r"(\d+) more are in", told[-1])
    assert total - (len(told) - 1) == (int(more[1]) if more else 0)
    return told
