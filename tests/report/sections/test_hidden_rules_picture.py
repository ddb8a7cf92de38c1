# SPDX-License-Identifier: MIT
"""The picture of hidden rules shows the rules before and after from the same thresholds, or is left out."""

from __future__ import annotations

import re

import pytest

import sfumato as sf
from sfumato.report.sections import hiding_section
from sfumato.report.sections.hiding_section import build_hiding_section


@pytest.mark.parametrize("most", [0, 1, 20, 1000])
def test_both_sides_of_the_rule_picture_begin_at_the_same_thresholds(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hiding_section, "MOST_RULES", most)
    baskets = sf.Baskets.of([["a", "b", "c"]] * 8 + [["a", "b"]] * 2 + [["d", "e"]] * 5)
    release = sf.HideRules(rules=("a, b ==> c",), min_support=6, min_confidence=0.7).protect(baskets)
    section = build_hiding_section(release, baskets, release.data, {})
    figures = [figure for figure in section.figures if figure.title == "Rules before and after"]
    counts = {
        words: [
            sf.mine.association_rules(data, support, confidence, max_length=3, consequent_length=1).height
            for data in (baskets, release.data)
        ]
        for words, support, confidence in (("half the thresholds", 3, 0.35), ("the thresholds", 6, 0.7))
    }
    fitting = [words for words in counts if max(counts[words]) <= most]
    assert len(figures) == bool(fitting)
    for figure in figures:
        assert f"from {fitting[0]} up" in figure.caption
        drawn = [int(number) for number in re.findall(r">(?:before|after): (\d+) rules?<", figure.svg)]
        assert drawn == counts[fitting[0]]
