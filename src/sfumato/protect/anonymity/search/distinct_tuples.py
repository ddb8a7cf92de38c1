# SPDX-License-Identifier: MIT
"""The distinct rows of a table with their counts: all that a search over levels needs, and a fraction of the table.

Another process gets them instead of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.arrays import Codes, Ints
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.protect.anonymity.models.sensitive_values import SensitiveColumn
from sfumato.protect.anonymity.search.grouping import Grouping
from sfumato.table import Missing


@dataclass(frozen=True)
class DistinctTuples:
    """What is left of a grouping without the rows of its table."""

    names: tuple[str, ...]
    hierarchies: tuple[Hierarchy, ...]
    codes: Codes
    """The leaf numbers, one row per column."""
    weights: Ints
    """How many people each distinct row stands for."""
    sensitive: Mapping[str, SensitiveColumn]
    missing: Missing

    @classmethod
    def of(cls, grouping: Grouping) -> DistinctTuples:
        """Those of a grouping that compares with no population."""
        codes, weights = grouping.list_distinct()
        return cls(grouping.names, grouping.hierarchies, codes, weights, grouping.sensitive, grouping.missing)

    def group(self) -> Grouping:
        """A grouping that gives the same classes at every node."""
        grouping = Grouping(self.hierarchies, self.codes, self.missing, weights=self.weights, distinct=True)
        grouping.names, grouping.sensitive = self.names, dict(self.sensitive)
        return grouping
