# SPDX-License-Identifier: MIT
"""The best anonymous release: against every multiset of sequences, and never worse than the method."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

import sfumato as sf
from tests.protect.sequences.small_sequences import count_subsequences, draw_elements, list_subsequences


def rows_of(text: str) -> sf.Sequences:
    return sf.Sequences.of([list(row) for row in text.split()])


def search_all_releases(rows: list[list[str]], k: int) -> int:
    """The smallest sum over all multisets of sequences that occur in the originals, frequent there or not."""
    supports = count_subsequences(rows)
    parts, before = sorted(supports), np.array([supports[part] for part in sorted(supports)])
    holds = np.array([[part in list_subsequences(list(row)) for row in parts] for part in parts], dtype=np.int64)
    best = int(before[before >= k].sum())
    for size in range(1, len(rows) + 1):
        for published in combinations_with_replacement(range(len(parts)), size):
            after = holds[:, published].sum(axis=1)
            if (after[after > 0] >= k).all() and (before[after > 0] >= k).all():
                best = min(best, int(np.abs(before - after)[before >= k].sum()))
    return best


def test_no_multiset_of_sequences_is_better() -> None:
    chance = np.random.default_rng(4)
    above_zero = 0
    for _ in range(12):
        rows = [chance.choice(list("abc"), chance.integers(1, 4)).tolist() for _ in range(4)]
        best = sf.measure.support_optimum(sf.Sequences.of(rows), 2)
        assert best.proven and best.gap == 0
        assert best.distance == search_all_releases(rows, 2)
        above_zero += best.distance > 0
    assert above_zero > 1


@pytest.mark.parametrize(("text", "best"), [("BC ABCD ABCD BCE", 0), ("A AXB XB XB", 2), ("A B", 0)])
def test_small_examples(text: str, best: int) -> None:
    """The example of Pensa et al. (2008) loses nothing; without A in two sequences, A cannot keep its support."""
    assert sf.measure.support_optimum(rows_of(text), 2).distance == best


def test_the_method_is_never_better_and_the_release_found_is_anonymous() -> None:
    chance = np.random.default_rng(8)
    for sets in (False, True):
        data = sf.Sequences.of([draw_elements(chance, 4, sets=sets) for _ in range(20)])
        best = sf.measure.support_optimum(data, 3)
        changes = sf.measure.pattern_changes(data, best.release, 3)
        assert sf.measure.sequence_anonymity(best.release) >= 3
        assert (changes.support_distance, changes.ghosts) == (best.distance, 0)
        release = sf.AnonymizeSequences(k=3).protect(data)
        assert sf.measure.pattern_changes(data, release.data, 3).support_distance >= best.bound


def test_out_of_time_there_is_a_bound() -> None:
    chance = np.random.default_rng(1)
    data = sf.Sequences.of([chance.choice(list("abcdef"), 7).tolist() for _ in range(60)])
    best = sf.measure.support_optimum(data, 4, seconds=0.05)
    assert not best.proven and 0 < best.gap <= 1
    assert 0 <= best.bound < best.distance


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(sf.PolicyError, match="at least 2"):
        sf.measure.support_optimum(rows_of("a a"), 1)
    with pytest.raises(sf.DataError, match="no sequences"):
        sf.measure.support_optimum(sf.Sequences.of([]), 2)
    with pytest.raises(sf.PolicyError, match="patterns"):
        sf.measure.support_optimum(sf.Sequences.of([list("abcdefghijkl")] * 2), 2)
