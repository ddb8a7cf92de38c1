# SPDX-License-Identifier: MIT
"""A refusal says what is wrong with the data and never a cell of it: errors end in logs, and in mails to strangers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import Made, make_once, released

TABLES = [example for example in METHOD_EXAMPLES if example.subject.shape == example.subject.gives == "table"]
UNTOUCHED = (ChangeKind.KEPT, ChangeKind.DROPPED)
SECRET_NUMBER = 98765432.125
FIRST_DAY, LAST_DAY = date(1, 1, 1), date(9999, 12, 31)


class OddCell(NamedTuple):
    """A cell that a method may have to refuse."""

    value: Any
    spellings: tuple[str, ...]
    """What a message would hold if it told the cell; digits of numbers without their commas and exponents."""


def list_odd_cells(column: pl.Series) -> Iterator[OddCell]:
    """Cells that the type of a column allows and nobody expects."""
    if column.dtype == pl.Date:
        yield OddCell(FIRST_DAY, ("0001-01-01", "719162"))
        yield OddCell(LAST_DAY, ("9999-12-31", "2932896"))
    elif column.dtype.is_integer():
        yield OddCell(987_654_321_987_654_321, ("98765432",))
        yield OddCell(-987_654_321_987_654_321, ("98765432",))
    elif column.dtype.is_float():
        yield OddCell(9.87654321e200, ("98765432",))
        yield OddCell(9.87654321e-200, ("98765432",))
        for undefined in (inf, -inf, nan):
            yield OddCell(undefined, ("98765432",))
    elif column.dtype == pl.String:
        yield OddCell("zz987654321zz", ("98765432",))
        yield OddCell("zz987654321zz " * 40, ("98765432",))
        yield OddCell(' "zz987654321zz"\n', ("98765432",))
        yield OddCell("987654321", ("98765432",))


def put_odd_cell(table: sf.Table, name: str, cell: OddCell) -> sf.Table:
    """The table with the cell in one row, and below a number that is no number the digits that no message may tell."""
    column, values = table.frame[name], [cell.value]
    if isinstance(cell.value, float) and not isfinite(cell.value):
        values = [SECRET_NUMBER, cell.value]
    odd = pl.Series(name, values, column.dtype)
    return table.replace_frame(table.frame.with_columns(pl.concat([column.head(-len(values)), odd])))


def find_told_cell(message: str, cell: OddCell) -> bool:
    """Whether a message spells the cell."""
    plain = re.sub(r"(?<=\d)[,_ .'’](?=\d)", "", message)
    return any(spelling in text for text in (message, plain) for spelling in cell.spellings)


def list_read(result: Made) -> list[str]:
    """The columns that decide what is published, and that the method does not change; identifying ones, too."""
    footprint, changed = result.example.subject.footprint(result.data), list_stated(result)
    return [name for name in result.data.frame.columns if name in footprint.reads and name not in changed]


def list_stated(result: Made) -> list[str]:
    """The columns that the method says it changed."""
    return [change.column for change in result.release.changes if change.kind not in UNTOUCHED]


def choose_columns(result: Made) -> list[str]:
    """One column of each type that the method says it changed, else reads; any column if it does neither."""
    names = [*list_read(result), *list_stated(result)] or result.release.data.frame.columns
    columns = {str(result.data.frame[name].dtype): name for name in names}
    return sorted(columns.values(), key=lambda name: name not in list_stated(result))


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_a_refusal_tells_no_cell(example: Example) -> None:
    result, method = make_once(example), type(example.subject).__name__
    for name in choose_columns(result):
        for cell in list_odd_cells(result.data.frame[name]):
            try:
                released(example, put_odd_cell(result.data, name, cell))
            except sf.SfumatoError as refusal:
                told_cell = find_told_cell(str(refusal), cell)
                assert not told_cell, (
                    f'{method}: a refusal tells a cell of "{name}" ({refusal}): say the column, '
                    "how many rows have such cells, and what to do about them, never a value"
                )
            except Exception as crash:
                pytest.fail(
                    f'{method} crashes if one cell of "{name}" is {cell.value!r} ({crash!r}): '
                    "refuse it with an error of errors.py that says how many rows have such cells, or protect it"
                )


def list_other_columns(name: str, count: int) -> Iterator[tuple[pl.Series, OddCell]]:
    """Columns of every type, in which the first and the last cell are to stay secret."""
    numbers = OddCell(987_654_321, ("98765432",))
    words = OddCell("zz987654321zz", ("98765432",))
    cells: dict[Any, tuple[OddCell, list[Any]]] = {
        pl.Int64: (numbers, [1, 2, 3]),
        pl.Float64: (OddCell(98765432.125, ("98765432",)), [0.5, 1.5, 2.5]),
        pl.Date: (OddCell(date(1987, 6, 5), ("1987-06-05", "1987")), [date(2001, 2, 3), date(2001, 2, 4)]),
        pl.String: (words, ["a", "b", "c"]),
        pl.Categorical: (words, ["a", "b", "c"]),
    }
    for kind, (cell, usual) in cells.items():
        inner = [usual[row % len(usual)] for row in range(count - 2)]
        yield pl.Series(name, [cell.value, *inner, cell.value]).cast(kind), cell
    yield pl.Series(name, [row % 2 == 0 for row in range(count)]), OddCell(True, ("zz",))


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_a_column_of_another_type_is_protected_or_refused_without_a_cell(example: Example) -> None:
    result, method = make_once(example), type(example.subject).__name__
    name = choose_columns(result)[0]
    for column, cell in list_other_columns(name, len(result.data)):
        try:
            released(example, result.data.replace_frame(result.data.frame.with_columns(column)))
        except sf.SfumatoError as refusal:
            assert not find_told_cell(str(refusal), cell), (
                f'{method}: a refusal of {column.dtype} in "{name}" tells a cell ({refusal}): say the column, how many '
                "rows have such cells, and what to do about them, never a value"
            )
        except Exception as crash:
            pytest.fail(
                f'{method} crashes if "{name}" is a column of {column.dtype} ({crash!r}): refuse it with an error of '
                "errors.py that names the column and the remedy, or protect it"
            )


PLANTED = 2
"""As many bad cells are planted, and a refusal says that many."""


def list_bad_columns(column: pl.Series) -> Iterator[tuple[str, pl.Series]]:
    """Words → the column with a few cells that a method may have to refuse."""

    def plant(cells: pl.Series, bad_cells: list[Any]) -> pl.Series:
        return pl.concat([cells.head(-PLANTED), pl.Series(cells.name, bad_cells, dtype=cells.dtype)])

    if column.dtype.is_numeric():
        yield "words", plant(spell_cells(column), ["zzq", "yyq"])
        yield "infinite numbers", plant(column.cast(pl.Float64), [inf, -inf])
        yield "undefined numbers", plant(column.cast(pl.Float64), [nan, nan])
        yield "large numbers", plant(column.cast(pl.Float64), [9.87e200, -9.87e200])
    if column.dtype.is_integer():
        yield "large whole numbers", plant(column.cast(pl.Int64), [987_654_321_987_654_321, -987_654_321_987_654_321])
    if column.dtype == pl.Date:
        yield "days at the ends of the calendar", plant(column, [FIRST_DAY, LAST_DAY])
    if column.dtype == pl.String:
        yield "words that nobody has", plant(column, ["zzq", "yyq"])


def find_uncounted_cells(example: Example, name: str) -> str:
    """What is refused without saying in how many rows it is, and the refusal; empty if nothing is."""
    table = make_once(example).data
    strange_trees = {other: tree for other, tree in table.hierarchies.items() if other != name}
    for words, column in list_bad_columns(table.frame[name]):
        frame = table.frame.with_columns(column)
        for bad_table in (table.replace_frame(frame), sf.Table.of(frame, dict(table.roles), strange_trees)):
            try:
                released(example, bad_table)
            except (sf.DataError, sf.PolicyError) as refusal:
                if not re.search(rf"\b{PLANTED}\b", str(refusal)):
                    return f'{words} in {PLANTED} rows of "{name}" are refused without their number ({refusal})'
            except sf.ImpossibleRelease:  # by what was asked of the whole table
                continue
    return ""


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_a_refusal_says_how_many_cells_are_wrong(example: Example) -> None:
    """Of a million rows, nobody finds the two that a method does not like, unless there are said to be two."""
    for name in choose_columns(make_once(example)):
        wrong = find_uncounted_cells(example, name)
        assert not wrong, (
            f"{type(example.subject).__name__}: {wrong}: count the cells that it cannot protect, and say how many rows "
            "have them and what to do, as `refuse_infinite` and `explain_no_numbers` of protect/named_columns.py do"
        )


def test_a_refusal_without_a_number_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example = next(example for example in TABLES if example.name == "round numbers")
    protect = sf.RoundNumbers.protect

    def refuse_large(method: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        if data.frame["age"].dtype.is_float():
            raise DataError('table: "age" has numbers too large for this step; raise step')
        return protect(method, data, randomness)

    assert find_uncounted_cells(example, "age") == ""
    monkeypatch.setattr(sf.RoundNumbers, "protect", refuse_large)
    assert "infinite numbers in 2 rows" in find_uncounted_cells(example, "age")


CANARIES: dict[Any, list[Any]] = {
    pl.Int64: [987_654_321, 987_654_322],
    pl.Float64: [98765432.125, 98765432.375],
    pl.Date: [date(1987, 6, 5), date(1987, 6, 6)],
    pl.String: ["zz987654321zz", "zz987654322zz"],
}
"""Two cells of each type whose digits no message may tell."""
ROWS = 80
"""As many rows as poor columns have at the most: a search among values that all differ takes long."""
TOLD = OddCell(None, ("98765432", "1987-06"))


def list_poor_tables(table: sf.Table, names: list[str]) -> Iterator[tuple[str, sf.Table]]:
    """Words → the table with canaries in some columns, which have too little to tell rows apart, or too much."""
    size = len(table)
    patterns: dict[str, list[int | None]] = {
        "all cells are alike": [0] * size,
        "one cell differs": [*[0] * (size - 1), 1],
        "two values alternate": [row % 2 for row in range(size)],
        "all cells but one are missing": [0, *[None] * (size - 1)],
        "one cell is missing, and the others are alike": [*[0] * (size - 1), None],
        "all cells differ": [*range(size)],
    }
    for words, pattern in patterns.items():
        columns = [plant_canaries(table.frame[name], pattern) for name in names]
        planted = table.replace_frame(table.frame.with_columns(columns))
        yield f"{words} of {names}", planted
        for rows in (1, 2, 3) if words in ("all cells are alike", "all cells differ") else ():
            yield f"there are {rows} rows, and {words} of {names}", planted.replace_frame(planted.frame.head(rows))


def plant_canaries(column: pl.Series, pattern: list[int | None]) -> pl.Series:
    """A column of the same type with the first or second canary, or others like them, as the pattern says."""
    base = next((kind for kind in (pl.Date, pl.String) if column.dtype == kind), pl.Int64)
    kind = pl.Float64 if column.dtype.is_float() else base
    values = CANARIES[kind]
    if max(place or 0 for place in pattern) > 1:
        values = [
            f"zz98765432{row}zz" if kind == pl.String else values[0] + (timedelta(row) if kind == pl.Date else row)
            for row in range(len(pattern))
        ]
    return pl.Series(column.name, [None if place is None else values[place] for place in pattern], dtype=kind)


def find_told_canary(example: Example, table: sf.Table) -> str:
    """The refusal of a table, or of its check, that tells a canary; empty if it is released, or refused without."""
    try:
        sf.check(released(example, table), table)
    except sf.SfumatoError as refusal:
        return str(refusal) if find_told_cell(str(refusal), TOLD) else ""
    return ""


@pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
def test_a_refusal_of_poor_columns_tells_no_cell(example: Example) -> None:
    """Most refusals are about columns that have one value, too few rows, or nothing in common."""
    made, method = make_once(example), type(example.subject).__name__
    changed, read = list_stated(made) or choose_columns(made), list_read(made)
    for names in ([changed[0]], changed, *([read] if read and read != changed else [])):
        for words, table in list_poor_tables(made.data.replace_frame(made.data.frame.head(ROWS)), names):
            refusal = find_told_canary(example, table)
            assert not refusal, (
                f"{method}: if {words}, a refusal tells a cell ({refusal}): say the column, how many rows have such "
                "cells, and what to do about them, never a value"
            )


def test_a_refusal_that_tells_a_value_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(example for example in TABLES if example.name == "round numbers"))
    protect = sf.RoundNumbers.protect

    def refuse_one_value(method: sf.RoundNumbers, data: sf.Table, randomness: Any = None) -> sf.Release:
        if data.frame["age"].n_unique() == 1:
            raise DataError(f'table: "age" has the value {data.frame["age"][0]:,} alone')
        return protect(method, data, randomness)

    assert not any(find_told_canary(made.example, table) for _, table in list_poor_tables(made.data, ["age"]))
    monkeypatch.setattr(sf.RoundNumbers, "protect", refuse_one_value)
    told = [words for words, table in list_poor_tables(made.data, ["age"]) if find_told_canary(made.example, table)]
    assert told[0] == "all cells are alike of ['age']"


def test_a_told_cell_is_noticed() -> None:
    cells = {
        str(cell.value): cell
        for kind in (pl.Date, pl.Int64, pl.Float64, pl.String)
        for cell in list_odd_cells(pl.Series([], dtype=kind))
    }
    assert len(cells) == 13
    for text in (
        "9.87654321e+200",
        "987,654,321,987,654,321",
        "zz987654321zz",
        "9999-12-31",
        "day 2932896",
        "0001-01-01",
    ):
        assert any(
            find_told_cell(str(DataError(f'table: 1 row of "x" holds {text}')), cell) for cell in cells.values()
        ), text
    assert not any(find_told_cell('table: 1 row of "x", in the years 1 to 9999', cell) for cell in cells.values())
