# SPDX-License-Identifier: MIT
"""The shape itself: normal form, types of items, equality, what it refuses."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.baskets import Baskets
from sfumato.errors import DataError, PolicyError

ITEM_LISTS = st.one_of(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1))), st.lists(st.lists(st.text(min_size=1))))


@given(ITEM_LISTS)
def test_of_sorts_and_merges_each_basket(lists: list[list[Any]]) -> None:
    baskets = Baskets.of(lists)
    assert baskets.to_lists() == [sorted(set(basket)) for basket in lists]
    assert len(baskets) == len(lists)
    assert baskets.items == tuple(sorted({item for basket in lists for item in basket}))
    assert (baskets.offsets.dtype.name, baskets.codes.dtype.name) == ("int64", "int32")


@given(ITEM_LISTS)
def test_equal_baskets_are_equal_however_given(lists: list[list[Any]]) -> None:
    baskets = Baskets.of(lists)
    same_baskets = Baskets.of(reversed(basket + basket[:1]) for basket in lists)
    assert baskets == same_baskets
    assert hash(baskets) == hash(same_baskets)
    assert baskets != Baskets.of([*lists, ["one more"]])


def test_integers_sort_by_size_and_text_by_code_point() -> None:
    assert Baskets.of([[10, 9, 0]]).to_lists() == [[0, 9, 10]]
    assert Baskets.of([["10", "9", "é", "z"]]).to_lists() == [["10", "9", "z", "é"]]


def test_numpy_and_enum_items_become_plain_ones() -> None:
    class Fruit(StrEnum):
        APPLE = "apple"

    lists = [*Baskets.of([np.array([3, 1])]).to_lists(), *Baskets.of([[Fruit.APPLE]]).to_lists()]
    assert lists == [[1, 3], ["apple"]]
    assert [type(item) for basket in lists for item in basket] == [int, int, str]


def test_mixed_items_become_text() -> None:
    assert Baskets.of([[1, "a"], ["1"]]).to_lists() == [["1", "a"], ["1"]]


def test_arrays_build_the_same_normal_form_and_forget_unused_items() -> None:
    codes = np.array([2, 0, 2, 0], dtype=np.int32)
    baskets = Baskets(("c", "hidden", "a"), np.array([0, 3, 3, 4]), codes)
    assert baskets == Baskets.of([["a", "c"], [], ["c"]])
    assert baskets.items == ("a", "c")


def test_nothing_can_be_changed_and_the_input_is_left_alone() -> None:
    offsets, codes = np.array([0, 2]), np.array([1, 0], dtype=np.int32)
    baskets = Baskets((1, 2), offsets, codes)
    for array in (baskets.offsets, baskets.codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        baskets.items = ()  # type: ignore[misc]
    codes[0] = offsets[0] = 7
    assert baskets == Baskets.of([[1, 2]])


def test_ids_are_kept_and_count_in_equality() -> None:
    baskets = Baskets.of([["a"], ["b"]], ids=["x", "y"])
    assert baskets.ids == ("x", "y")
    assert baskets != Baskets.of([["a"], ["b"]])


def test_a_pickled_copy_is_equal_and_cannot_be_changed_either() -> None:
    baskets = Baskets.of([["a"], ["b"]], ids=["x", "y"])
    copy = pickle.loads(pickle.dumps(baskets))
    assert copy == baskets
    assert not copy.codes.flags.writeable


def test_the_repr_shows_counts_only() -> None:
    baskets = Baskets.of([["insulin", "bread"], ["bread"]], ids=["Ann", "Bob"])
    assert repr(baskets) == "Baskets(2 baskets, 2 items, 3 occurrences)"


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (["secret"], "expected a list of items, got str"),
        ([7431], "got int"),
        ([[7431.5, None], ["a"]], "2 of 3 items are neither integers nor text but NoneType, float"),
        ([[True]], "1 of [12] items are neither integers nor text but bool"),
        ([[7431 * 2**64]], "1 of [12] items are integers of more than 64 bits"),
        ([["", "secret"]], "1 of [12] items are empty or not valid Unicode"),
        ([["secret\ud800"]], "1 of [12] items are empty or not valid Unicode"),
    ],
)
def test_odd_items_are_refused_without_being_shown(lists: Iterable[Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as error_info:
        Baskets.of(lists)
    assert "secret" not in str(error_info.value)
    assert "7431" not in str(error_info.value)


@pytest.mark.parametrize("ids", [["secret"], ["secret", "secret"], ["a", "b", "c"]])
def test_ids_must_be_one_for_each_basket(ids: list[str]) -> None:
    with pytest.raises(DataError, match=r"ids? for 2 lists,") as error_info:
        Baskets.of([["a"], ["b"]], ids=ids)
    assert "secret" not in str(error_info.value)


@pytest.mark.parametrize(
    ("items", "offsets", "codes"),
    [
        (("a",), [0, 2], [0]),
        (("a",), [1, 1], [0]),
        (("a",), [0, 1, 0, 1], [0]),
        (("a",), [], []),
        (("a",), [0, 1], [1]),
        (("a",), [0, 1], [-1]),
        (("a", "a"), [0, 1], [1]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(items: tuple[str, ...], offsets: list[int], codes: list[int]) -> None:
    with pytest.raises(DataError):
        Baskets(items, np.array(offsets, dtype=np.int64), np.array(codes, dtype=np.int32))


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match='"fimi", "spmf", "long" or "comma"'):
        Baskets.read(tmp_path / "x", format="arff")  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match='"fimi", "spmf" or "long"'):
        Baskets.of([[1]]).write(tmp_path / "x", format="arff")  # type: ignore[arg-type]


def test_the_shapes_import_no_heavy_library() -> None:
    code = "import sys, sfumato.sequences; print({'polars', 'pyarrow'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
