# SPDX-License-Identifier: MIT
"""Columns that a method's fields name, and that a table may not have."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.data.cells.cell_types import are_long_numbers, describe_words
from sfumato.errors import DataError, PolicyError, ask_meant, count_noun, quote_names
from sfumato.table import Table


def list_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """One name or several, as a policy or a certificate has them."""
    return (names,) if isinstance(names, str) else tuple(names)


def list_published_columns(table: Table) -> list[str]:
    """The columns that identify nobody."""
    return [name for name in table.frame.columns if name not in table.identifying]


def refuse_unpublished(table: Table, names: Iterable[str]) -> None:
    """Stop if a method names a column that is absent or identifies people, and ask which one was meant."""
    columns = list_published_columns(table)
    strange = [name for name in dict.fromkeys(names) if name not in columns]
    if strange:
        phrase = "is not a column" if len(strange) == 1 else "are not columns"
        raise PolicyError(
            f"{table.source}: {quote_names(strange)} {phrase} that can be published{ask_meant(strange, columns)}"
        )


def explain_no_numbers(table: Table, name: str, change: str, cure: str) -> DataError:
    """A column that is not numeric: numbers may have been kept as text, so that no digit is lost, or next to a word."""
    if are_long_numbers(table.frame[name]):
        return DataError(
            f'{table.source}: the column "{name}" has numbers of more than 15 digits, which cannot be read exactly and '
            f"stay text, and only numbers can be {change}; write its numbers with at most 15 digits"
        )
    words = describe_words(table.frame[name])
    if words:
        return DataError(
            f'{table.source}: the column "{name}" is text, since {words}, and only numbers can be {change}; correct or '
            "remove these cells"
        )
    return DataError(f'{table.source}: the column "{name}" has no numbers, and only numbers can be {change}; {cure}')


def refuse_infinite(table: Table, name: str, reason: str) -> None:
    """Stop if a column has cells that are infinite or undefined numbers, and say how many and why."""
    column = table.frame[name]
    infinite_count = int((~column.drop_nulls().is_finite()).sum()) if column.dtype.is_float() else 0
    if infinite_count:
        raise DataError(
            f'{table.source}: the column "{name}" has infinite numbers in {count_noun(infinite_count, "row")}, '
            f"{reason}; mark them missing"
        )


def ask_published(table: Table, names: Iterable[str]) -> str:
    """Which published columns were probably meant by names that are none of them; empty if nothing is similar."""
    columns = list_published_columns(table)
    return ask_meant((name for name in names if name not in columns), columns)
