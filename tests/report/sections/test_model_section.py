# SPDX-License-Identifier: MIT
"""The sections about published rules and classifiers: what the release shows, and what only the custodian reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.items.rule_set_files import RuleCount
from sfumato.details import PatternDetails
from sfumato.mine.patterns.classifier_tree import TreeNode, build_classifier_tree
from sfumato.report.pictures.model_pictures import MOST_NODES, draw_tree
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.sections.chosen_sections import build_outgoing_sections, make_sections
from sfumato.report.sections.model_section import MOST_LINES, build_model_section
from sfumato.report.sections.rule_repair_section import build_rule_repair_section, build_withheld_splits_section
from sfumato.report.words.wording import NBSP
from tests.contract.examples import TWELVE

BASKETS = sf.Baskets.of([list(basket) for basket in TWELVE])
RULES = sf.PublishRules(k=3, min_support=8, min_confidence=0.8).protect(BASKETS)
PEOPLE = sf.Table.of(
    {
        "job": ["cook"] * 20 + ["clerk"] * 20 + ["nurse"] * 3,
        "age": [30] * 43,
        "income": ["low"] * 15 + ["high"] * 5 + ["high"] * 16 + ["low"] * 4 + ["low"] * 3,
    },
    roles={"job": "quasi_identifying", "age": "quasi_identifying", "income": "sensitive"},
)
TREE = sf.PublishClassifier(target="income", k=4).protect(PEOPLE)


def by_title(section: ReportSection) -> Mapping[str, ReportFigure]:
    return {figure.title: figure for figure in section.figures}


def test_every_rule_is_shown_with_its_figures() -> None:
    section = build_model_section(RULES.data)
    rules = RULES.data.list_counts()
    listed = by_title(section)["The most confident rules" if len(rules) > 10 else "All rules"]
    assert f"{len(rules)} rules are published" in section.intro
    assert [row[2:] for row in listed.rows] == [(str(rule.support), str(rule.left_support)) for rule in rules]
    assert by_title(section)["Support and confidence of all rules"].svg.count("<circle") >= 1


def test_many_rules_are_cut_and_counted() -> None:
    counts = [RuleCount((f"a{n}",), (f"b{n}",), 10 + n, 40 + n) for n in range(MOST_LINES + 5)]
    section = build_model_section(sf.Rules.of_counts(counts, 1000))
    figure = by_title(section)["The most confident rules"]
    assert len(figure.rows) == MOST_LINES and "of 205 rules" in figure.caption


def test_no_rule_at_all_is_said() -> None:
    assert "0 rules are published" in build_model_section(sf.Rules.of_counts([], 12)).intro


def test_a_tree_is_drawn_with_its_counts_and_its_accuracy() -> None:
    section = build_model_section(TREE.data)
    figures = by_title(section)
    # Nurses alone are fewer than 4, so they are with the cooks: 18 of 23 are right there, 16 of 20 at the clerks.
    rows = [tuple(cell.replace(NBSP, " ") for cell in row) for row in figures["The tree"].rows]
    assert rows == [("not job = clerk", "low", "78 %", "23"), ("job = clerk", "high", "80 %", "20")]
    intro = section.intro.replace(NBSP, " ")
    assert "right for 79 %" in intro and "most common class is right for 51 %" in intro
    assert figures["How often it is right"].rows == (("low", "22", "23", "18"), ("high", "21", "20", "16"))
    assert "job = clerk → high" in figures["The tree"].svg


def test_a_deep_tree_is_drawn_to_a_depth_that_fits() -> None:
    def grow(depth: int, name: str = "") -> TreeNode:
        parts = tuple(grow(depth - 1, f"{name}{bit}") for bit in "ab") if depth else ()
        return TreeNode(f"x = {name}" if name else "", {"u": 2**depth, "v": 2**depth}, parts)

    svg = draw_tree(grow(8))
    assert 20 < svg.count("x = ") <= MOST_NODES
    assert "(8 leaves)" in svg


def test_markup_in_names_stays_text() -> None:
    """A column or an item may hold anything."""
    strange = "<script>alert(1)</script>"
    rules = sf.Rules.of_counts([RuleCount((strange,), ("b",), 10, 20)], 40)
    assert "<script" not in build_model_section(rules).figures[0].svg
    tree = TreeNode("", {strange: 5}, (TreeNode(f"{strange} = 1", {strange: 3}), TreeNode("no", {strange: 2})))
    assert "<script" not in draw_tree(tree)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(*[st.sampled_from("pqr")] * 3, st.sampled_from("uvw")), min_size=15, max_size=80),
    st.sampled_from([2, 3]),
)
def test_the_tree_is_the_one_behind_the_rules(rows: list[tuple[str, ...]], k: int) -> None:
    frame = pl.DataFrame(rows, schema=["a", "b", "c", "y"], orient="row")
    table = sf.Table.of(frame, {**dict.fromkeys("abc", "quasi_identifying"), "y": "sensitive"})
    try:
        release = sf.PublishClassifier(target="y", k=k, max_confidence=1.0).protect(table)
    except sf.ImpossibleRelease:
        return
    tree = build_classifier_tree(release.data)
    assert tree is not None
    leaf_counts = {
        (frozenset(path), name): count for path, leaf in tree.list_leaves() for name, count in leaf.counts.items()
    }
    assert leaf_counts == {
        (frozenset(rule.left), str(rule.right[0]).removeprefix("y = ")): rule.support
        for rule in release.data.list_counts()
    }
    wrong = sum(leaf.people - leaf.counts[leaf.predicted_class] for _, leaf in tree.list_leaves())
    assert release.losses["loss"] * len(rows) == wrong or abs(release.losses["loss"] * len(rows) - wrong) < 1e-9


def test_association_rules_are_no_tree() -> None:
    assert build_classifier_tree(RULES.data) is None
    one_left = [RuleCount(("a",), ("b",), 5, 10), RuleCount(("a",), ("c",), 5, 10)]
    assert build_classifier_tree(sf.Rules.of_counts(one_left, 12)) is None


def test_the_page_that_leaves_says_nothing_about_what_was_withheld() -> None:
    for release, original in ((RULES, BASKETS), (TREE, PEOPLE)):
        outgoing = build_outgoing_sections({}, release.data, [release.method.describe()])
        internal = make_sections([release.method], release, original, release.data, {})
        assert [section.anchor for section in outgoing] == ["model"]
        assert outgoing[0] == internal[0]
        assert len(internal) == 2


def test_the_figures_of_rules_are_said_to_be_what_the_repair_made_them() -> None:
    """Both pages: added baskets count, and nothing tells how many they are."""
    intros = {}
    for repair in ("additive", "suppressive", "none"):
        method = sf.PublishRules(k=2, min_support=8, min_confidence=0.5, repair=repair)
        release = method.protect(sf.Baskets.of([["a", "b"]] * 9 + [["a"]] + [["b"]] * 40 + [["c"]] * 20))
        (section,) = build_outgoing_sections({}, release.data, [method.describe()])
        assert section == make_sections([method], release, BASKETS, release.data, {})[0]
        intros[repair] = section.intro
        assert f"in {release.data.baskets} baskets" in section.intro
        (unknown,) = build_outgoing_sections({}, release.data)
        assert not len(release.data.wholes) or "If the repair is additive, baskets were added" in unknown.intro
        if repair == "additive":
            assert release.data.baskets > 70
            numbers = {int(text) for text in re.findall(r"\d+", section.intro)}
            assert numbers == {len(release.data.wholes), len(release.data.items), release.data.baskets}
    raised = "every support, and the number of baskets, is the true one or larger; a confidence may be higher or lower"
    assert "baskets, counting added ones." in intros["additive"] and raised in intros["additive"]
    assert "groups of fewer people than k may follow from the rules" in intros["none"]
    assert not any(words in intros["suppressive"] for words in ("added", "may follow"))
    assert not any(words in intros["none"] for words in ("added", "safely"))


def test_withheld_rules_have_their_reason() -> None:
    changes = RULES.details["rule_changes"]
    counts: dict[str, Any] = dict(changes["change"].value_counts().iter_rows())
    for change in ("withheld", "invented", "changed"):
        assert counts.get(change, 0) == RULES.losses[f"{change}_rules"]
    section = build_rule_repair_section(RULES)
    assert any("because" in note for note in section.notes) == bool(
        counts.get("withheld", 0) + counts.get("invented", 0)
    )
    withheld = sf.PublishRules(k=3, min_support=8, min_confidence=0.8, repair="suppressive").protect(BASKETS)
    reasons = withheld.details["rule_changes"].filter(pl.col("change") == "withheld")["why"].unique().to_list()
    assert reasons == ["an itemset behind it is withheld"]


def test_channels_between_rules_are_those_whose_supports_rules_show() -> None:
    """By hand: 9 of 10 with a have b. With a rule a → b the one other is seen; if rules tell only b → a, it is not."""
    baskets = sf.Baskets.of([["a", "b"]] * 9 + [["a"]] + [["b"]] * 40 + [["c"]] * 5)
    mined: dict[str, Any] = {"k": 2, "min_support": 9, "repair": "none"}
    loose_release = sf.PublishRules(**mined, min_confidence=0.8).protect(baskets)
    assert (
        loose_release.details["channels"]["inner"].to_list()
        == [["a"]]
        == loose_release.details["rule_channels"]["inner"].to_list()
    )
    assert (
        "disclose it. Nothing was repaired, so readers can derive this."
        in build_rule_repair_section(loose_release).intro
    )
    repaired = sf.PublishRules(k=2, min_support=9, min_confidence=0.8).protect(baskets)
    assert "disclose it." in build_rule_repair_section(repaired).intro
    assert "Nothing was repaired" not in build_rule_repair_section(repaired).intro
    strict_release = sf.PublishRules(**mined, min_confidence=0.95).protect(baskets)
    assert strict_release.details["channels"].height == 1 and strict_release.details["rule_channels"].is_empty()
    assert "None follows" in build_rule_repair_section(strict_release).intro


def test_withheld_splits_and_unused_columns_are_named() -> None:
    section = build_withheld_splits_section(TREE, PEOPLE)
    assert section is not None
    assert any("job = cook" in note or "job = nurse" in note for note in section.notes), section.notes
    assert any('split at given cuts only: "age"' in note for note in section.notes)
    calm = replace(TREE, details=PatternDetails())
    quiet = build_withheld_splits_section(calm, PEOPLE)
    assert quiet is not None and "No split" in quiet.intro
