# SPDX-License-Identifier: MIT
from __future__ import annotations

import copy
import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.patterns import Patterns
from tests.brute_patterns import spell_items

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1, max_size=4)
vocabularies = st.one_of(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.lists(names, min_size=1, max_size=6))


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[tuple[frozenset[int | str], int]], int, int | None]:
    items = draw(vocabularies)
    itemset_strategy: st.SearchStrategy[Any] = st.frozensets(st.sampled_from(items), min_size=1)
    sets = draw(st.lists(itemset_strategy, max_size=8, unique=True))
    total = draw(st.integers(0, 20))
    supports = [draw(st.integers(0, total)) for _ in sets]
    return list(zip(sets, supports, strict=True)), total, draw(st.one_of(st.none(), st.integers(1, 20)))


@settings(deadline=None, max_examples=80)
@given(given_sets=collections(), order=st.randoms(use_true_random=False))
def test_one_normal_form(
    given_sets: tuple[list[tuple[frozenset[int | str], int]], int, int | None], order: object
) -> None:
    sets, total, complete = given_sets
    patterns = Patterns.of(sets, total, complete)
    mixed = list(sets)
    order.shuffle(mixed)  # type: ignore[attr-defined]
    assert Patterns.of(mixed, total, complete) == patterns
    assert Patterns.of(patterns.frame, total, complete) == patterns
    assert {frozenset(items): support for items, support in patterns.to_lists()} == dict(sets)
    lists = [items for items, _ in patterns.to_lists()]
    assert lists == sorted(lists, key=lambda itemset: (len(itemset), itemset))
    assert len(patterns) == len(sets)


@settings(deadline=None, max_examples=60)
@given(given_sets=collections())
def test_files_read_back(
    given_sets: tuple[list[tuple[frozenset[int | str], int]], int, int | None],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    sets, total, complete = given_sets
    patterns = Patterns.of(sets, total, complete)
    path = tmp_path_factory.mktemp("patterns") / "found.txt"
    patterns.write(path)
    assert Patterns.read(path) == patterns


def test_the_form_is_that_of_spmf(tmp_path: Path) -> None:
    path = tmp_path / "found.txt"
    Patterns.of({(3, 1): 2, (1,): 4}, 5, 2).write(path)
    assert path.read_text() == "@BASKETS=5\n@COMPLETE_FROM=2\n1 #SUP: 4\n1 3 #SUP: 2\n"
    path.write_text("1 #SUP: 4\n1 3 #SUP: 2\n")
    assert Patterns.read(path, baskets=5).to_lists() == [([1], 4), ([1, 3], 2)]
    named_path = tmp_path / "named.txt.gz"
    Patterns.of({("whole milk",): 1}, 1).write(named_path)
    assert gzip.decompress(named_path.read_bytes()).decode().endswith("@ITEM=1=whole milk\n@BASKETS=1\n1 #SUP: 1\n")
    assert Patterns.read(named_path).items == ("whole milk",)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("1 #SUP: 4\n", "number of baskets"),
        ("@BASKETS=5\n1 2\n", "1 of 1 lines"),
        ("@BASKETS=5\n1 #SUP: x\n", "1 of 1 lines"),
        ("@BASKETS=5\n #SUP: 3\n", "no item"),
        ("@BASKETS=5\n@BASKETS=6\n1 #SUP: 3\n", "2 different numbers"),
        ("@BASKETS=5\n1 #SUP: 6\n", "1 of 1 supports"),
        ("@BASKETS=5\n1 #SUP: 3\n1 #SUP: 2\n", "1 itemset is repeated"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(sf.DataError, match=match):
        Patterns.read(path)


def test_bad_input_is_named() -> None:
    with pytest.raises(sf.DataError, match="put it in a list"):
        Patterns.of({"milk": 3}, 3)
    with pytest.raises(sf.DataError, match="1 itemset is empty"):
        Patterns.of({(): 3}, 3)
    with pytest.raises(sf.DataError, match="1 of 1 supports are not whole"):
        Patterns.of([(["a"], 0.5)], 3)  # type: ignore[list-item]
    with pytest.raises(sf.DataError, match="1 of 1 supports are below 0"):
        Patterns.of([(["a"], -1)], 3)
    with pytest.raises(sf.DataError, match='"items" and "support"'):
        Patterns.of(pl.DataFrame({"items": [["a"]]}), 3)
    with pytest.raises(sf.PolicyError, match="number of baskets"):
        Patterns.of({}, -1)
    with pytest.raises(sf.PolicyError, match="complete_from"):
        Patterns.of({}, 3, 0)
    with pytest.raises(sf.DataError, match="2 supports for 1 itemset"):
        Patterns(("a",), np.array([0, 1]), np.array([0], np.int32), np.array([1, 2]), 3)


def test_it_cannot_be_written_to_and_can_be_copied() -> None:
    patterns = Patterns.of(spell_items({"ab": 2, "a": 3}), 4)
    for array in (patterns.supports, patterns.codes, patterns.offsets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for other in (copy.deepcopy(patterns), pickle.loads(pickle.dumps(patterns))):
        assert other == patterns
        assert hash(other) == hash(patterns)
        assert not other.supports.flags.writeable
    assert patterns != Patterns.of(spell_items({"ab": 2, "a": 3}), 5)
    assert patterns != "ab"
    assert repr(patterns) == "Patterns(2 itemsets of 2 items in 4 baskets)"


def test_some_of_the_sets() -> None:
    patterns = Patterns.of(spell_items({"a": 3, "b": 2, "ab": 1}), 4, 1)
    few = patterns.take(np.array([2, 0]))
    assert few.to_lists() == [(["a"], 3), (["a", "b"], 1)]
    assert few.complete_from is None
    assert patterns.take(patterns.supports > 2).items == ("a",)
    assert len(patterns.take(np.zeros(3, dtype=bool))) == 0
