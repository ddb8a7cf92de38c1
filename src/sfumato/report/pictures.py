# SPDX-License-Identifier: MIT
"""The pictures of the report: Vega-Lite rendered as SVG, offline, in colours that the page can replace.

The SVG holds shapes and shortened labels, never the data behind them. Every colour is a light value of
`PALETTE`; the page's style sheet maps each to a variable, so that a picture follows light, dark and print.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import vl_convert

from sfumato.arrays import Floats
from sfumato.report import wording

PALETTE: Mapping[str, tuple[str, str]] = {
    "paper": ("#faf7f2", "#191715"),
    "card": ("#fffdfa", "#221f1c"),
    "ink": ("#2b2622", "#ece5db"),
    "soft": ("#6a6057", "#b3a89b"),
    "line": ("#ddd4c8", "#3d3731"),
    "before": ("#b09a7c", "#94805f"),
    "accent": ("#2f6b66", "#7fc1b8"),
    "warn": ("#a03f27", "#ee9a7c"),
}
"""Each colour in light and in dark mode."""

LABEL = 22
"""The longest label in a picture, in characters."""

_INK, _SOFT, _LINE, _CARD = (PALETTE[name][0] for name in ("ink", "soft", "line", "card"))
_BEFORE, _AFTER, _WARN = PALETTE["before"][0], PALETTE["accent"][0], PALETTE["warn"][0]
_HUES = {"domain": ["before", "after"], "range": [_BEFORE, _AFTER]}
_COLOUR = {"color": {"field": "side", "type": "nominal", "scale": _HUES, "legend": None}}
_CONFIG: Mapping[str, Any] = {
    "aria": False,
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _SOFT,
        "labelFontSize": 12,
        "titleColor": _SOFT,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "domainColor": _LINE,
        "gridColor": _LINE,
        "tickColor": _LINE,
        "ticks": False,
        "labelPadding": 6,
    },
    "text": {"color": _INK, "fontSize": 12},
}
_NAMESPACES = (' xmlns="http://www.w3.org/2000/svg"', ' xmlns:xlink="http://www.w3.org/1999/xlink"')

Spec = dict[str, Any]


@dataclass(frozen=True)
class RiskBar:
    """A share with its interval, and how it is written."""

    label: str
    share: float
    low: float
    high: float
    said: str
    side: str
    """`before` or `after`."""


def render_svg(spec: Spec) -> str:
    """A Vega-Lite specification as SVG that fits into an HTML page."""
    whole = {"config": dict(_CONFIG), "padding": 2, **spec}
    svg: str = vl_convert.vegalite_to_svg(whole, allowed_base_urls=[])
    for namespace in _NAMESPACES:
        svg = svg.replace(namespace, "", 1)
    return _name_clips(svg)


def _name_clips(svg: str) -> str:
    """Name clip paths by content: the renderer numbers them over its lifetime, which reveals what else it drew.

    Names differ from picture to picture, as they must on one page.
    """
    order = list(dict.fromkeys(_CLIP.findall(svg)))
    bare = _CLIP.sub(lambda match: f"clip{order.index(match[1])}", svg)
    mark = hashlib.sha256(bare.encode()).hexdigest()[:10]
    return _CLIP.sub(lambda match: f"clip{mark}-{order.index(match[1])}", svg)


_CLIP = re.compile(r"\bclip(\d+)\b")


def has_vanishing_bar(bars: Sequence[RiskBar]) -> bool:
    """Whether one share is so small that its bar would be invisible."""
    shares = [bar.share for bar in bars]
    return min(bar.low for bar in bars) > 0 and min(shares) < max(shares) / 100


def draw_risks(bars: Sequence[RiskBar], limit: float | None) -> str:
    """Linking risk before and after with intervals; a logarithmic scale of points where bars would vanish."""
    log = has_vanishing_bar(bars)
    top = max([bar.high for bar in bars] + ([limit] if limit is not None else []))
    scale: Spec = {"type": "log", "nice": True} if log else {"domain": [0, min(1.0, max(top * 1.15, 0.01))]}
    x: Spec = {
        "field": "share",
        "type": "quantitative",
        "scale": scale,
        "stack": None,
        "title": None,
        "axis": {"format": ".1~p" if log else ".2~p", "tickCount": 4, "labelFlush": False},
    }
    mark: Spec = (
        {"type": "circle", "size": 160, "opacity": 1} if log else {"type": "bar", "height": 36, "cornerRadiusEnd": 4}
    )
    return render_svg(
        {
            "width": 250,
            "height": {"step": 74},
            "data": {"values": [vars(bar) for bar in bars]},
            "encoding": {
                "x": x,
                "y": {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": {"domain": False}},
            },
            "layer": [
                *([] if limit is None else [_build_gate_line(limit)]),
                {"mark": mark, "encoding": _COLOUR},
                *_build_whiskers(x),
            ],
        }
    )


def _build_whiskers(x: Spec) -> list[Spec]:
    """The interval as a thin line with ends, and the share written beside it."""
    text: Spec = {"type": "text", "align": "left", "dx": 9, "fontSize": 14, "fontWeight": 600}
    edge: Spec = {"stroke": _CARD, "strokeWidth": 5, "strokeJoin": "round"}  # keeps it readable across the gate
    low, high = {**x, "field": "low"}, {**x, "field": "high"}
    tick = {"type": "tick", "color": _INK, "size": 10, "thickness": 1.5}
    label_layer: Spec = {"x": high, "text": {"field": "said"}}
    return [
        {
            "mark": {"type": "rule", "color": _INK, "strokeWidth": 1.5},
            "encoding": {"x": low, "x2": {"field": "high"}},
        },
        {"mark": tick, "encoding": {"x": low}},
        {"mark": tick, "encoding": {"x": high}},
        {"mark": {**text, **edge}, "encoding": label_layer},
        {"mark": text, "encoding": label_layer},
    ]


def _build_gate_line(limit: float) -> Spec:
    """A dashed line where the gate closes; it has no `y`, so it runs through the whole picture."""
    return {
        "data": {"values": [{"share": limit}]},
        "mark": {"type": "rule", "color": _WARN, "strokeDash": [4, 4], "strokeWidth": 1.5},
        "encoding": {"x": {"field": "share", "type": "quantitative"}, "y": None},
    }


def draw_crowds(bins: Sequence[str], before: Sequence[float] | None, after: Sequence[float]) -> str:
    """The share of people by how many share their values, before beside after for the custodian."""
    sides = (("after", after),) if before is None else (("before", before), ("after", after))
    values = [
        {"bin": label, "side": side, "share": share}
        for side, shares in sides
        for label, share in zip(bins, shares, strict=True)
    ]
    return render_svg(
        {
            "width": 340,
            "height": 150,
            "data": {"values": values},
            "mark": {"type": "bar", "cornerRadiusEnd": 3},
            "encoding": {
                "x": {
                    "field": "bin",
                    "type": "nominal",
                    "sort": None,
                    "title": "people with the same values",
                    "axis": {"labelAngle": 0},
                    "scale": {"paddingInner": 0.25},
                },
                "xOffset": {"field": "side", "sort": ["before", "after"]},
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "stack": None,
                    "title": None,
                    "axis": {"format": ".0%", "tickCount": 4, "domain": False},
                    "scale": {"domain": [0, max([*(before or ()), *after, 0.01])], "nice": True},
                },
                **_COLOUR,
            },
        }
    )


def draw_distribution(labels: Sequence[str], after: Sequence[int], before: Sequence[int] | None = None) -> str:
    """How many people have each value: published, or before beside after for the custodian."""
    sides = [("after", after)] if before is None else [("before", before), ("after", after)]
    names = wording.shorten_distinctly(labels, LABEL)
    values = [
        {"label": label, "side": side, "people": count, "said": wording.format_count(count)}
        for side, counts in sides
        for label, count in zip(names, counts, strict=True)
    ]
    most = max([1, *after, *(before or ())])
    step, small = (19, 11) if before is None else (27, 10)
    offset: Spec = {} if before is None else {"yOffset": {"field": "side", "sort": ["before", "after"]}}
    text: Spec = {"type": "text", "align": "left", "dx": 4, "fontSize": small, "color": _SOFT}
    axis: Spec = {"domain": False, "labelLimit": 102, "labelColor": _INK}
    return render_svg(
        {
            "width": 104,
            "height": max(len(names), 1) * step,
            # Fixed margins, so that the bars of all pictures begin and end alike.
            "padding": {"left": 110, "right": 46, "top": 2, "bottom": 2},
            "autosize": {"type": "none"},
            "data": {"values": values},
            "encoding": {
                "y": {"field": "label", "type": "nominal", "sort": names, "title": None, "axis": axis},
                "x": {
                    "field": "people",
                    "type": "quantitative",
                    "stack": None,
                    "axis": None,
                    "scale": {"domain": [0, most]},
                },
                **offset,
            },
            "layer": [
                {"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": _COLOUR},
                {"mark": text, "encoding": {"text": {"field": "said"}}},
            ],
        }
    )


def draw_histogram(edges: Floats, after: Sequence[int], before: Sequence[int] | None = None) -> str:
    """How many people have numbers in each range: published, or before beside after for the custodian."""
    sides = [("after", after)] if before is None else [("before", before), ("after", after)]
    step = float(edges[1] - edges[0])
    width, starts = step * _FILLED / len(sides), edges[:-1] + step * (1 - _FILLED) / 2
    values = [
        {"side": side, "people": count, "low": start, "high": start + width}
        for number, (side, counts) in enumerate(sides)
        for start, count in zip(starts + number * width, counts, strict=True)
    ]
    scale = {"domain": [float(edges[0]), float(edges[-1])], "nice": False, "zero": False}
    axis: Spec = {"grid": False, "tickCount": 4, "format": _choose_tick_format(float(abs(edges).max()))}
    heights: Spec = {"tickCount": 3, "domain": False, "format": _choose_tick_format(max(after))}
    x: Spec = {"field": "low", "type": "quantitative", "title": None, "scale": scale, "axis": axis}
    y: Spec = {"field": "people", "type": "quantitative", "stack": None, "title": None, "axis": heights}
    encoding: Spec = {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"datum": 0}, **_COLOUR}
    spec: Spec = {
        "width": 206,
        "height": 120,
        "padding": {"left": 42, "right": 12, "top": 6, "bottom": 22},
        "autosize": {"type": "none"},
        "data": {"values": values},
    }
    return render_svg(spec | {"mark": {"type": "rect"}, "encoding": encoding})


def _choose_tick_format(most: float) -> str:
    """Years without a separator, large numbers with one, very large ones as 2M."""
    return ".12~g" if most < 10_000 else ",.12~g" if most < 1_000_000 else "~s"


_FILLED = 0.86
"""The share of a range that its bars fill."""
