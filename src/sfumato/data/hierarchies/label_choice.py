# SPDX-License-Identifier: MIT
"""The label of several values that a person can read: a set on one line, otherwise a range or a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.label_ranges import format_text_range
from sfumato.data.hierarchies.published_labels import Domain, format_set

LONGEST_SET = 80
"""The most characters of a published set: a line of a screen."""


class LabelChoice(NamedTuple):
    """A label, and how many leaves it covers beyond one."""

    text: str
    lost_count: int


def choose_label(domain: Domain, leaves: Ints, find_group: Callable[[Ints], LabelChoice] | None = None) -> LabelChoice:
    """The set of some leaves if it fits on a line; otherwise what loses least of a range, a group and a star.

    `find_group` gives the lowest label of the hierarchy that covers them all. Dates among other words are never listed.
    """
    text = format_set([domain.spellings[leaf] for leaf in leaves.tolist()])
    has_dates = domain.has_dates and len(leaves) > 1 and bool(domain.date_mask[leaves].any())
    if len(text) <= LONGEST_SET and not has_dates:
        return LabelChoice(text, len(leaves) - 1)
    star = LabelChoice(STAR, max(len(domain.leaves) - 1, 1))
    group = None if find_group is None else find_group(leaves)
    span = choose_range(domain, leaves) if domain.positions is not None or not has_dates else None
    choices = [choice for choice in (span, group, star) if choice is not None]
    return min(choices, key=lambda choice: choice.lost_count)


def find_covering_group(domain: Domain, leaves: Ints) -> LabelChoice:
    """The smallest group of the column's hierarchy that covers some leaves; a star without one."""
    covering_groups = [(len(group), label) for label, group in domain.groups.items() if np.isin(leaves, group).all()]
    count, label = min(covering_groups, default=(len(domain.leaves), STAR))
    return LabelChoice(label, max(count - 1, 1))


def estimate_set_length(values: pl.Series, counts: Ints, rows: int) -> float:
    """About how many characters the set of the values of some random rows has, given how often each value occurs."""
    if not len(values):
        return 0.0
    chances = 1 - (1 - counts / counts.sum()) ** rows
    return float(chances @ (spell_cells(values).str.len_chars().to_numpy() + float(len(", "))))


def choose_range(domain: Domain, leaves: Ints) -> LabelChoice | None:
    """The range between the first and the last of some leaves; None if it cannot be written or has another meaning."""
    if domain.positions is not None:
        leaf_positions = domain.positions[leaves]
        ends = leaves[np.argmin(leaf_positions)], leaves[np.argmax(leaf_positions)]
        covered_count = int(
            ((domain.positions >= leaf_positions.min()) & (domain.positions <= leaf_positions.max())).sum()
        )
    else:
        ranks = domain.word_ranks[leaves]
        ends = leaves[np.argmin(ranks)], leaves[np.argmax(ranks)]
        covered_count = int(ranks.max() - ranks.min()) + 1
    text = format_text_range(domain.spellings[ends[0]], domain.spellings[ends[1]])
    if text is None or text in domain.groups or not domain.reads(text):
        return None
    return LabelChoice(text, covered_count - 1)
