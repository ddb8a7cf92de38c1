# SPDX-License-Identifier: MIT
"""Linking against plain versions of itself: it is never weaker, and more knowledge never makes it weaker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.anonymity.strongest_links import choose_links
from sfumato.change import ChangeKind, state_changes
from sfumato.data.hierarchies.label_ranges import parse_range
from sfumato.data.hierarchies.published_labels import parse_set

KNOWN = ("age", "income", "job", "town")
ROWS = 300


def draw_table(seed: int, missing: str = "own_value") -> sf.Table:
    chance = np.random.default_rng(seed)
    age = chance.integers(18, 90, ROWS)
    frame = pl.DataFrame(
        {
            "age": age,
            "income": np.round(chance.lognormal(7, 1, ROWS) + 10 * age, 2),
            "job": chance.choice(list("abcdefgh"), ROWS),
            "town": chance.choice(["north", "south", "east"], ROWS),
            "disease": chance.choice(["flu", "cold"], ROWS),
        }
    )
    roles = dict.fromkeys(KNOWN, "quasi_identifying") | {"disease": "sensitive"}
    return sf.Table.of(frame, roles, missing=missing)


def swap(column: str) -> Callable[[sf.Table, sf.Randomness], sf.Release]:
    """A third of the rows exchange their values of a column."""

    def protect(table: sf.Table, randomness: sf.Randomness) -> sf.Release:
        chance = randomness.generator()
        rows = np.flatnonzero(chance.random(ROWS) < 1 / 3)
        places = np.arange(ROWS)
        places[rows] = chance.permutation(rows)
        published = table.replace_frame(table.frame.with_columns(table.frame[column][places]))
        method = sf.SwapConfidential(column=column, share=0.3)
        changes = state_changes(method, table, published, {column: ChangeKind.SWAPPED})
        return sf.Release(published, method, (), {}, changes=changes)

    return protect


def apply(method: sf.Method) -> Callable[[sf.Table, sf.Randomness], sf.Release]:
    return lambda table, randomness: method.protect(table, randomness=randomness)


def average(table: sf.Table, randomness: sf.Randomness) -> sf.Release:
    """Micro-aggregation of the numbers, beside values that stay."""
    roles = dict.fromkeys(("age", "income"), "quasi_identifying") | dict.fromkeys(("job", "town"), "insensitive")
    numbers = sf.Table.of(table.frame, roles | {"disease": "sensitive"})
    return sf.Microaggregate(k=3).protect(numbers, randomness=randomness)


METHODS: dict[str, Callable[[sf.Table, sf.Randomness], sf.Release]] = {
    "generalize": apply(sf.Generalize(models=(sf.KAnonymity(k=3),), suppression_limit=0.3)),
    "local recoding": apply(sf.Generalize(models=(sf.KAnonymity(k=3),), recoding="local")),
    "partition": apply(sf.Partition(models=(sf.KAnonymity(k=3),))),
    "microaggregate": average,
    "one gaussian": apply(sf.AddNoise(columns=("income",), privacy=0.5)),
    "two gaussian": apply(sf.AddNoise(columns=("age", "income"), privacy=0.1)),
    "two correlated": apply(sf.AddNoise(columns=("age", "income"), kind="correlated", privacy=0.1)),
    "two uniform": apply(sf.AddNoise(columns=("age", "income"), kind="uniform", privacy=0.1)),
    "intervals": apply(sf.AddNoise(columns=("age", "income"), kind="discretize", privacy=0.1)),
    "answers": apply(sf.RandomizeResponse(column="job", epsilon=1.0, kind="k_ary")),
    "bits": apply(sf.RandomizeResponse(column="job", epsilon=2.0, kind="unary")),
    "swapped numbers": swap("income"),
    "swapped values": swap("job"),
    "top coding": apply(sf.TopCode(columns=("age", "income"), k=5)),
}


def release_of(name: str, seed: int, has_changes: bool = True) -> tuple[sf.Release, sf.Table]:
    table = draw_table(seed)
    release = METHODS[name](table, sf.Randomness.seeded(seed))
    rows = release.details.get("rows")
    people = table if rows is None else table.replace_frame(table.frame[np.asarray(rows)])
    return (release if has_changes else sf.Release(release.data, None, (), {})), people


def score_best(fits: Any) -> float:
    """People × rows of scores: the share of its own row among the best of each person; −∞ is no candidate."""
    best = (fits == fits.max(axis=1, keepdims=True)) & np.isfinite(fits)
    return float((np.diag(best) / np.maximum(best.sum(axis=1), 1)).sum())


def covers(cell: Any, value: Any) -> bool:
    if cell is None or value is None or not isinstance(cell, str) or cell == "*":
        return cell in (value, "*")
    ends, members = parse_range(cell), parse_set(cell)
    if ends is not None:
        return bool(ends[0] <= value <= ends[1])
    return str(value) in (members or (cell,)) or (not isinstance(value, str) and cell == f"{value:g}")


def match_all(published: pl.DataFrame, people: pl.DataFrame, same: Callable[[Any, Any], bool]) -> float:
    fits = np.ones((people.height, published.height), dtype=bool)
    for name in people.columns:
        cells = published[name].to_list()
        fits &= np.array([[same(cell, value) for cell in cells] for value in people[name].to_list()])
    return score_best(np.where(fits, 0.0, -np.inf))


def link_nearest(published: pl.DataFrame, people: pl.DataFrame) -> float:
    distances = np.zeros((people.height, published.height))
    for name in people.columns:
        ours, theirs = published[name], people[name]
        if ours.dtype.is_numeric() and theirs.dtype.is_numeric():
            gaps = theirs.to_numpy()[:, None].astype(float) - ours.to_numpy()[None, :].astype(float)
            distances += (gaps / float(np.std(theirs.to_numpy(), ddof=1))) ** 2
        else:
            distances += theirs.cast(pl.String).to_numpy()[:, None] != ours.cast(pl.String).to_numpy()[None, :]
    return score_best(-np.round(distances, 9))


def find_naive_risks(release: sf.Release, people: sf.Table, names: Sequence[str]) -> dict[str, float]:
    published, person_cells = release.data.frame.select(names), people.frame.select(names)
    risks = {
        "equality": match_all(published, person_cells, lambda cell, value: cell == value),
        "covering": match_all(published, person_cells, covers),
        "nearest row": link_nearest(published, person_cells),
    }
    untouched = [name for name in names if published[name].to_list() == person_cells[name].to_list()]
    if untouched:
        risks["untouched columns"] = match_all(
            published[untouched], person_cells[untouched], lambda cell, value: cell == value
        )
    return risks


@pytest.mark.parametrize("has_changes", [True, False], ids=["stated", "not stated"])
@pytest.mark.parametrize("name", METHODS)
def test_no_plain_linker_is_stronger(name: str, has_changes: bool) -> None:
    """Over two tables. Without a statement, nobody knows which columns are untouched: within three deviations."""
    ours, theirs = 0.0, dict[str, float]()
    for seed in range(2):
        release, people = release_of(name, seed, has_changes)
        ours += choose_links(release, people, KNOWN).links.count_expected_hits()
        for linker, hits in find_naive_risks(release, people, KNOWN).items():
            theirs[linker] = theirs.get(linker, 0.0) + hits
    for linker, hits in theirs.items():
        slack = 0.0 if has_changes else 3 * np.sqrt(hits)
        assert ours >= hits - slack - 1e-6, (linker, ours, theirs)


@pytest.mark.parametrize("name", METHODS)
def test_more_knowledge_is_never_weaker(name: str) -> None:
    """Every column more, over three tables, within three deviations."""
    hits = np.zeros(len(KNOWN))
    for seed in range(3):
        release, people = release_of(name, seed)
        for number in range(len(KNOWN)):
            hits[number] += choose_links(release, people, KNOWN[: number + 1]).links.count_expected_hits()
    assert (np.diff(hits) >= -3 * np.sqrt(hits[:-1])).all(), hits


def test_one_randomized_column_does_not_blind_the_attack() -> None:
    release, people = release_of("answers", 0)
    clean_outcome = sf.attack.Linking(knowledge=("age", "income", "town")).run(release, people)
    assert sf.attack.Linking().run(release, people).risk >= clean_outcome.risk > 0.9


def test_a_single_equal_row_does_not_hide_the_nearest() -> None:
    people = sf.Table.of({"a": [1.0, 20.0, 300.0, 4000.0]}, {"a": "quasi_identifying"})
    noisy = sf.Table.of({"a": [1.0, 20.5, 301.0, 3999.0]}, {"a": "quasi_identifying"})
    outcome = sf.attack.Linking().run(sf.Release(noisy, None, (), {}), people)
    assert outcome.successes == 4


def test_the_equal_row_is_preferred_to_rows_that_may_match() -> None:
    table = sf.Table.of({"q": ["a", "b", None, None]}, {"q": "quasi_identifying"}, missing="matches_any")
    links = choose_links(sf.Release(table, None, (), {}), table, ("q",)).links
    assert [links.get_rows(person).tolist() for person in range(4)] == [[0], [1], [2, 3], [2, 3]]


def test_a_blanked_cell_rules_nobody_out() -> None:
    table = sf.Table.of(
        {"q": ["a", "b", "c"], "r": ["x", "y", "z"]}, {"q": "quasi_identifying", "r": "quasi_identifying"}
    )
    frame = table.frame.with_columns(pl.Series("q", [None, "b", "c"]))
    published = table.replace_frame(frame)
    changes = state_changes(sf.SwapConfidential(column="q", share=0.1), table, published, {"q": ChangeKind.BLANKED})
    outcome = sf.attack.Linking().run(sf.Release(published, None, (), {}, changes=changes), table)
    assert outcome.successes == 3


def test_fresh_values_tell_nothing() -> None:
    """A release of other people is linked no better than blindly: within five deviations of one hit a table."""
    hits = 0.0
    for seed in range(10):
        people, strangers = draw_table(seed), draw_table(1000 + seed)
        changes = state_changes(
            sf.SwapConfidential(column="job", share=0.1),
            people,
            strangers,
            dict.fromkeys(KNOWN, ChangeKind.DRAWN),
        )
        release = sf.Release(strangers, None, (), {}, changes=changes)
        hits += choose_links(release, people, KNOWN).links.count_expected_hits()
    # The best of a few ways that each hit once on average.
    assert hits < 10 * 2 + 5 * np.sqrt(10 * 2)


def test_a_sample_is_tried_where_many_are_compared_with_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred of 300 people, within four deviations of what all give; in truthful cells all are looked up."""
    monkeypatch.setattr("sfumato.attack.anonymity.strongest_links._MOST_PAIRS", 30_000)
    monkeypatch.setattr("sfumato.attack.anonymity.strongest_links._FEWEST_TRIED", 10)
    release, people = release_of("one gaussian", 0)
    expected = choose_links(release, people, KNOWN).links.count_expected_hits() / ROWS
    for attack in (sf.attack.Linking(), sf.attack.Homogeneity()):
        outcome = attack.run(release, people, people)
        assert outcome.attempts == 100 and outcome.control is not None and outcome.control <= 100
    outcome = sf.attack.Linking().run(release, people)
    assert abs(outcome.risk - expected) < 4 * np.sqrt(0.25 / 100)
    release, people = release_of("partition", 0)
    assert sf.attack.Linking().run(release, people).attempts == ROWS
