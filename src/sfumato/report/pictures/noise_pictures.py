# SPDX-License-Identifier: MIT
"""Pictures of chance: how values lie before, after and reconstructed, and how much of each an attacker gets back.

Every difference is shown by dash, sign or place as well as by colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sfumato.arrays import Floats
from sfumato.report.pictures.rendering import LABEL, PALETTE, Spec, render_svg
from sfumato.report.words import wording

_INK, _CARD = (PALETTE[name][0] for name in ("ink", "card"))
_HUES = {name: PALETTE[hue][0] for name, hue in (("originals", "before"), ("release", "soft"), ("estimate", "accent"))}
_DASHES = {"originals": [1, 0], "release": [2, 3], "estimate": [7, 3]}
_SIGNS = {"originals": "square", "release": "M-1,-1L1,1M-1,1L1,-1", "estimate": "circle"}
"""A cross of two strokes stays a cross when it is small; a filled one becomes a spot."""
_DAY = 86_400_000
"""How many milliseconds a day has: pictures count time in these."""
SERIES = tuple(_HUES)
"""What a picture can show: the originals (for the custodian only), the release, what is estimated from it."""


@dataclass(frozen=True)
class AnswerShare:
    """The share of people with one answer."""

    value: str
    series: str
    share: float
    low: float | None = None
    high: float | None = None


def draw_densities(column: str, densities: Mapping[str, tuple[Floats, Floats]], *, are_days: bool = False) -> str:
    """Densities as steps: series → edges and densities of bins."""
    unit = _DAY if are_days else 1
    values = [
        {"series": name, "x": float(x) * unit, "y": float(y)}
        for name, (edges, density) in densities.items()
        for x, y in zip(edges, [*density, density[-1] if len(density) else 0.0], strict=True)
    ]
    scale = _scale_values(are_days=are_days)
    encoding: Spec = {
        "x": {
            "field": "x",
            "title": wording.shorten_label(column, LABEL),
            **scale,
            "axis": scale["axis"] | {"grid": False},
        },
        "y": {"field": "y", "type": "quantitative", "title": None, "axis": None},
        "color": _encode_series(densities, _HUES, legend={"symbolSize": 500}),
        "strokeDash": _encode_series(densities, _DASHES),
    }
    spec: Spec = {"width": 330, "height": 170, "data": {"values": values}}
    return render_svg(
        spec | {"encoding": encoding, "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2}}
    )


def draw_recovered_values(
    column: str, truth: Floats, release: Floats, estimate: Floats, *, are_days: bool = False
) -> str:
    """True values against published ones and an attacker's estimates; on the diagonal they are equal."""
    unit = _DAY if are_days else 1
    values = [
        {"series": name, "x": float(x) * unit, "y": float(y) * unit}
        for name, estimates in (("release", release), ("estimate", estimate))
        for x, y in zip(truth, estimates, strict=True)
    ]
    ends = [float(truth.min()) * unit, float(truth.max()) * unit] if len(truth) else [0.0, 1.0]
    scale = _scale_values(are_days=are_days)
    series = ("release", "estimate")
    dots: Spec = {
        "mark": {"type": "point", "size": 30, "strokeWidth": 1.3, "filled": False, "opacity": 0.7},
        "encoding": {
            "color": _encode_series(series, _HUES, legend={"symbolSize": 60, "symbolStrokeWidth": 1.5}),
            "shape": _encode_series(series, _SIGNS),
        },
    }
    line: Spec = {
        "data": {"values": [{"x": end, "y": end} for end in ends]},
        "mark": {"type": "line", "color": _INK, "strokeWidth": 1},
    }
    name = wording.shorten_label(column, LABEL)
    encoding: Spec = {
        "x": {"field": "x", "title": f"{name}, true", **scale},
        "y": {"field": "y", "title": None, **scale},
    }
    return render_svg(
        {"width": 330, "height": 230, "data": {"values": values}, "encoding": encoding, "layer": [dots, line]}
    )


def _scale_values(*, are_days: bool) -> Spec:
    """A scale of numbers, or of dates."""
    if are_days:
        return {"type": "temporal", "scale": {"type": "utc"}, "axis": {"tickCount": 5}}
    return {"type": "quantitative", "scale": {"zero": False}, "axis": {"tickCount": 5, "format": "~s"}}


def draw_answer_shares(shares: Sequence[AnswerShare]) -> str:
    """Each answer with its share among the originals, in the release, and as estimated with its interval."""
    names = dict(
        zip(
            unique := list(dict.fromkeys(share.value for share in shares)),
            wording.shorten_distinctly(unique, LABEL),
            strict=True,
        )
    )
    values = [
        {**vars(share), "value": names[share.value], "said": wording.format_percent(share.share)} for share in shares
    ]
    series = [name for name in SERIES if any(share.series == name for share in shares)]
    encoding: Spec = {
        "y": {"field": "value", "type": "nominal", "sort": None, "title": None, "axis": {"grid": False}},
        "yOffset": {"field": "series", "type": "nominal", "scale": {"domain": series}},
    }
    x: Spec = {"field": "share", "type": "quantitative", "title": None, "axis": {"format": ".0%", "tickCount": 5}}
    bars: Spec = {
        "mark": {"type": "bar", "cornerRadiusEnd": 2},
        "encoding": {"x": x, "color": _encode_series(series, _HUES, legend={})},
    }
    reach: Spec = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
        # The wide line below keeps the other one apart from its bar, by light and by dark.
        "layer": [
            {"mark": {"type": "rule", "color": colour, "strokeWidth": width}}
            for colour, width in ((_CARD, 4), (_INK, 1.5))
        ],
    }
    text_layer: Spec = {
        "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 10},
        "encoding": {"x": {**x, "field": "end"}, "text": {"field": "said"}},
    }
    for share in values:
        share["end"] = max(share["share"], share["high"] or 0.0)
    height = max(60, 17 * len(values) + 8 * len(names))
    spec: Spec = {"width": 360, "height": height, "data": {"values": values}}
    return render_svg(spec | {"encoding": encoding, "layer": [bars, reach, text_layer]})


def _encode_series(
    series: Mapping[str, object] | Sequence[str], kinds: Mapping[str, object], legend: Spec | None = None
) -> Spec:
    """One channel of the picture that distinguishes the series; one of them has a legend."""
    names = [name for name in SERIES if name in series]
    look: Spec = {"orient": "top", "title": None, "labelColor": _INK, "labelFontSize": 12, "columnPadding": 24}
    scale: Spec = {"domain": names, "range": [kinds[name] for name in names]}
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None if legend is None else look | legend}
