# SPDX-License-Identifier: MIT
"""KOptimize against every set of cuts worked out by hand, on random small tables with missing cells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain, combinations, pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.hierarchies.label_ranges import parse_range
from sfumato.data.hierarchies.published_labels import parse_set
from sfumato.protect.anonymity.k_optimize import KOptimize
from sfumato.protect.anonymity.search.cut_search import CutGoal, CutSearch, _list_least_squares
from sfumato.runtime.progress import listen_to_progress
from tests.tables import hospital

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Cell = int | str | None
LETTERS = ("c", "a", "d", "b")


@dataclass(frozen=True)
class Tried:
    """A small table: columns of numbers, of text with leaves out of order, of text without a hierarchy."""

    columns: list[list[Cell]]
    with_leaves: list[bool]
    labels: list[str]

    def order(self, column: int) -> list[Cell]:
        known_cells = {cell for cell in self.columns[column] if cell is not None}
        leaves = [letter for letter in LETTERS if letter in known_cells]
        values = leaves if self.with_leaves[column] else sorted(known_cells)
        return [*values, None] if None in self.columns[column] else [*values]

    def table(self, missing: str = "own_value") -> sf.Table:
        data: dict[str, list[Cell]] = {f"q{i}": column for i, column in enumerate(self.columns)}
        kinds = {f"q{i}": _kind(column) for i, column in enumerate(self.columns)}
        frame = pl.DataFrame(data | {"y": self.labels}, schema_overrides=kinds)
        roles = dict.fromkeys(data, "quasi_identifying") | {"y": "sensitive"}
        hierarchies = {
            f"q{i}": [[x, "*"] for x in LETTERS] for i, has_leaves in enumerate(self.with_leaves) if has_leaves
        }
        return sf.Table.of(frame, roles, hierarchies, missing)


def _kind(column: list[Cell]) -> pl.DataType:
    return pl.Int64() if any(isinstance(cell, int) for cell in column) else pl.String()


@st.composite
def tables(draw: st.DrawFn, with_missing: bool = True) -> Tried:
    size = draw(st.integers(1, 14))
    columns: list[list[Cell]] = []
    with_leaves = []
    for _ in range(draw(st.integers(1, 3))):
        numeric = draw(st.booleans())
        known_cells: st.SearchStrategy[Cell] = st.sampled_from([3, 7, 10, 12] if numeric else list(LETTERS))
        cells = st.none() | known_cells if with_missing else known_cells
        columns.append(draw(st.lists(cells, min_size=size, max_size=size)))
        with_leaves.append(_kind(columns[-1]) == pl.String and draw(st.booleans()))
    labels = draw(st.lists(st.sampled_from("xyz"), min_size=size, max_size=size))
    return Tried(columns, with_leaves, labels)


def cost_of(classes: dict[object, list[int]], case: Tried, k: int, metric: str, suppress: bool) -> int | None:
    rows, cost = len(case.labels), 0
    for members in classes.values():
        size = len(members)
        if size < k and not suppress:
            return None
        if metric == "discernibility":
            cost += size * size if size >= k else size * rows
        else:
            cost += size - (max(Counter(case.labels[i] for i in members).values()) if size >= k else 0)
    return cost


def least_cost(case: Tried, k: int, metric: str, suppress: bool) -> int | None:
    """By the book: every subset of all cuts."""
    orders = [case.order(column) for column in range(len(case.columns))]
    codes = [[order.index(cell) for cell in column] for order, column in zip(orders, case.columns, strict=True)]
    cuts = [(column, position) for column, order in enumerate(orders) for position in range(1, len(order))]
    best: int | None = None
    for chosen_cuts in chain.from_iterable(combinations(cuts, count) for count in range(len(cuts) + 1)):
        classes: dict[object, list[int]] = {}
        for row in range(len(case.labels)):
            key = tuple(
                sum(position <= codes[column][row] for cut_column, position in chosen_cuts if cut_column == column)
                for column in range(len(orders))
            )
            classes.setdefault(key, []).append(row)
        cost = cost_of(classes, case, k, metric, suppress)
        best = cost if best is None or (cost is not None and cost < best) else best
    return best


def covers(label: str | None, cell: Cell, case: Tried, column: int) -> bool:
    """Whether a label says nothing untrue of a cell; of a missing one, only if it says nothing at all."""
    values = set(case.order(column)) - {None}
    if label is None or label == "*":
        return cell is None or label == "*"
    if ends := parse_range(label):
        covered_values: set[Cell] = {value for value in values if ends[0] <= value <= ends[1]}  # type: ignore[operator]
    else:
        covered_values = set(parse_set(label) or (label,))
        covered_values |= {int(text) for text in covered_values if isinstance(text, str) and text.isdigit()}
    whole: set[Cell] = set(LETTERS) if case.with_leaves[column] else values
    return cell in covered_values or (cell is None and whole <= covered_values and len(whole) > 1)


@quick
@given(
    case=tables(),
    k=st.integers(1, 5),
    metric=st.sampled_from(["discernibility", "classification"]),
    suppress=st.booleans(),
)
def test_the_optimum_is_the_optimum(case: Tried, k: int, metric: str, suppress: bool) -> None:
    method = KOptimize(k=k, metric=metric, target="y", suppress=suppress, seconds=None)
    if len(case.labels) < k:
        with pytest.raises(sf.ImpossibleRelease):
            method.protect(case.table())
        return
    release = method.protect(case.table())
    assert release.details["proven"]
    assert release.details["objective"] == release.details["bound"] == least_cost(case, k, metric, suppress)
    assert release.losses[metric] == release.details["objective"]
    assert suppress or release.losses["suppressed_rows"] == 0


@quick
@given(case=tables(), k=st.integers(1, 5), metric=st.sampled_from(["discernibility", "classification"]))
def test_releases_hold_by_the_book(case: Tried, k: int, metric: str) -> None:
    """The published rows, cell by cell: what they say, and what they cost."""
    if len(case.labels) < k:
        return
    table = case.table()
    release = KOptimize(k=k, metric=metric, target="y").protect(table)
    assert all(finding.holds for finding in sf.check(release, table))
    names = [f"q{i}" for i in range(len(case.columns))]
    published = release.data.frame.select(pl.col(names).cast(pl.String)).rows()
    stars = set(release.details["suppressed"].tolist())
    classes: dict[object, list[int]] = {}
    for row, cells in enumerate(published):
        assert (row in stars) == (bool(stars) and set(cells) == {"*"})
        classes.setdefault((row,) if row in stars else cells, []).append(row)
        for column, label in enumerate(cells):
            assert covers(label, case.columns[column][row], case, column)
    assert all(len(members) >= k for key, members in classes.items() if not set(members) <= stars)
    # Each suppressed row stands alone here, so for k = 1 nobody may be suppressed.
    assert k > 1 or not stars
    assert cost_of(classes, case, k, metric, True) == release.details["objective"]
    assert release.details["classes"] == len(classes) - len(stars)
    assert release.losses["suppressed_rows"] == len(stars)
    published_labels = [None if row in stars and len(stars) < k else label for row, label in enumerate(case.labels)]
    assert release.data.frame["y"].to_list() == published_labels


@quick
@given(case=tables(), k=st.integers(1, 4))
def test_no_cut_is_left_that_costs_nothing(case: Tried, k: int) -> None:
    """Labels are as narrow as the cost allows: no piece can be halved without touching a published class."""
    if len(case.labels) < k:
        return
    release = KOptimize(k=k).protect(case.table())
    stars = set(release.details["suppressed"].tolist())
    for i, column in enumerate(case.columns):
        order = case.order(i)
        labels = release.data.frame[f"q{i}"].cast(pl.String).to_list()
        for low, high in pairwise(order):
            sides = {name: {lab for lab, c in zip(labels, column, strict=True) if c == name} for name in (low, high)}
            joined = (sides[low] & sides[high]) - ({"*"} if stars else set())
            if not joined:
                continue
            parted: dict[object, set[bool]] = {}
            for row, cells in enumerate(release.data.frame.rows()):
                if row not in stars and labels[row] in joined:
                    parted.setdefault(cells[:-1], set()).add(order.index(column[row]) >= order.index(high))
            assert any(len(part) > 1 for part in parted.values())


@quick
@given(case=tables(), k=st.integers(1, 3))
def test_missing_dropped_is_protecting_the_rest(case: Tried, k: int) -> None:
    whole = [i for i in range(len(case.labels)) if all(column[i] is not None for column in case.columns)]
    rest = Tried(
        [[column[i] for i in whole] for column in case.columns], case.with_leaves, [case.labels[i] for i in whole]
    )
    if not whole:
        with pytest.raises(sf.DataError, match="every row has a missing"):
            KOptimize(k=k).protect(case.table("drop"))
    elif len(whole) < k:
        with pytest.raises(sf.ImpossibleRelease):
            KOptimize(k=k).protect(case.table("drop"))
    else:
        release, rest_release = KOptimize(k=k).protect(case.table("drop")), KOptimize(k=k).protect(rest.table())
        assert release.details["rows"].tolist() == whole
        assert release.details["pieces"] == rest_release.details["pieces"]
        assert release.losses["dropped_rows"] == len(case.labels) - len(whole)


@given(size=st.integers(1, 200), k=st.integers(1, 9))
def test_the_least_squares_of_a_class(size: int, k: int) -> None:
    """The bound of a class is the cheapest way to cut it into parts of k or more, by dynamic programming."""
    if size < k:
        return
    best = [0] + [10**9] * size
    for total in range(1, size + 1):
        best[total] = min((best[total - part] + part * part for part in range(k, total + 1)), default=10**9)
    assert _list_least_squares(size, k)[size] == best[size]


def test_hospital_by_hand() -> None:
    """The hospital of Giannotti et al. (2009), k = 2: a man and a woman share each date of birth, and no two more.

    Three classes of two are the least there can be, 3 × 2² = 12, and cutting the dates alone gives them.
    """
    release = KOptimize(k=2).protect(hospital())
    assert release.details["objective"] == 12
    assert (release.losses["suppressed_rows"], release.details["classes"]) == (0, 3)


def test_ranges_by_hand() -> None:
    """Six ages, k = 2: three classes of two. Seven people in two columns, k = 3: 3² + 4², the odd one joins."""
    table = sf.Table.of({"age": [20, 21, 22, 40, 41, 90]}, {"age": "quasi_identifying"})
    release = KOptimize(k=2).protect(table)
    assert release.details["objective"] == 12
    assert release.data.frame["age"].to_list() == ["[20, 21]"] * 2 + ["[22, 40]"] * 2 + ["[41, 90]"] * 2
    assert release.losses["loss"] == pytest.approx(1 / 5)
    columns = {"age": [20] * 3 + [40] * 3 + [90], "sex": list("mmmfffm")}
    joined = KOptimize(k=3).protect(sf.Table.of(columns, dict.fromkeys(columns, "quasi_identifying")))
    assert joined.details["objective"] == 25  # suppressing the seventh would cost 9 + 9 + 7, as much
    assert joined.losses["discernibility"] == 25


def test_suppression_is_chosen_where_it_is_cheaper() -> None:
    """Ten alike and one other, k = 2: joining costs 11², suppressing the one 10² and 11."""
    table = sf.Table.of({"q": ["a"] * 10 + ["b"], "r": [1] * 11}, dict.fromkeys("qr", "quasi_identifying"))
    release = KOptimize(k=2).protect(table)
    assert release.details["objective"] == 111
    assert release.data.frame["q"].to_list() == ["a"] * 10 + ["*"]
    assert release.data.frame["r"].to_list() == ["1"] * 10 + ["*"]
    joined = KOptimize(k=2, suppress=False).protect(table)
    assert joined.details["objective"] == 121
    assert set(joined.data.frame["q"]) == {"{a, b}"}
    # With two of a third kind beyond it, the one joins them: 10² + 3² against 10² + 2² + 13.
    more = sf.Table.of({"q": ["a"] * 10 + ["b"] + ["c"] * 2}, {"q": "quasi_identifying"})
    assert KOptimize(k=2).protect(more).details["objective"] == 109


def test_a_column_that_needs_no_cut_keeps_its_kind() -> None:
    table = sf.Table.of(
        {"age": [1, 1, 2, 2], "n": ["a", "b", "c", "d"]}, {"age": "quasi_identifying", "n": "identifying"}
    )
    release = KOptimize(k=2).protect(table)
    assert release.data.frame.equals(pl.DataFrame({"age": [1, 1, 2, 2]}))


def test_the_time_limit_gives_the_best_found_and_a_bound() -> None:
    chance = np.random.default_rng(3)
    frame = {f"q{i}": chance.integers(0, 40, 600) for i in range(4)}
    table = sf.Table.of(frame, dict.fromkeys(frame, "quasi_identifying"))
    steps: list[str] = []
    with listen_to_progress(lambda step, count, total: steps.append(step)):
        release = KOptimize(k=5, seconds=1.0).protect(table)
    assert not release.details["proven"]
    assert release.details["bound"] < release.details["objective"] == release.losses["discernibility"] < 600**2
    assert release.details["bound"] >= 5 * 600
    assert all(finding.holds for finding in sf.check(release, table))
    assert "searching the sets of cuts" in steps


def test_a_search_can_be_interrupted() -> None:
    chance = np.random.default_rng(4)
    frame = {f"q{i}": chance.integers(0, 30, 500) for i in range(4)}

    def stop(step: str, count: int, total: int | None) -> None:
        if count:
            raise KeyboardInterrupt

    with listen_to_progress(stop), pytest.raises(KeyboardInterrupt):
        KOptimize(k=5, seconds=None).protect(sf.Table.of(frame, dict.fromkeys(frame, "quasi_identifying")))


def test_frames_of_the_search_grow() -> None:
    """Deeper than the stack's first room; the answer is every value apart, as all are frequent."""
    codes = [np.repeat(np.arange(40, dtype=np.int32), 3)]
    result = CutSearch(codes, [40], None, CutGoal(3, True, True, None)).run()
    assert result.cuts == (tuple(range(1, 40)),)
    assert (result.objective, result.proven) == (40 * 9, True)


@pytest.mark.parametrize("meaning", ["matches_any", "never_matches"])
def test_meanings_of_missing_without_an_order_are_refused(meaning: str) -> None:
    table = sf.Table.of({"age": [1, None, 3]}, {"age": "quasi_identifying"}, missing=meaning)
    with pytest.raises(sf.PolicyError, match="1 row has a missing"):
        KOptimize(k=2).protect(table)
    whole = sf.Table.of({"age": [1, 2, 3]}, {"age": "quasi_identifying"}, missing=meaning)
    assert KOptimize(k=2).protect(whole).details["proven"]


def test_bad_input_is_refused() -> None:
    roles = {"q": "quasi_identifying"}
    with pytest.raises(ValidationError, match="needs a target"):
        KOptimize(k=2, metric="classification")
    for bad in ({"k": 0}, {"k": 2, "seconds": 0}, {"k": 2, "metric": "loss"}, {}):
        with pytest.raises(ValidationError):
            KOptimize(**bad)
    infinite = sf.Table.of({"q": [1.0, float("inf"), 2.0, float("-inf")]}, roles)
    with pytest.raises(sf.DataError, match='"q" has infinite numbers in 2 rows, which no range holds'):
        KOptimize(k=2).protect(infinite)
    with pytest.raises(sf.PolicyError, match="not a column that can be published"):
        KOptimize(k=2, metric="classification", target="no").protect(sf.Table.of({"q": [1, 2]}, roles))
    with pytest.raises(sf.DataError, match='holds "\\*" in 1 row,'):
        KOptimize(k=2).protect(sf.Table.of({"q": ["*", "a"]}, roles))
    with pytest.raises(sf.PolicyError, match="no people to hide"):
        KOptimize(k=2).protect(sf.Table.of({"q": [1, 2]}, {"q": "sensitive"}))
    with pytest.raises(sf.ImpossibleRelease, match="2 rows cannot be hidden among 3"):
        KOptimize(k=3).protect(sf.Table.of({"q": [1, 2]}, roles))
    with pytest.raises(sf.DataError, match="spelled like a range or set"):
        KOptimize(k=2).protect(sf.Table.of({"q": ["a", "b", "{a, b}", "{a, b}"]}, roles))
    with pytest.raises(sf.DataError, match="has no row in"):
        KOptimize(k=2).protect(sf.Table.of({"q": ["a", "b"]}, roles, {"q": [["a", "*"]]}))
