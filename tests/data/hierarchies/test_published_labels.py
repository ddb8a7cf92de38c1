# SPDX-License-Identifier: MIT
"""What a label covers: golden labels by hand, and every kind of label against plain Python."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.hierarchies.label_ranges import parse_range
from sfumato.data.hierarchies.published_labels import Domain, format_range, format_set, parse_set
from sfumato.errors import DataError
from tests.brute import HierarchyRows
from tests.tables import hierarchies

AGES = Hierarchy.of(
    [["29", "20-29", "*"], ["21", "20-29", "*"], ["35", "30-39", "*"], ["4", "0-9", "*"], ["36", "30-39", "*"]]
)


def ages() -> Domain:
    return Domain.of(pl.Series("age", [29, 21, 35]), AGES)


def test_a_range_is_spelt_with_both_ends_and_a_single_value_as_itself() -> None:
    assert format_range(20, 29) == "[20, 29]"
    assert format_range(20.0, 29.5) == "[20, 29.5]"
    assert format_range(-3, -1) == "[-3, -1]"
    assert format_range(7, 7) == "7"
    assert format_range(7.0, 7.0) == "7"
    with pytest.raises(DataError, match="swap them"):
        format_range(2, 1)


def test_a_set_is_spelt_sorted_and_escaped_and_a_single_value_as_itself() -> None:
    assert format_set(["b", "a", "b"]) == "{a, b}"
    assert format_set(["a"]) == "a"
    assert format_set(["{a}"]) == "{a}"
    assert format_set(["a, b", "c\\", "{"]) == r"{a\, b, c\\, \{}"
    with pytest.raises(DataError, match="at least one"):
        format_set([])


@given(st.lists(st.text(alphabet="ab ,{}\\[]\n"), min_size=2, unique=True))
def test_a_set_reads_back(values: list[str]) -> None:
    assert parse_set(format_set(values)) == tuple(sorted(values))


@pytest.mark.parametrize("label", ["a", "{", "{a", "a}", "{a,b}", "{a{}", r"{a\b}", "{a, b\\}", ""])
def test_what_is_no_set_is_not_read_as_one(label: str) -> None:
    assert parse_set(label) is None


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_range_reads_back(number: float, other: float) -> None:
    low, high = sorted((number, other))
    label = format_range(low, high)
    assert (float(label),) * 2 == (low, high) if low == high else parse_range(label) == (low, high)


@pytest.mark.parametrize("label", ["[1, 2[", "[2, 1]", "[a, b]", "[1]", "1", "[1, 2, 3]", "[nan, 1]", "[1, nan]"])
def test_what_is_no_range_is_not_read_as_one(label: str) -> None:
    assert parse_range(label) is None


def test_leaves_come_from_the_hierarchy_or_from_the_column_numbers_by_size() -> None:
    assert ages().leaves == ("29", "21", "35", "4", "36")
    assert Domain.of(pl.Series("x", [10, 9, None, 9])).leaves == ("9", "10")
    assert Domain.of(pl.Series("x", ["10", "9", None])).leaves == ("9", "10")
    assert Domain.of(pl.Series("x", [1.0, 0.5])).leaves == ("0.5", "1")
    assert Domain.of(pl.Series("x", ["b", "a", "10"])).leaves == ("10", "a", "b")
    assert Domain.of(pl.Series("x", ["b", "a"])).numbers is None
    numbers = ages().numbers
    assert numbers is not None and numbers.tolist() == [29, 21, 35, 4, 36]


@pytest.mark.parametrize(
    ("label", "leaves"),
    [
        ("21", {"21"}),
        ("20-29", {"21", "29"}),
        ("*", {"29", "21", "35", "4", "36"}),
        ("[21, 35]", {"21", "29", "35"}),
        ("[21.5, 35.5]", {"29", "35"}),
        ("[-inf, 21]", {"4", "21"}),
        ("{21, 36}", {"21", "36"}),
        ("{30-39, 4}", {"35", "36", "4"}),
        (None, set()),
    ],
)
def test_every_kind_of_label_covers_its_leaves(label: str | None, leaves: set[str]) -> None:
    domain = ages()
    assert {domain.leaves[i] for i in domain.list_covered(label)} == leaves
    assert domain.count(label) == len(leaves)


def test_a_label_used_at_several_levels_means_its_widest_group() -> None:
    decades = Hierarchy.of([["1960", "1960"], ["1961", "1960"], ["1970", "1970"]])
    domain = Domain.of(pl.Series("year", [1960, 1961, 1970]), decades)
    assert domain.list_covered("1960").tolist() == [0, 1]
    assert domain.list_covered("1970").tolist() == [2]
    # The same labels in a column that was read back as numbers.
    assert domain.cover(pl.Series([1960, 1970])).counts.tolist() == [2, 1]


def test_a_leaf_or_a_label_of_the_hierarchy_is_that_however_it_is_spelt() -> None:
    odd = Hierarchy.of([["1", "[1, 9]"], ["2", "[1, 9]"], ["7", "{1, 2}"]])
    domain = Domain.of(pl.Series("x", ["1"]), odd)
    assert domain.list_covered("[1, 9]").tolist() == [0, 1]
    assert domain.list_covered("{1, 2}").tolist() == [2]


def test_decimals_are_found_in_both_spellings() -> None:
    domain = Domain.of(pl.Series("x", [1.5, 2.0]), Hierarchy.of([["1.50", "*"], ["2.00", "*"]]))
    assert domain.list_covered("1.5").tolist() == domain.list_covered("1.50").tolist() == [0]
    assert domain.list_covered("2").tolist() == [1]


def test_a_number_that_is_no_leaf_is_its_nearest_leaf_in_a_column_of_numbers_only() -> None:
    domain = Domain.of(pl.Series("x", [10, 20, 40]))
    means = pl.Series([9.0, 15.0, 15.1, 31.0, 99.0, None])
    assert domain.cover(means).build_matrix().astype(int).tolist() == [
        [1, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
        [0, 0, 1],
        [0, 0, 0],
    ]
    with pytest.raises(DataError, match="1 published label is"):
        domain.cover(["15.1"])


@pytest.mark.parametrize("label", ["secret", "[5, 6]", "{21, secret}", "[40, 30]", "", "{}"])
def test_a_label_of_nothing_is_refused_without_being_named(label: str) -> None:
    with pytest.raises(DataError, match='column "age": 1 published label is') as error:
        ages().cover(["21", label, None])
    assert "secret" not in str(error.value)


def test_ranges_need_numbers() -> None:
    with pytest.raises(DataError):
        Domain.of(pl.Series("x", ["a", "b"])).list_covered("[1, 2]")


def test_loss_is_the_share_of_leaves_a_label_adds() -> None:
    domain = ages()
    assert [domain.measure_label_loss(label) for label in ("21", "20-29", "[21, 35]", "*", None)] == [
        0,
        0.25,
        0.5,
        1,
        0,
    ]
    assert Domain.of(pl.Series("x", ["a"])).measure_label_loss("a") == 0
    assert Domain.of(pl.Series("x", ["a"])).measure_label_loss("*") == 1


def test_a_column_without_values_has_no_leaves() -> None:
    domain = Domain.of(pl.Series("x", [None, None], dtype=pl.String))
    assert domain.leaves == () and domain.numbers is None
    assert domain.list_covered("*").tolist() == [] and domain.measure_label_loss("*") == 1


def test_nothing_of_the_data_shows() -> None:
    assert repr(ages()) == "Domain(age: 5 leaves)"


@st.composite
def domains(draw: st.DrawFn) -> tuple[Domain, list[str | None], list[set[int]]]:
    """A domain, labels of every kind, and by hand what they cover."""
    labels: list[str | None] = []
    covers: list[set[int]] = []
    if draw(st.booleans()):
        rows: HierarchyRows = draw(hierarchies())
        leaves = [row[0] for row in rows]
        domain = Domain.of(pl.Series("q", leaves), Hierarchy.of(rows))
        for _ in range(draw(st.integers(0, 5))):
            level = draw(st.integers(0, len(rows[0]) - 1))
            label = draw(st.sampled_from(sorted({row[level] for row in rows})))
            labels.append(label)
            covers.append({i for i, row in enumerate(rows) if row[level] == label})
    else:
        numbers = draw(st.lists(st.integers(-9, 9), min_size=1, max_size=8, unique=True))
        shuffled = [[str(n), "any"] for n in numbers]
        domain = Domain.of(pl.Series("q", numbers), Hierarchy.of(shuffled) if draw(st.booleans()) else None)
        leaves = list(domain.leaves)
        for _ in range(draw(st.integers(0, 5))):
            low, high = sorted(draw(st.tuples(st.sampled_from(numbers), st.sampled_from(numbers))))
            labels.append(format_range(low, high))
            covers.append({i for i, leaf in enumerate(leaves) if low <= int(leaf) <= high})
    for members in draw(st.lists(st.sets(st.integers(0, len(leaves) - 1), min_size=1), max_size=3)):
        labels.append(format_set(leaves[i] for i in members))
        covers.append(members)
    if draw(st.booleans()):
        labels += ["*", None]
        covers += [set(range(len(leaves))), set()]
    return domain, labels, covers


@settings(deadline=None)
@given(domains(), st.data())
def test_covers_agree_with_plain_python(
    sample: tuple[Domain, list[str | None], list[set[int]]], data: st.DataObject
) -> None:
    domain, labels, covers = sample
    size = len(domain.leaves)
    cover = domain.cover(labels)
    assert cover.counts.tolist() == [len(leaf_set) for leaf_set in covers]
    assert cover.build_matrix().tolist() == [[i in leaf_set for i in range(size)] for leaf_set in covers]
    for label, leaf_set in zip(labels, covers, strict=True):
        assert domain.list_covered(label).tolist() == sorted(leaf_set)
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(labels), max_size=len(labels)))
    spread = [
        sum(w / len(leaf_set) for w, leaf_set in zip(weights, covers, strict=True) if i in leaf_set)
        for i in range(size)
    ]
    assert cover.spread(weights) == pytest.approx(spread)
    assert [share > 0 for share in cover.spread(weights)] == [share > 0 for share in spread]
    values = data.draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size))
    totals = [sum(values[i] for i in leaf_set) for leaf_set in covers]
    assert cover.sum_leaves(values) == pytest.approx(totals)
    matrix = np.column_stack([values, np.ones(size)])
    assert cover.sum_leaves(matrix) == pytest.approx(np.column_stack([totals, cover.counts]))


def test_an_original_column_is_read_as_its_leaves() -> None:
    decades = Hierarchy.of([["1960", "1960"], ["1961", "1960"], ["1970", "1970"]])
    column = pl.Series("year", [1970, None, 1960])
    reading = Domain.of(column, decades).read_exactly(column)
    # 1960 is the year here, not the decade.
    assert reading.codes.tolist() == [2, 3, 0]
    assert reading.rows.tolist() == reading.spread().tolist() == [1, 0, 1, 1]
    with pytest.raises(DataError, match='column "year": 1 cell is not a leaf'):
        Domain.of(column, decades).code_originals(pl.Series("year", [1970, 1999, None]))


def test_a_published_column_is_read_row_by_row() -> None:
    column = pl.Series("x", ["a", "b", "c", None])
    domain = Domain.of(column, Hierarchy.of([["a", "all"], ["b", "all"], ["c", "all"]]))
    published = pl.Series(["all", None, "{a, b, c}", "b", "*"])
    for holes, silent in ((True, 4), (False, 3)):
        reading = domain.read(published, holes)
        assert reading.cover.counts[reading.codes].tolist() == [silent, 1, 3, 1, silent]
        assert reading.spread().sum() == pytest.approx(5)
        assert reading.average_values([0, 3, 0, 12])[reading.codes] == pytest.approx(
            [15 / 4, 12, 1, 3, 15 / 4] if holes else [1, 12, 1, 3, 1]
        )


def test_the_one_value_of_a_column_is_no_sign_of_a_missing_cell() -> None:
    column = pl.Series("x", ["a", None])
    domain = Domain.of(column, Hierarchy.of([["a", "all"]]))
    reading = domain.read(pl.Series(["a", "all", "*"]), holes=True)
    assert reading.cover.counts[reading.codes].tolist() == [1, 2, 2]


def test_many_labels_are_read_quickly() -> None:
    domain = Domain.of(pl.Series("x", np.arange(1000)))
    labels = [format_range(low, low + width) for low in range(800) for width in range(1, 126)]
    start_time = time.perf_counter()
    counts = domain.cover(labels).counts
    duration = time.perf_counter() - start_time
    assert len(set(labels)) == 100_000 and counts.tolist() == list(range(2, 127)) * 800
    # About 0.2 s; one label at a time against every leaf takes minutes.
    assert duration < 5
