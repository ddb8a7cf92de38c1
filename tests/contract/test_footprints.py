# SPDX-License-Identifier: MIT
"""A footprint names what a method touches, and no more: what it names too much keeps other methods out of a policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.protect import METHODS
from sfumato.protect.footprint import Footprint, trace_all_columns
from sfumato.protect.method import KeyedMethod
from sfumato.release import Claim
from sfumato.workflow.policy_parts.method_order import refuse_misfits
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released

TABLES = [
    kind
    for kind in METHODS
    if kind.shape == kind.gives == "table" and not issubclass(kind, (KeyedMethod, sf.Synthesize))
]
parametrize_kinds = pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
CURE = (
    "leave them out, so that other methods of a policy may change them (`trace_columns(self.columns)` names single "
    "columns, `trace_classes` all quasi-identifying ones, `trace_all_columns` every cell: protect/footprint.py)"
)


def take_footprint(result: Made) -> Footprint:
    footprint: Footprint = result.example.subject.footprint(result.data)
    return footprint


def list_words(value: Any) -> Iterator[str]:
    """All texts of arguments, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from list_words([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from list_words(part)


def list_named(claims: tuple[Claim, ...]) -> set[str]:
    """The columns that claims are about, but for those that only say that the rest was kept."""
    return {word for claim in claims if claim.measure != "kept_cells_changed" for word in list_words(claim.arguments)}


def list_other_cells(made: Made, name: str) -> Iterator[pl.Series]:
    """A column with its cells in other rows, and with one value in all rows but the last, which have none."""
    column, size = made.data.frame[name], len(made.data)
    yield column.gather([*range(1, size), 0])
    yield pl.concat([column.gather([0] * (size - 5)), pl.Series(name, [None] * 5, dtype=column.dtype)])


def is_decisive(made: Made, columns: list[pl.Series]) -> bool:
    """Whether other columns or rows are published otherwise, by the same chance, if some columns of the data differ."""
    try:
        other = released(made.example, made.data.replace_frame(made.data.frame.with_columns(columns)))
    except sf.SfumatoError:
        return True
    names = [column.name for column in columns]
    published, published_otherwise = (one.data.frame.drop(names, strict=False) for one in (made.release, other))
    own_rows, other_rows = (np.asarray(release.details.rows) for release in (made.release, other))
    has_other_rows = not made.release.are_rows_drawn and not np.array_equal(own_rows, other_rows)
    return has_other_rows or not published_otherwise.equals(published)


def is_read(result: Made, name: str) -> bool:
    """Whether what is published in other columns depends on a column."""
    return is_decisive(result, [next(list_other_cells(result, name))])


def find_unsaid_reads(made: Made) -> str:
    """A column that decides what is published in other columns, though the footprint does not read it; else empty."""
    unread: list[str] = [name for name in made.data.frame.columns if name not in take_footprint(made).reads]
    for columns in zip(*(list_other_cells(made, name) for name in unread), strict=True):
        if is_decisive(made, list(columns)):
            decisive = [name for name, column in zip(unread, columns, strict=True) if is_decisive(made, [column])]
            return (decisive or unread)[0]
    return ""


@pytest.mark.parametrize("kind", [*TABLES, sf.Synthesize], ids=lambda kind: kind.__name__)
def test_a_footprint_reads_every_column_that_decides_what_is_published(kind: type[sf.Method]) -> None:
    """Else a later method may promise to hide a column that the published cells of others tell."""
    for made in [made for made in make_all(kind) if made.is_table]:
        name = find_unsaid_reads(made)
        if name:
            assert released(made.example, made.data).data.frame.equals(made.release.data.frame), (
                f"{kind.__name__}: two releases of the same data by the same seed differ: draw from (randomness or "
                "Randomness.secure()).generator() alone"
            )
        assert not name, (
            f'{kind.__name__}, example "{made.example.name}": what it publishes in other columns depends on "{name}", '
            "which its `footprint` does not name in `reads`: `trace_columns(self.columns, others)` reads both; with "
            "`replace(footprint, reads=…)` name every column that decides which cell is published, or which rows are"
        )


def test_a_column_that_is_read_unsaid_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(one for one in METHOD_EXAMPLES if one.name == "swap confidential"))
    footprint = take_footprint(made)
    assert find_unsaid_reads(made) == ""
    needed_only = replace(footprint, reads=footprint.changes)
    monkeypatch.setattr(sf.SwapConfidential, "footprint", lambda own, data: needed_only)
    assert find_unsaid_reads(made) in footprint.needs


def test_who_answers_decides_the_answers() -> None:
    """Rows of one person share their draws: a later method cannot hide in which rows the same person is."""
    table = make_once(next(one for one in METHOD_EXAMPLES if one.name == "randomize response")).data
    answers = sf.RandomizeResponse(column="disease", p=0.7, categories="from_data", person=("zip",))
    places = sf.RandomizeResponse(column="zip", p=0.7, categories="from_data")
    refuse_misfits([places, sf.RandomizeResponse(column="disease", p=0.7, categories="from_data")], table)
    with pytest.raises(sf.PolicyError, match="depends on the true"):
        refuse_misfits([answers, places], table)


def find_unsaid_needs(made: Made) -> str:
    """A column that decides what is published, and that an earlier method may change so that claims break; else empty.

    An identifying column may be gone before: whoever reads one needs it.
    """
    footprint, table = take_footprint(made), made.data
    named = list_named(tuple(claim for claim in made.release.claims if claim.needs_original))
    used_columns: list[str] = [name for name in table.frame.columns if name in footprint.reads | named]
    for name in [name for name in used_columns if name not in footprint.needs]:
        if name in footprint.reads & named:
            return name
        try:
            refuse_misfits([sf.RoundNumbers(columns=(name,), step=1), made.example.subject], table)
        except sf.PolicyError:
            continue
        scrambled = table.replace_frame(table.frame.with_columns(next(list_other_cells(made, name))))
        try:
            release = released(made.example, scrambled)
            if name in table.identifying or not all(finding.holds for finding in sf.check(release, table)):
                return name
        except sf.SfumatoError:
            return name
    return ""


@parametrize_kinds
def test_a_footprint_needs_what_its_claims_compare_with(kind: type[sf.Method]) -> None:
    """Else a policy lets an earlier method change the column, and the claims of this one break after all work."""
    for made in [made for made in make_all(kind) if made.is_table]:
        name = find_unsaid_needs(made)
        assert not name, (
            f'{kind.__name__}, example "{made.example.name}": if an earlier method changes "{name}", which its '
            "`footprint` allows, its claims break or it refuses: name the column in `needs`, as `trace_columns` does "
            "with all that it reads"
        )


def test_a_column_that_is_needed_unsaid_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_once(next(one for one in METHOD_EXAMPLES if one.name == "swap confidential"))
    footprint = take_footprint(made)
    assert find_unsaid_needs(made) == ""
    monkeypatch.setattr(sf.SwapConfidential, "footprint", lambda own, data: replace(footprint, needs=frozenset()))
    assert find_unsaid_needs(made) in footprint.needs


def find_idle_changes(releases: list[Made]) -> list[str]:
    """Columns that a footprint says are changed, and that are stated as kept in every example that has them."""
    stated_columns = {
        statement.column
        for result in releases
        for statement in result.release.changes
        if statement.kind is not ChangeKind.KEPT
    }
    idle: set[str] = set()
    for result in releases:
        may_blank = any(change.kind is ChangeKind.BLANKED for change in result.release.changes)
        footprint_columns = (
            set() if may_blank else take_footprint(result).changes & set(result.release.data.frame.columns)
        )
        # What decides other cells could be changed in other data, and which cells are blanked is not known before.
        idle |= {name for name in footprint_columns - stated_columns - idle if not is_read(result, name)}
    return sorted(idle)


def find_idle_needs(releases: list[Made]) -> list[str]:
    """Further columns that a footprint needs or reads, which decide no other cell, and which no claim is about."""
    idle: set[str] = set()
    used: set[str] = set()
    for result in releases:
        footprint = take_footprint(result)
        for name in (footprint.needs | footprint.reads) & set(result.data.frame.columns) - footprint.changes - used:
            is_used = name in list_named(result.release.claims) or is_read(result, name)
            (used if is_used else idle).add(name)
    return sorted(idle - used)


def find_idle_promises(releases: list[Made]) -> list[str]:
    """Columns that a footprint promises something about, and that no claim of any example names."""
    promised = {
        name for result in releases for name in take_footprint(result).promises - take_footprint(result).changes
    }
    return sorted(promised - {name for result in releases for name in list_named(result.release.claims)})


@parametrize_kinds
def test_a_footprint_names_no_more_than_is_touched(kind: type[sf.Method]) -> None:
    releases = [result for result in make_all(kind) if result.is_table]
    idle = find_idle_changes(releases)
    assert not idle, f"{kind.__name__}: its footprint says that it changes {idle}, which no example does: {CURE}"
    idle = find_idle_needs(releases)
    assert not idle, (
        f"{kind.__name__}: its footprint says that it needs or reads {idle}, which decide no cell of another column, "
        f"and which no claim is about: {CURE}"
    )
    idle = find_idle_promises(releases)
    assert not idle, f"{kind.__name__}: its footprint promises something about {idle}, which no claim names: {CURE}"


@parametrize_kinds
def test_a_method_fits_beside_others(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        has_draws = any(change.kind is ChangeKind.DRAWN for change in result.release.changes)
        assert has_draws or not result.example.subject.must_be_alone, (
            f"{kind.__name__} says `must_be_alone`, and is refused beside every other method: leave it out, and "
            "let `footprint` say which columns it changes, needs and reads"
        )


def test_a_footprint_that_is_too_wide_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result, footprint = (
        make_once(next(candidate for candidate in METHOD_EXAMPLES if candidate.name == "round numbers")),
        sf.RoundNumbers.footprint,
    )

    def list_idle() -> list[list[str]]:
        return [find([result]) for find in (find_idle_changes, find_idle_needs, find_idle_promises)]

    assert list_idle() == [[], [], []]
    monkeypatch.setattr(sf.RoundNumbers, "footprint", lambda _, data: trace_all_columns(data))
    assert "disease" in list_idle()[0]
    wide = frozenset({"age", "disease"})
    monkeypatch.setattr(sf.RoundNumbers, "footprint", lambda method, data: replace(footprint(method, data), needs=wide))
    assert list_idle() == [[], ["disease"], []]
    monkeypatch.setattr(
        sf.RoundNumbers, "footprint", lambda method, data: replace(footprint(method, data), promises=wide)
    )
    assert list_idle() == [[], [], ["disease"]]
