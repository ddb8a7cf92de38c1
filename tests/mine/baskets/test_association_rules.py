# SPDX-License-Identifier: MIT
"""Association rules: a hand-counted example, brute force over all splits, exact thresholds, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, isclose
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato import Baskets, PolicyError
from sfumato.mine.baskets import association_rules as module
from sfumato.mine.baskets.association_rules import association_rules, compute_needed_supports, find_association_rules
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.runtime import progress

Rows = list[list[int]]
Side = tuple[Any, ...]


def brute(rows: Rows, least: int, confidence: Fraction, longest_right: int | None) -> dict[tuple[Side, Side], int]:
    """Every pair of disjoint sets that is frequent together, with the exact confidence."""
    baskets = [frozenset(row) for row in rows]
    items = sorted(frozenset[int]().union(*baskets))

    def support(side: Side) -> int:
        return sum(basket.issuperset(side) for basket in baskets)

    rules = {}
    for size in range(2, len(items) + 1):
        for whole in combinations(items, size):
            joint_support = support(whole)
            if joint_support < least:
                continue
            for length in range(1, min(size - 1, longest_right or size) + 1):
                for right in combinations(whole, length):
                    left = tuple(item for item in whole if item not in right)
                    if Fraction(joint_support, support(left)) >= confidence:
                        rules[left, right] = joint_support
    return rules


def sides(frame: pl.DataFrame) -> dict[tuple[Side, Side], int]:
    keys = zip(map(tuple, frame["antecedent"].to_list()), map(tuple, frame["consequent"].to_list()), strict=True)
    supports = dict(zip(keys, frame["support"].to_list(), strict=True))
    assert len(supports) == frame.height, "a rule is given twice"
    return supports


def test_measures_by_hand() -> None:
    """10 baskets: 4 with tea and milk, 1 with tea alone, 2 with milk alone, 3 empty."""
    baskets = Baskets.of([["tea", "milk"]] * 4 + [["tea"]] + [["milk"]] * 2 + [[]] * 3)
    frame = association_rules(baskets, 4, 0.7)
    assert frame.columns == [
        "antecedent", "consequent", "support", "confidence", "lift", "leverage", "conviction",
    ]  # fmt: skip
    row = frame.row(0, named=True)
    assert (frame.height, row["antecedent"], row["consequent"], row["support"]) == (1, ["tea"], ["milk"], 4)
    assert isclose(row["confidence"], 4 / 5)
    assert isclose(row["lift"], (4 / 5) / (6 / 10))
    assert isclose(row["leverage"], 4 / 10 - 5 / 10 * 6 / 10)
    assert isclose(row["conviction"], (1 - 6 / 10) / (1 - 4 / 5))


def test_a_certain_rule_has_infinite_conviction() -> None:
    frame = association_rules(Baskets.of([[1, 2], [1, 2], [2]]), 1, 1.0)
    assert sides(frame) == {((1,), (2,)): 2}
    assert frame["conviction"].to_list() == [inf]
    assert frame["lift"].to_list() == [1.0]


@given(
    rows=st.lists(st.lists(st.integers(0, 5), max_size=7), max_size=12),
    least=st.integers(1, 5),
    confidence=st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(4, 5), Fraction(1)]),
    longest_right=st.sampled_from([None, 1, 2]),
)
@example(rows=[], least=1, confidence=Fraction(1), longest_right=None)
@example(rows=[[0, 1, 2, 3]] * 3, least=1, confidence=Fraction(1), longest_right=None)
@settings(max_examples=150, deadline=None)
def test_rules_equal_brute_force(rows: Rows, least: int, confidence: Fraction, longest_right: int | None) -> None:
    frame = association_rules(Baskets.of(rows), least, confidence, consequent_length=longest_right)
    assert sides(frame) == brute(rows, least, confidence, longest_right)


def test_confidence_is_compared_exactly() -> None:
    """7 of 10 is 0.7, though the nearest float of 0.7 lies below and 0.7 · 10 above 7 for other pairs."""
    baskets = Baskets.of([[1, 2]] * 7 + [[1]] * 3)
    assert ((1,), (2,)) in sides(association_rules(baskets, 1, 0.7))
    assert ((1,), (2,)) not in sides(association_rules(baskets, 1, Fraction(7, 10) + Fraction(1, 10**30)))
    assert ((1,), (2,)) in sides(association_rules(baskets, 1, Fraction(7, 10) - Fraction(1, 10**30)))


def test_needed_supports_are_rounded_up_without_overflow() -> None:
    import numpy as np

    share = Fraction(10**30 - 1, 10**30)
    assert compute_needed_supports(np.array([1, 3, 10**15, 3]), share).tolist() == [1, 3, 10**15, 3]
    assert compute_needed_supports(np.array([3, 10]), Fraction(1, 3)).tolist() == [1, 4]


def test_small_buffers_and_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[item for item in range(9) if (row * 7 + item * item) % 5] for row in range(60)]
    whole = association_rules(Baskets.of(rows), 5, 0.6)
    assert whole.height > 1000
    monkeypatch.setattr(module, "BUFFER", 7)
    monkeypatch.setattr(module, "WORK", 5)
    monkeypatch.setattr(module, "BATCH", 3)
    steps: list[int] = []
    with progress.listen_to_progress(lambda step, step_count, total: steps.append(step_count)):
        assert association_rules(Baskets.of(rows), 5, 0.6).equals(whole)
    assert len(steps) > 10


def test_max_length_bounds_both_sides_together() -> None:
    frame = association_rules(Baskets.of([[1, 2, 3, 4]] * 3), 1, 0.5, max_length=2)
    assert set(sides(frame)) == {((a,), (b,)) for a in range(1, 5) for b in range(1, 5) if a != b}


def test_rules_of_arrays_name_their_sets() -> None:
    itemsets = find_itemsets(Baskets.of([["x", "y"], ["x", "y"], ["x"]]), 1)
    rules = find_association_rules(itemsets, 0.9)
    assert len(rules) == 1
    names = [
        [itemsets.items[code] for code in itemsets.codes[itemsets.offsets[number] : itemsets.offsets[number + 1]]]
        for number in (rules.wholes[0], rules.antecedents[0], rules.consequents[0])
    ]
    assert names == [["x", "y"], ["y"], ["x"]]
    assert rules.confidences.tolist() == [1.0]


@pytest.mark.parametrize("kind", ["closed", "maximal"])
def test_rules_of_condensed_sets_are_refused(kind: Any) -> None:
    itemsets = find_itemsets(Baskets.of([[1, 2, 3]] * 2), 1, kind)
    with pytest.raises(PolicyError, match="all frequent itemsets"):
        find_association_rules(itemsets, 0.5)


def test_more_rules_than_allowed_are_refused_with_the_count() -> None:
    baskets = Baskets.of([list(range(6))] * 3)
    expected = sum(1 for _ in brute([list(range(6))] * 3, 1, Fraction(1), None))
    assert association_rules(baskets, 1, 1.0, at_most=expected).height == expected
    with pytest.raises(PolicyError, match=rf"{expected} rules were found so far.*min_confidence"):
        association_rules(baskets, 1, 1.0, at_most=expected - 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_confidence": 0}, "min_confidence must be above 0"),
        ({"min_confidence": 1.2}, "min_confidence must be above 0"),
        ({"min_confidence": 0.5, "consequent_length": 0}, "consequent_length"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        association_rules(Baskets.of([[1]]), 1, **arguments)


def test_a_certain_rule_of_real_baskets(shared_data: Path) -> None:
    """Counted with polars, which shares nothing with the miner."""
    baskets = Baskets.read(shared_data / "fimi" / "retail.dat.gz")
    frame = association_rules(baskets, 0.001, 0.95, consequent_length=1)
    basket_frame = pl.DataFrame(
        {"row": range(len(baskets)), "items": [set(row) for row in baskets.to_lists()]}, strict=False
    )
    sets = basket_frame["items"].to_list()
    for left, right, support, confidence in (
        frame.sample(20, seed=1).select("antecedent", "consequent", "support", "confidence").rows()
    ):
        with_left = [row for row in sets if row.issuperset(left)]
        joint_count = sum(row.issuperset(right) for row in with_left)
        assert (joint_count, joint_count / len(with_left)) == (support, confidence)
        assert joint_count * 100 >= 95 * len(with_left)
