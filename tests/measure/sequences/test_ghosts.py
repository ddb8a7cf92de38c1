# SPDX-License-Identifier: MIT
"""Ghosts: counted as brute force counts them, seen where they are, and what the documentation says about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.measure.sequences.ghost_search import count_ghosts
from sfumato.protect.sequences import replacements
from tests.brute_sequences import count_patterns
from tests.protect.sequences.small_sequences import Elements, as_elements, draw_elements


def rows_of(text: str) -> sf.Sequences:
    return sf.Sequences.of([list(row) for row in text.split()])


def count_by_brute_force(published: list[Elements], original: list[Elements], least: int, **limits: Any) -> int:
    before, after = (count_patterns(rows, **limits) for rows in (original, published))
    return sum(count >= least > before.get(pattern, 0) for pattern, count in after.items())


def test_ghosts_are_those_of_brute_force() -> None:
    chance = np.random.default_rng(3)
    ghost_counts = []
    for case in range(60):
        sets = bool(case % 2)
        rows = [draw_elements(chance, 4, sets=sets) for _ in range(5)]
        other_rows = [draw_elements(chance, 4, sets=sets) if chance.random() < 0.5 else row for row in rows]
        other_rows = other_rows[: len(other_rows) - case % 3 // 2]
        expected = count_by_brute_force(other_rows, rows, 2)
        published, original = sf.Sequences.of(other_rows), sf.Sequences.of(rows)
        assert count_ghosts(published, original, 2) == expected
        backwards = np.arange(len(other_rows))[::-1]
        assert count_ghosts(published, original, 2, backwards) == expected
        ghost_counts.append(expected)
    assert sum(count > 0 for count in ghost_counts) > 15


@pytest.mark.parametrize(
    ("published", "ghosts"),
    [
        ("a a b", 0),
        ("a b b", 1),
        ("a b b b", 1),  # more sequences than there were
        ("Δ Δ b", 0),  # a mark is no pattern
        ("b b", 1),
    ],
)
def test_a_ghost_is_seen(published: str, ghosts: int) -> None:
    assert count_ghosts(rows_of(published), rows_of("a a b"), 2) == ghosts


def test_numbers_and_their_texts_are_the_same_items() -> None:
    original = sf.Sequences.of([[1, 2], [1, 2], [3]])
    assert count_ghosts(sf.Sequences.of([["1", "2"], ["1", "2"], ["3"]]), original, 2) == 0
    assert count_ghosts(sf.Sequences.of([["1", "3"], ["1", "2"], ["3"]]), original, 2) == 1


def hide(original: sf.Sequences, mark: Any, **options: Any) -> sf.Release:
    method = sf.HideSequences(patterns=[["a", "b"]], threshold=0, mark=mark, **options)
    return method.protect(original, sf.Randomness.seeded(5))


def draw_walks() -> sf.Sequences:
    chance = np.random.default_rng(12)
    return sf.Sequences.of([chance.choice(list("abcd"), 5).tolist() for _ in range(14)])


def test_replacements_that_are_not_taken_back_break_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    original = draw_walks()
    monkeypatch.setattr(replacements, "_take_ghosts_back", lambda *_: None)
    release = hide(original, "replace", min_support=4)
    [finding] = [candidate for candidate in sf.check(release, original) if candidate.property == "ghost_patterns"]
    published, original_rows = (as_elements(data.to_lists()) for data in (release.data, original))
    assert finding.measured == count_by_brute_force(published, original_rows, 4) > 0
    assert not finding.holds


@pytest.mark.parametrize("mark", ["delete", "Δ", "replace"])
@pytest.mark.parametrize("least", [2, 4])
def test_no_strategy_leaves_ghosts(mark: Any, least: int) -> None:
    """What is deleted or marked makes no pattern frequent at any support, what is replaced none at `min_support`."""
    original = draw_walks()
    release = hide(original, mark, **({"min_support": least} if mark == "replace" else {}))
    rows = [as_elements(data.to_lists()) for data in (release.data, original)]
    unmarked_rows = [[element for element in row if element != ["Δ"]] for row in rows[0]]
    assert count_by_brute_force(unmarked_rows, rows[1], least) == 0
    assert all(finding.holds for finding in sf.check(release, original))


def test_deleting_creates_patterns_for_whoever_limits_gaps_and_marking_does_not() -> None:
    """As the page says: c and d were never neighbours, and are once a and b between them are hidden."""
    original = rows_of("cabd cabd cabd")
    supports = {
        mark: sf.mine.support(hide(original, mark, max_gap=0).data, ["c", "b"], max_gap=0) for mark in ("delete", "Δ")
    }
    assert sf.mine.support(original, ["c", "b"], max_gap=0) == 0
    assert supports == {"delete": 3, "Δ": 0}
