# SPDX-License-Identifier: MIT
"""BF-P2kA: the course's example, the flaw of one pass, and random databases against brute force."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from tests.protect.sequences.small_sequences import count_subsequences, draw_elements


def anonymize(rows: str, k: int = 2, *, literal: bool = False) -> list[str]:
    data = sf.Sequences.of([list(row) for row in rows.split()])
    release = sf.AnonymizeSequences(k=k, literal=literal).protect(data)
    return ["".join(row) for row in release.data.to_lists()]


def test_the_published_example() -> None:
    """Pensa et al. 2008: E, BE, CE and BCE are 2-harmful."""
    assert anonymize("BC ABCD ABCD BCE") == ["BC", "ABCD", "ABCD", "BC"]


def test_one_pass_is_not_enough() -> None:
    """A is contained in two originals and, after one pass, in one published sequence."""
    assert anonymize("A AXB XB XB", literal=True) == ["A", "XB", "XB", "XB"]
    assert anonymize("A AXB XB XB") == ["XB", "XB", "XB"]


@pytest.mark.parametrize(
    ("rows", "published"),
    [
        ("AB AB CD CD CABD", ["AB", "AB", "CD", "CD", "AB"]),  # AB and CD have two in common: the first in order
        ("XAB XAB AB AB ABY", ["XAB", "XAB", "AB", "AB", "AB"]),  # the shorter path
        ("AB AB CD CD CD ABCDE", ["AB", "AB", "CD", "CD", "CD", "CD"]),  # the one with more support
        ("AB AB XZ", ["AB", "AB"]),  # nothing in common
    ],
)
def test_ties(rows: str, published: list[str]) -> None:
    assert anonymize(rows) == published


def test_what_is_left_out_is_counted() -> None:
    release = sf.AnonymizeSequences(k=2).protect(sf.Sequences.of([["a"], ["b", "c"], ["a"]]))
    assert release.losses["dropped_sequences"] == 1
    assert release.losses["deleted_elements"] == 2
    assert release.losses["loss"] == pytest.approx(2 / 6)
    assert release.details["rows"].tolist() == [0, 2]
    assert release.details["suppressed"].tolist() == [1]


def test_nothing_rare_is_left_in_random_databases() -> None:
    chance = np.random.default_rng(6)
    left_by_one_pass = case_count = 0
    for _ in range(120):
        rows = [[item for [item] in draw_elements(chance, 6, sets=False)] for _ in range(chance.integers(2, 14))]
        data, k = sf.Sequences.of(rows), int(chance.integers(2, 4))
        try:
            release = sf.AnonymizeSequences(k=k).protect(data)
        except sf.ImpossibleRelease:
            continue
        literal_release = sf.AnonymizeSequences(k=k, literal=True).protect(data)
        after, literal = (count_subsequences(source.data.to_lists()) for source in (release, literal_release))
        before = count_subsequences(rows)
        assert min(after.values()) >= k
        assert all(before[part] >= k for part in (*after, *literal))
        assert sf.measure.sequence_anonymity(release.data) == min(after.values())
        case_count, left_by_one_pass = case_count + 1, left_by_one_pass + (min(literal.values()) < k)
    assert case_count > 80
    assert left_by_one_pass > 10


def test_itemsets_are_labels_of_their_own() -> None:
    rows = [[["a", "b"], ["c"]], [["b", "a"], ["c"]], [["a"], ["c"]], [["a", "b"], ["d"]]]
    release = sf.AnonymizeSequences(k=2).protect(sf.Sequences.of(rows))
    whole = [["a", "b"], ["c"]]
    assert release.data.to_lists() == [whole, whole, whole, [["a", "b"]]]
    assert all(finding.holds for finding in sf.check(release, sf.Sequences.of(rows)))


def test_empty_sequences_stay() -> None:
    data = sf.Sequences.of([[], ["a"], ["a"], []])
    release = sf.AnonymizeSequences(k=2).protect(data)
    assert release.data.to_lists() == [[], ["a"], ["a"], []]
    assert all(finding.holds for finding in sf.check(release, data))


@pytest.mark.parametrize(
    ("rows", "k", "message"),
    [
        ([], 2, "there are no sequences"),
        ([["a"], ["a"]], 3, "k = 3 is more than the 2 sequences"),
        ([["a"], ["b"]], 2, "no element is first in 2 sequences"),
        ([[], []], 2, "all sequences are empty"),
        ([["a"]], 2, "1 sequence cannot hide among others; give more data"),
    ],
)
def test_what_cannot_be_anonymized_is_refused(rows: list[list[str]], k: int, message: str) -> None:
    with pytest.raises(sf.SfumatoError, match=message):
        sf.AnonymizeSequences(k=k).protect(sf.Sequences.of(rows))


def test_sequences_longer_than_a_word_of_bits() -> None:
    chance = np.random.default_rng(2)
    long = chance.integers(0, 100, 10_000).tolist()
    data = sf.Sequences.of([long, [*long[:5000], 100, *long[5000:]], long[:5000], [*long[:4000], 101]])
    release = sf.AnonymizeSequences(k=2).protect(data)
    lengths = [len(row) for row in release.data.to_lists()]
    assert lengths == [5000, 5000, 5000, 4000]
    assert all(finding.holds for finding in sf.check(release, data))


def test_an_equal_database_ten_times_over_has_the_same_release() -> None:
    chance = np.random.default_rng(3)
    rows = [[item for [item] in draw_elements(chance, 6, sets=False)] for _ in range(60)]
    small = sf.AnonymizeSequences(k=3).protect(sf.Sequences.of(rows)).data.to_lists()
    large = sf.AnonymizeSequences(k=30).protect(sf.Sequences.of(rows * 10)).data.to_lists()
    assert sorted(large) == sorted(small * 10)
