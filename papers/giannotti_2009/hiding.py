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
        release_data = method.protect(Baskets.of([list(row) for row in ROWS])).data
    except ImpossibleRelease:
        return None
    return tuple("".join(map(str, row)) for row in release_data.to_lists())


def rule_hiding(setting: Setting) -> Findings:
    """The example of the slides, and what happens at the threshold."""
    del setting  # five baskets are quick enough
    rule_confidences = {rule: confidence(ROWS, *rule) for rule in (("AB", "C"), ("BC", "A"))}
    return Findings(
        statements=(
            Statement(
                "Before, AB → C and BC → A have confidence 100 %.",
                ", ".join(
                    f"{left} → {right}: {rule_confidence}"
                    for (left, right), rule_confidence in rule_confidences.items()
                )
                + ".",
                set(rule_confidences.values()) == {Fraction(1)},
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


def _slide(strategy: str, paper_result: str, expected_confidence: Fraction) -> Statement:
    rows = hide_rule(strategy) or ROWS
    rule_confidence, other = confidence(rows, "AB", "C"), confidence(rows, "BC", "A")
    is_same = rows == SLIDES[strategy] and (rule_confidence, other) == (expected_confidence, Fraction(1))
    return Statement(
        paper_result, f"{strategy[0]}.{strategy[1]}: {', '.join(rows)}; {rule_confidence} and {other}.", is_same
    )


def _at_the_threshold() -> Statement:
    """What one removal gives, where one half is the threshold."""
    slide_confidence, threshold = confidence(SLIDES["1b"], "AB", "C"), Fraction(1, 2)
    our_confidence = confidence(hide_rule("1b", float(threshold)) or ROWS, "AB", "C")
    return Statement(
        "The published number of steps ends at the threshold, where the rule is still found.",
        f"At 50 %, one removal gives {slide_confidence}; ours goes on, to {our_confidence}.",
        slide_confidence == threshold > our_confidence,
        source="independent count",
    )


def _row(strategy: str, least: float) -> dict[str, Any]:
    rows = hide_rule(strategy, least)
    row: dict[str, Any] = {"min_confidence": least, "strategy": strategy}
    if rows is None:
        return row | {"database": "impossible", "AB → C": None, "BC → A": None, "entries_changed": None}
    return row | {
        "database": ", ".join(basket or "–" for basket in rows),
        "AB → C": str(confidence(rows, "AB", "C")),
        "BC → A": str(confidence(rows, "BC", "A")),
        "entries_changed": sum(len(set(a) ^ set(b)) for a, b in zip(rows, ROWS, strict=True)),
    }
