# SPDX-License-Identifier: MIT
"""Rules that are left, counted in a file on narrow numbers, are those that are counted in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack import RuleInference
from sfumato.attack.stored_attack import run_stored_attack
from sfumato.details import EntryDetails
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.entries.leftover_rules import code_entries, count_leftover_rules
from sfumato.measure.entries.stored_entries import code_stored_entries
from sfumato.mine.entries import agreeing_rows
from sfumato.release import Release
from tests.protect.test_stored_rowwise import CutRows

NAMES = ("a", "b", "c", "d")
ROLES = dict.fromkeys(NAMES, "sensitive")


def blank_some(rows: int, seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The originals, the same with some entries blank, and those entries with their values."""
    chance = np.random.default_rng(seed)
    a = chance.choice(["x", "y", "z"], rows)
    cells = {"a": a, "b": np.where(chance.random(rows) < 0.8, a, "w"), "c": chance.integers(0, 3, rows)}
    original = pl.DataFrame({**cells, "d": np.where(chance.random(rows) < 0.7, cells["c"] / 2, 1.25)})
    hidden_mask = chance.random((rows, len(NAMES))) < 0.2
    published = original.with_columns(
        pl.when(pl.Series(~hidden_mask[:, index])).then(pl.col(name)).alias(name) for index, name in enumerate(NAMES)
    )
    places = np.argwhere(
        hidden_mask & (chance.random(hidden_mask.shape) < 0.6)
    ).tolist()  # others were blanked to protect them
    values = [str(value) if value % 1 else str(int(value)) for value in original["d"]]
    texts = [values if name == "d" else [str(value) for value in original[name]] for name in NAMES]
    listed = [(row, NAMES[column], texts[column][row]) for row, column in places]
    schema = {"row": pl.Int64, "column": pl.String, "value": pl.String}
    return original, published, pl.DataFrame(listed, schema=schema, orient="row")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreeing_rows, "_PART", 7)


@settings(deadline=None, max_examples=20)
@given(
    st.integers(1, 60), st.integers(0, 99), st.sampled_from(["1/2", "3/4", "1"]), st.integers(1, 4),
    st.sampled_from([None, 1, 2]), st.booleans(), st.integers(1, 30),
)  # fmt: skip
def test_rules_are_counted_as_in_memory(
    rows: int, seed: int, confidence: str, least: int, longest: int | None, prior: bool, length: int
) -> None:
    _, frame, hidden_entries = blank_some(rows, seed)
    wide = code_entries(sf.Table.of(frame, ROLES), hidden_entries)
    narrow = code_stored_entries(StoredTable.of(CutRows(frame, [length]), ROLES), hidden_entries)
    counts = [count_leftover_rules(coded, confidence, least, longest, prior) for coded in (wide, narrow)]
    assert counts[0] == counts[1]


@settings(deadline=None, max_examples=20)
@given(st.integers(8, 60), st.integers(0, 99), st.sampled_from([0.4, 0.7]), st.sampled_from([None, 1]))
def test_rules_are_applied_as_in_memory(rows: int, seed: int, confidence: float, longest: int | None) -> None:
    original, frame, hidden_entries = blank_some(rows, seed)
    attack = RuleInference(min_support=2, confidence=confidence, max_length=longest)
    release = Release(sf.Table.of(frame, ROLES), None, (), {}, EntryDetails(hidden=hidden_entries))
    memory_result = attack.run(release, sf.Table.of(original, ROLES))
    stored_release = replace(release, data=StoredTable.of(CutRows(frame, [9]), ROLES))
    stored_original = StoredTable.of(CutRows(original, [9]), ROLES)
    assert run_stored_attack(attack, stored_release, stored_original) == memory_result
