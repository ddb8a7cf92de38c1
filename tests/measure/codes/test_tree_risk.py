# SPDX-License-Identifier: MIT
"""Disclosure by an encoding for trees: Definitions 1 to 3 by brute force, statistics and advice by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

import sfumato as sf
from sfumato.details import Details
from sfumato.measure.codes.tree_risk import domain_risk, path_risk, shelter, subspace_risk
from sfumato.mine.codes.c45 import train_c45
from sfumato.public.codes.coded_columns import CodedColumn, find_unit, pair_coded_columns
from sfumato.public.codes.crack_functions import bound_by_rank

quick = settings(max_examples=60, deadline=None)
rows = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30), st.integers(0, 9), st.integers(0, 30)), min_size=1)


def column(codes: Any, truth: Any) -> CodedColumn:
    return CodedColumn.of("x", pl.Series(codes), pl.Series(truth))


@quick
@given(rows, st.sampled_from([0.01, 0.1, 0.5]))
def test_domain_and_subspace_risk_by_brute_force(table: list[tuple[int, int, int, int]], radius: float) -> None:
    """Guesses are the codes, times three. A code is cracked if the guess is near for all its rows."""
    sides = []
    for column_index in (0, 2):
        codes, truth = [row[column_index] for row in table], [row[column_index + 1] for row in table]
        reach = Fraction(radius).limit_denominator(1000) * (max(truth) - min(truth))
        cracked = {c: all(abs(3 * c - t) <= reach for o, t in zip(codes, truth, strict=True) if o == c) for c in codes}
        coded_column = column(codes, truth)
        assert domain_risk(coded_column, coded_column.codes * 3, radius) == pytest.approx(
            sum(cracked.values()) / len(cracked)
        )
        sides.append((coded_column, [cracked[c] for c in codes]))
    joint_cracks = [a and b for a, b in zip(sides[0][1], sides[1][1], strict=True)]
    columns = [side_column for side_column, _ in sides]
    risk = subspace_risk(columns, [side_column.codes * 3 for side_column in columns], radius)
    assert risk == pytest.approx(sum(joint_cracks) / len(joint_cracks))


def test_rows_with_missing_cells_are_passed_over() -> None:
    first_column, other = column([1, 2, None], [1, 2, 3]), column([1, None, 1], [1, 2, 3])
    assert subspace_risk([first_column, other], [first_column.codes, np.array([2.0])], 0.5) == 1.0
    with pytest.raises(sf.PolicyError):
        subspace_risk([], [], 0.5)
    with pytest.raises(sf.DataError, match="no row"):
        column([1.0, None], [None, 1.0])


def test_paths_by_hand() -> None:
    """Thresholds 10, then 5 and 20 on codes twice the values; the first two are guessed right, the third is not."""
    values, classes = np.array([[2], [8], [15], [30]]), ["a", "b", "a", "b"]
    true = DecisionTreeClassifier(random_state=0).fit(values, classes)
    coded = DecisionTreeClassifier(random_state=0).fit(values * 2, classes)
    assert path_risk(coded, true, [lambda codes: codes / 2], [28.0], 0.01).risk == 1.0
    assert path_risk(coded, true, [lambda codes: codes], [28.0], 0.01).risk == 0.0
    risk = path_risk(coded, true, [lambda codes: np.where(codes > 30, 0, codes / 2)], [28.0], 0.01)
    assert risk.paths.sum() == 4
    expected = 0
    tree = true.tree_
    stack = [(0, True)]
    while stack:
        node, whole = stack.pop()
        if tree.children_left[node] < 0:
            expected += whole
        else:
            right = whole and tree.threshold[node] * 2 <= 30
            stack += [(tree.children_left[node], right), (tree.children_right[node], right)]
    assert risk.cracks.sum() == expected
    with pytest.raises(sf.PolicyError, match="fitted decision tree"):
        path_risk(DecisionTreeClassifier(), true, [], [], 0.1)


def test_paths_of_a_c45_tree() -> None:
    """One threshold, 8.5, and the same on codes twice the values; trees of words have no thresholds to guess."""
    rows = {"x": [*range(16)], "y": ["a"] * 9 + ["b"] * 7}
    true = train_c45(sf.Table.of(rows), "y")
    coded = train_c45(sf.Table.of(rows | {"x": [2 * x for x in rows["x"]]}), "y")
    risk = path_risk(coded, true, [lambda codes: codes / 2], [15.0], 0.01)
    assert risk.paths.tolist() == [0, 2] and risk.cracks.tolist() == [0, 2]
    assert path_risk(coded, true, [lambda codes: codes], [15.0], 0.01).risk == 0.0
    words = train_c45(sf.Table.of({"x": ["u"] * 9 + ["v"] * 7, "y": rows["y"]}), "y")
    with pytest.raises(sf.PolicyError, match="tests words"):
        path_risk(words, words, [], [], 0.1)


def test_shelter_by_hand() -> None:
    """Figure 7's values: 1, 2, 15 | 27, 28 | 29 mixed | 42, 43, 44, with pieces of at least two and of three values."""
    table = sf.Table.of({"v": [1, 2, 15, 15, 27, 28, 29, 29, 42, 43, 44], "c": list("HHHHLLLHHHH")})
    (column_shelter,) = shelter(table, "c", min_width=2, radius=2 / 43)
    assert (
        column_shelter.range_width,
        column_shelter.distinct,
        column_shelter.discontinuities,
        column_shelter.pure_pieces,
    ) == (44, 9, 35, 3)
    assert column_shelter.mean_length == pytest.approx(8 / 3) and column_shelter.pure_share == pytest.approx(8 / 9)
    assert column_shelter.expected_sorting == pytest.approx(5 / 36 / 9)
    assert column_shelter.worst_sorting == pytest.approx(4 / 35 / 9) and column_shelter.safe
    assert shelter(table, "c", min_width=3)[0].pure_pieces == 2
    full = sf.Table.of({"v": [1, 1, 2, 2, 3, 3], "c": ["H", "L"] * 3})
    (bare,) = shelter(full, "c")
    assert bare.worst_sorting == bare.expected_sorting == 1.0 and not bare.safe
    assert bare.advice.startswith("not safe: 0% of its values are in pure pieces, 0% of its domain")


@pytest.mark.parametrize("permute", [False, True])
def test_what_sorting_reveals_is_never_below_what_the_attack_reads(permute: bool) -> None:
    """Many people of few values, values in permuted pieces that stayed where they were, counting up or down."""
    for seed in range(20):
        lot = np.random.default_rng(seed)
        pay = lot.integers(100, 1000 if seed % 2 else 160, 60)
        kind = np.where((pay > 500) | (lot.random(60) < 0.2), "hi", "lo").tolist()
        table = sf.Table.of({"pay": pay, "kind": kind})
        method = sf.EncodeForTrees(target="kind", permute=permute, direction="random")
        release = method.protect(table, method.new_key(table, sf.Randomness.seeded(seed)))
        outcome = sf.attack.Sorting(column="pay").run(release, table)
        (found,) = shelter(table, "kind", ("pay",), release=release)
        assert int(60 * found.read_share + 1e-9) == outcome.successes
        assert found.revealed_share >= outcome.risk and found.safe == (found.revealed_share <= 0.3)
        assert found.advice.startswith("not safe") != found.safe


@quick
@given(st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True), st.integers(0, 6))
def test_sorting_ranges_by_brute_force(values: list[int], reach: int) -> None:
    """R_g holds the values that leave room for those below and above; count those within the radius of the truth."""
    truth = sorted(values)
    true_column = column(truth, truth)
    chance = bound_by_rank(len(truth), truth[0], truth[-1], 1).compute_crack_chance(
        true_column, reach / max(true_column.width, 1)
    )
    for rank, value in enumerate(truth):
        possible = range(truth[0] + rank, truth[-1] - (len(truth) - 1 - rank) + 1)
        near_count = sum(abs(value - guess) <= reach for guess in possible)
        assert chance[rank] == pytest.approx(near_count / len(possible) if true_column.width else 1.0)


def test_bad_input() -> None:
    table = sf.Table.of({"v": [1, 2], "c": ["a", "b"], "n": pl.Series([None, None], dtype=pl.Float64)})
    with pytest.raises(sf.PolicyError, match='the target "z"'):
        shelter(table, "z")
    with pytest.raises(sf.PolicyError, match='"c" is not a column of numbers'):
        shelter(table, "v", columns=["c"])
    with pytest.raises(sf.DataError, match='"n" has no value'):
        shelter(table, "c")
    with pytest.raises(sf.PolicyError, match="share no column"):
        pair_coded_columns(sf.Table.of({"c": ["a"]}), table, Details(rows=np.array([0])))
    with pytest.raises(sf.DataError, match="differ in their number of rows"):
        pair_coded_columns(sf.Table.of({"v": [1]}), table, Details())


def test_units() -> None:
    assert find_unit(np.array([1.0, 2, 30])) == 1.0
    assert find_unit(np.array([1.0, 2.25])) == pytest.approx(0.01)
