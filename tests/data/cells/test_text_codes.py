# SPDX-License-Identifier: MIT
"""Texts as numbers: the same with and without a memory, which only knows the columns that were noted."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.cells import text_codes
from sfumato.data.cells.text_codes import is_remembered, note_texts, number_texts, place_texts, remember_texts
from sfumato.engine.classes import count_class_sizes

ROWS = 12_000


@pytest.fixture
def frame() -> pl.DataFrame:
    texts = [None if n % 11 == 0 else f"a rather long text {n % 7}" for n in range(ROWS)]
    return pl.DataFrame({"text": texts, "short": [f"s{n % 5}" for n in range(ROWS)], "number": range(ROWS)})


def test_numbers_are_places_among_sorted_values(frame: pl.DataFrame) -> None:
    for column in (frame["text"], frame["short"], frame["text"].head(0), frame["text"].head(5)):
        values, codes = number_texts(column)
        assert values.to_list() == sorted(set(column.drop_nulls()))
        assert values.gather(codes).to_list() == column.to_list()


def test_a_noted_column_is_numbered_once(frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    with remember_texts():
        note_texts(frame)
        first = number_texts(frame["text"])
        monkeypatch.setattr(text_codes, "_number_texts", lambda column: pytest.fail("numbered again"))
        assert number_texts(frame["text"]) is first
        assert number_texts(frame.select("text", "number")["text"]) is first, "the same cells in another frame"
    assert not is_remembered(frame["text"]), "forgotten after the block"


def test_other_cells_are_never_taken_for_noted_ones(frame: pl.DataFrame) -> None:
    with remember_texts():
        note_texts(frame)
        number_texts(frame["text"])
        other_columns = (
            frame["text"].reverse(),
            frame["text"].slice(1),
            frame["text"].slice(0, ROWS - 1),
            frame["text"].fill_null("x"),
            frame["text"].set(pl.Series([True] + [False] * (ROWS - 1)), "y"),
            pl.concat([frame["text"], frame["text"]], rechunk=False),
            frame["short"],
        )
        for column in other_columns:
            values, codes = number_texts(column)
            assert values.gather(codes).to_list() == column.to_list()


def test_places_and_classes_are_the_same_with_a_memory(frame: pl.DataFrame) -> None:
    labels = ["a rather long text 3", "a rather long text 1", "never"]
    plain = place_texts(frame["text"], labels), sorted(count_class_sizes(frame, ["text", "short"]).tolist())
    with remember_texts():
        note_texts(frame)
        assert is_remembered(frame["text"]) and not is_remembered(frame["number"])
        assert place_texts(frame["text"], labels).to_list() == plain[0].to_list()
        assert sorted(count_class_sizes(frame, ["text", "short"]).tolist()) == plain[1]
