# SPDX-License-Identifier: MIT
"""Giannotti et al. (2009), k-anonymous patterns: its numbers and those of an independent count."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.baskets.published_rules import count_rule_people
from sfumato.mine.patterns.derivability import SupportBounds, support_bounds
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.patterns import Patterns
from sfumato.protect.patterns.publish_patterns import PublishPatterns

TWELVE = [
    "abcdefgh", "abcdeg", "abcde", "abcdefg", "abcde", "abcde", "abde", "aefg", "cdefg", "cde", "cdefgh", "abfg",
]  # fmt: skip


@pytest.fixture
def twelve() -> sf.Baskets:
    return sf.Baskets.of([list(basket) for basket in TWELVE])


def test_the_rule_that_names_one_individual() -> None:
    group = count_rule_people(80, 0.987)
    assert (group.antecedent, group.individuals) == (81, 1)


def test_the_slide_s_pattern_has_one_basket() -> None:
    """a ∧ b ∧ ¬c ∧ ¬d ∧ ¬e, with I = ab and J = abcde."""
    assert sum({"a", "b"} <= set(basket) and not set("cde") & set(basket) for basket in TWELVE) == 1


def test_thirteen_channels_at_support_eight(twelve: sf.Baskets) -> None:
    assert inference_channels(twelve, 8, 3).height == 13
    widest = inference_channels(twelve, 8, 3, maximal=True)
    channel_names = {("".join(inner), "".join(outer)) for inner, outer, _ in widest.iter_rows()}
    assert channel_names == {("", "cde"), ("a", "ab"), ("a", "ae")}


def test_fifty_eight_channels_at_support_six(twelve: sf.Baskets) -> None:
    channels = inference_channels(twelve, 6, 3)
    assert channels.height == 58
    assert (["a", "b"], ["a", "b", "c", "d", "e"], 1) in channels.rows()
    assert inference_channels(twelve, 6, 3, maximal=True).height == 10


def test_detection_by_channels_is_incomplete() -> None:
    baskets = [["a", "b", "c"], *[["a", "b"]] * 4, *[["a", "c"]] * 4, *[["b", "c"]] * 4, *[["b"]] * 5, *[["c"]] * 5]
    data = sf.Baskets.of(baskets)
    assert inference_channels(data, 5, 3).height == 0
    patterns = Patterns.of(frequent_itemsets(data, 5), len(data))
    assert support_bounds(patterns, "abc") == SupportBounds(1, 1)


@pytest.mark.parametrize("least", [8, 6])
def test_additive_repair_loses_nothing(twelve: sf.Baskets, least: int) -> None:
    # The published repair alone: it examines each channel by itself, and there is no time to look for more.
    release = PublishPatterns(k=3, min_support=least, seconds=1e-9).protect(twelve)
    assert release.losses["lost_itemsets"] == release.losses["ghost_itemsets"] == 0
    assert release.details["channels"].height == {8: 13, 6: 58}[least]
    for inner, outer, _ in inference_channels(twelve, least, 3).iter_rows():
        counts = dict(zip(map(frozenset, release.data.frame["items"]), release.data.supports.tolist(), strict=True))
        counts[frozenset()] = release.data.baskets
        inner_items, rest = frozenset(inner), sorted(set(outer) - set(inner))
        total = sum(
            (-1) ** bin(mask).count("1") * counts[inner_items | {x for i, x in enumerate(rest) if mask >> i & 1}]
            for mask in range(1 << len(rest))
        )
        assert total >= 3
