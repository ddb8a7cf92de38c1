# SPDX-License-Identifier: MIT
"""Linking by points, re-mining below the threshold, and guessing marks: by hand, and as curves that must fall."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.attack import MarkGuessing, SequenceLinking, SequenceRemining
from sfumato.attack.sequences.sequence_linking import _find_candidates, _KnownPoints, _SearchedTraces, _ShuffledPoints
from sfumato.data.generators.movements import generate_cars, generate_trucks
from sfumato.details import ChainDetails, SequenceDetails
from sfumato.public.thresholds import GapLimits
from sfumato.report.sections.sequence_section import build_sequence_section


def rows_of(*texts: str) -> sf.Sequences:
    return sf.Sequences.of([list(text) for text in texts])


def as_is(data: Any, **details: Any) -> sf.Release:
    return sf.Release(data, None, (), {}, SequenceDetails(**details))


def test_more_points_find_more_people_and_order_helps() -> None:
    cars = sf.Sequences.of(generate_cars())
    ordered = SequenceLinking(points=(1, 2, 3, 6), attempts=300).run(as_is(cars), cars)
    curve = ordered.facts["unique_after"]
    assert curve == ordered.facts["unique_before"]
    assert curve == sorted(curve) and curve[-1] > 0.7 > curve[0]
    unordered = SequenceLinking(points=(6,), order="set", attempts=300).run(as_is(cars), cars)
    assert unordered.facts["unique_after"][0] < curve[-1]


def test_anonymous_sequences_leave_nobody_alone() -> None:
    trucks = sf.Sequences.of(generate_trucks())
    release = sf.AnonymizeSequences(k=5).protect(trucks)
    outcome = SequenceLinking(points=(1, 2, 3, 64)).run(
        release, trucks, control=sf.Sequences.of(generate_trucks(seed=1))
    )
    assert outcome.facts["unique_before"][-1] > 0.1
    assert outcome.facts["unique_after"] == [0, 0, 0, 0]
    assert outcome.risk < 0.3 and outcome.control == 0


@pytest.mark.parametrize("order", ["ordered", "set"])
@pytest.mark.parametrize("many", range(2, 22))
def test_of_equal_sequences_one_is_found_on_average_and_not_by_luck(many: int, order: Any) -> None:
    truth = rows_of("ab", *["a"] * (many - 1))
    for published in (["a"] * many, ["Δ"] * many, ["x"] * many):
        for seed in range(3):
            attack = SequenceLinking(order=order)
            outcome = attack.run(as_is(rows_of(*published)), truth, randomness=sf.Randomness.seeded(seed))
            assert (outcome.attempts, outcome.successes, outcome.baseline) == (many, 1, 1)


def test_who_was_left_out_is_found_by_no_blind_guess() -> None:
    """Eight of ten people are published, all alike: any of the eight finds one of them, never the others."""
    truth = rows_of("ab", "ab", *["a"] * 8)
    release = replace(as_is(rows_of(*["a"] * 8)), details=SequenceDetails(rows=np.arange(2, 10)))
    outcome = SequenceLinking().run(release, truth)
    assert (outcome.attempts, outcome.successes, outcome.baseline) == (10, 1, 1)


def test_who_fits_like_two_others_is_found_in_a_third_of_all_guesses() -> None:
    """Of three people who were at a, one is published so, next to two others: one of three guesses finds her."""
    truth = rows_of("a", "a", "a", "b", "b")
    release = as_is(rows_of("a", "b", "b", "a", "a"))
    outcome = SequenceLinking(points=(1,)).run(release, truth)
    assert outcome.successes == pytest.approx(1 / 3)


def test_linking_by_hand() -> None:
    truth = rows_of("abc", "abd", "cba", "")
    release = as_is(rows_of("cba", "ab", "abc"), rows=np.array([2, 1, 0]))
    outcome = SequenceLinking(points=(3,)).run(release, truth)
    # All three are found: "abd" is in no row, but two rows hold "ab", and the shorter one, which is likelier, is hers.
    assert outcome.attempts == 3 and outcome.successes == 3
    assert outcome.facts["unique_after"] == [pytest.approx(2 / 3)]
    unordered = SequenceLinking(points=(3,), order="set").run(release, truth)
    assert unordered.facts["unique_after"] == [0]
    dropped = as_is(rows_of("abc"), rows=np.array([0]))
    assert SequenceLinking(points=(3,)).run(dropped, truth).successes == 1


def test_known_points_are_of_ones_own_sequence_in_order() -> None:
    truth, rows = rows_of("abcdef", "xy", "gh", "abcabcabc"), np.array([0, 1, 3])
    chance, firsts = np.random.default_rng(0), set()
    for _ in range(100):
        known_points = _ShuffledPoints.of(truth, rows, chance).take(3)
        assert np.diff(known_points.offsets).tolist() == [3, 2, 3]
        parts = np.split(known_points.codes, known_points.offsets[1:-1])
        points = [[truth.items[code] for code in part] for part in parts]
        lists = truth.to_lists()
        assert all(sf.mine.contains(lists[row], part) for row, part in zip(rows.tolist(), points, strict=True))
        firsts |= set(points[0])
    assert firsts == set("abcdef")


def test_points_are_counted_within_elements_of_several_items() -> None:
    truth = sf.Sequences.of([[["a", "b"], ["c"]], [["a"], ["b"], ["c"]]])
    outcome = SequenceLinking(points=(5,)).run(as_is(truth), truth)
    assert outcome.attempts == 2 and outcome.facts["unique_after"][0] >= 0.5


@pytest.mark.parametrize("points", [(), (0,), (65,), ("a",)])
def test_bad_numbers_of_points_get_a_sentence(points: Any) -> None:
    with pytest.raises(ValueError, match="between 1 and 64"):
        SequenceLinking(points=points)
    assert SequenceLinking(points=3).points == (3,)


def test_patterns_hidden_with_few_changes_are_named_again() -> None:
    cars = sf.Sequences.of(generate_cars())
    subsequences = sf.mine.frequent_subsequences(cars, 60, max_length=3).filter(sf_length(3))
    secrets = subsequences.sort("support", descending=True)["pattern"].to_list()[:4]
    release = sf.HideSequences(patterns=secrets, threshold=40).protect(cars)
    outcome = SequenceRemining().run(release, cars)
    assert (outcome.attempts, outcome.facts["visible"]) == (4, 0)
    assert outcome.facts["candidates"] > 100 and outcome.facts["at_threshold"] >= 4
    assert outcome.baseline < 0.1
    visible = SequenceRemining(patterns=secrets, threshold=40).run(
        as_is(cars), cars, control=sf.Sequences.of(generate_cars(seed=1))
    )
    assert visible.successes == 4 and visible.control is not None
    assert visible.baseline == 0, "whoever does not look at the release does not see what shows in it"


def sf_length(items: int) -> Any:
    import polars as pl

    return pl.col("pattern").list.len() == items


def test_remining_by_hand() -> None:
    truth = rows_of(*["ab"] * 6, *["cd"] * 3)
    release = as_is(rows_of(*["ab"] * 4, "a", "b", *["cd"] * 3))
    outcome = SequenceRemining(patterns=(("a", "b"),), threshold=4).run(release, truth)
    assert (outcome.attempts, outcome.successes, outcome.facts["visible"]) == (1, 1, 0)
    assert SequenceRemining(patterns=(("a", "b"),), threshold=0.5).run(release, truth).facts["at_threshold"] == 1
    with pytest.raises(sf.PolicyError, match="give the patterns"):
        SequenceRemining(threshold=4).run(release, truth)
    with pytest.raises(sf.PolicyError, match="give the threshold"):
        SequenceRemining(patterns=(("a", "b"),)).run(release, truth)


def test_marks_on_a_one_way_road_are_guessed() -> None:
    truth = rows_of(*["xaby"] * 9, *["xcdy"] * 2)
    method = sf.HideSequences(patterns=[["a", "b"]], threshold=5, mark="Δ")
    marked = method.protect(truth)
    outcome = MarkGuessing().run(marked, truth)
    assert (outcome.attempts, outcome.successes) == (4, 4)
    deleted = sf.HideSequences(patterns=[["a", "b"]], threshold=5).protect(truth)
    assert MarkGuessing().run(deleted, truth).attempts == 4
    assert MarkGuessing(items=("a",)).run(as_is(truth), truth, control=truth).successes == 9
    with pytest.raises(sf.PolicyError, match="give the items"):
        MarkGuessing().run(as_is(truth), truth)
    with pytest.raises(sf.DataError, match="cannot be compared"):
        MarkGuessing(items=("a",)).run(as_is(rows_of("a")), truth)


def test_a_mark_in_an_element_of_several_items() -> None:
    truth = sf.Sequences.of([[["a", "b"], ["c"]]] * 5)
    published = sf.Sequences.of([[["a"], ["c"]], *[[["a", "b"], ["c"]]] * 4])
    outcome = MarkGuessing().run(as_is(published, marks=[(0, 0, "b")]), truth)
    assert (outcome.attempts, outcome.successes) == (1, 1)


@pytest.mark.parametrize("order", ["ordered", "set"])
def test_best_rows_are_those_of_brute_force(order: str) -> None:
    """Own rows, strangers, items that were never published, and more items than a sketch has bits."""
    chance = np.random.default_rng(9)
    for letters in (4, 90):
        rows = [list(map(str, chance.integers(0, letters, chance.integers(0, 8)))) for _ in range(40)]
        published, owner = sf.Sequences.of(rows[:30]), sf.Sequences.of(rows)
        people = [row for row in range(len(rows)) if rows[row]]
        known_points = [
            [rows[row][position] for position in sorted(chance.permutation(len(rows[row]))[:3])] for row in people
        ]
        code_of = {item: code for code, item in enumerate(owner.items)}
        codes = np.array([code_of[item] for points in known_points for item in points], dtype=np.int32)
        offsets = np.cumsum([0, *map(len, known_points)], dtype=np.int64)
        own_rows = np.array([row if row < 30 else -1 for row in people], dtype=np.int64)
        lookup = _find_candidates(_SearchedTraces.of(published, order), owner, _KnownPoints(codes, offsets), own_rows)
        for number, points in enumerate(known_points):
            held_counts = [count_points(row, points, order) for row in rows[:30]]
            best = max(held_counts)
            assert lookup.fitting_traces.rows[number] == (held_counts.count(best) if best else 0)
            assert lookup.holds_all[number] == (best == len(points))
            assert lookup.fitting_traces.holds_own[number] == (
                own_rows[number] >= 0 and best > 0 and held_counts[own_rows[number]] == best
            )


def count_points(row: list[str], points: list[str], order: str) -> int:
    """How many of some points a row holds."""
    if order == "set":
        return (Counter(points) & Counter(row)).total()
    longest = np.zeros((len(row) + 1, len(points) + 1), dtype=int)
    for i, item in enumerate(row):
        for j, point in enumerate(points):
            longest[i + 1, j + 1] = longest[i, j] + 1 if item == point else max(longest[i, j + 1], longest[i + 1, j])
    return int(longest[-1, -1])


@pytest.mark.parametrize("order", ["ordered", "set"])
def test_more_points_of_a_person_never_find_fewer_originals(order: str) -> None:
    """Whoever knows four points knows the three, too: with points drawn anew, a curve fell from 1 to 0.5."""
    chance = np.random.default_rng(2)
    for _ in range(40):
        rows = [chance.choice(list("abc"), chance.integers(1, 9)).tolist() for _ in range(4)]
        walks = sf.Sequences.of(rows)
        outcome = SequenceLinking(points=(1, 2, 3, 4, 6), order=order).run(as_is(walks), walks)
        for curve in (outcome.facts["unique_before"], outcome.facts["unique_after"]):
            assert curve == sorted(curve)


def test_two_visits_of_a_place_are_known_as_two_without_their_order() -> None:
    walks = rows_of("aab", "ab", "ab", "ba")
    outcome = SequenceLinking(points=(3,), order="set").run(as_is(walks), walks)
    assert outcome.facts["unique_after"] == [0.25]


def test_each_pattern_is_looked_for_below_its_own_threshold() -> None:
    truth = rows_of(*["ab"] * 9, *["xcd"] * 5, *["ye"] * 3, *["abcd"] * 4)
    secrets = [["a", "b"], ["c", "d"], ["y", "e"]]
    release = sf.HideSequences(patterns=secrets, threshold=(10, 4, 0)).protect(truth)
    outcome = SequenceRemining().run(release, truth)
    assert outcome.attempts == 3
    assert (outcome.facts["visible"], outcome.facts["seen_below"]) == (0, 2)
    visible_outcome = SequenceRemining().run(as_is(truth, sensitive=release.details["sensitive"]), truth)
    assert (visible_outcome.attempts, visible_outcome.facts["visible"]) == (3, 3)


def test_a_share_is_an_exact_threshold() -> None:
    """0.29 of 100 sequences are 29, though the float product is less."""
    truth = rows_of(*["ab"] * 29, *["c"] * 71)
    assert SequenceRemining(patterns=(("a", "b"),), threshold=0.29).run(as_is(truth), truth).attempts == 0
    assert SequenceRemining(patterns=(("a", "b"),), threshold=0.28).run(as_is(truth), truth).attempts == 1


def test_a_replaced_item_is_guessed_from_its_neighbours() -> None:
    """Who is told that an item was replaced does not read the replacement."""
    truth = rows_of(*["xay"] * 9, *["xby"] * 2, "zcz")
    published = rows_of("xcy", *["xay"] * 8, *["xby"] * 2, "zcz")
    outcome = MarkGuessing().run(as_is(published, marks=[(0, 1, "a")]), truth)
    assert (outcome.attempts, outcome.successes) == (1, 1)


def test_deleted_and_replaced_items_of_one_sequence_keep_their_neighbours() -> None:
    truth = rows_of("xayqb", *["xay"] * 8, *["qbq"] * 3, *["z"] * 30)
    published = rows_of("xzyq", *["xay"] * 8, *["qbq"] * 3, *["z"] * 30)
    outcome = MarkGuessing().run(as_is(published, marks=[(0, 1, "a"), (0, 4, "b")]), truth)
    assert (outcome.attempts, outcome.successes) == (2, 2)


def test_a_mark_may_have_been_any_point() -> None:
    """Who knows x, a, y finds the only trace where a may have been; an attack that reads Δ as an item does not."""
    truth = rows_of("xay", "xby", "xcy", "xby")
    published = rows_of("xΔy", "xby", "xcy", "xby")
    for order in ("ordered", "set"):
        outcome = SequenceLinking(points=(3,), order=order).run(as_is(published), truth)
        assert outcome.facts["unique_after"] == [0.25], order  # b and c have two traces each where they may have been
    marked_rows = rows_of("xΔy", "xby")
    assert SequenceLinking(points=(3,)).run(as_is(marked_rows), rows_of("xΔy", "xby")).facts["unique_after"] == [1.0]


@pytest.mark.parametrize("order", ["ordered", "set"])
def test_marks_that_stand_for_anything_are_those_of_brute_force(order: Any) -> None:
    """Every way to fill the marks is tried."""
    chance = random.Random(11)
    for _ in range(40):
        rows = [[chance.choice("abc") for _ in range(chance.randint(1, 5))] for _ in range(chance.randint(1, 6))]
        marked_rows = [["Δ" if chance.random() < 0.3 else item for item in row] for row in rows]
        searched = _SearchedTraces.of(sf.Sequences.of(marked_rows), order).count_marks()
        truth = sf.Sequences.of(rows)
        known_points = _ShuffledPoints.of(truth, np.arange(len(rows)), np.random.default_rng(1)).take(3)
        lookup = _find_candidates(searched, truth, known_points, np.arange(len(rows)))
        for person in range(len(rows)):
            codes = known_points.codes[known_points.offsets[person] : known_points.offsets[person + 1]].tolist()
            points = [str(truth.items[code]) for code in codes]
            held_counts = [count_held_when_filled(row, points, order) for row in marked_rows]
            best = [row_index for row_index, count in enumerate(held_counts) if count == max(held_counts) > 0]
            assert lookup.fitting_traces.rows[person] == len(best), (marked_rows, points)
            assert lookup.fitting_traces.holds_own[person] == (person in best)
            assert lookup.holds_all[person] == (max(held_counts) == len(points))


def count_held_when_filled(row: list[str], points: list[str], order: str) -> int:
    """How many of some points a row holds at most, over all items that its marks may have been."""
    most = 0
    for filling in itertools.product("abc", repeat=row.count("Δ")):
        rest = iter(filling)
        filled = [next(rest) if item == "Δ" else item for item in row]
        if order == "set":
            most = max(most, sum((Counter(filled) & Counter(points)).values()))
            continue
        for size in range(len(points), most, -1):
            if any(is_inside(filled, part) for part in itertools.combinations(points, size)):
                most = size
                break
    return most


def is_inside(row: list[str], pattern: tuple[str, ...]) -> bool:
    rest = iter(row)
    return all(item in rest for item in pattern)


def draw_rows(seed: int, items: str, rows: int, longest: int) -> list[list[str]]:
    chance = random.Random(seed)
    return [[chance.choice(items) for _ in range(chance.randint(2, longest))] for _ in range(rows)]


def name_by_threshold(published: list[list[str]], limit: int) -> tuple[str, str]:
    """Of the pairs in at most so many sequences, the one in most; for 0, of those in none, that of the commonest."""
    held = Counter(item for row in published for item in set(row))
    pairs = Counter(pair for row in published for pair in set(itertools.combinations(row, 2)))
    below = [(a, b) for a in sorted(held) for b in sorted(held) if 0 < pairs[a, b] <= limit or pairs[a, b] == limit]
    return max(below, key=lambda pair: (pairs[pair], held[pair[0]] * held[pair[1]]), default=("", ""))


@pytest.mark.parametrize("mark", ["Δ", "delete"])
def test_patterns_hidden_entirely_are_named_beside_others(mark: str) -> None:
    """With thresholds of 0 and above, each kind was named alone: never more than half of two."""
    named, naive = 0.0, 0
    for seed in range(20):
        rows = draw_rows(seed, "abcdefgh", 120, 9)
        pairs = random.Random(seed).sample(list(itertools.permutations("abcdefgh", 2)), 2)
        data = sf.Sequences.of(rows)
        release = sf.HideSequences(patterns=pairs, threshold=(8, 0), mark=mark).protect(data)
        outcome = SequenceRemining().run(release, data)
        published = [[item for item in row if item != "Δ"] for row in release.data.to_lists()]
        hits = sum(name_by_threshold(published, limit) == pair for pair, limit in zip(pairs, (8, 0), strict=True))
        assert outcome.attempts == 2 and outcome.successes >= hits
        named, naive = named + outcome.successes, naive + hits
    assert named >= 36 and naive >= 30


@pytest.mark.parametrize("seed", [4, 17, 29, 34, 46, 55, 64, 69])
def test_a_risk_is_never_below_that_of_blind_guessing(seed: int) -> None:
    chance = random.Random(seed)
    data = sf.Sequences.of(draw_rows(seed, "abcde", 15, 6))
    for mark, threshold in itertools.product(("Δ", "delete", "replace"), (0, 1, 3, (0, 2))):
        patterns = [[chance.choice("abcde") for _ in range(chance.randint(1, 3))] for _ in range(2)]
        least = 3 if mark == "replace" else None
        method = sf.HideSequences(patterns=patterns, threshold=threshold, mark=mark, min_support=least)
        outcome = SequenceRemining().run(method.protect(data, sf.Randomness.seeded(seed)), data)
        assert outcome.successes >= outcome.baseline
        assert outcome.facts["visible"] + outcome.facts["guessed"] == pytest.approx(outcome.successes)


def test_of_equally_suspect_patterns_each_is_named_as_often() -> None:
    """Two pairs lie at the threshold and nothing tells them apart: the name of an item decided."""
    for first, second in ("ab", "cd"), ("cd", "ab"):
        data = rows_of(*[first] * 9, *[second] * 4, *second * 5, *second[::-1] * 2, first[::-1], second[::-1])
        published = rows_of(*[first] * 4, *first * 5, *[second] * 4, *second * 5, first[::-1], second[::-1])
        outcome = SequenceRemining(patterns=(tuple(first),), threshold=4).run(as_is(published), data)
        assert (outcome.attempts, outcome.successes) == (1, 0.5)


def test_the_only_candidate_is_not_guessed_blindly() -> None:
    """The adversary mined it: someone who did not would have to guess among all 25 pairs of five items."""
    data = sf.Sequences.of(draw_rows(0, "abcqe", 100, 7))
    result = sf.run(data, [sf.HideSequences(patterns=[["q", "a"]], threshold=10)], attacks=[SequenceRemining()])
    (attack,) = result.record["attacks"]
    assert (attack["attempts"], attack["successes"], attack["candidates"], attack["baseline"]) == (1, 1, 1, 1 / 25)
    assert attack["words"].startswith("alarming")
    assert result.verdict.headline.startswith("Passed, but one attack is alarming.")


@pytest.mark.parametrize("mark", ["delete", "replace"])
def test_an_item_that_is_called_like_the_mark_is_an_item(mark: str) -> None:
    """Nobody marked anything: the same data with another name for the item must give the same outcomes."""
    figures = []
    for name in ("Δ", "ω"):  # they are sorted alike among letters
        rows = [[item.replace("q", name) for item in row] for row in draw_rows(1, "abcqe", 100, 7)]
        data = sf.Sequences.of(rows)
        release = sf.HideSequences(patterns=[[name, "a"]], threshold=10).protect(data, sf.Randomness.seeded(0))
        if mark == "replace":  # the method refuses such an item, but another method may have published it
            release = as_is(release.data, **{key: release.details[key] for key in ("rows", "sensitive", "marks")})
        outcomes = [attack.run(release, data) for attack in (SequenceRemining(), MarkGuessing(), SequenceLinking())]
        figures.append([outcome.as_json() for outcome in outcomes])
        assert outcomes[0].successes == 1 and outcomes[1].successes > 0.9 * outcomes[1].attempts
    assert figures[0] == figures[1]


def test_a_secret_is_looked_for_within_the_limits_of_its_own_method() -> None:
    """Of two methods, the first hides neighbours and the second pairs with anything between them."""
    data = rows_of(*["axb"] * 9, *["ab"] * 9, *["cxd"] * 9, *["cd"] * 9)
    methods = (
        sf.HideSequences(patterns=[["a", "b"]], threshold=4, max_gap=0),
        sf.HideSequences(patterns=[["c", "d"]], threshold=4),
    )
    first = methods[0].protect(data, sf.Randomness.seeded(0))
    second = methods[1].protect(first.data, sf.Randomness.seeded(0))
    details = ChainDetails(rows=np.arange(len(data)), steps=(first.details, second.details))
    release = sf.Release(second.data, methods[1], (), {}, details, earlier_methods=methods[:1])
    outcome = SequenceRemining().run(release, data)
    assert sf.mine.support(release.data, ["a", "b"]) > 4 >= sf.mine.support(release.data, ["a", "b"], max_gap=0)
    assert (outcome.attempts, outcome.facts["visible"]) == (2, 0)


def test_a_pattern_that_is_listed_twice_was_hidden_at_its_smaller_threshold() -> None:
    data = rows_of(*["ab"] * 4, *["c"] * 5)
    release = sf.HideSequences(patterns=[["a", "b"], ["a", "b"]], threshold=(2, 5)).protect(data)
    outcome = SequenceRemining().run(release, data)
    assert (outcome.attempts, outcome.facts["visible"], outcome.successes) == (1, 0, 1)


class NearHiding(sf.HideSequences):
    """A method that calls the largest gap by another name."""

    near: int

    @classmethod
    def find_gap_limits(cls, parameters: Mapping[str, Any]) -> GapLimits:
        return GapLimits(max_gap=parameters["near"])


def test_attacks_and_the_report_count_the_matches_that_the_method_states() -> None:
    walks = rows_of(*["ab"] * 6, *["acb"] * 4, *["bca"] * 2)
    release = sf.HideSequences(patterns=[["a", "b"]], threshold=2, max_gap=0).protect(walks)
    other = replace(release, method=NearHiding(patterns=[["a", "b"]], threshold=2, near=0))
    for attack in (SequenceRemining(), MarkGuessing()):
        assert attack.run(other, walks) == attack.run(release, walks)
    captions = [build_sequence_section(step, walks, step.data, {}).figures[0].caption for step in (release, other)]
    assert captions[0] == captions[1] and "max_gap = 0 allows" in captions[0]
