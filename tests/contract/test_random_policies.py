# SPDX-License-Identifier: MIT
"""Random policies end in a release whose every sentence plain code confirms, or in a clear refusal."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.contract.random_policies import draw_policy, run_policy

SOME, MANY = 25, 10_000


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))


def try_policies(folder: Path, seeds: range) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        here = folder / str(seed)
        here.mkdir()
        fields, people = draw_policy(random.Random(seed), here)
        outcome = run_policy(fields, people, here)
        assert not outcome.problems, (seed, outcome, json.dumps(fields["protect"]))
        kinds[outcome.kind] += 1
    return kinds


def test_some_random_policies(tmp_path: Path) -> None:
    kinds = try_policies(tmp_path, range(SOME))
    assert kinds["released"] >= SOME // 5, kinds


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_random_policies(tmp_path: Path, part: int) -> None:
    size = MANY // 10
    kinds = try_policies(tmp_path, range(part * size, (part + 1) * size))
    assert kinds["released"] >= size // 5, kinds
