# SPDX-License-Identifier: MIT
"""Microaggregate: MDAV by hand and by plain Python, and what every grouping must keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.protect.anonymity.microaggregate import Microaggregate, cluster_rows
from sfumato.runtime.progress import listen_to_progress
from sfumato.workflow.policy import Policy

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
QUASI = "quasi_identifying"


def table_of(data: Mapping[str, Sequence[object]], missing: str = "own_value", **roles: str) -> sf.Table:
    return sf.Table.of(dict(data), dict.fromkeys(data, QUASI) | roles, missing=missing)


def test_three_clusters_by_hand() -> None:
    """Nine ages, k = 3. Mean 41; 20 and 62 are farthest, row 0 goes first; SSE 6 of Σ (x − 41)² = 2406."""
    ages = [20, 21, 22, 40, 41, 42, 60, 61, 62]
    release = Microaggregate(k=3).protect(table_of({"age": ages}))
    assert release.data.frame["age"].to_list() == [21.0] * 3 + [41.0] * 3 + [61.0] * 3
    assert release.details["group_of_row"].tolist() == [0] * 3 + [2] * 3 + [1] * 3
    assert release.losses["information_loss"] == release.losses["loss"] == pytest.approx(6 / 2406)
    assert release.losses["sst"] == pytest.approx(9)
    assert release.losses["discernibility"] == 27
    assert release.losses["average_class_size"] == 3.0


def test_one_group_and_the_rest_by_hand() -> None:
    """Five rows, k = 2, between 2k and 3k − 1. Mean 5.4, row 4 is farthest; 20 and 4 are a group, the rest another."""
    release = Microaggregate(k=2).protect(table_of({"n": [0, 1, 2, 4, 20]}))
    assert release.data.frame["n"].to_list() == [1.0] * 3 + [12.0] * 2


def test_columns_are_standardized() -> None:
    """A column in thousands does not outweigh the other: pairs are found by both, whatever their units."""
    rows = [(0.0, 0), (0.1, 100), (1.0, 1000), (1.1, 900)]
    release = Microaggregate(k=2).protect(table_of({"a": [a for a, _ in rows], "b": [b for _, b in rows]}))
    assert release.data.frame["b"].to_list() == [50.0, 50.0, 950.0, 950.0]
    scaled = Microaggregate(k=2).protect(table_of({"a": [a for a, _ in rows], "b": [b / 1000 for _, b in rows]}))
    assert scaled.details["group_of_row"].tolist() == release.details["group_of_row"].tolist()


def test_the_median_is_a_value_that_occurs() -> None:
    release = Microaggregate(k=4, centre="median").protect(table_of({"n": [5, 1, 2, 9]}))
    assert release.data.frame.equals(pl.DataFrame({"n": [2, 2, 2, 2]}))
    assert release.losses["information_loss"] > 1 >= release.losses["loss"]  # the mean would lose all, and no more


def test_categories_take_the_commonest_and_dates_their_mean() -> None:
    birth_dates = [
        date(1990, 1, 1),
        date(1990, 1, 3),
        date(1990, 1, 8),
        date(1950, 5, 1),
        date(1950, 5, 1),
        date(1950, 5, 2),
    ]
    sexes: list[object] = ["m", "f", "f", None, None, "m"]
    release = Microaggregate(k=3).protect(table_of({"born": list(birth_dates), "sex": sexes}))
    assert release.data.frame["born"].to_list() == [date(1990, 1, 4)] * 3 + [date(1950, 5, 1)] * 3
    assert release.data.frame["sex"].to_list() == ["f"] * 3 + [None] * 3
    assert sf.measure.k_anonymity(release.data) == 3


def test_other_columns_may_come_along() -> None:
    data: dict[str, list[object]] = {"name": ["a", "b", "c", "d"], "age": [1, 2, 8, 9], "pay": [10, 20, 30, 50]}
    table = table_of(data, name="identifying", pay="sensitive")
    single_release = Microaggregate(k=2).protect(table)
    assert single_release.data.frame["pay"].to_list() == [10, 20, 30, 50]
    joint_release = Microaggregate(k=2, columns=("age", "pay")).protect(table)
    assert joint_release.data.frame["pay"].to_list() == [15.0, 15.0, 40.0, 40.0]
    assert joint_release.data.frame.columns == ["age", "pay"]


def plain_mdav(points: npt.NDArray[np.float64], k: int) -> list[set[int]]:
    """By the book, over plain lists."""
    remaining_rows, groups = list(range(len(points))), []

    def farthest(centre: npt.NDArray[np.float64]) -> int:
        return max(remaining_rows, key=lambda i: float(((points[i] - centre) ** 2).sum()))

    def take(seed: int) -> None:
        nearest_rows = sorted(remaining_rows, key=lambda i: float(((points[i] - points[seed]) ** 2).sum()))[:k]
        groups.append(set(nearest_rows))
        for i in nearest_rows:
            remaining_rows.remove(i)

    while len(remaining_rows) >= 3 * k:
        first = farthest(points[remaining_rows].mean(axis=0))
        second = farthest(points[first])
        take(first)
        take(second)
    if len(remaining_rows) >= 2 * k:
        take(farthest(points[remaining_rows].mean(axis=0)))
    return [*groups, set(remaining_rows)]


@quick
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 60), columns=st.integers(1, 4), k=st.integers(1, 7))
def test_groups_are_mdavs(seed: int, rows: int, columns: int, k: int) -> None:
    """On numbers without ties the groups are those of the paper, in its order."""
    if rows < k:
        return
    points = np.random.default_rng(seed).normal(size=(columns, rows))
    points = (points - points.mean(axis=1, keepdims=True)) / points.std(axis=1, keepdims=True)
    groups = cluster_rows(list(points), [], k, rows)
    row_sets = [set(np.flatnonzero(groups == number).tolist()) for number in range(groups.max() + 1)]
    assert row_sets == [group for group in plain_mdav(points.T, k) if group]


@quick
@given(seed=st.integers(0, 10**6), rows=st.integers(3, 40), k=st.integers(1, 5))
def test_categories_are_corners_of_a_simplex(seed: int, rows: int, k: int) -> None:
    """One category column and numbers give the groups of plain MDAV with a column for every category."""
    if rows < k:
        return
    chance = np.random.default_rng(seed)
    number, code = chance.normal(size=rows), chance.integers(0, 3, rows).astype(np.int32)
    corners = (code[:, None] == np.arange(3)) / np.sqrt(2)
    groups = cluster_rows([number], [code], k, rows)
    row_sets = [set(np.flatnonzero(groups == group_number).tolist()) for group_number in range(groups.max() + 1)]
    plain = [group for group in plain_mdav(np.column_stack([number, corners]), k) if group]
    # The two add up distances in another order, so ties may be met in another order too.
    assert set(map(frozenset, row_sets)) == set(map(frozenset, plain))


cells = st.integers(-5, 30) | st.sampled_from([1000, -1000])


@quick
@given(
    rows=st.lists(st.tuples(cells, cells, st.sampled_from(["a", "b", None])), min_size=1, max_size=40),
    k=st.integers(1, 6),
    search=st.sampled_from(["mdav", "fast", "auto"]),
    centre=st.sampled_from(["mean", "median"]),
)
def test_what_every_grouping_keeps(rows: list[tuple[int, int, str | None]], k: int, search: str, centre: str) -> None:
    table = table_of({"x": [r[0] for r in rows], "y": [r[1] for r in rows], "c": [r[2] for r in rows]})
    method = Microaggregate(k=k, search=search, centre=centre)
    if len(rows) < k:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(table)
        return
    release = method.protect(table)
    assert all(finding.holds for finding in sf.check(release, table))
    of_row = release.details["group_of_row"].tolist()
    assert all(k <= size < 2 * k for size in Counter(of_row).values())
    sse, sst = 0.0, 0.0
    for name, numbers in (("x", [row[0] for row in rows]), ("y", [row[1] for row in rows])):
        before = [float(number) for number in numbers]
        after = [float(cell) for cell in release.data.frame[name].to_list()]
        if centre == "mean":
            assert sum(after) == pytest.approx(sum(before), abs=1e-4 * len(rows))
        for group in set(of_row):
            members = [i for i, row_group in enumerate(of_row) if row_group == group]
            assert len({after[i] for i in members}) == 1
            expected = sorted(before[i] for i in members)
            middle = expected[(len(members) - 1) // 2] if centre == "median" else sum(expected) / len(members)
            assert after[members[0]] == pytest.approx(middle, abs=1e-4)
        mean = sum(before) / len(before)
        spread = sum((value - mean) ** 2 for value in before)
        if spread:
            sse += sum((a - b) ** 2 for a, b in zip(after, before, strict=True)) * len(before) / spread
            sst += len(before)
    categories = [row[2] for row in rows]
    for group in set(of_row):
        members = [i for i, row_group in enumerate(of_row) if row_group == group]
        counts = Counter(categories[i] for i in members)
        published = {release.data.frame["c"][i] for i in members}
        assert len(published) == 1
        assert counts[published.pop()] == max(counts.values())
        sse += len(members) - max(counts.values())
    sst += len(rows) - max(Counter(categories).values())
    assert release.losses["sse"] == pytest.approx(sse, abs=1e-9)
    assert release.losses["sst"] == pytest.approx(sst)
    assert release.losses["information_loss"] == pytest.approx(sse / sst if sst else 0, abs=1e-9)
    assert release.losses["discernibility"] == sf.measure.discernibility(release.data)


def test_blocks_lose_little_and_keep_sizes() -> None:
    """20,000 rows in 4 correlated columns: blocks of 8,192 cost less than 10 % more than MDAV over all."""
    chance = np.random.default_rng(5)
    points = chance.normal(size=(4, 4)) @ chance.normal(size=(4, 20_000))
    frame = {f"q{i}": column for i, column in enumerate(points)}
    table = sf.Table.of(frame, dict.fromkeys(frame, QUASI))
    steps: list[tuple[int, int | None]] = []
    with listen_to_progress(lambda step, count, total: steps.append((count, total))):
        fast = Microaggregate(k=5, search="fast").protect(table)
    slow = Microaggregate(k=5, search="mdav").protect(table)
    assert slow.losses["sse"] < fast.losses["sse"] < 1.1 * slow.losses["sse"]
    sizes = np.bincount(fast.details["group_of_row"])
    assert sizes.min() >= 5 and sizes.max() <= 9
    assert len({count for count, total in steps if total}) > 1


def test_all_that_an_adversary_knows_must_be_aggregated() -> None:
    table = table_of({"age": [1, 2, 3], "zip": ["a", "b", "c"]})
    with pytest.raises(sf.PolicyError, match='"zip" would stay unchanged'):
        Microaggregate(k=2, columns=("age",)).protect(table)
    with pytest.raises(sf.PolicyError, match='"no" is not a column'):
        Microaggregate(k=2, columns=("age", "zip", "no")).protect(table)


def test_words_that_most_of_a_group_lacks_are_published_as_missing(tmp_path: Path) -> None:
    """The most common word of a group may be none: then its other words are blanked, and elsewhere gaps are filled."""
    jobs = ["baker", None, None, "baker", "baker", None]
    frame = pl.DataFrame({"age": [20, 21, 22, 60, 61, 62], "job": jobs, "ill": ["x", "y", "x", "y", "x", "y"]})
    frame.write_csv(tmp_path / "people.csv")
    roles = {"quasi_identifying": ["age", "job"], "sensitive": ["ill"]}
    policy = Policy.model_validate(
        {
            "data": {"path": str(tmp_path / "people.csv")},
            "roles": roles,
            "protect": [{"method": "microaggregate", "k": 3}],
            "attack": [],
        }
    )
    result = sf.run(policy, tmp_path / "out")
    assert result.published
    assert sf.read_release(result.out).data.frame["job"].to_list() == [None, None, None, "baker", "baker", "baker"]


def test_missing_cells() -> None:
    data: dict[str, list[object]] = {"age": [1, None, 3, 4], "c": ["a", "b", "b", None]}
    with pytest.raises(sf.DataError, match='"age" has 1 missing cell, which has no distance'):
        Microaggregate(k=2).protect(table_of(data))
    dropped = Microaggregate(k=2).protect(table_of(data, "drop"))
    assert dropped.details["rows"].tolist() == [0, 2]
    assert dropped.losses["dropped_rows"] == 2
    for meaning in ("matches_any", "never_matches"):
        with pytest.raises(sf.DataError, match='"c" has 1 missing cell, which has no distance'):
            Microaggregate(k=2).protect(table_of({"c": data["c"]}, meaning))
    single_release = Microaggregate(k=2).protect(table_of({"c": data["c"]}))
    assert sf.measure.k_anonymity(single_release.data) >= 2
    with pytest.raises(sf.DataError, match="every row has a missing cell"):
        Microaggregate(k=1).protect(table_of({"age": [None, 1], "c": ["a", None]}, "drop"))


def test_bad_input_is_refused() -> None:
    for bad in ({"k": 0}, {"k": 2, "search": "slow"}, {"k": 2, "centre": "mode"}, {}):
        with pytest.raises(ValidationError):
            Microaggregate(**bad)
    with pytest.raises(sf.DataError, match='"x" has infinite numbers in 2 rows'):
        Microaggregate(k=2).protect(table_of({"x": [1.0, float("inf"), float("-inf"), 2.0]}))
    with pytest.raises(sf.DataError, match='"x" has numbers beyond 1e150 in 2 rows'):
        Microaggregate(k=2).protect(table_of({"x": [1.0, 1e200, -1e200, 2.0]}))
    with pytest.raises(sf.DataError, match='holds "\\*" in 1 row,'):
        Microaggregate(k=2).protect(table_of({"x": ["*", "a"]}))
    with pytest.raises(sf.PolicyError, match="no people to hide"):
        Microaggregate(k=2).protect(table_of({"x": [1, 2]}, x="sensitive"))
    with pytest.raises(sf.ImpossibleRelease, match="2 rows cannot be hidden among 3"):
        Microaggregate(k=3).protect(table_of({"x": [1, 2]}))
    with pytest.raises(sf.ImpossibleRelease, match="a single row hides nobody"):  # and k = 1 would be no cure
        Microaggregate(k=3).protect(table_of({"x": [1]}))


def test_a_constant_column_stays_as_it_is() -> None:
    release = Microaggregate(k=2).protect(table_of({"x": [1e-9] * 4, "y": [1, 2, 8, 9]}))
    assert release.data.frame["x"].to_list() == [1e-9] * 4
    assert release.losses["sst"] == pytest.approx(4)
