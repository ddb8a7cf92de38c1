# SPDX-License-Identifier: MIT
"""Curves and bars for the page, in the report's colours: each series has its own sign and dash, so none rests on hue.

What a paper states is drawn as a hollow diamond with its number beside it. Captions are computed from what is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from papers.study import Plot
from sfumato.report.pictures.rendering import PALETTE, Spec, render_svg
from sfumato.report.pictures.rule_pictures import list_round_numbers
from sfumato.report.words import wording

_INK, _SOFT, _CARD, _ORIGINALS_HUE, _ACCENT, _WARN = (
    PALETTE[name][0] for name in ("ink", "soft", "card", "before", "accent", "warn")
)
_HUES = [_ACCENT, _ORIGINALS_HUE, _INK, _SOFT, _WARN]
_DASHES = [[1, 0], [6, 3], [2, 3], [8, 3, 2, 3], [1, 0]]
_SIGNS = ["circle", "square", "triangle-up", "cross", "diamond"]


@dataclass(frozen=True)
class Curve:
    """A line of points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class StatedPoint:
    """A point that the paper states."""

    x: float
    y: float
    label: str


@dataclass(frozen=True)
class Axis:
    """What an axis measures, in words."""

    title: str
    log: bool = False
    percent: bool = False
    zero: bool = True

    def write(self, value: float) -> str:
        """A value of this axis in words."""
        return wording.format_percent(value) if self.percent else wording.format_count(value)


def draw_curves(
    title: str, x: Axis, y: Axis, lines: Sequence[Curve], stated_points: Sequence[StatedPoint] = ()
) -> Plot:
    """Our curves, and the points that the paper's text states."""
    values: list[Spec] = [
        {"series": wording.shorten_label(line.name, 34), "x": position, "y": height}
        for line in lines
        for position, height in line.points
        if not (y.log and height <= 0)
    ]
    names = [wording.shorten_label(line.name, 34) for line in lines]
    spec = {
        "width": 330,
        "height": 210,
        "data": {"values": values},
        "encoding": {
            "x": _axis("x", x, [value["x"] for value in values] + [point.x for point in stated_points]),
            "y": _axis("y", y, [value["y"] for value in values] + [point.y for point in stated_points]),
        },
        "layer": _lines(names) + (_draw_stated(stated_points) if stated_points else []),
    }
    return Plot(title, render_svg(spec), describe_curves(x, y, lines))


def describe_curves(x: Axis, y: Axis, lines: Sequence[Curve]) -> str:
    """Where each line begins and ends, and where it turns."""
    return f"{y.title[:1].upper()}{y.title[1:]} by {x.title}. " + " ".join(_describe_line(x, y, line) for line in lines)


def _describe_line(x: Axis, y: Axis, line: Curve) -> str:
    def write_point(point: tuple[float, float]) -> str:
        return f"{y.write(point[1])} at {x.write(point[0])}"

    first, last = line.points[0], line.points[-1]
    parts = [write_point(first), *([f"to {write_point(last)}"] if len(line.points) > 1 else [])]
    ends = (first[1], last[1])
    for word, extreme in (("highest", max(line.points, key=_height)), ("lowest", min(line.points, key=_height))):
        if extreme[1] not in ends:
            parts.append(f"({word} {write_point(extreme)})")
    return f"{line.name}: {' '.join(parts)}."


def _height(point: tuple[float, float]) -> float:
    return point[1]


def draw_bars(title: str, groups: Mapping[str, Mapping[str, float]], soft: Sequence[str] = (), digits: int = 0) -> Plot:
    """For each group a column of bars on one scale, each with its name and number; `soft` ones are paler."""
    values: list[Spec] = [
        {"group": group, "bar": bar, "height": height, "label": f"{height:,.{digits}f}", "soft": bar in soft}
        for group, bars in groups.items()
        for bar, height in bars.items()
    ]
    most = max([1, *(value["height"] for value in values)])
    order = list(next(iter(groups.values())))
    look: Spec = {"labelColor": _INK, "labelFontSize": 12}
    x: Spec = {"field": "height", "type": "quantitative", "scale": {"domain": [0, most * 1.3]}, "axis": None}
    y: Spec = {"field": "bar", "type": "nominal", "sort": order, "title": None, "axis": {"domain": False, **look}}
    colour: Spec = {"condition": {"test": "datum.soft", "value": _ORIGINALS_HUE}, "value": _ACCENT}
    text: Spec = {"type": "text", "align": "left", "dx": 4, "color": _INK, "fontSize": 12}
    spec: Spec = {
        "data": {"values": values},
        "facet": {"field": "group", "type": "nominal", "sort": list(groups), "title": None, "header": look},
        "columns": 3 if len(groups) == 3 else 2,
        "spacing": 14,
        "spec": {
            "width": 100 if len(groups) == 3 else 120,
            "height": {"step": 24},
            "encoding": {"x": x, "y": y},
            "layer": [
                {"mark": {"type": "bar", "height": 15}, "encoding": {"color": colour}},
                {"mark": text, "encoding": {"text": {"field": "label"}}},
            ],
        },
    }
    return Plot(title, render_svg(spec), describe_bars(groups, digits))


def describe_bars(groups: Mapping[str, Mapping[str, float]], digits: int = 0) -> str:
    """Every bar with its number, the highest first."""
    return " ".join(
        f"{group}: "
        + ", ".join(f"{bar} {bars[bar]:,.{digits}f}" for bar in sorted(bars, key=lambda bar: -bars[bar]))
        + "."
        for group, bars in groups.items()
    )


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
        look |= {"values": list_round_numbers(low / 1.5, high * 1.5)}
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

    def encode_series(kind: Sequence[object]) -> Spec:
        scale = {"domain": list(names), "range": list(kind[:many])}
        return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}

    return [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"color": encode_series(_HUES), "strokeDash": {**encode_series(_DASHES), "legend": None}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {"color": encode_series(_HUES), "shape": encode_series(_SIGNS)},
        },
    ]


def _draw_stated(points: Sequence[StatedPoint]) -> list[Spec]:
    """What the paper states, with a card-coloured edge so that a line behind the words does not hide them."""
    data: Spec = {"values": [vars(point) for point in points]}
    text: Spec = {"type": "text", "align": "left", "dx": 9, "dy": 11, "color": _WARN, "fontWeight": 600}
    edge: Spec = {"stroke": _CARD, "strokeWidth": 4, "strokeJoin": "round"}
    diamond: Spec = {"type": "point", "shape": "diamond", "filled": False, "size": 130, "strokeWidth": 2}
    label: Spec = {"text": {"field": "label"}}
    return [
        {"data": data, "mark": {**diamond, "color": _WARN, "opacity": 1}},
        {"data": data, "mark": {**text, **edge}, "encoding": label},
        {"data": data, "mark": text, "encoding": label},
    ]
