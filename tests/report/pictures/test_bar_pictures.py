# SPDX-License-Identifier: MIT
"""The pictures of every report are well-formed SVG, and their bars are as long as their numbers."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from sfumato.report.pictures.bar_pictures import RiskBar, draw_crowds, draw_distribution, draw_histogram, draw_risks
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.pictures.svg import cut_words, estimate_width
from sfumato.report.pictures.ticks import choose_ticks, format_share, format_tick, list_decades, round_up_end

BEFORE, AFTER = PALETTE["before"][0], PALETTE["accent"][0]
HIGH = RiskBar("originals", 0.5, 0.45, 0.55, "50 %", "before")
LOW = RiskBar("release", 0.1, 0.08, 0.12, "10 %", "after")
TINY = RiskBar("release", 0.001, 0.0008, 0.0012, "0.1 %", "after")
PICTURES = {
    "risks": draw_risks([HIGH, LOW], 0.2),
    "risks, no gate": draw_risks([HIGH, LOW], None),
    "risks, logarithmic": draw_risks([HIGH, TINY], 0.2),
    "no risk": draw_risks([RiskBar("a", 0, 0, 0, "0", "before"), RiskBar("b", 0, 0, 0, "0", "after")], None),
    "crowds": draw_crowds(["1", "2 to 4"], [0.75, 0.25], [0.0, 1.0]),
    "crowds that leave": draw_crowds(["1", "2 to 4"], None, [0.0, 1.0]),
    "values": draw_distribution(["<b>&", 'a "very" long label indeed'], [5, 20], [7, 18]),
    "no values": draw_distribution([], []),
    "nobody": draw_distribution(["a"], [0]),
    "numbers": draw_histogram(np.array([0.0, 10, 20, 30, 40, 50]), [4, 3, 0, 3, 2], [1, 2, 3, 4, 5]),
    "large numbers": draw_histogram(np.array([312_500.0 * n for n in range(-8, 9)]), [10**6 * n for n in range(16)]),
    "no numbers": draw_histogram(np.array([0.0, 1.0]), [0]),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_well_formed_and_in_the_colours_of_the_page(name: str) -> None:
    svg = PICTURES[name]
    ElementTree.fromstring(svg)
    assert "nan" not in svg and "inf" not in svg
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) <= {pair[0] for pair in PALETTE.values()} | {"none"}


def test_bars_are_as_long_as_their_numbers() -> None:
    svg = draw_distribution(["a", "b"], [5, 20], [10, 15])
    ends = {
        side: re.findall(rf'<path d="M0,[\d.]+h([\d.]+)q([\d.]+)[^>]*fill="{side}"', svg) for side in (BEFORE, AFTER)
    }
    lengths = {side: [float(length) + float(bend) for length, bend in bars] for side, bars in ends.items()}
    assert lengths == {BEFORE: [52.0, 78.0], AFTER: [26.0, 104.0]}
    boxes = re.findall(r'<rect [^>]*height="([\d.]+)" fill="[^"]+"/>', draw_histogram(np.array([0.0, 1, 2]), [5, 10]))
    assert [float(height) for height in boxes] == [60.0, 120.0]


def test_only_a_bar_that_would_vanish_makes_the_scale_logarithmic() -> None:
    assert ">0.1\N{NO-BREAK SPACE}%<" in PICTURES["risks, logarithmic"] and "<circle" in PICTURES["risks, logarithmic"]
    assert ">40\N{NO-BREAK SPACE}%<" in PICTURES["risks"] and "<circle" not in PICTURES["risks"]


def test_labels_are_escaped_and_fit() -> None:
    assert "&lt;b&gt;&amp;" in PICTURES["values"]
    assert cut_words("short", 12, 102) == "short"
    cut = cut_words("a label that is too long", 12, 60)
    assert cut.endswith("…") and estimate_width(cut, 12) <= 60
    assert estimate_width("漢字", 12) > estimate_width("ab", 12) > estimate_width("il", 12)


def test_ticks_are_round_numbers() -> None:
    """As D3 chooses them, which the other pictures are drawn with."""
    assert choose_ticks(0, 0.6325, 4) == [0.0, 0.2, 0.4, 0.6]
    assert choose_ticks(0, 5, 3) == [0.0, 2.0, 4.0]
    assert choose_ticks(18, 90, 4) == [20.0, 40.0, 60.0, 80.0]
    assert choose_ticks(-40_000, 50_000, 4) == [-40_000.0, -20_000.0, 0.0, 20_000.0, 40_000.0]
    assert round_up_end(0.87) == pytest.approx(0.9)
    assert round_up_end(12) == 12
    assert list_decades(0.0008, 0.55) == [0.0001, 0.001, 0.01, 0.1, 1.0]


@pytest.mark.parametrize(
    ("number", "most", "tick_label"),
    [(1999, 2100, "1999"), (0.5, 3, "0.5"), (-40_000, 50_000, "−40,000"), (1_500_000, 2e6, "1.5M"), (0, 2e6, "0")],
)
def test_how_ticks_are_written(number: float, most: float, tick_label: str) -> None:
    assert format_tick(number, most) == tick_label


def test_shares_are_written_as_percentages() -> None:
    assert [format_share(share) for share in (0, 0.2, 0.0001, 1)] == [
        f"{text}\N{NO-BREAK SPACE}%" for text in ("0", "20", "0.01", "100")
    ]
