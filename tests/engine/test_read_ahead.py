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

    ahead = read_ahead(fail())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="the second"):
        next(ahead)


def test_whoever_stops_early_leaves_no_thread() -> None:
    asked = []

    def count() -> Iterator[int]:
        for number in range(1000):
            asked.append(number)
            yield number

    before = threading.active_count()
    ahead = read_ahead(count())
    assert [next(ahead), next(ahead)] == [0, 1]
    ahead.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert len(asked) <= 3
