# SPDX-License-Identifier: MIT
"""Classification: what must be learned, what must not, and naive Bayes against plain Python."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import DataError, PolicyError
from sfumato.measure.utility import classification as module
from sfumato.measure.utility.classification import MODELS, Accuracy, classification_accuracy
from sfumato.randomness import Randomness
from sfumato.table import Table

Texts = list[str | None]


def patients(rows: int = 200) -> Table:
    """The young are healthy in the north, the old are ill everywhere; colours say nothing."""
    generator = np.random.default_rng(1)
    ages = generator.integers(20, 80, rows)
    towns = generator.choice(["Turin", "Milan", "Bari", "Lecce"], rows)
    ill = np.where((ages >= 50) | np.isin(towns, ["Bari", "Lecce"]), "ill", "well")
    return Table.of(
        {"age": ages, "town": towns, "colour": generator.choice(["red", "blue"], rows), "ill": ill},
        {"age": "quasi_identifying", "town": "quasi_identifying", "colour": "insensitive", "ill": "sensitive"},
        {"town": [["Turin", "north"], ["Milan", "north"], ["Bari", "south"], ["Lecce", "south"]]},
    )


def recoded(table: Table) -> Table:
    """Half the people in ranges and towns, the others in ages and regions."""
    half = pl.arange(0, len(table), eager=True) % 2 == 0
    region = pl.col("town").replace({"Turin": "north", "Milan": "north", "Bari": "south", "Lecce": "south"})
    span = pl.when(pl.col("age") < 50).then(pl.lit("[20, 49]")).otherwise(pl.lit("[50, 79]"))
    return table.replace_frame(
        table.frame.with_columns(
            pl.when(half).then(span).otherwise(pl.col("age").cast(pl.String)).alias("age"),
            pl.when(half).then(pl.col("town")).otherwise(region).alias("town"),
        )
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_original_teaches_what_the_original_teaches(model: str) -> None:
    table = patients()
    accuracy = classification_accuracy(table, table, "ill", [model])[model]
    assert accuracy.release == pytest.approx(accuracy.original, abs=0.011)
    assert accuracy.original > accuracy.zero_r + 0.1 and accuracy.kept_share == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("model", MODELS)
def test_a_local_recoding_along_the_truth_still_teaches_it(model: str) -> None:
    table = patients()
    accuracy = classification_accuracy(table, recoded(table), "ill", [model])[model]
    assert accuracy.release > accuracy.zero_r + 0.1
    assert accuracy.release > accuracy.original - 0.06


def test_what_is_suppressed_teaches_no_more_than_zero_r() -> None:
    table = patients()
    stars = table.replace_frame(table.frame.with_columns(pl.lit("*").alias(name) for name in ("age", "town", "colour")))
    for accuracy in classification_accuracy(table, stars, "ill", ["logistic", "naive_bayes"]).values():
        assert accuracy.release == accuracy.zero_r


def test_zero_r_by_hand() -> None:
    table = Table.of({"a": list("xyxyxyxyxy"), "t": ["no"] * 7 + ["yes"] * 3}, dict.fromkeys("at", "quasi_identifying"))
    accuracy = classification_accuracy(table, table, "t", ["naive_bayes"])["naive_bayes"]
    assert accuracy.zero_r == 0.7
    assert classification_accuracy(table, table, "a", ["naive_bayes"], folds=2)["naive_bayes"].zero_r == 0.5


def test_kept_is_the_share_of_the_gain_over_zero_r() -> None:
    assert Accuracy(release=0.8, original=0.9, zero_r=0.7).kept_share == 0.5
    assert Accuracy(release=0.8, original=0.7, zero_r=0.7).kept_share is None


def test_a_held_out_person_is_not_trained_on_in_the_release_either() -> None:
    # Each value is one person's: only who saw the person's own row could know the class.
    generator = np.random.default_rng(3)
    names = [f"p{i}" for i in range(40)]
    table = Table.of(
        {"who": names, "t": generator.permutation(["yes", "no"] * 20)}, dict.fromkeys(("who", "t"), "quasi_identifying")
    )
    order = generator.permutation(40)
    shuffled = table.replace_frame(table.frame[order])
    honest = classification_accuracy(table, shuffled, "t", ["naive_bayes"], rows=order)["naive_bayes"]
    assert honest.release <= 0.5 and honest.original <= 0.5
    cheated = classification_accuracy(table, shuffled, "t", ["naive_bayes"], folds=40, rows=np.roll(order, 1))
    assert cheated["naive_bayes"].release > 0.9


def test_rows_that_were_left_out_are_tested_all_the_same() -> None:
    table = patients()
    kept_rows = np.flatnonzero(np.arange(200) % 4 > 0)
    published = table.replace_frame(table.frame[kept_rows])
    accuracy = classification_accuracy(table, published, "ill", ["naive_bayes"], rows=kept_rows)["naive_bayes"]
    assert accuracy.release > accuracy.zero_r and round(accuracy.release * 200, 6).is_integer()
    empty_table = table.replace_frame(table.frame.head(0))
    assert classification_accuracy(table, empty_table, "ill", ["tree"], rows=[])["tree"].release == 0.0


def test_a_published_target_of_two_classes_counts_as_each_in_part() -> None:
    table = Table.of({"a": ["x", "y", "x"], "t": ["p", "q", "r"]}, dict.fromkeys("at", "quasi_identifying"))
    published = table.replace_frame(table.frame.with_columns(t=pl.Series(["{p, q}", "q", "*"])))
    classes = module._TargetClasses.of(table, published, "t").published_rows
    assert list(zip(classes.row.tolist(), classes.label.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 1),
        (2, 0),
        (2, 1),
        (2, 2),
    ]
    assert classes.weight.tolist() == [1 / 2, 1 / 2, 1, 1 / 3, 1 / 3, 1 / 3]


def test_people_without_a_target_are_neither_learnt_from_nor_tested() -> None:
    table = Table.of(
        {"a": ["x", "y"] * 6, "t": ["p", "q"] * 5 + [None, None]}, dict.fromkeys("at", "quasi_identifying")
    )
    accuracy = classification_accuracy(table, table, "t", ["naive_bayes"], folds=2)["naive_bayes"]
    assert (accuracy.release, accuracy.original, accuracy.zero_r) == (1.0, 1.0, 0.5)


def test_people_with_missing_cells_are_left_out_where_the_table_says_so() -> None:
    data = {"a": ["x", "y", None] * 4, "t": ["p", "q", "q"] * 4}
    table = Table.of(data, dict.fromkeys("at", "quasi_identifying"), missing="drop")
    rows = np.flatnonzero(table.frame["a"].is_not_null())
    accuracy = classification_accuracy(table, table.replace_frame(table.frame[rows]), "t", ["tree"], 2, rows)["tree"]
    assert accuracy.zero_r == 0.5


def test_missing_cells_are_features_of_their_own() -> None:
    ages = [None, 50] * 20
    table = Table.of({"a": ages, "b": ["x"] * 40, "t": ["p", "q"] * 20}, dict.fromkeys("abt", "quasi_identifying"))
    for accuracy in classification_accuracy(table, table, "t").values():
        assert accuracy.release == accuracy.original == 1.0


def test_drawn_values_lie_under_their_labels_and_are_spread_evenly() -> None:
    domain = Domain.of(pl.Series("x", [1, 2, 3, 4, 5, None]))
    labels = pl.Series(["[2, 4]"] * 3000 + ["{1, 5}"] * 2000 + [None] * 10 + ["3"] * 10 + ["*"] * 6000)
    leaf_codes = module._draw_leaves(domain.read(labels, holes=True), np.random.default_rng(0)).codes.tolist()
    counts = [Counter(leaf_codes[begin:end]) for begin, end in ((0, 3000), (3000, 5000), (5010, 5020), (5020, None))]
    assert set(leaf_codes[5000:5010]) == {5} and counts[2] == {2: 10}
    assert set(counts[0]) == {1, 2, 3} and set(counts[1]) == {0, 4} and set(counts[3]) == {0, 1, 2, 3, 4, 5}
    # Each count is binomial around 1000; 200 is more than six standard deviations.
    assert all(abs(count - 1000) < 200 for counter in (counts[0], counts[1], counts[3]) for count in counter.values())


def test_the_same_seed_gives_the_same_numbers() -> None:
    table = patients(120)
    accuracies = classification_accuracy(table, recoded(table), "ill", randomness=Randomness.seeded(4))
    assert accuracies == classification_accuracy(table, recoded(table), "ill", randomness=Randomness.seeded(4))
    assert list(accuracies) == list(MODELS)


def test_bad_input_is_named() -> None:
    table = patients(40)
    with pytest.raises(PolicyError, match="tree, logistic, naive_bayes"):
        classification_accuracy(table, table, "ill", ["forest"])
    with pytest.raises(PolicyError, match="2 or more"):
        classification_accuracy(table, table, "ill", folds=1)
    with pytest.raises(DataError, match=r"rows=release.details"):
        classification_accuracy(table, table.replace_frame(table.frame.head(9)), "ill")
    with pytest.raises(DataError, match="accounted for"):
        classification_accuracy(table, table, "ill", rows=range(1, 41))
    with pytest.raises(DataError, match='"wage"'):
        classification_accuracy(table, table, "wage")
    with pytest.raises(DataError, match='no column to learn "ill" from'):
        classification_accuracy(table, table, "ill", columns=["ill"])
    single = table.replace_frame(table.frame.with_columns(pl.lit("well").alias("ill")))
    with pytest.raises(DataError, match='"ill" has 1 value'):
        classification_accuracy(single, single, "ill")
    with pytest.raises(DataError, match="too few for 41 folds"):
        classification_accuracy(table, table, "ill", folds=41)


# Naive Bayes by the book: fractions of rows counted for every value of every column.


@st.composite
def recodings(draw: st.DrawFn) -> tuple[Table, Table, list[list[Texts]]]:
    """Two columns of a few values, some missing, recoded to sets; and what each published cell covers."""
    rows = draw(st.integers(6, 14))
    cells: dict[str, Any] = {}
    published: dict[str, Any] = {}
    covers: list[list[Texts]] = []
    for name in ("a", "b"):
        values: Texts = draw(st.lists(st.none() | st.sampled_from("xyz"), min_size=rows, max_size=rows))
        known_values = sorted({value for value in values if value is not None})
        wide: list[set[str]] = [
            set(draw(st.sets(st.sampled_from(known_values)))) if known_values else set() for _ in range(rows)
        ]
        covered: list[Texts] = [
            [None] if value is None else [*sorted(extra_values | {value})]
            for value, extra_values in zip(values, wide, strict=True)
        ]
        labels = [cover[0] if len(cover) == 1 else "{" + ", ".join(map(str, cover)) + "}" for cover in covered]
        cells[name] = pl.Series(values, dtype=pl.String)
        published[name] = pl.Series(labels, dtype=pl.String)
        covers.append(covered)
    target = draw(
        st.lists(st.sampled_from("pqr"), min_size=rows, max_size=rows).filter(lambda classes: len(set(classes)) > 1)
    )
    table = Table.of(cells | {"t": target}, dict.fromkeys("abt", "quasi_identifying"))
    return table, table.replace_frame(table.frame.with_columns(**published)), covers


def bayes(lessons: list[tuple[list[Texts], str]], sizes: list[int], person: Texts) -> dict[str, float]:
    """The logarithm of each class's posterior, up to a constant, with a count of one for everything unseen."""
    scores = {}
    for label in sorted({lesson_label for _, lesson_label in lessons}):
        class_lessons = [cells for cells, lesson_label in lessons if lesson_label == label]
        score = log(len(class_lessons) / len(lessons))
        for j, value in enumerate(person):
            matches = sum((value in cells[j]) / len(cells[j]) for cells in class_lessons)
            score += log((matches + 1) / (len(class_lessons) * len(person) + sum(sizes)))
        scores[label] = score
    return scores


@settings(deadline=None, max_examples=40)
@given(recodings(), st.integers(2, 4))
def test_naive_bayes_agrees_with_plain_python(recoding: tuple[Table, Table, list[list[Texts]]], folds: int) -> None:
    table, published, covers = recoding
    accuracy = classification_accuracy(table, published, "t", ["naive_bayes"], folds)["naive_bayes"]
    target: list[str] = table.frame["t"].to_list()
    classes = sorted(set(target))
    true = np.array([classes.index(target_label) for target_label in target])
    fold_of = module._assign_folds(true, np.ones(len(true), dtype=np.bool_), folds, Randomness.seeded(0)).tolist()
    # A feature for each value, for the missing one, and for the values too rare for their own.
    sizes = [table.frame[name].drop_nulls().n_unique() + 2 for name in ("a", "b")]
    exact = [[[value] for value in table.frame[name]] for name in ("a", "b")]
    for measured, cells in ((accuracy.release, covers), (accuracy.original, exact)):
        least = most = 0
        for i, person in enumerate(table.frame.select("a", "b").iter_rows()):
            train = [j for j in range(len(true)) if fold_of[j] != fold_of[i]]
            scores = bayes([([cells[0][j], cells[1][j]], target[j]) for j in train], sizes, list(person))
            best = [label for label, score in scores.items() if score > max(scores.values()) - 1e-9]
            least += best == [target[i]]
            most += target[i] in best
        assert least <= round(measured * len(true), 6) <= most
