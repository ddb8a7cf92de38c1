# SPDX-License-Identifier: MIT
"""Linking where cells are blanked: a blank may hide what is known, and who lacks a value shows a blank."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attack.anonymity.stored_covering import CoveredPeople
from sfumato.attack.anonymity.strongest_links import choose_strongest, try_ways
from sfumato.change import ChangeKind, state_changes
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy

NAMES = ("age", "town", "sex", "job")
MEANINGS = [meaning.value for meaning in sf.Missing]

POLICY = """
[data]
path = "people.csv"

[roles]
quasi_identifying = ["age", "town", "sex"]
sensitive = ["s"]

[[protect]]
method = "suppress_entries"
private = [PRIVATE]
confidence = 0.8
min_support = 3

[measure]
queries = 0

[output]
format = "parquet"
"""


def draw_people(chance: np.random.Generator, missing: str, columns: int, rows: int) -> sf.Table:
    """People some of whose cells are missing; none if they would be left out."""
    share = 0.0 if missing == "drop" else float(chance.choice([0.0, 0.1, 0.3]))
    values = {
        "age": chance.integers(1, 7, rows).tolist(),
        "town": chance.choice(list("wxyz"), rows).tolist(),
        "sex": chance.choice(["f", "m"], rows).tolist(),
        "job": chance.choice(list("pqr"), rows).tolist(),
    }
    cells = {name: [None if chance.random() < share else value for value in values[name]] for name in NAMES[:columns]}
    return sf.Table.of(cells, dict.fromkeys(cells, "quasi_identifying"), missing=missing)


def blank(table: sf.Table, chance: np.random.Generator, *, is_stated: bool = True) -> sf.Release:
    """Some cells of some columns are empty."""
    columns = [name for name in table.quasi_identifying if chance.random() < 0.6]
    share = float(chance.choice([0.1, 0.5, 0.9]))
    published = table.replace_frame(
        table.frame.with_columns(
            pl.when(pl.Series(chance.random(len(table)) >= share)).then(pl.col(name)).alias(name) for name in columns
        )
    )
    method = sf.SwapConfidential(column="age", share=0.1)
    changes = state_changes(method, table, published, dict.fromkeys(columns, ChangeKind.BLANKED))
    return sf.Release(published, None, (), {}, changes=changes if is_stated else ())


def count_naively(release: sf.Release, people: sf.Table, names: Sequence[str], *, prefers_shown: bool) -> float:
    """Take rows that show nothing else than the person has, and of these those with the fewest blanks."""
    rows, hits = release.data.frame.select(names).rows(), 0.0
    for number, person in enumerate(people.frame.select(names).iter_rows()):
        costs: list[tuple[int, int]] = []
        for row in rows:
            pairs = list(zip(row, person, strict=True))
            hidden = sum(cell is None and value is not None for cell, value in pairs)
            costs.append((sum(cell not in (None, value) for cell, value in pairs), hidden if prefers_shown else 0))
        hits += (costs[number] == min(costs)) / costs.count(min(costs))
    return hits


@pytest.mark.parametrize("missing", MEANINGS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1 << 30), is_stated=st.booleans())
def test_no_naive_rule_finds_more(missing: str, seed: int, is_stated: bool) -> None:
    chance = np.random.default_rng(seed)
    people = draw_people(chance, missing, int(chance.integers(1, 4)), int(chance.integers(2, 20)))
    release = blank(people, chance, is_stated=is_stated)
    names = people.quasi_identifying
    ours = choose_strongest(release, people, names).links.count_expected_hits()
    for prefers_shown in (False, True):
        assert ours >= count_naively(release, people, names, prefers_shown=prefers_shown) - 1e-6


@pytest.mark.parametrize("missing", MEANINGS)
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 1 << 30))
def test_more_knowledge_never_finds_less(missing: str, seed: int) -> None:
    """Neither on average nor for any one person: all columns against each set of fewer."""
    chance = np.random.default_rng(seed)
    people = draw_people(chance, missing, int(chance.integers(2, 5)), int(chance.integers(2, 20)))
    release = blank(people, chance)
    names = people.quasi_identifying
    links, _, sizes = choose_strongest(release, people, names)
    for size in range(1, len(names)):
        for fewer in combinations(names, size):
            weaker = choose_strongest(release, people, fewer)
            assert links.count_expected_hits() >= weaker.links.count_expected_hits() - 1e-6, fewer
            assert sizes.highest_risk >= weaker.sizes.highest_risk, fewer


@pytest.mark.parametrize("missing", ["own_value", "matches_any", "never_matches"])
def test_many_values_are_compared_by_the_same_rule(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a table of values and labels would be too large, numbers and codes are compared instead."""
    monkeypatch.setattr("sfumato.attack.anonymity.likelihood._LARGEST_TABLE", 0)
    for seed in range(5):
        chance = np.random.default_rng(seed)
        people = draw_people(chance, missing, 3, 20)
        release, names = blank(people, chance), people.quasi_identifying
        ours = choose_strongest(release, people, names).links.count_expected_hits()
        for prefers_shown in (False, True):
            assert ours >= count_naively(release, people, names, prefers_shown=prefers_shown) - 1e-6, seed


def test_the_only_row_without_a_value_is_found_beside_a_blanked_column() -> None:
    """Every age is blanked, and one of 40 people has no town: the one empty town is theirs."""
    towns = [None, *("xyz"[at % 3] for at in range(39))]
    people = sf.Table.of({"age": list(range(40)), "town": towns}, dict.fromkeys(NAMES[:2], "quasi_identifying"))
    published = people.replace_frame(people.frame.with_columns(pl.lit(None, dtype=pl.Int64).alias("age")))
    changes = state_changes(
        sf.SwapConfidential(column="age", share=0.1), people, published, dict.fromkeys(NAMES[:2], ChangeKind.BLANKED)
    )
    outcome = sf.attack.Linking().run(sf.Release(published, None, (), {}, changes=changes), people)
    assert (outcome.successes, outcome.highest_risk, outcome.facts["unique_matches"]) == (4, 1.0, 1)


def test_a_missing_value_that_was_filled_before_cells_were_blanked_is_still_found() -> None:
    """Rare towns and missing ones become one label; then a cell is blanked."""
    towns: list[Any] = ["a"] * 4 + ["b"] * 4 + [None]
    roles = {"town": "quasi_identifying", "age": "quasi_identifying"}
    people = sf.Table.of({"town": towns, "age": list(range(9))}, roles)
    published = people.replace_frame(
        people.frame.with_columns(pl.Series("town", [None, *towns[1:8], "other"]), pl.Series("age", [1] * 9))
    )
    method = sf.SwapConfidential(column="age", share=0.1)
    changes = (
        *state_changes(method, people, published, {"town": ChangeKind.GROUPED, "age": ChangeKind.MEANS}),
        *state_changes(method, people, published, {"town": ChangeKind.BLANKED}),
    )
    release = sf.Release(published, None, (), {}, changes=changes)
    links = choose_strongest(release, people, ("town",)).links
    assert 8 in links.get_rows(8)


def test_both_engines_link_the_same_people(tmp_path: Path) -> None:
    """The release that once passed the gate, and random ones, which hold missing and blanked cells."""
    towns = [None, *("xyz"[at % 3] for at in range(39))]
    frames = [pl.DataFrame({"age": range(40), "town": towns, "sex": ["f"] * 40})]
    frames += [draw_people(np.random.default_rng(seed), "own_value", 3, 60).frame for seed in range(3)]
    for number, frame in enumerate(frames):
        folder = tmp_path / str(number)
        folder.mkdir()
        frame.with_columns(pl.Series("s", ["u", "v"] * (frame.height // 2))).write_csv(folder / "people.csv")
        private = '{ columns = ["age"] }' if number == 0 else "{ share = 0.2 }"
        policy = Policy.parse(POLICY.replace("PRIVATE", private), folder / "policy.toml")
        ours, theirs = (
            run_policy(policy, folder / engine, sf.Randomness.seeded(3), engine=engine).record["attacks"]
            for engine in ("memory", "duckdb")
        )
        assert ours == theirs, number
        assert number > 0 or ours[0]["highest_risk"] == 1.0


def test_rows_that_nobody_is_offered_are_not_found() -> None:
    """Some classes of rows fit nobody or only people with several: these stand between the lists of others."""
    for seed in range(20):
        chance = np.random.default_rng(seed)
        people = draw_people(chance, "matches_any", 3, 30)
        release, rows = blank(people, chance), chance.permutation(30)
        for way in try_ways(release, people, people.quasi_identifying):
            by_hand = [rows[person] in way.links.get_rows(person) for person in range(30)]
            assert way.links.contain(rows).tolist() == by_hand, seed


def test_fewer_columns_are_not_asked_where_only_fitting_classes_are_listed() -> None:
    """Else a row would seem to be alone because the others fit nobody in all columns."""
    assert "has_all_classes" in CoveredPeople._fields
    people = sf.Table.of({"a": ["x", "y"], "b": ["p", "q"]}, dict.fromkeys("ab", "quasi_identifying"))
    published = people.replace_frame(people.frame.with_columns(pl.Series("a", [None, None], dtype=pl.String)))
    changes = state_changes(sf.SwapConfidential(column="a", share=0.1), people, published, {"a": ChangeKind.BLANKED})
    release = sf.Release(published, None, (), {}, changes=changes)
    asked: list[int] = []

    def count(links: Any) -> float:
        asked.append(1)
        return float(links.count_expected_hits())

    choose_strongest(release, people, ("a", "b"), count, forgets=False)
    fewer = len(asked)
    choose_strongest(release, people, ("a", "b"), count)
    assert len(asked) - fewer > fewer
