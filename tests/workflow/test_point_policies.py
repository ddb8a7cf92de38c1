# SPDX-License-Identifier: MIT
"""Trajectories from policies and the command line: drafted, run, drawn, refused."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.commands import run_commands
from sfumato.workflow.drafts.draft_source import detect_shape

POINTS = pl.DataFrame(
    {
        "car": [1, 1, 1, 2, 2, 3, 3, 3],
        "time": [f"2024-05-0{time}" for time in ("1 08:00", "1 08:10", "2 08:00", "1 09:00", "1 09:30")]
        + [f"2024-05-0{time}" for time in ("1 07:00", "1 07:10", "1 07:50")],
        "x": [120.0, 640.0, 130.0, 150.0, 610.0, 110.0, 630.0, 600.0],
        "y": [100.0, 700.0, 120.0, 180.0, 690.0, 130.0, 310.0, 640.0],
    }
)
POLICY = """
[data]
path = "{path}"
id = "car"

[data.points]
{points}

[[protect]]
method = "anonymize_sequences"
k = 2
"""
GRID = '{ kind = "grid", columns = 2, rows = 2, bounds = [0, 0, 800, 800] }'


def read_policy(folder: Path, points: str, path: str = "points.csv") -> sf.Sequences:
    (folder / "policy.toml").write_text(POLICY.format(path=path, points=points), encoding="utf-8")
    original = sf.Policy.read(folder / "policy.toml").read_original()
    assert isinstance(original, sf.Sequences)
    return original


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    POINTS.write_csv(tmp_path / "points.csv")
    POINTS.write_parquet(tmp_path / "points.parquet")
    return tmp_path


@pytest.mark.parametrize("path", ["points.csv", "points.parquet"])
def test_a_policy_reads_points_as_python_does(folder: Path, path: str) -> None:
    regions = sf.Grid(2, 2, (0, 0, 800, 800))
    for split in ("day", 1200):
        options = f"split = {json.dumps(split)}\ncoordinates = 'metres'\nregions = {GRID}"
        expected = sf.Sequences.from_points(POINTS, regions, id="car", split=split)
        assert read_policy(folder, options, path) == expected


@pytest.mark.parametrize("split", ["", "split = 'day'\n"])
def test_a_signed_verdict_says_whether_k_counts_trips(folder: Path, split: str) -> None:
    read_policy(folder, f"{split}coordinates = 'metres'\nregions = {GRID}")
    result = sf.run(folder / "policy.toml", out=folder / "out")
    for unchecked in (result.verdict.unchecked, result.certificate.body["verdict"]["unchecked"]):
        assert any("k counts trips" in sentence for sentence in unchecked) == bool(split)


@pytest.mark.parametrize("bounds", ["", ", bounds = [0, 0, 800, 800]"])
def test_a_signed_verdict_says_whether_the_grid_tells_extremes(folder: Path, bounds: str) -> None:
    """One far point moves the names of everybody's cells."""
    read_policy(folder, f"coordinates = 'metres'\nregions = {{ kind = 'grid', cell = 400{bounds} }}")
    result = sf.run(folder / "policy.toml", out=folder / "out")
    unchecked = result.certificate.body["verdict"]["unchecked"]
    assert any("the outermost ones" in sentence for sentence in unchecked) == (not bounds)


def test_every_kind_of_region_can_be_described(folder: Path) -> None:
    corners = [[0, 0], [400, 0], [400, 400], [0, 400], [0, 0]]
    shape = {"type": "Polygon", "coordinates": [corners]}
    feature = {"type": "Feature", "properties": {"name": "south"}, "geometry": shape}
    (folder / "map.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    (folder / "masts.csv").write_text("name,x,y\nwest,100,100\neast,600,600\n")
    south = [["south"], ["south"], ["south"]]
    masts = [["west", "east", "west"], ["west", "east"], ["west", "east"]]
    kinds = {
        '{ kind = "polygons", file = "map.geojson" }': south,
        '{ kind = "polygons", rings = { south = [[0, 0], [400, 0], [400, 400], [0, 400]] } }': south,
        '{ kind = "cells", file = "masts.csv" }': masts,
        '{ kind = "cells", centres = { west = [100, 100], east = [600, 600] } }': masts,
        '{ kind = "dense", columns = 2, rows = 2, bounds = [0, 0, 800, 800], min_share = 0.9 }': [
            ["r0c0", "r1c1", "r0c0"],
            ["r0c0", "r1c1"],
            ["r0c0", "r1c1"],
        ],
    }
    for kind, expected in kinds.items():
        assert read_policy(folder, f"regions = {kind}").to_lists() == expected, kind


@pytest.mark.parametrize(
    ("points", "cure"),
    [
        ('regions = { kind = "grid", cell = 5, rows = 3 }', "instead of columns and rows"),
        ('regions = { kind = "grid", bounds = [5, 0, 1, 1] }', "left < right"),
        ('regions = { kind = "cells" }', "centres"),
        ('regions = { kind = "circles" }', "kind"),
        ('coordinates = "degrees"', "are not valid degrees"),
        ("split = -3", "split"),
        ('x = "east"', "header lacks"),
    ],
)
def test_bad_points_get_a_sentence(folder: Path, points: str, cure: str) -> None:
    with pytest.raises((sf.PolicyError, sf.DataError), match=cure):
        read_policy(folder, points)


def test_points_are_for_methods_of_sequences(folder: Path) -> None:
    text = POLICY.format(path="points.csv", points="").replace("anonymize_sequences", "generalize")
    with pytest.raises(sf.PolicyError, match="choose a method for sequences"):
        sf.Policy.parse(text.replace("k = 2", 'models = [{ model = "k_anonymity", k = 2 }]'), folder / "policy.toml")


def test_init_drafts_a_grid_that_runs_and_is_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert detect_shape(str(folder / "points.csv")) == detect_shape(str(folder / "points.parquet")) == "points"
    monkeypatch.chdir(folder)
    draft = sf.draft_policy(folder / "points.csv", out=folder / "draft.toml", k=2)
    draft.save()
    assert "bounds = [110.0, 100.0, 640.0, 700.0]" in draft.text
    result = sf.run(folder / "draft.toml", folder / "out")
    assert all(finding.holds for finding in result.findings)
    pages = [path.read_text(encoding="utf-8") for path in sorted((folder / "out").rglob("*report*.html"))]
    assert pages
    assert all("How often each region is visited" in page for page in pages)


def test_degrees_are_told_by_their_names(folder: Path) -> None:
    frame = POINTS.select("car", "time", lon=pl.col("x") / 100, lat=pl.col("y") / 100)
    frame.write_csv(folder / "earth.csv")
    assert 'coordinates = "degrees"' in sf.draft_policy(folder / "earth.csv", k=2).text


def test_regions_writes_sequences(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "regions.txt"
    command = ["sfumato", "regions", str(folder / "points.csv"), "--id", "car", "--out", str(out)]
    for words, code in (
        (["--grid", "2x2", "--bounds", "0,0,800,800", "--split", "day", "--json"], 0),
        (["--grid", "2"], 2),
    ):
        monkeypatch.setattr(sys, "argv", [*command, *words])
        with pytest.raises(SystemExit) as exit_info:
            run_commands()
        assert exit_info.value.code == code
        output = capsys.readouterr()
    assert "--grid 10x10" in output.err
    expected = sf.Sequences.from_points(POINTS, sf.Grid(2, 2, (0, 0, 800, 800)), id="car", split="day")
    assert sf.Sequences.read(out).to_lists() == expected.to_lists()


LEFT_OUT = "3 of 11 points lie in no region and were left out."


def write_points_outside(folder: Path) -> str:
    """Three more points, far from all regions."""
    outside_points = POINTS.head(3).with_columns(pl.lit(9000.0).alias("x"))
    pl.concat([POINTS, outside_points]).write_csv(folder / "points.csv")
    (folder / "policy.toml").write_text(POLICY.format(path="points.csv", points=f"regions = {GRID}"), encoding="utf-8")
    return str(folder / "policy.toml")


def test_a_run_says_how_many_points_lie_in_no_region_and_a_release_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "out"
    monkeypatch.setattr(sys, "argv", ["sfumato", "run", write_points_outside(folder), "--out", str(out)])
    with pytest.raises(SystemExit) as exit_info:
        run_commands()
    assert exit_info.value.code == 0
    assert LEFT_OUT in " ".join(capsys.readouterr().out.split())
    record = json.loads((out / "private" / "record.json").read_text(encoding="utf-8"))
    assert any(LEFT_OUT in sentence for sentence in record["found"]["advice"])
    assert LEFT_OUT in (out / "private" / "report.html").read_text(encoding="utf-8")
    published = [path.read_bytes() for path in (out / "release").rglob("*") if path.is_file()]
    assert published and not any(b"no region" in content for content in published)


def test_nothing_is_said_if_every_point_lies_in_a_region(folder: Path) -> None:
    (folder / "policy.toml").write_text(POLICY.format(path="points.csv", points=f"regions = {GRID}"), encoding="utf-8")
    result = sf.run(sf.Policy.read(folder / "policy.toml"), out=folder / "out")
    assert not any("region" in sentence for sentence in result.record["advice"])


def test_sequences_know_the_points_that_they_were_made_of(folder: Path) -> None:
    write_points_outside(folder)
    sequences = sf.Sequences.from_points(folder / "points.csv", sf.Grid(2, 2, (0, 0, 800, 800)), id="car")
    assert sequences.points == (11, 3)
    assert pickle.loads(pickle.dumps(sequences)).points == (11, 3)
    audit = sf.audit(sequences)
    assert LEFT_OUT in audit.list_sentences()
    assert audit.as_json()["points"] == {"points": 11, "left_out": 3}
    assert sf.Sequences.of([["a"]]).points is None
