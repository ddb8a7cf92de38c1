# SPDX-License-Identifier: MIT
"""Patterns that were hidden entirely and without a mark: never weaker than a look at what should have met."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, product
from typing import Literal

import pytest

import sfumato as sf
from sfumato.attack.sequences.absent_patterns import rank_absent
from sfumato.attack.sequences.mark_guessing import find_common_places
from sfumato.attack.sequences.named_patterns import NamedPattern, Ranking
from sfumato.data.generators.movements import generate_cars
from sfumato.randomness import Randomness

CARS = sf.Sequences.of(generate_cars())


def list_suspects(rows: list[list[str]], length: int) -> list[list[tuple[str, ...]]]:
    """Patterns that occur nowhere: those of the most common items first, then those most common turned round."""
    item_counts = Counter(item for row in rows for item in set(row))
    pattern_counts = Counter(part for row in rows for part in set(combinations(row, length)))
    absent = [part for part in product(sorted(item_counts), repeat=length) if not pattern_counts[part]]

    def measure_chance(part: tuple[str, ...]) -> float:
        chance = 1.0
        for item in part:
            chance *= item_counts[item] / len(rows)
        return chance

    return [
        sorted(absent, key=lambda part: -measure_chance(part)),
        sorted(absent, key=lambda part: -pattern_counts[part[::-1]]),
    ]


def list_all(ranking: Ranking) -> list[NamedPattern]:
    """All patterns of a ranking."""
    return [pattern for tied in ranking for pattern in tied.patterns]


def draw_walks(seed: int) -> list[list[str]]:
    """Walks on five to eight places, where the next one depends on the one before."""
    chance = random.Random(seed)
    places = "abcdefgh"[: chance.randint(5, 8)]
    ways = {spot: [chance.random() ** 3 for _ in places] for spot in places}
    walks = []
    for _ in range(80):
        walk = [chance.choice(places)]
        for _ in range(chance.randint(2, 6)):
            walk.append(chance.choices(places, ways[walk[-1]])[0])
        walks.append(walk)
    return walks


@pytest.mark.parametrize("mark", ["delete", "replace"])
@pytest.mark.parametrize("length", [2, 3])
def test_more_is_named_than_by_a_look_at_the_commonest(mark: Literal["delete", "replace"], length: int) -> None:
    hits, naive, attempts = 0.0, 0, 0
    for seed in range(25):
        walks = draw_walks(seed)
        pattern_counts = Counter(part for walk in walks for part in set(combinations(walk, length)))
        secret = [part for part, _ in pattern_counts.most_common(12)][seed % 12]
        method = sf.HideSequences(
            patterns=[secret], threshold=0, mark=mark, min_support=5 if mark == "replace" else None
        )
        originals = sf.Sequences.of(walks)
        release = method.protect(originals, Randomness.seeded(seed))
        outcome = sf.attack.SequenceRemining().run(release, originals)
        attempts, hits = attempts + outcome.attempts, hits + outcome.successes
        naive += any(ranking[:1] == [secret] for ranking in list_suspects(release.data.to_lists(), length))
    assert attempts == 25 and hits >= naive and hits >= 15


def test_what_was_deleted_from_cars_is_named_and_guessed() -> None:
    pairs = Counter(part for row in CARS.to_lists() for part in set(combinations(row, 2)))
    probe_pairs = [pair for pair, _ in sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))[:150:15]]
    naive = marks = 0
    hits = guessed = 0.0
    for pair in probe_pairs:
        release = sf.HideSequences(patterns=[pair], threshold=0).protect(CARS)
        outcome, filled = (
            attack.run(release, CARS) for attack in (sf.attack.SequenceRemining(), sf.attack.MarkGuessing())
        )
        hits, marks, guessed = hits + outcome.successes, marks + filled.attempts, guessed + filled.successes
        naive += any(ranking[:1] == [pair] for ranking in list_suspects(release.data.to_lists(), 2))
        assert outcome.baseline < 0.1
    assert hits >= naive and hits >= 8
    assert guessed > 0.8 * marks


def test_only_what_occurs_nowhere_is_suspected() -> None:
    rows = [list("abc"), list("bca"), list("cb"), list("cc")]
    patterns = {part for row in rows for length in (2, 3) for part in combinations(row, length)}
    rankings = rank_absent(sf.Sequences.of(rows), longest=3)
    listed = {tuple(name for (name,) in pattern) for ranking in rankings for pattern in list_all(ranking)}
    assert listed and not listed & patterns
    assert set(product("abc", repeat=2)) - patterns <= listed


def test_gaps_are_those_of_the_hidden_patterns() -> None:
    """a then b is published, never next to each other: within the limits it occurs nowhere."""
    rows = [list("axb"), list("bxa"), list("xab")] * 9
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=0, max_gap=0).protect(sf.Sequences.of(rows))
    assert (("a",), ("b",)) in list_all(rank_absent(release.data, 2, max_gap=0)[0])
    assert (("a",), ("b",)) not in [
        pattern for ranking in rank_absent(release.data, 2) for pattern in list_all(ranking)
    ]


def test_items_that_no_element_holds_together_are_suspected() -> None:
    rows = [[["a", "c"], ["b"]], [["b", "c"], ["a"]], [["a"], ["c"]]] * 9
    rankings = rank_absent(sf.Sequences.of(rows), longest=2)
    assert list_all(rankings[-1]) == [(("a", "b"),)]
    assert rank_absent(sf.Sequences.of(rows), longest=1) == []


def test_rare_items_are_looked_at_as_anything_else() -> None:
    rows = [[f"x{number}", "a", f"y{number}", "b"] for number in range(150)] + [["b", "c"]] * 3
    rankings = rank_absent(sf.Sequences.of(rows), longest=2)
    assert rankings[1][0].patterns == [(("b",), ("a",))]


@pytest.mark.parametrize("seed", range(60))
def test_as_many_elements_as_possible_are_found_again(seed: int) -> None:
    chance = random.Random(seed)
    before, after = ([frozenset(chance.choice("abc")) for _ in range(chance.randint(0, 6))] for _ in range(2))
    before = [element if chance.random() < 0.8 else frozenset() for element in before]
    most = max(
        size
        for size in range(min(len(before), len(after)) + 1)
        for places in combinations(range(len(before)), size)
        for choice in combinations(after, size)
        if all(before[index] and before[index] <= other for index, other in zip(places, choice, strict=True))
    )
    matches = find_common_places(before, after)
    assert len(matches) == most and [*matches] == sorted(matches) and [*matches.values()] == sorted({*matches.values()})
    assert all(before[position] and before[position] <= after[target] for position, target in matches.items())


def test_what_still_stands_near_its_neighbours_is_read() -> None:
    """A rare walk is published as a common one: what it has in common is read off."""
    walks = [list("abcd")] * 5 + [list("abxd")]
    release = sf.AnonymizeSequences(k=3).protect(sf.Sequences.of(walks))
    outcome = sf.attack.MarkGuessing(items=("b",)).run(release, sf.Sequences.of(walks))
    assert outcome.successes == outcome.attempts == 6
