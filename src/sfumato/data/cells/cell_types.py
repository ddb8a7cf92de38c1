# SPDX-License-Identifier: MIT
"""Which columns of text hold numbers: only those in which no digit is lost, so that "02135" stays a ZIP code."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError

_WHOLE = r"^(?:0|-?[1-9][0-9]{0,17})$"
_DECIMAL = r"^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?(?:[eE][+-]?[0-9]{1,2})?$"
_ANY_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
_MOST_DIGITS = 15  # a float keeps this many
_COMMA = r"^-?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)(?:,[0-9]+)$|^-?[0-9]+$"
_WORD = "word"
_LARGEST_WHOLE = 10**18


def spell_points(cells: pl.DataFrame, decimal: str) -> pl.DataFrame:
    """Numbers with a decimal comma (1,5 or 1.234,56) as others are spelled; what is none becomes a word.

    With a decimal comma 1.234 could be a thousand or a little more than one, so it is a word, too.
    """
    if decimal != ",":
        return cells
    points = pl.all().str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    words = pl.when(pl.all().is_not_null()).then(pl.lit(_WORD))
    return cells.select(pl.when(pl.all().str.contains(_COMMA)).then(points).otherwise(words))


def type_cells(cells: pl.DataFrame, decimal: str = ".") -> pl.DataFrame:
    """Numbers if every cell of a column is one and no digit is lost, otherwise text."""
    if decimal == ",":
        typed_cells = type_cells(spell_points(cells, decimal))
        return cells.with_columns(column for column in typed_cells if column.dtype.is_numeric())
    filled_names = [name for name, count in cells.count().row(0, named=True).items() if count] if cells.width else []
    whole = _list_matching_columns(cells, filled_names, _fits_whole())
    whole_names = set(whole)
    rest = [name for name in filled_names if name not in whole_names]
    return cells.with_columns(
        pl.col(whole).cast(pl.Int64), pl.col(_list_matching_columns(cells, rest, _fits_decimal())).cast(pl.Float64)
    )


def _fits_whole() -> pl.Expr:
    return pl.all().str.contains(_WHOLE)


def _fits_decimal() -> pl.Expr:
    return pl.all().str.contains(_DECIMAL) & (pl.all().str.count_matches("[0-9]") <= _MOST_DIGITS)


def are_long_numbers(column: pl.Series) -> bool:
    """Whether every cell of a column of text is a number, and some have more digits than are read exactly."""
    cells = column.drop_nulls()
    if column.dtype != pl.String or not len(cells) or not cells.str.contains(_ANY_NUMBER).all():
        return False
    return bool((cells.str.count_matches("[0-9]") > _MOST_DIGITS).any())


def count_spelled_numbers(column: pl.Series) -> int:
    """How many cells of a column of text are numbers, where others are none."""
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return 0
    return int(column.cast(pl.String).str.contains(_ANY_NUMBER).sum())


def describe_words(column: pl.Series, noun: str = "cells") -> str:
    """How many known cells of a column of text are not numbers, if others are; empty if all are, or none."""
    return phrase_words(count_spelled_numbers(column), column.count(), noun)


def phrase_words(number_count: int, cell_count: int, noun: str = "cells") -> str:
    """The same from counts of numbers and of known cells."""
    word_count = cell_count - number_count
    phrase = "is not a number" if word_count == 1 else "are not numbers"
    return f"{word_count} of its {cell_count} {noun} {phrase}" if 0 < word_count < cell_count else ""


def count_words(column: pl.Series, noun: str = "cells") -> str:
    """How many known cells of a column of text are no numbers, or that none is one, or that all look like some."""
    return phrase_all_words(count_spelled_numbers(column), column.count(), noun)


def phrase_all_words(number_count: int, cell_count: int, noun: str = "cells") -> str:
    """The same from counts of numbers and of known cells."""
    if 0 < number_count < cell_count:
        return phrase_words(number_count, cell_count, noun)
    numbers_text = "none is a number" if not number_count else "all look like numbers, and are kept as text"
    return f"of its {cell_count} {noun}, {numbers_text}"


class TypesOfCells:
    """The types that `type_cells` would give to columns of text, learned from some rows at a time."""

    def __init__(self, decimal: str = ".") -> None:
        """Nothing was seen yet."""
        self._decimal = decimal
        self._names: dict[str, None] = {}
        self._filled_names: set[str] = set()
        self._not_whole: set[str] = set()
        self._not_decimal: set[str] = set()

    def observe(self, cells: pl.DataFrame) -> None:
        """Look at more rows."""
        cells = spell_points(cells, self._decimal)
        self._names |= dict.fromkeys(cells.columns)
        self._filled_names |= {name for name, count in cells.count().row(0, named=True).items() if count}
        for excluded_names, condition in ((self._not_whole, _fits_whole()), (self._not_decimal, _fits_decimal())):
            open_names = [name for name in cells.columns if name not in excluded_names]
            excluded_names.update(set(open_names) - set(_list_matching_columns(cells, open_names, condition)))

    def decide(self) -> dict[str, pl.DataType]:
        """The type of each column."""
        return {name: self._decide_column(name) for name in self._names}

    def _decide_column(self, name: str) -> pl.DataType:
        if name not in self._filled_names:
            return pl.String()
        return (
            pl.Int64()
            if name not in self._not_whole
            else (pl.Float64() if name not in self._not_decimal else pl.String())
        )


def respell_numbers(cells: pl.Series, decimal: str = ".") -> pl.Series:
    """Texts of numbers as a table spells numbers: 1.50 as 1.5, and -0 as 0; null for what is not a number."""
    points = spell_points(cells.to_frame(), decimal).to_series()
    fits_whole, fits_decimal = points.to_frame().select(_fits_whole().alias("whole"), _fits_decimal().alias("decimal"))
    numbers = points.set(~fits_decimal, None).cast(pl.Float64, strict=False)
    return points.zip_with(fits_whole, spell_cells(numbers.set(numbers == 0.0, 0.0))).alias(cells.name)


def type_by_content(frame: pl.DataFrame) -> pl.DataFrame:
    """Type columns with missing cells by the remaining cells: a type must not disclose a hidden cell."""
    return retype_columns(frame, [column.name for column in frame.get_columns() if column.null_count()])


def retype_columns(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Type text and numbers of some columns by their cells, as a reader would; no cell is respelled."""
    kinds = frame.schema  # built anew each time it is asked for
    columns = [_retype_column(frame[name]) for name in names if _can_retype(kinds[name])]
    changed_columns = [column for column in columns if column.dtype != kinds[column.name]]
    return (
        frame.with_columns(changed_columns) if changed_columns else frame
    )  # the same frame need not be copied for a release


def _retype_column(column: pl.Series) -> pl.Series:
    """A column of text as numbers, and whole numbers as integers; a column without cells is text."""
    if not column.count():
        return column.cast(pl.String)
    if column.dtype == pl.String:
        typed_column = type_cells(column.to_frame()).to_series()
        is_kept = typed_column.dtype.is_numeric() and spell_cells(typed_column).equals(column, check_names=False)
        return typed_column if is_kept else column
    if not column.dtype.is_float():
        return column
    whole = column.cast(pl.Int64, strict=False)
    is_whole = whole.null_count() == column.null_count() and bool((whole.abs() < _LARGEST_WHOLE).all())
    return whole if is_whole and bool((whole.cast(pl.Float64) == column).all()) else column


def _can_retype(kind: pl.DataType) -> bool:
    return kind.is_numeric() or kind == pl.String


def state_types(
    cells: pl.DataFrame, names: list[str], numbers: Collection[str], integers: Collection[str] = ()
) -> Iterator[pl.Series]:
    """Text, except for the columns that are declared as numbers; whole ones are integers where each cell is one.

    Nothing is lost by that, or the file is refused: who reads "1" and "01" as texts would see two values, and a word
    is no missing number.
    """
    number_names, integer_names = set(numbers), set(integers)
    for column, name in zip(cells.get_columns(), names, strict=True):
        if name not in number_names:
            yield column
            continue
        whole_cells = _read_integers(column) if name in integer_names else None
        typed_cells = column.cast(pl.Float64, strict=False) if whole_cells is None else whole_cells
        if typed_cells.null_count() != column.null_count() or typed_cells.n_unique() != column.n_unique():
            raise DataError(
                f'the column "{name}" is declared as numbers, and its cells are not: some are words, or spell one '
                "number in several ways"
            )
        yield typed_cells


def _read_integers(texts: pl.Series) -> pl.Series | None:
    """Whole numbers with all their digits, which a float holds only up to 2^53; None if some text is not one."""
    for kind in (pl.Int64, pl.UInt64):
        integers = texts.cast(kind, strict=False)
        if integers.null_count() == texts.null_count():
            return integers
    return None


def _list_matching_columns(cells: pl.DataFrame, names: list[str], condition: pl.Expr) -> list[str]:
    """The columns in which every known cell fits; a few rows rule out most columns quickly."""
    for part in (cells.head(64), cells):
        fits = part.select(names).select(condition.all()).row(0, named=True) if names else {}
        names = [name for name, all_fit in fits.items() if all_fit]
    return names
