# SPDX-License-Identifier: MIT
"""Exact thresholds: a support as a count or a share, a confidence as a fraction.

A float is read as the decimal it is written as (0.8 is 4/5, not the nearest binary number), so that a rule at the
threshold is on the side where a person would put it.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from sfumato.errors import PolicyError

if TYPE_CHECKING:
    from sfumato.release import Release

Support = int | float
MinSupport = Annotated[int, Field(strict=True, ge=1)] | Annotated[float, Field(strict=True, gt=0, le=1)]
"""A support as a field of a method: a count, or a share above 0."""
Confidence = Fraction | float | int


class MiningThresholds(NamedTuple):
    """From where on patterns and rules are mined, as a policy states it."""

    support: Support
    confidence: float | None
    """None if no rules are mined."""


class CrowdThresholds(NamedTuple):
    """What published patterns promise: how few people none describes, and the support from which they are published."""

    k: int
    support: Support


class GapLimits(NamedTuple):
    """How far apart the elements of a pattern may be in a sequence that contains it; None for any distance."""

    max_gap: int | None = None
    window: int | None = None


def compute_least_count(min_support: Support, rows: int) -> int:
    """The smallest frequent number of rows: the count itself, or a share of the rows, rounded up."""
    if isinstance(min_support, bool) or not isinstance(min_support, int | float):
        raise PolicyError("min_support must be a whole number of rows, or a share of them above 0 and at most 1")
    if isinstance(min_support, int):
        if min_support < 1:
            raise PolicyError(f"min_support must be at least 1 row, not {min_support}")
        return min_support
    if not 0 < min_support <= 1:
        raise PolicyError("min_support as a share must be above 0 and at most 1; give a whole number for a count")
    return max(1, ceil(Fraction(repr(min_support)) * rows))


def parse_exact_confidence(confidence: Confidence, name: str = "confidence") -> Fraction:
    """A confidence between 0 and 1 as the fraction it is written as."""
    if isinstance(confidence, bool) or not isinstance(confidence, Fraction | float | int):
        raise PolicyError(f"{name} must be a number above 0 and at most 1")
    if isinstance(confidence, float) and not isfinite(confidence):
        raise PolicyError(f"{name} must be a finite number above 0 and at most 1")
    fraction = Fraction(repr(confidence)) if isinstance(confidence, float) else Fraction(confidence)
    if not 0 < fraction <= 1:
        raise PolicyError(f"{name} must be above 0 and at most 1: it is a share, so 5 % is 0.05")
    return fraction


def find_hiding_thresholds(step: Release) -> MiningThresholds | None:
    """From where on what the method of a step hid would show, as it states; None if it hides no rules or items."""
    method = step.method
    thresholds: MiningThresholds | None = None if method is None else method.find_thresholds(method.describe())
    return thresholds


def find_gap_limits(step: Release) -> GapLimits:
    """Which matches count of the patterns that the method of a step hid, as it states."""
    method = step.method
    limits: GapLimits = GapLimits() if method is None else method.find_gap_limits(method.describe())
    return limits


def find_crowd_thresholds(step: Release) -> CrowdThresholds | None:
    """What the patterns of a step promise, as its method states; None if it publishes none."""
    method = step.method
    thresholds: CrowdThresholds | None = None if method is None else method.find_crowd_thresholds(method.describe())
    return thresholds


def require_hiding_thresholds(step: Release) -> MiningThresholds:
    """From where on what a step hides would show; the step must hide something."""
    thresholds = find_hiding_thresholds(step)
    assert thresholds is not None, "the step hides nothing"
    return thresholds
