# SPDX-License-Identifier: MIT
"""A claim about several columns is checked in each of them: one column at a time is forged in a true release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.change import Change, ChangeKind
from sfumato.measure import checks
from sfumato.protect import METHODS
from sfumato.release import Claim
from tests.contract.examples import METHOD_EXAMPLES, Example, numbers
from tests.contract.releases import Made, make_all, make_once

each = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
UNBOUND = (ChangeKind.DRAWN, ChangeKind.CODED, ChangeKind.DROPPED, ChangeKind.KEPT)
"""Kinds of which a column may hold anything that a model or a key gives; and those that change nothing."""


def forge_column(made: Made, name: str) -> Iterator[pl.Series]:
    """The column as it was, its cells in other rows, one cell that nobody has, and such cells only."""
    shown, size = made.release.data.frame[name], len(made.release.data)
    if size == len(made.originals):
        yield made.originals[name]
    yield shown.gather([*range(size // 3, size), *range(size // 3)])
    if shown.dtype.is_numeric():
        cells = shown.cast(pl.Float64)
        strange = cells * 7.3 + 1.77
    else:
        cells = shown.cast(pl.String)
        strange = pl.Series(name, [f"nobody's {row}" for row in range(size)], dtype=pl.String)
    yield pl.concat([strange.head(1), cells.tail(-1)])
    yield strange


def breaks(made: Made, claim: Claim, forged: pl.Series) -> bool:
    """Whether the claim's check notices that one column is not the method's."""
    frame = made.release.data.frame
    if forged.to_list() == frame[forged.name].to_list():
        return False
    release = replace(made.release, data=made.release.data.with_frame(frame.with_columns(forged)), claims=(claim,))
    try:
        return not sf.check(release, made.data)[0].holds
    except (sf.SfumatoError, ValueError):  # it stops the release
        return True


def list_named_columns(made: Made, claim: Claim) -> list[tuple[str, ...]]:
    """The columns that a claim is about together, if it names several; with `column` it is about that one."""
    if "column" in claim.arguments:
        return []
    shown = set(made.release.data.frame.columns)
    return [names for names in claim.arguments.values() if isinstance(names, tuple) and len({*names} & shown) > 1]


def find_unread(made: Made, claim: Claim, names: tuple[str, ...]) -> list[str]:
    """The columns that a claim names and its check does not look at, though it looks at others of them."""
    read = [name for name in names if any(breaks(made, claim, forged) for forged in forge_column(made, name))]
    return [name for name in names if name not in read] if read else []  # it is about all but these


def select_claims(kind: type[sf.Method]) -> list[tuple[Made, Claim, tuple[str, ...]]]:
    """For each check of a method, the claim that names the most columns."""
    widest: dict[str, tuple[Made, Claim, tuple[str, ...]]] = {}
    for made in make_all(kind):
        for claim in made.release.claims if made.is_table else ():
            for names in list_named_columns(made, claim):
                if claim.measure not in widest or len(names) > len(widest[claim.measure][2]):
                    widest[claim.measure] = made, claim, names
    return list(widest.values())


@each
def test_a_check_looks_at_every_column_that_its_claim_names(kind: type[sf.Method]) -> None:
    for made, claim, names in select_claims(kind):
        unread = find_unread(made, claim, names)
        assert not unread, (
            f'{kind.__name__}, example "{made.example.name}": the check "{claim.measure}" notices a forged column of '
            f"{[name for name in names if name not in unread]}, and none of {unread}: let it look at every column that "
            "it is given, or leave them out of the claim"
        )


def find_unbound(made: Made, change: Change) -> str:
    """What could be published of a changed column without breaking any claim; empty if nothing."""
    shown, size = made.release.data.frame[change.column], len(made.release.data)
    forgeries = list(forge_column(made, change.column))
    tried = {"the originals": forgeries[0], "cells that nobody has": forgeries[-1]}
    for what, forged in tried.items():
        # What is drawn by chance may look like the originals in half of the rows; a check that reads all rows sees all.
        rows = size if made.example.subject.by_chance else size // 2
        half = pl.concat([shown.head(size - rows).cast(forged.dtype, strict=False), forged.tail(rows)])
        told = what != "the originals" or forged.to_list() != shown.to_list()
        if told and not any(breaks(made, claim, half) for claim in made.release.claims):
            return what
    return ""


@each
def test_every_changed_column_has_claims_that_can_break(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        for change in made.release.changes if made.is_table else ():
            unbound = "" if change.kind in UNBOUND else find_unbound(made, change)
            assert not unbound, (
                f'{kind.__name__}, example "{made.example.name}": it changes "{change.column}", and if {unbound} are '
                "published there, in the last half of the rows, no claim breaks: claim what it does to each column "
                "that it changes, and let the check look at every row"
            )


@each
def test_some_example_names_two_columns(kind: type[sf.Method]) -> None:
    """With one column, nobody sees whether a check looks at the others."""
    tables = [made for made in make_all(kind) if made.is_table]
    for field in kind.model_fields:
        given = [getattr(made.example.subject, field) for made in tables]
        named = [
            value
            for value, made in zip(given, tables, strict=True)
            if isinstance(value, tuple) and value and set(value) <= set(made.release.data.frame.columns)
        ]
        assert not named or any(len(value) > 1 for value in named), (
            f"no example of {kind.__name__} names two columns in `{field}`: add one to tests/contract/examples.py, so "
            "that each column is forged on its own"
        )


ROUNDED = Example("two columns", sf.RoundNumbers(columns=("age", "weight"), step=5), numbers)


def test_a_check_of_the_first_column_alone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(ROUNDED)
    claim = made.release.claims[0]
    assert find_unread(made, claim, ("age", "weight")) == []
    whole = checks.CHECKS[claim.measure]
    lazy = replace(whole, measure=lambda seen, told: whole.measure(seen, {**told, "columns": told["columns"][:1]}))
    monkeypatch.setitem(checks._LOADED, claim.measure, lazy)
    assert find_unread(made, claim, ("age", "weight")) == ["weight"]


def test_a_column_without_a_claim_is_noticed() -> None:
    made = make_once(ROUNDED)
    change = next(change for change in made.release.changes if change.column == "weight")
    assert find_unbound(made, change) == ""
    for measure, unbound in (("numbers_between_steps", "the originals"), ("largest_rounding", "")):
        claims = tuple(claim for claim in made.release.claims if claim.measure != measure)
        assert find_unbound(made._replace(release=replace(made.release, claims=claims)), change) == unbound


def test_examples_have_names_of_their_own() -> None:
    names = [example.name for example in METHOD_EXAMPLES]
    assert len(set(names)) == len(names), "two examples share a name: messages could not tell them apart"
