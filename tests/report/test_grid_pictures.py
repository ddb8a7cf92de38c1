# SPDX-License-Identifier: MIT
"""Visits and flows are drawn where items are cells of a grid, and nowhere else."""

from __future__ import annotations

import sfumato as sf
from sfumato.report.grid_pictures import draw_grid_figures


def test_cells_are_drawn_before_and_after() -> None:
    original = sf.Sequences.of([["r0c0", "r0c1", "r1c1"], ["r0c0", "r0c1"]])
    published = sf.Sequences.of([["r0c0", "Δ", "r1c1"], ["r0c0", "r0c1"]])
    visits, flows = draw_grid_figures(published, original)
    assert visits.rows == (("r0c0", "2", "2"), ("r0c1", "2", "1"), ("r1c1", "1", "1"))
    assert flows.rows == (("r0c0", "r0c1", "2", "1"), ("r0c1", "r1c1", "1", "0"))
    assert visits.svg.count("before") and visits.head == ("Region", "Before", "After")
    assert flows.head == ("Start", "Goal", "Before", "After")


def test_the_page_that_leaves_has_the_release_alone() -> None:
    visits, flows = draw_grid_figures(sf.Sequences.of([["r0c0", "r2c3"]]))
    assert visits.rows == (("r0c0", "1"), ("r2c3", "1"))
    assert flows.rows == (("r0c0", "r2c3", "1"),)
    assert "before" not in visits.svg


def test_other_items_are_not_drawn() -> None:
    assert draw_grid_figures(sf.Sequences.of([["home", "r0c1"]])) == ()
    assert draw_grid_figures(sf.Sequences.of([[]])) == ()
