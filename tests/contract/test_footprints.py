# SPDX-License-Identifier: MIT
"""A footprint names no more than a method touches: what it names too much keeps other methods out of the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.protect import METHODS
from sfumato.protect.footprint import Footprint, trace_all_columns
from sfumato.protect.method import KeyedMethod
from sfumato.release import Claim
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released

TABLES = [
    kind
    for kind in METHODS
    if kind.shape == kind.gives == "table" and not issubclass(kind, (KeyedMethod, sf.Synthesize))
]
each = pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
CURE = (
    "leave them out, so that other methods of a policy may change them (`trace_columns(self.columns)` names single "
    "columns, `trace_classes` all quasi-identifying ones, `trace_all_columns` every cell: protect/footprint.py)"
)


def take_footprint(made: Made) -> Footprint:
    footprint: Footprint = made.example.subject.footprint(made.data)
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


def is_read(made: Made, name: str) -> bool:
    """Whether what is published in other columns depends on a column."""
    frame = made.data.frame
    turned = made.data.with_frame(frame.with_columns(frame[name].gather([*range(1, len(frame)), 0])))
    try:
        other = released(made.example, turned)
    except sf.SfumatoError:
        return True
    shown = made.release.data.frame.drop(name, strict=False)
    return not other.data.frame.drop(name, strict=False).equals(shown)


def find_idle_changes(releases: list[Made]) -> list[str]:
    """Columns that a footprint says are changed, and that are stated as kept in every example that has them."""
    stated = {one.column for made in releases for one in made.release.changes if one.kind is not ChangeKind.KEPT}
    idle: set[str] = set()
    for made in releases:
        may_blank = any(change.kind is ChangeKind.BLANKED for change in made.release.changes)
        said = set() if may_blank else take_footprint(made).changes & set(made.release.data.frame.columns)
        # What decides other cells could be changed in other data, and which cells are blanked is not known before.
        idle |= {name for name in said - stated - idle if not is_read(made, name)}
    return sorted(idle)


def find_idle_needs(releases: list[Made]) -> list[str]:
    """Further columns that a footprint needs or reads, which decide no other cell, and which no claim is about."""
    idle: set[str] = set()
    used: set[str] = set()
    for made in releases:
        footprint = take_footprint(made)
        for name in (footprint.needs | footprint.reads) & set(made.data.frame.columns) - footprint.changes - used:
            is_used = name in list_named(made.release.claims) or is_read(made, name)
            (used if is_used else idle).add(name)
    return sorted(idle - used)


def find_idle_promises(releases: list[Made]) -> list[str]:
    """Columns that a footprint promises something about, and that no claim of any example names."""
    promised = {name for made in releases for name in take_footprint(made).promises - take_footprint(made).changes}
    return sorted(promised - {name for made in releases for name in list_named(made.release.claims)})


@each
def test_a_footprint_names_no_more_than_is_touched(kind: type[sf.Method]) -> None:
    releases = [made for made in make_all(kind) if made.is_table]
    idle = find_idle_changes(releases)
    assert not idle, f"{kind.__name__}: its footprint says that it changes {idle}, which no example does: {CURE}"
    idle = find_idle_needs(releases)
    assert not idle, (
        f"{kind.__name__}: its footprint says that it needs or reads {idle}, which decide no cell of another column, "
        f"and which no claim is about: {CURE}"
    )
    idle = find_idle_promises(releases)
    assert not idle, f"{kind.__name__}: its footprint promises something about {idle}, which no claim names: {CURE}"


@each
def test_a_method_fits_beside_others(kind: type[sf.Method]) -> None:
    for made in make_all(kind):
        drawn = any(change.kind is ChangeKind.DRAWN for change in made.release.changes)
        assert drawn or not made.example.subject.alone, (
            f"{kind.__name__} says `alone`, and is refused beside every other method of a policy: leave it out, and "
            "let `footprint` say which columns it changes, needs and reads"
        )


def test_a_footprint_that_is_too_wide_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    made, footprint = (
        make_once(next(one for one in METHOD_EXAMPLES if one.name == "round numbers")),
        sf.RoundNumbers.footprint,
    )

    def list_idle() -> list[list[str]]:
        return [find([made]) for find in (find_idle_changes, find_idle_needs, find_idle_promises)]

    assert list_idle() == [[], [], []]
    monkeypatch.setattr(sf.RoundNumbers, "footprint", lambda _, data: trace_all_columns(data))
    assert "disease" in list_idle()[0]
    wide = frozenset({"age", "disease"})
    monkeypatch.setattr(sf.RoundNumbers, "footprint", lambda own, data: replace(footprint(own, data), needs=wide))
    assert list_idle() == [[], ["disease"], []]
    monkeypatch.setattr(sf.RoundNumbers, "footprint", lambda own, data: replace(footprint(own, data), promises=wide))
    assert list_idle() == [[], [], ["disease"]]
