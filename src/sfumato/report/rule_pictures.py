# SPDX-License-Identifier: MIT
"""A picture of adversarial rules before and after a suppression, for the custodian only.

It places rules by what an adversary sees of them, and tells which of them foretell a private entry: only somebody
who holds the originals can say that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.report import words
from sfumato.report.entry_pictures import legend, titled
from sfumato.report.pictures import PALETTE, Spec, drawn

_INK, _SOFT, _WARN, _BLANKED = (PALETTE[name][0] for name in ("ink", "soft", "warn", "accent"))

SPOTS = 300
"""Up to so many distinct places, each rule is drawn where it is; more are gathered in squares."""

_ACROSS, _UP = 10, 16


@dataclass(frozen=True)
class RuleSpot:
    """Where a rule stands: what an adversary sees of it, and whether it still gives an entry away."""

    confidence: float
    """Public confidence."""
    support: int
    """Public support, in rows."""
    adversarial: bool = True


@dataclass(frozen=True)
class RuleWords:
    """How the picture speaks of rules: those that matter, the others, and the two axes."""

    marked: str = "gives an entry away"
    other: str = "harmless"
    confidence: str = "public confidence"
    support: str = "public support, rows"


ENTRIES = RuleWords()


@dataclass(frozen=True)
class _Frame:
    """What both panels of the rules share."""

    confidence: tuple[float, float]
    support: tuple[float, float]
    least_confidence: float
    least_support: int

    @classmethod
    def of(cls, spots: Sequence[RuleSpot], confidence: float, min_support: int) -> _Frame:
        low = min([confidence, *(spot.confidence for spot in spots)])
        top = max([min_support * 2, 10, *(spot.support for spot in spots)])
        bottom = min([min_support, *(max(spot.support, 1) for spot in spots)])
        return cls((max(0.0, low - 0.04), 1.02), (bottom / 1.4, top * 1.4), confidence, min_support)

    def snapped(self, confidence: float, support: int) -> tuple[float, float]:
        """The middle of the square that a rule falls in; squares begin at the thresholds, and never lie across."""
        width = ((1 - self.least_confidence) or 0.1) / _ACROSS
        height = math.log(self.support[1] / self.support[0]) / _UP
        across = math.floor((confidence - self.least_confidence) / width + 1e-9)
        if self.least_confidence < 1:
            across = min(across, _ACROSS - 1)
        up = math.floor(math.log(support / self.least_support) / height + 1e-9)
        x = self.least_confidence + (across + 0.5) * width
        return round(x, 5), round(self.least_support * math.exp((up + 0.5) * height), 3)


def rules_before_and_after(
    before: Sequence[RuleSpot],
    after: Sequence[RuleSpot],
    confidence: float,
    min_support: int,
    title: str | None = None,
    told: RuleWords = ENTRIES,
) -> str:
    """Rules by public confidence and support, before beside after; dashed lines where a rule begins to count."""
    frame = _Frame.of([*before, *after], confidence, min_support)
    spots = [_gathered(before, frame, told), _gathered(after, frame, told)]
    most = max((one["rules"] for side in spots for one in side), default=1)
    panels = [
        _rules_panel(side, values, len(found), frame, _spots_layer(spots, most, told), told)
        for side, values, found in zip(("before", "after"), spots, (before, after), strict=True)
    ]
    heading = title if title is not None else "Rules by confidence and support"
    note = f"Dashed: confidence {words.percent(confidence)}, support {words.several(min_support, 'row')}."
    if most > 1:
        note += " A larger spot stands for more rules."
    return drawn({"hconcat": panels, "spacing": 28} | titled(heading, note))


def _gathered(spots: Sequence[RuleSpot], frame: _Frame, told: RuleWords) -> list[Spec]:
    """Rules at one place counted; too many places gathered in squares."""
    places = Counter((spot.confidence, float(max(spot.support, 1)), spot.adversarial) for spot in spots)
    if len(places) > SPOTS:
        gathered: Counter[tuple[float, float, bool]] = Counter()
        for (confidence, support, adversarial), many in places.items():
            gathered[(*frame.snapped(confidence, int(support)), adversarial)] += many
        places = gathered
    return [_spot(*place, many, told) for place, many in sorted(places.items())]


def _spot(confidence: float, support: float, adversarial: bool, rules: int, told: RuleWords) -> Spec:
    state = told.marked if adversarial else told.other
    return {"confidence": confidence, "support": support, "state": state, "rules": rules}


def _spots_layer(sides: Sequence[Sequence[Spec]], most: int, told: RuleWords) -> Spec:
    """Round red spots for rules that matter, green crosses for the others."""
    states = [
        state for state in (told.marked, told.other) if any(one["state"] == state for side in sides for one in side)
    ]
    shown = legend() if len(states) > 1 else None

    def by(look: Mapping[str, str]) -> Spec:
        scale = {"domain": states, "range": [look[state] for state in states]}
        return {"field": "state", "type": "nominal", "scale": scale, "legend": shown}

    size: Spec = {
        "field": "rules",
        "type": "quantitative",
        "scale": {"type": "sqrt", "domain": [0, most], "range": [12, 170]},
        "legend": None,
    }
    return {
        "mark": {"type": "point", "filled": True, "opacity": 0.85, "size": 70},
        "encoding": {
            "color": by({told.marked: _WARN, told.other: _BLANKED}),
            "shape": by({told.marked: "circle", told.other: "cross"}),
            **({"size": size} if most > 1 else {}),
        },
    }


def _rules_panel(side: str, values: list[Spec], rules: int, frame: _Frame, spots: Spec, told: RuleWords) -> Spec:
    x: Spec = {
        "field": "confidence",
        "type": "quantitative",
        "title": told.confidence,
        "scale": {"domain": list(frame.confidence), "nice": False},
        "axis": {"format": ".0%", "tickCount": 5, "grid": False, "labelFlush": False},
    }
    y: Spec = {
        "field": "support",
        "type": "quantitative",
        "title": told.support if side == "before" else None,
        "scale": {"type": "log", "domain": list(frame.support), "nice": False},
        "axis": {"format": ",~r", "values": round_numbers(*frame.support), "labelFlush": False},
    }
    heading = f"{side}: {words.several(rules, 'rule')}"
    look: Spec = {"anchor": "start", "frame": "group", "color": _SOFT, "fontSize": 13, "fontWeight": 500}
    return {
        "width": 270,
        "height": 210,
        "title": {"text": heading, **look},
        "data": {"values": values},
        "encoding": {"x": x, "y": y},
        "layer": [*_thresholds(frame), spots if values else _nothing(frame)],
    }


def round_numbers(low: float, high: float) -> list[float]:
    """Where a logarithmic axis is labelled: 1, 10, 100 …, with 2 and 5 between them if there is room."""
    steps = (1, 2, 5) if high / low < 100 else (1,)
    return [n * 10.0**power for power in range(-6, 12) for n in steps if low <= n * 10.0**power <= high]


def _thresholds(frame: _Frame) -> list[Spec]:
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


def _nothing(frame: _Frame) -> Spec:
    """What is said where no rule is left."""
    middle = {"confidence": sum(frame.confidence) / 2, "support": math.sqrt(frame.support[0] * frame.support[1])}
    return {
        "data": {"values": [middle]},
        "mark": {"type": "text", "fontSize": 14, "color": _SOFT},
        "encoding": {"text": {"value": "no rule is left"}},
    }
