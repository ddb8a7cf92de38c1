# SPDX-License-Identifier: MIT
"""`sfumato regions` says of regions what a policy says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sfumato as sf
from tests.command_line import Invoke

POINTS = {
    "id": [1, 1, 1, 2, 2, 2],
    "time": [1, 2, 3, 1, 2, 3],
    "x": [0.5, 1.5, 8.5, 0.5, 1.5, 9.5],
    "y": [0.5, 0.5, 0.5, 0.5, 0.5, 9.5],
}
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]


@pytest.fixture(autouse=True)
def points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sf.Table.of(POINTS, dict.fromkeys(POINTS, "insensitive")).frame.write_csv("points.csv")
    Path("centres.csv").write_text("name,x,y\nhome,0,0\n", encoding="utf-8")
    feature = {
        "type": "Feature",
        "properties": {"label": "park"},
        "geometry": {"type": "Polygon", "coordinates": [SQUARE]},
    }
    Path("parks.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}), encoding="utf-8")


def list_regions(invoke: Invoke, *words: str) -> list[list[str]]:
    ran = invoke("regions", "points.csv", *words, "--out", "regions.txt")
    assert ran.code == 0, ran.err
    return [[str(item) for item in row] for row in sf.Sequences.read("regions.txt").to_lists()]


def test_neighbouring_cells_are_one_region_unless_they_are_not(invoke: Invoke) -> None:
    dense = ("--dense", "1", "--grid", "10x10", "--bounds", "0,0,10,10")
    assert list_regions(invoke, *dense) == [["r0c0"], ["r0c0"]]
    assert list_regions(invoke, *dense, "--no-merge") == [["r0c0", "r0c1"], ["r0c0", "r0c1"]]


def test_points_out_of_reach_are_left_out(invoke: Invoke) -> None:
    assert list_regions(invoke, "--cells", "centres.csv") == [["home"], ["home"]]
    ran = invoke("regions", "points.csv", "--cells", "centres.csv", "--reach", "2", "--out", "near.txt", "--json")
    assert json.loads(ran.out)["left_out"] == 2


def test_polygons_are_named_by_a_property(invoke: Invoke) -> None:
    assert list_regions(invoke, "--polygons", "parks.geojson", "--name", "label") == [["park"], ["park"]]


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (("--reach", "2"), "--reach is about cells around centres, and regions are cells of a grid; add --cells FILE"),
        (("--cells", "centres.csv", "--merge"), "add --dense SHARE, or leave it out"),
        (("--grid", "2x2", "--name", "label"), "add --polygons FILE, or leave it out"),
        (("--cells", "centres.csv", "--reach", "0"), "reach"),
    ],
)
def test_a_detail_of_other_regions_is_refused(invoke: Invoke, words: tuple[str, ...], cure: str) -> None:
    ran = invoke("regions", "points.csv", *words, "--out", "none.txt")
    assert ran.code == 2 and cure in " ".join(ran.err.split())
    assert not Path("none.txt").exists()


@pytest.mark.parametrize("name", ["map.pdf", "map.xlsx", "map.json.gz"])
def test_names_of_other_formats_are_refused(name: str, tmp_path: Path, invoke: Invoke) -> None:
    ran = invoke("regions", "points.csv", "--out", name)
    assert ran.code == 2 and "names end in .txt" in ran.err and not (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["steps.csv", "steps.txt.gz", "steps.parquet", "steps"])
def test_other_names_are_written_as_they_promise(name: str, tmp_path: Path, invoke: Invoke) -> None:
    assert invoke("regions", "points.csv", "--out", name).code == 0
    assert len(sf.Sequences.read(tmp_path / name)) == 2
