# SPDX-License-Identifier: MIT
"""How many patterns are frequent at the least: never more than there are, and said before a long search."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import PolicyError
from sfumato.mine.sequences import pattern_bounds
from sfumato.mine.sequences.pattern_bounds import bound_patterns
from sfumato.mine.sequences.subsequences import find_subsequences
from sfumato.sequences import Sequences


@pytest.mark.parametrize("largest", [1, 2])
def test_no_more_are_promised_than_there_are(monkeypatch: pytest.MonkeyPatch, largest: int) -> None:
    monkeypatch.setattr(pattern_bounds, "LONG", 0)
    chance = np.random.default_rng(largest)
    best = 0.0
    for _ in range(200):
        items = int(chance.integers(2, 4))
        rows = [
            [chance.choice(items, size=min(largest, items), replace=False).tolist() for _ in range(length)]
            for length in chance.integers(0, 11, size=5)
        ]
        sequences = Sequences.of([[[0]], *rows])
        least, longest = int(chance.integers(1, 7)), int(chance.integers(1, 6))
        patterns = find_subsequences(sequences, least, longest)
        bound = bound_patterns(sequences, least, longest)
        assert bound.patterns <= len(patterns)
        assert bound.codes <= patterns.codes.size
        best = max(best, bound.patterns / max(len(patterns), 1))
    assert best == 1 if largest == 1 else best > 0  # else it says nothing


def test_all_words_over_the_items_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice all of a, b, c in two of three sequences: 3 words of one letter and 9 of two."""
    monkeypatch.setattr(pattern_bounds, "LONG", 0)
    rows = Sequences.of([list("abccba"), list("cabbca"), list("ab")])
    assert bound_patterns(rows, 2, 9) == (12, 21)
    assert bound_patterns(rows, 2, 1) == (3, 3)
    assert bound_patterns(rows, 3, 9).patterns <= 2
    assert bound_patterns(rows, 4, 9) == (0, 0)


def test_what_cannot_end_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Sequences.of([list("abcdefgh") * 40] * 3)

    def search(*_: object) -> list[object]:
        raise AssertionError("it was searched")

    monkeypatch.setattr("sfumato.mine.sequences.subsequence_search.search_subsequences", search)
    with pytest.raises(PolicyError, match="there are at least 5,026,338,869,832 patterns, more than at_most allows"):
        find_subsequences(rows, 2, at_most=1000)
    with pytest.raises(AssertionError):
        find_subsequences(rows, 2, max_length=2, at_most=1000)
    with pytest.raises(AssertionError):
        find_subsequences(rows, 2, max_gap=1, at_most=1000)
    with pytest.raises(AssertionError):
        find_subsequences(rows, 2, kind="closed", at_most=1000)
