# SPDX-License-Identifier: MIT
"""Randomized baskets from a policy to an analyst's estimates, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.commands import app

POLICY = """
[data]
path = "shop.dat"

[[protect]]
method = "randomize_baskets"
{method}

[[attack]]
attack = "item_breach"
prior = 0.8
posterior = 0.9
"""
MASK = 'keep = { "*" = 0.9, "3" = 0.8 }\nadd = 0.1\nitems = [1, 2, 3, 7]'
PASTE = 'operator = "cut_and_paste"\ncutoff = 2\nlevel = 0.1\nitems = "from_data"'


@pytest.fixture(scope="module", params=[MASK, PASTE], ids=["mask", "cut and paste"])
def run_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.dat").write_text("1 2\n1 2 3\n3\n1 2 7\n2\n" * 60)
    (folder / "policy.toml").write_text(POLICY.format(method=request.param))
    return sf.run(sf.Policy.read(folder / "policy.toml"), out=folder / "out").out


def invoke(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_release_verifies_and_can_be_mined(run_folder: Path) -> None:
    assert sf.verify(run_folder).holds
    release = sf.read_release(run_folder)
    estimates = sf.mine.estimate_itemsets(release, 0.3)
    assert {1, 2} <= {items[0] for items in estimates["items"] if len(items) == 1}
    report = json.loads(invoke("mine", run_folder, "--min-support", "0.3", "--json").stdout)
    assert report["rows"] == estimates.to_dicts()
    assert "What can be estimated" in (run_folder / "release" / "report.html").read_text(encoding="utf-8")


def test_the_file_alone_is_mined_with_a_warning(run_folder: Path, tmp_path: Path) -> None:
    ran = invoke("mine", run_folder / "release" / "data.dat", "--min-support", "0.3", "--json")
    assert ran.exit_code == 0 and "were randomized" in ran.stderr and json.loads(ran.stdout)["count"]
    (tmp_path / "other.dat").write_text("1 2\n2\n")
    assert invoke("mine", tmp_path / "other.dat", "--min-support", "0.3").stderr == ""


def test_rules_are_written_to_a_file(run_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rules.csv"
    ran = invoke(
        "mine", run_folder / "release", "--min-support", "0.2", "--rules", "--min-confidence", "0.3", "--out", out
    )
    assert ran.exit_code == 0, ran.output
    rule_frame = pl.read_csv(out)
    assert json.loads(rule_frame["antecedent"][0]) and 0 <= rule_frame["low"][0] <= rule_frame["high"][0] <= 1
    assert rule_frame.columns == ["antecedent", "consequent", "support", "confidence", "low", "high", "lift"]


def test_estimates_have_no_closed_sets(run_folder: Path) -> None:
    ran = invoke("mine", run_folder, "--kind", "closed")
    assert isinstance(ran.exception, sf.PolicyError) and "--kind needs exact supports" in str(ran.exception)


def test_items_from_the_data_must_be_declared(tmp_path: Path) -> None:
    (tmp_path / "shop.dat").write_text("1 2\n1 2 3\n" * 60)
    (tmp_path / "policy.toml").write_text(POLICY.format(method="keep = 0.9"))
    with pytest.raises(sf.PolicyError, match='set items = "from_data"'):
        sf.run(sf.Policy.read(tmp_path / "policy.toml"), out=tmp_path / "out")
