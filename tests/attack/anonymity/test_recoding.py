# SPDX-License-Identifier: MIT
"""Numbers that were rounded, capped or replaced by midpoints hide nobody from whoever knows the rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.details import Details

KNOWN = ("age", "income", "town")
Rule = Callable[[Any], Any]

RULES: dict[str, tuple[ChangeKind, Rule]] = {
    "down": (ChangeKind.ROUNDED, lambda numbers: np.floor(numbers / 10) * 10),
    "up": (ChangeKind.ROUNDED, lambda numbers: np.ceil(numbers / 10) * 10),
    "half up": (ChangeKind.ROUNDED, lambda numbers: np.floor(numbers / 10 + 0.5) * 10),
    "half down": (ChangeKind.ROUNDED, lambda numbers: np.ceil(numbers / 10 - 0.5) * 10),
    "half to even": (ChangeKind.ROUNDED, lambda numbers: np.round(numbers / 10) * 10),
    "capped": (ChangeKind.CAPPED, lambda numbers: np.minimum(numbers, 60)),
    "rounded and capped": (ChangeKind.ROUNDED, lambda numbers: np.clip(np.round(numbers / 5) * 5, 30, 70)),
    "midpoints": (ChangeKind.INTERVALS, lambda numbers: np.floor(numbers / 7) * 7 + 3.5),
}
UNEVEN = np.array([0, 25, 32, 50, 64, 200])


def draw_people(seed: int, rows: int = 60) -> sf.Table:
    chance = np.random.default_rng(seed)
    frame = {
        "age": chance.integers(18, 90, rows),
        "income": chance.integers(10, 120, rows),
        "town": chance.choice(list("abcd"), rows),
        "ill": chance.choice(["flu", "cold", "gout"], rows),
    }
    return sf.Table.of(frame, dict.fromkeys(KNOWN, "quasi_identifying") | {"ill": "sensitive"})


def recode(people: sf.Table, kind: ChangeKind, rule: Rule, has_changes: bool, seed: int = 0) -> sf.Release:
    """Both numbers recoded, in another order of the rows."""
    rows = np.random.default_rng(seed).permutation(len(people))
    columns = [pl.Series(name, rule(people.frame[name].to_numpy())) for name in ("age", "income")]
    published = people.replace_frame(people.frame.with_columns(columns)[rows])
    changes = (Change("age", kind, "own"), Change("income", kind, "own"), Change("town", ChangeKind.KEPT, "own"))
    return sf.Release(published, None, (), {}, Details(rows=rows), changes if has_changes else ())


def count_unique(release: sf.Release) -> int:
    """Who knows the rule finds at least every row that is alone."""
    counts = release.data.frame.select(KNOWN).select(pl.len().over(KNOWN)).to_series()
    return int((counts == 1).sum())


@pytest.mark.parametrize("has_changes", [True, False])
@pytest.mark.parametrize("name", RULES)
def test_everybody_is_found_by_the_rule(name: str, has_changes: bool) -> None:
    for seed in range(3):
        people = draw_people(seed)
        release = recode(people, *RULES[name], has_changes, seed)
        outcome = sf.attack.Linking().run(release, people)
        assert outcome.successes >= count_unique(release) > 10, (seed, outcome)
        assert outcome.facts["matched"] == len(people) and outcome.facts["unique_matches"] >= count_unique(release)


@pytest.mark.parametrize("name", ["down", "half to even", "capped", "midpoints"])
def test_what_is_alike_in_all_rows_is_learnt(name: str) -> None:
    people = draw_people(5)
    release = recode(people, *RULES[name], has_changes=True)
    assert sf.attack.Homogeneity().run(release, people).successes >= count_unique(release)
    assert sf.attack.Inference(column="ill").run(release, people).successes >= count_unique(release)
    halves = (("age", "town"), ("income",))
    assert sf.attack.Linkability(known=halves).run(release, people).successes >= 1


@pytest.mark.parametrize("label", ["other", "a"])
def test_rare_values_under_one_label_hide_nobody_who_is_alone(label: str) -> None:
    """Whoever has a value that is not published has the label, also if it is itself a value, and cells may be empty."""
    chance = np.random.default_rng(1)
    jobs = chance.choice([*"abcdefghijklmno", None], 300, p=[0.2] * 4 + [0.2 / 12] * 12)
    towns = chance.choice([f"town {n}" for n in range(30)], 300)
    roles = {"job": "quasi_identifying", "town": "quasi_identifying"}
    people = sf.Table.of({"job": jobs.tolist(), "town": towns.tolist()}, roles)
    release = sf.GroupRareValues(columns=("job", "town"), min_count=10, label=label).protect(people)
    sizes = release.data.frame.select(pl.len().over("job", "town")).to_series()
    outcome = sf.attack.Linking().run(release, people)
    assert outcome.facts["matched"] == len(people)
    assert outcome.facts["unique_matches"] == int((sizes == 1).sum()) > 10


def test_midpoints_of_uneven_intervals_are_aligned_by_rank() -> None:
    middle = (UNEVEN[:-1] + UNEVEN[1:]) / 2
    people = draw_people(1)
    rule: Rule = lambda numbers: middle[np.searchsorted(UNEVEN, numbers, "right") - 1]  # noqa: E731
    release = recode(people, ChangeKind.INTERVALS, rule, has_changes=True)
    outcome = sf.attack.Linking().run(release, people)
    sizes = release.data.frame.select(KNOWN).select(pl.len().over(KNOWN)).to_series()
    assert outcome.facts["matched"] == len(people)
    assert outcome.facts["unique_matches"] == int((sizes == 1).sum()) <= outcome.successes


def test_a_missing_number_stays_missing() -> None:
    people = draw_people(2)
    holed = people.frame.with_columns(pl.when(pl.int_range(pl.len()) % 9 > 0).then("age").alias("age"))
    rounded = holed.with_columns(pl.col("age") // 10 * 10)
    changes = tuple(Change(name, ChangeKind.ROUNDED, "own") for name in KNOWN[:1])
    release = sf.Release(people.replace_frame(rounded), None, (), {}, Details(), changes)
    outcome = sf.attack.Linking().run(release, people.replace_frame(holed))
    assert outcome.facts["matched"] == len(people)
    assert outcome.successes >= count_unique(release)


def write_people(people: sf.Table, folder: Path) -> str:
    path = folder / "register.csv"
    people.frame.select(KNOWN).write_csv(path)
    return str(path)


def test_people_of_a_file_are_found_by_likelihood(tmp_path: Path) -> None:
    """Noise on one column hides nobody whom the others tell apart; who is not in the release is never counted."""
    people = draw_people(3)
    noisy = sf.AddNoise(columns=("age",), privacy=0.1, ranges={"age": (0, 100)})
    release = noisy.protect(people, randomness=sf.Randomness.seeded(1))
    insider_outcome = sf.attack.Linking(external=write_people(people, tmp_path)).run(release, people)
    prosecutor = sf.attack.Linking().run(release, people)
    assert insider_outcome.attempts == 60
    assert insider_outcome.successes >= 0.8 * prosecutor.successes > 20
    strangers = people.replace_frame(people.frame.with_columns(pl.col("age") + 200, pl.lit("z").alias("town")))
    outsider_outcome = sf.attack.Linking(external=write_people(strangers, tmp_path)).run(release, people)
    assert outsider_outcome.successes == 0


def test_people_of_a_file_are_found_in_rounded_numbers(tmp_path: Path) -> None:
    people = draw_people(4)
    release = recode(people, *RULES["half to even"], has_changes=True)
    outcome = sf.attack.Linking(external=write_people(people, tmp_path)).run(release, people)
    assert outcome.successes >= count_unique(release)


@pytest.mark.parametrize(
    "numbers", [[1e-300, 2e-300, 1e300], [-1e99, 1e99, 0.0], [5.0, 5.0, 5.0], [float("inf"), 1.0, 2.0]]
)
def test_extreme_numbers_are_read_without_a_warning(numbers: list[float]) -> None:
    people = sf.Table.of({"x": numbers}, {"x": "quasi_identifying"})
    published = sf.Table.of({"x": [numbers[0], numbers[0], numbers[2]]}, {"x": "quasi_identifying"})
    for changes in ((), (Change("x", ChangeKind.ROUNDED, "own"),)):
        outcome = sf.attack.Linking().run(sf.Release(published, None, (), {}, Details(), changes), people)
        assert 0 <= outcome.successes <= 3


def test_truth_values_that_stay_are_recoded_as_truth_values() -> None:
    columns = {"smokes": [True, False, None, True, False, None] * 2, "ill": list("abc") * 4}
    table = sf.Table.of(columns, {"smokes": "quasi_identifying", "ill": "sensitive"})
    release = sf.GroupRareValues(columns="smokes", min_count=2).protect(table)
    assert sf.attack.Linking().run(release, table).successes == 3
