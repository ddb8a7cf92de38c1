# SPDX-License-Identifier: MIT
"""Synthetic data judged: distances and copies against brute force, hold-outs, and claims that break."""

from __future__ import annotations

import io
from collections import Counter
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.measure.synthesis.synthesis_checks import (
    closest_records,
    compare_with_holdout,
    count_foreign_values,
    count_people_at_extremes,
    count_rare_words,
    exact_copies,
    pairwise_total_variation,
)

Row = tuple[int | None, str | None, bool]


def table(rows: list[Row] | dict[str, Any]) -> sf.Table:
    if isinstance(rows, dict):
        return sf.Table.of(rows, dict.fromkeys(rows, "insensitive"))
    schema = {"n": pl.Int64, "w": pl.String, "b": pl.Boolean}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    return sf.Table.of(frame, dict.fromkeys(schema, "insensitive"))


cells = st.tuples(st.none() | st.integers(0, 6), st.none() | st.sampled_from("abc"), st.booleans())
some_rows = st.lists(cells, min_size=1, max_size=12)


def gower(row: Row, other: Row, span: float) -> float:
    """The distance as the module says it, cell by cell."""
    if row[0] is None or other[0] is None:
        first = float(row[0] is not other[0])
    else:
        first = min(abs(row[0] - other[0]) / span, 1.0)
    return (first + float(row[1] != other[1]) + float(row[2] != other[2])) / 3


@settings(max_examples=150, deadline=None)
@given(some_rows, some_rows, st.data())
def test_closest_records_by_brute_force(published: list[Row], training_rows: list[Row], data: st.DataObject) -> None:
    aside = data.draw(st.lists(cells, min_size=len(training_rows), max_size=len(training_rows)))
    known_values = [row[0] for row in (*training_rows, *aside) if row[0] is not None]
    span = (
        float(max(known_values) - min(known_values)) if known_values and max(known_values) > min(known_values) else 1.0
    )
    training_distances = [min(gower(row, person, span) for person in training_rows) for row in published]
    far = [min(gower(row, person, span) for person in aside) for row in published]
    closeness = closest_records(table(published), table(training_rows), table(aside))
    pairs = [(round(a, 12), round(b, 12)) for a, b in zip(training_distances, far, strict=True)]
    expected = sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs)
    assert closeness.rows == len(published)
    assert closeness.people == len(training_rows)
    assert closeness.nearer == pytest.approx(expected / len(published))
    assert closeness.training_median == pytest.approx(float(np.median(training_distances)))
    assert closeness.holdout_5th == pytest.approx(float(np.quantile(far, 0.05)))
    assert closeness.equal_training == sum(distance == 0 for distance in training_distances)
    assert closeness.equal_holdout == sum(distance == 0 for distance in far)


def test_closest_records_thins_both_sides() -> None:
    chance = np.random.default_rng(1)
    many = table({"x": chance.normal(size=5000)})
    few = table({"x": chance.normal(size=700)})
    closeness = closest_records(many, many, few)
    assert (closeness.rows, closeness.people) == (5000, 700)
    closeness = closest_records(many, many, few, sample=300)
    assert (closeness.rows, closeness.people) == (300, 300)
    assert closeness == closest_records(many, many, few, sample=300)
    assert closeness != closest_records(many, many, few, sample=300, seed=1)
    assert closest_records(few, many, few, sample=None).nearer == 0.0


def test_fresh_people_are_as_near_to_both_sides_and_copies_are_not() -> None:
    chance = np.random.default_rng(2)

    def people(rows: int) -> sf.Table:
        return table({"x": chance.normal(size=rows), "y": chance.choice(list("abcd"), rows)})

    training, aside = people(2000), people(2000)
    # 2,000 people a side: the share is within five deviations, of at most 0.5 / √2000 each, of one half.
    assert abs(closest_records(people(4000), training, aside).nearer - 0.5) < 0.056
    copied = closest_records(training, training, aside)
    assert copied.nearer > 0.99
    assert copied.training_5th == 0
    assert copied.holdout_5th > 0


def test_dates_are_compared_in_days() -> None:
    days = [date(2024, 1, 1), date(2024, 1, 11)]
    closeness = closest_records(table({"d": [date(2024, 1, 3)]}), table({"d": days[:1]}), table({"d": days[1:]}))
    assert closeness.training_5th == pytest.approx(0.2)
    assert closeness.holdout_5th == pytest.approx(0.8)
    assert closeness.nearer == 1


@settings(max_examples=100, deadline=None)
@given(some_rows, some_rows)
def test_exact_copies_by_brute_force(published: list[Row], people: list[Row]) -> None:
    copies = exact_copies(table(published), table(people))
    counts = Counter(people)
    published_rows = set(published)
    assert copies.rows == sum(row in counts for row in published)
    assert copies.unique_rows == sum(counts[row] == 1 for row in published)
    assert copies.people == sum(row in published_rows for row in people)


def test_who_is_unique_may_be_judged_among_more_people() -> None:
    published, part = table([(1, "a", True)]), table([(1, "a", True), (2, "b", True)])
    population = table([(1, "a", True), (1, "a", True), (2, "b", True)])
    assert exact_copies(published, part).unique_rows == 1
    assert exact_copies(published, part, population).unique_rows == 0
    with pytest.raises(sf.DataError, match='no column "w"'):
        exact_copies(published, table({"n": [1], "b": [True]}))


@settings(max_examples=100, deadline=None)
@given(some_rows, some_rows)
def test_pairwise_total_variation_by_brute_force(before: list[Row], after: list[Row]) -> None:
    """Without cuts of numbers: seven values are in at most ten groups of their own."""
    words = [
        [
            tuple(row[column_index] if column_index else str(row[column_index]) for column_index in range(3))
            for row in rows
        ]
        for rows in (before, after)
    ]
    expected = []
    for pair in ((0, 1), (0, 2), (1, 2)):
        counts = [Counter(tuple(row[column_index] for column_index in pair) for row in rows) for rows in words]
        keys = counts[0].keys() | counts[1].keys()
        expected.append(sum(abs(counts[0][k] / len(before) - counts[1][k] / len(after)) for k in keys) / 2)
    tables = [table(rows) for rows in (before, after)]
    text_tables = [source.replace_frame(source.frame.with_columns(pl.col("n").cast(pl.String))) for source in tables]
    assert pairwise_total_variation(text_tables[0], text_tables[1]) == pytest.approx(sum(expected) / 3)


numbers = st.none() | st.integers(-3, 12)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.none() | st.integers(0, 9), numbers), min_size=1, max_size=30),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=20),
    st.integers(1, 12),
)
def test_cuts_of_numbers_by_brute_force(before: list[Any], after: list[Any], bins: int) -> None:
    """As the definition says it, with published numbers that no original has, between and beyond them."""
    groups: list[list[list[int]]] = [[], []]
    for column_index in (0, 1):
        known_values = sorted(row[column_index] for row in before if row[column_index] is not None)
        ranks = [-(-len(known_values) * k // bins) for k in range(1, bins)]
        cuts = sorted({known_values[rank - 1] for rank in ranks if rank}) if known_values else []
        for side, rows in enumerate((before, after)):
            labels = []
            for row in rows:
                cut_indices = [
                    cut_index
                    for cut_index, cut in enumerate(cuts)
                    if row[column_index] is not None and row[column_index] <= cut
                ]
                labels.append(-1 if row[column_index] is None else cut_indices[0] if cut_indices else len(cuts))
            groups[side].append(labels)
    counts = [Counter(zip(*side_groups, strict=True)) for side_groups in groups]
    keys = counts[0].keys() | counts[1].keys()
    expected = sum(abs(counts[0][key] / len(before) - counts[1][key] / len(after)) for key in keys) / 2
    schema = {"x": pl.Int64, "y": pl.Int64}
    old, new = (table(pl.DataFrame(rows, schema=schema, orient="row").to_dict()) for rows in (before, after))
    assert pairwise_total_variation(old, new, bins=bins) == pytest.approx(expected)


def test_numbers_without_a_cut_between_them_are_one_group() -> None:
    """By hand, ten groups: a number of one person in thirty has no cut of its own, and none lies where nobody is."""
    number_table = table({"x": [0] * 13 + [1] + [2] * 16})
    assert pairwise_total_variation(number_table, table({"x": [1] * 10})) == pytest.approx(13 / 30)
    assert pairwise_total_variation(number_table, table({"x": [3] * 10})) == 1  # above the last cut, which is 2
    few = table({"x": [0] * 29 + [5]})
    assert pairwise_total_variation(few, table({"x": [9] * 10})) == pytest.approx(29 / 30)  # above it, as 5 is
    words = [source.replace_frame(source.frame.cast(pl.String)) for source in (number_table, table({"x": [1] * 10}))]
    assert pairwise_total_variation(words[0], words[1]) == pytest.approx(29 / 30)


def test_numbers_are_cut_into_groups_of_equal_size() -> None:
    """By hand: of 0 … 99 in four groups the halves are apart by one half; a shift within groups costs nothing."""
    numbers = table({"x": list(range(100)), "y": ["a"] * 100})
    half = table({"x": [*range(50), *range(50)], "y": ["a"] * 100})
    assert pairwise_total_variation(numbers, half, bins=4) == pytest.approx(0.5)
    moved_numbers = table({"x": [number // 25 * 25 + 3 for number in range(100)], "y": ["a"] * 100})
    assert pairwise_total_variation(numbers, moved_numbers, bins=4) == 0
    assert pairwise_total_variation(numbers, numbers) == 0
    assert pairwise_total_variation(numbers, numbers.replace_frame(numbers.frame.reverse())) == 0
    with pytest.raises(sf.DataError, match="no rows"):
        pairwise_total_variation(numbers, numbers.replace_frame(numbers.frame.clear()))


def test_against_holdout_compares_as_many_people() -> None:
    chance = np.random.default_rng(3)
    population = table({"x": chance.normal(size=600), "y": chance.choice(list("ab"), 600)})
    aside = np.arange(100)
    training = population.replace_frame(population.frame[100:])
    comparison = compare_with_holdout(training, population, aside)
    assert comparison.people == 100
    assert comparison.training.unique_rows == 100
    assert comparison.holdout.unique_rows == 0
    report = comparison.as_json()
    assert report["copied_uniques"] == 100
    assert report["copied_uniques_holdout"] == 0
    assert report["nearer_training"] == comparison.closest.nearer > 0.5
    for strange in ([], np.arange(600), [-1], [600]):
        with pytest.raises(sf.DataError, match="held out"):
            compare_with_holdout(training, population, strange)


def test_foreign_values() -> None:
    before = table([(1, "a", True), (5, "b", False)])
    assert count_foreign_values(before, table([(1, "a", True), (3, "b", True)]), ["n", "w", "b"]) == 0
    after = table([(0, "a", True), (6, "c", True), (None, None, True)])
    assert count_foreign_values(before, after, ["n"]) == 3
    assert count_foreign_values(before, after, ["w"]) == 2
    assert count_foreign_values(table([(None, "a", True)]), after, ["n"]) == 2


def test_people_at_extremes() -> None:
    before = table({"x": [1, 2, 2, 3, 9], "d": [date(2024, 1, day) for day in (1, 2, 3, 4, 5)]})
    after = table({"x": [2, 3], "d": [date(2024, 1, 3)] * 2})
    assert count_people_at_extremes(before, after, ["x"]) == 2
    assert count_people_at_extremes(before, after, ["d"]) == 3
    assert count_people_at_extremes(before, before, ["x", "d"]) == 1
    assert count_people_at_extremes(before, table({"x": [10, 2]}), ["x"]) == 0


def test_people_at_extremes_of_numbers_kept_as_text() -> None:
    before = table(
        {
            "day": [f"2024-01-0{day}" for day in range(1, 6)],
            "moment": [f"2024-01-0{day}T10:30:00.5Z" for day in range(1, 6)],
            "hour": [f"0{hour}:30" for hour in range(1, 6)],
            "paid": ["9.50", "10.00", "11.25", "100.00", "-3.00"],
        }
    )
    after = before.replace_frame(before.frame[1:3])
    assert count_people_at_extremes(before, after, ["day"]) == 2
    assert count_people_at_extremes(before, after, ["moment"]) == 2
    assert count_people_at_extremes(before, after, ["hour"]) == 2
    assert count_people_at_extremes(before, after, ["paid"]) == 2  # as text, "9.50" would be the highest
    assert count_people_at_extremes(before, before, before.frame.columns) == 1
    assert count_foreign_values(before, after, before.frame.columns) == 0
    assert count_foreign_values(before, table({"day": ["2024-01-02", "2024-01-09", "never"]}), ["day"]) == 2
    assert count_people_at_extremes(table({"w": ["a", "b"]}), table({"w": ["a"]}), ["w"]) == 0
    assert count_people_at_extremes(table({"w": ["24-01-01", "b"]}), table({"w": ["a"]}), ["w"]) == 0


def test_dates_that_were_written_and_read_again() -> None:
    """A file of text has no dates: the release read from it holds text where the originals hold dates."""
    days = [date(2024, 1, 1) + timedelta(days=offset) for offset in range(40)]
    before = table({"d": days, "n": list(range(40))})
    after = before.replace_frame(before.frame[5:35])
    read = table(pl.read_csv(io.StringIO(after.frame.write_csv())).to_dict(as_series=False))
    assert read.frame.schema["d"] == pl.String
    assert count_people_at_extremes(before, read, ["d"]) == count_people_at_extremes(before, after, ["d"]) == 6
    assert count_foreign_values(before, read, ["d", "n"]) == 0
    assert pairwise_total_variation(before, read) == pairwise_total_variation(before, after) < 1
    halves = (before.replace_frame(before.frame[:20]), before.replace_frame(before.frame[20:]))
    assert closest_records(read, *halves) == closest_records(after, *halves)
    text = before.replace_frame(before.frame.with_columns(pl.col("d").cast(pl.String)))
    assert pairwise_total_variation(text, after) == pairwise_total_variation(before, after)
    sides = (text.replace_frame(text.frame[:20]), text.replace_frame(text.frame[20:]))
    assert closest_records(after, *sides) == closest_records(after, *halves)


def test_rare_words() -> None:
    days = [f"2024-01-0{day}" for day in range(1, 9)]
    original = table({"w": ["a"] * 5 + ["b"] * 2 + [None], "n": [1] * 8, "d": days})
    assert count_rare_words(original, original, 3, ["d"]) == 8
    assert count_rare_words(original, original, 3, []) == 0  # exactly the named columns
    assert count_rare_words(original, table({"w": ["strange", "a", None]}), 1) == 1
    check = CHECKS["rare_words"]
    assert check(Evidence(original, original), {"fewest": 3, "columns": ("w",)}) == 2
    assert count_rare_words(original, original, 3) == 2
    assert count_rare_words(original, original, 2) == 0


def test_people_whom_an_earlier_method_left_out_are_not_counted() -> None:
    """Of five originals two are left, of whom one alone reaches the highest number and has the word."""
    original = sf.Table.of(
        pl.DataFrame({"pay": [9, 9, 1, 9, 1], "ill": ["flu", "flu", "ok", "flu", "ok"]}),
        {"pay": "sensitive", "ill": "sensitive"},
    )
    published = original.replace_frame(original.frame[[1, 2]])
    told: dict[str, dict[str, Any]] = {
        "people_at_extremes": {"columns": ("pay",)},
        "rare_words": {"fewest": 2, "columns": ("ill",)},
    }
    measured = [
        {name: CHECKS[name](Evidence(published, original, rows, None), told[name]) for name in told}
        for rows in (None, np.array([1, 2]))
    ]
    assert measured == [{"people_at_extremes": 2, "rare_words": 0}, {"people_at_extremes": 1, "rare_words": 2}]


def test_nearer_training_is_measured_from_the_details() -> None:
    chance = np.random.default_rng(4)
    population = table({"x": chance.normal(size=300)})
    published = population.replace_frame(population.frame[150:])
    check = CHECKS["nearer_training"]
    evidence = Evidence(published, population, None, None, {"holdout": np.arange(150)})
    assert check(evidence, {}) > 0.95
    with pytest.raises(KeyError):
        check(Evidence(published, population), {})
