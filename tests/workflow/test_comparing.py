# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli.commands import run_commands

POLICY = """
title = "{title}"
[data]
path = "people.csv"
[roles]
identifying = ["name"]
quasi_identifying = ["age", "zip"]
sensitive = ["disease"]
[hierarchies]
age = {{ kind = "intervals", widths = [5, 10] }}
zip = {{ kind = "prefix", keep = [3] }}
[[protect]]
method = "generalize"
models = [{{ model = "k_anonymity", k = {k} }}]
suppression_limit = 0.1
[measure]
queries = 20
classify = "disease"
"""


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<html></html>")
    rows = "".join(f"n{i},{20 + i % 17},{1300 + i % 7},{'flu' if i % 3 else 'ulcer'}\n" for i in range(200))
    (tmp_path / "people.csv").write_text("name,age,zip,disease\n" + rows)
    folders = []
    for k in (2, 9):
        policy = sf.Policy.parse(POLICY.format(title=f"k = {k}", k=k), tmp_path / "policy.toml")
        folders.append(sf.run(policy, tmp_path / f"out{k}").out)
    return folders[0], folders[1]


def test_two_releases_side_by_side(releases: tuple[Path, Path]) -> None:
    comparison = sf.compare(*releases)
    assert all(verification.holds for verification in comparison.verifications)
    rows = {(row.topic, row.name): (row.first, row.second) for row in comparison.rows}
    assert rows["claim", "k_anonymity, promised"] == (2, 9)
    first, second = rows["loss", "loss"]
    assert isinstance(first, float) and isinstance(second, float)
    assert first < second
    assert ("level", "age") in rows
    assert ("attack", "linking, risk") in rows
    assert ("loss", "tree_accuracy") in rows


def test_claims_of_one_property_and_attacks_of_one_kind_are_lines_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """l-diversity of two columns, and linking by all columns and by one; with the records and without them."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<html></html>")
    rows = "".join(f"{20 + i % 2},{'flu' if i % 3 else 'ulcer'},{i % 5}\n" for i in range(60))
    (tmp_path / "people.csv").write_text("age,disease,ward\n" + rows)
    folders = []
    for wards, attacks in ((2, [{"attack": "linking"}, {"attack": "homogeneity", "share": 0.5}]), (1, [])):
        diversity = {"disease": 2, "ward": wards}
        models = [{"model": "l_diversity", "l": least, "column": column} for column, least in diversity.items()]
        policy = {
            "data": {"path": str(tmp_path / "people.csv")},
            "roles": {"quasi_identifying": ["age"], "sensitive": ["disease", "ward"]},
            "hierarchies": {"age": {"kind": "intervals", "widths": [5]}},
            "protect": [{"method": "generalize", "models": models}],
            "attack": [*attacks, {"attack": "homogeneity"}],
        }
        folders.append(sf.run(sf.Policy.model_validate(policy), tmp_path / f"l{wards}").out)
    for is_private in (True, False):
        lines = {(row.topic, row.name): (row.first, row.second) for row in sf.compare(*folders).rows}
        assert lines["claim", 'distinct_l_diversity of "disease", promised'] == (2, 2)
        assert lines["claim", 'distinct_l_diversity of "ward", promised'] == (2, 1)
        assert {name for topic, name in lines if topic == "attack" and name.endswith("at most")} == {
            "linking, at most",
            'homogeneity of "disease", "ward", at most',
            'homogeneity of "disease", "ward" (share = 0.5), at most',
        }
        if is_private:
            for folder in folders:
                (folder / "private" / "record.json").unlink()


def test_attacks_that_differ_in_private_parameters_have_lines_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The risk of finding one secret item stood beside the risk of finding another."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<html></html>")
    baskets = sf.Baskets.of([["bread", "wine"], ["bread", "milk"], ["wine"], ["bread", "wine", "milk"]] * 10)
    method = sf.HideItems(items=("wine",), min_support=0.5, min_confidence=0.5)
    folders = [
        sf.run(baskets, method, attacks=[sf.attack.ItemBreach(items=(item,))], out=tmp_path / item).out
        for item in ("wine", "milk")
    ]
    lines = {row.name: row for row in sf.compare(*folders).rows if row.topic == "attack"}
    assert [name for name in lines if name.endswith("at most")] == [
        "item_breach (items = ['wine']), at most",
        "item_breach (items = ['milk']), at most",
    ]
    (folders[0] / "private" / "record.json").unlink()
    lines = {row.name: row for row in sf.compare(*folders).rows if row.topic == "attack"}
    assert list(lines) == ["item_breach, at most"]  # no certificate says which items


def test_the_command(
    releases: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sfumato", "compare", *map(str, releases), "--json"])
    with pytest.raises(SystemExit) as ended:
        run_commands()
    assert ended.value.code == 0
    report = json.loads(capsys.readouterr().out)
    assert report["holds"] == [True, True]
    data = releases[1] / "release" / "data.csv"
    data.write_text(data.read_text().replace("flu", "cold", 1))
    monkeypatch.setattr(sys, "argv", ["sfumato", "compare", *map(str, releases)])
    with pytest.raises(SystemExit) as ended:
        run_commands()
    assert ended.value.code == 1
    assert "second: data.csv: the file was changed" in capsys.readouterr().out


def test_measuring_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text("q,s\na,x\na,y\nb,x\nb,x\n")
    monkeypatch.setattr(sys, "argv", ["sfumato", "measure", str(path), "--quasi", "q", "--sensitive", "s", "--json"])
    with pytest.raises(SystemExit) as ended:
        run_commands()
    assert ended.value.code == 0
    report = json.loads(capsys.readouterr().out)
    assert report["anonymity"]["k"] == 2
    assert report["anonymity"]["distinct_l"] == {"s": 1}
    assert report["anonymity"]["delta_disclosure"] == {"s": None}
    assert report["risk"]["prosecutor"]["highest_risk"] == 0.5


def test_budgets_of_two_columns_are_compared_whatever_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their claims name no column: they are told apart by the laws."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sfumato.report.page.render_page", lambda account: "<html></html>")
    table = sf.Table.of({"a": ["x", "y"] * 40, "b": ["u", "v"] * 40}, {"a": "sensitive", "b": "sensitive"})
    methods = [
        sf.RandomizeResponse(column=name, epsilon=epsilon, categories="from_data")
        for name, epsilon in (("a", 0.7), ("b", 1.1))
    ]
    folders = [
        sf.run(table, order, out=tmp_path / str(number)).out for number, order in enumerate((methods, methods[::-1]))
    ]
    lines = [row for row in sf.compare(*folders).rows if row.name.startswith("epsilon") and row.topic == "claim"]
    assert len(lines) >= 4 and not any(row.differs for row in lines if row.name.endswith("promised"))
