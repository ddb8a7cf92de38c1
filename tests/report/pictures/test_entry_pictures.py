# SPDX-License-Identifier: MIT
"""The pictures of a suppression: what is drawn, in which colours, from any data."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from sfumato.report.pictures.entry_pictures import (
    BANDS,
    COLUMNS,
    ROWS_ALONE,
    ColumnExposure,
    draw_blanked_map,
    draw_blanking_curve,
    draw_exposure_by_column,
)
from sfumato.report.pictures.rendering import PALETTE
from sfumato.report.pictures.rule_pictures import SPOTS, RuleSpot, draw_rules_before_and_after

PRIVATE, BLANKED, WARN = (PALETTE[name][0] for name in ("before", "accent", "warn"))
HOSTILE = "</text><script>\"'`${x}\\\u2028"


def masks(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    private = np.zeros((rows, columns), dtype=bool)
    derived = private.copy()
    private[::7, 0] = derived[::5, 1] = True
    return private, derived


def filled(svg: str, colour: str) -> int:
    return len(re.findall(rf'<path[^>]*fill="{colour}"', svg))


def spots(many: int) -> list[RuleSpot]:
    return [RuleSpot(0.6 + 0.4 * index / many, 1 + index) for index in range(many)]


PICTURES: dict[str, Callable[[], str]] = {
    "small map": lambda: draw_blanked_map(["a", "b"], *masks(10, 2)),
    "map in bands": lambda: draw_blanked_map(["a", "b", HOSTILE], *masks(1000, 3)),
    "rules": lambda: draw_rules_before_and_after(spots(5), [RuleSpot(0.3, 2, False)], 0.6, 2),
    "many rules": lambda: draw_rules_before_and_after(spots(5000), [], 0.6, 10),
    "exposure": lambda: draw_exposure_by_column([ColumnExposure(HOSTILE, 3, 2, 1)]),
    "curve": lambda: draw_blanking_curve([(1, 545), (30, 1320)], 1),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_svg_that_stands_alone_in_the_pages_colours(name: str) -> None:
    svg = PICTURES[name]()
    assert svg.startswith("<svg") and "<script" not in svg
    assert not re.search(r"https?://|url\(|<image", svg)
    colours = set(re.findall(r'(?:fill|stroke)="(#[0-9a-fA-F]{6})"', svg))
    assert colours <= {light for light, _ in PALETTE.values()}
    assert not re.search(r'(?:fill|stroke)="(?:rgb|black|white|red)', svg)


def test_a_small_map_has_a_square_for_each_hidden_entry() -> None:
    private, derived = masks(ROWS_ALONE, 2)
    svg = draw_blanked_map(["a", "b"], private, derived)
    legend = 1
    assert filled(svg, PRIVATE) == int(private.sum()) + legend
    assert filled(svg, BLANKED) == int(derived.sum()) + legend
    assert "Each square is one entry." in svg


def test_a_large_map_has_bands() -> None:
    private, derived = masks(10_000, 2)
    svg = draw_blanked_map(["a", "b"], private, derived)
    assert filled(svg, PRIVATE) == filled(svg, BLANKED) == BANDS + 1
    assert "Each band: about 278 rows" in svg


def test_a_wide_map_shows_the_busiest_columns() -> None:
    private = np.zeros((50, COLUMNS + 5), dtype=bool)
    private[:, -1] = True
    svg = draw_blanked_map([f"c{index}" for index in range(COLUMNS + 5)], private, private & False)
    assert ">c34<" in svg and ">c29<" not in svg and f"The {COLUMNS} columns" in svg


def test_maps_of_nothing_can_be_drawn() -> None:
    empty_mask = np.zeros((5, 2), dtype=bool)
    assert filled(draw_blanked_map(["a", "b"], empty_mask, empty_mask), BLANKED) <= 1
    assert draw_blanked_map(["a"], np.zeros((0, 1), dtype=bool), np.zeros((0, 1), dtype=bool)).startswith("<svg")


def test_rules_are_counted_and_their_end_is_said() -> None:
    svg = draw_rules_before_and_after(spots(8), [], 0.6, 2)
    assert "before: 8 rules" in svg and "after: 0 rules" in svg and "no such rule is left" in svg
    assert filled(svg, WARN) == 8


def test_harmless_rules_have_another_sign_and_colour() -> None:
    svg = draw_rules_before_and_after([RuleSpot(1, 4)], [RuleSpot(1, 4, adversarial=False)], 0.6, 2)
    assert "predicts a private entry" in svg and "harmless" in svg
    shapes = {
        colour: set(re.findall(rf'd="(M[^"]+)"[^>]*fill="{colour}"|fill="{colour}"[^>]*d="(M[^"]+)"', svg))
        for colour in (WARN, BLANKED)
    }
    assert shapes[WARN] and shapes[BLANKED] and not shapes[WARN] & shapes[BLANKED]


def test_many_rules_are_gathered() -> None:
    svg = draw_rules_before_and_after(spots(20 * SPOTS), [], 0.6, 10)
    assert 0 < filled(svg, WARN) <= SPOTS
    assert "A larger spot stands for more rules." in svg


@pytest.mark.parametrize("confidence", [0.6, 1.0])
def test_squares_never_lie_across_a_threshold(confidence: float) -> None:
    from sfumato.report.pictures.rule_pictures import _PanelFrame

    all_of_them = [RuleSpot(confidence, 10), RuleSpot(confidence - 0.001, 9), RuleSpot(1.0, 5000), RuleSpot(0.0, 1)]
    frame = _PanelFrame.of(all_of_them, confidence, 10)
    for spot in all_of_them:
        x, y = frame.snap_spot(spot.confidence, spot.support)
        assert (x >= confidence) == (spot.confidence >= confidence)
        assert (y >= 10) == (spot.support >= 10)


def test_exposure_tells_each_number() -> None:
    svg = draw_exposure_by_column([ColumnExposure("salary", 120, 34, 56), ColumnExposure("sex", 0, 0, 7)])
    for number in ("120", "34", "56", "7"):
        assert f">{number}<" in svg
    assert filled(svg, WARN) >= 1


def test_the_curve_marks_the_factor_that_was_used() -> None:
    assert filled(draw_blanking_curve([(1, 545), (30, 1320)], 30), WARN) == 1
    assert filled(draw_blanking_curve([(1, 545), (30, 1320)]), WARN) == 0
    assert ">1,320<" in draw_blanking_curve([(1, 545), (30, 1320)])
