# SPDX-License-Identifier: MIT
"""Frequent subsequences against brute force, along every way through the search, and against counts of other miners."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato import PolicyError, Sequences
from sfumato.kernels.sequences import subsequences_prepare
from sfumato.kernels.sequences.distinct_rows import find_distinct_rows
from sfumato.measure.sequences.pattern_places import ItemPlaces
from sfumato.mine.sequences import element_layout, subsequence_search, subsequence_worker
from sfumato.mine.sequences.subsequences import PatternKind, find_subsequences, frequent_subsequences
from sfumato.runtime import progress
from tests.brute_sequences import Pattern, Row, has_match, mine

KINDS: tuple[PatternKind, ...] = ("all", "closed", "maximal")


def found_in(frame: pl.DataFrame) -> dict[Pattern, int]:
    """Patterns of either form as tuples of tuples."""
    patterns = [
        tuple(tuple(element) if isinstance(element, list) else (element,) for element in pattern)
        for pattern in frame["pattern"].to_list()
    ]
    supports = dict(zip(patterns, frame["support"].to_list(), strict=True))
    assert len(supports) == frame.height, "a pattern is given twice"
    return supports


def draw_rows(chance: random.Random, nested: bool) -> list[Row]:
    """A few short rows over a few items, some of them empty, some alike."""
    items = chance.randint(1, 4 if nested else 5)

    def draw_element() -> list[int]:
        size = chance.randint(1, min(chance.choice([1, 2, 3]), items)) if nested else 1
        return sorted(chance.sample(range(items), size))

    longest, most = (3, 5) if nested else (6, 7)
    rows = [[draw_element() for _ in range(chance.randint(0, longest))] for _ in range(chance.randint(0, most))]
    return rows + [chance.choice(rows) for _ in range(chance.randint(0, 3)) if rows]


def make_sequences(rows: list[Row], nested: bool) -> Sequences:
    return Sequences.of(rows if nested else [[element[0] for element in row] for row in rows])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("nested", [False, True])
def test_all_kinds_are_those_of_brute_force(seed: int, nested: bool) -> None:
    chance = random.Random(f"{seed} {nested}")
    for _ in range(15):
        rows = draw_rows(chance, nested)
        least, length = chance.randint(1, 4), chance.choice([None, None, 1, 2, 3])
        sequences = make_sequences(rows, nested)
        for kind in KINDS:
            supports = found_in(frequent_subsequences(sequences, least, max_length=length, kind=kind))
            assert supports == mine(rows, least, kind, length), (rows, least, kind, length)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("nested", [False, True])
def test_gaps_and_windows_are_those_of_brute_force(seed: int, nested: bool) -> None:
    chance = random.Random(f"{seed} {nested} limits")
    for _ in range(15):
        rows = draw_rows(chance, nested)
        limits: dict[str, Any] = {
            "max_gap": chance.choice([None, 0, 1, 2]),
            "window": chance.choice([None, 1, 2, 3, 4]),
            "max_length": chance.choice([None, None, 2, 3]),
            "kind": chance.choice(KINDS),
        }
        least = chance.randint(1, 4)
        supports = found_in(frequent_subsequences(make_sequences(rows, nested), least, **limits))
        assert supports == mine(rows, least, **limits), (rows, least, limits)


@pytest.mark.parametrize("seed", range(6))
def test_lists_find_what_words_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With more items than a word holds, rows are copied; long rows have several words; both must agree."""
    chance = np.random.Generator(np.random.PCG64(seed))
    items = int(chance.integers(70, 200))
    weights = 1 / np.arange(1, items + 1)
    rows = [
        chance.choice(items, size=int(chance.integers(0, 150)), p=weights / weights.sum()).tolist() for _ in range(60)
    ]
    sequences = Sequences.of(rows)
    least = 20
    by_words = found_in(frequent_subsequences(sequences, least, max_length=4))
    assert max(len(pattern) for pattern in by_words) == 4
    monkeypatch.setattr(subsequence_search, "MOST_ITEMS", 0)
    assert found_in(frequent_subsequences(sequences, least, max_length=4)) == by_words
    assert found_in(frequent_subsequences(sequences, least, max_length=4, window=10**6)) == by_words
    for pattern, support in list(by_words.items())[::97]:
        assert sum(is_inside(row, [item for (item,) in pattern]) for row in rows) == support


@pytest.mark.parametrize("seed", range(6))
def test_equal_rows_are_counted_as_often_as_they_occur(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that occur several times are searched once with their weight, after those that occur once."""
    chance = random.Random(seed)
    kinds = [[chance.randrange(6) for _ in range(chance.randint(0, 90 if seed == 0 else 12))] for _ in range(12)]
    singles = [[chance.randrange(6) for _ in range(chance.randint(1, 12))] for _ in range(30)]
    rows = [*singles, *(kind for kind in kinds for _ in range(chance.randint(1, 9)))]
    chance.shuffle(rows)
    plain = found_in(frequent_subsequences(Sequences.of(rows), 8, max_length=4))
    merged: list[int] = []
    monkeypatch.setattr(subsequence_search, "MANY_ROWS", 0)
    gather = subsequences_prepare.gather_rows

    def count_gathered(*arguments: Any) -> Any:
        merged.append(len(arguments[2]))
        return gather(*arguments)

    monkeypatch.setattr(subsequences_prepare, "gather_rows", count_gathered)
    assert found_in(frequent_subsequences(Sequences.of(rows), 8, max_length=4)) == plain
    assert merged and merged[0] < len(rows)
    for pattern, support in list(plain.items())[::7]:
        assert sum(is_inside(row, [item for (item,) in pattern]) for row in rows) == support


def test_a_sample_tells_whether_equal_rows_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def note_rows(codes: Any, offsets: Any) -> Any:
        looked.append(len(offsets) - 1)
        return find_distinct_rows(codes, offsets)

    monkeypatch.setattr(subsequence_search, "find_distinct_rows", note_rows)
    monkeypatch.setattr(subsequence_search, "SAMPLE", 8)
    different = [[first, second] for first in range(6) for second in range(6)]
    found_in(frequent_subsequences(Sequences.of(different), 1))
    assert looked == [8]
    alike = [[1, 2], [2, 1]] * 10
    assert found_in(frequent_subsequences(Sequences.of(alike), 10))[(1,), (2,)] == 10
    assert looked == [8, 8, 20]


def is_inside(row: list[int], pattern: list[int]) -> bool:
    items = iter(row)
    return all(item in items for item in pattern)


def test_many_items_at_a_low_support_go_through_several_levels() -> None:
    rows = [list(range(100)), list(range(100)), list(range(0, 100, 2))]
    patterns = frequent_subsequences(Sequences.of(rows), 2, max_length=2)
    assert patterns.height == 100 + 100 * 99 // 2
    assert patterns.filter(pl.col("support") == 3).height == 50 + 50 * 49 // 2
    assert frequent_subsequences(Sequences.of(rows), 2, kind="closed").height == 2
    deep = frequent_subsequences(Sequences.of(rows), 3, max_length=3)
    assert deep.height == 50 + 50 * 49 // 2 + 50 * 49 * 48 // 6


@pytest.mark.parametrize(
    ("items", "elements", "rows", "least", "max_length"),
    [(90, 12, 300, 8, 4), (8, 150, 12, 11, 5), (62, 6, 400, 4, None), (5, 9, 60, 6, None), (240, 5, 600, 3, None)],
)
def test_words_of_itemsets_find_what_ends_find(
    items: int, elements: int, rows: int, least: int, max_length: int | None
) -> None:
    """A gap that nothing exceeds keeps the search from going on over words."""
    chance = random.Random(items)
    drawn_rows = [
        [chance.sample(range(items), chance.choice([1, 1, 2, 3])) for _ in range(chance.randint(1, elements))]
        for _ in range(rows)
    ]
    sequences = sf.Sequences.of(drawn_rows)
    patterns = sf.mine.frequent_subsequences(sequences, least, max_length)
    expected = sf.mine.frequent_subsequences(sequences, least, max_length, max_gap=1000)
    assert patterns.height > 100
    assert patterns.equals(expected)


@pytest.mark.parametrize("max_length", [None, 2, 3])
def test_itemsets_are_found_whether_pairs_are_counted_before_or_not(
    max_length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items repeat within rows, and more are frequent than one word holds."""
    chance = random.Random(7)
    weights = [1 / (2 + item) for item in range(70)]
    rows = [[set(chance.choices(range(70), weights, k=3)) for _ in range(chance.randint(1, 25))] for _ in range(150)]
    sequences = sf.Sequences.of(rows)
    least = 30 if max_length else 75
    patterns = sf.mine.frequent_subsequences(sequences, least, max_length)
    assert patterns.equals(sf.mine.frequent_subsequences(sequences, least, max_length, max_gap=1000))
    monkeypatch.setattr(element_layout, "MOST_PAIRS", 0)
    monkeypatch.setattr(element_layout, "PAIRS_OF_TOKEN", 0)
    assert patterns.equals(sf.mine.frequent_subsequences(sequences, least, max_length))
    monkeypatch.setattr(element_layout, "MOST_JOIN_ITEMS", 0)
    assert patterns.equals(sf.mine.frequent_subsequences(sequences, least, max_length))


def test_elements_with_one_frequent_item_are_mined_as_single_items() -> None:
    rows = [[["a", f"x{number}"], ["b"], ["a"]] for number in range(5)]
    patterns = sf.mine.frequent_subsequences(sf.Sequences.of(rows), 5)
    assert ("a", "b", "a") in {tuple(item for [item] in pattern) for pattern in patterns["pattern"]}
    assert patterns.height == 6


def test_small_buffers_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.Generator(np.random.PCG64(1))
    flat = Sequences.of([chance.integers(0, 12, 14).tolist() for _ in range(200)])
    nested = Sequences.of([[sorted({*chance.integers(0, 8, 2).tolist()}) for _ in range(6)] for _ in range(200)])
    expected = [frequent_subsequences(sequences, 30, kind=kind) for sequences in (flat, nested) for kind in KINDS]
    monkeypatch.setattr(subsequence_worker, "BUFFER_CODES", 64)
    monkeypatch.setattr(subsequence_worker, "BUFFER_PATTERNS", 3)
    monkeypatch.setattr(subsequence_search, "FIRST_WORK", 50)
    monkeypatch.setattr(subsequence_search, "WORK", 200)
    monkeypatch.setattr(subsequence_search, "THREAD_DELAY", 0.0)
    steps: list[tuple[int, int | None]] = []
    with progress.listen_to_progress(lambda _, count, total: steps.append((count, total))):
        new_frames = [frequent_subsequences(sequences, 30, kind=kind) for sequences in (flat, nested) for kind in KINDS]
    for frame, other in zip(expected, new_frames, strict=True):
        assert frame.equals(other)
    assert steps


def test_a_listener_can_stop_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subsequence_search, "FIRST_WORK", 1)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with progress.listen_to_progress(stop), pytest.raises(KeyboardInterrupt):
        frequent_subsequences(Sequences.of([list(range(30))] * 3), 3)


def test_too_many_patterns_are_refused() -> None:
    sequences = Sequences.of([list(range(30))])
    with pytest.raises(PolicyError, match="more than at_most allows"):
        frequent_subsequences(sequences, 1, at_most=1000)
    assert frequent_subsequences(sequences, 1, kind="maximal").height == 1
    with pytest.raises(PolicyError, match="whole number of patterns"):
        frequent_subsequences(sequences, 1, at_most=-1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kind": "open"}, "kind must be"),
        ({"max_length": 0}, "max_length must be"),
        ({"max_gap": -1}, "max_gap must be"),
        ({"window": 0}, "window must be"),
        ({"min_support": 0}, "at least 1 row"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        frequent_subsequences(Sequences.of([["a"]]), **{"min_support": 1, **arguments})


def test_empty_sequences_text_and_shares() -> None:
    no_patterns = frequent_subsequences(Sequences.of([[], []]), 1)
    assert no_patterns.height == 0
    assert frequent_subsequences(Sequences.of([]), 1).height == 0
    sequences = Sequences.of([["a", "b"], ["a"], [], ["b", "a"]])
    assert found_in(frequent_subsequences(sequences, 0.5)) == {(("a",),): 3, (("b",),): 2}
    assert frequent_subsequences(sequences, 5).height == 0
    nested = frequent_subsequences(Sequences.of([[["b", "a"], ["c"]]]), 1, kind="closed")
    assert nested["pattern"].to_list() == [[["a", "b"], ["c"]]]
    assert frequent_subsequences(sequences, 1).schema["pattern"] == pl.List(pl.String)


def test_a_long_sequence_is_no_problem() -> None:
    sequences = Sequences.of([[*range(50)] * 200, [7, 8, 9]])
    assert frequent_subsequences(sequences, 2)["pattern"].to_list() == [
        [7], [7, 8], [7, 8, 9], [7, 9], [8], [8, 9], [9],
    ]  # fmt: skip
    assert sf.mine.support(sequences, [9, 7] * 100) == 1
    assert sf.mine.support(sequences, [9, 7] * 100, max_gap=46) == 0
    assert sf.mine.support(sequences, [9, 7] * 100, max_gap=47) == 1


@pytest.mark.parametrize("seed", range(4))
def test_containment_is_that_of_brute_force(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        nested = chance.random() < 0.5
        rows = [row for row in draw_rows(chance, nested) if row] or [[[0]]]
        pattern = tuple(
            tuple(sorted(chance.sample(range(4), chance.randint(1, 2 if nested else 1))))
            for _ in range(chance.randint(0, 4))
        )
        max_gap, window = chance.choice([None, 0, 1, 2]), chance.choice([None, 1, 2, 3])
        expected = [has_match(row, pattern, max_gap, window) for row in rows]
        sequences = make_sequences(rows, nested)
        query = pattern if nested else [item for (item,) in pattern]
        assert sf.mine.support(sequences, query, max_gap, window) == sum(expected)
        assert sf.mine.contains(sequences.to_lists()[0], query, max_gap, window) == expected[0]


def test_containment_of_the_course() -> None:
    """The table of containments, Giannotti's course (2009)."""
    assert sf.mine.contains([[2, 4], [3, 5, 6], [8]], [[2], [3, 5]])
    assert not sf.mine.contains([[1, 2], [3, 4]], [[1], [2]])
    assert sf.mine.contains([[2, 4], [2, 4], [2, 5]], [[2], [4]])
    assert sf.mine.contains(["a", "b"], [])
    assert not sf.mine.contains(["a", "b"], ["z"])
    with pytest.raises(PolicyError, match="list of items"):
        sf.mine.contains(["a", "b"], "ab")
    with pytest.raises(PolicyError, match="element of the pattern is empty"):
        sf.mine.contains(["a", "b"], [[]])


def test_patterns_of_the_course() -> None:
    """Videos at a support above a quarter, and the five sequences at support 3: Giannotti's course (2009)."""
    videos = Sequences.of(
        [[["C"], ["H"]], [["A", "B"], ["C"], ["D", "F", "G"]], [["C", "E", "G"]], [["C"], ["D", "G"], ["H"]], [["H"]]]
    )
    assert frequent_subsequences(videos, 2).height == 9
    maximal = frequent_subsequences(videos, 2, kind="maximal")["pattern"].to_list()
    assert sorted(maximal) == [[["C"], ["D", "G"]], [["C"], ["H"]]]
    five = Sequences.of([list(row) for row in ("BC", "ABCD", "ABCD", "BCE", "BCD")])
    patterns = {"".join(pattern) for pattern in frequent_subsequences(five, 3)["pattern"].to_list()}
    assert patterns == {"B", "C", "D", "BC", "BD", "CD", "BCD"}


@pytest.mark.parametrize(
    ("name", "share", "count"),
    [
        ("SIGN.txt", 0.4, 518),
        ("LEVIATHAN.txt", 0.1, 651),
        ("MSNBC.txt", 0.1, 338),
        ("bms-webview-1.seq.txt", 0.001, 3991),
    ],
)
def test_counts_are_those_of_other_miners(name: str, share: float, count: int, shared_data: Path) -> None:
    """The numbers that SPMF and prefixspan give; and every way finds the same patterns."""
    sequences = Sequences.read(shared_data / "sequences" / name)
    assert len(find_subsequences(sequences, share)) == count
    if len(sequences) != 31_790:  # the general search takes longer on long rows
        by_ends = frequent_subsequences(sequences, share, window=10**6)
        assert found_in(frequent_subsequences(sequences, share)) == found_in(by_ends)


@pytest.mark.parametrize("largest", [1, 2])
def test_limited_patterns_of_longer_sequences_are_those_that_other_code_counts(largest: int) -> None:
    """In long sequences a match is far from the next one, and what lies between them is passed over."""
    chance = np.random.default_rng(largest)
    for _ in range(12):
        rows = [
            [chance.choice(9, size=chance.integers(1, largest + 1), replace=False).tolist() for _ in range(60)]
            for _ in range(6)
        ]
        data = Sequences.of(rows)
        gap, window = int(chance.integers(0, 4)), int(chance.integers(2, 8))
        supports = found_in(frequent_subsequences(data, 2, 3, gap, window))
        places = ItemPlaces(data)
        singles = [(item,) for item in range(9)]
        pairs = [(first, second) for first in range(9) for second in range(first + 1, 9)] if largest == 2 else []
        elements: list[tuple[int, ...]] = [*singles, *pairs]
        words: list[Pattern] = [
            *((element,) for element in elements),
            *((element, two) for element in elements for two in elements),
        ]
        words = [word for word in words if sum(map(len, word)) <= 3]
        words += [(element, two, three) for element in singles for two in singles for three in singles]
        expected = {word: places.count_matching(word, gap, window) for word in words}
        assert supports == {word: count for word, count in expected.items() if count >= 2}


def test_a_limit_may_be_larger_than_any_number_of_the_machine() -> None:
    data = Sequences.of([list("abcab"), list("bca")])
    free = found_in(frequent_subsequences(data, 1))
    for huge in (1 << 62, (1 << 63) - 1, 1 << 70):
        assert found_in(frequent_subsequences(data, 1, None, huge, 5)) == free
        assert found_in(frequent_subsequences(data, 1, None, 5, huge)) == free
