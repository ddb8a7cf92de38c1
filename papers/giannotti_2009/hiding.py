# SPDX-License-Identifier: MIT
"""Hiding association rules by confidence and support, as the slides show it (Dasseni et al. 2001): AB → C."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from papers.study import Findings, Grid, Setting, Statement, frame_of
from sfumato.baskets import Baskets
from sfumato.errors import ImpossibleRelease
from sfumato.protect.baskets.hide_rules import HideRules

ROWS = ("ABC", "ABC", "AC", "A", "B")
MIN_SUPPORT, MIN_CONFIDENCE = 0.2, 0.8
SLIDES = {"1a": ("ABC", "ABC", "AC", "AB", "B"), "1b": ("AB", "ABC", "AC", "A", "B")}
"""B turned to 1 in T4, and C turned to 0 in T1."""
STRATEGIES = ("1a", "1b", "2a", "joint", "exact")


def confidence(rows: Sequence[str], left: str, right: str) -> Fraction:
    """Counted by the book; 0 where no basket holds the left side."""
    whole, part = (sum(set(items) <= set(row) for row in rows) for items in (left + right, left))
    return Fraction(whole, part or 1)


def hide_rule(strategy: str, least: float = MIN_CONFIDENCE) -> tuple[str, ...] | None:
    """The database with AB → C hidden; None where the strategy cannot."""
    method = HideRules(rules="A,B ==> C", min_support=MIN_SUPPORT, min_confidence=least, strategy=strategy)
    try:
        published = method.protect(Baskets.of([list(row) for row in ROWS])).data
    except ImpossibleRelease:
        return None
    return tuple("".join(map(str, row)) for row in published.to_lists())


def rule_hiding(setting: Setting) -> Findings:
    """The example of the slides, and what happens at the threshold."""
    del setting  # five baskets are quick enough
    before = {rule: confidence(ROWS, *rule) for rule in (("AB", "C"), ("BC", "A"))}
    return Findings(
        statements=(
            Statement(
                "Before, AB → C and BC → A have confidence 100 %.",
                ", ".join(f"{left} → {right}: {found}" for (left, right), found in before.items()) + ".",
                set(before.values()) == {Fraction(1)},
            ),
            _slide("1a", "B turned to 1 in T4: AB → C has 66 %, BC → A 100 %.", Fraction(2, 3)),
            _slide(
                "1b",
                "C turned to 0 in T1: AB → C falls, BC → A stays at 100 %.",
                Fraction(1, 2),
            ),
            _at_the_threshold(),
        ),
        grids=(
            Grid(
                "hidden",
                "AB → C hidden (minimum support 20 %), confidences after",
                frame_of([_row(strategy, least) for least in (0.8, 0.5) for strategy in STRATEGIES]),
                "Where no basket holds the left side, the confidence is 0.",
            ),
        ),
        remarks=(
            "On our copy of the slide for C = 0 the confidence of AB → C cannot be read; an independent count has 1/2.",
            "1.a can fail: it needs enough baskets that could take the left side and lack the right one.",
        ),
    )


def _slide(strategy: str, theirs: str, expected: Fraction) -> Statement:
    rows = hide_rule(strategy) or ROWS
    found, other = confidence(rows, "AB", "C"), confidence(rows, "BC", "A")
    same = rows == SLIDES[strategy] and (found, other) == (expected, Fraction(1))
    return Statement(theirs, f"{strategy[0]}.{strategy[1]}: {', '.join(rows)}; {found} and {other}.", same)


def _at_the_threshold() -> Statement:
    """What one removal gives, where one half is the threshold."""
    stopped, threshold = confidence(SLIDES["1b"], "AB", "C"), Fraction(1, 2)
    ended = confidence(hide_rule("1b", float(threshold)) or ROWS, "AB", "C")
    return Statement(
        "The published number of steps ends at the threshold, where the rule is still found.",
        f"At 50 %, one removal gives {stopped}; ours goes on, to {ended}.",
        stopped == threshold > ended,
        source="independent count",
    )


def _row(strategy: str, least: float) -> dict[str, Any]:
    rows = hide_rule(strategy, least)
    row: dict[str, Any] = {"min_confidence": least, "strategy": strategy}
    if rows is None:
        return row | {"database": "impossible", "AB → C": None, "BC → A": None, "entries_changed": None}
    return row | {
        "database": ", ".join(one or "–" for one in rows),
        "AB → C": str(confidence(rows, "AB", "C")),
        "BC → A": str(confidence(rows, "BC", "A")),
        "entries_changed": sum(len(set(a) ^ set(b)) for a, b in zip(rows, ROWS, strict=True)),
    }
