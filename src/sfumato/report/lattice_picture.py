# SPDX-License-Identifier: MIT
"""A picture of a small lattice: all combinations of levels, the allowed ones, and the chosen one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sfumato.protect.anonymity.explain import LatticeNode
from sfumato.report.pictures import PALETTE, Spec, render_svg

_INK, _SOFT, _LINE = (PALETTE[name][0] for name in ("ink", "soft", "line"))
_REFUSED, _FINE, _CHOSEN = PALETTE["before"][0], PALETTE["accent"][0], PALETTE["warn"][0]
_STATES = {"domain": ["refused", "will do", "chosen"], "range": [_REFUSED, _FINE, _CHOSEN]}
MOST_LABELLED = 40


def draw_lattice(nodes: Sequence[LatticeNode]) -> str:
    """Nodes in rows by their height, finest at the bottom, joined if they differ by one step."""
    places = _place_nodes(nodes)
    points = [
        {
            "x": places[node.levels],
            "y": sum(node.levels),
            "state": _name_node_state(node),
            "levels": _format_node_levels(node),
        }
        for node in nodes
    ]
    lines = [
        {"x": places[node.levels], "y": sum(node.levels), "x2": places[above], "y2": sum(above)}
        for node in nodes
        for above in _list_coarser_neighbours(node.levels)
        if above in places
    ]
    labelled = len(nodes) <= MOST_LABELLED
    layers: list[Spec] = [
        {
            "data": {"values": lines},
            "mark": {"type": "rule", "color": _LINE, "strokeWidth": 1},
            "encoding": _encode_line_ends(),
        },
        {
            "mark": {"type": "circle", "size": 150 if labelled else 60, "opacity": 1},
            "encoding": {"color": {"field": "state", "type": "nominal", "scale": _STATES, "legend": None}},
        },
    ]
    if labelled:
        layers.append(
            {"mark": {"type": "text", "dy": -13, "fontSize": 10, "color": _SOFT}, "encoding": _encode_label()}
        )
    encoding = {"x": {"field": "x", "type": "quantitative", "axis": None}, "y": _encode_height()}
    return render_svg(
        {
            "width": 680,
            "height": 60 + 42 * _find_tallest(nodes),
            "data": {"values": points},
            "encoding": encoding,
            "layer": layers,
        }
    )


def _encode_label() -> Spec:
    return {"text": {"field": "levels", "type": "nominal"}}


def _encode_line_ends() -> Spec:
    return {
        "x2": {"field": "x2"},
        "y2": {"field": "y2"},
    }


def _encode_height() -> Spec:
    return {
        "field": "y",
        "type": "quantitative",
        "title": "steps of generalization",
        "axis": {"grid": False, "tickMinStep": 1},
    }


def _find_tallest(nodes: Sequence[LatticeNode]) -> int:
    return max(sum(node.levels) for node in nodes)


def _name_node_state(node: LatticeNode) -> str:
    return "chosen" if node.chosen else "will do" if node.will_do else "refused"


def _format_node_levels(node: LatticeNode) -> str:
    return " ".join(str(level) for level in node.levels)


def _place_nodes(nodes: Sequence[LatticeNode]) -> dict[tuple[int, ...], float]:
    """Each row of nodes centred."""
    rows: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for node in nodes:
        rows[sum(node.levels)].append(node.levels)
    return {
        levels: position - (len(row) - 1) / 2
        for row in rows.values()
        for position, levels in enumerate(sorted(row, reverse=True))
    }


def _list_coarser_neighbours(levels: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(*levels[:i], level + 1, *levels[i + 1 :]) for i, level in enumerate(levels)]
