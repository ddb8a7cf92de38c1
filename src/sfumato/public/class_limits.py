# SPDX-License-Identifier: MIT
"""What a privacy model says about the classes that it refuses: an adversary who knows the model works it out."""

from __future__ import annotations

from typing import NamedTuple


class ClassLimits(NamedTuple):
    """A class is refused if it has fewer rows, fewer values, or a larger share of one value."""

    k: int = 1
    """The smallest number of rows."""
    l: int = 1
    """The smallest number of different values."""
    share: float = 1.0
    """The largest share of one value."""

    def combine(self, other: ClassLimits) -> ClassLimits:
        """The limits of two models together."""
        return ClassLimits(max(self.k, other.k), max(self.l, other.l), min(self.share, other.share))
