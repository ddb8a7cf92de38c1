# SPDX-License-Identifier: MIT
"""The pictures of every report: risks, crowds, and how values are distributed, before next to after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

from sfumato.arrays import Floats
from sfumato.data.hierarchies.label_ranges import RangeTexts
from sfumato.report.pictures.rendering import LABEL, PALETTE
from sfumato.report.pictures.svg import Drawing, cut_words, estimate_width
from sfumato.report.pictures.ticks import choose_ticks, format_share, format_tick, list_decades, round_up_end
from sfumato.report.words import wording

_INK, _SOFT, _LINE, _CARD = (PALETTE[name][0] for name in ("ink", "soft", "line", "card"))
_WARN = PALETTE["warn"][0]
_COLOURS = {"before": PALETTE["before"][0], "after": PALETTE["accent"][0]}
_BAR_SHARE = 0.86
"""The share of a range that its bars fill."""


@dataclass(frozen=True)
class RiskBar:
    """A share with its interval, and how it is written."""

    label: str
    share: float
    low: float
    high: float
    text: str
    side: str
    """`before` or `after`."""


def has_vanishing_bar(bars: Sequence[RiskBar]) -> bool:
    """Whether one share is so small that its bar would be invisible."""
    shares = [bar.share for bar in bars]
    return min(bar.low for bar in bars) > 0 and min(shares) < max(shares) / 100


class _RiskScale:
    """Where a share stands in a picture of risks: on a logarithmic scale where bars would vanish."""

    def __init__(self, bars: Sequence[RiskBar], limit: float | None, width: float) -> None:
        shares = [share for bar in bars for share in (bar.low, bar.high)] + ([limit] if limit else [])
        self.log, self._width, top = has_vanishing_bar(bars), width, max(shares)
        self.ticks = list_decades(min(shares), top) if self.log else []
        self._end = min(1.0, max(top * 1.15, 0.01))
        self.ticks = self.ticks or choose_ticks(0, self._end, 4)

    def locate(self, share: float) -> float:
        if not self.log:
            return self._width * share / self._end
        first, last = log10(self.ticks[0]), log10(self.ticks[-1])
        return self._width * (log10(max(share, self.ticks[0])) - first) / (last - first)


def draw_risks(bars: Sequence[RiskBar], limit: float | None) -> str:
    """Linking risk before and after with intervals; a logarithmic scale of points where bars would vanish."""
    step = 74
    drawing = Drawing(250, step * len(bars))
    scale = _RiskScale(bars, limit, drawing.width)
    for tick in scale.ticks:
        x = scale.locate(tick)
        drawing.add_line((x, 0), (x, drawing.height), _LINE)
        drawing.add_words(x, drawing.height + 15, format_share(tick), _SOFT, anchor="middle")
    drawing.add_line((0, drawing.height), (drawing.width, drawing.height), _LINE)
    if limit is not None:
        x = scale.locate(limit)
        drawing.add_line((x, 0), (x, drawing.height), _WARN, 1.5, dash="4,4")
    for number, bar in enumerate(bars):
        _draw_risk(drawing, scale, bar, (number + 0.5) * step)
    ends = [scale.locate(bar.high) + 9 + estimate_width(bar.text, 15) for bar in bars]
    left_margin = 8 + max(estimate_width(bar.label, 12) for bar in bars)
    return drawing.render(left=left_margin, right=max(16, *(end - drawing.width for end in ends)), top=2, bottom=21)


def _draw_risk(drawing: Drawing, scale: _RiskScale, bar: RiskBar, middle: float) -> None:
    """The share, its interval as a thin line with ends, and the number next to it."""
    colour, low, high = _COLOURS[bar.side], scale.locate(bar.low), scale.locate(bar.high)
    drawing.add_words(-6, middle + 4, bar.label, _SOFT, anchor="end")
    if scale.log:
        drawing.add_circle(scale.locate(bar.share), middle, 6.3, colour)
    else:
        drawing.add_lying_bar(middle - 18, scale.locate(bar.share), 36, colour, bend=4)
    drawing.add_line((low, middle), (high, middle), _INK, 1.5)
    for end in (low, high):
        drawing.add_line((end, middle - 5), (end, middle + 5), _INK, 1.5)
    drawing.add_words(high + 9, middle + 5, bar.text, _INK, size=14, bold=True, edge=_CARD)


def draw_crowds(bins: Sequence[str], original: Sequence[float] | None, published_shares: Sequence[float]) -> str:
    """The share of people by how many share their values, before next to after for the custodian."""
    sides = {"after": published_shares} if original is None else {"before": original, "after": published_shares}
    drawing = Drawing(340, 150)
    top = round_up_end(max(0.01, *(share for shares in sides.values() for share in shares)))
    for tick in choose_ticks(0, top, 4):
        y = drawing.height * (1 - tick / top)
        drawing.add_line((0, y), (drawing.width, y), _LINE)
        drawing.add_words(-6, y + 4, format_share(tick, 3), _SOFT, anchor="end")
    step = drawing.width / (len(bins) + 0.15)
    thick = 0.75 * step / len(sides)
    for number, label in enumerate(bins):
        start = (number + 0.2) * step
        for slot, (side, shares) in enumerate(sides.items()):
            length = drawing.height * shares[number] / top
            drawing.add_standing_bar(start + slot * thick, length, thick, _COLOURS[side], bend=3)
        drawing.add_words(start + 0.375 * step, drawing.height + 16, label, _SOFT, anchor="middle")
    drawing.add_words(drawing.width / 2, drawing.height + 31, "people with the same values", _SOFT, anchor="middle")
    return drawing.render(left=40, right=2, top=8, bottom=36)


def draw_distribution(
    labels: Sequence[str], published_counts: Sequence[int], original: Sequence[int] | None = None
) -> str:
    """How many people have each value: published, or before next to after for the custodian."""
    sides = {"after": published_counts} if original is None else {"before": original, "after": published_counts}
    step, size, fill_share = (19, 11, 0.9) if original is None else (27, 10, 0.8)
    drawing = Drawing(104, max(len(labels), 1) * step)
    most, thick = max([1, *published_counts, *(original or ())]), fill_share * step / len(sides)
    for number, label in enumerate(wording.shorten_distinctly(labels, LABEL)):
        drawing.add_words(-6, (number + 0.5) * step + 4, cut_words(label, 12, 102), _INK, anchor="end")
        for slot, (side, counts) in enumerate(sides.items()):
            y = (number + (1 - fill_share) / 2) * step + slot * thick
            length = drawing.width * counts[number] / most
            drawing.add_lying_bar(y, length, thick, _COLOURS[side], bend=2)
            text = wording.format_count(counts[number])
            drawing.add_words(length + 4, y + thick / 2 + 3.5, text, _SOFT, size=size)
    # Fixed margins, so that the bars of all pictures begin and end alike.
    return drawing.render(left=110, right=46, top=2, bottom=2)


def draw_histogram(
    edges: Floats,
    published_counts: Sequence[int],
    original: Sequence[int] | None = None,
    end_labels: RangeTexts | None = None,
) -> str:
    """How many people have numbers in each range: published, or before next to after for the custodian.

    Below are round numbers, or the labels of both ends if they are given.
    """
    sides = {"after": published_counts} if original is None else {"before": original, "after": published_counts}
    drawing = Drawing(206, 120)
    top = round_up_end(max(1, *published_counts, *(original or ())))
    for tick in choose_ticks(0, top, 3):
        y = drawing.height * (1 - tick / top)
        drawing.add_line((0, y), (drawing.width, y), _LINE)
        drawing.add_words(-6, y + 4, format_tick(tick, max(published_counts)), _SOFT, anchor="end")
    step = drawing.width / (len(edges) - 1)
    thick = step * _BAR_SHARE / len(sides)
    for slot, (side, counts) in enumerate(sides.items()):
        for number, count in enumerate(counts):
            length = drawing.height * count / top
            x = (number + (1 - _BAR_SHARE) / 2) * step + slot * thick
            drawing.add_box(x, drawing.height - length, thick, length, _COLOURS[side])
    drawing.add_line((0, drawing.height), (drawing.width, drawing.height), _LINE)
    if end_labels is None:
        _write_numbers_below(drawing, float(edges[0]), float(edges[-1]))
    else:
        for x, words, anchor in zip((0, drawing.width), end_labels, ("start", "end"), strict=True):
            drawing.add_words(x, drawing.height + 15, words, _SOFT, anchor=anchor)
    return drawing.render(left=42, right=12, top=6, bottom=22)


def _write_numbers_below(drawing: Drawing, low: float, high: float) -> None:
    """Round numbers below a histogram: as many as fit, those at its ends inside them."""
    most = max(abs(low), abs(high))
    tick_labels = [(tick, format_tick(tick, most)) for tick in choose_ticks(low, high, 4)]
    while len(tick_labels) > 1 and sum(estimate_width(words, 12) + 8 for _, words in tick_labels) > drawing.width:
        tick_labels = tick_labels[::2]
    for tick, words in tick_labels:
        x = drawing.width * (tick - low) / (high - low)
        anchor = "start" if x < 1 else "end" if x > drawing.width - 1 else "middle"
        drawing.add_words(x, drawing.height + 15, words, _SOFT, anchor=anchor)
