# SPDX-License-Identifier: MIT
"""What is read ahead is the same, in the same order, with the same errors, and nothing goes on afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sfumato.engine.read_ahead import read_ahead


def test_items_come_in_their_order() -> None:
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []
    assert list(read_ahead([None, 0])) == [None, 0]


def test_an_error_comes_at_its_place() -> None:
    def fail() -> Iterator[int]:
        yield 1
        raise ValueError("the second")

    reader = read_ahead(fail())
    assert next(reader) == 1
    with pytest.raises(ValueError, match="the second"):
        next(reader)


def test_whoever_stops_early_leaves_no_thread() -> None:
    numbers = []

    def count() -> Iterator[int]:
        for number in range(1000):
            numbers.append(number)
            yield number

    thread_count = threading.active_count()
    reader = read_ahead(count())
    assert [next(reader), next(reader)] == [0, 1]
    reader.close()  # type: ignore[attr-defined]
    assert threading.active_count() == thread_count
    assert len(numbers) <= 3
