# SPDX-License-Identifier: MIT
"""Trees from the command line: encode, grow C4.5 on the release, decode with the key."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier

import sfumato as sf
from sfumato.cli.tree_commands import TreeOptions, count_nodes, grow_printed_tree, print_tree
from sfumato.mine.codes.c45 import train_c45
from sfumato.mine.codes.tree_files import read_tree
from tests.command_line import Invoke

POLICY = """
[data]
path = "people.csv"

[roles]
identifying = ["name"]
insensitive = ["age", "job", "risk"]

[[protect]]
method = "encode_for_trees"
target = "risk"

[accept]
age = "codes"
job = "codes"
risk = "codes"

[output]
path = "out"
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    lot = np.random.default_rng(1)
    age = lot.integers(18, 80, 120)
    job = lot.choice(["clerk", "nurse\ncook", "pilot"], 120)
    high = (age > 50) ^ (job == "pilot") ^ (lot.random(120) < 0.05)
    columns = {"name": [f"n{index}" for index in range(120)], "age": age, "job": job, "risk": np.where(high, "h", "l")}
    pl.DataFrame(columns).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def test_the_whole_way(people: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(people / "home"))
    monkeypatch.chdir(people)
    sf.run("policy.toml")
    output = invoke("mine", "out/release", "--target", "risk", "--learner", "c45", "--out", "tree.json").out
    assert "class " in output and "pilot" not in output and "Written to tree.json." in output
    key = next((people / "out/private").glob("*.key.json"))
    decoded = invoke("decode", "tree.json", key, "people.csv", "--out", "decoded.json").out
    table = sf.Table.read(
        "people.csv", roles={"name": "identifying"} | dict.fromkeys(("age", "job", "risk"), "insensitive")
    )
    direct = train_c45(table, "risk")
    assert decoded.splitlines()[:-1] == direct.spell_rules().splitlines()
    assert "job = nurse\\ncook" in decoded
    assert read_tree("decoded.json").spell_rules() == direct.spell_rules()
    assert count_nodes(direct) == len(direct.nodes)


def test_settings_and_mistakes(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, leaves = str(people / "people.csv"), []
    for options in (TreeOptions("c45", 2, 1.0, None), TreeOptions("c45", 30, 0.25, None)):
        grow_printed_tree(data, "risk", options, None, as_json=True)
        leaves.append(json.loads(capsys.readouterr().out)["leaves"])
    assert leaves[0] > leaves[1]
    for learner, target, message in (
        ("c45", None, "--learner needs --target"),
        ("c99", "risk", "no such --learner; give c45"),
        ("c45", "danger", "is not a column of the table"),
    ):
        with pytest.raises(sf.PolicyError, match=message):
            grow_printed_tree(data, target, TreeOptions(learner, 2, 0.25, None), None, as_json=True)


def test_several_trees_are_only_counted(capsys: pytest.CaptureFixture[str]) -> None:
    forest = RandomForestClassifier(2, max_depth=1, random_state=0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    print_tree(forest, ["x"], Path("there.json"))
    assert capsys.readouterr().out == f"A forest of {count_nodes(forest)} nodes.\nWritten to there.json.\n"
