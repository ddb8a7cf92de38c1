# SPDX-License-Identifier: MIT
"""The columns of a partition: the order in which each is cut, and the published labels of its parts.

A *place* is a leaf's position in that order: numbers by size, dates and times by the clock, the leaves of a hierarchy
branch by branch, other values sorted. The place after the last is a missing cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Codes, Floats, Ints
from sfumato.data.cells.unread_dates import flag_dates, has_digits, refuse_unread_dates
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_choice import LONGEST_SET, LabelChoice, choose_label, estimate_set_length
from sfumato.data.hierarchies.published_labels import Domain, format_range
from sfumato.engine.stored_rows import RowCounts
from sfumato.table import Missing, Table

if TYPE_CHECKING:
    from sfumato.kernels.anonymity.partition import PartColumns

Publish = Literal["ranges", "hierarchy"]
LabelKind = Literal["range", "set", "tree"]
_NUMBER_OF_KIND = {"range": 0, "set": 1, "tree": 2}


@dataclass(frozen=True)
class PartLabels:
    """The distinct labels of a column, the label of each part, and how many leaves each label loses."""

    texts: tuple[str | None, ...]
    of_part: Ints
    losses: Ints
    is_changed: bool
    """Whether some cell is published as something other than itself."""


class PlaceGroups(NamedTuple):
    """The groups of places, level after level."""

    codes: Codes
    """The group of each place."""
    losses: Ints
    """How many leaves its label loses."""


@dataclass(frozen=True, eq=False)
class PartitionColumn:
    """One quasi-identifying column, in cutting order."""

    domain: Domain
    hierarchy: Hierarchy | None
    kind: LabelKind
    whole: bool
    """Whether its cells are whole numbers."""
    missing_stays: bool
    """Whether a part without a known cell is published as missing; otherwise as `*`."""
    spans: bool = False
    """Whether sets of its values would often be too long to publish, so that it is cut as the ranges it will have."""

    @classmethod
    def of(
        cls, row_counts: RowCounts, hierarchy: Hierarchy | None, publish: Publish, outline: Table, crowd: int
    ) -> PartitionColumn:
        """Numbers and moments become ranges and others sets, unless the hierarchy's labels are requested.

        Dates of unknown order become the labels of their hierarchy; without one they are refused.
        """
        cells = row_counts.frame.to_series()
        original, counts = cells.drop_nulls(), row_counts.counts[cells.is_not_null().to_numpy()]
        domain = Domain.of(original, hierarchy)
        numeric = original.dtype.is_numeric() and domain.numbers is not None
        kind: LabelKind = "range" if numeric or domain.moments is not None else "set"
        if hierarchy is not None and (publish == "hierarchy" or (kind == "set" and _are_dates(hierarchy))):
            kind = "tree"
        elif kind == "set" and hierarchy is None:
            refuse_unread_dates(original, outline.source)
        spans = kind == "set" and hierarchy is None and estimate_set_length(original, counts, crowd) > LONGEST_SET
        return cls(domain, hierarchy, kind, original.dtype.is_integer(), outline.missing is Missing.OWN_VALUE, spans)

    @property
    def leaves(self) -> int:
        """The number of leaves, which is the place of a missing cell."""
        return len(self.domain.leaves)

    @property
    def scale(self) -> int:
        """The loss of a suppressed cell."""
        return max(self.leaves - 1, 1)

    @cached_property
    def order(self) -> Ints:
        """The leaf at each place."""
        if self.kind == "range":
            assert self.domain.positions is not None
            return np.argsort(self.domain.positions, kind="stable").astype(np.int64)
        if self.hierarchy is None:
            return np.arange(self.leaves, dtype=np.int64)
        return np.lexsort([level.group_of_leaf for level in self.hierarchy.levels]).astype(np.int64)

    def locate_cells(self, cells: pl.Series) -> Codes:
        """The place of every cell."""
        if self.hierarchy is not None:
            codes = self.hierarchy.code_leaves(cells)
        else:
            cell_codes = spell_cells(cells).cast(pl.Enum(self.domain.spellings)).to_physical()
            codes = cell_codes.cast(pl.Int32).fill_null(self.leaves).to_numpy()
        leaf_places = np.empty(self.leaves + 1, dtype=np.int32)
        leaf_places[self.order] = np.arange(self.leaves)
        leaf_places[self.leaves] = self.leaves
        return leaf_places[codes]

    @cached_property
    def groups(self) -> PlaceGroups:
        """For each level the group of each place, and how many leaves the group's label loses."""
        if self.hierarchy is None:
            return PlaceGroups(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
        place_groups = [level.group_of_leaf[self.order] for level in self.hierarchy.levels[1:]]
        group_losses = [
            np.array([self._label_loses(label) for label in level.labels], dtype=np.int64)[groups]
            for level, groups in zip(self.hierarchy.levels[1:], place_groups, strict=True)
        ]
        empty_groups, empty_losses = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        return PlaceGroups(np.concatenate([empty_groups, *place_groups]), np.concatenate([empty_losses, *group_losses]))

    def _label_loses(self, label: str) -> int:
        return self.scale if label == STAR else len(self.domain.groups[label]) - 1

    def label_parts(self, flat: Codes, begins: Ints) -> PartLabels:
        """Publish parts, given the distinct places of each in order, part after part, and the offset of each part."""
        first, last = flat[begins[:-1]], flat[begins[1:] - 1]
        several = np.diff(begins) > 1
        texts: list[str | None] = [*(self.domain.spellings[leaf] for leaf in self.order), None, STAR]
        label_losses = [0] * (self.leaves + 1) + [self.scale]
        missing_mask = last == self.leaves
        stays = missing_mask & ~several & self.missing_stays
        of_part = np.where(stays, self.leaves, np.where(missing_mask, self.leaves + 1, first)).astype(np.int64)
        open_parts = np.flatnonzero(several & ~missing_mask)
        number: dict[bytes, int] = {}
        keys = self._number_label_keys(flat, begins, open_parts)
        for part, key in zip(open_parts.tolist(), keys, strict=True):
            label_number = number.get(key)
            if label_number is None:
                text, loses = self._label(flat[begins[part] : begins[part + 1]])
                label_number = number[key] = len(texts)
                texts.append(text)
                label_losses.append(loses)
            of_part[part] = label_number
        part_labels = PartLabels(
            tuple(texts), of_part, np.array(label_losses, dtype=np.int64), bool((of_part > self.leaves).any())
        )
        return (
            self._read_back(part_labels, flat, begins) if self._is_ambiguous(texts[self.leaves + 2 :]) else part_labels
        )

    def _number_label_keys(self, flat: Codes, begins: Ints, parts: Ints) -> list[bytes]:
        """What distinguishes labels: all values of a set, the two ends of anything else."""
        if self.kind == "set":
            text = flat.tobytes()
            begin, end = (4 * begins[parts]).tolist(), (4 * begins[parts + 1]).tolist()
            return [text[b:e] for b, e in zip(begin, end, strict=True)]
        ends = np.column_stack([flat[begins[parts]], flat[begins[parts + 1] - 1]]).astype(np.int32).tobytes()
        return [ends[b : b + 8] for b in range(0, len(ends), 8)]

    def _label(self, places: Codes) -> tuple[str, int]:
        """The label of several known values, and how many leaves it loses."""
        if self.kind == "range":
            return self._label_range(int(places[0]), int(places[-1]))
        if self.kind == "tree":
            return self._find_common_label(int(places[0]), int(places[-1]))
        leaves = self.order[places]
        exact = self._label_of_leaves.get(np.sort(leaves).tobytes())
        if exact is not None:
            return exact, self._label_loses(exact)
        return choose_label(self.domain, leaves, None if self.hierarchy is None else self._find_group_of_all)

    def _find_group_of_all(self, leaves: Ints) -> LabelChoice:
        """The lowest label of the hierarchy that covers some leaves, wherever they are."""
        assert self.hierarchy is not None
        for level in self.hierarchy.levels[1:]:
            groups = np.unique(level.group_of_leaf[leaves])
            if len(groups) == 1:
                label = level.labels[groups[0]]
                return LabelChoice(label, self._label_loses(label))
        return LabelChoice(STAR, self.scale)

    def _label_range(self, low: int, high: int) -> tuple[str, int]:
        numbers = self._ordered_positions
        covered_count = np.searchsorted(numbers, numbers[high], side="right") - np.searchsorted(numbers, numbers[low])
        if self.domain.moments is not None:
            ends = [self.domain.spellings[self.order[position]] for position in (low, high)]
            return f"[{ends[0]}, {ends[1]}]", int(covered_count) - 1
        if self.whole:  # keep the spelling: a large whole number does not fit a float
            least, most = (int(self.domain.spellings[self.order[position]]) for position in (low, high))
            return format_range(least, most), int(covered_count) - 1
        return format_range(float(numbers[low]), float(numbers[high])), int(covered_count) - 1

    def _find_common_label(self, low: int, high: int) -> tuple[str, int]:
        """The label of the lowest group that holds both ends, and so everything between them."""
        assert self.hierarchy is not None
        for level in self.hierarchy.levels[1:]:
            group = level.group_of_leaf[self.order[low]]
            if group == level.group_of_leaf[self.order[high]]:
                return level.labels[group], self._label_loses(level.labels[group])
        return STAR, self.scale

    @cached_property
    def _ordered_positions(self) -> Floats:
        assert self.domain.positions is not None
        return self.domain.positions[self.order]

    @cached_property
    def _label_of_leaves(self) -> dict[bytes, str]:
        """The label of exactly this set of leaves, if the hierarchy has one."""
        return {
            np.sort(leaves).astype(np.int64).tobytes(): label
            for label, leaves in self.domain.groups.items()
            if label != STAR or len(leaves) == self.leaves  # a `*` always means everything
        }

    def _is_ambiguous(self, texts: Sequence[str | None]) -> bool:
        """Whether some label could be read as another value or group than intended."""
        wide = {label for label, leaves in self.domain.groups.items() if len(leaves) > 1}
        names = {*self.domain.leaves, *self.domain.spellings}
        return not names.isdisjoint(wide) or any(
            text in names or (text in self.domain.groups and self.kind == "range") for text in texts
        )

    def _read_back(self, labels: PartLabels, flat: Codes, begins: Ints) -> PartLabels:
        """Count what each label means to a reader; one that does not cover its values becomes a `*`."""
        texts, label_losses, is_changed = list(labels.texts), labels.losses.copy(), labels.is_changed
        label_numbers, parts = np.unique(labels.of_part, return_index=True)
        for number, part in zip(label_numbers.tolist(), parts.tolist(), strict=True):
            text = texts[number]
            if text is None or text == STAR:
                continue
            covered_leaves = self.domain.list_covered(text)
            if np.isin(self.order[flat[begins[part] : begins[part + 1]]], covered_leaves).all():
                label_losses[number] = len(covered_leaves) - 1
            else:
                texts[number], label_losses[number], is_changed = STAR, self.scale, True
        return PartLabels(tuple(texts), labels.of_part, label_losses, is_changed)


@dataclass(frozen=True, eq=False)
class PartitionColumns:
    """All quasi-identifying columns, and their description for the kernels."""

    columns: tuple[PartitionColumn, ...]

    @classmethod
    def of(
        cls, outline: Table, count_values: Callable[[str], RowCounts], publish: Publish, crowd: int
    ) -> PartitionColumns:
        """The quasi-identifying columns of a table, in its order, for classes of at least `crowd` people."""
        hierarchies = outline.hierarchies
        return cls(
            tuple(
                PartitionColumn.of(
                    # A hierarchy has the values, and does not need their numbers.
                    _count_nothing(outline.frame[name]) if name in hierarchies else count_values(name),
                    hierarchies.get(name),
                    publish,
                    outline,
                    crowd,
                )
                for name in outline.quasi_identifying
            )
        )

    @property
    def widths(self) -> tuple[int, ...]:
        """How many places each column has, with that of a missing cell."""
        return tuple(column.leaves + 1 for column in self.columns)

    def place_cells(self, frame: pl.DataFrame, names: Sequence[str]) -> Codes:
        """The places of all cells of the quasi-identifying columns, one line per row."""
        return np.column_stack([c.locate_cells(frame[n]) for c, n in zip(self.columns, names, strict=True)]).astype(
            np.int32, order="C"
        )

    @cached_property
    def description(self) -> PartColumns:
        """The description for the kernels."""
        from sfumato.kernels.anonymity.partition import PartColumns

        starts = np.cumsum([0, *(len(column.groups.codes) for column in self.columns)])
        lines = [
            (
                _NUMBER_OF_KIND["range" if column.spans else column.kind],
                column.leaves,
                start,
                column.hierarchy.height if column.hierarchy is not None else 0,
                column.missing_stays,
            )
            for column, start in zip(self.columns, starts[:-1], strict=True)
        ]
        place_groups = np.concatenate([column.groups.codes for column in self.columns])
        group_losses = np.concatenate([column.groups.losses for column in self.columns])
        return PartColumns(
            np.array(lines, dtype=np.int64), place_groups.astype(np.int32), group_losses.astype(np.int64)
        )


def _are_dates(hierarchy: Hierarchy) -> bool:
    if not has_digits(hierarchy.leaves[:1]):
        return False
    leaves = pl.Series(hierarchy.leaves, dtype=pl.String)
    return bool(flag_dates(leaves.head(100)).all()) and bool(flag_dates(leaves).all())


def _count_nothing(cells: pl.Series) -> RowCounts:
    """The name and the type of a column, without its values."""
    return RowCounts(cells.clear().to_frame(), np.zeros(0, dtype=np.int64))
