# SPDX-License-Identifier: MIT
"""What a method did to a column, as stated by the method; other code checks every statement on the written file.

A statement about the kind of change is made from the policy and the released column alone, because it leaves; how many
cells differ is measured against the originals and stays with the custodian.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sfumato.table import Table


class ChangeKind(StrEnum):
    """What happened to the cells of a column."""

    KEPT = "kept"
    GENERALIZED = "generalized"
    RANGES = "ranges"
    ROUNDED = "rounded"
    CAPPED = "capped"
    GROUPED = "grouped"
    MEANS = "means"
    NOISE = "noise"
    INTERVALS = "intervals"
    SWAPPED = "swapped"
    DRAWN = "drawn"
    ANSWERED = "answered"
    BLANKED = "blanked"
    CODED = "coded"
    DROPPED = "dropped"
    OTHER = "other"


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
    def dropped(self) -> bool:
        """Whether the column is not published."""
        return self.kind is ChangeKind.DROPPED

    def describe(self) -> str:
        """The change in words, for a table of columns."""
        if self.kind is ChangeKind.OTHER:
            words = f"changed by {self.method.replace('_', ' ')}"
        elif self.kind is ChangeKind.GENERALIZED and self.level is not None:
            words = f"level {self.level} of {self.height}"
        else:
            words = WORDS[self.kind]
        return f"{words}, suppressed rows starred" if self.starred else words


WORDS = {
    ChangeKind.KEPT: "unchanged",
    ChangeKind.GENERALIZED: "generalized, row by row",
    ChangeKind.RANGES: "ranges or sets of values",
    ChangeKind.ROUNDED: "rounded values",
    ChangeKind.CAPPED: "extremes capped",
    ChangeKind.GROUPED: "rare values under one label",
    ChangeKind.MEANS: "mean, median or mode of a group",
    ChangeKind.NOISE: "noise added",
    ChangeKind.INTERVALS: "midpoints of intervals",
    ChangeKind.SWAPPED: "values may be swapped",
    ChangeKind.DRAWN: "drawn from a model",
    ChangeKind.ANSWERED: "randomized answers",
    ChangeKind.BLANKED: "some cells blanked",
    ChangeKind.CODED: "codes instead of values",
    ChangeKind.DROPPED: "removed",
}


def state_changes(
    method: Any, before: Table, published: Table, changed: Mapping[str, ChangeKind] | None = None
) -> tuple[Change, ...]:
    """A statement for every column: missing columns were dropped, columns not in `changed` are kept."""
    tag = method.model_dump()["method"]

    kinds = changed or {}
    left = published.frame.columns
    return (
        *(Change(name, kinds.get(name, ChangeKind.KEPT), tag) for name in left),
        *(Change(name, ChangeKind.DROPPED, tag) for name in before.frame.columns if name not in left),
    )


def describe_changes(changes: Iterable[Change]) -> str:
    """What several methods did to one column, in words."""
    several = [change for change in changes if not change.trivial]
    changed = [change for change in several if change.kind is not ChangeKind.KEPT]
    if not changed:
        return several[0].describe() if several else WORDS[ChangeKind.KEPT]
    parts = dict.fromkeys(replace(change, starred=False).describe() for change in changed)
    stars = ", suppressed rows starred" if any(change.starred for change in several) else ""
    return "; ".join(parts) + stars
