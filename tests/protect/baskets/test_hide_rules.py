# SPDX-License-Identifier: MIT
"""HideRules: rules from Python, text and files, every strategy on one shop, refusals, unknowns, and real baskets."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import sfumato as sf
from sfumato.baskets import Baskets
from sfumato.data.items.rule_files import parse_itemset, parse_rule, read_rule_file
from sfumato.errors import DataError, ImpossibleRelease, PolicyError
from sfumato.measure.baskets.side_effects import count_baskets, count_foreign_items, exposed_rules
from sfumato.protect.baskets import hiding_variables
from sfumato.protect.baskets.hide_rules import HideRules
from sfumato.public.unknown_items import mark_unknowns, split_unknowns
from tests.brute_baskets import support

SHOP = [
    ["oat milk", "rye bread", "tea"], ["oat milk", "rye bread", "tea"], ["oat milk", "rye bread"], ["rye bread"],
    ["tea"], ["oat milk"], ["oat milk", "rye bread", "jam"], [], ["jam"],
]  # fmt: skip
STRATEGIES = ("joint", "1a", "1b", "2a", "2b", "2c", "cyclic", "greedy", "isolated", "block", "exact")
RULE = (("rye bread",), ("oat milk",))


def hide(**fields: Any) -> HideRules:
    arguments: dict[str, Any] = {"min_support": 2, "min_confidence": 0.7, "rules": (RULE,)}
    return HideRules(**(arguments | fields))


class TestNaming:
    def test_pairs_text_and_file_mean_the_same(self, tmp_path: Path) -> None:
        file = tmp_path / "secret.txt"
        file.write_text("# what we keep to ourselves\n\nrye bread ==> oat milk #SUP: 4 #CONF: 0.8\n", encoding="utf-8")
        expected = hide().protect(Baskets.of(SHOP)).data
        for rules in (
            "rye bread ==> oat milk",
            ("rye bread ==> oat milk",),
            [[["rye bread"], ["oat milk"]]],
            str(file),
            file,
        ):
            assert hide(rules=rules).protect(Baskets.of(SHOP)).data == expected
        assert hide(rules=(), file=str(file)).protect(Baskets.of(SHOP)).data == expected

    def test_a_file_may_name_itemsets_too(self, tmp_path: Path) -> None:
        file = tmp_path / "secret.txt"
        file.write_text("rye bread , oat milk\n", encoding="utf-8")
        release = HideRules(rules=str(file), min_support=2).protect(Baskets.of(SHOP))
        assert release.details["sensitive"] == (((), ("oat milk", "rye bread")),)
        assert support(release.data.to_lists(), ("oat milk", "rye bread")) == 1

    def test_a_file_of_rules_needs_a_confidence(self, tmp_path: Path) -> None:
        file = tmp_path / "secret.txt"
        file.write_text("rye bread ==> oat milk\n", encoding="utf-8")
        with pytest.raises(PolicyError, match="1 line is a rule"):
            HideRules(rules=str(file), min_support=2).protect(Baskets.of(SHOP))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a ==> b ==> c\n", "line 1: write a rule as"), ("# only this\n", "lists no rule"),
            ("a,b\n==> c\n", "line 2: a side of the rule is empty"), ("a,,b ==> c\n", "line 1"),
        ],
    )  # fmt: skip
    def test_a_broken_file_is_refused_with_its_line(self, tmp_path: Path, text: str, message: str) -> None:
        file = tmp_path / "secret.txt"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=message):
            read_rule_file(file)

    @pytest.mark.parametrize("name", ["tea,jam", "tea, jam", "tea jam"])
    def test_names_with_two_readings_are_refused(self, name: str) -> None:
        """A rule that is read as about other items would be left to see."""
        shop = Baskets.of([*SHOP, *[["oat milk", name]] * 4])
        method = hide(rules=(("oat milk ==> tea,jam"),), min_support=2, min_confidence=0.3)
        with pytest.raises(PolicyError, match="in double quotes, or list the several items in another order"):
            method.protect(shop)
        hide(rules=(f'oat milk ==> "{name}"',), min_support=2, min_confidence=0.3).protect(shop)
        hide(rules=("oat milk ==> jam,tea",), min_support=2, min_confidence=0.3).protect(shop)
        method.protect(Baskets.of(SHOP))

    def test_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="the file of rules does not exist"):
            hide(rules=str(tmp_path / "none.txt")).protect(Baskets.of(SHOP))

    def test_spmf_numbers_and_quoted_commas(self) -> None:
        assert parse_rule("1 2 ==> 3 #SUP: 4") == (("1", "2"), ("3",))
        assert parse_itemset('"milk, 3.5 %", rye bread') == ("milk, 3.5 %", "rye bread")
        assert parse_itemset("rye bread") == ("rye bread",)

    def test_quoted_names_in_a_file(self, tmp_path: Path) -> None:
        text = '"milk, 3.5 %","a ""b""" ==> rye bread\n"#1" ==> "@2"\nx y,z\n'
        (tmp_path / "r.txt").write_text(text)
        rules = ((("milk, 3.5 %", 'a "b"'), ("rye bread",)), (("#1",), ("@2",)))
        assert read_rule_file(tmp_path / "r.txt") == (rules, (("x y", "z"),))

    @pytest.mark.parametrize(
        "wrong",
        [
            {"rules": ()}, {"min_confidence": None}, {"min_support": 0}, {"min_support": 1.2}, {"min_confidence": 0},
            {"rules": ("a -> b",)}, {"strategy": "1c"}, {"rules": "some.txt", "file": "other.txt"},
        ],
    )  # fmt: skip
    def test_nonsense_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            hide(**wrong)

    @pytest.mark.parametrize(
        ("rules", "message"),
        [
            (((("rye bread", "tea"), ("tea",)),), "1 of 1 rule has"), ((RULE, ((), ("tea",))), "1 of 2 rules"),
            (((("saffron",), ("tea",)), (("tea",), ("saffron", "salt"))), "2 items that no basket holds"),
            (((("saffron",), ("tea",)),), "name 1 item that no basket holds; check the spelling, or remove it"),
        ],
    )  # fmt: skip
    def test_rules_that_cannot_be_are_counted_not_named(self, rules: Any, message: str) -> None:
        with pytest.raises(PolicyError, match=message) as error_info:
            hide(rules=rules).protect(Baskets.of(SHOP))
        assert "saffron" not in str(error_info.value)
        assert "tea" not in str(error_info.value)

    def test_numbers_and_their_text_are_the_same_items(self) -> None:
        rows = Baskets.of([[1, 2], [1, 2], [2], [1, 2]])
        release = HideRules(rules="1 ==> 2", min_support=2, min_confidence=0.7).protect(rows)
        assert release.details["sensitive"] == (((1,), (2,)),)
        assert release.losses["changes"] == 1

    def test_json_round_trip(self) -> None:
        method = HideRules(rules=(((1, 2), (3,)), "a ==> b"), itemsets=("c,d",), min_support=0.5, min_confidence=0.6)
        assert HideRules.model_validate_json(method.model_dump_json()) == method
        assert method.rules[0] == ((1, 2), (3,))

    def test_the_certificate_does_not_say_what_is_hidden(self) -> None:
        method = hide(itemsets=("tea,jam",))
        for text in (
            str(method.describe()),
            repr(method),
            *(c.model_dump_json() for c in method.protect(Baskets.of(SHOP)).claims),
        ):
            assert "bread" not in text
            assert "jam" not in text
        assert (method.describe()["rules"], method.describe()["itemsets"]) == (1, 1)


class TestStrategies:
    @pytest.mark.parametrize("strategy", STRATEGIES)
    def test_claims_hold_by_independent_measures(self, strategy: str) -> None:
        data = Baskets.of(SHOP)
        original = copy.deepcopy(data)
        release = hide(
            rules=(RULE, (("tea",), ("oat milk", "rye bread")), (("oat milk",), ("rye bread",))), strategy=strategy
        ).protect(data)
        assert data == original
        rule_claim, *truth_claims, foreign, count = release.claims
        assert [claim.property for claim in truth_claims] == (["untrue_items"] if strategy == "block" else [])
        least: Any = rule_claim.arguments["min_support"]
        confidence: Any = rule_claim.arguments["min_confidence"]
        assert rule_claim.holds(exposed_rules(release.data, release.details["sensitive"], least, confidence))
        assert exposed_rules(data, release.details["sensitive"], least, confidence) == 2
        mark = str(foreign.arguments.get("unknown_mark", ""))
        assert foreign.holds(count_foreign_items(release.data, data, mark))
        assert count.holds(count_baskets(release.data))
        assert release.losses["changes"] == len(release.details["changes"]) > 0

    def test_a_false_item_beside_unknown_ones_breaks_a_claim(self) -> None:
        """The guarantee "nothing published is false" was claimed by nothing."""
        data = Baskets.of(SHOP)
        release = hide(rules=(RULE,), strategy="block").protect(data)
        lists = release.data.to_lists()
        assert any(str(item).endswith("?") for items in lists for item in items)
        missing = next(row for row, items in enumerate(lists) if any(not str(item).endswith("?") for item in items))
        kept_items = [item for item in lists[missing] if str(item).endswith("?")]
        stranger = next(item for item in data.items if item not in data.to_lists()[0])
        for row, items, is_true in (
            (0, lists[0], True),
            (missing, kept_items, False),
            (0, [*lists[0], stranger], False),
        ):
            forged = replace(release, data=Baskets.of([*lists[:row], items, *lists[row + 1 :]]))
            (finding,) = [finding for finding in sf.check(forged, data) if finding.property == "untrue_items"]
            assert finding.holds == is_true

    @pytest.mark.parametrize("strategy", [strategy_name for strategy_name in STRATEGIES if strategy_name != "1a"])
    def test_itemsets_are_hidden_by_support(self, strategy: str) -> None:
        rows = Baskets.of(SHOP)
        release = HideRules(itemsets=("oat milk,rye bread", "tea"), min_support=2, strategy=strategy).protect(rows)
        certain = split_unknowns(release.data).known_items.to_lists()
        assert support(certain, ("oat milk", "rye bread")) == 1
        assert support(certain, ("tea",)) == 1

    def test_1a_cannot_hide_itemsets(self) -> None:
        with pytest.raises(PolicyError, match="1a lowers confidences"):
            HideRules(itemsets=("tea",), min_support=2, strategy="1a").protect(Baskets.of(SHOP))

    def test_1a_says_why_it_cannot(self) -> None:
        rows = Baskets.of([["a", "b"], ["a", "b"], ["b"]])
        with pytest.raises(ImpossibleRelease, match="1 basket, but only 0 could"):
            HideRules(rules="a ==> b", min_support=1, min_confidence=0.8, strategy="1a").protect(rows)

    def test_2b_takes_the_commonest_item_2c_one_after_the_other_greedy_the_fewest_pairs(self) -> None:
        rows = [["a", "b", "x"], ["a", "b"], ["a", "b", "x", "y"], ["a"], ["x", "a"]]
        arguments: dict[str, Any] = {"itemsets": ("a,b",), "min_support": 2}
        published = {
            s: HideRules(**arguments, strategy=s).protect(Baskets.of(rows)).data.to_lists()
            for s in ("2b", "2c", "greedy")
        }
        assert published["2b"] == [["b", "x"], ["b"], ["a", "b", "x", "y"], ["a"], ["a", "x"]]
        assert published["2c"] == [["b", "x"], ["a"], ["a", "b", "x", "y"], ["a"], ["a", "x"]]
        # {a} is in 5 baskets, {b} in 3; of the pairs of a, ab and ax are frequent: 2, 1 and 2 of them.
        assert published["greedy"] == [["b", "x"], ["b"], ["a", "b", "x", "y"], ["a"], ["a", "x"]]

    def test_joint_serves_overlapping_rules_with_one_change(self) -> None:
        rows = [["a", "b", "c"], ["a", "c"], ["a"], ["b", "c"], ["b"]]
        arguments: dict[str, Any] = {"rules": ("a ==> c", "b ==> c"), "min_support": 2, "min_confidence": 0.6}
        assert HideRules(**arguments).protect(Baskets.of(rows)).details["changes"] == [(0, "c", "removed")]
        assert HideRules(**arguments, strategy="1b").protect(Baskets.of(rows)).losses["changes"] == 2

    def test_nothing_is_changed_where_nothing_shows(self) -> None:
        for strategy in STRATEGIES:
            release = hide(min_confidence=0.9, strategy=strategy).protect(Baskets.of(SHOP))
            assert release.data == Baskets.of(SHOP)
            assert release.losses["changes"] == 0

    def test_exact_decides_item_by_item_where_sets_are_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rules = ("rye bread ==> oat milk", "tea ==> oat milk,rye bread", "oat milk ==> rye bread")
        by_sets = hide(rules=rules, strategy="exact").protect(Baskets.of(SHOP)).details
        monkeypatch.setattr(hiding_variables, "MOST_CHOICES", 0)
        by_items = hide(rules=rules, strategy="exact").protect(Baskets.of(SHOP)).details
        for name in ("objective", "bound", "lost_itemsets", "lost_bound", "proven"):
            assert by_sets[name] == by_items[name]

    def test_exact_without_time_is_no_worse_than_joint_and_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sfumato.protect.baskets.exact_hiding.MOST_ENTRIES", 0)
        exact, joint = hide(strategy="exact").protect(Baskets.of(SHOP)), hide().protect(Baskets.of(SHOP))
        assert exact.data == joint.data
        assert exact.details["objective"] == joint.losses["changes"]
        assert not exact.details["proven"] or exact.details["lost_itemsets"] == 0


class TestUnknowns:
    def test_half_of_the_unknowns_were_there(self) -> None:
        release = hide(strategy="block").protect(Baskets.of(SHOP))
        opened = [(row, item) for row, item, word in release.details["changes"] if word == "unknown"]
        presence = [item in SHOP[row] for row, item in opened]
        assert sorted(presence) == [False, True]
        assert any("oat milk?" in row for row in release.data.to_lists())
        assert release.losses["unknown"] == 2

    def test_marks_survive_a_file(self, tmp_path: Path) -> None:
        rows = Baskets.of([[1, 2], [1, 2], [2], [1]])
        release = HideRules(rules="1 ==> 2", min_support=2, min_confidence=0.6, strategy="block").protect(rows)
        release.data.write(tmp_path / "out.dat")
        parts = split_unknowns(Baskets.read(tmp_path / "out.dat"))
        assert parts == split_unknowns(release.data)
        assert all(isinstance(item, int) for item in parts.known_items.items)

    def test_items_that_end_in_the_mark_are_refused(self) -> None:
        rows = Baskets.of([["a", "b", "why?"], ["a", "b"], ["a"]])
        with pytest.raises(DataError, match="1 item ends in"):
            HideRules(rules="a ==> b", min_support=1, min_confidence=0.5, strategy="block").protect(rows)
        with pytest.raises(DataError, match="1 item ends in"):
            mark_unknowns(Baskets.of([["a"]]), [0], ["b?"])

    def test_every_unknown_that_hides_has_a_decoy(self) -> None:
        """Of eight baskets with b, four must become unknown; only two baskets lack b."""
        rows = Baskets.of([["a", "b"]] * 8 + [["a"], ["c"]])
        method = HideRules(rules="a ==> b", min_support=1, min_confidence=0.5, strategy="block")
        with pytest.raises(ImpossibleRelease, match="a decoy per unknown one"):
            method.protect(rows)
        wider = Baskets.of([["a", "b"]] * 8 + [["a"], *[["c"]] * 3])
        parts = split_unknowns(method.protect(wider).data)
        item_flags = ["b" in row for row in wider.to_lists()]
        unknown = ["b" in row for row in parts.unknown_items.to_lists()]
        true_count = sum(mark and was for mark, was in zip(unknown, item_flags, strict=True))
        assert true_count == sum(unknown) - true_count == 4

    def test_an_item_in_every_basket_cannot_be_unknown(self) -> None:
        rows = Baskets.of([["a", "b"], ["a", "b"]])
        with pytest.raises(ImpossibleRelease, match="1 item of the rules is absent from too few baskets"):
            HideRules(rules="a ==> b", min_support=1, min_confidence=0.5, strategy="block").protect(rows)


@pytest.mark.parametrize("strategy", ["joint", "1b", "2a", "greedy", "block"])
def test_ten_rules_of_real_baskets(shared_data: Path, strategy: str) -> None:
    data = Baskets.read(shared_data / "fimi" / "bms-webview-1.dat")
    pairs = ((10311, 12703), (10307, 10311), (10295, 10307), (33449, 33469), (10315, 10311), (12621, 12483))
    rules = tuple(((left,), (right,)) for left, right in pairs)
    release = HideRules(rules=rules, min_support=60, min_confidence=0.2, strategy=strategy).protect(data)
    sensitive = release.details["sensitive"]
    assert exposed_rules(data, sensitive, 60, 0.2) > 3
    assert exposed_rules(release.data, sensitive, 60, 0.2) == 0


def test_no_baskets_are_refused() -> None:
    with pytest.raises(DataError, match="no baskets"):
        hide().protect(Baskets.of([]))


def test_the_claim_says_what_was_to_be_hidden() -> None:
    """Without a confidence only itemsets can be hidden; with one, rules and itemsets."""
    only = HideRules(itemsets=["oat milk, rye bread"], min_support=2).protect(Baskets.of(SHOP)).claims[0].meaning
    assert only == "No itemset that was to be hidden has a support at or above the threshold."
    both = hide(itemsets=["tea, jam"]).protect(Baskets.of(SHOP)).claims[0].meaning
    assert both == (
        "No rule that was to be hidden has both support and confidence at or above their thresholds, and no itemset "
        "that was to be hidden has that support."
    )


def test_a_rule_with_another_arrow_is_told_from_a_file() -> None:
    with pytest.raises(DataError, match=r"the file of rules does not exist.*; a rule itself is written as a,b ==> c"):
        hide(rules="a -> b").protect(Baskets.of(SHOP))
