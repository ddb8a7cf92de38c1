# SPDX-License-Identifier: MIT
"""A kind of change says whether cells may be what one person alone had, such as a name: then a verdict looks for names.

It is tried on the examples, and on the same tables with numbers and words instead that nobody shares and no method
makes up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.protect import METHODS
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def give_own_values(table: sf.Table, name: str) -> sf.Table:
    """The table with other values in a column: each person has their own, of nine digits, or of one to nine letters."""
    kind = table.frame[name].dtype
    values = pl.Series(name, draw_numbers(len(table))).cast(kind) if kind.is_numeric() else draw_words(len(table))
    return table.replace_frame(table.frame.with_columns(pl.Series(name, values)))


@cache
def draw_numbers(size: int) -> list[int]:
    return Random(5).sample(range(100_000_000, 900_000_000), size)


@cache
def draw_words(size: int) -> list[str]:
    """Words of one to nine letters, none twice."""
    chance, words = Random(5), dict[str, None]()
    while len(words) < size:
        words["".join(chance.choices("bcdfghklmnprstvz", k=chance.randint(1, 9)))] = None
    return list(words)


def count_own_values(result: Made, name: str) -> int:
    """How many values that one person alone had are published in the column: in whatever row, long ones in a label."""
    before, after = (
        [str(cell) for cell in frame[name] if cell is not None] for frame in (result.data.frame, _show(result))
    )
    unique_values = {value for value, count in Counter(before).items() if count == 1}
    cell_parts = {part for cell in set(after) for part in re.findall(r"\w{9,}", cell)}
    return len(unique_values & {*after, *cell_parts})


def _show(result: Made) -> pl.DataFrame:
    frame: pl.DataFrame = result.release.data.frame
    return frame


def find_false_kind(result: Made, columns: Collection[str]) -> tuple[Change, int] | None:
    """A change that denies that the column publishes originals, and it does; with how many.

    A number that is noise or a code may hit upon one by chance.
    """
    for change in result.release.changes:
        meaning, name = change.kind.meaning, change.column
        if name not in columns or meaning.publishes_originals or name not in _show(result).columns:
            continue
        by_chance = meaning.known_to_nobody and result.data.frame[name].dtype.is_numeric()
        if not by_chance and (count := count_own_values(result, name)):
            return change, count
    return None


def explain_false_kind(result: Made, columns: Collection[str]) -> str:
    """The same as a message with the cure; empty if there is none."""
    false_kind = find_false_kind(result, columns)
    if false_kind is None:
        return ""
    change, count = false_kind
    return (
        f'example "{result.example.name}": {count} values that one person alone had are published in '
        f'"{change.column}", '
        f"and ChangeKind.{change.kind.name} says that none is, so a verdict would not notice names: leave out "
        "`publishes_originals=False` from its line in change_kinds.py, or state another kind"
    )


class Planted(NamedTuple):
    """A release of a table in which everybody has a value of their own in one column."""

    made: Made
    column: str


def try_own_values(kind: type[sf.Method]) -> Iterator[Planted]:
    """Each example with such columns, one at a time and one of each type, where the method takes it."""
    for result in make_all(kind):
        column_sorts = set[tuple[ChangeKind, pl.DataType]]()
        for change in result.release.changes if result.is_table else ():
            name = change.column
            if change.kind.meaning.publishes_originals or name not in result.data.frame.columns:
                continue
            if (sort := (change.kind, result.data.frame[name].dtype)) in column_sorts:
                continue
            column_sorts.add(sort)
            table = give_own_values(result.data, name)
            try:
                yield Planted(Made(result.example, table, released(result.example, table)), name)
            except sf.SfumatoError:
                continue  # categories or a hierarchy lack these values


@parametrize_kinds
def test_a_kind_says_whether_cells_may_be_what_one_person_had(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        wrong = explain_false_kind(result, result.data.frame.columns) if result.is_table else ""
        assert not wrong, f"{kind.__name__}, {wrong}"


@parametrize_kinds
def test_a_kind_says_so_of_any_numbers_and_words(kind: type[sf.Method]) -> None:
    for planted in try_own_values(kind):
        wrong = explain_false_kind(planted.made, [planted.column])
        assert not wrong, f"{kind.__name__}, with values that nobody shares, {wrong}"


def capped_people() -> Made:
    return make_once(next(candidate for candidate in METHOD_EXAMPLES if candidate.name == "top code"))


def test_a_kind_that_denies_originals_is_noticed() -> None:
    result = capped_people()
    (change,) = (statement for statement in result.release.changes if statement.column == "age")
    assert count_own_values(result, "age") == 4 and not explain_false_kind(result, ["age"])
    lax = str.__new__(ChangeKind, "capped")
    lax._name_, lax._value_ = "CAPPED", "capped"
    lax.meaning = ChangeKind.CAPPED.meaning._replace(publishes_originals=False)
    false = result._replace(release=replace(result.release, changes=(replace(change, kind=lax),)))
    wrong = explain_false_kind(false, ["age"])
    assert "4 values" in wrong and "ChangeKind.CAPPED" in wrong


def test_planted_values_are_the_persons_own() -> None:
    result = capped_people()
    for name in ("age", "zip"):
        assert give_own_values(result.data, name).frame[name].is_unique().all()
    table = give_own_values(result.data, "age")
    capped = Made(result.example, table, released(result.example, table))
    assert len(table) // 2 < count_own_values(capped, "age") < len(table)
