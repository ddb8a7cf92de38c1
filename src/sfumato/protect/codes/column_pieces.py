# SPDX-License-Identifier: MIT
"""Where a column is broken into pieces: at random (ChooseBP), or so that pure pieces are as long as possible.

A value is pure (the paper's monochromatic) if all its rows have one class; a pure piece is a run of pure values of one
class. No split that a decision tree would choose falls inside one (Lemma 2), so its values may be permuted. Bu,
Lakshmanan, Ng and Ramesh (2007), Figures 5 to 7; a leading mixed value starts a piece too, and runs are counted on
distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.public.codes.learner_columns import find_class_ranges

MIXED_CLASS = -1
"""The class of a value whose rows have several."""


@dataclass(frozen=True)
class ValuePieces:
    """Runs of a column's distinct values, in order."""

    starts: Ints
    """The offset of each piece among the distinct values; the first is 0."""
    pure: Flags
    """Whether all rows of a piece have one class."""
    values: int
    """The number of distinct values."""

    @property
    def ends(self) -> Ints:
        """One past the last value of each piece."""
        return np.append(self.starts[1:], self.values)

    @property
    def sizes(self) -> Ints:
        """How many distinct values each piece holds."""
        return self.ends - self.starts


def find_value_classes(places: Ints, classes: Ints, values: int) -> Ints:
    """The class of each distinct value, or `MIXED_CLASS`; `places` are the values of rows, below 0 if missing."""
    low, high = find_class_ranges(places, classes, values)
    return np.where(low == high, low, MIXED_CLASS).astype(np.int64)


class LabelRuns(NamedTuple):
    """Runs of equal labels."""

    starts: Ints
    lengths: Ints


def find_label_runs(labels: Ints) -> LabelRuns:
    """The offset and length of each run of equal labels."""
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1])).astype(np.int64)
    return LabelRuns(starts, np.diff(np.append(starts, len(labels))))


def find_pure_runs(labels: Ints, min_width: int) -> LabelRuns:
    """The longest pure pieces that are wide enough: the offset of each, and its number of values."""
    starts, lengths = find_label_runs(labels)
    wide = (labels[starts] != MIXED_CLASS) & (lengths >= min_width)
    return LabelRuns(starts[wide], lengths[wide])


def choose_bp(labels: Ints, pieces: int, chance: np.random.Generator) -> ValuePieces:
    """Break at values drawn at random; a piece that happens to be pure counts as mixed."""
    values = len(labels)
    breaks = 1 + chance.permutation(values - 1)[: min(pieces, values) - 1]
    starts = np.sort(np.append(0, breaks))
    return ValuePieces(starts.astype(np.int64), np.zeros(len(starts), dtype=bool), values)


def choose_max_mp(labels: Ints, pieces: int, min_width: int, chance: np.random.Generator) -> ValuePieces:
    """Grow pure pieces as far as possible; if they are few, also break the rest at random."""
    begin, length = find_pure_runs(labels, min_width)
    run_edges = np.zeros(len(labels) + 1, dtype=np.int64)
    run_edges[begin] += 1
    run_edges[begin + length] -= 1
    is_pure = np.cumsum(run_edges[:-1]) > 0
    starts = np.unique(np.concatenate(([0], begin, begin + length)))
    starts = starts[starts < len(labels)]
    free = np.setdiff1d(np.flatnonzero(~is_pure), starts)
    missing = min(max(pieces - len(starts), 0), len(free))
    if missing:
        starts = np.sort(np.append(starts, chance.choice(free, size=missing, replace=False)))
    return ValuePieces(starts.astype(np.int64), np.asarray(is_pure[starts]), len(labels))
