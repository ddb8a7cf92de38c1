# SPDX-License-Identifier: MIT
"""A rule that makes cells from their originals is public: attacks read it off the release, and read it right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.change_kinds import CellDifference, LossMeasure
from sfumato.data.cells.recoding_rules import RecodedColumn
from sfumato.protect import METHODS
from tests.contract.examples import Example, people
from tests.contract.releases import Made, make_all, make_once, released

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


class ChangedColumn(NamedTuple):
    """A column that a method says it changed."""

    example: str
    name: str
    kind: ChangeKind
    recoded: RecodedColumn


def list_columns(examples: Iterable[Made]) -> list[ChangedColumn]:
    """The columns of releases in which cells may have other values, with what an outsider sees of them."""
    columns = []
    for result in examples:
        for change in (
            result.release.changes if result.is_table and len(result.originals) == len(result.release.data) else ()
        ):
            if CellDifference.OTHER in change.kind.meaning.differences and change.kind is not ChangeKind.DROPPED:
                published_column, name = result.release.data.frame[change.column], change.column
                recoded = RecodedColumn(published_column, result.originals[name], name in result.release.public)
                columns.append(ChangedColumn(result.example.name, name, change.kind, recoded))
    return columns


def explain_wrong_rule(column: ChangedColumn) -> str:
    """Why attacks cannot see people as the release shows them, with the cure; empty if they can, or chance is in it."""
    read, cells = column.kind.meaning.read_rule, column.recoded.cells
    if read is None or column.recoded.has_law:
        return ""
    line = f"`read_rule` of ChangeKind.{column.kind.name} in change_kinds.py"
    rule = read(column.recoded)
    if rule is None:
        return f"{line} cannot read the rule off it: let it read every column that is stated so, or state another kind"
    wrong = int(rule(column.recoded.known_values).cast(cells.dtype).ne_missing(cells).sum())
    return (
        f"{line} shows {wrong} of {len(cells)} people otherwise than the release does, so attacks would miss them: "
        "repair it, or state the kind whose rule this is"
        if wrong
        else ""
    )


def has_changed(column: ChangedColumn) -> bool:
    """Whether some cells differ from their originals."""
    cells, originals = (part.cast(pl.String) for part in column.recoded[:2])
    return bool(cells.ne_missing(originals).any())


def follows_rule(column: ChangedColumn) -> bool:
    """Whether equal originals are always published as equal cells, and there are equal ones."""
    cells, originals = (part.cast(pl.String) for part in column.recoded[:2])
    pairs = pl.DataFrame({"known": originals, "cell": cells}).unique()
    return pairs.height == pairs["known"].n_unique() < len(cells)


@parametrize_kinds
def test_attacks_read_the_rule_that_made_the_cells(kind: type[sf.Method]) -> None:
    for column in list_columns(make_all(kind)):
        wrong = explain_wrong_rule(column)
        assert not wrong, f'{kind.__name__}, example "{column.example}", column "{column.name}": {wrong}'


def find_unread_rule(columns: Iterable[ChangedColumn]) -> ChangeKind | None:
    """A kind of change without `read_rule` whose cells always follow from their originals, where no key is secret."""
    unread: dict[ChangeKind, list[bool]] = {}
    for column in columns:
        meaning = column.kind.meaning
        by_chance = meaning.known_to_nobody or meaning.loss is LossMeasure.PUBLISHED_LAW
        if meaning.read_rule is None and not by_chance and has_changed(column):
            unread.setdefault(column.kind, []).append(follows_rule(column))
    return next((kind for kind, rules in unread.items() if all(rules)), None)


@parametrize_kinds
def test_a_kind_of_change_by_a_rule_says_how_it_is_read(kind: type[sf.Method]) -> None:
    unread = find_unread_rule(list_columns(make_all(kind)))
    assert unread is None, (
        f"{kind.__name__} states ChangeKind.{unread.name}, and equal originals are always published as equal cells: a "
        "rule makes them, which an adversary reads off the release, and attacks do not. "
        + (
            "State a kind of change that has a `read_rule`, or add one to change_kinds.py"
            if unread is ChangeKind.OTHER
            else f"Give the line of {unread.name} in change_kinds.py a `read_rule`"
        )
    )


ROUNDED = Example("rounded", sf.RoundNumbers(columns="age", step=5), people)


def test_a_rule_that_is_not_read_is_noticed() -> None:
    (column,) = list_columns([make_once(ROUNDED)])
    assert explain_wrong_rule(column) == "" and find_unread_rule([column]) is None
    assert find_unread_rule([column._replace(kind=ChangeKind.OTHER)]) is ChangeKind.OTHER
    capped = explain_wrong_rule(column._replace(kind=ChangeKind.CAPPED))
    assert "`read_rule` of ChangeKind.CAPPED" in capped and "people otherwise" in capped
    words = RecodedColumn(column.recoded.cells.cast(pl.String), column.recoded.known_values, False)
    assert "cannot read" in explain_wrong_rule(column._replace(recoded=words))


def test_what_chance_made_follows_no_rule() -> None:
    (column,) = list_columns([make_once(ROUNDED)])
    turned = column.recoded.cells.gather([*range(1, len(column.recoded.cells)), 0])
    assert follows_rule(column)
    assert not follows_rule(column._replace(recoded=column.recoded._replace(cells=turned)))


def give_numbers(table: sf.Table, name: str) -> sf.Table:
    """The table with whole numbers instead of texts in a column, which then has no hierarchy."""
    frame = table.frame.with_columns((pl.int_range(pl.len()) % 7 + 10_000_000).alias(name))
    return sf.Table.of(
        frame, dict(table.roles), {key: hierarchy for key, hierarchy in table.hierarchies.items() if key != name}
    )


def find_numbers_as_text(result: Made, numbers: str) -> ChangeKind | None:
    """The kind of change, if a rule of it made texts of the numbers of a column."""
    stated_kinds = [change.kind for change in result.release.changes if change.column == numbers]
    is_text = result.release.data.frame[numbers].dtype == pl.String
    return next((kind for kind in stated_kinds if kind.meaning.read_rule and is_text), None)


@parametrize_kinds
def test_a_rule_for_texts_refuses_numbers_or_keeps_them(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for change in result.release.changes if result.is_table else ():
            if change.kind.meaning.read_rule is None or result.data.frame[change.column].dtype != pl.String:
                continue
            table = give_numbers(result.data, change.column)
            try:
                turned = find_numbers_as_text(
                    Made(result.example, table, released(result.example, table)), change.column
                )
            except sf.SfumatoError:
                continue
            assert turned is None, (
                f'{kind.__name__}, example "{result.example.name}": numbers in "{change.column}" are published as '
                "texts: "
                "a column keeps its type, so give numbers back, or refuse them with a DataError"
            )


def test_numbers_that_became_texts_are_noticed() -> None:
    result = make_once(ROUNDED)
    assert find_numbers_as_text(result, "age") is None
    texts = result.release.data.replace_frame(result.release.data.frame.with_columns(pl.col("age").cast(pl.String)))
    turned = result._replace(release=replace(result.release, data=texts))
    assert find_numbers_as_text(turned, "age") is ChangeKind.ROUNDED
