# SPDX-License-Identifier: MIT
"""What is said of a loss is what was counted: each sentence beside a number that was worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from sfumato.losses import LOSSES

AGES = sf.Table.of(
    {"age": ["1", "1", "1", "2", "2", "9"], "ill": list("ababab")}, {"age": "quasi_identifying", "ill": "sensitive"}
)
"""Classes of 3 and 2, and one person alone."""
PAIRS = sf.Table.of(
    {"pay": [0.0, 0.0, 10.0, 10.0], "job": list("abcc")}, dict.fromkeys(("pay", "job"), "quasi_identifying")
)
WORDS = sf.Table.of({"job": ["other", "cook", "cook", "cook", "judge", "pilot"]}, {"job": "sensitive"})


def suppress_one(how: Any) -> sf.Release:
    method = sf.Generalize(models=sf.KAnonymity(k=2), suppression_limit=0.2, suppressed_rows=how)
    return method.protect(AGES)


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        ("discernibility", 3 * 3 + 2 * 2 + 6, "The file does not show rows that were left out."),
        (
            "average_class_size",
            5 / 2,
            "Rows for each combination of quasi-identifying values, without suppressed rows.",
        ),
        ("suppressed_rows", 1, 'left out, or published with "*" in all quasi-identifying columns.'),
    ],
)
@pytest.mark.parametrize("how", ["star", "drop"])
def test_suppressed_rows_are_said_to_count_where_they_do(name: str, number: float, words: str, how: str) -> None:
    """A row that was left out was said to be one "whose values were all removed", and to be among those "published"."""
    assert suppress_one(how).losses[name] == number
    assert words in LOSSES[name].meaning


def test_what_groups_lose_is_said_in_standard_deviations_and_cells() -> None:
    """Within the groups one word of four changes; in total, two of four do, and the numbers deviate by 1 each."""
    losses = sf.Microaggregate(k=2).protect(PAIRS).losses
    assert losses["sse"] == pytest.approx(1)
    assert losses["sst"] == pytest.approx(4 * 1 + 2)
    assert "in standard deviations; of words, the cells that changed" in LOSSES["sse"].meaning
    assert "one value for everybody, its mean or most common word" in LOSSES["sst"].meaning


def test_a_cell_that_had_the_label_before_did_not_get_it() -> None:
    release = sf.GroupRareValues(columns=("job",), min_count=2, label="other").protect(WORDS)
    assert release.data.frame["job"].to_list().count("other") == 3
    assert release.losses["grouped_cells"] == 2
    assert LOSSES["grouped_cells"].meaning == "Cells that got the common label of rare values."


def test_a_pattern_that_is_rare_in_the_release_is_not_said_to_have_lost_support() -> None:
    """a falls from 4 to 3, b from 3 to 1: at support 2 only a is frequent in the release, and it lost a quarter."""
    original = sf.Sequences.of([["a"], ["a"], ["a"], ["a"], ["b"], ["b"], ["b"]])
    published = sf.Sequences.of([["a"], ["a"], ["a"], ["c"], ["b"], ["c"], ["d"]])
    changes = sf.measure.pattern_changes(original, published, 2, hidden_patterns=[["c"]])
    assert changes.support_distortion == pytest.approx(1 / 4)
    assert "over those that count and are frequent in the release" in LOSSES["support_distortion"].meaning
