# SPDX-License-Identifier: MIT
"""Hiding ten rules and some items in real baskets: time and damage of each strategy, the optimum's gap, growth."""

from __future__ import annotations

import resource
import time
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from bench.timing import best_of, shared_data, show
from sfumato.baskets import Baskets
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.protect.baskets.hide_rules import HideRules

Rule = tuple[tuple[Any, ...], tuple[Any, ...]]
SUPPORT, CONFIDENCE = 0.005, 0.6


def first(data: Baskets, rows: int) -> Baskets:
    """The first baskets."""
    offsets = data.offsets[: rows + 1]
    return Baskets(data.items, offsets, data.codes[: offsets[-1]])


def grow_baskets(data: Baskets, times: int) -> Baskets:
    """Every basket several times over."""
    sizes = np.tile(np.diff(data.offsets), times)
    return Baskets(data.items, np.concatenate([[0], np.cumsum(sizes)]), np.tile(data.codes, times))


def rules_of(data: Baskets, least: int, confidence: float, many: int) -> tuple[Rule, ...]:
    """Some of the rules with one item on the right that reach the thresholds, the same ones every time."""
    itemsets = find_itemsets(data, least)
    supports = {
        tuple(itemsets.codes[itemsets.offsets[i] : itemsets.offsets[i + 1]].tolist()): int(itemsets.supports[i])
        for i in range(len(itemsets))
    }
    rule_sides = sorted(
        (antecedent, next(code for code in whole if code not in antecedent))
        for whole, support in supports.items()
        if len(whole) > 1
        for antecedent in combinations(whole, len(whole) - 1)
        if support >= Fraction(str(confidence)) * supports[antecedent]
    )
    indices = np.random.default_rng(7).choice(len(rule_sides), min(many, len(rule_sides)), replace=False)
    return tuple(
        (tuple(data.items[code] for code in rule_sides[index][0]), (data.items[rule_sides[index][1]],))
        for index in indices.tolist()
    )


def naive_1b(rows: list[set[Any]], rules: tuple[Rule, ...], least: int, confidence: float) -> int:
    """1.b over lists of sets: every step looks through all baskets again."""
    changes = 0
    for left, right in rules:
        rule_items, antecedent_items = set(left) | set(right), set(left)
        while True:
            holding_values = [row for row in rows if rule_items <= row]
            sides = sum(antecedent_items <= row for row in rows)
            if len(holding_values) < least or len(holding_values) < Fraction(str(confidence)) * sides:
                break
            min(holding_values, key=len).discard(right[0])
            changes += 1
    return changes


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("hiding: no real data (set SFUMATO_DATA), skipped")
        return
    retail = Baskets.read(folder / "fimi" / "retail.dat.gz")
    _strategies(retail)
    _exact(folder)
    _items(folder)
    _growth(retail)


def _strategies(data: Baskets) -> None:
    least = int(SUPPORT * len(data))
    rules = rules_of(data, least, CONFIDENCE, 10)
    frequent = {_name_items(data, codes) for codes in _sets(data, least)}
    rows: list[tuple[object, ...]] = []
    quickest = 0.0
    for strategy in ("joint", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated", "block"):
        method = HideRules(rules=rules, min_support=least, min_confidence=CONFIDENCE, strategy=strategy)
        release = method.protect(data)
        seconds = best_of(2, partial(method.protect, data))
        quickest = seconds if strategy == "1b" else quickest
        lost_count = len(frequent - {_name_items(release.data, codes) for codes in _sets(release.data, least)})
        rows.append((strategy, f"{seconds:.2f} s", f"{release.losses['changes']:,}", lost_count))
    begin = time.perf_counter()
    changes = naive_1b([set(row) for row in data.to_lists()], rules[:1], least, CONFIDENCE)
    slow = time.perf_counter() - begin
    rows.append(("1b over lists of sets, one rule of the ten", f"{slow:.1f} s", f"{changes:,}", ""))
    rows.append(("ratio to 1b with all ten", f"{slow / quickest:.0f}×", "", ""))
    title = f"HideRules, ten rules of retail ({len(data):,} baskets), support {least}, confidence {CONFIDENCE}"
    show(title, ("strategy", "protect()", "changes", "lost itemsets"), rows)


def _sets(data: Baskets, least: int) -> list[tuple[int, ...]]:
    itemsets = find_itemsets(data, least)
    return [tuple(itemsets.codes[itemsets.offsets[i] : itemsets.offsets[i + 1]].tolist()) for i in range(len(itemsets))]


def _name_items(data: Baskets, codes: tuple[int, ...]) -> frozenset[str]:
    return frozenset(str(data.items[code]) for code in codes)


def _exact(folder: Path) -> None:
    rows: list[tuple[object, ...]] = []
    for name, least, confidence in (
        ("retail.dat.gz", 50, 0.6), ("retail.dat.gz", 20, 0.6), ("T10I4D100K.dat.gz", 30, 0.6),
        ("bms-webview-1.dat", 20, 0.4),
    ):  # fmt: skip
        data = first(Baskets.read(folder / "fimi" / name), 10_000)
        rules = rules_of(data, least, confidence, 10)
        begin = time.perf_counter()
        release = HideRules(rules=rules, min_support=least, min_confidence=confidence, strategy="exact").protect(data)
        seconds = time.perf_counter() - begin
        d = release.details
        rows.append(
            (
                name, least, confidence, f"{seconds:.1f} s", f"{d['lost_itemsets']} (≥ {d['lost_bound']})",
                f"{d['objective']} (≥ {d['bound']})", f"{d['gap']:.1%}",
            )
        )  # fmt: skip
    head = ("10,000 baskets of", "support", "confidence", "protect()", "lost itemsets", "changes", "gap")
    show("HideRules exact: ten rules, a minute at most", head, rows)


def _items(folder: Path) -> None:
    rows: list[tuple[object, ...]] = []
    for name, count, items, least, confidence in (
        ("retail.dat.gz", 88_162, (38,), 88, 0.6), ("retail.dat.gz", 10_000, (39, 48, 38), 50, 0.6),
        ("mushroom.dat", 8_124, (36,), 2500, 0.8), ("T10I4D100K.dat.gz", 10_000, (217, 368), 30, 0.6),
    ):  # fmt: skip
        data = first(Baskets.read(folder / "fimi" / name), count)
        for strategy in ("complete", "islf", "dsrf", "exact"):
            if strategy in ("islf", "dsrf") and (count > 10_000 or name == "mushroom.dat"):
                continue  # it counts every rule of every size for Table 8
            method = HideItems(items=items, min_support=least, min_confidence=confidence, strategy=strategy)
            begin = time.perf_counter()
            release = method.protect(data)
            seconds = time.perf_counter() - begin
            details = release.details
            gap = f"{details['gap']:.1%}" if "gap" in details else ""
            leftover_count = details.get("visible_rules", 0)
            rows.append(
                (
                    name,
                    f"{count:,}",
                    len(items),
                    strategy,
                    f"{seconds:.2f} s",
                    release.losses["changes"],
                    leftover_count,
                    gap,
                )
            )
    head = ("data", "baskets", "items", "strategy", "protect()", "changes", "rules left", "gap")
    show("HideItems", head, rows)


def _growth(base: Baskets) -> None:
    rows: list[tuple[object, ...]] = []
    rules = rules_of(base, int(SUPPORT * len(base)), CONFIDENCE, 10)
    for times in (1, 4, 16):
        data = base if times == 1 else grow_baskets(base, times)
        by_rules = HideRules(rules=rules, min_support=SUPPORT, min_confidence=CONFIDENCE)
        by_items = HideItems(items=(38,), min_support=SUPPORT, min_confidence=CONFIDENCE)
        seconds = [best_of(1, partial(method.protect, data)) for method in (by_rules, by_items)]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(data):,}", *(f"{duration:.2f} s" for duration in seconds), f"{peak:.0f} MB"))
    head = ("baskets", "ten rules, joint", "one item, complete", "peak memory of the process")
    show("Growth, retail over and over", head, rows)


if __name__ == "__main__":
    main()
