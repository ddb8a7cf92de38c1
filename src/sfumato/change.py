# SPDX-License-Identifier: MIT
"""What a method did to a column, as stated by the method; other code checks every statement on the written file.

A statement about the kind of change is made from the policy and the released column alone, because it is published; how
many cells differ is measured against the originals and stays with the custodian.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sfumato.change_kinds import ChangeKind
from sfumato.table import Table

__all__ = ["Change", "ChangeKind", "describe_changes", "state_changes"]


@dataclass(frozen=True)
class Change:
    """What one method did to one column."""

    column: str
    kind: ChangeKind
    method: str
    """The tag of the method."""
    level: int | None = None
    """The level of the hierarchy that all cells were generalized to; None if they differ."""
    height: int | None = None
    """The top level of the hierarchy."""
    starred: bool = False
    """Whether suppressed rows hold `*` in it."""
    loss: float | None = None
    """The loss by the method's own measure, 0 to 1: private. None if it states none."""

    @property
    def trivial(self) -> bool:
        """Whether the column is unchanged."""
        return self.kind is ChangeKind.KEPT and not self.starred

    @property
    def makes_stars(self) -> bool:
        """Whether a published `*` may hide another value: else each one stood in the originals."""
        return self.starred or self.kind.makes_stars

    @property
    def is_dropped(self) -> bool:
        """Whether the column is not published."""
        return self.kind is ChangeKind.DROPPED

    def describe(self) -> str:
        """The change in words, for a table of columns."""
        if self.level:
            words = f"level {self.level} of {self.height}"
        else:
            words = self.kind.meaning.words or f"changed by {self.method.replace('_', ' ')}"
        return f"{words}, suppressed rows starred" if self.starred else words


def state_changes(
    method: Any, input_table: Table, published_table: Table, column_kinds: Mapping[str, ChangeKind] | None = None
) -> tuple[Change, ...]:
    """A statement for every column: missing columns were dropped, columns not in `column_kinds` are kept."""
    tag = method.model_dump()["method"]

    kinds = column_kinds or {}
    remaining_columns = published_table.frame.columns
    return (
        *(Change(name, kinds.get(name, ChangeKind.KEPT), tag) for name in remaining_columns),
        *(Change(name, ChangeKind.DROPPED, tag) for name in input_table.frame.columns if name not in remaining_columns),
    )


def describe_changes(changes: Iterable[Change]) -> str:
    """What several methods did to one column, in words."""
    several = [change for change in changes if not change.trivial]
    real_changes = [change for change in several if change.kind is not ChangeKind.KEPT]
    if not real_changes:
        return several[0].describe() if several else ChangeKind.KEPT.meaning.words
    parts = dict.fromkeys(replace(change, starred=False).describe() for change in real_changes)
    stars = ", suppressed rows starred" if any(change.starred for change in several) else ""
    return "; ".join(parts) + stars
