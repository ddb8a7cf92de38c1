# SPDX-License-Identifier: MIT
"""A lower bound on the number of frequent subsequences, computed before a search that might not finish.

If enough sequences hold all of m items n times in a row, every sequence of at most n of these items is frequent. Few
items are held more often than many, so several sets of the most frequent items are tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.arrays import Ints
from sfumato.sequences import Sequences

LONG = 64
"""The mean number of items of a sequence from which this is worth its time; in shorter ones a search soon ends."""
MANY = 10**12
"""Nobody asks how many more there are."""


class PatternBound(NamedTuple):
    """At least this many patterns are frequent, and this many items are in them."""

    patterns: int
    codes: int


def bound_patterns(sequences: Sequences, least: int, max_length: int) -> PatternBound:
    """A number of patterns without limits on gaps that are certainly frequent; 0 for short sequences."""
    best = PatternBound(0, 0)
    if sequences.codes.size < LONG * max(len(sequences), 1) or least > len(sequences):
        return best
    totals = np.bincount(sequences.codes, minlength=len(sequences.items))
    order = np.argsort(-totals, kind="stable")
    members = len(order)
    while members > 1 and best.patterns < MANY:
        length = _find_common_arches(sequences, order[:members], least)
        best = max(best, _bound_words(members, min(length, max_length)))
        members //= 2
    return best


def _find_common_arches(sequences: Sequences, codes: Ints, least: int) -> int:
    """How many times in a row at least `least` sequences hold all of some items."""
    from sfumato.kernels.sequences.arch_counts import count_arches

    is_member = np.zeros(len(sequences.items), dtype=np.bool_)
    is_member[codes] = True
    arches = np.zeros(len(sequences), dtype=np.int64)
    count_arches(sequences.codes, sequences.element_offsets, sequences.offsets, is_member, len(codes), arches)
    return int(np.partition(arches, len(arches) - least)[len(arches) - least])


def _bound_words(letters: int, longest: int) -> PatternBound:
    """The words of at most this many letters."""
    patterns = codes = 0
    for length in range(1, longest + 1):
        patterns += letters**length
        codes += length * letters**length
        if patterns >= MANY:
            break
    return PatternBound(patterns, codes)
