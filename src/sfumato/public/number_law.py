# SPDX-License-Identifier: MIT
"""What is published of every column whose numbers were moved or cut, whichever way that was done."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field

from sfumato.published_law import PublishedLaw

LawNumber = int | float
"""A number that is whole or not, as it was computed."""


class PublishedRange(NamedTuple):
    """The least and the largest original of a column, in whole numbers if its values are whole."""

    low: LawNumber
    high: LawNumber


class NumberLaw(PublishedLaw):
    """How the numbers of a column were moved or cut."""

    step: LawNumber = Field(default=0, ge=0)
    """What published values are rounded to: 1 for integers and dates, 0 if they are not rounded."""
    confidence: float | None = Field(default=None, gt=0, lt=1)
    """How sure an adversary is of the interval to which a value is known."""
    achieved: float | None = Field(default=None, ge=0)
    """The width of that interval, as a share of the range."""
    domain: Literal["given", "data"] | None = None
    """Whether the range and the cuts were given, or come from the data."""
    range: PublishedRange | None = None
    """The least and the largest original, if that is published."""

    @property
    def privacy_share(self) -> float | None:
        """The least width that is promised of the interval, as a share of the range; None if the law states none."""
        return None
