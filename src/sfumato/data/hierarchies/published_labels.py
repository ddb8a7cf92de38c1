# SPDX-License-Identifier: MIT
"""The meaning of a published label: which of a column's original values it covers.

With local recoding one column holds labels of several levels of its hierarchy, closed ranges ``[20, 29]`` (see
`label_ranges`), sets ``{a, b}``, originals and ``*``. Each of them covers some leaves, the original values; every
measure that reads published cells uses this module, so that all read them the same way. A label that is a leaf or a
label of the hierarchy has that meaning, whatever it looks like; otherwise it is read as a range or a set. A missing
cell covers nothing: "not known" is not a value. If somebody's original reads ``*``, a published ``*`` is that value:
methods that write it as the mark of a suppressed cell refuse such a column. A release that was made elsewhere may hold
both; where more cells read so than originals do, measures of losses count each of them as suppressed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.data.cells.coded_cells import encode_cells, encode_narrowly, list_values
from sfumato.data.cells.moments_in_text import locate_moments
from sfumato.data.cells.text_codes import place_texts
from sfumato.data.cells.unread_dates import flag_dates, has_digits
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_cover import ColumnReading, LabelCover
from sfumato.data.hierarchies.label_ranges import parse_moments, parse_range, parse_words
from sfumato.errors import DataError, count_noun

Labels = pl.Series | Sequence[str | None]
Runs = tuple[tuple[int, int], ...]

_MARK = re.compile(r"([\\,{}])")
_ESCAPED_SIGN = re.compile(r"\\([\\,{}])")
_MEMBER = re.compile(r"((?:[^\\,{}]|\\[\\,{}])*)(, |\Z)")


def format_range(low: float, high: float) -> str:
    """Format the numbers from `low` to `high`, both included; a single one as itself."""
    if not low <= high:
        raise DataError("the lower end of a range must come before its higher end; swap them")
    return _spell_number(low) if low == high else f"[{_spell_number(low)}, {_spell_number(high)}]"


def format_set(values: Iterable[str]) -> str:
    """Format a set of values, sorted; a single one as itself."""
    distinct = sorted(set(values))
    if not distinct:
        raise DataError("an empty set of values cannot be published; give at least one")
    return distinct[0] if len(distinct) == 1 else "{" + ", ".join(_MARK.sub(r"\\\1", text) for text in distinct) + "}"


def parse_set(label: str) -> tuple[str, ...] | None:
    """Parse the values of a label that `format_set` made of several; None for any other label."""
    if len(label) < 2 or label[0] != "{" or label[-1] != "}":
        return None
    body = label[1:-1]
    if "\\" not in body and "{" not in body and "}" not in body:
        plain = tuple(body.split(", "))
        return plain if body.count(",") == len(plain) - 1 else None
    members, offset, more = [], 0, True
    while more:
        member_match = _MEMBER.match(body, offset)
        if member_match is None:
            return None
        members.append(_ESCAPED_SIGN.sub(r"\1", member_match[1]))
        offset, more = member_match.end(), bool(member_match[2])
    return tuple(members)


@dataclass
class _ParsedLabels:
    """Parsed labels: ranges by their ends, all others by their runs."""

    runs: list[tuple[int, int, int]] = field(default_factory=list)
    ranges: list[int] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    strange: int = 0

    def add_range(self, number: int, low: float, high: float) -> None:
        self.ranges.append(number)
        self.low.append(low)
        self.high.append(high)


@dataclass(frozen=True, eq=False, repr=False)
class Domain:
    """The leaves of one column: the original values that a published label may cover."""

    leaves: tuple[str, ...]
    """The original values, as a hierarchy spells them."""
    column: str
    """The column's name, for messages."""
    groups: Mapping[str, Ints]
    """The leaves under each label of the hierarchy; none without a hierarchy."""
    spellings: tuple[str, ...]
    """The leaves as cells of the column are spelled."""
    star_is_value: bool = False
    """Whether `*` is a value of the originals, and no suppressed cell."""

    @classmethod
    def of(cls, original: pl.Series, hierarchy: Hierarchy | None = None) -> Domain:
        """The hierarchy's leaves, or the column's own values without a hierarchy, numbers by size."""
        if hierarchy is not None:
            spellings = hierarchy.spell_leaves(original.dtype)
            has_star = STAR in spellings and bool((spell_cells(original) == STAR).any())
            return cls(hierarchy.leaves, original.name, _group_leaves(hierarchy), spellings, has_star)
        leaves = tuple(spell_cells(list_values(original)).to_list())
        numbers = _parse_leaf_numbers(leaves)
        if numbers is not None:
            leaves = tuple(leaves[i] for i in np.argsort(numbers, kind="stable"))
        return cls(leaves, original.name, {}, leaves, STAR in leaves)

    @classmethod
    def of_release(cls, original: pl.Series, published_cells: pl.Series, hierarchy: Hierarchy | None = None) -> Domain:
        """The same; but if more published cells than originals read `*`, some hide another value, and none is one."""
        domain = cls.of(original, hierarchy)
        if domain.star_is_value and _count_stars(published_cells) > _count_stars(original):
            return replace(domain, star_is_value=False)
        return domain

    @cached_property
    def numbers(self) -> Floats | None:
        """The leaves as numbers; None unless every one of them is a number."""
        return _parse_leaf_numbers(self.leaves)

    @cached_property
    def moments(self) -> Floats | None:
        """The leaves as positions in time; None unless every one of them is a moment of one kind."""
        positions = locate_moments(pl.Series(self.leaves, dtype=pl.String)) if self.numbers is None else None
        return None if positions is None else positions.to_numpy()

    @property
    def positions(self) -> Floats | None:
        """The leaves as numbers or as positions in time; None if they have no order but that of their text."""
        return self.moments if self.numbers is None else self.numbers

    @cached_property
    def date_mask(self) -> Flags:
        """Which leaves look like dates."""
        return flag_dates(pl.Series(self.leaves, dtype=pl.String)).to_numpy()

    @cached_property
    def has_dates(self) -> bool:
        """Whether any leaf looks like a date."""
        return has_digits(self.leaves) and bool(self.date_mask.any())

    def list_covered(self, label: str | None) -> Ints:
        """The leaves that a label covers, ascending; none for a missing cell."""
        return np.flatnonzero(self.build_matrix([label])[0]).astype(np.int64)

    def count(self, label: str | None) -> int:
        """How many leaves a label covers."""
        return int(self.cover([label]).counts[0])

    def measure_label_loss(self, label: str | None) -> float:
        """(leaves covered − 1) / (leaves − 1): 0 for an original or a missing cell, 1 for a suppressed one."""
        return float(self.measure_losses([label])[0])

    def measure_losses(self, labels: Labels) -> Floats:
        """`measure_label_loss` of each label."""
        texts = _spell_labels(labels)
        scale = max(len(self.leaves) - 1, 1)
        losses = np.maximum(self.cover(labels).counts - 1, 0) / scale
        if not self.star_is_value:
            losses[[text == STAR for text in texts]] = 1.0
        return losses

    def build_matrix(self, labels: Labels) -> Flags:
        """Labels × leaves: whether the label covers the leaf."""
        return self.cover(labels).build_matrix()

    def cover(self, labels: Labels) -> LabelCover:
        """The leaves that each label covers; an error gives the number of labels that do not belong to this column.

        In a column of numbers a number that is not a leaf, such as a mean, counts as the leaf nearest to it.
        """
        texts = _spell_labels(labels)
        read = self._read(texts, isinstance(labels, pl.Series) and labels.dtype.is_numeric())
        start = np.searchsorted(self._sorted_positions, read.low, side="left")
        stop = np.searchsorted(self._sorted_positions, read.high, side="right")
        strange = read.strange + int((start >= stop).sum())
        if strange:
            raise DataError(
                f'column "{self.column}": {count_noun(strange, "published label is", "published labels are")} neither '
                "a value, nor a label of its hierarchy, nor a range or set of its values; measure against the "
                "originals and hierarchies that the release was made from"
            )
        runs = np.array(read.runs, dtype=np.int64).reshape(-1, 3)
        ranges = np.column_stack([np.array(read.ranges, dtype=np.int64), start, stop])
        label, start, stop = (np.ascontiguousarray(column) for column in np.concatenate([runs, ranges]).T)
        by_label = np.argsort(label, kind="stable")
        return LabelCover(len(texts), self._order, label[by_label], start[by_label], stop[by_label])

    def reads(self, label: str | None) -> bool:
        """Whether a label can be read: a value, a label of the hierarchy, or a range or set of values."""
        if label is None or label in self._known_runs:
            return True
        ends = self._parse_ends(label)
        if ends is None:
            return bool(self._set_runs(label) or self._find_word_runs(label))
        low, high = (
            np.searchsorted(self._sorted_positions, ends[0]),
            np.searchsorted(self._sorted_positions, ends[1], "right"),
        )
        return bool(low < high)

    def code_originals(self, original: pl.Series) -> Ints:
        """The leaf of every original cell; a missing cell gets the number after the last leaf."""
        cells = encode_narrowly(original)
        places = place_texts(spell_cells(cells.values), self.spellings).fill_null(-1).to_numpy(writable=True)
        if original.null_count():
            places[-1] = len(self.leaves)
        codes: Ints = places[cells.codes]
        strange = int((codes < 0).sum())
        if strange:
            raise DataError(
                f'column "{self.column}": {count_noun(strange, "cell is not a leaf", "cells are not leaves")} of its '
                "hierarchy, or of the table it is measured against; add a row for each value to the hierarchy, or "
                "mark them as missing"
            )
        return codes

    def read_exactly(self, original: pl.Series) -> ColumnReading:
        """An original column, in which every cell is a leaf or missing."""
        every = np.arange(len(self.leaves) + 1, dtype=np.int64)
        return ColumnReading(self.code_originals(original), LabelCover(len(every), every, every, every, every + 1))

    def read(self, published_cells: pl.Series, holes: bool) -> ColumnReading:
        """A published column. With `holes`, cells were missing: a label that covers everything may also cover one of
        them."""
        labels = encode_cells(published_cells)
        values = labels.values if published_cells.dtype.is_numeric() else spell_cells(labels.values)
        return ColumnReading(labels.codes, self._add_missing_leaf(values, holes))

    def _add_missing_leaf(self, labels: pl.Series, holes: bool) -> LabelCover:
        """The covers with one more leaf: a missing cell covers it, and so does a label that covers everything."""
        cover = self.cover(labels)
        leaves, texts = len(self.leaves), _spell_labels(labels)
        silent = [i for i, text in enumerate(texts) if text is None or (holes and self.says_nothing(text))]
        label = np.concatenate([cover.label, np.array(silent, dtype=np.int64)])
        by_label = np.argsort(label, kind="stable")
        start = np.concatenate([cover.start, np.full(len(silent), leaves)])[by_label]
        stop = np.concatenate([cover.stop, np.full(len(silent), leaves + 1)])[by_label]
        return LabelCover(len(texts), np.append(cover.order, leaves), label[by_label], start, stop)

    def says_nothing(self, text: str) -> bool:
        """Whether a label covers every value, so that a missing one may have it, too."""
        is_suppressed = text == STAR and not self.star_is_value
        return is_suppressed or (len(self.groups.get(text, ())) == len(self.leaves) and text not in self._leaf_texts)

    @cached_property
    def _leaf_texts(self) -> frozenset[str]:
        return frozenset(self.leaves) | frozenset(self.spellings)

    def _read(self, texts: Sequence[str | None], nearest: bool) -> _ParsedLabels:
        known_runs, read = self._known_runs, _ParsedLabels()
        for number, text in enumerate(texts):
            if text is None:
                continue
            runs = known_runs.get(text)
            if runs is None:
                nearby = nearest and self.numbers is not None
                ends = self._find_nearest_leaf(float(text)) if nearby else self._parse_ends(text)
                if ends is not None:
                    read.add_range(number, *ends)
                    continue
            runs = self._set_runs(text) or self._find_word_runs(text) if runs is None else runs
            if runs is None:
                read.strange += 1
            else:
                read.runs.extend((number, start, stop) for start, stop in runs)
        return read

    @cached_property
    def _order(self) -> Ints:
        if self.positions is not None:
            return np.argsort(self.positions, kind="stable").astype(np.int64)
        return np.arange(len(self.leaves), dtype=np.int64)

    @cached_property
    def _sorted_positions(self) -> Floats:
        return np.zeros(0) if self.positions is None else self.positions[self._order]

    def _parse_ends(self, text: str) -> tuple[float, float] | None:
        """The ends of a range of numbers or moments, if this column has those."""
        if self.numbers is not None:
            return parse_range(text)
        return parse_moments(text) if self.moments is not None else None

    @cached_property
    def _known_runs(self) -> dict[str, Runs]:
        """The runs of every leaf, in both spellings, of the hierarchy's labels and of the suppressed cell."""
        known_runs: dict[str, Runs] = {}
        places = np.argsort(self._order)
        for leaf, spelling, position in zip(self.leaves, self.spellings, places.tolist(), strict=True):
            known_runs[leaf] = known_runs[spelling] = ((position, position + 1),)
        for label, leaves in self.groups.items():
            if label != STAR and (len(leaves) > 1 or label not in known_runs):
                known_runs[label] = _merge_runs((position, position + 1) for position in places[leaves].tolist())
        if not self.star_is_value:
            known_runs[STAR] = ((0, len(self.leaves)),) if self.leaves else ()
        return known_runs

    def _set_runs(self, text: str) -> Runs | None:
        known_runs, members = self._known_runs, parse_set(text)
        if members is None or any(member not in known_runs for member in members):
            return None
        return _merge_runs(run for member in members for run in known_runs[member])

    @cached_property
    def word_order(self) -> Ints:
        """The leaves in the order of a dictionary, for ranges of words."""
        return np.array(sorted(range(len(self.spellings)), key=self.spellings.__getitem__), dtype=np.int64)

    @cached_property
    def word_ranks(self) -> Ints:
        """The place of each leaf in the order of a dictionary."""
        return np.argsort(self.word_order).astype(np.int64)

    @cached_property
    def _sorted_words(self) -> list[str]:
        return [self.spellings[leaf] for leaf in self.word_order.tolist()]

    def _find_word_runs(self, text: str) -> Runs | None:
        """The runs of the words between the ends of a range; None if it is none, or none of them is a leaf."""
        ends = parse_words(text) if self.positions is None else None
        if ends is None:
            return None
        words = self._sorted_words
        range_leaves = self.word_order[bisect_left(words, ends[0]) : bisect_right(words, ends[1])]
        places = np.argsort(self._order)[range_leaves].tolist()
        return _merge_runs((position, position + 1) for position in places) or None

    def _find_nearest_leaf(self, number: float) -> tuple[float, float]:
        numbers = self._sorted_positions
        index_above = min(bisect_left(numbers, number), len(numbers) - 1)
        index_below = max(index_above - 1, 0)
        nearest_number = float(
            numbers[index_below]
            if number - numbers[index_below] <= numbers[index_above] - number
            else numbers[index_above]
        )
        return nearest_number, nearest_number

    def __repr__(self) -> str:
        """Counts only: leaves are values of the data."""
        return f"Domain({self.column}: {len(self.leaves)} leaves)"


def _count_stars(cells: pl.Series) -> int:
    return int((spell_cells(cells) == STAR).sum())


def _merge_runs(runs: Iterable[tuple[int, int]]) -> Runs:
    """The same positions in runs that neither overlap nor touch."""
    merged_runs: list[tuple[int, int]] = []
    for start, stop in sorted(runs):
        if merged_runs and start <= merged_runs[-1][1]:
            merged_runs[-1] = (merged_runs[-1][0], max(stop, merged_runs[-1][1]))
        else:
            merged_runs.append((start, stop))
    return tuple(merged_runs)


def _group_leaves(hierarchy: Hierarchy) -> dict[str, Ints]:
    """The leaves under each label; a label used at several levels means its widest group."""
    groups: dict[str, Ints] = {}
    for level in hierarchy.levels:
        by_group = np.argsort(level.group_of_leaf, kind="stable").astype(np.int64)
        parts = np.split(by_group, np.cumsum(level.leaves_under)[:-1])
        for label, leaves in zip(level.labels, parts, strict=True):
            if len(leaves) > len(groups.get(label, ())):
                groups[label] = leaves
    return groups


def _spell_labels(labels: Labels) -> Sequence[str | None]:
    if not isinstance(labels, pl.Series):
        return labels
    return list(spell_cells(labels).to_list())


def _parse_leaf_numbers(leaves: Sequence[str]) -> Floats | None:
    numbers = pl.Series(leaves, dtype=pl.String).cast(pl.Float64, strict=False)
    return numbers.to_numpy() if len(leaves) and bool(numbers.is_finite().fill_null(False).all()) else None


def _spell_number(number: float) -> str:
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**63:
        return str(int(number))
    text = str(number)
    # Very small and very large floats are spelled as polars spells them, so that a single value reads back as a leaf.
    return text if "e" not in text else str(spell_cells(pl.Series([float(number)]))[0])
