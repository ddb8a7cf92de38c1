# SPDX-License-Identifier: MIT
"""Natural mistakes with sequences, points and regions: what is wrong, where, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.data.cells.time_columns import explain_no_times
from tests.command_line import Invoke

POINTS = {"id": [1, 1], "time": [0, 1], "x": [0, 9], "y": [0, 9]}
WALKS = sf.Sequences.of([["home", "work"], ["home", "clinic"]])
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 0]]


def write_features(path: Path, *features: dict[str, object]) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return path


def make_feature(kind: str, **properties: str) -> dict[str, object]:
    shape = {"type": kind, "coordinates": [SQUARE] if kind == "Polygon" else [0, 0]}
    return {"type": "Feature", "geometry": shape, "properties": properties}


def test_polygons_of_one_name_and_without_a_name_are_refused(tmp_path: Path) -> None:
    file = write_features(tmp_path / "areas.geojson", *(make_feature("Polygon", name=name) for name in "aab"))
    with pytest.raises(sf.DataError, match="2 of 3 polygons share their name with another"):
        sf.Polygons.read(file)
    unnamed = make_feature("Polygon") | {"properties": {"name": None}}
    with pytest.raises(sf.DataError, match='1 of 2 polygons have no property "name"'):
        sf.Polygons.read(write_features(file, make_feature("Polygon", name="a"), unnamed))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sf.Cells({"a": (0, 0), "b": (1, "x")}), "each as (x, y)"),  # type: ignore[dict-item]
        (lambda: sf.Cells({"a": (0, 0), "b": (1, 2, 3)}), "each as (x, y)"),  # type: ignore[dict-item]
        (lambda: sf.Cells({"a": (0, 0)}, reach=-1), "reach must be a number above 0"),
        (lambda: sf.Polygons({"a": [(0, 0), (1, 1), (2,)]}), 'polygon "a" needs three or more corners'),  # type: ignore[list-item]
        (lambda: sf.Grid("2", 2), "whole numbers"),  # type: ignore[arg-type]
        (lambda: sf.Grid(2.5, 2), "whole numbers"),  # type: ignore[arg-type]
        (lambda: sf.Grid(2, 2, (0, 0, 1)), "3 numbers are given"),  # type: ignore[arg-type]
        (lambda: sf.Sequences.from_points(POINTS, "grid"), "regions must be sf.Grid"),  # type: ignore[arg-type]
        (
            lambda: sf.Sequences.from_points(POINTS, sf.DenseRegions(sf.Grid(10**6, 10**6))),
            "1,000,000 × 1,000,000 cells are too many",
        ),
        (lambda: sf.attack.SequenceRemining(threshold=1.5), "at most 1"),
        (lambda: sf.mine.frequent_subsequences([["a"]], 1), "Sequences are expected, not list; make them with"),  # type: ignore[arg-type]
        (lambda: sf.mine.support(sf.Baskets.of([["a"]]), ["a"]), "Sequences are expected, not Baskets"),  # type: ignore[arg-type]
        (lambda: sf.measure.pattern_changes([["a"]], WALKS, 1), "Sequences are expected, not list"),  # type: ignore[arg-type]
        (lambda: sf.measure.flow_counts(WALKS, [["a"]]), "Sequences are expected, not list"),  # type: ignore[arg-type]
        (
            lambda: sf.HideSequences(patterns=[["a"]], threshold=0, mark="replace", min_support=1).protect(
                sf.Sequences.of([["a", "Δ"]])
            ),
            "Δ is an item of the data",
        ),
    ],
)
def test_other_data_and_numbers_are_refused_in_words(make: Callable[[], object], message: str) -> None:
    with pytest.raises(sf.SfumatoError, match=re.escape(message)):
        make()


def test_a_centre_may_be_a_list() -> None:
    cells = sf.Cells({"a": [0, 0], "b": [10, 10]})  # type: ignore[dict-item]
    assert sf.Sequences.from_points(POINTS, cells).to_lists() == [["a", "b"]]


def test_files_of_polygons_say_what_is_wrong_with_them(tmp_path: Path) -> None:
    file = tmp_path / "areas.geojson"
    for content, message in (
        ("name,x,y\n", "not a GeoJSON collection"),
        ("{}", "not a GeoJSON collection"),
    ):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(sf.DataError, match=f"areas.geojson: {message}"):
            sf.Polygons.read(file)
    for features, message in (
        ((), "the collection has no polygon"),
        ((make_feature("Point", name="a"), make_feature("Polygon", name="b")), "1 of 2 features are not polygons"),
        ((make_feature("Polygon", label="a", code="b"),), '1 of 1 polygons have no property "name"; .*"code", "label"'),
    ):
        with pytest.raises(sf.DataError, match=f"areas.geojson: {message}"):
            sf.Polygons.read(write_features(file, *features))
    assert list(sf.Polygons.read(write_features(file, make_feature("Polygon", name="a"))).rings) == ["a"]


def test_centres_have_names_and_places_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "centres.csv"
    for text, message in (
        ("name,x,y\na,1,2\n,3,4\n", "1 of 2 centres lack a name or a number"),
        ("name,x,y\na,1,2\na,3,4\n", "2 of 2 centres share their name"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(sf.DataError, match=message):
            sf.Cells.read(file)
    with pytest.raises(sf.PolicyError, match="two centres are at the same place"):
        sf.Cells({"a": (1, 2), "b": (1, 2)})


@pytest.mark.parametrize(
    ("cells", "location"),
    [
        (["01:00", "02:00", "soon", "3:30"], "1 of 4 rows, first in row 2"),
        (["2024-05-01", "soon", "2024-05-03"], "1 of 3 rows, first in row 1"),
        (["1", "x", "3", "y"], "2 of 4 rows, first in row 1"),
    ],
)
def test_what_is_no_time_is_counted_as_the_others_are_read(cells: list[str], location: str) -> None:
    column = sf.Table.of({"time": cells}).frame["time"]
    assert f"is not a valid time in {location}" in str(explain_no_times("a.csv", column))


def test_a_misspelt_item_is_found_by_the_number_of_its_pattern() -> None:
    method = sf.HideSequences(patterns=[["home", "work"], ["home", "wrok"]], threshold=0)
    with pytest.raises(sf.PolicyError, match="an item that no sequence holds, in pattern 2 of 2"):
        method.protect(WALKS)


def test_delta_is_the_mark_that_was_meant() -> None:
    with pytest.raises(sf.PolicyError, match='did you mean "Δ"'):
        sf.HideSequences(patterns=[["home"]], threshold=0, mark="delta")


def test_only_the_columns_that_are_missing_are_named(tmp_path: Path) -> None:
    file = tmp_path / "walks.csv"
    file.write_text("person,place,hour\n1,home,7\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match='the header lacks "persn";'):
        sf.Sequences.read(file, id="persn", item="place", time="hour")


def test_points_and_repeated_columns_are_told(tmp_path: Path) -> None:
    file = tmp_path / "walks.csv"
    file.write_text("id,time,x,y\n1,1,2,3\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match=r'lacks "item"; .* for points with x and y, add \[data.points\]'):
        sf.Sequences.read(file, "long")
    file.write_text("id,item,time,time\n1,a,2,3\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match='the header names "time" more than once'):
        sf.Sequences.read(file, "long")


def test_bounds_in_degrees_are_degrees(invoke: Invoke, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("id,time,x,y\n1,1,2,3\n1,2,2,4\n", encoding="utf-8")
    words = ("regions", file, "--coordinates", "degrees", "--out", tmp_path / "out.txt")
    ran = invoke(*words, "--bounds=-500,0,10,10")
    assert ran.code == 2 and "longitudes from -180 to 180" in " ".join(ran.err.split())
    assert invoke(*words, "--bounds=-10,0,10,10").code == 0


def test_an_attack_needs_a_folder_and_a_policy(invoke: Invoke) -> None:
    ran = invoke("attack", "policy.toml")
    assert ran.code == 2 and "sfumato attack out policy.toml" in " ".join(ran.err.split())


@pytest.mark.parametrize("threshold", [5, 0])
def test_a_run_says_if_nothing_was_hidden(threshold: int) -> None:
    run = sf.run(WALKS, sf.HideSequences(patterns=[["home", "work"]], threshold=threshold))
    notices = [line for line in run.record["advice"] if line.startswith("Nothing was changed")]
    assert len(notices) == (threshold == 5)


def test_items_are_found_by_their_text() -> None:
    numbers = sf.Sequences.of([[1, 2, 3]] * 4 + [[3, 2]])
    marked = sf.HideSequences(patterns=[[1, 3]], threshold=1, mark="Δ").protect(numbers).data
    assert [sf.mine.support(marked, pattern) for pattern in ([1, 3], ["1", "3"], [2], [9])] == [1, 1, 5, 0]
