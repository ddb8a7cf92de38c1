# SPDX-License-Identifier: MIT
"""Pictures of seed 001's noise: accuracies as bars, and curves beside the level of the originals. No hue is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.report.pictures import PALETTE, Spec, drawn
from sfumato.reproduce.plots import Curve
from sfumato.reproduce.study import Plot

_INK, _SOFT, _BEFORE, _ACCENT, _CARD = (PALETTE[name][0] for name in ("ink", "soft", "before", "accent", "card"))
_HUES = [_ACCENT, _ACCENT, _BEFORE, _BEFORE]
_DASHES = [[1, 0], [6, 3], [1, 0], [6, 3]]
_SIGNS = ["circle", "square", "triangle-up", "cross"]


def bars(title: str, label: str, accuracies: Mapping[str, Mapping[str, float]], plain: Sequence[str] = ()) -> Plot:
    """For each function a column of bars, each with its name and number; `plain` ones are drawn softer."""
    values: list[Spec] = [
        {"of": of, "way": way, "share": share, "said": f"{100 * share:.1f}", "plain": way in plain}
        for of, ways in accuracies.items()
        for way, share in ways.items()
    ]
    ways = list(next(iter(accuracies.values())))
    colour: Spec = {"condition": {"test": "datum.plain", "value": _BEFORE}, "value": _ACCENT}
    x: Spec = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1.15]},
        "title": None,
        "axis": {"format": ".0%", "values": [0, 0.5, 1]},
    }
    said: Spec = {"type": "text", "align": "left", "dx": 3, "color": _INK, "fontSize": 11}
    y: Spec = {"field": "way", "type": "nominal", "sort": ways, "title": None, "axis": {"domain": False}}
    spec: Spec = {
        "data": {"values": values},
        "facet": {
            "field": "of",
            "type": "nominal",
            "sort": list(accuracies),
            "title": None,
            "header": {"labelColor": _INK, "labelFontSize": 12},
        },
        "columns": 2,
        "spacing": 14,
        "spec": {
            "width": 120,
            "height": {"step": 22},
            "encoding": {"x": x, "y": y},
            "layer": [
                {"mark": {"type": "bar", "height": 14}, "encoding": {"color": colour}},
                {"mark": said, "encoding": {"text": {"field": "said"}}},
            ],
        },
    }
    return Plot(title, drawn(spec), label)


def against_level(title: str, label: str, x: str, lines: Sequence[Curve], level: tuple[str, float]) -> Plot:
    """Up to four curves of accuracy by a share, and a level that they are compared with."""
    names = [one.name for one in lines]
    values: list[Spec] = [{"series": one.name, "x": at, "y": found} for one in lines for at, found in one.points]
    legend: Spec = {"orient": "top", "title": None, "columns": 2, "labelColor": _INK, "labelFontSize": 12}

    def by(kind: Sequence[object]) -> Spec:
        scale = {"domain": names, "range": list(kind[: len(names)])}
        return {"field": "series", "type": "nominal", "scale": scale, "legend": legend}

    across: Spec = {"values": [{"y": level[1], "said": level[0]}]}
    axes: Spec = {
        "x": {"field": "x", "type": "quantitative", "title": x, "axis": {"format": ".0%", "grid": False}},
        "y": {
            "field": "y",
            "type": "quantitative",
            "title": "accuracy",
            "scale": {"domain": [0.4, 1.06]},
            "axis": {"format": ".0%", "values": [0.4, 0.6, 0.8, 1]},
        },
    }
    line: Spec = {"color": by(_HUES), "strokeDash": {**by(_DASHES), "legend": None}}
    text: Spec = {"type": "text", "align": "right", "dy": -7, "x": 328, "color": _SOFT, "fontSize": 11}
    spec: Spec = {
        "width": 330,
        "height": 210,
        "data": {"values": values},
        "layer": [
            {
                "data": across,
                "mark": {"type": "rule", "color": _SOFT, "strokeDash": [2, 2]},
                "encoding": {"y": axes["y"]},
            },
            {
                "data": across,
                "mark": {**text, "stroke": _CARD, "strokeWidth": 3},
                "encoding": {"y": axes["y"], "text": {"field": "said"}},
            },
            {"data": across, "mark": text, "encoding": {"y": axes["y"], "text": {"field": "said"}}},
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {**axes, **line}},
            {
                "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
                "encoding": {**axes, "color": by(_HUES), "shape": by(_SIGNS)},
            },
        ],
    }
    return Plot(title, drawn(spec), label)
