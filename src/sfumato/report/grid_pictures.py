# SPDX-License-Identifier: MIT
"""Visits of the cells of a grid, and flows between them, before and after: for sequences whose items are such cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from sfumato.measure.sequences.visits import flow_counts, visit_counts
from sfumato.public.marked_items import MARK
from sfumato.report import wording
from sfumato.report.pictures import PALETTE, Spec, render_svg
from sfumato.report.run_account import ReportFigure
from sfumato.sequences import Sequences

_CELL = re.compile(r"r(\d{1,3})c(\d{1,3})")
_LISTED = 12
"""How many cells and flows the tables list."""
_FLOWS = 150
"""How many flows are drawn, the strongest first."""


class _Cell(NamedTuple):
    row: int
    column: int


def draw_grid_figures(published: Sequences, original: Sequences | None = None) -> tuple[ReportFigure, ...]:
    """Visits and flows on the grid; nothing if the items are no cells of one. Without originals, the release alone."""
    cells = _read_cells(published, original)
    if not cells:
        return ()
    sides = ("before", "after") if original is not None else ("after",)
    pair = (published if original is None else original, published)
    visits, flows = visit_counts(*pair), flow_counts(*pair)
    strongest = flows.sort(list(reversed(sides)), descending=True, maintain_order=True).head(_FLOWS)
    seen = "" if original is None else ", before and after"
    return (
        _make_figure(
            "Visits",
            f"How often each cell of the grid is visited{seen}.",
            _draw_visits(visits, cells, sides),
            visits,
            sides,
        ),
        _make_figure(
            "Flows",
            f"How often each step between cells is made{seen}.",
            _draw_flows(strongest, cells, sides),
            flows,
            sides,
        ),
    )


def _read_cells(*several: Sequences | None) -> dict[str, _Cell]:
    """The cell of each item; none if some item is no cell."""
    items = {str(item) for data in several if data is not None for item in data.items} - {MARK}
    found = {item: _CELL.fullmatch(item) for item in items}
    return (
        {item: _Cell(int(match[1]), int(match[2])) for item, match in found.items() if match}
        if all(found.values())
        else {}
    )


def _draw_visits(visits: pl.DataFrame, cells: Mapping[str, _Cell], sides: tuple[str, ...]) -> str:
    """A map of squares, the darker the more visits."""
    values = [
        {"row": cells[name].row, "column": cells[name].column, "side": side, "visits": count}
        for side in sides
        for name, count in visits.select("region", side).iter_rows()
    ]
    colour: Spec = {
        "field": "visits",
        "type": "quantitative",
        "title": None,
        "scale": {"range": [PALETTE["card"][0], PALETTE["accent"][0]], "domainMin": 0},
    }
    layer: Spec = {
        "mark": {"type": "rect", "stroke": PALETTE["before"][0], "strokeWidth": 0.5},
        "encoding": {
            "x": {"field": "column", "type": "ordinal", "title": None, "axis": None},
            "y": {"field": "row", "type": "ordinal", "title": None, "axis": None, "sort": "descending"},
            "color": colour,
        },
    }
    return render_svg(_repeat_sides(values, sides, layer))


def _draw_flows(flows: pl.DataFrame, cells: Mapping[str, _Cell], sides: tuple[str, ...]) -> str:
    """A line for each flow from the middle of one cell to that of another, the wider the stronger."""
    values = [
        {
            "x": cells[start].column, "y": cells[start].row, "x2": cells[goal].column, "y2": cells[goal].row,
            "side": side, "count": count,
        }
        for side in sides
        for start, goal, count in flows.select("start", "goal", side).iter_rows()
        if count
    ]  # fmt: skip
    width: Spec = {
        "field": "count",
        "type": "quantitative",
        "title": None,
        "scale": {"range": [0.3, 6], "domainMin": 0},
    }
    layer: Spec = {
        "mark": {"type": "rule", "color": PALETTE["accent"][0], "opacity": 0.6, "strokeCap": "round"},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": None, "axis": None},
            "y": {"field": "y", "type": "quantitative", "title": None, "axis": None},
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
            "strokeWidth": width,
        },
    }
    return render_svg(_repeat_sides(values, sides, layer))


def _repeat_sides(values: list[dict[str, object]], sides: tuple[str, ...], layer: Spec) -> Spec:
    """The same picture of each side, next to each other, on one scale."""
    pictures = [
        {
            **layer,
            "width": 190,
            "height": 190,
            "title": {"text": side, "fontWeight": "normal"} if len(sides) > 1 else None,
            "transform": [{"filter": {"field": "side", "equal": side}}],
        }
        for side in sides
    ]
    scales = {"scale": {"color": "shared", "strokeWidth": "shared", "x": "shared", "y": "shared"}}
    return {"data": {"values": values}, "hconcat": pictures, "resolve": scales}


def _make_figure(title: str, caption: str, svg: str, counts: pl.DataFrame, sides: tuple[str, ...]) -> ReportFigure:
    """The picture, with the largest numbers as a table."""
    names = [name for name in counts.columns if name not in ("before", "after")]
    largest = counts.sort([*reversed(sides), *names], descending=[True] * len(sides) + [False] * len(names)).head(
        _LISTED
    )
    rows = tuple(
        (*(str(row[name]) for name in names), *(wording.format_count(row[side]) for side in sides))
        for row in largest.iter_rows(named=True)
    )
    head = tuple(word.capitalize() for word in (*names, *(sides if len(sides) > 1 else ("times",))))
    return ReportFigure(title, svg, caption, f"{caption} The table lists the {len(rows)} largest numbers.", head, rows)
