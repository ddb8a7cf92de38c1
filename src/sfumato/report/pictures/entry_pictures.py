# SPDX-License-Identifier: MIT
"""Pictures of a suppression, for the custodian only: which entries were blanked, where, and what a batch costs.

They count private entries row by row and column by column, so they belong into the internal report and never into
the one that is published. Every difference is shown by place, sign or shape as well as by colour.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.report.pictures.rendering import LABEL, PALETTE, Spec, render_svg
from sfumato.report.words import wording

_INK, _SOFT, _LINE, _CARD = (PALETTE[name][0] for name in ("ink", "soft", "line", "card"))
_PRIVATE, _BLANK, _WARN = PALETTE["before"][0], PALETTE["accent"][0], PALETTE["warn"][0]

ROWS_ALONE = 40
"""The most rows that are drawn one by one; more are drawn in bands."""
BANDS = 36
COLUMNS = 30
"""The most columns that are drawn: those with the most hidden entries."""

_KINDS = ("private", "blanked to protect them")


@dataclass(frozen=True)
class ColumnExposure:
    """One column, in counts of entries."""

    column: str
    private: int
    exposed_count: int
    """Private entries that a rule predicts before anything else is blanked."""
    derived: int
    """Entries blanked to protect private ones, in this or other columns."""


def draw_blanked_map(columns: Sequence[str], private: Flags, derived: Flags, title: str | None = None) -> str:
    """Rows by columns: private entries and blanked ones; many rows in bands, darker where more are hidden."""
    column_indices = _choose_busiest_columns(private.sum(axis=0) + derived.sum(axis=0))
    names = wording.shorten_distinctly([columns[index] for index in column_indices], LABEL)
    rows = len(private)
    has_single_rows = rows <= ROWS_ALONE
    edges = np.linspace(0, rows, (rows if has_single_rows else BANDS) + 1).astype(np.int64)
    squares, most = _build_squares(
        private[:, column_indices], derived[:, column_indices], edges, has_single_rows=has_single_rows
    )
    heading = title if title is not None else "Entries that are not published"
    note = "Each square is one entry."
    if not has_single_rows:
        band_rows = wording.format_count(max(1, round(rows / BANDS)))
        note = f"Each band: about {band_rows} rows; full colour: {wording.format_percent(most)} of them."
    if len(column_indices) < len(columns):
        note += f" The {COLUMNS} columns with the most."
    return render_svg(
        _build_map_spec(names, edges, squares, most, has_single_rows=has_single_rows) | build_title(heading, note)
    )


def _build_squares(private: Flags, derived: Flags, edges: Ints, *, has_single_rows: bool) -> tuple[list[Spec], float]:
    """A square for each band, column and kind that has hidden entries; and the largest share of them.

    In bands both kinds can fall into one square: each has its half, private on the left.
    """
    values: list[Spec] = []
    half = 1.0 if has_single_rows else 0.5
    for nth, (kind, mask) in enumerate(zip(_KINDS, (private, derived), strict=True)):
        offset = 0.0 if has_single_rows else 0.5 * nth
        for band, (low, high) in enumerate(pairwise(edges)):
            shares = mask[low:high].mean(axis=0)
            values += [
                {**_build_box(index + offset, half, band), "kind": kind, "share": round(float(shares[index]), 5)}
                for index in np.flatnonzero(shares).tolist()
            ]
    return values, max((value["share"] for value in values), default=1.0)


def _build_box(left_edge: float, width: float, band: int) -> Spec:
    gap = 0.05
    return {"x": left_edge + gap, "x2": left_edge + width - gap, "y": band + gap, "y2": band + 1 - gap}


def _build_map_spec(
    names: Sequence[str], edges: Ints, squares: list[Spec], most: float, *, has_single_rows: bool
) -> Spec:
    bands, wide = len(edges) - 1, 34 if has_single_rows else 44 if len(names) <= 14 else 24
    ground = [_build_box(index, 1, band) for index in range(len(names)) for band in range(bands)]
    corners: Spec = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    hues: Spec = {"domain": list(_KINDS), "range": [_PRIVATE, _BLANK]}
    shade: Spec = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, most], "range": [0.12, 1]},
        "legend": None,
    }
    layers = [
        {"data": {"values": ground}, "mark": {"type": "rect", "color": _LINE, "opacity": 0.4}, "encoding": corners},
        {
            "data": {"values": squares},
            "mark": {"type": "rect"},
            "encoding": {
                **corners,
                "color": {"field": "kind", "type": "nominal", "scale": hues, "legend": build_legend()},
                "opacity": {"value": 1} if has_single_rows else shade,
            },
        },
    ]
    return {
        "width": len(names) * wide,
        "height": max(bands, 1) * (18 if has_single_rows else 10),
        "encoding": {
            "x": _build_column_axis(names, wide),
            "y": _build_row_axis(edges, has_single_rows=has_single_rows),
        },
        "layer": layers,
    }


def _build_column_axis(names: Sequence[str], wide: int) -> Spec:
    """Column names under the middle of their squares, aslant if they are longer than these are wide."""
    aslant = any(len(name) * 7 > wide for name in names)
    look: Spec = {"labelAngle": -40, "labelAlign": "right", "labelBaseline": "top"} if aslant else {"labelAngle": 0}
    axis: Spec = {
        **look,
        "values": [index + 0.5 for index in range(len(names))],
        "labelExpr": f"{json.dumps(list(names))}[floor(datum.value)]",
        "labelColor": _INK,
        "labelOverlap": False,
        "labelFlush": False,
        "domain": False,
        "grid": False,
    }
    scale = {"domain": [0, len(names)], "nice": False, "zero": False}
    return {"field": "x", "type": "quantitative", "title": None, "scale": scale, "axis": axis}


def _build_row_axis(edges: Ints, *, has_single_rows: bool) -> Spec:
    """Row numbers, from 0 at the top."""
    bands = len(edges) - 1
    shown_bands = [index for index in range(bands) if has_single_rows or index % 6 == 0]
    labels = [wording.format_count(int(edges[index])) for index in range(bands)]
    axis: Spec = {
        "values": [index + (0.5 if has_single_rows else 0.0) for index in shown_bands],
        "labelExpr": f"{json.dumps(labels)}[floor(datum.value)]",
        "labelOverlap": False,
        "labelFlush": False,
        "domain": False,
        "grid": False,
    }
    scale = {"domain": [0, max(bands, 1)], "nice": False, "zero": False, "reverse": True}
    return {"field": "y", "type": "quantitative", "title": "row", "scale": scale, "axis": axis}


def _choose_busiest_columns(hidden_counts: Ints) -> list[int]:
    """The columns that are drawn, in the table's order."""
    if len(hidden_counts) <= COLUMNS:
        return list(range(len(hidden_counts)))
    return sorted(int(index) for index in np.argsort(-hidden_counts, kind="stable")[:COLUMNS])


def build_legend() -> Spec:
    """The legend above the picture."""
    look: Spec = {"labelColor": _INK, "labelFontSize": 12, "symbolOpacity": 1}
    # Fonts differ from browser to browser: room, so that a wider one does not run into the next symbol.
    return {"orient": "top", "title": None, "offset": 6, "columnPadding": 26, **look}


def build_title(title: str, note: str = "") -> Spec:
    """A heading in words; an empty title leaves it to the page."""
    if not title and not note:
        return {}
    return {
        "title": {
            "text": title,
            "subtitle": note,
            "anchor": "start",
            "frame": "group",
            "color": _INK,
            "fontSize": 15,
            "fontWeight": 500,
            "subtitleColor": _SOFT,
            "subtitleFontSize": 12,
            "subtitlePadding": 4,
            "offset": 8,
        }
    }


def draw_exposure_by_column(exposures: Sequence[ColumnExposure], title: str | None = None) -> str:
    """For each column: private entries, those that rules predicted, entries blanked to protect them."""
    column_indices = _choose_busiest_columns(
        np.asarray([exposure.private + exposure.derived for exposure in exposures], dtype=np.int64)
    )
    drawn_ones = [exposures[index] for index in column_indices]
    names = wording.shorten_distinctly([exposure.column for exposure in drawn_ones], LABEL)
    kinds = ("private", "predicted by rules before", "blanked to protect them")
    values: list[Spec] = [
        {"column": name, "kind": kind, "entries": count, "said": wording.format_count(count)}
        for name, exposure in zip(names, drawn_ones, strict=True)
        for kind, count in zip(kinds, (exposure.private, exposure.exposed_count, exposure.derived), strict=True)
    ]
    most = max([1, *(value["entries"] for value in values)])
    hues: Spec = {"domain": list(kinds), "range": [_PRIVATE, _WARN, _BLANK]}
    bars: Spec = {"field": "kind", "type": "nominal", "scale": hues, "sort": list(kinds), "legend": build_legend()}
    encoding: Spec = {
        "y": {"field": "column", "type": "nominal", "sort": names, "title": None, "axis": _build_name_axis()},
        "yOffset": {"field": "kind", "sort": list(kinds)},
        "x": {
            "field": "entries",
            "type": "quantitative",
            "stack": None,
            "title": "entries",
            "scale": {"domain": [0, most * 1.08], "nice": False},
            "axis": {"format": ",~r", "tickCount": 5},
        },
    }
    text: Spec = {"type": "text", "align": "left", "dx": 4, "fontSize": 10, "color": _SOFT}
    layers = [
        {"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": {"color": bars}},
        {"mark": text, "encoding": {"text": {"field": "said"}}},
    ]
    remaining_count = len(exposures) - len(column_indices)
    note = (
        f"The {COLUMNS} columns with the most hidden entries; {wording.format_count(remaining_count)} more."
        if remaining_count
        else ""
    )
    heading = title if title is not None else "Exposure by column"
    spec = {"width": 420, "height": max(1, len(names)) * 42, "data": {"values": values}}
    return render_svg(spec | {"encoding": encoding, "layer": layers} | build_title(heading, note))


def _build_name_axis() -> Spec:
    return {"domain": False, "labelLimit": 140, "labelColor": _INK, "grid": False}


def draw_blanking_curve(
    sizes: Sequence[tuple[int, int]], used_factor: int | None = None, title: str | None = None
) -> str:
    """How many entries are blanked to protect (|K|) by how many at a time (k); `used_factor` is the k that was used."""
    values = [
        {"factor": factor, "size": size, "said": wording.format_count(size), "chosen": factor == used_factor}
        for factor, size in sorted(sizes)
    ]
    text: Spec = {"type": "text", "dy": -11, "fontSize": 11}
    encoding: Spec = {
        "x": {
            "field": "factor",
            "type": "quantitative",
            "title": "entries blanked at a time (blanking factor)",
            "scale": {"type": "log", "nice": False, "padding": 18},
            "axis": {"values": [value["factor"] for value in values], "format": ",~r", "grid": False},
        },
        "y": {
            "field": "size",
            "type": "quantitative",
            "title": "entries blanked to protect",
            "scale": {"zero": True, "nice": True},
            "axis": {"format": ",~r", "tickCount": 4},
        },
    }
    mark: Spec = {"condition": {"test": "datum.chosen", "value": _WARN}, "value": _BLANK}
    size: Spec = {"condition": {"test": "datum.chosen", "value": 150}, "value": 70}
    layers: list[Spec] = [
        {"mark": {"type": "line", "color": _BLANK, "strokeWidth": 2}},
        {"mark": {"type": "point", "filled": True, "opacity": 1}, "encoding": {"color": mark, "size": size}},
        {
            "mark": {**text, "stroke": _CARD, "strokeWidth": 4, "strokeJoin": "round"},
            "encoding": {"text": {"field": "said"}},
        },
        {"mark": {**text, "color": _INK}, "encoding": {"text": {"field": "said"}}},
    ]
    heading = title if title is not None else "Blanking fewer at a time blanks fewer"
    note = (
        ""
        if used_factor is None
        else f"The larger red spot: as in this release, {wording.format_count(used_factor)} at a time."
    )
    return render_svg(
        {"width": 420, "height": 210, "data": {"values": values}, "encoding": encoding, "layer": layers}
        | build_title(heading, note)
    )
