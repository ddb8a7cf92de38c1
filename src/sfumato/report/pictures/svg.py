# SPDX-License-Identifier: MIT
"""Shapes and words drawn directly as SVG: for the pictures of every report, which a renderer would take seconds for."""

from __future__ import annotations

import unicodedata

from markupsafe import escape

_NARROW, _WIDE = frozenset("ijlftrI.,:;|!'()[]{}/\\\" "), frozenset("mwMWOQG%@&—…")


class Drawing:
    """Shapes in the order in which they are painted, in a field with margins around it."""

    def __init__(self, width: float, height: float) -> None:
        """An empty field, in pixels."""
        self.width, self.height = width, height
        self._shapes: list[str] = []

    def add_words(
        self,
        x: float,
        y: float,
        words: str,
        colour: str,
        *,
        size: int = 12,
        anchor: str = "start",
        bold: bool = False,
        edge: str = "",
        upright: bool = False,
    ) -> None:
        """Words at a point of their base line, with an edge around them if they must be read across a line."""
        weight = ' font-weight="600"' if bold else ""
        edge_style = f' stroke="{edge}" stroke-width="5" stroke-linejoin="round" paint-order="stroke"' if edge else ""
        rotation = f' transform="rotate(-90 {_spell(x)} {_spell(y)})"' if upright else ""
        self._shapes.append(
            f'<text x="{_spell(x)}" y="{_spell(y)}" text-anchor="{anchor}" font-family="sans-serif" '
            f'font-size="{size}px"{weight} fill="{colour}"{edge_style}{rotation}>{escape(words)}</text>'
        )

    def add_line(
        self, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1, dash: str = ""
    ) -> None:
        """A straight line, dashed on demand."""
        (x1, y1), (x2, y2) = start, end
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self._shapes.append(
            f'<line x1="{_spell(x1)}" y1="{_spell(y1)}" x2="{_spell(x2)}" y2="{_spell(y2)}" '
            f'stroke="{colour}" stroke-width="{_spell(width)}"{dashes}/>'
        )

    def add_circle(self, x: float, y: float, radius: float, colour: str) -> None:
        """A filled circle."""
        self._shapes.append(f'<circle cx="{_spell(x)}" cy="{_spell(y)}" r="{_spell(radius)}" fill="{colour}"/>')

    def add_box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle."""
        self._shapes.append(
            f'<rect x="{_spell(x)}" y="{_spell(y)}" width="{_spell(width)}" height="{_spell(height)}" fill="{colour}"/>'
        )

    def add_lying_bar(self, y: float, length: float, thickness: float, colour: str, bend: float) -> None:
        """A bar from the left edge, round at its end."""
        bend = min(bend, length, thickness / 2)
        path = (
            f"M0,{_spell(y)}h{_spell(length - bend)}q{_spell(bend)},0 {_spell(bend)},{_spell(bend)}"
            f"v{_spell(thickness - 2 * bend)}q0,{_spell(bend)} {_spell(-bend)},{_spell(bend)}H0z"
        )
        self._shapes.append(f'<path d="{path}" fill="{colour}"/>')

    def add_standing_bar(self, x: float, length: float, thickness: float, colour: str, bend: float) -> None:
        """A bar from the lower edge, round at its top."""
        bend = min(bend, length, thickness / 2)
        path = (
            f"M{_spell(x)},{_spell(self.height)}v{_spell(bend - length)}"
            f"q0,{_spell(-bend)} {_spell(bend)},{_spell(-bend)}"
            f"h{_spell(thickness - 2 * bend)}q{_spell(bend)},0 {_spell(bend)},{_spell(bend)}V{_spell(self.height)}z"
        )
        self._shapes.append(f'<path d="{path}" fill="{colour}"/>')

    def render(self, *, left: float, right: float, top: float, bottom: float) -> str:
        """The picture, with these margins around the field."""
        width, height = _spell(left + self.width + right), _spell(top + self.height + bottom)
        return (
            f'<svg version="1.1" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
            f'<g fill="none" transform="translate({_spell(left)},{_spell(top)})">{"".join(self._shapes)}</g></svg>'
        )


def estimate_width(words: str, size: int) -> float:
    """About how wide words are in a plain typeface, in pixels: the reader's own is not known."""
    return size * sum(_estimate_sign(sign) for sign in words)


def _estimate_sign(sign: str) -> float:
    if sign in _NARROW:
        return 0.3
    if sign in _WIDE or unicodedata.east_asian_width(sign) in "WF":
        return 0.95
    return 0.68 if sign.isupper() else 0.56


def cut_words(words: str, size: int, most: float) -> str:
    """Words that fit into a width, with dots where something is left out."""
    if estimate_width(words, size) <= most:
        return words
    while words and estimate_width(words + "…", size) > most:
        words = words[:-1]
    return words + "…"


def _spell(number: float) -> str:
    """A coordinate to a hundredth of a pixel."""
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
