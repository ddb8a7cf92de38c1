# SPDX-License-Identifier: MIT
"""Words that are ranges of numbers, such as `<18`, `18-27`, `65+`: they have the order of their numbers.

Sorted as words, `5-9` comes after `10-14`, and cut from the right as codes, `18-27` and `18-99` are alike. Here
neighbours are grouped two by two. Only ranges that do not overlap are read so: codes such as `12-34` do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from math import inf
from typing import NamedTuple

_SIGN = r"[$€£]?\s?"
_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)\s?(?:%|k|K)?"
_YEARS = r"(?: ?(?:years?|yrs?|y|years old))?"
_PLAIN = re.compile(rf"{_SIGN}{_NUMBER}{_YEARS}")
_CLOSED_BAND = re.compile(
    rf"[\[(]?{_SIGN}{_NUMBER}(?: ?(?:-|–|—|\.\.|to|bis|à|,|<) ?|-){_SIGN}<?{_NUMBER}{_YEARS}[\])]?", re.IGNORECASE
)
_LOW_BAND = re.compile(
    rf"(?:<=?|≤|under|below|less than|up to|unter|bis|moins de) ?{_SIGN}{_NUMBER}{_YEARS}", re.IGNORECASE
)
_HIGH_BAND = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least|from|über|ab|plus de) ?{_SIGN}{_NUMBER}{_YEARS}", re.IGNORECASE
)
_HIGH_BAND_SUFFIX = re.compile(
    rf"{_SIGN}{_NUMBER}{_YEARS} ?(?:\+|and (?:over|older|above|more|up)|or (?:over|older|above|more|up)|plus)",
    re.IGNORECASE,
)


class NumberBand(NamedTuple):
    """The numbers that a word stands for."""

    low: float
    high: float
    first: str
    """The lower end as it is written; empty if it is open."""
    last: str


def parse_number_band(word: str) -> NumberBand | None:
    """The range that a word spells; None for any other word."""
    text = word.strip()
    if closed_match := _CLOSED_BAND.fullmatch(text):
        interval = NumberBand(
            _parse_edge(closed_match[1]), _parse_edge(closed_match[2]), closed_match[1], closed_match[2]
        )
        return interval if interval.low < interval.high else None
    if below_match := _LOW_BAND.fullmatch(text):
        return NumberBand(-inf, _parse_edge(below_match[1]), "", below_match[1])
    if above_match := _HIGH_BAND_SUFFIX.fullmatch(text) or _HIGH_BAND.fullmatch(text):
        return NumberBand(_parse_edge(above_match[1]), inf, above_match[1], "")
    if number := _PLAIN.fullmatch(text):
        return NumberBand(_parse_edge(number[1]), _parse_edge(number[1]), number[1], number[1])
    return None


def order_number_bands(words: Iterable[str]) -> dict[str, NumberBand] | None:
    """Words in the order of their numbers; None unless all are ranges that do not overlap, and not all are numbers."""
    ranges: dict[str, NumberBand] = {}
    for word in words:
        parsed_range = parse_number_band(word)
        if parsed_range is None:
            return None
        ranges[word] = parsed_range
    ordered_ranges = dict(sorted(ranges.items(), key=lambda item: item[1][:2]))
    is_disjoint = all(lower.high <= upper.low for lower, upper in pairwise(ordered_ranges.values()))
    wide = sum(interval.low < interval.high for interval in ordered_ranges.values())
    return ordered_ranges if is_disjoint and wide and len(ordered_ranges) > 2 else None


def group_neighbours(ordered_ranges: dict[str, NumberBand]) -> list[list[str]]:
    """A row for each word: itself, and the group of 2, 4, 8 … neighbours that it is in."""
    words, ranges = list(ordered_ranges), list(ordered_ranges.values())
    rows, size = [[word] for word in words], 2
    while size < len(words):
        for start in range(0, len(words), size):
            part = ranges[start : start + size]
            label = words[start] if len(part) == 1 else _join(part[0], part[-1])
            for row in rows[start : start + size]:
                row.append(label)
        size *= 2
    return rows


def _join(first: NumberBand, last: NumberBand) -> str:
    if not first.first:
        return f"up to {last.last}" if last.last else "any"
    return f"{first.first}-{last.last}" if last.last else f"{first.first} and more"


def _parse_edge(number: str) -> float:
    return float(number.replace(",", ""))
