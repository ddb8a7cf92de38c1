# SPDX-License-Identifier: MIT
"""A certificate whose columns, laws or sentences contradict its methods is refused, whatever shape its data has."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.workflow.pipeline import run
from sfumato.workflow.policy import Policy
from tests.faults.test_tampering import resign, set_in

Change = Callable[[dict[str, Any]], None]
TABLE_METHODS: dict[str, list[dict[str, Any]]] = {
    "coarse": [
        {"method": "group_rare_values", "columns": ["job"], "min_count": 5},
        {"method": "round_numbers", "columns": ["pay"], "step": 100},
        {"method": "top_code", "columns": ["age"], "k": 3},
    ],
    "answers": [
        {"method": "randomize_response", "column": ["ill", "sex"], "p": 0.7, "categories": "from_data"},
    ],
    "given answers": [
        {"method": "randomize_response", "column": "sex", "epsilon": 1.0, "categories": ["m", "f"]},
    ],
}  # fmt: skip
BASKET_METHODS: dict[str, list[dict[str, Any]]] = {
    "hidden": [{"method": "hide_rules", "rules": ["bread ==> milk"], "min_support": 10, "min_confidence": 0.5}],
    "noisy": [{"method": "randomize_baskets", "keep": 0.8, "add": 0.1, "items": "from_data"}],
    "patterns": [{"method": "publish_patterns", "k": 3, "min_support": 10}],
    "rules": [{"method": "publish_rules", "k": 3, "min_support": 10, "min_confidence": 0.4}],
}
SEQUENCE_METHODS: dict[str, list[dict[str, Any]]] = {
    "tours": [{"method": "anonymize_sequences", "k": 3}],
    "walks": [{"method": "hide_sequences", "patterns": [["bread", "milk"]], "threshold": 5}],
}


def publish(folder: Path, name: str) -> Path:
    """A release of 240 people, or of 240 baskets or sequences."""
    folder.mkdir(parents=True)
    policy: dict[str, Any] = {"measure": {"queries": 0}}
    if name in TABLE_METHODS:
        people = pl.DataFrame(
            {
                "name": [f"p{n}" for n in range(240)],
                "age": [20 + n % 40 for n in range(238)] + [95, 96],
                "sex": [["m", "f"][n % 2] for n in range(240)],
                "job": [["smith", "cook", "clerk"][n % 3] for n in range(238)] + ["judge", "pilot"],
                "ill": [["flu", "cold", "gout"][n // 5 % 3] for n in range(240)],
                "pay": [1000 + n * 37 % 3000 for n in range(240)],
            }
        )
        people.write_csv(folder / "people.csv")
        roles = {"identifying": ["name"], "quasi_identifying": ["age", "sex", "job"], "sensitive": ["ill", "pay"]}
        policy |= {"data": {"path": str(folder / "people.csv")}, "roles": roles, "protect": TABLE_METHODS[name]}
        policy["attack"] = [{"attack": "linking"}, {"attack": "homogeneity", "column": "ill"}]
    else:
        lists = [["bread", "milk"], ["bread", "milk", "nuts"], ["bread", "beer"], ["milk", "nuts"], ["beer", "nuts"]]
        text = "".join(f"{' '.join(lists[n % 5])}\n" for n in range(240))
        is_basket = name in BASKET_METHODS
        (folder / "data.dat").write_text(text if is_basket else text.replace(" ", " -1 ").replace("\n", " -1 -2\n"))
        policy["data"] = {"path": str(folder / "data.dat"), "format": "fimi" if is_basket else "spmf"}
        policy["protect"] = (BASKET_METHODS | SEQUENCE_METHODS)[name]
    run(Policy.model_validate(policy), folder / "out")
    return folder / "out"


class Forgery(NamedTuple):
    """A release, and what a forger states about it."""

    release: str
    change: Change


def every_change(**facts: Any) -> Change:
    return lambda body: body.update(changes=[change | facts for change in body["changes"]])


def drop_method(number: int) -> Change:
    return lambda body: body["methods"].pop(number)


FORGERIES: dict[str, Forgery] = {
    "another checksum": Forgery("coarse", set_in("data", "sha256", value="0" * 64)),
    "a checksum of baskets": Forgery("hidden", set_in("data", "sha256", value="0" * 64)),
    "a method without a meaning": Forgery("coarse", set_in("methods", 2, "method", value="top_codex")),
    "the column of a method": Forgery("coarse", set_in("methods", 1, "columns", value=["nonexistent"])),
    "another column of a method": Forgery("coarse", set_in("methods", 1, "columns", value=["age"])),
    "all kept": Forgery("coarse", every_change(kind="kept")),
    "no changes": Forgery("coarse", set_in("changes", value=[])),
    "a change of nothing": Forgery("coarse", set_in("changes", 0, "column", value="nonexistent")),
    "a change by nobody": Forgery("coarse", every_change(method="partition")),
    "a level of a number": Forgery("coarse", set_in("changes", 0, "level", value=1)),
    "answers kept": Forgery("answers", every_change(kind="kept")),
    "a column that nobody knows": Forgery("coarse", set_in("attacks", 0, "known_columns", value=[["nonexistent"]])),
    "knowledge of nothing": Forgery("coarse", set_in("attacks", 0, "parameters", "knowledge", value=["nonexistent"])),
    "a target that there is not": Forgery("coarse", set_in("attacks", 1, "targets", value=["nonexistent"])),
    "a larger budget": Forgery("answers", set_in("losses", "epsilon", value=20.0)),
    "a larger budget of baskets": Forgery("noisy", set_in("losses", "epsilon", value=200.0)),
    "a budget without claims": Forgery("coarse", set_in("losses", "epsilon", value=0.1)),
    "suppressed baskets": Forgery("hidden", set_in("suppression", value={"rows": 77, "safe": True, "why": "77 rows."})),
    "why baskets are suppressed": Forgery("hidden", set_in("suppression", "why", value="77 were suppressed.")),
    "suppressed sequences": Forgery("tours", set_in("suppression", "rows", value=7)),
    "suppressed patterns": Forgery("patterns", set_in("suppression", "rows", value=7)),
    "suppression that is not safe": Forgery("coarse", set_in("suppression", "safe", value=False)),
    "a measured secret": Forgery("coarse", set_in("claims", 1, "measured", value=1)),
    "columns of baskets": Forgery("hidden", set_in("data", "columns", value=3)),
    "numbers of baskets": Forgery("hidden", set_in("data", "numbers", value=["age"])),
}  # fmt: skip
_MADE: dict[str, Path] = {}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("releases")


def publish_once(finished: Path, name: str) -> Path:
    if not (finished / name).exists():
        _MADE[name] = publish(finished / name, name)
    return _MADE[name]


@pytest.mark.parametrize("name", (*TABLE_METHODS, *BASKET_METHODS, *SEQUENCE_METHODS))
def test_a_release_says_what_its_methods_say(finished: Path, name: str) -> None:
    assert sf.verify(publish_once(finished, name)).problems == ()


@pytest.mark.parametrize("name", FORGERIES)
def test_a_contradiction_is_found_though_it_is_signed(finished: Path, tmp_path: Path, name: str) -> None:
    forgery = FORGERIES[name]
    shutil.copytree(publish_once(finished, forgery.release), tmp_path / "out")
    resign(tmp_path / "out", forgery.change, files=False)
    verification = sf.verify(tmp_path / "out")
    assert verification.outcome == "not as certified"
    assert "cannot be compared" not in verification.problems[0]
