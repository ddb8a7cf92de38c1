# SPDX-License-Identifier: MIT
from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.attack.anonymity.linkability import Linkability
from sfumato.attack.anonymity.row_search import RowSearch
from sfumato.attack.row_distance import LabelColumn, compare_with_control
from tests.contract.examples import people
from tests.contract.test_attacks import as_is, noise
from tests.tables import Small, small_tables

HALVES = (("age", "zip", "sex", "marital_status"), ("education", "occupation", "salary_level", "disease"))
TREE = [["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["4", "high", "*"], ["5", "high", "*"]]


def column(cells: list[object], tree: list[list[str]] | None = None, missing: str = "own_value") -> LabelColumn:
    trees = {} if tree is None else {"q": tree}
    return LabelColumn.of(sf.Table.of({"q": cells}, {"q": "quasi_identifying"}, trees, missing), "q")


def list_distances(labels: LabelColumn, values: list[object]) -> list[list[float]]:
    """Values × rows."""
    return np.round(labels.measure_distances(pl.Series("q", values))[:, labels.codes], 6).tolist()  # type: ignore[no-any-return]


def test_distances_of_numbers_and_words() -> None:
    """Gower 1971: a number's difference over the range of the published ones; words are equal or not."""
    assert list_distances(column([10, 20, 30]), [10, 25, 50]) == [[0, 0.5, 1], [0.75, 0.25, 0.25], [1, 1, 1]]
    assert list_distances(column(["a", "b"]), ["a", "c"]) == [[0, 1], [1, 1]]


@pytest.mark.filterwarnings("error")
def test_distances_of_numbers_whose_range_is_no_float() -> None:
    assert list_distances(column([-1.6e308, 0.0, 1.6e308]), [-1.6e308, 0.8e308]) == [[0, 0.5, 1], [0.75, 0.25, 0.25]]
    assert list_distances(column(["[-1.6e308, 0]", "1.6e308"]), [-1.0e308]) == [[0.25, 0.8125]]


@pytest.mark.parametrize(
    "numbers",
    [
        [1_200_000_000_000_000_000 + i for i in range(30)],  # 128 of them are one float
        [*range(1000, 1029), 10**10],
        [0.1 * i for i in range(29)] + [1e300],
    ],
)
def test_a_row_of_equal_numbers_is_nearer_than_any_other(numbers: list[float]) -> None:
    frame = {"k": numbers, "s": [f"s{i}" for i in range(len(numbers))]}
    table = sf.Table.of(frame, {"k": "quasi_identifying", "s": "sensitive"})
    assert Linkability(known=(("k",), ("s",))).run(as_is(table), table).successes == 30
    assert sf.attack.CopiedRecords().run(as_is(table), table).successes == 30
    near_outcome = sf.attack.CopiedRecords().run(as_is(table.replace_frame(table.frame[1:])), table)
    assert (near_outcome.successes, near_outcome.facts["believed"]) == (29, 29)


def test_numbers_in_other_spellings_are_equal() -> None:
    assert list_distances(column(["1.50", "2.0", "9"]), [1.5, 2.0]) == [[0, 0.066667, 1], [0.066667, 0, 0.933333]]
    assert column(["1.50", "2.0", "9"]).measure_distances(pl.Series([1.5, 2.0])).diagonal().tolist() == [0, 0]


def test_the_same_text_is_at_no_distance() -> None:
    labels = ["[0, 5]", "{a, b}", "*"]
    assert [row[number] for number, row in enumerate(list_distances(column([*labels]), [*labels]))] == [0, 0, 0]


def test_distances_of_labels() -> None:
    """Half the share of the leaves that a covering label has: (2 − 1)/(5 − 1)/2, (3 − 1)/4/2, ½ for "*"; else 1."""
    expected = [[0, 0.125, 1, 0.5], [1, 0.125, 1, 0.5], [1, 1, 0.25, 0.5]]
    assert list_distances(column(["1", "low", "high", "*"], TREE), ["1", "2", "5"]) == expected
    # Among numbers the published number is a number still.
    assert list_distances(column(["1", "low", "5", "*"], TREE), [1, 2, 5]) == [
        [0, 0.125, 1, 0.5],
        [0.25, 0.125, 0.75, 0.5],
        [1, 1, 0, 0.5],
    ]


def test_distances_of_ranges_and_sets() -> None:
    assert list_distances(column(["[20, 30]", "[25, 40]", "20"]), [22, 28]) == [[0.25, 1, 0.1], [0.25, 0.375, 0.4]]
    assert list_distances(column(["{a, b}", "{b, c}", "a", "d", "e"]), ["a", "b", "e"]) == [
        [0.125, 1, 0, 1, 1],
        [0.125, 0.125, 1, 1, 1],
        [1, 1, 1, 1, 0],
    ]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ("own_value", [[0, 1, 0.5], [1, 0, 0.5]]),
        ("matches_any", [[0.5, 0.5, 0.5], [0.5, 0, 0.5]]),
        ("never_matches", [[1, 1, 0.5], [1, 0, 0.5]]),
    ],
)
def test_distances_of_missing_cells(missing: str, expected: list[list[float]]) -> None:
    assert list_distances(column([None, "a", "*"], missing=missing), [None, "a"]) == expected


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(small=small_tables(with_missing=True), neighbours=st.integers(1, 4))
def test_the_nearest_rows_by_going_through_all(small: Small, neighbours: int) -> None:
    """No row that was left out is nearer than one that was taken: distances cell by cell in plain Python."""
    table = small.table()
    names = table.quasi_identifying
    nearest_rows = RowSearch.search_by_distance(table, names).draw_rows(table, neighbours, np.random.default_rng(0))

    def distance(cells: tuple[str | None, ...], other: tuple[str | None, ...]) -> int:
        return sum(a != b for a, b in zip(cells, other, strict=True))

    for person, rows in enumerate(nearest_rows.tolist()):
        far = [distance(small.rows[person], row) for row in small.rows]
        assert len(set(rows)) == len(rows) == min(neighbours, len(table))
        assert [far[row] for row in rows] == sorted(far)[: len(rows)]


def test_rows_at_the_same_distance_are_as_likely() -> None:
    """Four equal rows, 4,000 searches: each is taken a quarter of the time, within five deviations."""
    table = sf.Table.of({"q": ["a"] * 4 + ["b"]}, {"q": "quasi_identifying"})
    person = sf.Table.of({"q": ["a"] * 4000}, {"q": "quasi_identifying"})
    drawn_rows = RowSearch.search_by_distance(table, ["q"]).draw_rows(person, 1, np.random.default_rng(0))
    counts = np.bincount(drawn_rows.ravel(), minlength=5)
    assert counts[4] == 0
    assert np.abs(counts[:4] - 1000).max() < 5 * np.sqrt(4000 * 3 / 16)


def test_the_original_joins_halves_and_noise_does_not() -> None:
    data, strangers = people(), people(seed=8)
    attack = Linkability(known=HALVES)
    outcome = attack.run(as_is(data), data, strangers)
    assert outcome.attempts == len(data) == 400
    assert outcome.low > 0.6
    assert outcome.control is not None and outcome.control < 20
    assert outcome.facts["risk_over_control"] > 0.6
    assert attack.run(noise(data), data).risk < 0.02


def test_unique_halves_are_joined_for_certain() -> None:
    table = sf.Table.of({"a": range(50), "b": range(50)}, dict.fromkeys("ab", "quasi_identifying"))
    outcome = Linkability(known=(("a",), ("b",)), attempts=30).run(as_is(table), table, table)
    assert (outcome.attempts, outcome.successes, outcome.control) == (30, 30, 30)
    assert outcome.facts["risk_over_control"] == 0


def test_a_class_of_k_joins_one_in_k() -> None:
    """Ten classes of five: the halves' rows are drawn apart, so one in five agrees (within five deviations)."""
    cells = [i % 10 for i in range(50)]
    table = sf.Table.of({"a": cells, "b": cells}, dict.fromkeys("ab", "quasi_identifying"))
    hits = [
        Linkability(known=(("a",), ("b",))).run(as_is(table), table, randomness=sf.Randomness.seeded(seed)).successes
        for seed in range(60)
    ]
    assert abs(sum(hits) - 600) < 5 * np.sqrt(3000 * 0.2 * 0.8)
    every = Linkability(known=(("a",), ("b",)), neighbours=5).run(as_is(table), table)
    assert every.successes == 50


def test_only_people_in_the_release_are_tried() -> None:
    table = sf.Table.of({"a": [1, 1, 2], "b": [1, 1, 2]}, dict.fromkeys("ab", "quasi_identifying"))
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=0.4, suppressed_rows="drop").protect(table)
    assert Linkability(known=(("a",), ("b",))).run(release, table).attempts == 2
    with pytest.raises(sf.DataError, match="more than these 1 originals"):
        Linkability(known=(("a",), ("b",))).run(release, table.replace_frame(table.frame[:1]))


def test_an_empty_release_joins_nobody() -> None:
    data = people(50)
    empty = as_is(data.replace_frame(data.frame.clear()))
    outcome = Linkability(known=HALVES).run(empty, data, data)
    assert (outcome.attempts, outcome.successes, outcome.baseline, outcome.control) == (50, 0, 0, 0)


@pytest.mark.parametrize(
    ("counts", "value"),
    # (90/100 − 50/100) / (1 − 50/100); a control as good; a better one; nothing left to add.
    [((90, 100, 50, 100), 0.8), ((50, 100, 50, 100), 0.0), ((10, 100, 50, 100), 0.0), ((100, 100, 100, 100), 0.0)],
)
def test_risk_over_control(counts: tuple[int, int, int, int], value: float) -> None:
    comparison = compare_with_control(*counts)
    low, high = comparison["risk_over_control_interval"]
    assert comparison["risk_over_control"] == pytest.approx(value)
    assert 0 <= low <= value <= high <= 1


def test_the_interval_of_risk_over_control() -> None:
    """By hand with Wilson's z = 1.95996: 90 and 50 of 100 are .885199 ± .059606 and .5 ± .096170."""
    low, high = compare_with_control(90, 100, 50, 100)["risk_over_control_interval"]
    middle, reach = (0.885199 - 0.5) / 0.5, np.hypot(0.059606 / 0.5, (1 - 0.885199) * 0.096170 / 0.25)
    assert (low, high) == pytest.approx((middle - reach, middle + reach), abs=1e-4)
    assert compare_with_control(90, 100, None, 0) == {}


@pytest.mark.parametrize("halves", [(("a",), ()), (("a",), ("a",)), (("a", "a"), ("b",))])
def test_bad_halves_are_refused(halves: object) -> None:
    with pytest.raises(ValidationError, match="each column once"):
        Linkability.model_validate({"known": halves})


def test_an_absent_column_is_named() -> None:
    data = people(20)
    with pytest.raises(sf.DataError, match='"shoe"'):
        Linkability(known=(("age",), ("shoe",))).run(as_is(data), data)
    with pytest.raises(sf.DataError, match='"age"'):
        Linkability(known=(("age",), ("zip",))).run(as_is(data), data, data.replace_frame(data.frame.drop("age")))


@pytest.mark.parametrize(("neighbours", "baseline"), [(1, 1), (2, 5 * 0.7), (3, 5), (9, 5)])
def test_blind_joining_is_counted_on_average(neighbours: int, baseline: float) -> None:
    """Two pairs of five rows have a row in common, except in 3 of 10 cases; two triples always do."""
    table = sf.Table.of({"a": range(5), "b": range(5)}, dict.fromkeys("ab", "quasi_identifying"))
    outcome = Linkability(known=(("a",), ("b",)), neighbours=neighbours).run(as_is(table), table)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (5, 5, baseline)
