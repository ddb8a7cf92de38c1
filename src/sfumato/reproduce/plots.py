# SPDX-License-Identifier: MIT
"""Curves for the page, in the report's colours: each series has its own colour, sign and dash, so none rests on hue.

What a seed's text states is drawn as a hollow diamond with its number beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.report import words
from sfumato.report.pictures import PALETTE, Spec, drawn
from sfumato.report.rule_pictures import round_numbers
from sfumato.reproduce.study import Plot

_INK, _SOFT, _CARD = (PALETTE[name][0] for name in ("ink", "soft", "card"))
_HUES = [PALETTE[name][0] for name in ("accent", "before", "ink", "soft")]
_WARN = PALETTE["warn"][0]
_DASHES = [[1, 0], [6, 3], [2, 3], [8, 3, 2, 3]]
_SIGNS = ["circle", "square", "triangle-up", "cross"]
MOST_SERIES = len(_SIGNS)


@dataclass(frozen=True)
class Curve:
    """A line of points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Told:
    """A point that the seed states."""

    x: float
    y: float
    said: str


@dataclass(frozen=True)
class Axis:
    """What an axis measures, in words."""

    title: str
    log: bool = False
    percent: bool = False
    zero: bool = True


def curves(title: str, label: str, x: Axis, y: Axis, ours: Sequence[Curve], told: Sequence[Told] = ()) -> Plot:
    """Our curves, and the points that the seed's text states."""
    values: list[Spec] = [
        {"series": words.short(curve.name, 34), "x": at, "y": found}
        for curve in ours
        for at, found in curve.points
        if not (y.log and found <= 0)
    ]
    names = [words.short(curve.name, 34) for curve in ours]
    layers = _lines(names) + (_told(told) if told else [])
    spec = {
        "width": 330,
        "height": 210,
        "data": {"values": values},
        "encoding": {
            "x": _axis("x", x, [one["x"] for one in values] + [one.x for one in told]),
            "y": _axis("y", y, [one["y"] for one in values] + [one.y for one in told]),
        },
        "layer": layers,
    }
    return Plot(title, drawn(spec), label)


def _axis(field: str, axis: Axis, values: Sequence[float]) -> Spec:
    """A logarithmic axis is labelled at round numbers only, and says what it is."""
    look: Spec = {
        "format": ".2~%" if axis.percent else ",.6~f",
        "grid": field == "y",
        "tickCount": 5,
        "labelFlush": False,
    }
    scale: Spec = {"zero": axis.zero, "nice": True}
    if axis.log:
        low, high = min(values, default=1), max(values, default=1)
        scale = {"type": "log", "nice": False, "domain": [low / 1.5, high * 1.5]}
        look |= {"values": round_numbers(low / 1.5, high * 1.5)}
    title = f"{axis.title} (logarithmic)" if axis.log else axis.title
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": look}


def _lines(names: Sequence[str]) -> list[Spec]:
    """A line and its signs; one legend for both, and none where there is only one series."""
    legend: Spec | None = (
        {
            "orient": "top",
            "title": None,
            "columns": 2,
            "columnPadding": 34,
            "labelColor": _INK,
            "labelFontSize": 12,
            "labelLimit": 220,
        }
        if len(names) > 1
        else None
    )
    many = len(names)

    def by(kind: Sequence[object]) -> Spec:
        scale = {"domain": list(names), "range": list(kind[:many])}
        return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}

    return [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"color": by(_HUES), "strokeDash": {**by(_DASHES), "legend": None}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {"color": by(_HUES), "shape": by(_SIGNS)},
        },
    ]


def _told(told: Sequence[Told]) -> list[Spec]:
    """What the seed states, with a card-coloured edge round the words so that a line behind them does no harm."""
    data: Spec = {"values": [vars(one) for one in told]}
    text: Spec = {"type": "text", "align": "left", "dx": 9, "dy": 11, "color": _WARN, "fontWeight": 600}
    edge: Spec = {"stroke": _CARD, "strokeWidth": 4, "strokeJoin": "round"}
    diamond: Spec = {"type": "point", "shape": "diamond", "filled": False, "size": 130, "strokeWidth": 2}
    said: Spec = {"text": {"field": "said"}}
    return [
        {"data": data, "mark": {**diamond, "color": _WARN, "opacity": 1}},
        {"data": data, "mark": {**text, **edge}, "encoding": said},
        {"data": data, "mark": text, "encoding": said},
    ]
