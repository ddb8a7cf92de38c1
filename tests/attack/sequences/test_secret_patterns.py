# SPDX-License-Identifier: MIT
"""Which patterns were hidden, and which items stood there: marks and absences give them away."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import sfumato as sf
from sfumato.attack import MarkGuessing, SequenceRemining
from sfumato.attack.sequences.secret_patterns import MinedPatterns, explain_marks, find_near, mine_named
from sfumato.data.generators.movements import generate_cars
from sfumato.details import SequenceDetails


def hide_two(seed: int, threshold: int, mark: str) -> tuple[sf.Sequences, sf.Release]:
    """Cars on their twelve most visited cells, with two patterns of two cells hidden."""
    rows = generate_cars(seed=seed)
    common = [item for item, _ in Counter(item for row in rows for item in row).most_common(12)]
    cars = sf.Sequences.of([[item for item in row if item in common] for row in rows])
    rng, secrets = random.Random(seed), list[list[str]]()
    while len(secrets) < 2:
        pair = [rng.choice(common), rng.choice(common)]
        if sf.mine.support(cars, pair) >= 30 and pair not in secrets:
            secrets.append(pair)
    return cars, sf.HideSequences(patterns=secrets, threshold=threshold, mark=mark).protect(cars)


@pytest.mark.parametrize("threshold", [0, 10])
def test_marks_show_which_patterns_were_hidden(threshold: int) -> None:
    """Without a look at the marks, six in ten were named; with a threshold of 0, none, since nothing was mined."""
    hits, attempts = 0.0, 0
    for seed in range(6):
        cars, release = hide_two(seed, threshold, "Δ")
        outcome = SequenceRemining().run(release, cars)
        hits, attempts = hits + outcome.successes, attempts + outcome.attempts
    assert attempts == 12 and hits >= 11


def test_a_pattern_that_is_rarer_than_its_items_is_suspected() -> None:
    """Seven patterns of frequent parts lie at the threshold; the hidden one has the most frequent parts."""
    crowds = [[item, "z"] for item in "cdefgh" for _ in range(10)] + [[item] for item in "cdefgh" for _ in range(5)]
    ways = sf.Sequences.of([list("xy")] * 40 + crowds + [list("yx")] * 30)
    release = sf.HideSequences(patterns=[["x", "y"]], threshold=10).protect(ways)
    outcome = SequenceRemining().run(release, ways)
    assert (outcome.facts["at_threshold"], outcome.successes) == (7, 1)


def test_one_pattern_explains_all_marks_and_a_second_one_the_rest() -> None:
    published = sf.Sequences.of([list("aΔ")] * 5 + [list("cΔ")] * 4 + [list("ab"), list("cd"), list("ad"), list("cb")])
    supports = mine_named(published, 1, 2, None, None)
    mined = MinedPatterns(supports, find_near(supports, [1], 0.5), len(published))
    first, second = explain_marks(published, mined, 2)[:2]
    assert (first.draws, second.draws) == (1, 1)
    assert {pattern[0] for pattern in first.patterns} | {pattern[0] for pattern in second.patterns} == {("a",), ("c",)}
    unmarked = sf.Sequences.of([list("ab")])
    assert explain_marks(unmarked, mined, 2) == []


@pytest.mark.parametrize("mark", ["Δ", "delete"])
def test_marks_are_filled_in_by_suspected_patterns(mark: str) -> None:
    """Neighbours tell little where people wander: b stands anywhere behind a, and everything stands between."""
    rng = random.Random(3)
    rows = []
    for _ in range(120):
        row = [rng.choice("uvwxyz") for _ in range(10)]
        row[rng.randrange(5)], row[rng.randrange(5, 10)] = "a", "b"
        rows.append(row)
    walks = sf.Sequences.of(rows)
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=15, mark=mark).protect(walks)
    outcome = MarkGuessing().run(release, walks)
    assert outcome.attempts == 105 and outcome.successes > 95 and outcome.baseline < 20


def test_guesses_are_never_worse_than_blind_ones() -> None:
    """Neighbours mislead here: what mostly lies between x and y was never taken out."""
    truth = sf.Sequences.of([list("xay")] * 3 + [list("xcy")] * 9 + [list("aaaaaaaa")] * 5)
    published = sf.Sequences.of([list("xΔy")] * 3 + [list("xcy")] * 9 + [list("aaaaaaaa")] * 5)
    details = SequenceDetails(marks=[(row, 1, "a") for row in range(3)])
    outcome = MarkGuessing().run(sf.Release(published, None, (), {}, details), truth)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (3, 3, 3)
