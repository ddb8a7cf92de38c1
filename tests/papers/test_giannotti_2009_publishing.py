# SPDX-License-Identifier: MIT
"""Giannotti et al. (2009) made again: anonymity, patterns, rule hiding and outsourcing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import pytest

from papers.giannotti_2009 import STUDIES
from papers.giannotti_2009.anonymity import MINIMAL, diverse_table, figure_2_table, patients, voters
from papers.giannotti_2009.hiding import ROWS, SLIDES, confidence, hide_rule
from papers.giannotti_2009.outsourcing import LEAST, TWELVE_SETS
from papers.giannotti_2009.patterns import MINTERMS, TWELVE, no_channel
from papers.study import Findings, Setting, Study
from tests import brute_baskets, tables
from tests.measure.anonymity.test_diversity import similarity

BY_NAME: Mapping[str, Study] = {study.name: study for study in STUDIES}
YES, NO, OPEN = "reproduced", "differs", "not comparable"
VERDICTS = {
    "hospital": [YES] * 6,
    "figure_2": [YES] * 4,
    "similarity": [YES] * 4,
    "subsequences": [YES] * 5,
    "channels": [YES] * 5,
    "beyond_channels": [NO, YES],
    "rule_hiding": [YES] * 4,
    "mapping": [YES, YES, YES, NO, NO],
    "bloom": [YES, OPEN, YES, NO],
}


@cache
def quickly(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True))


@pytest.mark.parametrize(("name", "expected"), VERDICTS.items())
def test_the_verdicts(name: str, expected: list[str]) -> None:
    statements = quickly(name).statements
    assert [statement.verdict for statement in statements] == expected
    assert all(statement.reason for statement in statements if statement.verdict != YES)


def test_the_tables_are_those_of_the_golden_tests() -> None:
    """Typed twice from the source, so a slip in one shows."""
    assert patients().frame.rows() == tables.hospital().frame.rows()
    assert figure_2_table().frame.rows() == [tuple(row) for row in tables.FIGURE_2]
    assert voters().frame.rows() == [tuple(row) for row in tables.VOTERS]
    ours = [(code, age.replace("≥", ">="), *rest) for code, age, *rest in diverse_table().frame.rows()]
    assert ours == similarity().frame.rows()


def test_hospital_nodes() -> None:
    """{(1,1,0), (0,1,2), (1,0,2)} for k = 2, {(1,0,2)} for 3; at the bottom everybody is unique."""
    rows = quickly("hospital").grids[0].frame
    class_sizes = {(row["dob"], row["sex"], row["zip"]): row["k"] for row in rows.to_dicts()}
    assert len(class_sizes) == 12 and class_sizes[0, 0, 0] == 1 and class_sizes[1, 1, 2] == 6
    for k, nodes in MINIMAL.items():
        assert all(class_sizes[node] >= k for node in nodes)


def test_figure_2_links() -> None:
    """Andre links to three rows with three problems, Dan to none."""
    links = {row["name"]: row for row in quickly("figure_2").grids[0].frame.to_dicts()}
    assert links["Andre"]["problems"] == "chest pain, obesity, short breath"
    assert links["Dan"]["rows_that_fit"] == 0


def test_channels_and_repairs() -> None:
    channels, repairs = (grid.frame for grid in quickly("channels").grids)
    assert channels.height == 3 + 10
    assert (6, "ab", "abcde", 1) in channels.rows()
    for row in repairs.to_dicts():
        assert (row["patterns_of_few"] == 0) == (row["repair"] != "none")
        assert row["repair"] == "suppressive" or row["lost"] == 0
        assert row["repair"] == "additive" or row["supports_changed"] == 0
    least_8 = brute_baskets.itemsets(TWELVE, 8)
    assert len(least_8) == repairs["itemsets"][0]


def test_the_counter_example() -> None:
    rows = no_channel().to_lists()
    assert len(rows) == sum(MINTERMS.values()) == 23
    supports = brute_baskets.itemsets(rows, 5)
    frame = quickly("beyond_channels").grids[0].frame
    assert dict(zip(map(frozenset, frame["itemset"]), frame["support"], strict=True)) == supports
    assert brute_baskets.support(rows, "abc") == 1
    assert "0 patterns of few people" in quickly("beyond_channels").remarks[-1]


def test_rule_hiding_by_the_slides_and_at_the_threshold() -> None:
    assert hide_rule("1a") == SLIDES["1a"] and hide_rule("1b") == SLIDES["1b"]
    assert confidence(SLIDES["1a"], "AB", "C") == Fraction(2, 3)
    assert confidence(ROWS, "AB", "C") == 1 and confidence(("C",), "AB", "C") == 0
    assert hide_rule("1a", 0.5) is None
    rows = quickly("rule_hiding").grids[0].frame
    at_half = rows.filter(rows["min_confidence"] == 0.5)
    assert at_half["database"][0] == "impossible" and at_half["entries_changed"].to_list() == [None, 2, 2, 2, 2]
    assert all(Fraction(share) < Fraction(1, 2) for share in at_half["AB → C"].drop_nulls())


def test_filters_feign_and_never_miss() -> None:
    true = brute_baskets.itemsets(TWELVE_SETS, LEAST)
    sizes, attacks = (grid.frame for grid in quickly("bloom").grids)
    assert set(sizes["true_sets"]) == {len(true)} == {12}
    assert sizes["missed"].sum() == 0 and (sizes["sets_mean"] >= 12).all()
    set_counts = {(row["bits"], row["hashes"]): row["sets_mean"] for row in sizes.to_dicts()}
    assert set_counts[16, 2] > 30 and set_counts[128, 4] < 12.5
    named_items = {(row["filters"], row["knows"]): row["items_named"] for row in attacks.to_dicts()}
    assert named_items["without a key", "the items by name"] == 12 and named_items["keyed", "the items by name"] == 0


def test_the_mapping_is_named_by_pairs() -> None:
    rows = {row["mapping"]: row for row in quickly("mapping").grids[0].frame.to_dicts()}
    assert rows["one-to-one"]["named"] >= 22
    assert rows["one-to-n with random codes"]["named"] > rows["padded, k = 6"]["named_by_supports_alone"]
