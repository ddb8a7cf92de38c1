# SPDX-License-Identifier: MIT
"""The shape itself: flat and nested, normal form, equality, what it refuses."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import DataError, PolicyError
from sfumato.sequences import Sequences

FLAT = st.one_of(st.lists(st.lists(st.integers(-99, 99))), st.lists(st.lists(st.text(min_size=1))))
NESTED = st.lists(st.lists(st.lists(st.text(min_size=1), min_size=1)))


@given(FLAT)
def test_flat_lists_come_back_as_they_were(lists: list[list[Any]]) -> None:
    sequences = Sequences.of(lists)
    assert sequences.to_lists() == lists
    assert len(sequences) == len(lists)
    assert sequences.flat


@given(NESTED)
def test_nested_lists_come_back_with_each_element_sorted(lists: list[list[list[str]]]) -> None:
    sequences = Sequences.of(lists)
    assert sequences.to_lists() == [[sorted(set(element)) for element in sequence] for sequence in lists]
    assert sequences.flat == (not any(lists))
    assert (sequences.offsets.dtype.name, sequences.codes.dtype.name) == ("int64", "int32")


def test_single_items_stay_nested_when_given_so_but_are_the_same_sequence() -> None:
    nested, flat = Sequences.of([[["a"], ["b"]]]), Sequences.of([["a", "b"]])
    assert nested.to_lists() == [[["a"], ["b"]]]
    assert nested == flat
    assert hash(nested) == hash(flat)


def test_order_and_grouping_tell_sequences_apart() -> None:
    assert Sequences.of([["a", "b"]]) != Sequences.of([["b", "a"]])
    assert Sequences.of([["a", "b"]]) != Sequences.of([[["a", "b"]]])
    assert Sequences.of([["a", "b"]]) != Sequences.of([["a"], ["b"]])
    assert Sequences.of([["a"]], ids=[1]) != Sequences.of([["a"]])


def test_arrays_forget_unused_items_and_emptied_elements() -> None:
    codes = np.array([2, 0, 0], dtype=np.int32)
    sequences = Sequences(("c", "hidden", "a"), np.array([0, 2, 3, 4]), np.array([0, 2, 2, 2, 3]), codes)
    assert sequences.to_lists() == [[["a", "c"]], [], [["c"]]]
    assert sequences.items == ("a", "c")


def test_nothing_can_be_changed() -> None:
    sequences = Sequences.of([["a", "b"]])
    for array in (sequences.offsets, sequences.element_offsets, sequences.codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        sequences.flat = False  # type: ignore[misc]


def test_a_pickled_copy_is_equal_and_cannot_be_changed_either() -> None:
    sequences = Sequences.of([[["a"], ["b"]]])
    copy = pickle.loads(pickle.dumps(sequences))
    assert copy.to_lists() == sequences.to_lists()
    assert not copy.element_offsets.flags.writeable


def test_the_repr_shows_counts_only() -> None:
    sequences = Sequences.of([["home", "clinic"], ["home"]], ids=["Ann", "Bob"])
    assert repr(sequences) == "Sequences(2 sequences, 3 elements, 2 items)"


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (["secret"], "expected a list of elements, got str"),
        ([["secret", ["secret"]]], "1 of 2 elements are lists"),
        ([[["secret"], []]], "1 of 2 elements are empty"),
        ([["secret", 1.5]], "1 of 2 items are neither integers nor text but float"),
    ],
)
def test_odd_input_is_refused_without_being_shown(lists: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as error_info:
        Sequences.of(lists)
    assert "secret" not in str(error_info.value)


def test_ids_must_be_one_for_each_sequence() -> None:
    with pytest.raises(DataError, match="2 ids for 1 list,"):
        Sequences.of([["a"]], ids=["x", "y"])


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match='"spmf" or "long"'):
        Sequences.read(tmp_path / "x", format="fimi")  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match='"spmf" or "long"'):
        Sequences.of([[1]]).write(tmp_path / "x", format="fimi")  # type: ignore[arg-type]
