# SPDX-License-Identifier: MIT
"""The likeliest trace of some points: against all draws listed, and against attackers of ten lines."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack import SequenceLinking
from sfumato.attack.sequences.likely_traces import FittingTraces, LikelyTraces
from sfumato.data.generators.movements import generate_cars
from sfumato.kernels.sequences.likely_rows import (
    DrawnPoints,
    MarkedItems,
    count_ordered_draws,
    count_unordered_draws,
)


def list_draws(row: list[list[str]], points: list[str], ordered: bool, chances: dict[str, float]) -> float:
    """The probability that a draw of elements, and of an item of each, gives the points; marks are drawn too."""
    total = 0.0
    for elements in itertools.combinations(row, len(points)):
        for draw in itertools.product(*elements):
            orders = [points] if ordered else {*itertools.permutations(points)}
            for point_order in orders:
                pairs = zip(draw, point_order, strict=True)
                fits = (1.0 if item == point else chances[point] * (item == "Δ") for item, point in pairs)
                total += math.prod(fits) / math.prod(map(len, elements))
    return total


@pytest.mark.parametrize("ordered", [True, False])
def test_the_chance_of_points_is_that_of_all_draws(ordered: bool) -> None:
    """Single items and marks; in order also elements of several items."""
    rng = random.Random(5)
    for _ in range(300):
        width = 2 if ordered else 1
        row = [rng.sample("abcΔ", rng.randint(1, width)) for _ in range(rng.randint(1, 6))]
        points = [rng.choice("abc") for _ in range(rng.randint(1, min(4, len(row))))]
        data = sf.Sequences.of([row, [["a"], ["b"], ["c"], ["Δ"]]])
        traces = LikelyTraces.of(data, marks_stand=True)
        chances = {item: float(traces.chances[code]) for item, code in traces.code_of.items()}
        codes = np.array([traces.code_of[point] for point in points], dtype=np.int32)
        kinds, times = np.unique(codes, return_counts=True)
        drawn_points = DrawnPoints(codes, kinds, times.astype(np.int64), np.zeros_like(times))
        count = count_ordered_draws if ordered else count_unordered_draws
        arrays = (data.offsets, data.element_offsets, data.codes)
        ways = count(*arrays, 0, drawn_points, MarkedItems(traces.mark, traces.chances), np.empty(len(points) + 1))
        assert ways == pytest.approx(list_draws(row, points, ordered, chances)), (row, points)


def test_of_two_traces_with_the_points_the_shorter_one_is_likelier() -> None:
    """Both hold a and b; a draw of two elements of the short one cannot give anything else."""
    published = sf.Sequences.of([list("ab"), list("axbyzw"), list("qq")])
    traces = LikelyTraces.of(published, marks_stand=True)
    known_points = [["a", "b"], ["a", "b"], ["q", "q"]]
    for ordered in (True, False):
        likeliest = traces.find_likeliest(known_points, np.array([0, 1, 2]), ordered)
        assert likeliest.holds_own.tolist() == [True, False, True] and likeliest.rows.tolist() == [1, 1, 1]


def test_where_no_trace_holds_all_points_the_shortest_of_those_with_most_is_guessed() -> None:
    published = sf.Sequences.of([list("abxxxx"), list("abx"), list("c")])
    traces = LikelyTraces.of(published, marks_stand=True)
    for ordered in (True, False):
        likeliest = traces.find_likeliest([["a", "b", "d"]] * 2 + [["d"]], np.array([0, 1, 2]), ordered)
        assert likeliest.holds_own.tolist() == [False, True, False] and likeliest.rows.tolist() == [1, 1, 0]
    assert traces.find_likeliest([["a"]], np.array([-1]), True).holds_own.tolist() == [False]


def test_of_sequences_that_fit_alike_each_is_guessed_in_its_share_of_guesses() -> None:
    """Two alone among 2, one alone among 5, one who fits nothing among 10, and two who cannot be found."""
    fitting = FittingTraces(np.array([2, 2, 5, 0, 0, 3]), np.array([True, True, True, False, False, False]))
    hits = fitting.count_expected_hits(np.array([0, 1, 2, 3, -1, 5]), published_count=10)
    assert hits == Fraction(2, 2) + Fraction(1, 5) + Fraction(1, 10)


@pytest.mark.parametrize("order", ["ordered", "set"])
def test_marks_do_not_blind_the_attack(order: str) -> None:
    """Who passes over marks finds half of the cars; who only took marks for anything found one in seven."""
    cars = sf.Sequences.of(generate_cars())
    rows = cars.to_lists()
    common = [item for item, _ in Counter(item for row in rows for item in row).most_common(3)]
    release = sf.HideSequences(patterns=[common[:2], common[1:]], threshold=5, mark="Δ").protect(cars)
    marked = [[item for item in row if item != "Δ"] for row in release.data.to_lists()]
    outcome = SequenceLinking(points=(4,), order=order).run(release, cars)
    rng, naive = random.Random(0), 0.0
    for person, row in enumerate(rows):
        points = [row[position] for position in sorted(rng.sample(range(len(row)), min(4, len(row))))]
        fits = [row_index for row_index, other in enumerate(marked) if holds(other, points, order)]
        naive += (person in fits) / max(len(fits), 1)
    assert outcome.attempts == 300 and outcome.successes > 0.9 * naive > 50


def holds(row: list[str], points: list[str], order: str) -> bool:
    if order == "set":
        return not Counter(points) - Counter(row)
    rest = iter(row)
    return all(point in rest for point in points)


def test_the_shortest_trace_that_holds_the_points_is_tried() -> None:
    """By hand: everything is known of b, ba, bbab and bb, and of those that hold most of it, each one's is shortest."""
    traces = [list(trace) for trace in ("b", "ba", "bbab", "bb")]
    published = [list(trace) for trace in ("b", "ba", "bbb", "bb")]
    release = sf.Release(sf.Sequences.of(published), None, (), {})
    assert sf.attack.SequenceLinking(points=(4,)).run(release, sf.Sequences.of(traces)).successes == 4
