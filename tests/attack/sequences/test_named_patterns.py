# SPDX-License-Identifier: MIT
"""How many hidden patterns are named: on average over all draws, and by someone who mines nothing, by brute force."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import pytest

import sfumato as sf
from sfumato.attack.sequences.named_patterns import (
    NamedPattern,
    TiedPatterns,
    count_blind_hits,
    count_named,
    measure_length,
    pick_names,
    rank_by,
)


def make_pattern(text: str) -> NamedPattern:
    return tuple((name,) for name in text)


@pytest.mark.parametrize("seed", range(20))
def test_tied_patterns_are_named_as_often_as_random_draws_name_them(seed: int) -> None:
    chance = random.Random(seed)
    patterns = [make_pattern(text) for text in ("a", "b", "ab", "ba", "abc", "cba")]
    scores = {pattern: chance.randint(0, 2) for pattern in patterns}
    hidden = set(chance.sample(patterns, 3))
    places = Counter(measure_length(pattern) for pattern in hidden)
    found = []
    for order in permutations(patterns):
        ranked, left, named = sorted(order, key=lambda pattern: scores[pattern]), Counter(places), 0
        for pattern in ranked:
            if left[measure_length(pattern)]:
                left[measure_length(pattern)] -= 1
                named += pattern in hidden
        found.append(named)
    ranking = rank_by(patterns, lambda pattern: scores[pattern])
    assert count_named(ranking, hidden, places, measure_length) == Fraction(sum(found), len(found))


def test_of_patterns_that_are_alike_some_are_drawn_now_and_the_rest_later() -> None:
    one, two, three = map(make_pattern, "abc")
    ranking = [TiedPatterns([one, two], 1), TiedPatterns([three], 1), TiedPatterns([one, two], 1)]
    for places, expected in ((1, Fraction(1, 2)), (2, Fraction(1, 2)), (3, Fraction(1))):
        assert count_named(ranking, {two}, Counter({None: places}), lambda pattern: None) == expected
    assert [pick_names(ranking, many) for many in (1, 2, 9)] == [[one], [one, three], [one, three, two]]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_blind_guess_is_one_of_all_patterns_of_the_published_items(length: int) -> None:
    published = sf.Sequences.of([list("abΔ"), list("ca"), ["Δ"]])
    secret = make_pattern("abc"[:length])
    assert count_blind_hits(published, [secret], "Δ") == Fraction(1, 3**length)
    assert count_blind_hits(published, [secret], "") == Fraction(1, 4**length)
    assert count_blind_hits(published, [make_pattern("z" * length)], "Δ") == 0, "nobody knows what is not published"


def test_two_secrets_of_one_length_are_drawn_together() -> None:
    published = sf.Sequences.of([list("abc")])
    secrets = [make_pattern("ab"), make_pattern("bc"), make_pattern("c")]
    assert count_blind_hits(published, secrets, "") == Fraction(2 * 2, 9) + Fraction(1, 3)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_elements_of_several_items_make_more_patterns(length: int) -> None:
    published = sf.Sequences.of([[["a", "b"], ["c"]]])
    parts = [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]
    every = [
        pattern
        for many in range(1, length + 1)
        for pattern in product(parts, repeat=many)
        if measure_length(pattern) == length
    ]
    assert count_blind_hits(published, every[:1], "") == Fraction(1, len(every))
