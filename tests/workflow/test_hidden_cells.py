# SPDX-License-Identifier: MIT
"""What leaves does not depend on cells that are not published: types, limits, masks, thresholds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchies.hierarchy_builders import Prefix, Quantiles
from sfumato.errors import DataError
from sfumato.workflow.policy import Policy

CAPPED = {"method": "top_code", "columns": ["pay"], "k": 5}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def certified(folder: Path, method: dict[str, Any], age: str, pay: str) -> dict[str, Any]:
    """What a certificate says of a hundred people and one more."""
    folder.mkdir()
    rows = "".join(f"{20 + n % 40},{1000 + n * 37 % 3000}\n" for n in range(100))
    (folder / "people.csv").write_text(f"age,pay\n{rows}{age},{pay}\n")
    policy = {
        "data": {"path": str(folder / "people.csv")},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["pay"]},
        "protect": [method],
        "measure": {"queries": 0},
    }
    body = json.loads(
        (sf.run(Policy.model_validate(policy), folder / "out").out / "release/certificate.json").read_text()
    )
    return {
        "claims": [{**claim, "measured": None} for claim in body["claims"]],
        "types": [body["data"][name] for name in ("numbers", "integers", "missing_mark")],
    }


@pytest.mark.parametrize("limits", [{}, {"caps": {"pay": 3500}}, {"caps": {"pay": 3500.5}}])
def test_a_decimal_above_the_cap_is_not_seen(tmp_path: Path, limits: dict[str, Any]) -> None:
    whole = certified(tmp_path / "whole", CAPPED | limits, "33", "98765")
    assert certified(tmp_path / "decimal", CAPPED | limits, "33", "98765.5") == whole


def test_a_decimal_that_is_no_median_is_not_seen(tmp_path: Path) -> None:
    method = {"method": "microaggregate", "k": 4, "centre": "median"}
    whole = certified(tmp_path / "whole", method, "33", "2000")
    assert certified(tmp_path / "decimal", method, "33.5", "2000") == whole


def test_pay_that_is_no_median_does_not_move_the_certified_loss(tmp_path: Path) -> None:
    """The loss was the share of the variance within groups: 0.05 if one person earned 3,000, 0.5 if 1,000,000."""
    method = {"method": "microaggregate", "k": 5, "centre": "median", "columns": ["age", "pay"]}
    releases = []
    for pay in (3000, 30_000, 1_000_000):
        rows = "".join(f"{20 + n * 7 % 40},{2000 + n * 37 % 4000}\n" for n in range(219))
        (tmp_path / "people.csv").write_text(f"age,pay\n{rows}44,{pay}\n")
        policy = {
            "data": {"path": str(tmp_path / "people.csv")},
            "roles": {"quasi_identifying": ["age"], "sensitive": ["pay"]},
            "protect": [method],
        }
        run = sf.run(Policy.model_validate(policy), tmp_path / str(pay))
        assert pl.read_csv(run.out / "release/data.csv")["pay"].max() < 6000  # type: ignore[operator]
        assert run.record["utility"]["loss"] > 0
        releases.append(run.certificate.body["utility"])
    assert all("loss" not in utility for utility in releases)


def test_one_long_code_does_not_lengthen_the_masks_of_others() -> None:
    codes = [f"130{n}" for n in range(40, 60)]
    labels = []
    for last in ("99999", "9999912345"):
        hierarchy = Prefix(keep=(4, 3)).build(pl.Series("zip", [*codes, last]))
        labels.append([row for row in hierarchy.rows if row[0] in codes])
    assert labels[0] == labels[1]


def test_a_given_range_of_quantiles_says_nothing_about_the_greatest_number() -> None:
    ages = [*range(20, 60)] * 5
    labels = {}
    for oldest in (59, 119):
        for ends in (None, (0, 120)):
            hierarchy = Quantiles(counts=(4, 2), range=ends).build(pl.Series("age", [*ages, oldest]))
            labels[oldest, ends] = [row for row in hierarchy.rows if row[0] != "119"]
    assert labels[59, (0, 120)] == labels[119, (0, 120)]
    assert labels[59, None] != labels[119, None], "a coarse point around all numbers tells whether one is far out"
    assert [row[2] for row in labels[59, (0, 120)]][::39] == ["[0, 40]", "[41, 120]"]


@pytest.mark.parametrize("wrong", [{"range": (3, 3)}, {"range": (0, 9), "exact_ends": True}])
def test_quantiles_with_a_wrong_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="cannot be combined with exact_ends"):
        Quantiles(counts=(2,), **wrong)
    with pytest.raises(DataError, match='"age": 2 values lie outside'):
        Quantiles(counts=(2,), range=(0, 9)).build(pl.Series("age", [1, 2, 12, 13]))


@pytest.mark.parametrize("last", ["2020-05-11 09:17", "2020-12-31 23:59", "2020-01-01 00:01"])
def test_one_persons_minutes_are_not_in_everybodys_synthetic_timestamps(last: str) -> None:
    times = [f"2020-0{1 + n % 9}-1{n % 10} {8 + n % 9:02d}:00" for n in range(200)]
    table = sf.Table.of(
        {"age": [20 + n % 40 for n in range(201)], "at": [*times, last]},
        {"age": "quasi_identifying", "at": "sensitive"},
    )
    release = sf.Synthesize(min_leaf=5, holdout=0).protect(table)
    assert release.data.frame["at"].str.ends_with(":00").all()
    assert all(finding.holds for finding in sf.check(release, table))
    raw = sf.Synthesize(kind="partial", columns=("age",), min_leaf=5).protect(table)
    assert raw.data.frame["at"].to_list() == [*times, last], "a column that is kept stays as it is"


def test_an_attack_does_not_tell_the_number_of_baskets_behind_raised_supports(tmp_path: Path) -> None:
    """The claim has the least support as a count: beside it, the same threshold as a share gives the baskets."""
    baskets = ["abcdefgh", "abcdeg", "abcde", "abcdefg", "abcde", "abcde", "abde", "aefg", "cdefg", "cde", "cdefgh"]
    rows = "".join(f"{n},{item}\n" for n, basket in enumerate(baskets) for item in basket)
    (tmp_path / "bought.csv").write_text(f"id,item\n{rows}")
    policy = {
        "data": {"path": str(tmp_path / "bought.csv")},
        "protect": [{"method": "publish_patterns", "k": 3, "min_support": 0.7}],
        "attack": [{"attack": "support_inference", "min_support": 0.7}],
    }
    release = sf.run(Policy.model_validate(policy), tmp_path / "out").out / "release"
    body = json.loads((release / "certificate.json").read_text())
    assert body["attacks"][0]["attack"] == "support_inference"
    assert "0.7" not in json.dumps([body["attacks"], body["methods"], body["claims"]])


@pytest.mark.parametrize("attack", ["likeliest_value", "bayes_estimate", "spectral_filter", "range_reveal"])
def test_a_gate_must_not_choose_among_draws_of_noise(attack: str) -> None:
    policy = {
        "data": {"path": "people.csv"},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["pay"]},
        "protect": [{"method": "add_noise", "columns": ["pay"], "ranges": {"pay": [0, 100]}}],
        "attack": [{"attack": attack}],
        "gate": {"max_risk": {attack: 0.5}},
    }
    with pytest.raises(ValueError, match="draws that pass would break"):
        Policy.model_validate(policy)
    assert Policy.model_validate(policy | {"gate": {"max_linking_risk": 0.5}})
    intervals = {"method": "add_noise", "columns": ["pay"], "ranges": {"pay": [0, 100]}, "kind": "discretize"}
    assert Policy.model_validate(policy | {"protect": [intervals]}), "nothing is drawn"
    roles = {"quasi_identifying": ["age", "pay"]}
    with pytest.raises(ValueError, match="max_linking_risk"):
        Policy.model_validate(policy | {"roles": roles, "gate": {"max_linking_risk": 0.5}})
