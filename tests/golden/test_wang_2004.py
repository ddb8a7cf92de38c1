# SPDX-License-Identifier: MIT
"""Wang et al. (2004), Wang, Lee, Billis, Jafari 2004: the databases D to D6, Table 8, and where the algorithms fail.

The numbers were checked by full enumeration.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.baskets import Baskets
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.protect.baskets.hide_rules import HideRules
from tests import brute_baskets

LEAST, CONFIDENCE = 2, Fraction(7, 10)


def database(bits: str) -> list[list[str]]:
    """Rows as bits of A, B, C."""
    return [[item for item, bit in zip("ABC", row, strict=True) if bit == "1"] for row in bits.split()]


D = database("111 111 111 110 100 101")
D1 = database("111 111 111 110 110 101")
D2 = database("101 111 111 110 110 101")
D3 = database("111 111 111 110 101 101")
D4 = database("110 111 111 110 101 101")
D5 = database("110 111 111 110 100 101")
D6 = database("101 111 111 110 100 101")


def hide(baskets: list[list[str]], items: str, strategy: str, min_support: float | int = 0.33) -> HideItems:
    return HideItems(items=tuple(items), min_support=min_support, min_confidence=0.7, strategy=strategy)


def find_rules(baskets: list[list[str]], items: str, least: int = LEAST) -> dict[str, tuple[int, Fraction]]:
    """Rules with one of the items on the right, as text."""
    return {
        f"{''.join(sorted(left))}>{''.join(sorted(right))}": figures
        for (left, right), figures in brute_baskets.rules(baskets, least, CONFIDENCE).items()
        if set(right) & set(items)
    }


def test_the_nine_rules_of_table_1() -> None:
    figures_by_rule = {
        f"{''.join(sorted(left))}>{''.join(sorted(right))}": (support, round(float(confidence), 2))
        for (left, right), (support, confidence) in brute_baskets.rules(D, LEAST, CONFIDENCE).items()
    }
    assert figures_by_rule == {
        "B>A": (4, 1.0), "C>A": (4, 1.0), "B>C": (3, 0.75), "C>B": (3, 0.75), "AB>C": (3, 0.75), "AC>B": (3, 0.75),
        "BC>A": (3, 1.0), "C>AB": (3, 0.75), "B>AC": (3, 0.75),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("strategy", "items", "expected"),
    [
        ("islf", "C", D1), ("islf", "CB", D2), ("islf", "B", D3), ("islf", "BC", D4), ("dsrf", "C", D5),
        ("dsrf", "CB", D5), ("dsrf", "B", D6), ("dsrf", "BC", D6),
    ],
)  # fmt: skip
def test_the_published_databases(strategy: str, items: str, expected: list[list[str]]) -> None:
    release = hide(D, items, strategy).protect(Baskets.of(D))
    assert release.data.to_lists() == expected
    assert release.details["visible_rules"] == len(find_rules(expected, items)) == 0


def test_table_8() -> None:
    """Hiding C: ISLF scans three times and prunes two rules; 1.a, given the three rules, scans four times."""
    details = hide(D, "C", "islf").protect(Baskets.of(D)).details
    assert (details["scans"], details["pruned_rules"]) == (3, 2)
    details = hide(D, "C", "dsrf").protect(Baskets.of(D)).details
    assert (details["scans"], details["pruned_rules"]) == (3, 2)
    method = HideRules(
        rules=(("B ==> C"), ("A,B ==> C"), ("B ==> A,C")), min_support=0.33, min_confidence=0.7, strategy="1a"
    )
    release = method.protect(Baskets.of(D))
    assert release.data.to_lists() == D1
    assert (release.details["scans"], release.details["pruned_rules"]) == (4, 0)


def test_errata_of_the_printed_percentages() -> None:
    """A ==> B in D1 is (5/6, 5/6), A ==> C in D4 (4/6, 4/6), C ==> B in D5 (2/6, 2/3)."""
    for baskets, left, right, whole, sides in ((D1, "A", "B", 5, 6), (D4, "A", "C", 4, 6), (D5, "C", "B", 2, 3)):
        assert brute_baskets.support(baskets, left + right) == whole
        assert brute_baskets.support(baskets, left) == sides


@pytest.mark.parametrize(
    ("rows", "items", "strategy", "stays"),
    [
        (["ABC", "ABC", "A", "A", "B", "B"], "C", "islf", "AB>C"),
        (["ABC", "ABC", "A", "A", "B", "B"], "C", "dsrf", "AB>C"),
        (["B", "ABC", "ABC", "A"], "BA", "islf", "C>B"),
        (["ABE", "ABE", "AC", "ABCDE"], "AB", "dsrf", "B>A"),
    ],
)
def test_what_the_published_algorithms_leave_the_complete_ones_hide(
    rows: list[str], items: str, strategy: str, stays: str
) -> None:
    baskets = [list(row) for row in rows]
    release = hide(baskets, items, strategy).protect(Baskets.of(baskets))
    remaining_rules = find_rules(release.data.to_lists(), items)
    assert stays in remaining_rules
    single_rules = [rule for rule in remaining_rules if len(rule.split(">")[1]) == 1]
    # Left sides that occur in the same baskets count once.
    sides = {(frozenset(n for n, row in enumerate(release.data.to_lists()) if set(rule.split(">")[0]) <= set(row)),
              rule.split(">")[1]) for rule in single_rules}  # fmt: skip
    assert release.details["visible_rules"] == len(sides) == release.losses["exposed_rules"] > 0
    assert "hidden_rules" not in {claim.property for claim in release.claims}  # nothing is promised that is not kept
    assert release.details["impossible"]
    for better in ("complete", "exact"):
        assert find_rules(hide(baskets, items, better).protect(Baskets.of(baskets)).data.to_lists(), items) == {}


def test_the_first_counter_example_changes_nothing() -> None:
    baskets = [list(row) for row in ("ABC", "ABC", "A", "A", "B", "B")]
    assert hide(baskets, "C", "islf").protect(Baskets.of(baskets)).details["changes"] == []
