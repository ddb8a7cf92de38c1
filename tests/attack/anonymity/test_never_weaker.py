# SPDX-License-Identifier: MIT
"""Attacks against plain versions of themselves, on small tables with a change of its own in every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.anonymity.strongest_links import choose_links, search_by_likelihood
from sfumato.change import ChangeKind
from tests.attack.anonymity.changed_tables import KNOWN, OF_NUMBERS, OF_WORDS, ChangedTable, draw_changed_table
from tests.attack.anonymity.test_strongest_links import covers, find_naive_risks

HALVES = (("age", "job"), ("income", "town"))


def count_hits(table: ChangedTable, names: Sequence[str]) -> float:
    return choose_links(table.release, table.people, names).links.count_expected_hits()


def measure_gower(published: pl.DataFrame, people: pl.DataFrame) -> Any:
    """People × rows: numbers by their gap in the range, all else by whether it is spelled alike."""
    distances = np.zeros((people.height, published.height))
    for name in people.columns:
        ours, theirs = published[name], people[name]
        if ours.dtype.is_numeric():
            cells = ours.cast(pl.Float64).to_numpy()
            gaps = np.abs(theirs.cast(pl.Float64).to_numpy()[:, None] - cells) / np.ptp(cells[~np.isnan(cells)])
            distances += np.where(np.isnan(gaps), 1.0, np.minimum(gaps, 1.0))
        else:
            distances += theirs.cast(pl.String).to_numpy()[:, None] != ours.fill_null("").to_numpy()
    return np.round(distances, 9)


def find_nearest(table: ChangedTable, names: Sequence[str]) -> Any:
    """People × rows: the chance that a row is drawn from the nearest."""
    distances = measure_gower(table.release.data.frame.select(names), table.people.frame.select(names))
    nearest = distances == distances.min(axis=1, keepdims=True)
    return nearest / nearest.sum(axis=1, keepdims=True)


def test_all_kinds_of_change_are_drawn() -> None:
    kinds = {kind for seed in range(30) for kind in draw_changed_table(seed, 8).kinds.values()}
    assert kinds == {*OF_NUMBERS.values(), *OF_WORDS.values()}


def test_no_plain_linker_finds_more() -> None:
    """Covering, equality, untouched columns and the nearest row, table by table."""
    for seed in range(20):
        table = draw_changed_table(seed, 20)
        ours = count_hits(table, KNOWN)
        naive = find_naive_risks(table.release, table.people, KNOWN)
        assert ours >= max(naive.values()) - 1e-6, (seed, table.kinds, ours, naive)


def test_a_column_more_never_hides_anybody() -> None:
    """Over 12 tables, each column left out in turn: none of the sums is larger, within three deviations of one."""
    every, fewer = 0.0, dict.fromkeys(KNOWN, 0.0)
    for seed in range(6):
        table = draw_changed_table(seed, 20)
        every += count_hits(table, KNOWN)
        for name in KNOWN:
            fewer[name] += count_hits(table, [other for other in KNOWN if other != name])
    assert every >= max(fewer.values()) - 3, (every, fewer)


def test_untouched_columns_alone_find_no_more_than_all() -> None:
    for seed in range(20):
        table = draw_changed_table(seed, 20)
        untouched = [name for name in KNOWN if table.kinds[name] is ChangeKind.KEPT]
        if untouched:
            assert count_hits(table, KNOWN) >= count_hits(table, untouched) - 1e-6, (seed, table.kinds)


def find_covering(table: ChangedTable) -> Any:
    """People × rows: which rows cover the person in every known column."""
    fits = np.ones((len(table.people), len(table.release.data)), dtype=bool)
    for name in KNOWN:
        cells = table.release.data.frame[name].to_list()
        fits &= np.array([[covers(cell, value) for cell in cells] for value in table.people.frame[name].to_list()])
    return fits


def test_who_reads_the_rows_that_cover_learns_no_more() -> None:
    """Homogeneity, background knowledge, similarity, composition: never below what covering rows give away."""
    groups = {"nose": ("flu", "cold"), "toe": ("gout",)}
    for seed in range(3):
        table = draw_changed_table(seed, 20)
        secrets = table.people.frame["disease"].to_numpy()
        meanings = np.where(secrets == "gout", "toe", "nose")
        fits = find_covering(table)
        disclosures = sum(set(secrets[rows]) == {secret} for rows, secret in zip(fits, secrets, strict=True))
        alike = sum(set(meanings[rows]) == {meaning} for rows, meaning in zip(fits, meanings, strict=True))
        second_table = draw_changed_table(seed, 20)
        attacks: list[tuple[sf.attack.Attack, int]] = [
            (sf.attack.Homogeneity(), disclosures),
            (sf.attack.BackgroundKnowledge(excluded=0), disclosures),
            (sf.attack.Similarity(column="disease", groups=groups), alike),
            (sf.attack.Composition().add_releases(second_table.release), disclosures),
        ]
        for attack, naive in attacks:
            assert attack.run(table.release, table.people).successes >= naive, (seed, attack, table.kinds)


def test_a_missing_cell_that_may_match_does_not_hide_an_equal_row() -> None:
    roles = {"q": "quasi_identifying", "s": "sensitive"}
    table = sf.Table.of({"q": ["a", "b", None], "s": ["x", "y", "z"]}, roles, missing="matches_any")
    release = sf.Release(table, None, (), {})
    assert sf.attack.Linking().run(release, table).successes == 3
    assert sf.attack.Homogeneity().run(release, table).successes == 3


def test_inference_is_no_weaker_than_the_nearest_row_or_the_commonest_secret() -> None:
    """Of tables so small that everybody is tried: never below the most common, and over all above the nearest row."""
    ours = nearest = 0.0
    for seed in range(30):
        table = draw_changed_table(seed, 30)
        outcome = sf.attack.Inference(column="disease").run(table.release, table.people)
        secrets = table.people.frame["disease"]
        assert outcome.successes >= outcome.baseline == secrets.value_counts()["count"].max()
        ours += outcome.successes
        same = secrets.to_numpy()[:, None] == secrets.to_numpy()
        nearest += float((find_nearest(table, KNOWN) * same).sum())
    assert ours > nearest


def test_inference_on_people_who_are_not_tried_is_no_weaker_either() -> None:
    """What is chosen on 400 others is as good for those tried: within four deviations of 400 guesses."""
    for seed in range(4):
        table = draw_changed_table(seed, 800)
        outcome = sf.attack.Inference(column="disease", attempts=400).run(table.release, table.people)
        assert outcome.successes >= outcome.baseline - 4 * np.sqrt(400 / 4)


def test_linkability_joins_no_fewer_halves_than_the_nearest_rows() -> None:
    """Over 30 tables of 30 people."""
    ours = theirs = 0.0
    for seed in range(30):
        table = draw_changed_table(seed, 30)
        ours += sf.attack.Linkability(known=HALVES).run(table.release, table.people).successes
        left, right = (find_nearest(table, names) for names in HALVES)
        theirs += float((left * right).sum())
    assert ours > theirs


@pytest.mark.parametrize("seed", range(8))
def test_the_likeliest_rows_by_two_ways_of_counting(seed: int) -> None:
    """The compiled search lists just the rows whose cost, column by column in arrays, is the least."""
    table = draw_changed_table(seed, 40)
    search = search_by_likelihood(table.release, table.people, KNOWN)
    order, start, count = search.find_rows(table.people)
    persons, classes = search.list_nearest_classes(table.people, 1)
    for person in range(40):
        rows = np.flatnonzero(np.isin(search.class_of_row, classes[persons == person]))
        assert np.sort(order[start[person] : start[person] + count[person]]).tolist() == rows.tolist()


def test_a_drawn_row_costs_what_the_nearest_does() -> None:
    table = draw_changed_table(3, 40)
    search = RowSearch.search_by_distance(table.release.data, KNOWN)
    sampled_rows = search.draw_rows(table.people, 5, np.random.default_rng(0))
    costs = np.stack([search.measure_costs(table.people, rows) for rows in sampled_rows.T], axis=1)
    assert (np.diff(costs, axis=1) >= -1e-9).all()
    least = np.concatenate([part.min(axis=1) for _, part in search.iterate_costs(table.people)])
    assert costs[:, 0] == pytest.approx(least)


@pytest.mark.parametrize("far", [5_000, 10**10, 3 * 10**12])
@pytest.mark.parametrize("centre", ["mean", "median"])
def test_a_far_number_hides_nobody_in_means(far: int, centre: str) -> None:
    """A code for "unknown" among the numbers widens their scale, and the nearest mean is still the nearest."""
    numbers = [1000 + 3 * row for row in range(117)] + 3 * [far]
    secrets = [f"i{row // 3 % 20}" for row in range(120)]
    table = sf.Table.of({"x": numbers, "s": secrets}, {"x": "quasi_identifying", "s": "sensitive"})
    release = sf.Microaggregate(k=3, centre=centre).protect(table, sf.Randomness.seeded(1))
    gaps = np.abs(release.data.frame["x"].cast(pl.Float64).to_numpy() - np.array(numbers, dtype=float)[:, None])
    nearest = gaps == gaps.min(axis=1, keepdims=True)
    naive = float((np.diag(nearest) / nearest.sum(axis=1)).sum())
    assert sf.attack.Linking().run(release, table).successes >= naive - 1e-6
    learned = sum({secrets[row] for row in np.flatnonzero(rows)} == {secrets[i]} for i, rows in enumerate(nearest))
    assert learned > 50
    assert sf.attack.Homogeneity(column="s").run(release, table).successes >= learned
