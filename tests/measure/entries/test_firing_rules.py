# SPDX-License-Identifier: MIT
"""Rules that still speak about private entries: counted by hand, and against plain enumeration."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.measure.entries.firing_rules import FiringRules, firing_rules
from sfumato.randomness import Randomness
from sfumato.workflow.chain import apply_methods
from sfumato.workflow.policy import Policy


def test_a_rule_that_fits_and_is_wrong_is_no_leftover_rule_and_yet_it_fires() -> None:
    """All visible assistants earn 3; of the two who hide it, neither does."""
    table = sf.Table.of({"title": ["a"] * 6 + ["m"] * 3, "salary": ["3"] * 4 + [None] * 2 + ["5"] * 3})
    hidden = pl.DataFrame({"row": [4, 5], "column": ["salary"] * 2, "value": ["5", "7"]})
    assert sf.measure.leftover_rules(table, hidden, "4/5", 2) == 0
    assert firing_rules(table, hidden, "4/5", 2) == FiringRules(entries=2, answered=2, right=0, right_by_prior=0)
    assert firing_rules(table, hidden, "4/5", 5) == FiringRules(entries=2, answered=0, right=0, right_by_prior=0)


def count_by_hand(rows: list[tuple[str | None, ...]], hidden: dict[tuple[int, int], str], share: Fraction) -> int:
    """Private entries that some rule of support 2 fits, by trying every left side."""
    answered = 0
    for number, column in hidden:
        known = [at for at, cell in enumerate(rows[number]) if cell is not None and at != column]
        sides = [side for size in range(1, len(known) + 1) for side in combinations(known, size)]
        for side in sides:
            alike = [row for row in rows if all(row[at] == rows[number][at] for at in side) and row[column] is not None]
            if (
                len(alike) >= 2
                and Fraction(Counter(row[column] for row in alike).most_common(1)[0][1], len(alike)) >= share
            ):
                answered += 1
                break
    return answered


@pytest.mark.parametrize("seed", range(12))
def test_answers_agree_with_every_left_side(seed: int) -> None:
    chance = np.random.default_rng(seed)
    cells = chance.integers(0, 3, (25, 4)).astype(str).tolist()
    places = {(int(row), int(chance.integers(0, 4))) for row in chance.choice(25, 8, replace=False)}
    hidden = {place: cells[place[0]][place[1]] for place in places}
    rows = [tuple(None if (i, at) in places else cell for at, cell in enumerate(row)) for i, row in enumerate(cells)]
    names = [f"c{at}" for at in range(4)]
    table = sf.Table.of(pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row"))
    listed = pl.DataFrame(
        [(row, names[at], value) for (row, at), value in hidden.items()],
        {"row": pl.Int64, "column": pl.String, "value": pl.String},
        orient="row",
    )
    found = firing_rules(table, listed, "3/4", 2)
    assert found.entries == 8 and found.answered == count_by_hand(rows, hidden, Fraction(3, 4))
    assert 0 <= found.right <= found.answered


def test_a_run_says_what_rules_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the custodian's record, as counted above; nothing of it leaves."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    chance = np.random.default_rng(4)
    city = chance.choice(["Ulm", "Bonn"], 60)
    rows = {"city": city, "job": chance.choice(["a", "b"], 60), "ill": np.where(city == "Ulm", "flu", "cold")}
    pl.DataFrame(rows).write_csv(tmp_path / "people.csv")
    fields = {
        "data": {"path": str(tmp_path / "people.csv")},
        "roles": {"insensitive": ["city", "job"], "sensitive": ["ill"]},
        "protect": [{"method": "suppress_entries", "private": 0.2, "confidence": 0.6, "min_support": 2}],
        "accept": dict.fromkeys(rows, "invented"),
        "measure": {"queries": 0},
    }
    policy = Policy.model_validate(fields)
    release = apply_methods(policy, policy.original(), Randomness.seeded(2)).release
    found = firing_rules(release.data, release.details["hidden"], "3/5", 2)
    assert found.answered
    assert sf.run(policy, tmp_path / "out", Randomness.seeded(2)).published
    figures = json.loads((tmp_path / "out" / "private" / "record.json").read_text())["found"]["utility"]
    assert figures["answered_entries"] == pytest.approx(found.answered / found.entries)
    assert figures["right_answers"] == pytest.approx(found.right / found.answered)
    assert figures["right_by_prior"] == pytest.approx(found.right_by_prior / found.answered)
    assert b"answered_entries" not in (tmp_path / "out" / "release" / "certificate.json").read_bytes()
