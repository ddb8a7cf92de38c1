# SPDX-License-Identifier: MIT
"""People of a file from elsewhere, looked up in a release: which of them are in it, and where, is unknown.

Where published cells cover a person, the attack assumes that one of these rows is theirs. Where cells are noisy,
averaged or moved, every person has a likeliest row, also one who is not in the release: there a guess counts only if
the original behind the row has all the values that are known about the person, and is shared between such originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.attack.anonymity.links import Links, require_in_both
from sfumato.attack.anonymity.strongest_links import LookUp, try_ways
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.release import Release
from sfumato.table import Table


class ExternalLinks(NamedTuple):
    """The rows of each person, how others are looked up in the same way, and how sure a guess is."""

    links: Links
    look_up: LookUp
    odds: Floats
    """How likely it is that a row guessed for each person is theirs."""


def look_up_external(release: Release, row_owners: Table, people: Table, names: Sequence[str]) -> ExternalLinks:
    """Look people up by the rows that cover them, or in the way by which more of them are found on average."""
    ways = try_ways(release, people, names)
    links, look_up = next(ways)
    best = ExternalLinks(links, look_up, np.where(links.counts > 0, 1 / np.maximum(links.counts, 1), 0.0))
    likeness = _Likeness.of(row_owners, people, names)
    for links, look_up in ways:
        odds = likeness.weigh(links)
        if odds.sum() > best.odds.sum() * (1 + 1e-9):
            best = ExternalLinks(links, look_up, odds)
    return best


class _Likeness(NamedTuple):
    """Which originals have the values that are known about each person."""

    of_row: Ints
    """A number for each published row, the same where the originals have the same known values."""
    of_person: Ints
    """The same for each person; −1 for values that no original has."""
    originals: Ints
    """How many originals have the values of each person."""

    @classmethod
    def of(cls, row_owners: Table, people: Table, names: Sequence[str]) -> _Likeness:
        require_in_both(row_owners, people, names)
        own_frame, external_frame = (
            pl.DataFrame([spell_cells(table.frame[name]).alias(name) for name in names])
            for table in (row_owners, people)
        )
        distinct = own_frame.unique(maintain_order=True).with_row_index("\0kind")
        of_row, of_person = (
            frame.join(distinct, on=list(names), how="left", maintain_order="left", nulls_equal=True)["\0kind"]
            .cast(pl.Int64)
            .fill_null(-1)
            .to_numpy()
            for frame in (own_frame, external_frame)
        )
        counts = np.append(np.bincount(of_row, minlength=distinct.height), 0)  # the last is for −1
        return cls(of_row, of_person, counts[of_person])

    def weigh(self, links: Links) -> Floats:
        """How likely a guessed row is each person's own."""
        guesses = links.guess(np.random.default_rng(0))
        is_alike = (guesses >= 0) & (self.originals > 0) & (self.of_row[guesses] == self.of_person)
        return np.asarray(is_alike / np.maximum(self.originals, 1))
