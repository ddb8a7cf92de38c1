# SPDX-License-Identifier: MIT
"""Look people up in a release by what its cells cover: labels of a hierarchy, ranges, sets, the values themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints, Places
from sfumato.attack.anonymity.covering import find_covering_rows
from sfumato.attack.anonymity.equal_rows import group_equal_rows
from sfumato.attack.anonymity.likelihood import price_nearness
from sfumato.attack.anonymity.matched_keys import MatchedRows, match_keys, shorten_part
from sfumato.attack.anonymity.row_search import RowSearch, expand_ranges
from sfumato.data.cells.coded_cells import NarrowCells, encode_narrowly
from sfumato.data.cells.moments_in_text import are_moments
from sfumato.data.hierarchies.hierarchy import STAR, Hierarchy, spell_cells
from sfumato.data.hierarchies.label_ranges import is_range
from sfumato.data.hierarchies.published_labels import parse_set
from sfumato.errors import DataError, quote_names
from sfumato.table import Missing, Table

_ANY_VALUE, _MISSING = -1, -2
_MANY = 32
_LARGEST_KEY = 1 << 62
_TIE = 1e-9


@dataclass(frozen=True)
class Links:
    """For every person looked up, the published rows that fit."""

    parts: tuple[MatchedRows, ...]
    """For each way of generalizing: published rows in order, and which of them are each person's."""
    counts: Ints
    """How many rows fit each person."""

    def get_rows(self, person: int) -> Places:
        """The published rows that fit one person."""
        row_lists = [order[start[person] : start[person] + count[person]] for order, start, count in self.parts]
        return np.sort(np.concatenate(row_lists)) if row_lists else np.zeros(0, dtype=np.int64)

    def guess(self, chance: np.random.Generator) -> Ints:
        """One of the fitting rows for every person, each as likely; −1 where none fits."""
        remaining_offsets = (chance.random(len(self.counts)) * self.counts).astype(np.int64)
        guesses = np.full(len(self.counts), -1, dtype=np.int64)
        for order, start, count in self.parts:
            part_mask = (remaining_offsets >= 0) & (remaining_offsets < count)
            guesses[part_mask] = order[start[part_mask] + remaining_offsets[part_mask]]
            remaining_offsets = np.where(part_mask, -1, remaining_offsets - count)
        return guesses

    def contain(self, rows: Ints) -> Flags:
        """Whether a row, one for each person, is among the rows that fit them."""
        found_mask = np.zeros(len(rows), dtype=np.bool_)
        for order, start, count in self.parts:
            places = _find_only_places(order, int(rows.max(initial=-1)) + 1)
            if places is not None:
                positions = places[rows]
                found_mask |= (start <= positions) & (positions < start + count)
                continue
            # Two people's rows are the same list or lists apart, so a place in the order belongs to one list or none.
            begins, first = np.unique(np.where(count > 0, start, -1), return_index=True)
            lengths = np.where(begins >= 0, count[first], 0)
            width = max(int(order.max(initial=0)), int(rows.max(initial=0))) + 1
            keys = np.repeat(np.arange(len(begins)), lengths) * width + order[expand_ranges(begins, lengths)]
            found_mask |= (count > 0) & np.isin(np.searchsorted(begins, start) * width + rows, keys)
        return found_mask

    def count_expected_hits(self, own_rows: Ints | None = None) -> float:
        """How many people's own rows are guessed on average; if none are given, the first person's is the first row."""
        is_found = self.contain(np.arange(len(self.counts)) if own_rows is None else own_rows)
        return float((is_found / np.maximum(self.counts, 1)).sum())

    def keep_cheapest(self, costs: Floats) -> Links:
        """Of each person's rows only those of least cost."""
        lists = [_CheapestLinks.of(part, costs) for part in self.parts]
        least = np.min([rows.least for rows in lists], axis=0) if lists else np.zeros(0)
        parts = tuple(
            shorten_part(MatchedRows(r.order, r.start, np.where(r.least <= least + _TIE, r.size, 0))) for r in lists
        )
        return Links(parts, np.sum([part.counts for part in parts], axis=0) if parts else self.counts)

    def fill_from(self, other_links: Links) -> Links:
        """These rows; for people without any, those of another search."""
        rest = np.where(self.counts == 0, other_links.counts, 0)
        parts = [part._replace(counts=np.where(self.counts == 0, part.counts, 0)) for part in other_links.parts]
        return Links((*self.parts, *parts), self.counts + rest)


def _find_only_places(order: Places, size: int) -> Places | None:
    """Where each row stands in an order, −1 if nowhere; None if a row occurs twice."""
    places = np.full(max(size, int(order.max(initial=-1)) + 1), -1, dtype=order.dtype)
    places[order] = np.arange(len(order))
    return places if np.count_nonzero(places >= 0) == len(order) else None


class _CheapestLinks(NamedTuple):
    """Of one part of the links, the cheapest rows of each list."""

    order: Places
    start: Places
    size: Places
    least: Floats
    """The cost of each person's rows; infinite for none."""

    @classmethod
    def of(cls, part: MatchedRows, costs: Floats) -> _CheapestLinks:
        order, start, count = part
        begins, first, number = np.unique(np.where(count > 0, start, -1), return_index=True, return_inverse=True)
        lengths = np.where(begins >= 0, count[first], 0)
        rows = order[expand_ranges(begins, lengths)]
        of_list = np.repeat(np.arange(len(begins)), lengths)
        least = np.full(len(begins), np.inf)
        np.minimum.at(least, of_list, costs[rows])
        is_kept = costs[rows] <= least[of_list] + _TIE
        sizes = np.bincount(of_list[is_kept], minlength=len(begins))
        starts = np.cumsum(sizes) - sizes
        return cls(rows[is_kept], starts[number], sizes[number], least[number])


def find_links(published_table: Table, people: Table, columns: Sequence[str]) -> Links:
    """The published rows that each person's values fall under, in the columns the adversary knows."""
    require_in_both(published_table, people, columns)
    shapes = {name: _CoveredValues.of(published_table, name) for name in columns}
    known_cells, cells = _spell_table(people, columns), _spell_table(published_table, columns)
    parts: list[MatchedRows] = []
    counts = np.zeros(len(people), dtype=np.int64)
    hidden_mask = _flag_hidden_rows(cells, len(published_table))
    starred_rows, plain = np.flatnonzero(hidden_mask), np.flatnonzero(~hidden_mask)
    signatures = _split_by_levels(cells, plain, shapes)
    if signatures is None:
        parts.append(find_covering_rows(_spell_known_cells(cells, columns), plain, people, columns, published_table))
        counts = counts + parts[0].counts
    else:
        for signature, rows in signatures:
            part_rows = plain if rows is None else plain[rows]
            part = _join_at_levels(cells, part_rows, known_cells, shapes, signature, published_table.missing)
            parts.append(shorten_part(part))
            counts += part.counts
    if not counts.any() and _are_all_numbers(published_table, people, columns):
        parts = [RowSearch(published_table, dict.fromkeys(columns, price_nearness)).find_rows(people)]
        counts = parts[0].counts.astype(np.int64)
    if len(starred_rows):  # only for those whom nothing else fits
        part = MatchedRows(
            starred_rows, np.zeros(len(people), dtype=np.int64), np.where(counts == 0, len(starred_rows), 0)
        )
        parts.append(shorten_part(part))
        counts = counts + part.counts
    return Links(tuple(parts), counts)


def match_equal(published_table: Table, people: Table, columns: Sequence[str]) -> Links:
    """The rows whose cells are the person's own values, and the missing ones too: before any that may be."""
    shapes = {name: _CoveredValues.of(published_table, name) for name in columns}
    known_cells, cells = _spell_table(people, columns), _spell_table(published_table, columns)
    sought_keys, keys = _number_keys(known_cells, cells, shapes, dict.fromkeys(columns, 0))
    if published_table.missing is Missing.NEVER_MATCHES:
        for name in columns:
            sought_keys[people.frame[name].is_null().to_numpy()] = -1
    part = match_keys(sought_keys, keys, np.arange(len(published_table)))
    return Links((shorten_part(part),), part.counts.astype(np.int64))


def require_in_both(published_table: Table, people: Table, columns: Sequence[str]) -> None:
    """Refuse columns that the adversary cannot compare."""
    absent = [name for name in columns if name not in published_table.frame.columns or name not in people.frame.columns]
    if absent:
        raise DataError(f"linking: the column {quote_names(absent)} is not in both tables")


def _are_all_numbers(published_table: Table, people: Table, columns: Sequence[str]) -> bool:
    """Whether values can be compared by size, or by how far they lie apart in time, and none is missing."""
    cells = [table.frame[name] for table in (published_table, people) for name in columns]
    if any(column.null_count() for column in cells):
        return False
    return all(column.dtype.is_numeric() or are_moments(spell_cells(column)) for column in cells)


@dataclass(frozen=True)
class _CoveredValues:
    """What the labels of one published column cover."""

    name: str
    hierarchy: Hierarchy | None
    level_of: dict[str, int]

    @classmethod
    def of(cls, published_table: Table, name: str) -> _CoveredValues:
        hierarchy = published_table.hierarchies.get(name)
        levels: dict[str, tuple[int, int]] = {}
        for number, level in enumerate(hierarchy.levels if hierarchy else ()):
            for label, count in zip(level.labels, level.leaves_under.tolist(), strict=True):
                # A label that stands at several levels may mean any of them: the widest covers all.
                levels[label] = max(levels.get(label, (0, 0)), (count, number))
        return cls(name, hierarchy, {label: level for label, (_, level) in levels.items()})

    def has_composite_labels(self, labels: pl.Series) -> bool:
        """Whether some labels are neither leaves nor labels of the hierarchy, but made of several values."""
        other_labels = (label for label in labels.drop_nulls().to_list() if label not in self.level_of)
        return any(is_range(label) or parse_set(label) is not None for label in other_labels)

    def find_levels(self, labels: pl.Series) -> Ints:
        """The level of each label; `_ANY_VALUE` for `*`, `_MISSING` for a null."""
        level_of = {**self.level_of, STAR: _ANY_VALUE}
        numbers = [_MISSING if label is None else level_of.get(label, 0) for label in labels.to_list()]
        return np.array(numbers, dtype=np.int64)

    def generalize_known(self, known_values: pl.Series, level: int) -> pl.Series:
        """What known values look like once generalized to a level; unknown to the hierarchy, they stay."""
        if self.hierarchy is None or level == 0:
            return known_values
        ancestors = {row[0]: row[level] for row in self.hierarchy.rows}
        top = self.hierarchy.levels[level].labels[0] if self.hierarchy.swallows_missing(level) else None
        labels = known_values.replace_strict(
            list(ancestors), list(ancestors.values()), default=known_values, return_dtype=pl.String
        )
        return labels if top is None else labels.fill_null(top)


_Cells = dict[str, NarrowCells]
"""The columns of a table as numbers, their values as they are spelt."""


def _spell_table(table: Table, columns: Sequence[str]) -> _Cells:
    coded_columns = {name: encode_narrowly(table.frame[name]) for name in columns}
    return {name: NarrowCells(spell_cells(values), codes) for name, (values, codes) in coded_columns.items()}


def _spell_known_cells(cells: _Cells, names: Sequence[str], rows: Ints | None = None) -> pl.DataFrame:
    """The cells as texts, of some rows or of all."""
    codes_by_column = {name: cells[name].codes if rows is None else cells[name].codes[rows] for name in names}
    return pl.DataFrame([cells[name].values.gather(codes).alias(name) for name, codes in codes_by_column.items()])


def _flag_hidden_rows(cells: _Cells, count: int) -> Flags:
    """Which rows have `*` in every column."""
    hidden_mask = np.ones(count, dtype=np.bool_)
    for values, codes in cells.values():
        hidden_mask &= (values == STAR).fill_null(False).to_numpy()[codes]
    return hidden_mask


def _split_by_levels(
    cells: _Cells, plain: Ints, shapes: dict[str, _CoveredValues]
) -> list[tuple[tuple[int, ...], Ints | None]] | None:
    """Published rows grouped by the hierarchy levels of their cells; None instead of rows where all are alike.

    None where cells are ranges or sets, or at so many levels that looking each up by level takes too long.
    """
    if not len(plain):
        return []
    shared_codes: dict[str, int] = {}
    column_codes: dict[str, Places] = {}
    for name, shape in shapes.items():
        values, codes = cells[name]
        plain_codes = codes if len(plain) == len(codes) else codes[plain]
        present = np.flatnonzero(np.bincount(plain_codes))
        labels = values.gather(present)
        if shape.has_composite_labels(labels):
            return None
        numbers = np.zeros(len(values), dtype=np.int16)
        numbers[present] = shape.find_levels(labels)
        distinct = np.unique(numbers[present])
        if len(distinct) == 1:
            shared_codes[name] = int(distinct[0])
        else:
            column_codes[name] = numbers[plain_codes]
    if not column_codes:
        return [(tuple(shared_codes.values()), None)]
    parts = group_equal_rows(list(column_codes.values()), _MANY)
    if parts is None:
        return None
    return [
        (
            tuple(shared_codes[name] if name in shared_codes else int(column_codes[name][rows[0]]) for name in shapes),
            rows,
        )
        for rows in parts
    ]


def _join_at_levels(
    cells: _Cells,
    rows: Ints,
    known_cells: _Cells,
    shapes: dict[str, _CoveredValues],
    signature: tuple[int, ...],
    missing: Missing,
) -> MatchedRows:
    """Generalize the people to the levels of some published rows, and join."""
    matched_levels = [
        (name, level)
        for name, level in zip(shapes, signature, strict=True)
        if level != _ANY_VALUE and not (level == _MISSING and missing is Missing.MATCHES_ANY)
    ]
    names = [name for name, _ in matched_levels]
    people = len(next(iter(known_cells.values())).codes)
    empty_part = MatchedRows(rows, np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64))
    if missing is Missing.NEVER_MATCHES and _MISSING in signature:
        return empty_part
    if not names:
        return empty_part._replace(counts=np.full(people, len(rows), dtype=np.int64))
    levels = {name: 0 if level == _MISSING else level for name, level in matched_levels}
    if missing is Missing.MATCHES_ANY and any(known_cells[name].values.null_count() for name in names):
        labels = {
            name: NarrowCells(
                shapes[name].generalize_known(known_cells[name].values, levels[name]), known_cells[name].codes
            )
            for name in names
        }
        if any(column_cells.values.null_count() for column_cells in labels.values()):
            return _join_unknown_values(_spell_known_cells(labels, names), _spell_known_cells(cells, names, rows), rows)
    sought_keys, keys = _number_keys(known_cells, _take_rows(cells, names, rows), shapes, levels)
    return match_keys(sought_keys, keys, rows)


def _take_rows(cells: _Cells, names: Sequence[str], rows: Ints) -> _Cells:
    """Some columns, in some rows."""
    is_whole = len(rows) == len(cells[names[0]].codes)
    return cells if is_whole else {name: NarrowCells(cells[name].values, cells[name].codes[rows]) for name in names}


def _number_keys(
    known_cells: _Cells, cells: _Cells, shapes: dict[str, _CoveredValues], levels: dict[str, int]
) -> tuple[Places, Places]:
    """A number for every person and for every published row, equal where the person's labels are those of the row.

    Labels are found for distinct values and numbered by those that are published; −1 is a person with another one.
    """
    sizes = (len(next(iter(table.values())).codes) for table in (known_cells, cells))
    kind: Any = np.int32 if prod(len(cells[name].values) + 1 for name in levels) < 1 << 31 else np.int64
    sought_keys, keys = (np.zeros(size, dtype=kind) for size in sizes)
    strange, radix = np.zeros(len(sought_keys), dtype=np.bool_), 1
    for name, level in levels.items():
        labels = cells[name].values.drop_nulls()  # a missing one is the last, so cells are numbered by labels already
        numbers = _index_labels(shapes[name].generalize_known(known_cells[name].values, level), labels).astype(kind)
        person_numbers, row_numbers = numbers[known_cells[name].codes], cells[name].codes
        width = len(labels) + 1
        strange |= person_numbers < 0
        if radix * width > _LARGEST_KEY:
            joint_keys = np.unique(np.concatenate([sought_keys, keys]), return_inverse=True)[1].ravel().astype(np.int64)
            sought_keys, keys, radix = joint_keys[: len(sought_keys)], joint_keys[len(sought_keys) :], len(joint_keys)
        sought_keys *= width
        sought_keys += person_numbers
        keys *= width
        keys += row_numbers
        radix *= width
    sought_keys[strange] = -1
    return sought_keys, keys


def _index_labels(cells: pl.Series, labels: pl.Series) -> Ints:
    """The place of each cell among the labels, their number for a missing one, −1 for a strange one."""
    places = cells.cast(pl.Enum(labels), strict=False).to_physical().cast(pl.Int64)
    indices = places.fill_null(-1).to_numpy(writable=True)
    if cells.null_count():
        indices[cells.is_null().to_numpy()] = len(labels)
    return indices


def _join_unknown_values(people: pl.DataFrame, cells: pl.DataFrame, rows: Ints) -> MatchedRows:
    """People with unknown values of their own fit every row that agrees on the rest: list their rows one by one."""
    order: list[Ints] = []
    start = np.zeros(people.height, dtype=np.int64)
    count = np.zeros(people.height, dtype=np.int64)
    cache: dict[tuple[object, ...], tuple[int, int]] = {}
    position = 0
    for person, values in enumerate(people.iter_rows()):
        if values not in cache:
            fits = [pl.col(n) == v for n, v in zip(people.columns, values, strict=True) if v is not None]
            agree = cells.select(pl.all_horizontal(fits).fill_null(False)).to_series() if fits else None
            fitting_rows = rows if agree is None else rows[agree.to_numpy()]
            order.append(fitting_rows)
            cache[values] = (position, len(fitting_rows))
            position += len(fitting_rows)
        start[person], count[person] = cache[values]
    return MatchedRows(np.concatenate(order) if order else rows, start, count)
