# SPDX-License-Identifier: MIT
"""Files with one event in each row: whoever reads them as a table or as baskets is told how to keep their order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.workflow.drafts.draft_source import DraftSource, LongColumns
from sfumato.workflow.drafts.event_columns import find_ignored_time, find_time_column

WALKS = [("home", "bus", "work"), ("home", "work", "gym"), ("home", "school")]
ROWS = [(person, location, 7 + hour) for person in range(24) for hour, location in enumerate(WALKS[person % 3])]
BASKETS = """
[data]
path = "{path}"
{columns}
[[protect]]
method = "publish_patterns"
min_support = 6
k = 6

[output]
path = "out"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(ROWS, schema=["id", "item", "time"], orient="row")
    frame.write_csv("events.csv")
    frame.drop("time").write_csv("baskets.csv")
    visits = frame.rename({"id": "person", "item": "place", "time": "hour"})
    visits.write_csv("visits.csv")
    visits.write_parquet("visits.parquet")
    visits.with_columns(pl.lit("x").alias("shop floor")).write_csv("more.csv")
    return tmp_path


def test_a_table_of_events_is_noted_with_the_command_that_reads_sequences(folder: Path) -> None:
    [note] = [note for note in sf.draft_policy("visits.csv").notes if "events" in note]
    assert note.endswith("draft again: sfumato init visits.csv --id person --item place --time hour")
    [note] = [note for note in sf.draft_policy("more.csv").notes if "events" in note]
    assert note.endswith("sfumato init more.csv --id person --item COLUMN --time hour")
    pl.DataFrame(ROWS[::3], schema=["person", "place", "hour"], orient="row").unique("person").write_csv("once.csv")
    assert not [note for note in sf.draft_policy("once.csv").notes if "events" in note]


@pytest.mark.parametrize("file", ["visits.csv", "visits.parquet"])
def test_named_columns_draft_sequences_that_run(folder: Path, invoke: Callable[..., Any], file: str) -> None:
    ran = invoke("init", file, "--yes", "--id", "person", "--item", "place", "--time", "hour")
    assert ran.code == 0, ran.output
    text = Path("policy.toml").read_text(encoding="utf-8")
    assert 'id = "person"\nitem = "place"\ntime = "hour"' in text
    result = sf.run(sf.Policy.read("policy.toml"), "out")
    assert [finding.property for finding in result.findings] == ["sequence_anonymity", "original_support"]
    assert len(result.release.data) == 24


def test_named_columns_without_a_time_draft_baskets_with_a_note(folder: Path) -> None:
    source = DraftSource.of("visits.csv", columns=LongColumns("person", "place"))
    assert source.shape == "baskets"
    assert len(source.baskets) == 24
    [note] = sf.draft_policy(source).notes
    assert note.endswith("draft again with --shape sequences --time hour")
    assert sf.draft_policy("baskets.csv").notes == ()
    assert DraftSource.of("events.csv", columns=LongColumns(item="item")).shape == "sequences"


def test_points_of_other_names_need_only_their_id_and_time(folder: Path, invoke: Callable[..., Any]) -> None:
    points = [(person, hour, 10.0 * person, 5.0 * hour) for person in range(8) for hour in range(4)]
    pl.DataFrame(points, schema=["driver", "moment", "x", "y"], orient="row").write_csv("points.csv")
    assert invoke("init", "points.csv", "--yes", "--shape", "points", "--out", "a.toml").code == 2
    ran = invoke("init", "points.csv", "--yes", "--id", "driver", "--time", "moment", "--k", "2", "--out", "b.toml")
    assert ran.code == 0, ran.output
    assert sf.Policy.read("b.toml").data.id == "driver"
    assert sf.Policy.read("b.toml").data.points is not None


def test_audit_says_what_the_next_command_is(folder: Path, invoke: Callable[..., Any]) -> None:
    ran = invoke("audit", "visits.csv")
    assert "Note: The rows look like events" in ran.out.replace("\n", " ")
    ran = invoke("audit", "visits.csv", "--id", "person", "--item", "place", "--time", "hour")
    assert ran.out.strip().endswith("sfumato init visits.csv --id person --item place --time hour")


def test_mining_baskets_says_that_the_order_is_not_used(folder: Path, invoke: Callable[..., Any]) -> None:
    ran = invoke("mine", "events.csv", "--min-support", "8")
    assert ran.code == 0
    assert 'events.csv has a column "time" and was read as baskets' in ran.err
    assert ran.err.strip().endswith("to keep the order: --sequences")
    ran = invoke("mine", "visits.csv", "--id", "person", "--item", "place", "--json")
    assert ran.err.strip().endswith("--sequences --time hour")
    for words in (("baskets.csv",), ("events.csv", "--sequences")):
        assert "order" not in invoke("mine", *words, "--min-support", "8").err


@pytest.mark.parametrize(("option", "value"), [("--max-gap", "1"), ("--window", "3"), ("--time", "hour")])
def test_limits_of_sequences_are_not_ignored_in_baskets(
    folder: Path, invoke: Callable[..., Any], option: str, value: str
) -> None:
    ran = invoke("mine", "baskets.csv", option, value)
    assert ran.code == 2
    assert f"{option} is about sequences, and the file is read as baskets; add --sequences" in ran.err.replace(
        "\n", " "
    )


def test_a_run_on_baskets_advises_to_keep_the_order(folder: Path) -> None:
    policy = sf.Policy.parse(BASKETS.format(path="events.csv", columns=""), folder / "policy.toml")
    result = sf.run(policy)
    assert any('column "time", which was not read' in sentence for sentence in result.record["advice"])
    assert "which was not read" in (result.out / "private" / "report.html").read_text(encoding="utf-8")
    assert "which was not read" not in (result.out / "release" / "report.html").read_text(encoding="utf-8")
    plain = sf.Policy.parse(BASKETS.format(path="baskets.csv", columns=""), folder / "plain.toml")
    assert not any("not read" in sentence for sentence in sf.run(plain, folder / "plain").record["advice"])


def test_a_time_column_is_told_by_its_name_in_a_file_of_the_long_form_only(folder: Path) -> None:
    assert find_time_column(["Place", " Timestamp "]) == " Timestamp "
    assert find_time_column(["timely", "overtime"]) is None
    assert find_ignored_time("events.csv", "id", "item") == "time"
    assert find_ignored_time("visits.parquet", "person", "place") == "hour"
    assert find_ignored_time("events.csv", "id", "thing") is None
    assert find_ignored_time("nothing.csv", "id", "item") is None
    assert find_ignored_time("sqlite:///x.db?table=t", "id", "item") is None


def test_regions_says_how_many_points_it_left_out(folder: Path, invoke: Callable[..., Any]) -> None:
    Path("points.csv").write_text("id,time,x,y\n1,1,5,5\n1,2,50,50\n2,1,6,6\n", encoding="utf-8")
    ran = invoke("regions", "points.csv", "--bounds", "0,0,10,10", "--out", "regions.txt")
    assert "1 of 3 points lies in no region and was left out." in ran.out
    assert json.loads(invoke("regions", "points.csv", "--out", "all.txt", "--json").out)["left_out"] == 0
    ran = invoke("regions", "points.csv", "--bounds", "90,90,99,99", "--out", "none.txt")
    assert ran.code == 2
    assert "none of 3 points lies in a region" in ran.err
    assert not Path("none.txt").exists()
    for words in (("--grid", "0x3"), ("--bounds", "9,9,0,0")):
        ran = invoke("regions", "points.csv", *words, "--out", "none.txt")
        assert ran.code == 2
        assert "PointsSection" not in ran.err
