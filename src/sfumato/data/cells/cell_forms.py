# SPDX-License-Identifier: MIT
"""How the texts of a column are read, decided by some of its cells alone: as numbers, truth values, moments or dates.

A reader decides the form of a column by all of its cells, also by those that a method hides later. Here the cells that
are left decide again, so that the spelling of a release does not tell what a hidden cell was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from sfumato.data.cells.cell_types import respell_numbers, type_cells
from sfumato.data.cells.spelled_dates import find_date_form, read_form
from sfumato.data.hierarchies.hierarchy import spell_cells

_MOMENT = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,9})?$"
_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
_EMPTY_YEAR = 1899
"""The year in which Excel puts times of day."""

Respell = Callable[[pl.Series], pl.Series]
"""Texts as a release spells them; null for what is not of the form."""


@dataclass(frozen=True)
class CellForms:
    """Which forms a source of cells has in addition to text."""

    numbers: bool = True
    """Whether numbers are determined by their cells, and not by the type of the column."""
    decimal: str = "."
    """The sign before the decimals of a number."""
    long_numbers: bool = False
    """Whether cells were stored as floats, whose shortest spelling loses nothing, however many digits it has."""
    truth: bool = False
    """Whether cells may be truth values."""
    moments: bool = False
    """Whether cells may be timestamps, as in a workbook."""

    def find(self, texts: pl.Series) -> CellForm | None:
        """The form of all of these texts; None if they stay as they are."""
        texts = texts.drop_nulls().unique(maintain_order=True)
        if not len(texts):
            return None
        forms = (self._find_numbers(texts), self._find_truth(texts), self._find_moments(texts), _find_dates(texts))
        return next((form for form in forms if form is not None), None)

    def _find_numbers(self, texts: pl.Series) -> CellForm | None:
        if not self.numbers:
            return None
        typed_cells = type_cells(texts.to_frame(), self.decimal).to_series()
        if typed_cells.dtype.is_numeric():
            return CellForm(lambda cells: respell_numbers(cells, self.decimal), None)
        numbers = texts.filter(texts.str.contains(_NUMBER))
        is_exact = self.long_numbers and len(numbers) == len(texts) and not _respell_floats(numbers).null_count()
        return CellForm(_respell_floats, pl.Float64()) if is_exact else None

    def _find_truth(self, texts: pl.Series) -> CellForm | None:
        if not self.truth or _respell_truth(texts).null_count():
            return None
        return CellForm(_respell_truth, pl.Boolean())

    def _find_moments(self, texts: pl.Series) -> CellForm | None:
        if not self.moments or not texts.str.contains(_MOMENT).all():
            return None
        moments = _read_moments(texts)
        if moments.null_count():
            return None
        if (moments == moments.dt.truncate("1d")).all():
            return CellForm(_respell_midnights, pl.Date())
        if (moments.dt.year() == _EMPTY_YEAR).all():
            return CellForm(_respell_times, None)
        return CellForm(lambda cells: _read_moments(cells).cast(pl.String), None)


@dataclass(frozen=True)
class CellForm:
    """How the texts of one column are spelled in a release."""

    respell: Respell
    kind: pl.DataType | None
    """The type of a column of such cells only; None if its spelling tells it."""


def _respell_floats(cells: pl.Series) -> pl.Series:
    """Numbers in the shortest spelling of a float; null for any other spelling."""
    spelled_numbers = spell_cells(cells.cast(pl.Float64, strict=False))
    return cells.set(cells.ne_missing(spelled_numbers), None)


def _respell_truth(cells: pl.Series) -> pl.Series:
    return cells.set(~cells.is_in(["true", "false"]), None)


def _read_moments(cells: pl.Series) -> pl.Series:
    return cells.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="ms")


def _respell_midnights(cells: pl.Series) -> pl.Series:
    moments = _read_moments(cells)
    return moments.set(moments != moments.dt.truncate("1d"), None).dt.date().cast(pl.String)


def _respell_times(cells: pl.Series) -> pl.Series:
    moments = _read_moments(cells)
    return moments.set(moments.dt.year() != _EMPTY_YEAR, None).dt.time().cast(pl.String)


def _find_dates(texts: pl.Series) -> CellForm | None:
    form = find_date_form(texts)
    if form is None:
        return None
    is_date = read_form(texts.head(1), form).dtype == pl.Date
    return CellForm(lambda cells: read_form(cells, form).cast(pl.String), pl.Date() if is_date else None)
