# SPDX-License-Identifier: MIT
"""Side effects as bars with their counts: a column for each kind, a bar for each strategy."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.report import words
from sfumato.report.pictures import PALETTE, Spec, drawn
from sfumato.reproduce.study import Plot

_INK, _BEFORE, _ACCENT = (PALETTE[name][0] for name in ("ink", "before", "accent"))
AS_PUBLISHED = ("islf", "dsrf")


def columns(title: str, label: str, counts: Mapping[str, Mapping[str, int]]) -> Plot:
    """For each kind of side effect the counts of all strategies, on one scale."""
    values: list[Spec] = [
        {"kind": kind, "strategy": name, "count": count, "said": words.number(count), "old": name in AS_PUBLISHED}
        for kind, by_strategy in counts.items()
        for name, count in by_strategy.items()
    ]
    most = max([1, *(one["count"] for one in values)])
    x: Spec = {
        "field": "count",
        "type": "quantitative",
        "scale": {"domain": [0, most * 1.3]},
        "axis": None,
    }
    y: Spec = {
        "field": "strategy",
        "type": "nominal",
        "sort": list(next(iter(counts.values()))),
        "title": None,
        "axis": {"domain": False, "labelColor": _INK},
    }
    colour: Spec = {"condition": {"test": "datum.old", "value": _BEFORE}, "value": _ACCENT}
    text: Spec = {"type": "text", "align": "left", "dx": 4, "color": _INK, "fontSize": 12}
    header: Spec = {"labelColor": _INK, "labelFontSize": 12}
    spec: Spec = {
        "data": {"values": values},
        "facet": {
            "column": {"field": "kind", "type": "nominal", "sort": list(counts), "title": None, "header": header}
        },
        "spacing": 14,
        "spec": {
            "width": 100,
            "height": {"step": 26},
            "encoding": {"x": x, "y": y},
            "layer": [
                {"mark": {"type": "bar", "height": 16}, "encoding": {"color": colour}},
                {"mark": text, "encoding": {"text": {"field": "said"}}},
            ],
        },
    }
    return Plot(title, drawn(spec), label)
