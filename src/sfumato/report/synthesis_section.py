# SPDX-License-Identifier: MIT
"""The part of the internal report about synthetic rows: whether they are nearer to people than to strangers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sfumato.measure.synthesis.synthetic import AgainstHoldout, against_holdout
from sfumato.release import Release
from sfumato.report import words
from sfumato.report.account import Figure, Section
from sfumato.report.pictures import PALETTE, Spec, drawn
from sfumato.table import Table

_SIDES = ("people learnt from", "people set aside")
_INK = PALETTE["ink"][0]
_HUES = [PALETTE["accent"][0], PALETTE["before"][0]]


def synthesis_section(release: Release, original: Table, published: Table) -> Section:
    """What the release shows of people it was learnt from, beside what it shows of as many who were set aside."""
    found = against_holdout(published, original, release.details["holdout"])
    near = found.closest
    intro = (
        f"{words.number(found.people)} people were set aside, and nothing was learnt from them. Of "
        f"{words.several(near.rows, 'synthetic row')}, {words.percent(near.nearer)} lie nearer to somebody learnt from "
        "than to somebody set aside; 50 % is fair. What is as true of strangers is knowledge about the world."
    )
    copied = _figure(
        "Rows that are somebody's",
        "Synthetic rows that equal a person's in every column, among as many people of either side.",
        (("equal somebody", found.training.rows, found.holdout.rows), _unique(found)),
        words.number,
    )
    far = _figure(
        "How far rows are from the closest person",
        "From 0, equal, to 1, different in everything; the same for both sides is best.",
        (
            ("closest 5 %", near.training_5th, near.holdout_5th),
            ("half of them", near.training_median, near.holdout_median),
        ),
        lambda value: f"{value:.3f}",
    )
    return Section("strangers", "No nearer to people than to strangers?", intro, (copied, far))


def _unique(found: AgainstHoldout) -> tuple[str, float, float]:
    return ("equal somebody unique", found.training.unique_rows, found.holdout.unique_rows)


def _figure(title: str, caption: str, rows: Sequence[tuple[str, float, float]], said: Callable[[float], str]) -> Figure:
    values = [
        {"what": what, "side": side, "value": value, "said": said(value)}
        for what, *both in rows
        for side, value in zip(_SIDES, both, strict=True)
    ]
    most = max((max(both) for _, *both in rows), default=0) or 1
    legend: Spec = {"orient": "top", "title": None, "labelColor": _INK, "labelFontSize": 12, "columnPadding": 24}
    encoding: Spec = {
        "y": {"field": "what", "type": "nominal", "sort": None, "title": None, "axis": {"grid": False}},
        "yOffset": {"field": "side", "type": "nominal", "scale": {"domain": list(_SIDES)}},
        "x": {"field": "value", "type": "quantitative", "title": None, "axis": None, "scale": {"domain": [0, most]}},
    }
    colour: Spec = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(_SIDES), "range": _HUES},
        "legend": legend,
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": {"color": colour}},
        {"mark": {"type": "text", "align": "left", "dx": 5}, "encoding": {"text": {"field": "said"}}},
    ]
    spec: Spec = {"width": 240, "height": 110, "data": {"values": values}, "encoding": encoding, "layer": layers}
    told = tuple((what, said(one), said(other)) for what, one, other in rows)
    return Figure(title, drawn(spec), caption, caption, ("", *_SIDES), told)
