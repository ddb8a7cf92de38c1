# SPDX-License-Identifier: MIT
"""Random policies end in a release whose every sentence plain code confirms, or in a clear refusal."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from tests.contract.odd_policies import draw_odd_policy
from tests.contract.plain_claims import covers, is_true, look_at_groups, look_at_labels, look_at_models
from tests.contract.random_policies import (
    LISTED,
    draw_method,
    draw_new_method,
    draw_policy,
    find_new_examples,
    run_random_policy,
)

SOME, ODD, MANY = 20, 12, 10_000
GROUPED = {"method": "group_rare_values", "columns": ["q"], "label": "other"}
Draw = Callable[[random.Random, Path], tuple[dict[str, Any], dict[str, list[str]]]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def try_policies(folder: Path, seeds: range, draw: Draw = draw_policy) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        seed_folder = folder / str(seed)
        seed_folder.mkdir()
        fields, people = draw(random.Random(seed), seed_folder)
        outcome = run_random_policy(fields, people, seed_folder)
        assert not outcome.problems, (seed, outcome, json.dumps(fields["protect"]))
        kinds[outcome.kind] += 1
    return kinds


def test_some_random_policies(tmp_path: Path) -> None:
    kinds = try_policies(tmp_path, range(SOME))
    assert kinds["released"] >= SOME // 5, kinds


def test_some_policies_about_odd_tables(tmp_path: Path) -> None:
    assert try_policies(tmp_path, range(ODD), draw_odd_policy)["released"] >= 2


def test_every_method_on_tables_is_drawn() -> None:
    """A new method joins by its example."""
    chance = random.Random(5)
    roles = {"sensitive": ["ill"]}
    method_counts = Counter(draw_method(chance, roles)["method"] for _ in range(3_000))
    tables = {kind.model_fields["method"].default for kind in METHODS if kind.shape == kind.gives == "table"}
    missing = sorted(tables - method_counts.keys())
    assert not missing, f"{missing}: add an Example to tests/contract/examples.py, or list it in `draw_method`"
    assert method_counts.keys() <= tables and {*LISTED, *find_new_examples()} == tables, (
        "LISTED is what `draw_method` lists"
    )


def test_a_new_method_is_released_from_its_example(tmp_path: Path) -> None:
    """Otherwise drawing it shows nothing."""
    released: Counter[str] = Counter()
    for seed in range(24):
        seed_folder = tmp_path / str(seed)
        seed_folder.mkdir()
        chance = random.Random(seed)
        fields, people = draw_policy(chance, seed_folder)
        fields |= {"protect": [draw_new_method(chance)], "gate": {}}
        fields["accept"] = dict.fromkeys(fields["roles"]["insensitive"], "invented people")
        outcome = run_random_policy(fields, people, seed_folder)
        assert not outcome.problems, (seed, outcome, json.dumps(fields["protect"]))
        released[fields["protect"][0]["method"]] += outcome.kind == "released"
    missing_methods = sorted(name for name in find_new_examples() if not released[name])
    assert not missing_methods, (
        f"{missing_methods}: refused for all small tables; list it in `draw_method` of random_policies.py"
    )


def test_plain_code_reads_labels() -> None:
    """Otherwise the tests above show nothing."""
    for label, value in (("[1, 5)", "4.5"), ("{a, b}", "b"), ("01*", "013"), ("1960", "1960-02-03"), ("", "7")):
        assert covers(label, value)
    for label, value in (("[1, 5)", "5"), ("{a, b}", "c"), ("01*", "023"), ("1960", "1961-02-03"), ("7", "")):
        assert not covers(label, value)
    assert is_true("[1, 9]", "", ["", "1", "9"]) and not is_true("[1, 8]", "", ["", "1", "9"])


def test_plain_code_notices_a_wrong_number() -> None:
    claim = {"property": "k", "measure": "k_anonymity", "arguments": {}, "measured": 3}
    body = {"roles": {"q": "quasi_identifying"}, "claims": [claim]}
    assert look_at_models(body, {"q": ["a", "a", ""]}, "own_value") == ["k is 1, not 3"]
    assert look_at_models(body, {"q": ["a", "a", ""]}, "matches_any") == []


def test_plain_code_notices_a_wrong_group() -> None:
    claim = {"measure": "rows_with_each_value", "arguments": {"columns": ["q"]}, "measured": 2}
    assert look_at_groups({"claims": [claim]}, {"q": ["a", "a", "b"]}) == ["a cell of ['q'] is in 1 rows"]
    body = {"changes": [{"column": "q", "kind": "grouped"}], "methods": [GROUPED]}
    assert look_at_labels(body, {"q": ["a", "other"]}, {"q": ["a", "b"]}, [0, 1]) == []
    assert look_at_labels(body, {"q": ["a", "other"]}, {"q": ["a", "a"]}, [0, 1]) == ["q is grouped wrongly"]


def test_a_missing_cell_under_a_label_of_all_values_is_said() -> None:
    """All zip codes begin with 0, so 0** says nothing about them, but it is said of a person without one, too."""
    hierarchy = sf.Hierarchy.of([["010", "01*", "0**"], ["020", "02*", "0**"]])
    table = sf.Table.of({"zip": ["010", "020", None]}, {"zip": "quasi_identifying"}, {"zip": hierarchy})
    release = sf.Generalize(models=(sf.KAnonymity(k=3),)).protect(table)
    assert release.data.frame["zip"].to_list() == ["0**"] * 3
    meaning = next(claim.meaning for claim in release.claims if claim.property == "untrue_cells")
    assert "may also stand for a missing one" in meaning


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_policies_about_odd_tables(tmp_path: Path, part: int) -> None:
    assert try_policies(tmp_path, range(part * 100, (part + 1) * 100), draw_odd_policy)["released"] >= 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_random_policies(tmp_path: Path, part: int) -> None:
    size = MANY // 10
    kinds = try_policies(tmp_path, range(part * size, (part + 1) * size))
    assert kinds["released"] >= size // 5, kinds
