# SPDX-License-Identifier: MIT
"""Numbers that were rounded, capped or replaced by an interval's midpoint, and rare values under one label: people as
such a column would show them.

None of these is drawn by chance, so whoever knows the rule knows the cell. The rule is read off the release: its base
and its ends are seen in the published numbers. Of several rules, that is taken under which the known numbers are
spread as the published ones are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.arrays import Floats, Ints
from sfumato.change import ChangeKind
from sfumato.data.hierarchy import spell_cells
from sfumato.public.cut_intervals import CutIntervals, list_cut_columns
from sfumato.public.noise_law import read_numbers
from sfumato.release import Release
from sfumato.table import Table

RECODED = {ChangeKind.ROUNDED, ChangeKind.INTERVALS, ChangeKind.CAPPED, ChangeKind.GROUPED}
"""What is done by a rule without chance."""
_LONGEST_GRID = 1_000_000
_LARGE = 1e100
_ALIKE = 0.9
"""The least share of numbers that are spread alike before a rule is believed that nobody stated."""

Recode = Callable[[pl.Series], pl.Series]


@dataclass(frozen=True, eq=False, repr=False)
class Recoding:
    """For each recoded column, how a known number is published."""

    rules: Mapping[str, Recode]

    @classmethod
    def read_stated(cls, release: Release, people: Table, names: Sequence[str]) -> Recoding:
        """The rules of columns that the release states to be recoded."""
        rules = {}
        for name in names:
            cells, values = release.data.frame[name].drop_nulls(), people.frame[name]
            kinds = {change.kind for change in release.changes_of(name)} & RECODED
            if name in list_cut_columns(release) and _are_numbers(cells, values):
                rules[name] = _cut_between(CutIntervals.of(release.public[name]), cells)
            elif kinds == {ChangeKind.GROUPED} and len(cells):
                rules[name] = _group(release.data.frame[name], values)
            elif kinds and name not in release.public and _are_numbers(cells, values):
                rules[name] = _cap(cells) if kinds == {ChangeKind.CAPPED} else _choose_rule(cells, values)
        return cls(rules)

    @classmethod
    def guess_unstated(cls, release: Release, people: Table, names: Sequence[str]) -> Recoding:
        """The rules of columns about which nothing is stated, but which look rounded or capped."""
        rules = {}
        for name in names:
            cells, values = release.data.frame[name].drop_nulls(), people.frame[name]
            is_stated = bool(release.changes_of(name)) or name in release.public
            if is_stated or not _are_numbers(cells, values) or _are_all_published(cells, values):
                continue
            rule = max(_list_roundings(cells), key=lambda rule: _measure_likeness(cells, rule(values)))
            if _measure_likeness(cells, rule(values)) >= _ALIKE:
                rules[name] = rule
        return cls(rules)

    def apply(self, people: Table) -> Table:
        """People as the recoded columns would show them."""
        changed = [recode(people.frame[name]).alias(name) for name, recode in self.rules.items()]
        return people.with_frame(people.frame.with_columns(changed)) if changed else people

    def join(self, other: Recoding) -> Recoding:
        """The rules of both."""
        return Recoding({**self.rules, **other.rules})


def list_recodings(release: Release, people: Table, names: Sequence[str]) -> tuple[Recoding, ...]:
    """What is stated; and beside it what is seen, if anything is: that may be an accident."""
    stated = Recoding.read_stated(release, people, names)
    seen = Recoding.guess_unstated(release, people, names)
    return (stated, stated.join(seen)) if seen.rules else (stated,)


def _are_numbers(cells: pl.Series, values: pl.Series) -> bool:
    """Whether both are numbers or both are dates, there are any, and none is too large to reckon with."""
    alike = (cells.dtype.is_numeric() and values.dtype.is_numeric()) or cells.dtype == values.dtype == pl.Date
    if not alike or not len(cells) or not values.count():
        return False
    return all(bool((np.abs(read_numbers(column.drop_nulls())) < _LARGE).all()) for column in (cells, values))


def _are_all_published(cells: pl.Series, values: pl.Series) -> bool:
    return bool(np.isin(read_numbers(values.drop_nulls()), read_numbers(cells)).all())


def _cut_between(intervals: CutIntervals, cells: pl.Series) -> Recode:
    """The midpoint of the interval that a number is in: the edges are published."""

    def recode(values: pl.Series) -> pl.Series:
        numbers = np.nan_to_num(read_numbers(values))
        return _restore(intervals.middles[intervals.find_places(numbers)], values.is_not_null(), cells.dtype)

    return recode


def _cap(cells: pl.Series) -> Recode:
    ends = cells.sort()
    return lambda values: values.clip(ends[0], ends[-1])


def _group(cells: pl.Series, values: pl.Series) -> Recode:
    """What is published stays; all else has the label: the cell that more rows hold than people are known to."""
    texts = spell_cells(cells)
    surplus = (
        texts.alias("cell")
        .value_counts(name="rows")
        .join(spell_cells(values).alias("cell").value_counts(name="people"), on="cell", how="left", nulls_equal=True)
    )
    ranked = surplus.filter(pl.col("cell").is_not_null()).sort(
        pl.col("rows") - pl.col("people").cast(pl.Int64).fill_null(0), pl.col("cell")
    )
    label, shown = ranked["cell"][-1], texts.drop_nulls().unique().implode()

    def recode(others: pl.Series) -> pl.Series:
        known = spell_cells(others)
        stays = known.is_in(shown).fill_null(texts.null_count() > 0)
        return known.zip_with(stays, pl.repeat(label, len(known), dtype=pl.String, eager=True)).cast(cells.dtype)

    return recode


def _choose_rule(cells: pl.Series, values: pl.Series) -> Recode:
    """The rounding under which the numbers are spread most alike; by rank if none comes near."""
    rules = [*_list_roundings(cells), _align_ranks(cells, values)]
    likeness = [_measure_likeness(cells, rule(values)) for rule in rules]
    best = int(np.argmax(likeness[:-1]))
    return rules[best] if likeness[best] >= _ALIKE * likeness[-1] else rules[-1]


def _list_roundings(cells: pl.Series) -> list[Recode]:
    """Down, up, and to the nearest with a half up, down or to an even multiple."""
    grid = _read_grid(read_numbers(cells))

    def snap(choose_place: Callable[[Ints, Floats], Ints]) -> Recode:
        def recode(values: pl.Series) -> pl.Series:
            numbers = read_numbers(values)
            left = np.clip(np.searchsorted(grid, numbers * (1 + 1e-12 * np.sign(numbers)), "right") - 1, 0, None)
            right = np.minimum(left + 1, len(grid) - 1)
            width = grid[right] - grid[left]
            share = np.divide(numbers - grid[left], width, out=np.zeros(len(numbers)), where=width > 0)
            places = left + (right > left) * choose_place(left, np.clip(share, 0.0, 1.0).round(9))
            return _restore(grid[places], values.is_not_null(), cells.dtype)

        return recode

    def is_odd(places: Ints) -> Ints:
        step = grid[1] - grid[0] if len(grid) > 1 else 1.0
        with np.errstate(over="ignore", invalid="ignore"):  # a tiny step says nothing about large numbers
            return np.asarray(np.nan_to_num(np.round(grid[places] / step) % 2), dtype=np.int64)

    return [
        snap(lambda left, share: np.asarray(share >= 0.5, dtype=np.int64)),
        snap(lambda left, share: np.where(share == 0.5, is_odd(left), share > 0.5).astype(np.int64)),
        snap(lambda left, share: np.asarray(share > 0.5, dtype=np.int64)),
        snap(lambda left, share: np.asarray(share == 1.0, dtype=np.int64)),
        snap(lambda left, share: np.asarray(share > 0.0, dtype=np.int64)),
    ]


def _read_grid(numbers: Floats) -> Floats:
    """The multiples of the base between the ends; the published numbers themselves if they have no base."""
    distinct = np.unique(numbers)
    gaps = np.diff(distinct)
    if not len(gaps):
        return distinct
    base = float(gaps.min())
    with np.errstate(over="ignore"):  # of gaps that differ so much
        steps = gaps / base
        count = float(steps.sum())
    if count > _LONGEST_GRID or np.abs(steps - np.round(steps)).max() > 1e-6:
        return distinct
    # Published numbers stay as they are spelled; only the multiples between them are computed.
    grid: Floats = distinct[0] + base * np.arange(round(count) + 1)
    grid[np.round((distinct - distinct[0]) / base).astype(np.int64)] = distinct
    return grid


def _align_ranks(cells: pl.Series, values: pl.Series) -> Recode:
    """Any rule that keeps the order: as many people are below a published number as cells are."""
    ours, counts = np.unique(read_numbers(cells), return_counts=True)
    known = np.sort(read_numbers(values.drop_nulls()))
    ends = np.round(np.cumsum(counts)[:-1] / counts.sum() * len(known)).astype(np.int64)
    cuts = known[np.clip(ends, 0, len(known) - 1)]

    def recode(others: pl.Series) -> pl.Series:
        places = np.searchsorted(cuts, read_numbers(others), "right")
        return _restore(ours[places], others.is_not_null(), cells.dtype)

    return recode


def _restore(numbers: Floats, is_known: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Numbers as cells of the published column; what is missing stays so."""
    physical = pl.Series(numbers if dtype.is_float() else np.round(numbers).astype(np.int64))
    cells = physical.cast(pl.Int32).cast(dtype) if dtype == pl.Date else physical.cast(dtype)
    return cells.zip_with(is_known, cells.clear(len(cells)))


def _measure_likeness(cells: pl.Series, recoded: pl.Series) -> float:
    """The share that two columns have in common, value by value."""
    shares = []
    for column in (cells, recoded.drop_nulls()):
        counts = spell_cells(column).alias("cell").value_counts(name="count")
        shares.append(counts.select("cell", pl.col("count") / max(len(column), 1)))
    both = shares[0].join(shares[1], on="cell")
    return float(both.select(pl.min_horizontal("count", "count_right").sum()).item() or 0.0)
