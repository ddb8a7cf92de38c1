# SPDX-License-Identifier: MIT
"""Columns that chance changed, on their way: what leaves is enough to estimate from, and nothing more leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attacking import attack_again
from sfumato.errors import PolicyError
from sfumato.mine.estimates import estimated
from sfumato.pipeline import run
from sfumato.policy import Policy
from tests.test_cli_mining import ran

POLICY = """
[data]
path = "people.csv"
[roles]
identifying = ["name"]
quasi_identifying = ["age", "town"]
sensitive = ["ill"]
[[protect]]
method = "add_noise"
columns = ["age"]
kind = "gaussian"
privacy = 0.4
[[protect]]
method = "randomize_response"
column = "ill"
p = 0.75
[[attack]]
attack = "bayes_estimate"
[[attack]]
attack = "likeliest_answer"
column = "ill"
[output]
path = "out"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People of whom three in ten are ill, the older ones more often."""
    chance = np.random.default_rng(3)
    age = chance.integers(20, 80, 3000)
    ill = chance.random(3000) < (age - 20) / 100
    frame = pl.DataFrame(
        {
            "name": [f"p{n}" for n in range(3000)],
            "age": age,
            "town": np.where(age + chance.integers(-5, 5, 3000) < 45, "Aa", "Bb"),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def done(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    run(Policy.read("policy.toml"), randomness=sf.Randomness.seeded(5))
    return folder


def test_two_methods_keep_their_promises_beside_each_other(done: Path) -> None:
    body = json.loads((done / "out/release/certificate.json").read_text())
    claims = {one["claim"]["measure"]: one for one in body["claims"]}
    assert all(one["holds"] for one in body["claims"])
    assert claims["changed_beside_noise"]["claim"]["arguments"]["besides"] == ["ill"]
    assert claims["changed_beside_answers"]["claim"]["arguments"]["besides"] == ["age"]
    assert "«age»" in claims["changed_beside_answers"]["claim"]["meaning"]
    assert sum(one["claim"]["property"] == "identifying_columns" for one in body["claims"]) == 1
    assert sf.verify(done / "out").holds


def test_what_leaves_is_enough_to_estimate_from(done: Path) -> None:
    truth = pl.read_csv(done / "people.csv")
    release = sf.read_release(done / "out")
    assert release.method is None
    assert set(release.details) == {"public"}
    assert set(release.public) == {"age", "ill"}
    shares = sf.mine.estimate_proportions(release, "ill")
    found = dict(zip(shares["value"], shares["estimate"], strict=True))
    assert found["yes"] == pytest.approx((truth["ill"] == "yes").mean(), abs=0.05)
    ages = sf.mine.reconstruct_distribution(release, column="age")
    assert ages.mean == pytest.approx(truth["age"].mean(), abs=1.0)
    guessed = sf.attack.BayesEstimate().estimate(release)
    assert guessed.columns == release.data.frame.columns
    tree = sf.mine.train_tree_on_noise(release, "town", columns=("age",))
    assert tree.accuracy(truth) > 0.85


def test_nothing_more_leaves_than_is_needed(done: Path) -> None:
    said = (done / "out/release/certificate.json").read_text()
    assert "p17" not in said
    page = (done / "out/release/report.html").read_text()
    assert "What can be estimated" in page
    assert "What an analyst and an attacker make of it" not in page
    inside = (done / "out/private/report.html").read_text()
    assert "What an analyst and an attacker make of it" in inside


def test_an_attack_can_be_repeated_from_the_folder(done: Path) -> None:
    first = json.loads((done / "out/release/certificate.json").read_text())["attacks"]
    again = {attack.model_dump()["attack"]: outcome for attack, outcome in attack_again("out", "policy.toml")}
    for one in first:
        if one["attack"] in again:
            assert again[one["attack"]].successes == one["successes"]
    assert set(again) == {"bayes_estimate", "likeliest_answer"}


def test_two_chances_on_one_column_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    twice = POLICY.replace(
        'method = "randomize_response"\ncolumn = "ill"\np = 0.75', 'method = "add_noise"\ncolumns = ["age"]'
    )
    twice = twice.replace('[[attack]]\nattack = "likeliest_answer"\ncolumn = "ill"\n', "")
    (folder / "policy.toml").write_text(twice)
    with pytest.raises(PolicyError, match="two methods change «age» by chance"):
        run(Policy.read("policy.toml"))


def test_the_command_estimates_columns_pairs_and_trees(done: Path) -> None:
    listed = ran(done, "mine", "out", "--json")
    assert json.loads(listed.stdout)["rows"] == [
        {"column": "age", "kind": "gaussian"},
        {"column": "ill", "kind": "warner"},
    ]
    ages = json.loads(ran(done, "mine", "out", "--column", "age", "--json").stdout)["rows"]
    assert sum(row["probability"] for row in ages) == pytest.approx(1)
    both = ran(done, "mine", "out", "--column", "ill", "--column", "town", "--out", "both.csv")
    assert both.returncode == 0, both.stderr
    assert pl.read_csv(done / "both.csv")["estimate"].sum() == pytest.approx(1)
    tree = ran(done, "mine", "out", "--target", "town")
    assert "age <=" in tree.stdout
    wrong = ran(done, "mine", "out", "--column", "nothing")
    assert wrong.returncode == 2
    assert "«nothing»" in wrong.stderr
    plain = ran(done, "mine", "out", "--column", "town")
    assert "count it as it is published" in plain.stderr


def test_estimates_refuse_what_they_cannot_take(done: Path) -> None:
    release = sf.read_release(done / "out")
    with pytest.raises(PolicyError, match="3 columns at once"):
        estimated(release, ("age", "town", "ill"))
