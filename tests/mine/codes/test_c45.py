# SPDX-License-Identifier: MIT
"""C4.5 against a plain reference on small random tables, and against numbers of Quinlan's book."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.mine.codes.c45 import C45Tree, train_c45
from sfumato.mine.codes.c45_entropy import UNIT, tabulate_logs
from sfumato.mine.codes.c45_growth import estimate_errors

GOLF = """
sunny 85 85 false no
sunny 80 90 true no
overcast 83 78 false yes
rain 70 96 false yes
rain 68 80 false yes
rain 65 70 true no
overcast 64 65 true yes
sunny 72 95 false no
sunny 69 70 false yes
rain 75 80 false yes
sunny 75 70 true yes
overcast 72 90 true yes
overcast 81 75 false yes
rain 71 80 true no
"""


def golf() -> sf.Table:
    rows = [line.split() for line in GOLF.strip().split("\n")]
    frame = pl.DataFrame(rows, schema=["outlook", "temperature", "humidity", "windy", "play"], orient="row")
    return sf.Table.of(frame.with_columns(pl.col("temperature", "humidity").cast(pl.Int64)))


def test_golf() -> None:
    """Quinlan (1993), Figure 1-2 and Section 2.2; his program prints the largest value below a threshold, 75."""
    tree = train_c45(golf(), "play")
    assert tree.spell_rules().split("\n") == [
        "outlook = sunny",
        "|   humidity <= 77.5: yes (2)",
        "|   humidity > 77.5: no (3)",
        "outlook = overcast: yes (4)",
        "outlook = rain",
        "|   windy = false: yes (3)",
        "|   windy = true: no (2)",
    ]
    assert (tree.n_leaves, tree.depth) == (5, 2)
    assert tree.predict(golf()).tolist() == golf().frame["play"].to_list()


@pytest.mark.parametrize(("wrong", "rows", "limit"), [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.750), (1, 16, 0.157)])
def test_limits_of_errors(wrong: int, rows: int, limit: float) -> None:
    """Quinlan (1993), Section 4.2: U25%(E, N)."""
    assert round(estimate_errors(np.array([[rows - wrong, wrong]]), 0.25)[0] / rows, 3) == limit


@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.5])
def test_limits_are_near_the_binomial_ones(confidence: float) -> None:
    for wrong, rows in ((1, 10), (5, 40), (30, 100)):
        share = estimate_errors(np.array([[rows - wrong, wrong]]), confidence)[0] / rows
        chance = sum(math.comb(rows, k) * share**k * (1 - share) ** (rows - k) for k in range(wrong + 1))
        assert chance == pytest.approx(confidence, abs=0.08)


def test_logs_add_up() -> None:
    logs = tabulate_logs(5000)
    numbers = np.arange(1, 5001)
    assert np.abs(logs[1:] / UNIT - np.log2(numbers)).max() < 13 / 2 / UNIT + 1e-9
    for a, b in ((6, 700), (49, 97), (64, 64), (4999, 1)):
        assert logs[a * b] == logs[a] + logs[b]


# The plain reference: a dictionary per node, one row at a time, floating point, near ties taken as ties.

Row = tuple[Any, ...]


def information(counts: list[int]) -> float:
    total = sum(counts)
    return sum(-n * math.log2(n / total) for n in counts if n)


def disorder(rows: list[Row]) -> float:
    return information(list(Counter(row[-1] for row in rows).values()))


def plain_number(rows: list[Row], column: int, least: int, classes: int) -> tuple[float, float, Any] | None:
    known_rows = [row for row in rows if row[column] is not None]
    values = sorted({row[column] for row in known_rows})
    kinds = {value: {row[-1] for row in known_rows if row[column] == value} for value in values}
    needed = max(min(len(known_rows) / (10 * classes), 25), least)
    candidates = []
    for low, high in pairwise(values):
        lower, upper = [r for r in known_rows if r[column] <= low], [r for r in known_rows if r[column] >= high]
        if min(len(lower), len(upper)) < needed or (kinds[low] == kinds[high] and len(kinds[low]) == 1):
            continue
        parts = [len(lower), len(upper), len(rows) - len(known_rows)]
        candidates.append(
            (disorder(known_rows) - disorder(lower) - disorder(upper), information(parts), (low + high) / 2)
        )
    if not candidates:
        return None
    best = max(gain for gain, _, _ in candidates)
    tied = [candidate for candidate in candidates if candidate[0] > best - 1e-6]
    gain, split, threshold = next(
        candidate for candidate in tied if candidate[1] < min(other[1] for other in tied) + 1e-6
    )
    gain -= math.log2(len(candidates))
    return (gain, split, threshold) if gain > 1e-6 else None


def plain_words(rows: list[Row], column: int, least: int) -> tuple[float, float, Any] | None:
    sizes = Counter(row[column] for row in rows)
    if sum(n >= least for n in sizes.values()) < 2:
        return None
    rest_disorder = sum(disorder([row for row in rows if row[column] == word]) for word in sizes)
    return disorder(rows) - rest_disorder, information(list(sizes.values())), None


def plain_tree(rows: list[Row], numbers: list[bool], least: int, all_rows: list[Row]) -> Any:
    """A leaf is its counts; a test is (column, threshold, branches, counts)."""
    counts = dict(Counter(row[-1] for row in rows))
    tests = {}
    if len(counts) > 1 and len(rows) >= 2 * least:
        classes = len({row[-1] for row in all_rows})
        for column, is_number in enumerate(numbers):
            column_test = plain_number(rows, column, least, classes) if is_number else plain_words(rows, column, least)
            if column_test is not None:
                tests[column] = column_test
    few = [c for c in tests if numbers[c] or len({row[c] for row in all_rows}) < 0.3 * len(all_rows)] or list(tests)
    average = sum(tests[c][0] for c in few) / max(len(few), 1)
    ratios = {c: gain / split for c, (gain, split, _) in tests.items() if gain > average - 1e-6 and split > 0}
    if not ratios:
        return counts
    column = next(c for c, ratio in ratios.items() if ratio > max(ratios.values()) - 1e-9)
    threshold = tests[column][2]
    branches: dict[Any, list[Row]] = {}
    if numbers[column]:
        branches = {"low": [], "high": []}
        known_rows = [row for row in rows if row[column] is not None]
        above_count = sum(row[column] > threshold for row in known_rows)
        larger = "high" if 2 * above_count > len(known_rows) else "low"
        for row in rows:
            cell = row[column]
            branches[larger if cell is None else "high" if cell > threshold else "low"].append(row)
    else:
        for row in rows:
            branches.setdefault(row[column], []).append(row)
    subtrees = {name: plain_tree(part, numbers, least, all_rows) for name, part in branches.items()}
    if sum(plain_errors(tree) for tree in subtrees.values()) >= len(rows) - max(counts.values()):
        return counts
    return column, threshold, subtrees, counts


def plain_errors(tree: Any) -> int:
    if isinstance(tree, dict):
        return int(sum(tree.values()) - max(tree.values()))
    return sum(plain_errors(branch) for branch in tree[2].values())


def plain_limit(counts: dict[Any, int]) -> float:
    """Quinlan's approximation at 25 % confidence, for which he interpolates 0.6925 standard deviations."""
    n = sum(counts.values())
    e = n - max(counts.values())
    if not e:
        return float(n * (1 - 0.25 ** (1 / n)))
    z2 = 0.6925**2
    return n * (e + 0.5 + z2 / 2 + math.sqrt(z2 * ((e + 0.5) * (1 - (e + 0.5) / n) + z2 / 4))) / (n + z2)


def plain_pruned(tree: Any) -> tuple[Any, float]:
    if isinstance(tree, dict):
        return tree, plain_limit(tree)
    column, threshold, subtrees, counts = tree
    pruned = {name: plain_pruned(branch) for name, branch in subtrees.items()}
    branch_errors, leaf_errors = sum(errors for _, errors in pruned.values()), plain_limit(counts)
    if leaf_errors <= branch_errors + 0.1:
        return counts, leaf_errors
    return (column, threshold, {name: branch for name, (branch, _) in pruned.items()}, counts), branch_errors


def as_plain(tree: C45Tree, node: int = 0) -> Any:
    nodes = tree.nodes
    counts = {str(name): int(n) for name, n in zip(tree.classes_, nodes.tally[node], strict=True) if n}
    column = int(nodes.column[node])
    if column < 0:
        return counts
    kids = range(int(nodes.first[node]), int(nodes.first[node] + nodes.children[node]))
    words = tree.columns[column].words
    names = ["low", "high"] if words is None else [words[int(nodes.word[kid])] for kid in kids]
    threshold = None if words is not None else float(nodes.threshold[node])
    return column, threshold, {name: as_plain(tree, kid) for name, kid in zip(names, kids, strict=True)}, counts


@st.composite
def tables(draw: st.DrawFn) -> sf.Table:
    rows = draw(st.integers(2, 60))
    lot = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(1, 3))
    latent_codes = lot.integers(0, 12, rows)
    columns: dict[str, Any] = {}
    for index in range(draw(st.integers(1, 4))):
        cells: list[Any] = (
            latent_codes // lot.integers(1, 5) + lot.integers(0, draw(st.integers(1, 12)), rows)
        ).tolist()
        if draw(st.booleans()):
            cells = [f"w{cell}" for cell in cells]
        if draw(st.booleans()):
            cells = [None if lot.random() < 0.2 else cell for cell in cells]
        kind = pl.String if any(isinstance(cell, str) for cell in cells) else pl.Int64
        columns[f"x{index}"] = pl.Series(cells, dtype=kind)
    flips = lot.random(rows) < 0.2
    kinds = np.where(flips, lot.integers(0, classes, rows), latent_codes * classes // 12)
    return sf.Table.of(pl.DataFrame({**columns, "y": [f"c{kind}" for kind in kinds]}))


@given(tables(), st.sampled_from([1, 2, 4]))
def test_equal_to_a_plain_reference(table: sf.Table, least: int) -> None:
    rows, frame = table.frame.rows(), table.frame.drop("y")
    numbers = [kind.is_numeric() for kind in frame.dtypes]
    whole = plain_tree(rows, numbers, least, rows)
    assert as_plain(train_c45(table, "y", min_rows=least, confidence=None)) == whole
    tree = train_c45(table, "y", min_rows=least)
    assert as_plain(tree) == plain_pruned(whole)[0]
    reached = tree.apply(table)
    assert tree.nodes.leaves[reached].all()
    assert np.array_equal(
        np.bincount(reached, minlength=len(tree.nodes))[tree.nodes.leaves],
        tree.nodes.tally[tree.nodes.leaves].sum(axis=1),
    )


def test_words_that_were_never_seen_stay_where_they_are() -> None:
    tree = train_c45(golf(), "play")
    row = {"outlook": ["fog"], "temperature": [70], "humidity": [None], "windy": ["true"]}
    assert tree.apply(row).tolist() == [0] and tree.predict(row).tolist() == ["yes"]
    assert tree.predict_proba(row)[0].tolist() == [5 / 14, 9 / 14]
    sunny = row | {"outlook": ["sunny"]}
    assert tree.predict(sunny).tolist() == ["no"]  # a missing number goes to the larger side, of three rows


def test_what_no_single_test_gains() -> None:
    """Words may be tested without a gain if nothing gains, as C4.5 does: the exclusive or is found."""
    table = sf.Table.of({"a": list("uuvvuuvv"), "b": list("uvuvuvuv"), "y": list("01100110")})
    assert train_c45(table, "y").predict(table).tolist() == list("01100110")
    numbers = sf.Table.of({"a": [0, 0, 1, 1] * 2, "y": list("01100110")})
    assert train_c45(numbers, "y").n_leaves == 1


def test_one_class_one_row_no_column() -> None:
    assert train_c45(sf.Table.of({"a": [1, 2], "y": ["u", "u"]}), "y").spell_rules() == "u (2)"
    assert train_c45(sf.Table.of({"a": [1], "y": [True]}), "y").predict({"a": [5]}).tolist() == [True]
    assert train_c45(sf.Table.of({"y": ["u", "w", "w"]}), "y").spell_rules() == "w (3/1)"
    empty = sf.Table.of(pl.DataFrame({"a": pl.Series([None] * 4, dtype=pl.Float64), "y": list("uuww")}))
    assert train_c45(empty, "y").n_leaves == 1


def test_bad_arguments_are_refused() -> None:
    table = golf()
    for arguments, message in (
        ({"target": "x"}, "not a column"),
        ({"target": "play", "columns": ["play"]}, "cannot test"),
        ({"target": "play", "min_rows": 0}, "1 or more"),
        ({"target": "play", "confidence": 1.5}, "between 0 and 1"),
    ):
        with pytest.raises(sf.PolicyError, match=message):
            train_c45(table, **arguments)
    with pytest.raises(sf.DataError, match="missing in 1 row;"):
        train_c45(sf.Table.of({"a": [1, 2], "y": ["u", None]}), "y")
    with pytest.raises(sf.DataError, match="101 different values"):
        train_c45(sf.Table.of({"a": range(101), "y": range(101)}), "y")
    with pytest.raises(sf.DataError, match="no rows"):
        train_c45(table.replace_frame(table.frame.head(0)), "play")
    with pytest.raises(sf.DataError, match='tests the column "outlook"'):
        train_c45(table, "play").predict({"humidity": [70]})
    with pytest.raises(sf.DataError, match="holds words"):
        train_c45(table, "play").predict({"outlook": ["sunny"], "humidity": ["x"], "windy": ["true"]})
