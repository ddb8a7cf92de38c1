# SPDX-License-Identifier: MIT
"""Where a drafted policy would not do what its custodian expects: several rows of a person, points of trips, and
sequences of which anonymizing leaves little. Notes are sentences without values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sfumato.data.role_proposals import ENOUGH, RoleProposal
from sfumato.data.roles import Role
from sfumato.errors import quote_names
from sfumato.sequences import Sequences

_PLACES = ({"x", "y"}, {"lat", "lon"}, {"lat", "lng"}, {"latitude", "longitude"})
_TIMES = {"t", "time", "timestamp", "datetime", "date"}
_REPEATED = 0.8
"""Fewer different values than this, per row: a person seems to have several rows."""
_LONG, _DIFFERENT = 10, 0.9


def note_several_rows(proposals: Iterable[RoleProposal]) -> Iterator[str]:
    """Models count rows: a person of several rows is hidden among their own."""
    names = [
        proposal.column
        for proposal in proposals
        if proposal.role is Role.IDENTIFYING
        and not proposal.by_counts
        and proposal.distinct >= ENOUGH
        and proposal.distinct_share < _REPEATED
    ]
    if names:
        yield (
            f"Values of {quote_names(names)} repeat. If a person has several rows, k counts rows and not people: make "
            "one row of each person's first."
        )


def note_points(columns: Iterable[str]) -> Iterator[str]:
    """Points of trips look like a table, in which every point is a person of its own."""
    plain = {name.strip().casefold(): name for name in columns}
    places = next((names for names in _PLACES if names <= plain.keys()), None)
    times = _TIMES & plain.keys()
    if places and times:
        shown = quote_names(plain[name] for name in (*sorted(places), *sorted(times)))
        yield (
            f"The rows look like points of trips ({shown}), and here each point counts as a person. To hide whole "
            'trips, give the column of those who moved the name "id", and draft again with --shape points.'
        )


def note_different_sequences(sequences: Sequences) -> Iterator[str]:
    """Long sequences that all differ have nothing in common that could be published of k people."""
    lists = sequences.to_lists()
    steps = sum(map(len, lists)) / max(len(lists), 1)
    different = len({repr(steps_of_one) for steps_of_one in lists}) / max(len(lists), 1)
    if steps >= _LONG and different >= _DIFFERENT:
        yield (
            f"{different:.0%} of the sequences differ from all others, and they have {steps:.0f} steps on average: "
            "anonymizing may leave little of them. Shorter sequences, or fewer different items, keep more."
        )
