# SPDX-License-Identifier: MIT
"""Which records disclose their confidential value through their other published columns.

Li and Sarkar (2004), Definition 2. A record is identifiable if all records with its pattern, the values of its
non-confidential columns, have one confidential value: uniquely if it is the only one with its pattern, collectively if
there are several.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.engine.classes import pack_row_keys


@dataclass(frozen=True, eq=False)
class IdentifiableRecords:
    """The sets U and V of the paper, as row numbers."""

    unique: Ints
    """U: the rows that are uniquely identifiable, in order."""
    members: Ints
    """V: the rows that are collectively identifiable, group by group."""
    starts: Ints
    """The offset of each group of V in `members`, and last the end of the last one."""
    rows: int

    @classmethod
    def of(cls, frame: pl.DataFrame, pattern: Sequence[str], codes: Ints, categories: int) -> IdentifiableRecords:
        """Find U and V; `codes` number the confidential values, `categories` represents a missing one.

        A missing confidential value discloses nothing, so its record is in neither set. Next to known ones it is a
        value like any other: which of them is whose is not determined.
        """
        key, _ = pack_row_keys(frame, pattern)
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.concatenate([[True], np.diff(key[order]) != 0]))
        sizes = np.diff(np.append(begins, len(order)))
        sorted_codes = codes[order]
        low, high = np.minimum.reduceat(sorted_codes, begins), np.maximum.reduceat(sorted_codes, begins)
        agreement_mask = (low == high) & (low < categories)
        members = order[np.repeat(agreement_mask & (sizes > 1), sizes)]
        starts = np.concatenate([[0], np.cumsum(sizes[agreement_mask & (sizes > 1)])])
        unique = np.sort(order[begins[agreement_mask & (sizes == 1)]])
        return cls(unique.astype(np.int64), members.astype(np.int64), starts.astype(np.int64), frame.height)

    @property
    def groups(self) -> int:
        """How many groups V has."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """How many rows each group of V has."""
        return np.diff(self.starts)

    @property
    def first(self) -> Ints:
        """One representative row of each group of V."""
        return self.members[self.starts[:-1]]

    def count_by_status(self) -> dict[str, int]:
        """How many records have each status."""
        return {
            "unique": len(self.unique),
            "collective": len(self.members),
            "groups": self.groups,
            "unidentifiable": self.rows - len(self.unique) - len(self.members),
        }
