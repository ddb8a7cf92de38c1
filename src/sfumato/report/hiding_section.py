# SPDX-License-Identifier: MIT
"""The part of the internal report about hidden rules: where rules stand before and after, and what else was hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from sfumato.baskets import Baskets
from sfumato.patterns import Patterns
from sfumato.public.thresholds import exact, least_count
from sfumato.public.unknown_items import parted
from sfumato.release import Release
from sfumato.report import words
from sfumato.report.account import Figure, Section
from sfumato.report.pictures import PALETTE, Spec, drawn
from sfumato.report.rule_pictures import RuleSpot, RuleWords, rules_before_and_after

MOST_RULES = 200_000
"""More rules than this are not drawn: only those that were to be hidden."""
_REACH = 0.5
_WORDS = RuleWords("to be hidden", "other rules", "confidence", "support, baskets")


def hiding_section(release: Release, original: Baskets, published: Baskets, utility: Mapping[str, float]) -> Section:
    """Rules before and after, side effects, and how far from the best possible."""
    secret = release.details["sensitive"]
    figures = [_effects(utility)]
    if release.method.min_confidence is not None:
        figures.insert(0, _rules(release, original, published, secret))
    changes = release.losses.get("changes", 0)
    intro = (
        f"{words.several(len(secret), 'rule, itemset or item was', 'rules, itemsets or items were')} to be hidden. "
        f"{words.several(int(changes), 'change')} of single items did it."
    )
    return Section("hiding", "What was hidden, and what else was hit", intro, tuple(figures), tuple(_notes(release)))


def _rules(release: Release, original: Baskets, published: Baskets, secret: Iterable[Any]) -> Figure:
    method = release.method
    least = least_count(method.min_support, len(original))
    confidence = float(exact(method.min_confidence))
    named = {_sides(one) for one in secret}
    before = _spots(original, least, confidence, named)
    after = _spots(parted(published).known, least, confidence, named)
    return Figure(
        "Rules before and after",
        rules_before_and_after(before, after, confidence, least, title="", told=_WORDS),
        "Rules by confidence and support, before and after; those that were to be hidden are marked.",
        "Rules with one item on the right, from half the thresholds on. Dashed: where a rule begins to show. Red spots "
        "were to be hidden; right of and above the lines none of them is left.",
        wide=True,
    )


def _sides(secret: Any) -> tuple[frozenset[str], frozenset[str]]:
    """A secret rule as its two sides; an itemset has no left one, and an item stands alone on the right."""
    if isinstance(secret, tuple) and len(secret) == 2 and all(isinstance(side, tuple | list) for side in secret):
        return frozenset(map(str, secret[0])), frozenset(map(str, secret[1]))
    many = secret if isinstance(secret, tuple | list | frozenset | set) else (secret,)
    return frozenset(), frozenset(map(str, many))


def _spots(
    baskets: Baskets, least: int, confidence: float, named: set[tuple[frozenset[str], frozenset[str]]]
) -> list[RuleSpot]:
    from sfumato.errors import DataError
    from sfumato.mine import association_rules

    below = max(1, int(least * _REACH))
    try:
        found = association_rules(baskets, below, confidence * _REACH, max_length=3, consequent_length=1)
    except DataError:
        return []
    if found.height > MOST_RULES:
        found = found.filter(pl.col("support") >= least)
    alone = {next(iter(right)) for left, right in named if not left and len(right) == 1}
    spots = []
    for left, right, support, share in found.select("antecedent", "consequent", "support", "confidence").iter_rows():
        sides = (frozenset(map(str, left)), frozenset(map(str, right)))
        spots.append(RuleSpot(float(share), int(support), sides in named or bool(sides[1] & alone)))
    return spots


def _effects(utility: Mapping[str, float]) -> Figure:
    told = [(label, int(utility[name])) for name, label in _EFFECTS.items() if name in utility]
    return Figure(
        "Side effects",
        _bars(told),
        "Counts of what was hidden, what is left of it, and what was lost or appeared besides.",
        "Lost: showed before and does not now, though nobody asked. Ghosts: show now, and did not before.",
        ("What", "Number"),
        tuple((label, words.number(count)) for label, count in told),
    )


_EFFECTS = {
    "sensitive": "to be hidden, and showed before",
    "exposed": "of these, show still",
    "lost_rules": "other rules lost",
    "ghost_rules": "ghost rules",
    "lost_itemsets": "other itemsets lost",
    "ghost_itemsets": "ghost itemsets",
}


def _bars(told: list[tuple[str, int]]) -> str:
    values = [{"what": label, "count": count, "said": words.number(count)} for label, count in told]
    most = max([1, *(count for _, count in told)])
    encoding: Spec = {
        "y": {
            "field": "what",
            "type": "nominal",
            "sort": None,
            "title": None,
            "axis": {"labelLimit": 220, "grid": False},
        },
        "x": {
            "field": "count",
            "type": "quantitative",
            "title": None,
            "scale": {"domain": [0, most * 1.15], "nice": False},
            "axis": None,
        },
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar", "color": PALETTE["accent"][0], "cornerRadiusEnd": 2, "height": 14}},
        {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": {"field": "said"}}},
    ]
    spec: Spec = {"width": 300, "height": 26 * max(1, len(values)), "data": {"values": values}}
    return drawn(spec | {"encoding": encoding, "layer": layers})


def _notes(release: Release) -> list[str]:
    details = release.details
    said = []
    if details.get("proven"):
        said.append("No other way would have cost less: proven.")
    elif details.get("bound") is not None and details.get("objective") is not None:
        best, found = words.number(details["bound"]), words.number(details["objective"])
        said.append(f"Any way costs at least {best}; this one costs {found}.")
    if details.get("scans"):
        scans = words.several(int(details["scans"]), "scan")
        said.append(f"{scans} of the baskets, {words.several(int(details.get('pruned', 0)), 'rule')} pruned.")
    return said


def pattern_section(release: Release, original: Baskets, published: Patterns) -> Section:
    """What the patterns gave away, and what it took to stop that."""
    channels = release.details.get("channels")
    found = channels.height if isinstance(channels, pl.DataFrame) else 0
    intro = (
        f"Among the frequent itemsets {words.several(found, 'inference channel')} told of fewer than "
        f"{words.number(release.method.k)} people. {words.several(len(published), 'pattern')} are published."
    )
    told = [
        (words.LOSSES.get(name, (words.spaced(name), ""))[0], int(release.losses[name]))
        for name in ("lost_itemsets", "ghost_itemsets", "changed_supports", "added_baskets")
        if name in release.losses
    ]
    figure = Figure(
        "What the repair changed",
        _bars(told),
        "Itemsets withheld or added, supports changed, baskets added.",
        "Itemsets withheld, itemsets that appeared, supports that were raised, and baskets added to raise them.",
        ("What", "Number"),
        tuple((label, words.number(count)) for label, count in told),
    )
    return Section("patterns", "What the patterns gave away", intro, (figure,), tuple(_examples(channels)))


def _examples(channels: Any, most: int = 8) -> list[str]:
    if not isinstance(channels, pl.DataFrame):
        return []
    rows = channels.select("inner", "outer", "support").head(most).iter_rows()
    return [
        f"Who has {_listed(inner)} and none of {_listed([one for one in outer if one not in inner])}: "
        f"{words.several(int(support), 'basket')}."
        for inner, outer, support in rows
    ]


def _listed(items: list[Any]) -> str:
    return words.short(", ".join(map(str, items)), 60) if items else "anything"
