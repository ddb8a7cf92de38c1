# SPDX-License-Identifier: MIT
"""Points to sequences of regions: grids, dense regions, polygons, cells; splits, order, and what is refused."""

from __future__ import annotations

import json
import os
from datetime import datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.generators.movements import generate_cars, generate_trucks
from sfumato.data.places.regions import Bounds
from sfumato.data.places.trajectories import map_points_to_regions

POINTS = {
    "id": [7, 7, 7, 7, 3, 3],
    "time": [30, 10, 20, 40, 5, 6],
    "x": [9.0, 0.0, 0.5, 10.0, 0.0, 9.9],
    "y": [9.0, 0.0, 0.5, 10.0, 9.9, 0.1],
}


def test_a_grid_orders_points_by_time_and_merges_repeats() -> None:
    sequences = sf.Sequences.from_points(POINTS, sf.Grid(2, 2, (0, 0, 10, 10)))
    assert sequences.to_lists() == [["r0c0", "r1c1"], ["r1c0", "r0c1"]]
    assert sequences.ids == (7, 3)
    assert map_points_to_regions(POINTS, sf.Grid(2, 2), merge_repeats=False).visits.size == 6


def test_points_outside_the_bounds_are_left_out() -> None:
    mapping = map_points_to_regions(POINTS, sf.Grid(1, 1, Bounds(0, 0, 1, 1)))
    assert (mapping.points, mapping.left_out, mapping.offsets.tolist()) == (6, 4, [0, 1, 1])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_files_of_every_kind_give_the_same(suffix: str, tmp_path: Path) -> None:
    frame, path = pl.DataFrame(POINTS).rename({"id": "car"}), tmp_path / f"points.{suffix}"
    if suffix == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if suffix == "tsv" else ",")
    grid = sf.Grid(2, 2, (0, 0, 10, 10))
    assert sf.Sequences.from_points(path, grid, id="car") == sf.Sequences.from_points(POINTS, grid)


def test_trajectories_are_split_by_day_and_by_pauses() -> None:
    begin = datetime(2024, 3, 1, 23, 50)
    times = [begin + timedelta(minutes=minutes) for minutes in (0, 5, 15, 20, 200)]
    points = {"id": ["a"] * 5, "time": times, "x": [0, 1, 0, 1, 0], "y": [0] * 5}
    grid = sf.Grid(2, 1, (0, -1, 1, 1))
    days = sf.Sequences.from_points(points, grid, split="day")
    assert (days.ids, days.to_lists()) == (("a 1", "a 2"), [["r0c0", "r0c1"], ["r0c0", "r0c1", "r0c0"]])
    pauses = sf.Sequences.from_points(points, grid, split=3600)
    assert pauses.to_lists() == [["r0c0", "r0c1", "r0c0", "r0c1"], ["r0c0"]]
    as_text = {**points, "time": [time.isoformat() for time in times]}
    assert sf.Sequences.from_points(as_text, grid, split="day") == days
    with pytest.raises(sf.PolicyError, match="split must be"):
        sf.Sequences.from_points(points, grid, split=-1)


def test_dense_regions_join_neighbours_and_leave_out_the_rest() -> None:
    points = pl.DataFrame(
        {
            "id": [owner for owner in range(4) for _ in range(4)],
            "time": list(range(4)) * 4,
            "x": [0.5, 1.5, 5.5, 8.5] * 3 + [0.5, 1.5, 3.5, 8.5],
            "y": [0.5, 0.5, 5.5, 8.5] * 3 + [0.5, 0.5, 7.5, 9.9],
        }
    )
    regions = sf.DenseRegions(sf.Grid(10, 10, (0, 0, 10, 10)), min_share=0.75)
    sequences = sf.Sequences.from_points(points, regions)
    assert sequences.to_lists() == [["r0c0", "r5c5", "r8c8"]] * 3 + [["r0c0"]]
    single_regions = sf.DenseRegions(sf.Grid(10, 10, (0, 0, 10, 10)), min_share=0.75, merge=False)
    assert sf.Sequences.from_points(points, single_regions).to_lists()[3] == ["r0c0", "r0c1"]
    with pytest.raises(sf.DataError, match="no cell is dense"):
        sf.Sequences.from_points({"id": [1, 2], "time": [1, 1], "x": [0, 1], "y": [0, 1]}, sf.DenseRegions(min_share=1))


def test_polygons_and_cells(tmp_path: Path) -> None:
    rings = {"low": [(-1, -1), (11, -1), (11, 5), (-1, 5)], "corner": [(8, 8), (11, 8), (11, 12)]}
    sequences = sf.Sequences.from_points(POINTS, sf.Polygons(rings))
    assert sequences.to_lists() == [["low", "corner"], ["low"]]
    features = [
        {"properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [list(map(list, ring))]}}
        for name, ring in rings.items()
    ]
    file = tmp_path / "areas.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert sf.Sequences.from_points(POINTS, sf.Polygons.read(file)) == sequences
    with pytest.raises(sf.DataError, match='property "label"'):
        sf.Polygons.read(file, name="label")
    centres = {"west": (0.0, 5.0), "east": (10.0, 5.0)}
    assert sf.Sequences.from_points(POINTS, sf.Cells(centres)).to_lists() == [["west", "east"]] * 2
    assert sf.Sequences.from_points(POINTS, sf.Cells(centres, reach=4.6)).to_lists() == [["west", "east"], []]


def test_times_of_day_and_durations_are_seconds(tmp_path: Path) -> None:
    day = {"id": [1, 1, 1], "x": [0, 10, 0], "y": [0, 10, 0]}
    times = [time(8), time(8, 1), time(12)]
    lengths = [timedelta(hours=clock_time.hour, minutes=clock_time.minute) for clock_time in times]
    for column in (times, lengths):
        frame = pl.DataFrame(day | {"time": column})
        frame.write_parquet(tmp_path / "day.parquet")
        for points in (frame, tmp_path / "day.parquet"):
            trips = sf.Sequences.from_points(points, sf.Grid(2, 2), split=3600)
            assert trips.to_lists() == [["r0c0", "r1c1"], ["r0c0"]]


def test_nearest_centres_on_the_globe() -> None:
    points = {"id": [1, 1, 2, 2], "time": [0, 1, 0, 1], "x": [-179.9, 0.0, 90.0, 10.0], "y": [0.0, 89.0, 89.5, 60.0]}
    centres = {"Fiji": (179.0, 0.0), "Gulf": (0.0, 0.0), "pole": (-120.0, 89.0)}
    # The last is about 31 degrees from the centre near the pole and 60 from the Gulf; repeats are merged.
    placed = sf.Sequences.from_points(points, sf.Cells(centres), coordinates="degrees")
    assert placed.to_lists() == [["Fiji", "pole"], ["pole"]]
    near_cells = sf.Cells(centres, reach=123_000)  # 1.1 degrees along the equator are 122,315 m
    sequences = sf.Sequences.from_points(points, near_cells, coordinates="degrees")
    assert sequences.to_lists() == [["Fiji"], []]
    with pytest.raises(sf.PolicyError, match="1 of 2 centres are not valid degrees"):
        sf.Sequences.from_points(points, sf.Cells({"a": (5, 5), "b": (700, 5)}), coordinates="degrees")


def test_cells_of_a_grid_in_metres_on_the_earth() -> None:
    points = {"id": [1, 1], "time": [0, 1], "x": [23.70, 23.80], "y": [37.9, 38.0]}
    grid = sf.Grid(cell=1000.0)
    sequences = sf.Sequences.from_points(points, grid, coordinates="degrees")
    # A tenth of a degree is 11.1 km north and, at 38 degrees, 8.8 km east.
    assert sequences.to_lists() == [["r0c0", "r11c8"]]


@pytest.mark.parametrize(
    ("change", "arguments", "sentence"),
    [
        ({"x": [200.0] * 6}, {"coordinates": "degrees"}, "6 of 6 points are not valid degrees"),
        ({"x": [38.0] * 6, "y": [120.0] * 6}, {"coordinates": "degrees"}, "if x and y were exchanged"),
        ({}, {"coordinates": "metres"}, "look like degrees"),
        ({"x": [1e9] * 6}, {"coordinates": "metres"}, "outside the valid range"),
        ({"x": [None] * 6}, {}, '"x" is not a finite number in 6 of 6 rows'),
        ({"y": [0.0, float("nan"), 0, 0, 0, 0]}, {}, "first in row 1"),
        ({"id": [None, 1, 2, 3, 4, 5]}, {}, '"id" is missing in 1 of 6 rows'),
        ({"time": ["soon"] * 6}, {}, '"time" is not a valid time in 6 of 6'),
        ({"time": ["1", "2", "3", "nan", "5", "6"]}, {}, '"time" is not a valid time in 1 of 6 rows, first in row 3'),
        ({"time": ["05/01/2024 8:00"] * 6}, {}, "with ambiguous day and month; write times as 2009-06-30"),
    ],
)
def test_bad_points_get_a_sentence(change: dict[str, Any], arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(sf.DataError, match=sentence):
        sf.Sequences.from_points({**POINTS, **change}, sf.Grid(), **arguments)


def test_points_that_all_lie_elsewhere_are_refused() -> None:
    """They gave sequences without an element, as if nobody had moved."""
    with pytest.raises(sf.DataError, match="none of 6 points lies in a region; check the regions"):
        sf.Sequences.from_points(POINTS, sf.Grid(2, 2, (5000, 5000, 6000, 6000)))


def test_bad_regions_get_a_sentence() -> None:
    for make, sentence in (
        (lambda: sf.Grid(0, 3), "at least one column"),
        (lambda: sf.Grid(cell=-1.0), "side of a cell"),
        (lambda: sf.Grid(2, 2, (1, 1, 0, 0)), "left < right"),
        (lambda: sf.Polygons({"a": [(0, 0), (1, 1)]}), "three or more corners"),
        (lambda: sf.Cells({}), "at least one centre"),
        (lambda: sf.DenseRegions(min_share=0.0), "min_share"),
    ):
        with pytest.raises(sf.PolicyError, match=sentence):
            make()
    with pytest.raises(sf.DataError, match="lacks 1 of its four columns"):
        sf.Sequences.from_points({"id": [1], "time": [1], "x": [1]}, sf.Grid())
    with pytest.raises(sf.PolicyError, match="different columns"):
        sf.Sequences.from_points(POINTS, sf.Grid(), x="y")


def test_generated_movements_have_the_published_sizes() -> None:
    """300 cars of mean length 20.1, 273 trucks of mean length 6.8, on 100 cells: Abul et al. (2007)."""
    for rows, count, mean in ((generate_cars(), 300, 20.1), (generate_trucks(), 273, 6.8)):
        sequences = sf.Sequences.of(rows)
        lengths = np.diff(sequences.offsets)
        assert len(sequences) == count and len(sequences.items) <= 100
        assert lengths.mean() == pytest.approx(mean, abs=0.4)
        assert all(a != b for row in rows for a, b in pairwise(row))
    assert generate_cars() == generate_cars() != generate_cars(seed=1)


TRACKS = Path(os.environ.get("SFUMATO_DATA", ""), "trajectories", "athens-small.csv")


@pytest.mark.skipif(not TRACKS.is_file(), reason="no real data")
def test_tracks_of_athens() -> None:
    columns: dict[str, Any] = {"id": "trip", "time": "t"}
    grid = sf.Sequences.from_points(TRACKS, sf.Grid(10, 10), coordinates="metres", **columns)
    assert len(grid) == 129 and len(grid.items) <= 100
    dense = sf.Sequences.from_points(TRACKS, sf.DenseRegions(sf.Grid(30, 30), min_share=0.1), **columns)
    assert 0 < dense.codes.size < grid.codes.size


@pytest.mark.filterwarnings("error")
def test_points_as_far_apart_as_numbers_can_be_are_placed() -> None:
    far: dict[str, list[Any]] = {
        "id": [1, 1, 1],
        "time": [1, 2, 3],
        "x": [-1e308, 0.1e308, 1e308],
        "y": [0.0, 0.0, 1.0],
    }
    assert sf.Sequences.from_points(far, sf.Grid(2, 1)).to_lists() == [["r0c0", "r0c1"]]
    near_points = {"id": [*far["id"], 2], "time": [*far["time"], 4], "x": [*far["x"], 0.5], "y": [*far["y"], 0.5]}
    assert sf.Sequences.from_points(near_points, sf.Grid(2, 1, (-1, -1, 1, 1))).to_lists() == [[], ["r0c1"]]


def test_coordinates_in_lists_may_mix_integers_and_decimals() -> None:
    points = {"id": [1, 1, 2], "time": [0, 1, 2.5], "x": [1, 3.5, 0.5], "y": [0, 1.5, 3]}
    grid = sf.Sequences.from_points(points, sf.Grid(2, 2, (0, 0, 4, 4)))
    assert grid.to_lists() == [["r0c0", "r0c1"], ["r1c0"]]
    with pytest.raises(sf.DataError, match='"x" is not a finite number in 1 of 3 rows, first in row 1'):
        sf.Sequences.from_points(points | {"x": [1, "east", 0.5]}, sf.Grid(2, 2, (0, 0, 4, 4)))


def test_a_share_of_dense_cells_is_exact() -> None:
    """0.07 of 100 trajectories are 7, though the float product is more."""
    points = {"id": list(range(100)), "time": [0] * 100, "x": [0.5] * 7 + [1.5] * 93, "y": [0.5] * 100}
    regions = sf.DenseRegions(sf.Grid(2, 1, (0, 0, 2, 1)), min_share=0.07, merge=False)
    assert sf.Sequences.from_points(points, regions).items == ("r0c0", "r0c1")
