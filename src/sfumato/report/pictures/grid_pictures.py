# SPDX-License-Identifier: MIT
"""Visits of the cells of a grid, and flows between them, before and after: for sequences whose items are such cells.

More visits are more of one colour, and flows are arrows that keep to the right like traffic, so that the two directions
between two cells are apart. Cells are square, and both maps have the same shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import atan2, degrees, hypot, log10
from typing import Any, NamedTuple

import polars as pl

from sfumato.measure.sequences.visits import flow_counts, visit_counts
from sfumato.report.pictures.rendering import PALETTE, Spec, render_svg
from sfumato.report.run_account import ReportFigure
from sfumato.report.words import wording
from sfumato.sequences import Sequences

_CELL = re.compile(r"r(\d{1,3})c(\d{1,3})")
_MOST_LINES = 12
"""How many cells and flows the tables list."""
_FLOWS = 150
"""How many flows are drawn, the strongest first."""
_MOST_CELLS = 2_500
"""How many cells a grid may have if those without a visit are drawn too."""
_ASIDE = 0.13
"""How far to the right a flow is drawn, in sides of a cell."""


_LONGER_SIDE = 190
"""Of a map, in pixels."""
_HEAD = 0.68
"""Where on its line the head of an arrow is drawn: nearer to the goal several would meet."""


_LEGEND: Spec = {"title": None, "labelColor": PALETTE["ink"][0], "labelFontSize": 12, "format": ",d"}
_SIDE_TITLE: Spec = {"fontWeight": "normal", "fontSize": 12, "color": PALETTE["ink"][0]}


class _Cell(NamedTuple):
    row: int
    column: int


def draw_grid_figures(
    published_sequences: Sequences, original: Sequences | None = None, mark: str = ""
) -> tuple[ReportFigure, ...]:
    """Visits and flows on the grid; nothing if the items are no cells of one. Without originals, the release alone.

    A mark that stands for hidden items is no cell.
    """
    cells = _read_grid_cells(published_sequences, original, mark=mark)
    if not cells:
        return ()
    sides = ("before", "after") if original is not None else ("after",)
    pair = (published_sequences if original is None else original, published_sequences)
    visits, flows = visit_counts(*pair, mark), flow_counts(*pair, mark)
    strongest = flows.sort(pl.max_horizontal(sides), descending=True, maintain_order=True).head(_FLOWS)
    side_text = "" if original is None else ", before and after"
    note = f" The {_FLOWS} strongest are drawn." if len(flows) > _FLOWS else ""
    return (
        _make_figure(
            "Visits",
            f"How often each region is visited{side_text}. It is drawn at the cell of the grid that it is named after.",
            _draw_visits(visits, cells, sides),
            visits,
            sides,
        ),
        _make_figure(
            "Flows",
            f"How often each step between regions is made{side_text}. Arrows keep to the right, like traffic.{note}",
            _draw_flows(strongest, cells, sides),
            flows,
            sides,
        ),
    )


def _read_grid_cells(*several: Sequences | None, mark: str) -> dict[str, _Cell]:
    """The cell of each item; none if some item is no cell."""
    items = {str(item) for data in several if data is not None for item in data.items} - ({mark} if mark else set())
    matches = {item: _CELL.fullmatch(item) for item in items}
    return (
        {item: _Cell(int(match[1]), int(match[2])) for item, match in matches.items() if match}
        if all(matches.values())
        else {}
    )


def _draw_visits(visits: pl.DataFrame, cells: Mapping[str, _Cell], sides: tuple[str, ...]) -> str:
    """A map of squares, the darker the more visits."""
    counts = [(cells[name], side, count) for side in sides for name, count in visits.select("region", side).iter_rows()]
    empty_counts = [(cell, side, 0) for side in sides for cell in _list_cells(cells) - set(cells.values())]
    values = [
        {"row": cell.row, "column": cell.column, "side": side, "visits": count}
        for cell, side, count in sorted(counts + empty_counts)
    ]
    # Shades of one colour by opacity: a mixed colour would not follow the page into dark mode.
    shade: Spec = {
        "field": "visits",
        "type": "quantitative",
        "scale": {"range": [0, 1], "domainMin": 0},
        "legend": {
            **_LEGEND,
            "values": _choose_ticks(max(count for _, _, count in counts)),
            "symbolType": "square",
            "symbolFillColor": PALETTE["accent"][0],
        },
    }
    position: Spec = {
        "x": {"field": "column", "type": "ordinal", "axis": None},
        "y": {"field": "row", "type": "ordinal", "axis": None, "sort": "descending"},
    }
    frames: Spec = {
        "mark": {"type": "rect", "filled": False, "stroke": PALETTE["line"][0], "strokeWidth": 0.5},
        "encoding": position,
    }
    squares: Spec = {
        "mark": {"type": "rect", "color": PALETTE["accent"][0]},
        "encoding": position | {"opacity": shade},
    }
    return render_svg(_repeat_sides(values, sides, [squares, frames], _measure_grid(cells)))


def _choose_ticks(largest: int) -> list[int]:
    """Some round numbers from 1 up to the largest count, for a legend."""
    step = 10 ** int(log10(max(largest / 4, 1)))
    step *= next(times for times in (1, 2, 5, 10) if largest / (step * times) <= 5)
    return list(range(step, largest + 1, step)) or [1]


class _GridSize(NamedTuple):
    rows: int
    columns: int


def _measure_grid(cells: Mapping[str, _Cell]) -> _GridSize:
    """The smallest grid from the first row and column on that holds some cells."""
    return _GridSize(*(max(cell[axis] for cell in cells.values()) + 1 for axis in (0, 1)))


def _list_cells(cells: Mapping[str, _Cell]) -> set[_Cell]:
    """All cells of the smallest grid that holds some; no others if it is large."""
    rows, columns = _measure_grid(cells)
    if rows * columns > _MOST_CELLS:
        return set(cells.values())
    return {_Cell(row, column) for row in range(rows) for column in range(columns)}


def _draw_flows(flows: pl.DataFrame, cells: Mapping[str, _Cell], sides: tuple[str, ...]) -> str:
    """An arrow for each flow from the middle of one cell to that of another, the wider the stronger."""
    arrows, size = _list_arrows(flows, cells, sides), _measure_grid(cells)
    width: Spec = {
        "field": "count",
        "type": "quantitative",
        "scale": {"range": [0.4, 5], "domainMin": 0},
        "legend": {
            **_LEGEND,
            "values": _choose_ticks(max((arrow["count"] for arrow in arrows), default=1)),
            "symbolType": "stroke",
            "symbolStrokeColor": PALETTE["accent"][0],
        },
    }
    ends = {"x": [-0.5, size.columns - 0.5], "y": [-0.5, size.rows - 0.5]}
    position: Spec = {
        axis: {"field": axis, "type": "quantitative", "axis": None, "scale": {"domain": ends[axis], "nice": False}}
        for axis in ("x", "y")
    }
    corners: Spec = {**position, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    frames: Spec = {
        "transform": [{"filter": "!isValid(datum.count)"}],
        "mark": {"type": "rect", "filled": False, "stroke": PALETTE["line"][0], "strokeWidth": 0.5},
        "encoding": corners,
    }
    lines: Spec = {
        "transform": [{"filter": "isValid(datum.count)"}],
        "mark": {"type": "rule", "color": PALETTE["accent"][0], "opacity": 0.8},
        "encoding": {**corners, "strokeWidth": width},
    }
    heads: Spec = {
        "transform": [{"filter": "isValid(datum.count)"}],
        "mark": {"type": "point", "shape": "triangle", "filled": True, "size": 34, "color": PALETTE["accent"][0]},
        "encoding": {
            "x": {**position["x"], "field": "head_x"},
            "y": {**position["y"], "field": "head_y"},
            "angle": {"field": "angle", "type": "quantitative", "scale": None},
            "opacity": {"value": 1},
        },
    }
    return render_svg(_repeat_sides([*_list_squares(cells, sides), *arrows], sides, [frames, lines, heads], size))


def _list_arrows(flows: pl.DataFrame, cells: Mapping[str, _Cell], sides: tuple[str, ...]) -> list[dict[str, Any]]:
    """The flows from one cell to another, with their ends."""
    return [
        {**_shift(cells[start], cells[goal]), "side": side, "count": count}
        for side in sides
        for start, goal, count in flows.select("start", "goal", side).iter_rows()
        if count and start != goal
    ]


def _list_squares(cells: Mapping[str, _Cell], sides: tuple[str, ...]) -> list[dict[str, Any]]:
    """The corners of each cell."""
    return [
        {"x": cell.column - 0.5, "y": cell.row - 0.5, "x2": cell.column + 0.5, "y2": cell.row + 0.5, "side": side}
        for side in sides
        for cell in sorted(_list_cells(cells))
    ]


def _shift(start: _Cell, goal: _Cell) -> dict[str, float]:
    """The ends of a flow, moved to its right; the head of its arrow, and how far that is turned from pointing up."""
    right, rise = goal.column - start.column, goal.row - start.row
    aside = _ASIDE / hypot(right, rise) if right or rise else 0.0
    x, y = start.column + rise * aside, start.row - right * aside
    head = {"head_x": x + _HEAD * right, "head_y": y + _HEAD * rise, "angle": degrees(atan2(right, rise))}
    return {"x": x, "y": y, "x2": x + right, "y2": y + rise, **head}


def _repeat_sides(values: list[dict[str, Any]], sides: tuple[str, ...], layers: list[Spec], size: _GridSize) -> Spec:
    """The same picture of each side, next to each other, on one scale."""
    cell = _LONGER_SIDE / max(size)
    pictures = [
        {
            "layer": layers,
            "width": cell * size.columns,
            "height": cell * size.rows,
            "title": _SIDE_TITLE | {"text": side} if len(sides) > 1 else None,
            "transform": [{"filter": {"field": "side", "equal": side}}],
        }
        for side in sides
    ]
    scales = {"scale": {"opacity": "shared", "strokeWidth": "shared", "x": "shared", "y": "shared"}}
    return {"data": {"values": values}, "hconcat": pictures, "resolve": scales}


def _make_figure(title: str, caption: str, svg: str, counts: pl.DataFrame, sides: tuple[str, ...]) -> ReportFigure:
    """The picture, with the largest numbers as a table."""
    names = [name for name in counts.columns if name not in ("before", "after")]
    order = [pl.max_horizontal(sides), *reversed(sides), *names]
    largest = counts.sort(order, descending=[True] * (1 + len(sides)) + [False] * len(names)).head(_MOST_LINES)
    rows = tuple(
        (*(str(row[name]) for name in names), *(wording.format_count(row[side]) for side in sides))
        for row in largest.iter_rows(named=True)
    )
    head = tuple(word.capitalize() for word in (*names, *(sides if len(sides) > 1 else ("times",))))
    extent_text = f"the {_MOST_LINES} largest numbers" if counts.height > _MOST_LINES else "all numbers"
    return ReportFigure(
        title, svg, caption, f"{caption} The table lists {extent_text}." if rows else caption, head, rows
    )
