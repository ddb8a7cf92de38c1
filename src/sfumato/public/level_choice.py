# SPDX-License-Identifier: MIT
"""What a method says about the levels that it published: whether every finer ones were refused."""

from __future__ import annotations

from enum import StrEnum


class LevelChoice(StrEnum):
    """How levels were chosen among those that are safe."""

    FINEST = "finest"
    """One level lower in any column was not safe."""
    SUPPRESSING = "suppressing"
    """Finer levels may have been safe with other rows suppressed, at a higher cost."""
    OTHER = "other"
    """In another way, or there are no levels."""
