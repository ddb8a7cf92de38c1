# SPDX-License-Identifier: MIT
"""Publishing rules: nothing about few people follows, by brute force over all databases; and what is lost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.measure.patterns.rule_errors import measure_rule_errors
from tests import brute_patterns as brute
from tests.contract.examples import TWELVE

BASKETS = sf.Baskets.of([list(basket) for basket in TWELVE])


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("ab"), max_size=2), min_size=6, max_size=14).filter(any),
    st.sampled_from(["additive", "suppressive"]),
    st.sampled_from([0.4, 0.8]),
)
def test_no_small_pattern_follows_from_the_rules(lists: list[list[str]], repair: Any, confidence: float) -> None:
    baskets = sf.Baskets.of(lists)
    release = sf.PublishRules(k=3, min_support=3, min_confidence=confidence, repair=repair).protect(baskets)
    assert all(finding.holds for finding in sf.check(release, baskets))
    supports = {frozenset(items): support for items, support in release.data.to_lists()}
    assert brute.forced(supports, release.data.baskets, 3) == {}
    for rule in release.data.list_counts():
        assert rule.support >= 3 and Fraction(rule.support, rule.left_support) >= Fraction(repr(confidence))


def test_a_support_that_no_basket_has_is_refused() -> None:
    with pytest.raises(sf.PolicyError, match="min_support is 99 baskets, and there are 12"):
        sf.PublishRules(k=3, min_support=99, min_confidence=0.5).protect(BASKETS)


def test_as_mined_the_rules_give_people_away() -> None:
    method = sf.PublishRules(k=3, min_support=8, min_confidence=0.8, repair="none")
    release = method.protect(BASKETS)
    true = sf.mine.association_rules(BASKETS, 8, 0.8)
    assert len(release.data.wholes) == true.height
    assert release.losses["loss"] == 0 == measure_rule_errors(BASKETS, release.data, 8, 0.8)
    derived_patterns = sf.mine.forced_patterns(release.data, 3)
    assert any(pattern.most == 1 for pattern in derived_patterns)
    assert sf.attack.SupportInference().run(release, BASKETS).successes > 0
    safe = sf.PublishRules(k=3, min_support=8, min_confidence=0.8).protect(BASKETS)
    assert sf.mine.forced_patterns(safe.data, 3) == []
    assert sf.attack.SupportInference().run(safe, BASKETS).successes == 0


def test_the_loss_is_that_of_independent_code() -> None:
    release = sf.PublishRules(k=3, min_support=8, min_confidence=0.8, consequent_length=1).protect(BASKETS)
    assert release.losses["loss"] == measure_rule_errors(BASKETS, release.data, 8, 0.8, 1) > 0
    assert all(len(rule.right) == 1 for rule in release.data.list_counts())
    assert release.losses["added_baskets"] == release.data.baskets - 12


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(sf.PolicyError, match="fewer than k"):
        sf.PublishRules(k=5, min_support=3).protect(BASKETS)
    with pytest.raises(sf.DataError, match="no baskets"):
        sf.PublishRules(k=2, min_support=3).protect(sf.Baskets.of([]))


def test_invented_rules_name_their_items_where_the_originals_have_no_rule() -> None:
    """The custodian's report listed them as "None → None": without true rules, items were taken for numbers."""
    baskets = sf.Baskets.of([["b"], ["b"], ["a", "b"], ["a", "b"], ["a"], []])
    as_mined = sf.PublishRules(k=3, min_support=3, min_confidence=0.3, repair="none").protect(baskets)
    changes = sf.PublishRules(k=3, min_support=3, min_confidence=0.3).protect(baskets).details["rule_changes"]
    assert not as_mined.data.list_counts()
    assert sorted(changes.select("antecedent", "consequent", "change").rows()) == [
        (["a"], ["b"], "invented"),
        (["b"], ["a"], "invented"),
    ]
