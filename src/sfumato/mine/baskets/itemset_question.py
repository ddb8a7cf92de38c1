# SPDX-License-Identifier: MIT
"""The parameters of a search for itemsets, without the kernels that run it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepCosts:
    """The costs of steps, in tenths of a nanosecond on a common machine; they never change the result."""

    pair: int = 25
    """Meeting two items in a row of a list."""
    list: int = 1500
    """Starting an item's list."""
    word: int = 1
    """Intersecting two words of bitmaps."""
    map: int = 20
    """Intersecting two bitmaps, in addition to their words."""


@dataclass(frozen=True, slots=True)
class ItemsetQuestion:
    """The parameters of a search."""

    least: int
    kind: int
    """0 all, 1 closed, 2 maximal: the kernels' numbers."""
    max_length: int | None
    costs: StepCosts = StepCosts()

    @property
    def folds(self) -> bool:
        """Whether an item in all baskets of a set is added to it without branching; its length must not matter."""
        return self.kind > 0 or self.max_length is None
