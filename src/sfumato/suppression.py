# SPDX-License-Identifier: MIT
"""What a method did with the rows that it suppressed or left out, as stated by the method.

The statement is the custodian's. A certificate tells the kind and, only where everybody can see the rows, their number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SuppressedRows(StrEnum):
    """What is published of suppressed rows."""

    NONE = "none"
    """No row was suppressed, or suppressed rows are not published."""
    TOGETHER = "together"
    """They hold `*` in every quasi-identifying column, and satisfy every model together."""
    APART = "apart"
    """They hold `*` in every quasi-identifying column, no column is sensitive, and models are judged without them."""
    EMPTY = "empty"
    """They hold `*` in every quasi-identifying column, and their sensitive cells are empty."""


_TELLS_LESS = tuple(SuppressedRows)


@dataclass(frozen=True)
class Suppression:
    """What one method did with rows, or several methods of a policy together.

    A method that leaves rows out says so in its footprint (`drops_rows`), and which rows may be gone in
    `explain_left_out`, from its public parameters. If it does nothing else, its footprint changes no column and
    `promises` those that its claims describe; its `loss` is the share of rows that are gone, with words about rows ("of
    rows kept"), and a claim breaks if one of them is published.
    """

    kind: SuppressedRows = SuppressedRows.NONE
    row_count: int = 0
    """How many rows were suppressed, whether they are published or not."""
    starred_count: int = 0
    """How many rows hold `*` in every quasi-identifying column because nothing finer fits them: they count as a class,
    not as suppressed."""
    drops_missing: bool = False
    """Whether rows with a missing quasi-identifying value are left out."""

    def combine(self, second_statement: Suppression) -> Suppression:
        """What two methods in a row did; rows that show least decide what may be said of all of them."""
        return Suppression(
            max(self.kind, second_statement.kind, key=_TELLS_LESS.index),
            self.row_count + second_statement.row_count,
            max(self.starred_count, second_statement.starred_count),
            self.drops_missing or second_statement.drops_missing,
        )


NOTHING_SUPPRESSED = Suppression()
