# SPDX-License-Identifier: MIT
"""Rules as pairs of patterns: their order, their file, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.protect.patterns.publish_rules import derive_rules

WORDS = st.lists(st.lists(st.sampled_from(["a", "b c", "d", "7"]), max_size=4), min_size=1, max_size=25).filter(any)


def mined(lists: list[list[str]], least: int, confidence: float) -> sf.Rules:
    baskets = sf.Baskets.of(lists)
    patterns = sf.Patterns.of(sf.mine.frequent_itemsets(baskets, least), len(baskets))
    return derive_rules(patterns, confidence)


@settings(max_examples=30, deadline=None)
@given(WORDS, st.integers(1, 3), st.sampled_from([0.2, 0.7, 1.0]))
def test_rules_are_those_that_are_mined(lists: list[list[str]], least: int, confidence: float) -> None:
    rules = mined(lists, least, confidence)
    true = sf.mine.association_rules(sf.Baskets.of(lists), least, confidence)
    columns = ["antecedent", "consequent", "support", "confidence"]
    if true.height:
        assert rules.rules.sort(columns).equals(true.select(columns).sort(columns))
    assert len(rules.wholes) == true.height
    patterns = sf.mine.list_rule_patterns(true, len(lists))
    assert rules.to_lists() == patterns.to_lists()
    assert rules.rules["confidence"].to_list() == sorted(rules.rules["confidence"], reverse=True)


@settings(max_examples=30, deadline=None)
@given(WORDS, st.integers(1, 3), st.sampled_from([0.2, 0.7]))
def test_a_file_gives_the_same_rules(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]], least: int, confidence: float
) -> None:
    rules = mined(lists, least, confidence)
    path = tmp_path_factory.mktemp("rules") / "rules.txt"
    rules.write(path)
    assert sf.Rules.read(path) == rules
    copied = pickle.loads(pickle.dumps(rules))
    assert copied == rules and hash(copied) == hash(rules)


def test_an_empty_left_side_counts_all_baskets(tmp_path: Path) -> None:
    rules = sf.Rules.of_counts([RuleCount((), ("yes",), 6, 10), RuleCount(("a",), ("yes",), 4, 5)], 10)
    assert rules.rules.rows() == [(["a"], ["yes"], 4, 0.8), ([], ["yes"], 6, 0.6)]
    rules.write(tmp_path / "r.txt")
    assert sf.Rules.read(tmp_path / "r.txt") == rules
    assert repr(rules) == "Rules(2 rules of 2 items in 10 baskets)"
    assert rules != sf.Rules.of_counts([], 10) and rules != "rules"


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([RuleCount(("a",), ("a",), 3, 4)], "both sides"),
        ([RuleCount(("a",), (), 3, 4)], "no right side"),
        ([RuleCount(("a",), ("b",), 3, 4), RuleCount(("a",), ("c",), 3, 5)], "different supports"),
        ([RuleCount(("a",), ("b",), 3, 4)] * 2, "repeated"),
        ([RuleCount(("a",), ("b",), 3, 40)], "above 10"),
    ],
)
def test_rules_of_no_baskets_are_refused(counts: list[RuleCount], message: str) -> None:
    with pytest.raises(sf.DataError, match=message):
        sf.Rules.of_counts(counts, 10)


@pytest.mark.parametrize(
    "text",
    [
        "1 ==> 2 #SUP: 3 #CONF: 0.5\n",
        "@BASKETS=9\n@RULES=2\n1 ==> 2 #SUP: 3 #CONF: 0.5\n",
        "@BASKETS=9\n@RULES=1\n1 2 #SUP: 3\n",
        "@BASKETS=9\n@RULES=1\n1 ==> 2 #SUP: 3 #CONF: 1.5\n",
        "@BASKETS=9\n@RULES=1\n1 ==> 2 #SUP: 3 #CONF: -\n",
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.txt"
    path.write_text(text)
    with pytest.raises(sf.DataError, match=r"r\.txt"):
        sf.Rules.read(path)
