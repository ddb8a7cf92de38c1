# SPDX-License-Identifier: MIT
"""Cells that may mean "missing" without being empty: words such as "unknown" and numbers such as 9999.

They are noticed, never applied: "none" can be an answer and 99 an age. A mark replaces a cell wherever it stands, so
every column that holds it is counted. The counts are about the custodian's own file and stay with the custodian.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

WORDS = frozenset(
    """
    unknown|unk|unknwn|n/a|n.a.|n.a|na|#n/a|nan|null|nil|none|missing|not available|not known|not stated|not recorded
    not reported|not specified|unspecified|undefined|undisclosed|no answer|no data|no response|refused|dont know
    don't know|not applicable|(null)|<na>|<null>|-|--|---|.|..|...|_|??|???|blank|tbd|unbekannt|keine angabe|k.a.
    inconnu|non renseigne|non renseigné|desconocido|no sabe|sin datos|ns/nc|sconosciuto|non noto|desconhecido|onbekend
    неизвестно|нет данных|未知|不明|1900-01-01|9999-12-31|0000-00-00|01/01/1900|31/12/9999
    """.replace("\n", "|")
    .replace("    ", "")
    .strip("|")
    .split("|")
)
"""In lower case; a cell is compared as a whole."""
NEGATIVE = frozenset({-1, -2, -3, -7, -8, -9, -88, -99, -888, -999, -9999, -99999, -999999})
NINES = frozenset({9, 88, 98, 99, 888, 997, 998, 999, 9998, 9999, 99999, 999999, 9999999, 99999999, 999999999})
MOST_NEGATIVE = 3
"""A column with more different negative numbers holds negative numbers, not marks."""


@dataclass(frozen=True, slots=True)
class MissingMark:
    """A cell that may mean "missing", and how many rows of which columns hold it."""

    mark: str
    rows: Mapping[str, int]


def find_missing_marks(cells: pl.DataFrame, typed_cells: pl.DataFrame) -> tuple[MissingMark, ...]:
    """Marks in a text file, given its cells as text and as typed columns; the most frequent first."""
    marks = {mark for name in cells.columns for mark in _find_marks(cells[name].drop_nulls(), typed_cells[name])}
    counts = {
        mark: {name: count for name in cells.columns if (count := int((cells[name] == mark).sum()))} for mark in marks
    }
    missing_marks = (MissingMark(mark, rows) for mark, rows in counts.items())
    return tuple(sorted(missing_marks, key=lambda mark: (-sum(mark.rows.values()), mark.mark)))


def _find_marks(cells: pl.Series, typed_cells: pl.Series) -> Iterator[str]:
    distinct = cells.unique()
    if not typed_cells.dtype.is_numeric():
        yield from (text for text in distinct if text.strip().casefold() in WORDS)
        return
    suspects = _find_suspects(typed_cells.drop_nulls().unique().cast(pl.Float64).sort())
    if suspects:
        numbers = distinct.cast(pl.Float64, strict=False)
        yield from distinct.filter(numbers.is_in(list(suspects)))


def _find_suspects(numbers: pl.Series) -> set[float]:
    """The few negative numbers of a column that has no others, and a row of nines far above everything else."""
    negative = numbers.filter(numbers < 0).to_list()
    suspects = set(negative) if len(negative) <= MOST_NEGATIVE and NEGATIVE.issuperset(negative) else set()
    other_numbers = [number for number in numbers.to_list()[-4:] if number not in suspects]
    while (
        len(other_numbers) > 1
        and other_numbers[-1] in NINES
        and 2 * _find_largest_below(other_numbers) < other_numbers[-1]
    ):
        suspects.add(other_numbers.pop())
    return suspects if len(suspects) < len(numbers) else set()


def _find_largest_below(numbers: list[float]) -> float:
    """The largest number that does not consist of nines only: 998 and 999 are often two marks."""
    return max((number for number in numbers[:-1] if number not in NINES), default=numbers[0])
