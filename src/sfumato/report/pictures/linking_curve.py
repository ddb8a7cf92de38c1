# SPDX-License-Identifier: MIT
"""The curve of sequence linking: how many people are alone by 1, 2, 3 … known points, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.pictures.svg import Drawing
from sfumato.report.run_account import ReportFigure
from sfumato.report.words import wording

_SIDES = {"before": PALETTE["before"][0], "after": PALETTE["accent"][0]}
_INK, _SOFT, _LINE = (PALETTE[name][0] for name in ("ink", "soft", "line"))


def draw_linking_curve(attack: Mapping[str, Any]) -> ReportFigure:
    """The curve of an attack that `draws_curve`, for the custodian: it compares with the originals."""
    points = [int(number) for number in attack["points"]]
    shares = {side: [float(share) for share in attack[f"unique_{side}"]] for side in _SIDES}
    order = "in order" if attack.get("order") == "ordered" else "in any order"
    caption = (
        f"The share of people whose own sequence is the only one left, by how many points of it are known, {order}."
    )
    rows = tuple(
        (str(number), *(wording.format_percent(shares[side][index]) for side in _SIDES))
        for index, number in enumerate(points)
    )
    return ReportFigure(
        "Alone by known points", _draw(points, shares), caption, caption, ("Points", "Before", "After"), rows
    )


def _draw(points: Sequence[int], shares: Mapping[str, Sequence[float]]) -> str:
    """Two lines over the numbers of points, which are evenly spaced."""
    drawing = Drawing(min(420, max(200, 64 * (len(points) - 1))), 120)
    step = drawing.width / max(1, len(points) - 1)
    most = max(0.05, *(share for side in shares.values() for share in side))
    for level in (0.0, most / 2, most):
        y = drawing.height * (1 - level / most)
        drawing.add_line((0, y), (drawing.width, y), _LINE)
        drawing.add_words(-8, y + 4, wording.format_percent(level), _SOFT, anchor="end")
    every = -(-len(points) // 12)  # more labels than this would touch
    for index, number in list(enumerate(points))[::every]:
        drawing.add_words(index * step, drawing.height + 18, str(number), _SOFT, anchor="middle")
    drawing.add_words(drawing.width / 2, drawing.height + 36, "points known", _SOFT, anchor="middle")
    for number, (side, colour) in enumerate(_SIDES.items()):
        spots = [(index * step, drawing.height * (1 - share / most)) for index, share in enumerate(shares[side])]
        for start, end in pairwise(spots):
            drawing.add_line(start, end, colour, 2)
        for x, y in spots:
            drawing.add_circle(x, y, 3.5, colour)
        drawing.add_box(70 * number, -26, 10, 10, colour)
        drawing.add_words(70 * number + 15, -17, side, _INK)
    return drawing.render(left=56, right=14, top=34, bottom=44)
