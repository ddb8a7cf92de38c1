# SPDX-License-Identifier: MIT
"""Queries: errors by hand, and the drawn queries' answers against plain Python over every row and every leaf."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchies.published_labels import format_range, format_set
from sfumato.errors import DataError, PolicyError
from sfumato.measure.utility import queries as module
from sfumato.measure.utility.queries import AggregateQuery, QueryErrors, query_accuracy
from sfumato.randomness import Randomness
from sfumato.table import Table

Values = list[int | None]
Texts = list[str | None]


def two_columns(ages: Values, sexes: Texts) -> Table:
    return Table.of(
        {"age": pl.Series(ages, dtype=pl.Int64), "sex": pl.Series(sexes, dtype=pl.String)},
        dict.fromkeys(("age", "sex"), "quasi_identifying"),
    )


def test_the_original_answers_every_query() -> None:
    table = two_columns([20, 20, 30, 40, None], ["f", "m", "f", None, "m"])
    accuracy = query_accuracy(table, table, queries=50)
    assert accuracy.count.median == accuracy.count.mean == 0.0
    assert set(accuracy.count.quantiles.values()) == {0.0}
    assert accuracy.count.queries > 0 and accuracy.sum_column == "age"
    assert accuracy.sum is not None and accuracy.sum.mean == 0.0


def test_one_value_asked_for_by_hand() -> None:
    # Selectivity so small that each query asks for one age: 20 has 3 people, 30 has 1; each is read as 2.
    table = Table.of({"age": [20, 20, 20, 30]}, {"age": "quasi_identifying"})
    published = table.replace_frame(pl.DataFrame({"age": ["[20, 30]"] * 4}))
    accuracy = query_accuracy(table, published, queries=400, columns_per_query=1, selectivity=0.01)
    assert set(accuracy.count.quantiles.values()) == {round(1 / 3, 12), 1.0}
    # COUNT of 20 is 3 and read as 2, of 30 is 1 and read as 2; SUM likewise, 60 and 40, 30 and 60.
    assert accuracy.sum == accuracy.count
    assert accuracy.count.mean == pytest.approx(1 / 3 * 3 / 4 + 1 / 4, abs=0.1)
    assert accuracy.count.median == round(1 / 3, 12)


def test_errors_by_hand() -> None:
    errors = QueryErrors.compare_answers(np.array([10.0, 4.0, 0.0, -2.0, 1.0]), np.array([9.0, 6.0, 5.0, -2.0, 1.3]))
    assert (errors.queries, errors.median, errors.mean) == (4, 0.2, 0.225)
    assert errors.quantiles == {0.25: 0.075, 0.5: 0.2, 0.75: 0.35, 0.9: 0.44, 0.95: 0.47}
    assert QueryErrors.compare_answers(np.zeros(2), np.ones(2)).queries == 0


def test_rows_that_were_left_out_are_missed() -> None:
    table = two_columns([20] * 4, ["f"] * 4)
    accuracy = query_accuracy(table, table.replace_frame(table.frame.head(1)), queries=5)
    assert accuracy.count.median == 0.75 and accuracy.sum is not None and accuracy.sum.median == 0.75


def test_the_same_seed_asks_the_same() -> None:
    table = two_columns([20, 25, 30, 40, 50, 60], ["f", "m", "f", "f", "m", "m"])
    published = table.replace_frame(pl.DataFrame({"age": ["[20, 30]"] * 3 + ["[40, 60]"] * 3, "sex": ["*"] * 6}))
    assert query_accuracy(table, published) == query_accuracy(table, published)
    seeded = [query_accuracy(table, published, 20, randomness=Randomness.seeded(seed)) for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2]


def test_sensitive_columns_are_asked_with_a_quasi_identifying_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table.of(
        {"a": ["x", "y"], "b": ["u", "v"], "s": ["p", "q"]},
        {"a": "quasi_identifying", "b": "quasi_identifying", "s": "sensitive"},
    )
    queries = _record_queries(monkeypatch, table, table, queries=60)
    columns = {tuple(query.conditions) for query in queries}
    assert columns == {("a", "b"), ("a", "s"), ("b", "s")}


def test_every_query_has_the_size_asked_for_and_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(5)
    table = Table.of(
        {"age": generator.integers(0, 100, 3000), "town": [f"t{i}" for i in generator.integers(0, 50, 3000)]},
        dict.fromkeys(("age", "town"), "quasi_identifying"),
    )
    queries = _record_queries(monkeypatch, table, table, queries=100, selectivity=0.09)
    for query in queries:
        ages = np.flatnonzero(query.conditions["age"])
        assert ages[-1] - ages[0] + 1 == len(ages) == 30
        assert query.conditions["town"].sum() == 15
    assert query_accuracy(table, table, queries=100).count.queries == 100


def test_no_column_of_numbers_means_no_sum() -> None:
    table = Table.of({"a": ["x", "y"]}, {"a": "quasi_identifying"})
    accuracy = query_accuracy(table, table, queries=3)
    assert accuracy.sum is None and accuracy.sum_column is None


def test_a_column_that_names_people_is_never_summed() -> None:
    table = Table.of({"id": [1, 2], "a": ["x", "y"]}, {"id": "identifying", "a": "quasi_identifying"})
    assert query_accuracy(table, table, queries=3).sum_column is None


def test_bad_input_is_named() -> None:
    table = two_columns([20, 30], ["f", "m"])
    impossible: list[dict[str, Any]] = [
        {"queries": 0},
        {"columns_per_query": 0},
        {"selectivity": 0.0},
        {"selectivity": 1.5},
    ]
    for wrong in impossible:
        with pytest.raises(PolicyError, match="at least 1"):
            query_accuracy(table, table, **wrong)
    with pytest.raises(DataError, match='"sex" does not hold numbers'):
        query_accuracy(table, table, sum_column="sex")
    with pytest.raises(DataError, match='"wage"'):
        query_accuracy(table, table, sum_column="wage")
    with pytest.raises(DataError, match='"wage"'):
        query_accuracy(table, table, columns=["wage"])


def _record_queries(
    patch: pytest.MonkeyPatch, original: Table, published: Table, **options: Any
) -> list[AggregateQuery]:
    """The queries that were drawn."""
    queries: list[AggregateQuery] = []
    draw = module._draw_queries

    def spy(*arguments: object) -> list[AggregateQuery]:
        queries.extend(draw(*arguments))  # type: ignore[arg-type]
        return queries

    with patch.context() as patched:
        patched.setattr(module, "_draw_queries", spy)
        query_accuracy(original, published, **options)
    return queries


@st.composite
def recodings(draw: st.DrawFn) -> tuple[Table, Table, list[list[list[str | None]]]]:
    """Ages and sexes with missing cells, recoded to ranges, sets and stars; and what each published cell covers."""
    rows = draw(st.integers(1, 10))
    ages: Values = draw(st.lists(st.none() | st.integers(1, 6), min_size=rows, max_size=rows))
    sexes: Texts = draw(st.lists(st.none() | st.sampled_from("fmx"), min_size=rows, max_size=rows))
    table = two_columns(ages, sexes)
    domains: list[Texts] = [
        [str(age) for age in sorted({age for age in ages if age is not None})],
        [*sorted({sex for sex in sexes if sex is not None})],
    ]
    labels: list[Texts] = [[], []]
    covers: list[list[Texts]] = [[], []]
    for i in range(rows):
        for j, (value, values) in enumerate(zip((ages[i], sexes[i]), domains, strict=True)):
            holes: Texts = [None] if None in (ages, sexes)[j] else []
            kind = draw(st.sampled_from(["star", "kept", "wide"]))
            if kind == "star":
                labels[j].append("*")
                covers[j].append([*values, *holes])
            elif kind == "kept" or value is None:
                labels[j].append(None if value is None else str(value))
                covers[j].append([labels[j][-1]])
            else:
                other = draw(st.sampled_from([candidate for candidate in values if candidate is not None]))
                if j == 0:
                    low, high = sorted((int(str(value)), int(other)))
                    labels[j].append(format_range(low, high))
                    covers[j].append(
                        [candidate for candidate in values if candidate is not None and low <= int(candidate) <= high]
                    )
                else:
                    labels[j].append(format_set([str(value), other]))
                    covers[j].append(list({str(value), other}))
    frame = pl.DataFrame({"age": pl.Series(labels[0], dtype=pl.String), "sex": pl.Series(labels[1], dtype=pl.String)})
    return table, table.replace_frame(frame), [list(pair) for pair in zip(*covers, strict=True)]


@settings(deadline=None, max_examples=60)
@given(recodings(), st.integers(1, 2), st.sampled_from([0.05, 0.3, 0.7, 1.0]), st.integers(0, 9))
def test_answers_agree_with_plain_python(
    recoding: tuple[Table, Table, list[list[list[str | None]]]], wide: int, selectivity: float, seed: int
) -> None:
    table, published, covers = recoding
    with pytest.MonkeyPatch.context() as patch:
        queries = _record_queries(
            patch,
            table,
            published,
            queries=5,
            columns_per_query=wide,
            selectivity=selectivity,
            randomness=Randomness.seeded(seed),
        )
    accuracy = query_accuracy(table, published, 5, wide, selectivity, Randomness.seeded(seed))
    leaves = {
        name: [str(cell) for cell in table.frame[name].drop_nulls().unique().sort().to_list()]
        for name in ("age", "sex")
    }
    true, read, true_sum, read_sum = ([0.0] * 5 for _ in range(4))
    for number, query in enumerate(queries):
        conditions = {
            name: {leaf for leaf, flag in zip(leaves[name], flags, strict=False) if flag}
            for name, flags in query.conditions.items()
        }
        for i, (age, sex) in enumerate(table.frame.iter_rows()):
            hit = all(str(value) in conditions.get(name, {str(value)}) for name, value in (("age", age), ("sex", sex)))
            true[number] += hit
            true_sum[number] += hit * (age or 0)
            for leaf_age, leaf_sex in product(*covers[i]):
                share = 1 / (len(covers[i][0]) * len(covers[i][1]))
                pair = (("age", leaf_age), ("sex", leaf_sex))
                if all(leaf in conditions[name] for name, leaf in pair if name in conditions):
                    read[number] += share
                    read_sum[number] += share * int(leaf_age or 0)
    errors = [abs(b - a) / a for a, b in zip(true, read, strict=True) if a]
    assert accuracy.count.queries == len(errors)
    assert accuracy.count.mean == pytest.approx(np.mean(errors) if errors else 0, abs=1e-9)
    assert accuracy.count.median == pytest.approx(np.median(errors) if errors else 0, abs=1e-9)
    if accuracy.sum is None:
        assert not leaves["age"]
        return
    errors = [abs(b - a) / a for a, b in zip(true_sum, read_sum, strict=True) if a]
    assert accuracy.sum.queries == len(errors)
    assert accuracy.sum.mean == pytest.approx(np.mean(errors) if errors else 0, abs=1e-9)
