# SPDX-License-Identifier: MIT
"""Visits and flows are drawn where items are cells of a grid, and nowhere else."""

from __future__ import annotations

import re

import sfumato as sf
from sfumato.report.pictures.grid_pictures import _Cell, _choose_ticks, _list_cells, _shift, draw_grid_figures


def test_cells_are_drawn_before_and_after() -> None:
    original = sf.Sequences.of([["r0c0", "r0c1", "r1c1"], ["r0c0", "r0c1"]])
    published = sf.Sequences.of([["r0c0", "Δ", "r1c1"], ["r0c0", "r0c1"]])
    visits, flows = draw_grid_figures(published, original, "Δ")
    assert visits.rows == (("r0c0", "2", "2"), ("r0c1", "2", "1"), ("r1c1", "1", "1"))
    assert flows.rows == (("r0c0", "r0c1", "2", "1"), ("r0c1", "r1c1", "1", "0"))
    assert visits.svg.count("before") and visits.head == ("Region", "Before", "After")
    assert flows.head == ("Start", "Goal", "Before", "After")


def test_the_page_that_leaves_has_the_release_alone() -> None:
    visits, flows = draw_grid_figures(sf.Sequences.of([["r0c0", "r2c3"]]))
    assert visits.rows == (("r0c0", "1"), ("r2c3", "1"))
    assert flows.rows == (("r0c0", "r2c3", "1"),)
    assert "before" not in visits.svg


def test_the_table_has_the_largest_numbers_of_either_side() -> None:
    rare = [["r9c9"]] * 12
    common = [[f"r{row}c{column}"] for row in range(4) for column in range(5)] * 2
    visits, flows = draw_grid_figures(sf.Sequences.of(common), sf.Sequences.of(common + rare))
    assert visits.rows[0] == ("r9c9", "12", "0") and len(visits.rows) == 12
    assert visits.caption.endswith("The table lists the 12 largest numbers.")
    assert not flows.rows and "table" not in flows.caption
    few, _ = draw_grid_figures(sf.Sequences.of([["r0c0", "r0c1"]]))
    assert few.caption.endswith("The table lists all numbers.")


def test_other_items_are_not_drawn() -> None:
    assert draw_grid_figures(sf.Sequences.of([["home", "r0c1"]])) == ()
    assert draw_grid_figures(sf.Sequences.of([[]])) == ()


def test_flows_in_both_directions_are_apart_and_keep_to_the_right() -> None:
    north, south = (_shift(*ends) for ends in ((_Cell(0, 0), _Cell(1, 0)), (_Cell(1, 0), _Cell(0, 0))))
    assert north["x"] == north["x2"] > 0 > south["x"] == south["x2"]
    assert (north["y"], north["y2"]) == (0, 1)
    still = _shift(_Cell(2, 3), _Cell(2, 3))
    assert (still["x"], still["y"], still["x2"], still["y2"]) == (3, 2, 3, 2)


def test_heads_of_arrows_point_to_the_goal() -> None:
    start_cell = _Cell(1, 1)
    goals = {"north": _Cell(2, 1), "east": _Cell(1, 2), "south": _Cell(0, 1), "west": _Cell(1, 0)}
    turned = {name: _shift(start_cell, goal)["angle"] % 360 for name, goal in goals.items()}
    assert turned == {"north": 0, "east": 90, "south": 180, "west": 270}
    head = _shift(start_cell, goals["east"])
    assert head["x"] < head["head_x"] < head["x2"] and head["head_y"] == head["y"]


def test_cells_are_square_and_legends_begin_above_zero() -> None:
    for wide in draw_grid_figures(sf.Sequences.of([["r0c0", "r0c7"]] * 3)):
        size = re.search(r'width="([\d.]+)" height="([\d.]+)"', wide.svg)
        assert size and float(size[1]) > 3 * float(size[2])
    assert [_choose_ticks(largest) for largest in (1, 3, 23, 400)] == [
        [1],
        [1, 2, 3],
        [5, 10, 15, 20],
        [100, 200, 300, 400],
    ]


def test_cells_without_a_visit_are_drawn_unless_they_are_many() -> None:
    assert len(_list_cells({"r1c2": _Cell(1, 2)})) == 6
    assert _list_cells({"r900c900": _Cell(900, 900)}) == {_Cell(900, 900)}
