# SPDX-License-Identifier: MIT
"""Columns of text that look like numbers or dates in a spelling that is not read: their order is lost.

`1.234,56`, `1,234.56`, `€ 12.50` and `12 %` are kept as words, and so is `3/4/1970`, of which nobody can tell the day
from the month. Methods then treat every cell as a word of its own. The custodian is told, by column.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from sfumato.data.cells.cell_types import type_cells
from sfumato.data.cells.moments_in_text import are_moments
from sfumato.errors import quote_names

_TYPICAL = 0.9
_MONEY = r"[$€£¥]"
_NUMBER = rf"^[-+]?(?:{_MONEY} ?)?\d{{1,3}}(?:[.,']?\d{{3}})*(?:[.,]\d+)? ?(?:%|{_MONEY})?$"
_PLAIN = r"^[-+]?\d+(?:\.\d+)?$"
_DAY = r"^\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})(?: \d{1,2}:\d{2}(?::\d{2})?)?$"


_GROUPS = r"^-?[1-9]\d{0,2}(?:,\d{3})+$"


class MisreadColumns(NamedTuple):
    """Columns whose cells are kept as words."""

    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    commas: tuple[str, ...]
    """Numbers with a decimal comma."""

    def explain(self) -> tuple[str, ...]:
        """One sentence for each kind, without a cell."""
        kinds = (
            ("numbers", self.commas, 'set decimal = "," under [data], or type --decimal ,'),
            ("numbers", self.numbers, "write 1234.56, without other signs"),
            (
                "dates",
                self.dates,
                'write 2009-06-30, or state their form: dates = { column = "%d/%m/%Y" } under [data]',
            ),
        )
        return tuple(
            f"{quote_names(names)} {'looks' if len(names) == 1 else 'look'} like {noun} in a spelling that is read as "
            f"words, without an order; {cure}."
            for noun, names, cure in kinds
            if names
        )


def find_misread_columns(frame: pl.DataFrame) -> MisreadColumns:
    """The columns of text in which nine of ten cells look like numbers or dates."""
    texts = [column.drop_nulls() for column in frame.get_columns() if column.dtype == pl.String and column.count()]
    commas = find_decimal_commas(frame)
    return MisreadColumns(
        tuple(c.name for c in texts if _is_typical(c, _NUMBER) and not _is_typical(c, _PLAIN) and c.name not in commas),
        tuple(c.name for c in texts if _is_typical(c, _DAY) and not are_moments(c)),
        commas,
    )


def find_decimal_commas(frame: pl.DataFrame) -> tuple[str, ...]:
    """The columns of text that are numbers if a comma is before the decimals, and that cannot be thousands."""
    names = []
    for column in frame.get_columns():
        known_texts = column.drop_nulls() if column.dtype == pl.String else column.clear()
        if not len(known_texts) or not known_texts.head(100).str.contains(r"^[-\d.]*\d(?:,\d+)?$").all():
            continue
        decimal = type_cells(known_texts.to_frame(), ",").to_series().dtype.is_numeric()
        if decimal and not known_texts.str.contains(rf"{_GROUPS}|^-?\d+$").all():
            names.append(column.name)
    return tuple(names)


def _is_typical(cells: pl.Series, pattern: str) -> bool:
    return int(cells.str.contains(pattern).sum()) >= _TYPICAL * len(cells)
