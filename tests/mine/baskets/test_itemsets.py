# SPDX-License-Identifier: MIT
"""Frequent itemsets against brute force, along every way through the search, and against counts of other miners."""

from __future__ import annotations

import os
import threading
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sfumato import Baskets, PolicyError
from sfumato.mine.baskets import itemset_search, itemset_worker, itemsets
from sfumato.mine.baskets.itemset_question import ItemsetQuestion, StepCosts
from sfumato.mine.baskets.itemset_search import search_in_turn, search_together
from sfumato.mine.baskets.itemsets import ItemsetKind, find_itemsets, frequent_itemsets
from sfumato.runtime import progress

Rows = list[list[int]] | list[list[str]]
Found = dict[tuple[int | str, ...], int]
KINDS: tuple[ItemsetKind, ...] = ("all", "closed", "maximal")

# Bitmaps from the start; lists and then bitmaps; lists all the way down.
WAYS = [StepCosts(pair=10**6), StepCosts(pair=0, list=10**6, word=0, map=1), StepCosts(pair=0, list=0, word=1, map=1)]


def brute(
    rows: Rows, least: int, kind: ItemsetKind, max_length: int | None = None, times: list[int] | None = None
) -> Found:
    """Every subset of every basket, counted one by one, or so many times each."""
    baskets = [frozenset(row) for row in rows]
    items: list[Any] = sorted(frozenset[Any]().union(*baskets))
    subsets = (subset for size in range(1, len(items) + 1) for subset in combinations(items, size))
    weighted_baskets = list(zip(baskets, times or [1] * len(baskets), strict=True))
    counts = {
        subset: sum(weight for basket, weight in weighted_baskets if basket.issuperset(subset)) for subset in subsets
    }
    frequent = {subset: count for subset, count in counts.items() if count >= least}

    def is_asked_for(subset: tuple[int | str, ...]) -> bool:
        larger = [other for other in frequent if len(other) == len(subset) + 1 and set(subset) < set(other)]
        if kind == "closed":
            return all(frequent[other] < frequent[subset] for other in larger)
        return kind == "all" or not larger

    selection = {subset: count for subset, count in frequent.items() if is_asked_for(subset)}
    return {subset: count for subset, count in selection.items() if max_length is None or len(subset) <= max_length}


def found_in(frame: pl.DataFrame) -> Found:
    supports = dict(zip(map(tuple, frame["items"].to_list()), frame["support"].to_list(), strict=True))
    assert len(supports) == frame.height, "a set is given twice"
    return supports


def arrays(*parts: np.ndarray[Any, Any]) -> tuple[list[int], list[int], list[int]]:
    codes, ends, supports = (array.tolist() for array in parts)
    return codes, ends, supports


def listed(pieces: list[tuple[list[int], list[int], list[int]]]) -> list[tuple[tuple[int, ...], int]]:
    """The sets of pieces as codes, in their order."""
    sets = []
    for codes, ends, supports in pieces:
        for begin, end, support in zip([0, *ends], ends, supports, strict=False):
            sets.append((tuple(codes[begin:end]), support))
    return sets


@st.composite
def small_rows(draw: st.DrawFn) -> Rows:
    """Few items in few or many baskets: with repeats, none, items that go together, items in all baskets."""
    items = draw(st.integers(1, 7))
    row = st.lists(st.integers(0, items - 1), max_size=items + 2)
    rows = draw(st.lists(row, max_size=8)) * draw(st.sampled_from([1, 1, 7, 40]))
    if draw(st.booleans()):
        rows = [[*row, *(code + 10 for code in row if code % 2)] for row in rows]
    if draw(st.booleans()):
        rows = [[*row, 30] for row in rows]
    return rows


def test_the_textbook_example() -> None:
    """Five baskets counted by hand."""
    baskets = Baskets.of([["bread", "milk"], ["bread", "beer", "beer"], ["milk", "bread", "beer"], [], ["milk"]])
    frame = frequent_itemsets(baskets, 2)
    assert frame.schema == {"items": pl.List(pl.String), "support": pl.Int64}
    assert found_in(frame) == {
        ("bread",): 3, ("milk",): 3, ("beer",): 2, ("bread", "milk"): 2, ("beer", "bread"): 2,
    }  # fmt: skip
    assert found_in(frequent_itemsets(baskets, 2, "closed")) == {
        ("bread",): 3, ("milk",): 3, ("bread", "milk"): 2, ("beer", "bread"): 2,
    }  # fmt: skip
    assert found_in(frequent_itemsets(baskets, 2, "maximal")) == {("bread", "milk"): 2, ("beer", "bread"): 2}


@given(
    rows=small_rows(), least=st.integers(1, 12), kind=st.sampled_from(KINDS), max_length=st.sampled_from([None, 1, 2])
)
@example(rows=[], least=1, kind="all", max_length=None)
@example(rows=[[]], least=1, kind="maximal", max_length=None)
@example(rows=[[1, 1], [1]], least=2, kind="closed", max_length=None)
@settings(max_examples=150, deadline=None)
def test_frames_equal_brute_force(rows: Rows, least: int, kind: ItemsetKind, max_length: int | None) -> None:
    frame = frequent_itemsets(Baskets.of(rows), least, kind, max_length)
    assert frame["items"].dtype == pl.List(pl.Int64)
    assert found_in(frame) == brute(rows, least, kind, max_length)
    assert all(items == sorted(items) for items in frame["items"].to_list())


@pytest.mark.parametrize("costs", WAYS, ids=["bitmaps", "lists, then bitmaps", "lists"])
@given(rows=small_rows(), least=st.integers(1, 100), kind=st.sampled_from(KINDS), max_length=st.sampled_from([None, 2]))
@settings(max_examples=150, deadline=None)
def test_every_way_of_searching_equals_brute_force(
    costs: StepCosts, rows: Rows, least: int, kind: ItemsetKind, max_length: int | None
) -> None:
    baskets = Baskets.of(rows)
    question = ItemsetQuestion(least, KINDS.index(kind), max_length, costs)
    sets = listed(list(search_in_turn(baskets, question, arrays)))
    supports = {tuple(baskets.items[code] for code in codes): support for codes, support in sets}
    assert len(supports) == len(sets)
    assert supports == brute(rows, least, kind, max_length)


def random_baskets(seed: int, rows: int, items: int, share: float) -> Baskets:
    """Baskets in which neighbouring items go together."""
    chance = np.random.Generator(np.random.PCG64(seed))
    membership = chance.random((rows, items)) < share
    membership[:, 1:] |= membership[:, :-1] & (chance.random((rows, items - 1)) < 0.5)
    return Baskets.of([np.flatnonzero(row).tolist() for row in membership])


@pytest.mark.parametrize("kind", range(3), ids=KINDS)
@pytest.mark.parametrize("costs", WAYS, ids=["bitmaps", "lists, then bitmaps", "lists"])
def test_threads_pauses_and_small_buffers_change_nothing(
    kind: int, costs: StepCosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    baskets = random_baskets(kind, 700, 40, 0.12)
    question = ItemsetQuestion(14, kind, None, costs)
    serial_sets = listed(list(search_in_turn(baskets, question, arrays)))
    assert len(serial_sets) > 500
    monkeypatch.setattr(itemset_search, "THREAD_DELAY", 0.0)
    monkeypatch.setattr(itemset_search, "FIRST_WORK", 2000)
    monkeypatch.setattr(itemset_search, "WORK", 5000)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(itemset_worker, "BUFFER_CODES", 256)
    monkeypatch.setattr(itemset_worker, "BUFFER_SETS", 40)
    pieces = search_together(baskets, question, arrays)
    assert len(pieces) > 3
    assert listed(pieces) == serial_sets


def test_the_three_ways_agree_on_larger_data() -> None:
    """With items that have a twin, so that perfect extensions come up along every way."""
    rows = random_baskets(5, 3000, 120, 0.06).to_lists()
    baskets = Baskets.of([[*row, *(int(item) + 200 for item in row if int(item) % 9 == 0)] for row in rows])
    for kind in range(3):
        ways = [
            sorted(listed(list(search_in_turn(baskets, ItemsetQuestion(15, kind, None, costs), arrays))))
            for costs in WAYS
        ]
        assert len(ways[0]) > 1000
        assert ways[0] == ways[1] == ways[2]


@pytest.mark.parametrize("kind", KINDS)
@given(
    rows=st.lists(st.lists(st.integers(0, 6), max_size=7), min_size=1, max_size=12),
    times=st.lists(st.integers(1, 300), min_size=12, max_size=12),
    least=st.sampled_from([1, 70, 300, 500]),
)
@settings(max_examples=25, deadline=None)
def test_repeated_baskets_equal_brute_force(
    kind: ItemsetKind, rows: list[list[int]], times: list[int], least: int
) -> None:
    """Few kinds of baskets, each many times over."""
    rows, times = [*rows, [7, 8], [8]], [*times[: len(rows)], 2048, 2048]
    baskets = Baskets.of([row for row, count in zip(rows, times, strict=True) for row in [row] * count])
    assert found_in(frequent_itemsets(baskets, least, kind)) == brute(rows, least, kind, times=times)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [300, 511, 513, 1200])
def test_bitmaps_of_several_blocks_equal_brute_force(kind: ItemsetKind, rows: int) -> None:
    chance = np.random.Generator(np.random.PCG64(rows))
    many = [np.flatnonzero(row).tolist() for row in chance.random((rows, 11)) < np.linspace(0.2, 0.95, 11)]
    baskets = Baskets.of(many)
    assert itemset_search.lay_out_baskets(baskets, itemsets.make_question(baskets, 40, kind, None)).bits is not None
    assert found_in(frequent_itemsets(baskets, 40, kind)) == brute(many, 40, kind)


def test_arrays_say_the_same_as_the_frame() -> None:
    baskets = random_baskets(1, 300, 20, 0.3)
    mined_sets = find_itemsets(baskets, 0.1)
    frame = frequent_itemsets(baskets, 0.1)
    names = [
        [baskets.items[code] for code in mined_sets.codes[begin:end]]
        for begin, end in zip(mined_sets.offsets, mined_sets.offsets[1:], strict=False)
    ]
    assert names == frame["items"].to_list()
    assert mined_sets.supports.tolist() == frame["support"].to_list()
    assert (mined_sets.rows, len(mined_sets)) == (300, frame.height)
    assert mined_sets.codes.dtype == np.dtype(np.int32)


@pytest.mark.parametrize("least", [10, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_items_in_every_basket(least: float, kind: ItemsetKind) -> None:
    baskets = Baskets.of([["a", "b", "c"]] * 10)
    expected = 7 if kind == "all" else 1
    frame = frequent_itemsets(baskets, least, kind)
    assert frame.height == expected
    assert frame["support"].unique().to_list() == [10]


@pytest.mark.parametrize("costs", WAYS, ids=["bitmaps", "lists, then bitmaps", "lists"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_every_subset_of_items_that_go_together(
    everywhere: bool, costs: StepCosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than are added by doubling the buffer."""
    monkeypatch.setattr(itemset_worker, "BUFFER_CODES", 5000)
    baskets = Baskets.of([list(range(13))] * 70 + [[]] * (not everywhere))
    sets = listed(list(search_in_turn(baskets, ItemsetQuestion(2, 0, None, costs), arrays)))
    assert {support for _, support in sets} == {70}
    assert sorted(codes for codes, _ in sets) == sorted(
        subset for size in range(1, 14) for subset in combinations(range(13), size)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_support_above_the_data_finds_nothing(kind: ItemsetKind) -> None:
    frame = frequent_itemsets(Baskets.of([["a"], ["a", "b"]]), 3, kind)
    assert frame.schema == {"items": pl.List(pl.String), "support": pl.Int64}
    assert frame.height == 0


def test_a_share_counts_empty_baskets() -> None:
    baskets = Baskets.of([[1], [1, 2], [], []])
    assert found_in(frequent_itemsets(baskets, 0.5)) == {(1,): 2}
    assert found_in(frequent_itemsets(baskets, 0.51)) == {}


def test_more_than_is_allowed_is_refused_with_the_count() -> None:
    baskets = Baskets.of([list(range(10))] * 3)
    assert frequent_itemsets(baskets, 1, at_most=1023).height == 1023
    with pytest.raises(PolicyError, match=r"1,023 itemsets were found so far.*min_support.*write_itemsets"):
        frequent_itemsets(baskets, 1, at_most=1022)


def test_what_memory_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 items that always go together have 2⁶⁰ − 1 subsets; the one closed set is found at once."""
    monkeypatch.setattr(itemsets, "_get_memory_size", lambda: 20_000_000)
    baskets = Baskets.of([list(range(60))] * 3 + [[99]])
    with pytest.raises(PolicyError, match="half of this machine's memory"):
        frequent_itemsets(baskets, 1)
    assert found_in(frequent_itemsets(baskets, 2, "closed")) == {tuple(range(60)): 3}
    assert frequent_itemsets(baskets, 2, max_length=2).height == 60 + 60 * 59 // 2


def test_a_refusal_in_the_second_thread_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(itemset_search, "THREAD_DELAY", 0.0)
    monkeypatch.setattr(itemset_search, "FIRST_WORK", 1000)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    baskets = random_baskets(2, 700, 40, 0.12)
    was_second = threading.Event()

    def keep(*_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            was_second.wait(30)
        else:
            was_second.set()
            raise PolicyError("enough")

    with pytest.raises(PolicyError, match="enough"):
        search_together(baskets, ItemsetQuestion(7, 0, None), keep)
    assert was_second.is_set()
    assert "itemsets" not in {thread.name for thread in threading.enumerate()}


def test_a_run_tells_and_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(itemset_search, "FIRST_WORK", 1000)
    monkeypatch.setattr(itemset_search, "WORK", 1000)
    baskets = random_baskets(3, 700, 40, 0.12)
    messages: list[tuple[str, int, int | None]] = []
    with progress.listen_to_progress(lambda *words: messages.append(words)):
        whole = frequent_itemsets(baskets, 14).height
    assert len(messages) > 2
    assert all(total is not None and 0 <= count <= total for _, count, total in messages)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress.listen_to_progress(interrupt):
        frequent_itemsets(baskets, 14)
    assert "itemsets" not in {thread.name for thread in threading.enumerate()}
    assert frequent_itemsets(baskets, 14).height == whole


def test_baskets_are_not_changed() -> None:
    baskets = random_baskets(4, 100, 20, 0.3)
    copy = Baskets(baskets.items, baskets.offsets, baskets.codes)
    for kind in KINDS:
        frequent_itemsets(baskets, 5, kind)
    assert baskets == copy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_support": 0}, "at least 1 row"),
        ({"min_support": 0.0}, "above 0"),
        ({"min_support": 1.5}, "at most 1"),
        ({"min_support": 1, "kind": "some"}, "kind must be"),
        ({"min_support": 1, "max_length": 0}, "max_length"),
        ({"min_support": 1, "max_length": True}, "max_length"),
        ({"min_support": 1, "at_most": -1}, "at_most"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        frequent_itemsets(Baskets.of([[1]]), **arguments)


@pytest.mark.parametrize(
    ("name", "share", "expected"),
    [
        # All: the itemsets of shared/PEERS_SPEED.md, by four other miners. Closed and maximal: pyfim 6.28. It leaves
        # out {85} of mushroom, which is in every basket: one closed set more.
        ("mushroom.dat", 0.2, (53_583, 1_197, 158)),
        ("chess.dat", 0.7, (48_731, 23_892, 891)),
        ("retail.dat.gz", 0.001, (7_589, 7_572, 3_452)),
        ("T10I4D100K.dat.gz", 0.001, (27_532, 26_806, 4_054)),
    ],
)
def test_counts_on_real_data(shared_data: Path, name: str, share: float, expected: tuple[int, int, int]) -> None:
    baskets = Baskets.read(shared_data / "fimi" / name)
    assert tuple(frequent_itemsets(baskets, share, kind).height for kind in KINDS) == expected
