# SPDX-License-Identifier: MIT
"""Hiding against full enumeration: nothing shows, and the exact ways are as good as trying everything."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.baskets import Baskets
from sfumato.errors import ImpossibleRelease
from sfumato.protect.baskets.hide_items import HideItems
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.public.unknown_items import bound_item_support, bound_rule_confidence, split_unknowns
from tests import brute_baskets
from tests.brute_baskets import support

Rows = list[frozenset[str]]
CONFIDENCES = (0.3, 0.5, 0.6, 0.75, 1.0)


def rows_of(letters: str, most: int) -> st.SearchStrategy[Rows]:
    return st.lists(st.frozensets(st.sampled_from(letters), max_size=len(letters)), min_size=1, max_size=most)


def sides(letters: str) -> st.SearchStrategy[tuple[tuple[str, ...], tuple[str, ...]]]:
    """A rule: some letters, shared out to both sides."""
    cuts = st.sampled_from([(1, 2), (1, 3), (2, 3)])
    orders = st.permutations(letters)
    return st.builds(lambda order, cut: (tuple(order[: cut[0]]), tuple(order[cut[0] : cut[1]])), orders, cuts)


def shows(rows: Rows, left: tuple[str, ...], right: tuple[str, ...], least: int, confidence: float) -> bool:
    whole = support(rows, (*left, *right))
    return whole >= least and (not left or Fraction(whole, support(rows, left)) >= Fraction(str(confidence)))


def collect_items(rows: Rows) -> set[str]:
    return set().union(*rows)


def published(release: object) -> Rows:
    return [frozenset(row) for row in release.data.to_lists()]  # type: ignore[attr-defined]


def find_rules_about(rows: Rows, items: set[str], least: int, confidence: float) -> list[brute_baskets.Rule]:
    mined_rules = brute_baskets.rules(rows, least, Fraction(str(confidence)))
    return [rule for rule in mined_rules if rule[1] & items]


class TestItems:
    @given(
        rows_of("ABCDE", 12),
        st.permutations("ABCDE"),
        st.integers(1, 3),
        st.integers(1, 4),
        st.sampled_from(CONFIDENCES),
    )
    @settings(max_examples=120, deadline=None)
    def test_complete_leaves_nothing_and_takes_out_only_hidden_items(
        self, rows: Rows, order: list[str], many: int, least: int, confidence: float
    ) -> None:
        items = [item for item in order if item in collect_items(rows)][:many]
        assume(items)
        method = HideItems(items=tuple(items), min_support=least, min_confidence=confidence)
        release = method.protect(Baskets.of(rows))
        new_rows = published(release)
        assert find_rules_about(new_rows, set(items), least, confidence) == []
        assert all(new <= old and old - new <= set(items) for old, new in zip(rows, new_rows, strict=True))
        assert len(release.details["changes"]) == sum(map(len, rows)) - sum(map(len, new_rows))

    @given(
        rows_of("ABCD", 9), st.permutations("ABCD"), st.integers(1, 2), st.integers(1, 3), st.sampled_from(CONFIDENCES)
    )
    @settings(max_examples=80, deadline=None)
    def test_exact_is_as_good_as_trying_everything(
        self, rows: Rows, order: list[str], many: int, least: int, confidence: float
    ) -> None:
        items = [item for item in order if item in collect_items(rows)][:many]
        assume(items)
        spots = [(row, item) for row, basket in enumerate(rows) for item in items if item in basket]
        assume(len(spots) <= 11)
        method = HideItems(items=tuple(items), min_support=least, min_confidence=confidence, strategy="exact")
        release = method.protect(Baskets.of(rows))
        assert find_rules_about(published(release), set(items), least, confidence) == []
        fewest = next(
            count
            for count in range(len(spots) + 1)
            if any(
                not find_rules_about(_remove_entries(rows, removals), set(items), least, confidence)
                for removals in combinations(spots, count)
            )
        )
        assert release.losses["changes"] == release.details["objective"] == fewest
        assert release.details["bound"] == fewest
        assert release.details["proven"]

    @given(rows_of("ABCD", 10), st.permutations("ABCD"), st.sampled_from(("islf", "dsrf")), st.integers(1, 3))
    @settings(max_examples=60, deadline=None)
    def test_the_literal_ways_count_what_they_leave(
        self, rows: Rows, order: list[str], strategy: str, least: int
    ) -> None:
        items = [item for item in order if item in collect_items(rows)][:2]
        assume(items)
        method = HideItems(items=tuple(items), min_support=least, min_confidence=0.6, strategy=strategy)
        release = method.protect(Baskets.of(rows))
        new_rows = published(release)
        leftover_rules = [rule for rule in find_rules_about(new_rows, set(items), least, 0.6) if len(rule[1]) == 1]
        # Left sides that the same baskets hold together with the item count as one.
        holders = {
            (*right, *(row for row, basket in enumerate(new_rows) if {*side, *right} <= set(basket)))
            for side, right in leftover_rules
        }
        assert release.details["visible_rules"] == len(holders)


def _remove_entries(rows: Rows, removals: tuple[tuple[int, str], ...]) -> Rows:
    return [basket - {item for index, item in removals if index == row} for row, basket in enumerate(rows)]


class TestRules:
    @pytest.mark.parametrize(
        "strategy", ["joint", "1a", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated", "exact"]
    )
    @given(
        rows=rows_of("ABCDE", 14), rules=st.lists(sides("ABCDE"), min_size=1, max_size=3), least=st.integers(1, 4),
        confidence=st.sampled_from(CONFIDENCES),
    )  # fmt: skip
    @settings(max_examples=50, deadline=None)
    def test_nothing_shows(
        self,
        strategy: str,
        rows: Rows,
        rules: list[tuple[tuple[str, ...], tuple[str, ...]]],
        least: int,
        confidence: float,
    ) -> None:
        assume(all(set(left + right) <= collect_items(rows) for left, right in rules))
        method = HideRules(
            rules=tuple(rules),
            min_support=least,
            min_confidence=confidence,
            strategy=strategy,
        )
        try:
            release = method.protect(Baskets.of(rows))
        except ImpossibleRelease:
            assert strategy == "1a"
            return
        new_rows = published(release)
        assert not any(shows(new_rows, left, right, least, confidence) for left, right in rules)
        if strategy == "1a":
            assert all(old <= new for old, new in zip(rows, new_rows, strict=True))
        else:
            assert all(new <= old for old, new in zip(rows, new_rows, strict=True))
        if not any(shows(rows, left, right, least, confidence) for left, right in rules):
            assert new_rows == rows

    @given(rows_of("ABCD", 10), sides("ABCD"), st.integers(1, 3), st.sampled_from(CONFIDENCES))
    @settings(max_examples=60, deadline=None)
    def test_1a_refuses_only_what_its_baskets_cannot_do(
        self, rows: Rows, rule: tuple[tuple[str, ...], tuple[str, ...]], least: int, confidence: float
    ) -> None:
        """Putting the left side wherever the right one is not is the most that 1.a can do."""
        left, right = rule
        assume(set(left + right) <= collect_items(rows) and shows(rows, left, right, least, confidence))
        fullest = [row if set(right) <= row else row | set(left) for row in rows]
        method = HideRules(rules=(rule,), min_support=least, min_confidence=confidence, strategy="1a")
        if shows(fullest, left, right, least, confidence):
            with pytest.raises(ImpossibleRelease):
                method.protect(Baskets.of(rows))
        else:
            method.protect(Baskets.of(rows))

    @given(
        rows_of("ABCD", 6),
        st.lists(sides("ABC"), min_size=1, max_size=2),
        st.integers(1, 3),
        st.sampled_from(CONFIDENCES),
    )
    @settings(max_examples=80, deadline=None)
    def test_exact_loses_and_changes_as_little_as_possible(
        self, rows: Rows, rules: list[tuple[tuple[str, ...], tuple[str, ...]]], least: int, confidence: float
    ) -> None:
        items = {item for left, right in rules for item in left + right}
        assume(items <= collect_items(rows))
        spots = [(row, item) for row, basket in enumerate(rows) for item in sorted(items & basket)]
        assume(len(spots) <= 10)
        release = HideRules(rules=tuple(rules), min_support=least, min_confidence=confidence, strategy="exact").protect(
            Baskets.of(rows)
        )
        frequent = set(brute_baskets.itemsets(rows, least))

        def cost(new_rows: Rows) -> tuple[int, int]:
            lost_count = sum(support(new_rows, itemset) < least for itemset in frequent)
            return lost_count, sum(map(len, rows)) - sum(map(len, new_rows))

        best = min(
            cost(candidate_rows)
            for count in range(len(spots) + 1)
            for removals in combinations(spots, count)
            if not any(
                shows(candidate_rows := _remove_entries(rows, removals), left, right, least, confidence)
                for left, right in rules
            )
        )
        assert cost(published(release)) == best
        assert (release.details["lost_itemsets"], release.details["objective"]) == best
        assert (release.details["lost_bound"], release.details["bound"]) == best
        assert release.details["proven"]

    @given(rows_of("ABCD", 7), st.frozensets(st.sampled_from("ABC"), min_size=1, max_size=3), st.integers(1, 3))
    @settings(max_examples=60, deadline=None)
    def test_exact_on_itemsets(self, rows: Rows, secret: frozenset[str], least: int) -> None:
        assume(secret <= collect_items(rows))
        spots = [(row, item) for row, basket in enumerate(rows) for item in sorted(secret) if secret <= basket]
        assume(len(spots) <= 10)
        release = HideRules(itemsets=(tuple(secret),), min_support=least, strategy="exact").protect(Baskets.of(rows))
        frequent = {itemset for itemset in brute_baskets.itemsets(rows, least) if not secret <= itemset}

        def cost(new_rows: Rows) -> tuple[int, int]:
            return (
                sum(support(new_rows, itemset) < least for itemset in frequent),
                sum(map(len, rows)) - sum(map(len, new_rows)),
            )

        best = min(
            cost(candidate_rows)
            for count in range(len(spots) + 1)
            for removals in combinations(spots, count)
            if support(candidate_rows := _remove_entries(rows, removals), secret) < least
        )
        assert cost(published(release)) == best
        assert release.details["proven"]

    @given(
        rows_of("ABCD", 12),
        st.lists(sides("ABCD"), min_size=1, max_size=2),
        st.integers(1, 3),
        st.sampled_from(CONFIDENCES),
    )
    @settings(max_examples=60, deadline=None)
    def test_blocking_says_nothing_false_and_leaves_both_answers_open(
        self, rows: Rows, rules: list[tuple[tuple[str, ...], tuple[str, ...]]], least: int, confidence: float
    ) -> None:
        items = {item for left, right in rules for item in left + right}
        assume(items <= collect_items(rows))
        method = HideRules(rules=tuple(rules), min_support=least, min_confidence=confidence, strategy="block")
        try:
            release = method.protect(Baskets.of(rows))
        except ImpossibleRelease:
            # Each unknown that hides an item needs a decoy: a basket that lacks it.
            assert any(2 * sum(item in row for row in rows) > len(rows) for item in items)
            return
        parts = split_unknowns(release.data)
        known_rows = [frozenset(map(str, row)) for row in parts.known_items.to_lists()]
        unknown = [frozenset(map(str, row)) for row in parts.unknown_items.to_lists()]
        for row, sure, open_ in zip(rows, known_rows, unknown, strict=True):
            assert sure <= row <= sure | open_
            assert not sure & open_
        assert not any(shows(known_rows, left, right, least, confidence) for left, right in rules)
        for item in collect_items(unknown) if unknown else set():
            answers = [item in row for row, open_ in zip(rows, unknown, strict=True) if item in open_]
            assert any(answers) and not all(answers)
        for left, right in rules:
            truth = support(rows, left + right)
            bounds = bound_item_support(release.data, left + right)
            assert bounds.low <= truth <= bounds.high
            told_of = bound_rule_confidence(release.data, left, right)
            if support(rows, left):
                assert told_of is not None
                assert told_of.low <= Fraction(truth, support(rows, left)) <= told_of.high
                assert bounds.low < least or told_of.low < Fraction(str(confidence))


@given(rows_of("AB", 4), st.lists(st.tuples(st.integers(0, 3), st.sampled_from("AB")), max_size=5, unique=True))
@settings(max_examples=80, deadline=None)
def test_intervals_are_reached_by_some_way_of_filling_in(rows: Rows, spots: list[tuple[int, str]]) -> None:
    from sfumato.public.unknown_items import mark_unknowns

    spots = [(row, item) for row, item in spots if row < len(rows)]
    known_rows = _remove_entries(rows, tuple(spots))
    marked = mark_unknowns(Baskets.of(known_rows), [row for row, _ in spots], [item for _, item in spots])
    supports: set[Fraction] = set()
    confidences: set[Fraction] = set()
    for count in range(len(spots) + 1):
        for additions in combinations(spots, count):
            filled = [
                row | {item for index, item in additions if index == number} for number, row in enumerate(known_rows)
            ]
            supports.add(Fraction(support(filled, "AB")))
            if support(filled, "A"):
                confidences.add(Fraction(support(filled, "AB"), support(filled, "A")))
    support_bounds = bound_item_support(marked, ("A", "B"))
    assert (support_bounds.low, support_bounds.high) == (min(supports), max(supports))
    confidence_bounds = bound_rule_confidence(marked, ("A",), ("B",))
    assert (confidence_bounds is None) == (not confidences)
    if confidence_bounds is not None:
        assert (confidence_bounds.low, confidence_bounds.high) == (min(confidences), max(confidences))
