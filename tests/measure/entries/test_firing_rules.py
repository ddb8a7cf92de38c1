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
    hidden_entries = pl.DataFrame({"row": [4, 5], "column": ["salary"] * 2, "value": ["5", "7"]})
    assert sf.measure.leftover_rules(table, hidden_entries, "4/5", 2) == 0
    assert firing_rules(table, hidden_entries, "4/5", 2) == FiringRules(
        entries=2, answered_count=2, right=0, right_by_prior=0
    )
    assert firing_rules(table, hidden_entries, "4/5", 5) == FiringRules(
        entries=2, answered_count=0, right=0, right_by_prior=0
    )


def count_by_hand(rows: list[tuple[str | None, ...]], hidden_cells: dict[tuple[int, int], str], share: Fraction) -> int:
    """Private entries that some rule of support 2 fits, by trying every left side."""
    answered = 0
    for number, column in hidden_cells:
        known_columns = [index for index, cell in enumerate(rows[number]) if cell is not None and index != column]
        sides = [side for size in range(1, len(known_columns) + 1) for side in combinations(known_columns, size)]
        for side in sides:
            alike = [
                row
                for row in rows
                if all(row[index] == rows[number][index] for index in side) and row[column] is not None
            ]
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
    hidden_cells = {position: cells[position[0]][position[1]] for position in places}
    rows = [
        tuple(None if (i, column_index) in places else cell for column_index, cell in enumerate(row))
        for i, row in enumerate(cells)
    ]
    names = [f"c{column_index}" for column_index in range(4)]
    table = sf.Table.of(pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row"))
    listed = pl.DataFrame(
        [(row, names[column_index], value) for (row, column_index), value in hidden_cells.items()],
        {"row": pl.Int64, "column": pl.String, "value": pl.String},
        orient="row",
    )
    answers = firing_rules(table, listed, "3/4", 2)
    assert answers.entries == 8 and answers.answered_count == count_by_hand(rows, hidden_cells, Fraction(3, 4))
    assert 0 <= answers.right <= answers.answered_count


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
    release = apply_methods(policy, policy.read_original(), Randomness.seeded(2)).release
    answers = firing_rules(release.data, release.details["hidden"], "3/5", 2)
    assert answers.answered_count
    assert sf.run(policy, tmp_path / "out", Randomness.seeded(2)).published
    figures = json.loads((tmp_path / "out" / "private" / "record.json").read_text())["found"]["utility"]
    assert figures["answered_entries"] == pytest.approx(answers.answered_count / answers.entries)
    assert figures["right_answers"] == pytest.approx(answers.right / answers.answered_count)
    assert figures["right_by_prior"] == pytest.approx(answers.right_by_prior / answers.answered_count)
    assert b"answered_entries" not in (tmp_path / "out" / "release" / "certificate.json").read_bytes()
