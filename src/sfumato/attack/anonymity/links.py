# SPDX-License-Identifier: MIT
"""Look people up in a release by what its cells cover: labels of a hierarchy, ranges, sets, the values themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Floats, Ints
from sfumato.attack.anonymity.covering import find_covering_rows
from sfumato.attack.anonymity.likelihood import price_nearness
from sfumato.attack.anonymity.row_search import RowSearch, expand_ranges
from sfumato.data.hierarchy import SUPPRESSED, Hierarchy, spell_cells
from sfumato.data.label_ranges import is_range
from sfumato.data.moments_in_text import are_moments
from sfumato.data.published_labels import parse_set
from sfumato.errors import DataError, quote_names
from sfumato.table import Missing, Table

_ANYTHING, _MISSING = -1, -2
_MANY = 32
_LARGEST_KEY = 1 << 62
_TIE = 1e-9


@dataclass(frozen=True)
class Links:
    """For every person looked up, the published rows that fit."""

    parts: tuple[tuple[Ints, Ints, Ints], ...]
    """Per way of generalizing: published rows in order, and per person where theirs begin and how many there are."""
    counts: Ints
    """How many rows fit each person."""

    def rows(self, person: int) -> Ints:
        """The published rows that fit one person."""
        row_lists = [order[start[person] : start[person] + count[person]] for order, start, count in self.parts]
        return np.sort(np.concatenate(row_lists)) if row_lists else np.zeros(0, dtype=np.int64)

    def guess(self, chance: np.random.Generator) -> Ints:
        """One of the fitting rows for every person, each as likely; −1 where none fits."""
        left = np.floor(chance.random(len(self.counts)) * self.counts).astype(np.int64)
        guesses = np.full(len(self.counts), -1, dtype=np.int64)
        for order, start, count in self.parts:
            here = (left >= 0) & (left < count)
            guesses[here] = order[start[here] + left[here]]
            left = np.where(here, -1, left - count)
        return guesses

    def contain(self, rows: Ints) -> Flags:
        """Whether a row, one for each person, is among the rows that fit them."""
        inside = np.zeros(len(rows), dtype=np.bool_)
        for order, start, count in self.parts:
            places = _find_only_places(order, int(rows.max(initial=-1)) + 1)
            if places is not None:
                place = places[rows]
                inside |= (start <= place) & (place < start + count)
                continue
            # Two people's rows are the same list or lists apart, so a place in the order belongs to one list.
            begins = np.unique(start[count > 0])
            width = max(int(order.max(initial=0)), int(rows.max(initial=0))) + 1
            keys = (np.searchsorted(begins, np.arange(len(order)), "right") - 1) * width + order
            inside |= (count > 0) & np.isin(np.searchsorted(begins, start) * width + rows, keys)
        return inside

    def count_expected_hits(self, own: Ints | None = None) -> float:
        """How many people's own rows are guessed on average; if none are given, the first person's is the first row."""
        is_found = self.contain(np.arange(len(self.counts)) if own is None else own)
        return float((is_found / np.maximum(self.counts, 1)).sum())

    def keep_cheapest(self, costs: Floats) -> Links:
        """Of each person's rows only those of least cost."""
        lists = [_CheapestRows.of(part, costs) for part in self.parts]
        least = np.min([rows.least for rows in lists], axis=0) if lists else np.zeros(0)
        parts = tuple((rows.order, rows.start, np.where(rows.least <= least + _TIE, rows.size, 0)) for rows in lists)
        return Links(parts, np.sum([count for _, _, count in parts], axis=0) if parts else self.counts)

    def or_else(self, others: Links) -> Links:
        """These rows; for people without any, those of another search."""
        rest = np.where(self.counts == 0, others.counts, 0)
        parts = [(order, start, np.where(self.counts == 0, count, 0)) for order, start, count in others.parts]
        return Links((*self.parts, *parts), self.counts + rest)


def _find_only_places(order: Ints, size: int) -> Ints | None:
    """Where each row stands in an order, −1 if nowhere; None if some row stands there twice."""
    places = np.full(max(size, int(order.max(initial=-1)) + 1), -1, dtype=np.int64)
    places[order] = np.arange(len(order))
    return places if np.count_nonzero(places >= 0) == len(order) else None


class _CheapestRows(NamedTuple):
    """Of one part of the links, the cheapest rows of each list."""

    order: Ints
    start: Ints
    size: Ints
    least: Floats
    """The cost of each person's rows; infinite for none."""

    @classmethod
    def of(cls, part: tuple[Ints, Ints, Ints], costs: Floats) -> _CheapestRows:
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


def linked(published: Table, people: Table, columns: Sequence[str]) -> Links:
    """The published rows that each person's values fall under, in the columns the adversary knows."""
    require_in_both(published, people, columns)
    shapes = {name: _ColumnLabels.of(published, name) for name in columns}
    known = pl.DataFrame([spell_cells(people.frame[name]).alias(name) for name in columns])
    cells = pl.DataFrame([spell_cells(published.frame[name]).alias(name) for name in columns])
    parts, counts = [], np.zeros(known.height, dtype=np.int64)
    hidden = cells.select(pl.all_horizontal(pl.all() == SUPPRESSED).fill_null(False)).to_series().to_numpy()
    starred, plain = np.flatnonzero(hidden), np.flatnonzero(~hidden)
    signatures = _split_by_levels(cells.filter(~hidden) if len(starred) else cells, shapes)
    if signatures is None:
        parts.append(find_covering_rows(cells, plain, people, columns, published))
        counts = counts + parts[0][2]
    else:
        for signature, rows in signatures:
            part = _join_at_levels(
                cells, plain if rows is None else plain[rows], known, shapes, signature, published.missing
            )
            parts.append(part)
            counts = counts + part[2]
    if not counts.any() and _are_all_numbers(published, people, columns):
        parts = [RowSearch(published, dict.fromkeys(columns, price_nearness)).find_rows(people)]
        counts = parts[0][2]
    if len(starred):  # only for those whom nothing else fits
        rows = starred
        lost = counts == 0
        part = (rows, np.zeros(known.height, dtype=np.int64), np.where(lost, len(rows), 0))
        parts.append(part)
        counts = counts + part[2]
    return Links(tuple(parts), counts)


def require_in_both(published: Table, people: Table, columns: Sequence[str]) -> None:
    """Refuse columns that the adversary cannot compare."""
    absent = [name for name in columns if name not in published.frame.columns or name not in people.frame.columns]
    if absent:
        raise DataError(f"linking: the column {quote_names(absent)} is not in both tables")


def _are_all_numbers(published: Table, people: Table, columns: Sequence[str]) -> bool:
    """Whether values can be compared by size, or by how far they lie apart in time, and none is missing."""
    cells = [table.frame[name] for table in (published, people) for name in columns]
    if any(column.null_count() for column in cells):
        return False
    return all(column.dtype.is_numeric() or are_moments(spell_cells(column)) for column in cells)


@dataclass(frozen=True)
class _ColumnLabels:
    """What the labels of one published column cover."""

    name: str
    hierarchy: Hierarchy | None
    level_of: dict[str, int]

    @classmethod
    def of(cls, published: Table, name: str) -> _ColumnLabels:
        hierarchy = published.hierarchies.get(name)
        levels: dict[str, tuple[int, int]] = {}
        for number, level in enumerate(hierarchy.levels if hierarchy else ()):
            for label, count in zip(level.labels, level.leaves_under.tolist(), strict=True):
                # A label that stands at several levels may mean any of them: the widest covers all.
                levels[label] = max(levels.get(label, (0, 0)), (count, number))
        return cls(name, hierarchy, {label: level for label, (_, level) in levels.items()})

    def has_composite_labels(self, labels: pl.Series) -> bool:
        """Whether some labels are neither leaves nor labels of the hierarchy, but made of several values."""
        others = (label for label in labels.drop_nulls().to_list() if label not in self.level_of)
        return any(is_range(label) or parse_set(label) is not None for label in others)

    def levels(self, cells: pl.Series, labels: pl.Series) -> int | pl.Series:
        """The level of each published cell, or the one of all; `_ANYTHING` for `*`, `_MISSING` for a null."""
        known = labels.drop_nulls()
        numbers = [_ANYTHING if v == SUPPRESSED else self.level_of.get(v, 0) for v in known.to_list()]
        if len({*numbers, *([_MISSING] if len(known) < len(labels) else [])}) == 1:
            return numbers[0] if numbers else _MISSING
        levels = cells.replace_strict(known, pl.Series(numbers, dtype=pl.Int32), default=None, return_dtype=pl.Int32)
        return levels.fill_null(_MISSING).alias(self.name)

    def labels(self, known: pl.Series, level: int) -> pl.Series:
        """What known values look like once generalized to a level; unknown to the hierarchy, they stay."""
        if self.hierarchy is None or level == 0:
            return known
        above = {row[0]: row[level] for row in self.hierarchy.rows}
        top = self.hierarchy.levels[level].labels[0] if self.hierarchy.swallows_missing(level) else None
        labels = known.replace_strict(list(above), list(above.values()), default=known, return_dtype=pl.String)
        return labels if top is None else labels.fill_null(top)


def _split_by_levels(
    cells: pl.DataFrame, shapes: dict[str, _ColumnLabels]
) -> list[tuple[tuple[int, ...], Ints | None]] | None:
    """The published rows, parted by the levels that their cells are at; no rows are named where all are alike.

    None where cells are ranges or sets, or at so many levels that looking each up by level takes too long.
    """
    if not cells.height:
        return []
    levels_by_column: dict[str, int | pl.Series] = {}
    for name, shape in shapes.items():
        labels = cells[name].unique()
        if shape.has_composite_labels(labels):
            return None
        levels_by_column[name] = shape.levels(cells[name], labels)
    varying = [levels for levels in levels_by_column.values() if isinstance(levels, pl.Series)]
    if not varying:
        return [(tuple(level for level in levels_by_column.values() if isinstance(level, int)), None)]
    names = [levels.name for levels in varying]
    grouped = pl.DataFrame(varying).with_row_index("\0row").group_by(names, maintain_order=True).agg("\0row")
    if grouped.height > _MANY:
        return None
    signatures: list[tuple[tuple[int, ...], Ints | None]] = []
    for *levels, rows in grouped.iter_rows():
        here = dict(zip(names, levels, strict=True))
        signature = tuple(
            here[name] if isinstance(level, pl.Series) else level for name, level in levels_by_column.items()
        )
        signatures.append((signature, np.asarray(rows, dtype=np.int64)))
    return signatures


def _join_at_levels(
    cells: pl.DataFrame,
    rows: Ints,
    known: pl.DataFrame,
    shapes: dict[str, _ColumnLabels],
    signature: tuple[int, ...],
    missing: Missing,
) -> tuple[Ints, Ints, Ints]:
    """Generalize the people to the levels of some published rows, and join."""
    used = [
        (name, level)
        for name, level in zip(shapes, signature, strict=True)
        if level != _ANYTHING and not (level == _MISSING and missing is Missing.MATCHES_ANY)
    ]
    names = [name for name, _ in used]
    nothing = (rows, np.zeros(known.height, dtype=np.int64), np.zeros(known.height, dtype=np.int64))
    if missing is Missing.NEVER_MATCHES and _MISSING in signature:
        return nothing
    if not names:
        return rows, nothing[1], np.full(known.height, len(rows), dtype=np.int64)
    levels = {name: 0 if level == _MISSING else level for name, level in used}
    if missing is Missing.MATCHES_ANY and any(known[name].null_count() for name in names):
        people = pl.DataFrame([shapes[name].labels(known[name], level).alias(name) for name, level in levels.items()])
        if any(people[name].null_count() for name in names):
            return _join_unknown_values(people, cells[rows].select(names), rows)
    whole = len(rows) == cells.height
    sought, keys = _number_keys(known, cells if whole else cells[rows], shapes, levels)
    here = pl.DataFrame({"key": keys}).with_row_index("\0at")
    groups = here.group_by("key", maintain_order=True).agg("\0at", pl.len().cast(pl.Int64).alias("\0count"))
    order = rows[groups["\0at"].explode().to_numpy()]
    groups = groups.drop("\0at").with_columns((pl.col("\0count").cum_sum() - pl.col("\0count")).alias("\0start"))
    matches = pl.DataFrame({"key": sought}).join(groups, on="key", how="left", maintain_order="left")
    return order, matches["\0start"].fill_null(0).to_numpy(), matches["\0count"].fill_null(0).to_numpy()


def _number_keys(
    known: pl.DataFrame, cells: pl.DataFrame, shapes: dict[str, _ColumnLabels], levels: dict[str, int]
) -> tuple[Ints, Ints]:
    """A number for every person and for every published row, equal where the person's labels are those of the row.

    Labels are found for distinct values and numbered by those that are published; −1 is a person with another one.
    """
    sought, keys = np.zeros(known.height, dtype=np.int64), np.zeros(cells.height, dtype=np.int64)
    strange, radix = np.zeros(known.height, dtype=np.bool_), 1
    for name, level in levels.items():
        labels = cells[name].unique().drop_nulls()
        values = known[name].unique().drop_nulls()
        numbers = _index_labels(
            shapes[name].labels(pl.concat([values, pl.Series([None], dtype=pl.String)]), level), labels
        )
        theirs, ours = numbers[_index_labels(known[name], values)], _index_labels(cells[name], labels)
        width = len(labels) + 1
        strange |= theirs < 0
        if radix * width > _LARGEST_KEY:
            both = np.unique(np.concatenate([sought, keys]), return_inverse=True)[1].ravel().astype(np.int64)
            sought, keys, radix = both[: len(sought)], both[len(sought) :], len(both)
        sought, keys, radix = sought * width + theirs, keys * width + ours, radix * width
    return np.where(strange, -1, sought), keys


def _index_labels(cells: pl.Series, labels: pl.Series) -> Ints:
    """The place of each cell among the labels, their number for a missing one, −1 for a strange one."""
    places = cells.cast(pl.Enum(labels), strict=False).to_physical().cast(pl.Int64)
    indices = places.fill_null(-1).to_numpy(writable=True)
    if cells.null_count():
        indices[cells.is_null().to_numpy()] = len(labels)
    return indices


def _join_unknown_values(people: pl.DataFrame, cells: pl.DataFrame, rows: Ints) -> tuple[Ints, Ints, Ints]:
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
    return np.concatenate(order) if order else rows, start, count
