# SPDX-License-Identifier: MIT
"""Visits and flows are drawn where items are cells of a grid, and nowhere else."""

from __future__ import annotations

import sfumato as sf
from sfumato.report.grid_pictures import _Cell, _list_cells, _shift, draw_grid_figures


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


def test_flows_in_both_directions_are_apart_and_keep_to_the_right() -> None:
    north, south = (_shift(*ends) for ends in ((_Cell(0, 0), _Cell(1, 0)), (_Cell(1, 0), _Cell(0, 0))))
    assert north["x"] == north["x2"] > 0 > south["x"] == south["x2"]
    assert (north["y"], north["y2"]) == (0, 1)
    still = _shift(_Cell(2, 3), _Cell(2, 3))
    assert still == {"x": 3, "y": 2, "x2": 3, "y2": 2}


def test_cells_without_a_visit_are_drawn_unless_they_are_many() -> None:
    assert len(_list_cells({"r1c2": _Cell(1, 2)})) == 6
    assert _list_cells({"r900c900": _Cell(900, 900)}) == {_Cell(900, 900)}
