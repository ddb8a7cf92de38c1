# SPDX-License-Identifier: MIT
"""A check compares what cells say, not how they are stored: a file that was written and read again has other types.

34 is 34 as a whole number, as a decimal and as text beside a `*`; a day is the same as a date and as 2009-06-30. But a
text that differs in a capital or a space is another text.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.measure import checks
from sfumato.measure.checks import CHECKS
from sfumato.protect import METHODS
from sfumato.release import Claim, Number
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once
from tests.contract.test_each_column import breaks
from tests.contract.test_forged_cells import list_claims_of_cells
from tests.contract.test_single_cells import choose_rows, forge_cells, list_changed, measure_again

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
OF_NUMBERS = (ChangeKind.CAPPED, ChangeKind.ROUNDED, ChangeKind.MEANS, ChangeKind.NOISE, ChangeKind.INTERVALS)
"""Kinds of columns that hold numbers or dates, with which their checks compute: a check may refuse them as text."""


def widen_type(column: pl.Series) -> pl.Series:
    """Whole numbers as decimals, and decimals that are whole as whole numbers; words as categories."""
    if column.dtype.is_integer():
        return column.cast(pl.Float64)
    if column.dtype.is_float() and spell_cells(column).str.contains(r"^-?\d{1,15}$").all():
        return column.cast(pl.Int64)
    return column.cast(pl.Categorical) if column.dtype == pl.String else column


def narrow_type(column: pl.Series) -> pl.Series:
    """Numbers in 32 bits, where that is the same number; words as an enumeration."""
    kind: Any = pl.Int32 if column.dtype.is_integer() else pl.Float32
    if column.dtype.is_numeric():
        narrow_column = column.cast(kind, strict=False)
        return narrow_column if narrow_column.cast(column.dtype).equals(column) else column
    return column.cast(pl.Enum(column.drop_nulls().unique().sort())) if column.dtype == pl.String else column


WAYS: Mapping[str, Callable[[pl.Series], pl.Series]] = {
    "as text": spell_cells,
    "as decimals, whole numbers or categories": widen_type,
    "in 32 bits or as an enumeration": narrow_type,
}


def read_again(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as a CSV file has it, with the types that a reader finds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        frame.write_csv(path)
        return sf.Table.read(path).frame


def list_retyped_frames(made: Made) -> Iterator[tuple[str, pl.DataFrame]]:
    """The published cells in other types, and how."""
    frame = made.release.data.frame
    numbers = {change.column for change in made.release.changes if change.kind in OF_NUMBERS}
    for way, retype in WAYS.items():
        names = [name for name in frame.columns if way != "as text" or name not in numbers]
        yield way, frame.with_columns(retype(frame[name]).alias(name) for name in names)
    if frame.height:
        yield "in a CSV file that was read again", read_again(frame)


def find_other_measure(made: Made, claim: Claim) -> str:
    """How the same cells are stored if a check measures something else of them; empty if it never does."""
    right = measure_again(made, claim, made.release.data, made.data)
    for way, frame in list_retyped_frames(made):
        measured = measure_again(made, claim, replace(made.release.data, frame=frame), made.data)
        if measured != right:
            return f"{way} ({measured} instead of {right})"
    return ""


@parametrize_kinds
def test_a_check_measures_the_same_whatever_type_cells_have(kind: type[sf.Method]) -> None:
    for made in [made for made in make_all(kind) if made.is_table]:
        for claim in made.release.claims:
            way = find_other_measure(made, claim)
            assert not way, (
                f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" measures something else '
                f"if the same cells are stored {way}: compare `spell_cells` of both sides, which is the text that a "
                "file has of them; only if it computes with numbers, read them with `cast(pl.Float64)`, and let "
                "the method state a kind of change of numbers"
            )


def alter_texts(text: str) -> Iterator[str]:
    """Texts that are almost the same."""
    yield from (other for other in (text.swapcase(), f"{text} ", f"{text}.0") if other != text)


def find_equal_text(made: Made, claim: Claim, name: str) -> str:
    """A text of the same type that a check takes for another, though it notices a cell that nobody has; else empty."""
    cells = made.release.data.frame[name].to_list()
    for row in choose_rows(made, name)[:3]:
        if not breaks(made, claim, forge_cells(made, name, "cells that nobody has", [row])):
            continue
        for text in alter_texts(cells[row]):
            forged = pl.Series(name, [*cells[:row], text, *cells[row + 1 :]], dtype=pl.String)
            if not breaks(made, claim, forged):
                return "a cell with a capital, a space or a .0 more"
    return ""


@parametrize_kinds
def test_a_check_tells_texts_of_the_same_type_apart(kind: type[sf.Method]) -> None:
    for made in [made for made in make_all(kind) if made.is_table][:3]:
        schema = made.release.data.frame.schema
        for name in [name for name in list_changed(made) if schema[name] == pl.String][:2]:
            for claim in list_claims_of_cells(made):
                text = find_equal_text(made, claim, name)
                assert not text, (
                    f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" does not notice '
                    f'{text} in "{name}": compare texts as `spell_cells` gives them, without stripping or folding them'
                )


def find_grouped() -> tuple[Made, Claim]:
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "group rare values"))
    return made, next(claim for claim in made.release.claims if claim.measure == "kept_cells_changed")


def count_unequal(read_cells: Callable[[pl.Series], list[Any]]) -> checks.Measure:
    """A check of kept columns that reads cells in its own way."""

    def measure(evidence: checks.Evidence, arguments: Mapping[str, Any]) -> Number:
        frames = (evidence.published_data.frame, evidence.original.frame)
        cell_pairs = (zip(*(read_cells(frame[name]) for frame in frames), strict=True) for name in arguments["columns"])
        return sum(bool(new_cell != was) for pairs in cell_pairs for new_cell, was in pairs)

    return measure


def test_a_check_of_types_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, claim = find_grouped()
    assert find_other_measure(made, claim) == ""
    typed = replace(CHECKS[claim.measure], measure=count_unequal(pl.Series.to_list))
    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, typed)
    assert find_other_measure(made, claim).startswith("as text")


def strip_texts(column: pl.Series) -> list[Any]:
    return [str(cell).strip() for cell in column]


def fold_texts(column: pl.Series) -> list[Any]:
    return [str(cell).casefold() for cell in column]


@pytest.mark.parametrize("read_cells", [strip_texts, fold_texts])
def test_a_check_of_other_texts_is_noticed(monkeypatch: pytest.MonkeyPatch, read_cells: Any) -> None:
    made, claim = find_grouped()
    assert find_equal_text(made, claim, "education") == ""
    lax = replace(CHECKS[claim.measure], measure=count_unequal(read_cells))
    monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, lax)
    assert find_equal_text(made, claim, "education")
