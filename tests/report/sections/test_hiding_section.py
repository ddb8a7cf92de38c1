# SPDX-License-Identifier: MIT
"""The section about hidden rules and items says what became of them, and what was left."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import sfumato as sf
from sfumato.measure.baskets.hiding_steps import list_effects, list_hiding_steps, measure_step_effects
from sfumato.report.run_account import ReportSection
from sfumato.report.sections.hiding_section import (
    _build_effects_figure,
    build_hiding_section,
    build_pattern_section,
    list_hiding_sections,
)

AS_PRINTED = sf.Baskets.of([list(basket) for basket in ("ABC", "ABC", "A", "A", "B", "B")])
"""By hand, at support 2 and confidence 0.7: AB ==> C has 2 of 2, and ISLF looks at rules of two items only."""


def build(release: sf.Release, original: sf.Baskets) -> ReportSection:
    return build_hiding_section(release, original, release.data, {})


def hide(strategy: Any, items: tuple[str, ...] = ("C",)) -> sf.Release:
    return sf.HideItems(items=items, min_support=2, min_confidence=0.7, strategy=strategy).protect(AS_PRINTED)


def test_an_item_that_rules_still_predict_is_not_said_to_be_hidden() -> None:
    section = build(hide("islf"), AS_PRINTED)
    assert "To be hidden: rules that predict C. The item itself is in 2 baskets, before in 2." in section.notes
    assert "Not hidden: at least 1 rule reaches both thresholds and can be mined, about: C." in section.notes
    assert not any(note.startswith("Hidden:") for note in section.notes)
    assert "1 of them reaches both thresholds" in section.figures[0].caption


def test_nothing_is_said_to_be_left_if_nothing_is() -> None:
    section = build(hide("complete"), AS_PRINTED)
    assert "To be hidden: rules that predict C. The item itself is in 1 basket, before in 2." in section.notes
    assert not any(note.startswith(("Hidden:", "Not hidden:")) for note in section.notes)
    assert "0 of them reach both thresholds" in section.figures[0].caption


def test_many_items_are_cut_with_a_count() -> None:
    names = tuple("abcdefghijklmn")
    baskets = sf.Baskets.of([list(names)] * 3)
    release = sf.HideItems(items=names, min_support=2, min_confidence=0.7).protect(baskets)
    notes = [note for note in build(release, baskets).notes if "to be hidden" in note.lower()]
    assert len(notes) == 13 and notes[-1] == "Also to be hidden: rules that predict 2 more items."


def test_hidden_rules_are_still_said_to_be_hidden() -> None:
    release = sf.HideRules(rules=((("A", "B"), ("C",)),), min_support=2, min_confidence=0.7).protect(AS_PRINTED)
    notes = build(release, AS_PRINTED).notes
    assert any(note.startswith("Hidden: A, B ==> C, support 2 → ") for note in notes)
    assert not any("rules that predict" in note for note in notes)


def test_two_methods_have_a_section_each_with_their_own_thresholds() -> None:
    baskets = sf.Baskets.of([["a", "b"]] * 12 + [["a"]] * 4 + [["c", "d"]] * 9 + [["c"], ["b"], ["d"]] * 3)
    rules = sf.HideRules(rules=["a ==> b"], min_support=3, min_confidence=0.5)
    items = sf.HideItems(items=["d"], min_support=30, min_confidence=0.9)
    release = sf.run(baskets, [rules, items], sf.Randomness.seeded(1)).release
    first, second = list_hiding_sections(release, baskets, release.data, {})
    assert (first.title, second.title) == (
        "What hide rules was to hide, and the side effects",
        "What hide items was to hide, and the side effects",
    )
    assert first.anchor != second.anchor
    changes = release.losses["changes"]
    assert f"1 rule, itemset or item was to be hidden, with {changes} item changes. Thresholds" in first.intro
    assert "with 0 item changes. Thresholds of this method: support 30 baskets, confidence 90" in second.intro
    assert first.figures[-1].rows[0] == ("to be hidden, and visible before", "1")
    assert second.figures[-1].rows[0] == ("to be hidden, and visible before", "0")
    assert any(note.startswith("Hidden: a ==> b") for note in first.notes)
    assert not any("a ==> b" in note for note in second.notes)
    (alone,) = list_hiding_sections(rules.protect(baskets), baskets, release.data, {})
    assert alone == build(rules.protect(baskets), baskets)


def test_an_item_that_ends_in_the_mark_is_counted_where_nothing_is_marked() -> None:
    baskets = sf.Baskets.of([["a", "b?"]] * 12 + [["a"]] * 4)
    release = sf.HideRules(rules=["a ==> b?"], min_support=3, min_confidence=0.5).protect(baskets)
    left = sum("b?" in basket for basket in release.data.to_lists())
    assert any(note.startswith(f"Hidden: a ==> b?, support 12 → {left}, ") for note in build(release, baskets).notes)


def test_patterns_as_mined_are_not_said_to_be_repaired() -> None:
    baskets = sf.Baskets.of([["a", "b"]] * 9 + [["a"]] + [["b"]] * 30)
    intros = {}
    for repair in ("none", "additive"):
        release = sf.PublishPatterns(k=3, min_support=9, repair=repair).protect(baskets)
        intros[repair] = build_pattern_section(release, baskets, release.data).intro
        assert "had 2 inference channels to fewer than 3 people" in intros[repair]
    assert "Nothing was repaired, so readers can derive this." in intros["none"]
    assert "Nothing was repaired" not in intros["additive"]


def test_a_secret_rule_that_appears_is_not_called_one_that_stayed() -> None:
    """By hand, at support 2 and confidence 0.6: no rule predicted D before, and A ==> D does after an item was added.
    D ==> A shows as well, which is no secret."""
    original = sf.Baskets.of([list(basket) for basket in ("AD", "AE", "AE", "B")])
    published = sf.Baskets.of([list(basket) for basket in ("AD", "AED", "AE", "B")])
    effects = sf.measure.side_effects(original, published, 2, 0.6, ["D"])
    assert (effects.sensitive, effects.exposed, effects.ghost_rules) == (0, 1, 1)
    assert _build_effects_figure(asdict(effects)).rows[:2] == (
        ("to be hidden, and visible before", "0"),
        ("to be hidden, and visible now", "1"),
    )


def test_without_a_confidence_no_rules_are_counted() -> None:
    baskets = sf.Baskets.of([["a", "b", "c"]] * 6 + [["a", "c"]] * 2)
    release = sf.HideRules(itemsets=(("a", "b"),), min_support=4, strategy="greedy").protect(baskets)
    steps = list_hiding_steps(release)
    effects = measure_step_effects(release, baskets, release.data)
    figures = list_effects(effects[0], steps)
    assert figures["sensitive"] == 1
    assert not [name for name in figures if "rules" in name]
    labels = [row[0] for row in _build_effects_figure(figures).rows]
    assert labels == ["to be hidden, and visible before", "to be hidden, and visible now", "other itemsets lost",
                      "ghost itemsets"]  # fmt: skip
