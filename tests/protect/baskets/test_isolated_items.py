# SPDX-License-Identifier: MIT
"""Isolated items and safe baskets: against the definition in plain Python, and what other itemsets lose."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from tests.brute_baskets import itemsets, support

Rows = list[set[str]]


def is_isolated(rows: Rows, basket: set[str], item: str, secret: set[str], least: int) -> bool:
    return all(support(rows, {item, other}) < least for other in basket - secret)


def count_safe(rows: Rows, secret: set[str], least: int) -> int:
    return sum(
        secret <= basket and any(is_isolated(rows, basket, item, secret, least) for item in secret) for basket in rows
    )


def hide(rows: Rows, secret: set[str], least: int) -> tuple[Rows, sf.Release]:
    method = sf.HideRules(itemsets=(tuple(sorted(secret)),), min_support=least, strategy="isolated")
    release = method.protect(sf.Baskets.of([sorted(row) for row in rows]))
    return [set(row) for row in release.data.to_lists()], release


@st.composite
def cases(draw: st.DrawFn) -> Any:
    rows = draw(st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=2, max_size=14))
    items = sorted({item for row in rows for item in row})
    secret = set(draw(st.lists(st.sampled_from(items), min_size=1, max_size=3, unique=True)))
    least = draw(st.integers(1, 5))
    assume(support(rows, secret) >= least)
    return rows, secret, least


@given(case=cases())
def test_no_other_frequent_itemset_loses_support_where_baskets_are_safe(case: Any) -> None:
    rows, secret, least = case
    needed = support(rows, secret) - least + 1
    new_rows, release = hide(rows, secret, least)
    assert support(new_rows, secret) == least - 1
    assert release.losses["removed"] == release.losses["changes"] == needed
    safe = count_safe(rows, secret, least)
    for row, item, _ in release.details["changes"]:
        assert item in secret and secret <= rows[row]
    removed = [(row, item) for row, item, _ in release.details["changes"]]
    isolated = [is_isolated(rows, rows[row], item, secret, least) for row, item in removed]
    assert sum(isolated) >= min(safe, needed)
    if safe >= needed:
        old_supports = {items: count for items, count in itemsets(rows, least).items() if not items <= secret}
        assert all(support(new_rows, items) == count for items, count in old_supports.items())


def test_an_example_by_hand() -> None:
    """{a, b} is secret; {b, x} and {a, x} are frequent, {a, y} and {b, z} are not."""
    rows = [{"a", "b", "x"}, {"a", "b", "y"}, {"a", "b", "z"}, {"a", "x"}, {"b", "x"}, {"a"}, {"x"}]
    new_rows, release = hide(rows, {"a", "b"}, 2)
    # The first basket is not safe: both a and b are in a frequent pair with x. From the others a goes, the commoner.
    assert [(row, item) for row, item, _ in release.details["changes"]] == [(1, "a"), (2, "a")]
    assert new_rows[0] == {"a", "b", "x"}
    greedy = sf.HideRules(itemsets=(("a", "b"),), min_support=2, strategy="cyclic")
    changed = greedy.protect(sf.Baskets.of([sorted(row) for row in rows]))
    assert (0, "a", "removed") in changed.details["changes"]


def test_greedy_does_the_rest() -> None:
    """Only one of four baskets is safe, three removals are needed."""
    rows = [{"a", "b", "x"}] * 3 + [{"a", "b"}]
    new_rows, release = hide(rows, {"a", "b"}, 2)
    assert support(new_rows, {"a", "b"}) == 1
    assert (3, "a", "removed") in release.details["changes"]
    assert release.losses["changes"] == 3
