# SPDX-License-Identifier: MIT
"""The classes of a stored release of ranges, sets or blanks, which overlap: a person may fit several of them.

Every class is looked at once, with its size, instead of every row. People are looked up as in memory; in a large
release some are drawn, since each is compared with all classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.attack.anonymity.links import Links
from sfumato.attack.anonymity.stored_blanks import count_fitting_classes
from sfumato.change import ChangeKind
from sfumato.engine.aligned_batches import align_batches
from sfumato.engine.stored_rows import RowCounts, StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.release import Release
from sfumato.table import Table

_MOST_PAIRS, _FEWEST_TRIED = 200_000_000, 1_000
_MOST_CLASSES = 1 << 20
"""Of a release with blanks, more classes than that are not listed, but only those that someone fits."""
_DIGITS = 12
_CLASS = "\0class"


def has_overlapping_classes(release: Release) -> bool:
    """Whether columns of a release hold ranges, sets or blanks, of which several may cover a person."""
    return any(
        change.kind is ChangeKind.RANGES
        or (change.kind is ChangeKind.BLANKED and change.column in release.data.quasi_identifying)
        for change in release.changes
    )


class CoveredPeople(NamedTuple):
    """The classes of a release, and people who are looked up among them."""

    published_table: StoredTable
    release: Release
    """A row for each class."""
    sizes: Ints
    """The rows of each class."""
    people: Table
    own_classes: Ints
    """The class of each person."""
    has_all_classes: bool
    """Whether the classes that fit nobody in all columns are among them."""

    @classmethod
    def of(
        cls, release: Release, original: StoredTable, taken_rows: StoredRows | None, secret: str | None = None
    ) -> CoveredPeople:
        """Look up people of the originals; `secret` is a column that an attack guesses."""
        published_table: StoredTable = release.data
        names = published_table.quasi_identifying
        class_counts = _count_classes(release)
        has_all_classes = class_counts is not None
        classes = published_table.rows.estimate_tuples(names) if class_counts is None else len(class_counts.counts)
        most = max(_FEWEST_TRIED, _MOST_PAIRS // max(classes, 1))
        sample = _choose_tried_rows(len(published_table), most)
        original_parts, published_parts = [], []
        begin = 0
        for original_batch, published_batch in align_batches(
            original.rows, published_table.rows, taken_rows, "looking people up"
        ):
            rows = (
                sample[np.searchsorted(sample, begin) : np.searchsorted(sample, begin + published_batch.height)] - begin
            )
            original_parts.append(original_batch.select(names if secret is None else [*names, secret])[rows])
            published_parts.append(published_batch.select(names)[rows])
            begin += published_batch.height
        if class_counts is None:
            class_counts = count_fitting_classes(published_table.rows, pl.concat(original_parts).select(names))
        numbered_classes = class_counts.frame.with_row_index(_CLASS)
        own_classes = pl.concat(published_parts).join(
            numbered_classes, on=list(names), how="left", maintain_order="left", nulls_equal=True
        )
        class_rows = published_table.outline.replace_frame(class_counts.frame)
        class_release = Release(class_rows, None, (), {}, changes=release.changes)
        people = original.outline.replace_frame(pl.concat(original_parts))
        return cls(
            published_table,
            class_release,
            class_counts.counts,
            people,
            own_classes[_CLASS].cast(pl.Int64).to_numpy(),
            has_all_classes,
        )

    def count_rows(self, links: Links) -> Ints:
        """How many rows fit each person."""
        counts = np.zeros(len(self.people), dtype=np.int64)
        for order, start, count in links.parts:
            sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.sizes[order])])
            counts += sums[start + count] - sums[start]
        return counts

    def list_chances(self, links: Links) -> Floats:
        """How likely each person's own row is guessed."""
        return np.asarray(links.contain(self.own_classes) / np.maximum(self.count_rows(links), 1))


def _count_classes(release: Release) -> RowCounts | None:
    """All classes; None if they may be as many as people, which blanks do not prevent."""
    published_table: StoredTable = release.data
    names = published_table.quasi_identifying
    has_blanks = any(change.kind is ChangeKind.BLANKED for change in release.changes)
    if has_blanks and published_table.rows.estimate_tuples(names) > _MOST_CLASSES:
        return None
    return published_table.rows.count_rows(names)


def _choose_tried_rows(count: int, most: int) -> Ints:
    """All rows, or as many as are looked up within seconds, ascending."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
