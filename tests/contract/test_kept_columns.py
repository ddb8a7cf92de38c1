# SPDX-License-Identifier: MIT
"""What a method does not change stays to the letter: words in any case and script, and what is known about columns."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.releases import Made, make_once, released

TABLES = [example for example in METHOD_EXAMPLES if example.subject.shape == example.subject.gives == "table"]
parametrize_examples = pytest.mark.parametrize("example", TABLES, ids=lambda example: example.name)
ODD_WORD = "  Zürich ÅB, \u00dfx\u0307"
"""Capitals, accents, a comma, spaces before it, and a sign that combines."""


def list_kept_words(result: Made) -> list[str]:
    """Columns of words that a method says it keeps, and that no field of it names."""
    kinds_by_column = {change.column: change.kind for change in result.release.changes}
    method_json = result.example.subject.model_dump_json()
    return [
        name
        for name, kind in kinds_by_column.items()
        if kind is ChangeKind.KEPT and result.data.frame[name].dtype == pl.String and f'"{name}"' not in method_json
    ]


def put_odd_words(result: Made, names: list[str]) -> sf.Table:
    """The data with an odd word in every seventh row of some columns, which their hierarchies do not know."""
    rows = range(0, len(result.data), 7)
    columns = [result.data.frame[name].scatter(list(rows), ODD_WORD) for name in names]
    trees = {name: tree for name, tree in result.data.hierarchies.items() if name not in names}
    table: sf.Table = result.data.replace_frame(result.data.frame.with_columns(columns))
    return replace(table, hierarchies=MappingProxyType(trees))


def find_respelled(example: Example) -> str:
    """A column of kept words that is published in other letters; empty if there is none."""
    result = make_once(example)
    names = [name for name in list_kept_words(result) if result.data.roles[name] != "quasi_identifying"]
    if not names:
        return ""
    data = put_odd_words(result, names)
    try:
        release = released(example, data)
    except sf.SfumatoError:
        return ""  # it names or counts values, which these are not
    originals = Made(example, data, release).originals
    kept_columns = {change.column for change in release.changes if change.kind is ChangeKind.KEPT}
    return next(
        (
            name
            for name in names
            if name in kept_columns and release.data.frame[name].to_list() != originals[name].to_list()
        ),
        "",
    )


@parametrize_examples
def test_kept_words_stay_to_the_letter(example: Example) -> None:
    name = find_respelled(example)
    assert not name, (
        f'{type(example.subject).__name__}: it says that it keeps "{name}", and publishes other letters in it: change '
        "no column but those that it names"
    )


def find_lost_trees(result: Made) -> set[str]:
    """Columns whose hierarchy a release no longer has, though their cells are the originals or labels of them."""
    labelled = {change.column for change in result.release.changes if change.kind.is_truthful}
    return (set(result.data.hierarchies) & set(result.release.data.frame.columns) & labelled) - set(
        result.release.data.hierarchies
    )


@parametrize_examples
def test_hierarchies_stay_with_their_columns(example: Example) -> None:
    lost_trees = find_lost_trees(make_once(example))
    assert not lost_trees, (
        f"{type(example.subject).__name__}: the release has no hierarchy of {sorted(lost_trees)}, by which its "
        "labels are read: make it by `data.replace_frame(frame)`"
    )


def test_other_letters_and_lost_hierarchies_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    example = next(example for example in TABLES if example.name == "round numbers")
    assert find_respelled(example) == ""
    protect = sf.RoundNumbers.protect

    def lower_words(self: sf.RoundNumbers, data: sf.Table, randomness: sf.Randomness | None = None) -> sf.Release:
        release = protect(self, data, randomness)
        words = release.data.frame.with_columns(pl.col(pl.String).str.to_lowercase())
        return replace(release, data=sf.Table.of(words, dict(release.data.roles)))

    monkeypatch.setattr(sf.RoundNumbers, "protect", lower_words)
    assert find_respelled(example) != ""
    result = make_once(example)
    assert find_lost_trees(result) == set()
    assert "zip" in find_lost_trees(result._replace(release=released(example, result.data)))
