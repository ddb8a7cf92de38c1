# SPDX-License-Identifier: MIT
"""A picture of a small lattice: all combinations of levels, the allowed ones, and the chosen one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sfumato.protect.anonymity.explain import LatticeNode
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.pictures.svg import Drawing
from sfumato.report.pictures.ticks import choose_ticks

_SOFT, _LINE = (PALETTE[name][0] for name in ("soft", "line"))
_REFUSED_HUE, _FINE_HUE, _CHOSEN_HUE = PALETTE["before"][0], PALETTE["accent"][0], PALETTE["warn"][0]
MOST_LABELLED = 40


def draw_lattice(nodes: Sequence[LatticeNode]) -> str:
    """Nodes in rows by their height, finest at the bottom, joined if they differ by one step."""
    tallest = max(sum(node.levels) for node in nodes)
    drawing = Drawing(680, 60 + 42 * tallest)
    _draw_heights(drawing, tallest)
    spots = _place_nodes(nodes, drawing, tallest)
    for node in nodes:
        for coarser_levels in _list_coarser_neighbours(node.levels):
            if coarser_levels in spots:
                drawing.add_line(spots[node.levels], spots[coarser_levels], _LINE)
    is_labelled = len(nodes) <= MOST_LABELLED
    for node in nodes:
        x, y = spots[node.levels]
        drawing.add_circle(x, y, 6 if is_labelled else 4, _choose_colour(node))
        if is_labelled:
            words = " ".join(str(level) for level in node.levels)
            drawing.add_words(x, y - 10, words, _SOFT, size=10, anchor="middle")
    return drawing.render(left=42, right=2, top=2, bottom=2)


def _draw_heights(drawing: Drawing, tallest: int) -> None:
    """An axis that counts the steps of generalization."""
    drawing.add_line((0, 0), (0, drawing.height), _LINE)
    drawing.add_words(-30, drawing.height / 2, "steps of generalization", _SOFT, anchor="middle", upright=True)
    for tick in choose_ticks(0, tallest, min(max(tallest, 1), 10)) if tallest else [0.0]:
        drawing.add_words(-6, _place_height(drawing, tick, tallest) + 4, f"{tick:g}", _SOFT, anchor="end")


def _place_height(drawing: Drawing, height: float, tallest: int) -> float:
    """Where a row of nodes lies: the labels of the topmost are inside the picture."""
    return drawing.height - 8 - (drawing.height - 32) * height / max(tallest, 1)


def _place_nodes(
    nodes: Sequence[LatticeNode], drawing: Drawing, tallest: int
) -> dict[tuple[int, ...], tuple[float, float]]:
    """Where each node lies: each row of them centred."""
    rows: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for node in nodes:
        rows[sum(node.levels)].append(node.levels)
    gap = (drawing.width - 80) / max(1, *(len(row) - 1 for row in rows.values()))
    return {
        levels: (
            drawing.width / 2 + gap * (position - (len(row) - 1) / 2),
            _place_height(drawing, height, tallest),
        )
        for height, row in rows.items()
        for position, levels in enumerate(sorted(row, reverse=True))
    }


def _choose_colour(node: LatticeNode) -> str:
    return _CHOSEN_HUE if node.is_chosen else _FINE_HUE if node.will_do else _REFUSED_HUE


def _list_coarser_neighbours(levels: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(*levels[:i], level + 1, *levels[i + 1 :]) for i, level in enumerate(levels)]
