# SPDX-License-Identifier: MIT
"""A picture of adversarial rules before and after a suppression, for the custodian only.

It places rules by what an adversary sees of them, and marks those that predict a private entry, which takes the
originals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sfumato.errors import count_noun
from sfumato.report.pictures.entry_pictures import build_legend, build_title
from sfumato.report.pictures.rendering import PALETTE, Spec, render_svg
from sfumato.report.words import wording

_INK, _SOFT, _WARN, _BLANK = (PALETTE[name][0] for name in ("ink", "soft", "warn", "accent"))

SPOTS = 300
"""The most distinct positions that are drawn as spots; more are gathered in squares."""

_MOST_COLUMNS, _MOST_ROWS = 10, 16


@dataclass(frozen=True)
class RuleSpot:
    """A rule as an adversary sees it, and whether it predicts a private entry."""

    confidence: float
    """Public confidence."""
    support: int
    """Public support, in rows."""
    adversarial: bool = True


@dataclass(frozen=True)
class RuleWords:
    """The words of the picture: marked rules, other rules, and the two axes."""

    marked_rules: str = "predicts a private entry"
    other: str = "harmless"
    confidence: str = "public confidence"
    support: str = "public support, rows"


ENTRIES = RuleWords()


class _SpotCentre(NamedTuple):
    """Where a spot is drawn."""

    confidence: float
    support: float


@dataclass(frozen=True)
class _PanelFrame:
    """What both panels of the rules share."""

    confidence: tuple[float, float]
    support: tuple[float, float]
    least_confidence: float
    least_support: int

    @classmethod
    def of(cls, spots: Sequence[RuleSpot], confidence: float, min_support: int) -> _PanelFrame:
        low = min([confidence, *(spot.confidence for spot in spots)])
        top = max([min_support * 2, 10, *(spot.support for spot in spots)])
        bottom = min([min_support, *(max(spot.support, 1) for spot in spots)])
        return cls((max(0.0, low - 0.04), 1.02), (bottom / 1.4, top * 1.4), confidence, min_support)

    def snap_spot(self, confidence: float, support: int) -> _SpotCentre:
        """The centre of the square that contains a rule; no square crosses a threshold."""
        width = ((1 - self.least_confidence) or 0.1) / _MOST_COLUMNS
        height = math.log(self.support[1] / self.support[0]) / _MOST_ROWS
        column_index = math.floor((confidence - self.least_confidence) / width + 1e-9)
        if self.least_confidence < 1:
            column_index = min(column_index, _MOST_COLUMNS - 1)
        row_index = math.floor(math.log(support / self.least_support) / height + 1e-9)
        x = self.least_confidence + (column_index + 0.5) * width
        return _SpotCentre(round(x, 5), round(self.least_support * math.exp((row_index + 0.5) * height), 3))


def draw_rules_before_and_after(
    original: Sequence[RuleSpot],
    published_spots: Sequence[RuleSpot],
    confidence: float,
    min_support: int,
    title: str | None = None,
    rule_words: RuleWords = ENTRIES,
) -> str:
    """Rules by public confidence and support, before next to after; dashed lines at the thresholds."""
    frame = _PanelFrame.of([*original, *published_spots], confidence, min_support)
    spots = [_gather_spots(original, frame, rule_words), _gather_spots(published_spots, frame, rule_words)]
    most = max((spot["rules"] for side in spots for spot in side), default=1)
    panels = [
        _build_rules_panel(
            side, values, len(spots_of_side), frame, _build_spots_layer(spots, most, rule_words), rule_words
        )
        for side, values, spots_of_side in zip(("before", "after"), spots, (original, published_spots), strict=True)
    ]
    heading = title if title is not None else "Rules by confidence and support"
    note = f"Dashed: confidence {wording.format_percent(confidence)}, support {count_noun(min_support, 'row')}."
    if most > 1:
        note += " A larger spot stands for more rules."
    return render_svg({"hconcat": panels, "spacing": 28} | build_title(heading, note))


def _gather_spots(spots: Sequence[RuleSpot], frame: _PanelFrame, rule_words: RuleWords) -> list[Spec]:
    """Rules counted by position; too many positions are gathered in squares."""
    places = Counter((spot.confidence, float(max(spot.support, 1)), spot.adversarial) for spot in spots)
    if len(places) > SPOTS:
        square_counts: Counter[tuple[float, float, bool]] = Counter()
        for (confidence, support, adversarial), many in places.items():
            square_counts[(*frame.snap_spot(confidence, int(support)), adversarial)] += many
        places = square_counts
    return [_build_spot(*position, many, rule_words) for position, many in sorted(places.items())]


def _build_spot(confidence: float, support: float, adversarial: bool, rules: int, rule_words: RuleWords) -> Spec:
    state = rule_words.marked_rules if adversarial else rule_words.other
    return {"confidence": confidence, "support": support, "state": state, "rules": rules}


def _build_spots_layer(sides: Sequence[Sequence[Spec]], most: int, rule_words: RuleWords) -> Spec:
    """Round red spots for rules that matter, green crosses for the others."""
    states = [
        state
        for state in (rule_words.marked_rules, rule_words.other)
        if any(spot["state"] == state for side in sides for spot in side)
    ]
    legend = build_legend() if len(states) > 1 else None

    def encode_state(look: Mapping[str, str]) -> Spec:
        scale = {"domain": states, "range": [look[state] for state in states]}
        return {"field": "state", "type": "nominal", "scale": scale, "legend": legend}

    size: Spec = {
        "field": "rules",
        "type": "quantitative",
        "scale": {"type": "sqrt", "domain": [0, most], "range": [12, 170]},
        "legend": None,
    }
    return {
        "mark": {"type": "point", "filled": True, "opacity": 0.85, "size": 70},
        "encoding": {
            "color": encode_state({rule_words.marked_rules: _WARN, rule_words.other: _BLANK}),
            "shape": encode_state({rule_words.marked_rules: "circle", rule_words.other: "cross"}),
            **({"size": size} if most > 1 else {}),
        },
    }


def _build_rules_panel(
    side: str, values: list[Spec], rules: int, frame: _PanelFrame, spots: Spec, rule_words: RuleWords
) -> Spec:
    x: Spec = {
        "field": "confidence",
        "type": "quantitative",
        "title": rule_words.confidence,
        "scale": {"domain": list(frame.confidence), "nice": False},
        "axis": {"format": ".0%", "tickCount": 5, "grid": False, "labelFlush": False},
    }
    y: Spec = {
        "field": "support",
        "type": "quantitative",
        "title": rule_words.support if side == "before" else None,
        "scale": {"type": "log", "domain": list(frame.support), "nice": False},
        "axis": {"format": ",~r", "values": list_round_numbers(*frame.support), "labelFlush": False},
    }
    heading = f"{side}: {count_noun(rules, 'rule')}"
    look: Spec = {"anchor": "start", "frame": "group", "color": _SOFT, "fontSize": 13, "fontWeight": 500}
    return {
        "width": 270,
        "height": 210,
        "title": {"text": heading, **look},
        "data": {"values": values},
        "encoding": {"x": x, "y": y},
        "layer": [*_build_threshold_lines(frame), spots if values else _build_empty_panel(frame)],
    }


def list_round_numbers(low: float, high: float) -> list[float]:
    """Where a logarithmic axis is labelled: 1, 10, 100 …, with 2 and 5 between them if they fit."""
    steps = (1, 2, 5) if high / low < 100 else (1,)
    return [n * 10.0**power for power in range(-6, 12) for n in steps if low <= n * 10.0**power <= high]


def _build_threshold_lines(frame: _PanelFrame) -> list[Spec]:
    line: Spec = {"type": "rule", "color": _INK, "strokeDash": [4, 4], "strokeWidth": 1}
    return [
        {
            "data": {"values": [{"confidence": frame.least_confidence}]},
            "mark": line,
            "encoding": {"x": {"field": "confidence", "type": "quantitative"}, "y": None},
        },
        {
            "data": {"values": [{"support": frame.least_support}]},
            "mark": line,
            "encoding": {"y": {"field": "support", "type": "quantitative"}, "x": None},
        },
    ]


def _build_empty_panel(frame: _PanelFrame) -> Spec:
    """The text where no rule is left."""
    middle = {"confidence": sum(frame.confidence) / 2, "support": math.sqrt(frame.support[0] * frame.support[1])}
    return {
        "data": {"values": [middle]},
        "mark": {"type": "text", "fontSize": 14, "color": _SOFT},
        "encoding": {"text": {"value": "no such rule is left"}},
    }
