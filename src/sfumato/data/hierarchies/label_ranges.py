# SPDX-License-Identifier: MIT
"""Labels that are ranges: of numbers, of moments in time, or of words in alphabetical order.

A range ``[20, 29]`` covers the numbers between its ends, ``[2009-06-30, 2009-07-04]`` the days, and
``[Clerk, Miner]`` the words that a dictionary would list between them, by code point. Both ends are included. Numbers
and moments are compared by their position, anything else by its text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

from sfumato.data.cells.moments_in_text import find_moment_kind, locate_moments, parse_moment

_RANGE = re.compile(r"\[([^\[\],]+), ([^\[\],]+)\]")


def format_text_range(low: str, high: str) -> str | None:
    """A range between two values as they are spelled; None if the spelling of one cannot stand in a range."""
    label = f"[{low}, {high}]"
    return label if parse_ends(label) == (low, high) else None


class RangeTexts(NamedTuple):
    """Both ends of a range, as they are spelt."""

    low: str
    high: str


def parse_ends(label: str) -> RangeTexts | None:
    """The texts of both ends of a range; None for any other label."""
    ends = _RANGE.fullmatch(label)
    return None if ends is None else RangeTexts(ends[1], ends[2])


class RangeEnds(NamedTuple):
    """Both ends of a range, as numbers."""

    low: float
    high: float


def parse_range(label: str) -> RangeEnds | None:
    """The ends of a range of numbers; None for any other label."""
    ends = parse_ends(label)
    if ends is None:
        return None
    try:
        low, high = float(ends.low), float(ends.high)
    except ValueError:
        return None
    return RangeEnds(low, high) if low <= high else None


def parse_moments(label: str) -> RangeEnds | None:
    """The ends of a range in time, as positions; None for any other label."""
    ends = parse_ends(label)
    if ends is None or find_moment_kind(ends.low) != find_moment_kind(ends.high):
        return None
    low, high = parse_moment(ends.low), parse_moment(ends.high)
    return RangeEnds(low, high) if low is not None and high is not None and low <= high else None


def parse_positions(label: str) -> RangeEnds | None:
    """The ends of a range of numbers or moments; None for any other label."""
    return parse_range(label) or parse_moments(label)


def parse_words(label: str) -> RangeTexts | None:
    """The ends of a range of words; None for a range of numbers or moments, and for any other label."""
    ends = parse_ends(label)
    return ends if ends is not None and ends.low < ends.high and parse_positions(label) is None else None


def is_range(label: str) -> bool:
    """Whether a label is a range of any kind."""
    return parse_positions(label) is not None or parse_words(label) is not None


def read_positions(texts: pl.Series) -> pl.Series:
    """Values as numbers or as moments in time, whichever the column holds; null for what is neither."""
    moments = locate_moments(texts) if texts.dtype == pl.String else None
    return texts.cast(pl.Float64, strict=False) if moments is None else moments


def flag_between(texts: pl.Series, label: str) -> pl.Series:
    """Which values lie in a range; none for a label that is no range."""
    if (words := parse_words(label)) is not None:
        return texts.is_between(*words).fill_null(False)
    ends = parse_positions(label)
    if ends is None:
        return pl.repeat(False, len(texts), eager=True)
    return read_positions(texts).is_between(*ends).fill_null(False)
