# SPDX-License-Identifier: MIT
"""Numbers that were rounded, capped or replaced by an interval's midpoint, and rare values under one label: people as
such a column would show them.

None of these is drawn by chance, so anyone who knows the rule knows the cell. The rule is read off the release, in the
way that the stated kind of change says (`change_kinds.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.data.cells.recoding_rules import (
    ALIKE,
    Recode,
    RecodedColumn,
    are_numbers,
    list_roundings,
    measure_likeness,
    read_rounding,
    restore_cells,
)
from sfumato.public.cut_intervals import CutIntervals, get_cut_intervals, list_cut_columns
from sfumato.public.noise_law import read_numbers
from sfumato.release import Release
from sfumato.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Recoding:
    """For each recoded column, how a known number is published."""

    rules: Mapping[str, Recode]

    @classmethod
    def read_stated(cls, release: Release, people: Table, names: Sequence[str]) -> Recoding:
        """The rules of columns that the release states to be recoded."""
        rules = {}
        for name in names:
            column = RecodedColumn(release.data.frame[name], people.frame[name], name in release.public)
            readers = {read for kind in release.list_column_kinds(name) if (read := kind.meaning.read_rule) is not None}
            if name in list_cut_columns(release) and are_numbers(column.cells.drop_nulls(), column.known_values):
                rules[name] = _cut_between(get_cut_intervals(release, name), column.cells)
            elif readers:
                # Of rules on top of each other, any that keeps the order is looked for.
                read = readers.pop() if len(readers) == 1 else read_rounding
                if (rule := read(column)) is not None:
                    rules[name] = rule
        return cls(rules)

    @classmethod
    def guess_unstated(cls, release: Release, people: Table, names: Sequence[str]) -> Recoding:
        """The rules of columns about which nothing is stated, but which look rounded or capped."""
        rules = {}
        for name in names:
            cells, values = release.data.frame[name].drop_nulls(), people.frame[name]
            is_stated = bool(release.list_column_changes(name)) or name in release.public
            if is_stated or not are_numbers(cells, values) or _are_all_published(cells, values):
                continue
            rule = max(list_roundings(cells), key=lambda rule: measure_likeness(cells, rule(values)))
            if measure_likeness(cells, rule(values)) >= ALIKE:
                rules[name] = rule
        return cls(rules)

    def apply(self, people: Table) -> Table:
        """People as the recoded columns would show them."""
        recoded_columns = [recode(people.frame[name]).alias(name) for name, recode in self.rules.items()]
        return people.replace_frame(people.frame.with_columns(recoded_columns)) if recoded_columns else people

    def join(self, other: Recoding) -> Recoding:
        """The rules of both recodings; of a column in both, the other's."""
        return Recoding({**self.rules, **other.rules})


def list_recodings(release: Release, people: Table, names: Sequence[str]) -> tuple[Recoding, ...]:
    """What is stated; and in addition what is seen, if anything is: that may be an accident."""
    stated_recoding = Recoding.read_stated(release, people, names)
    guessed_recoding = Recoding.guess_unstated(release, people, names)
    return (stated_recoding, stated_recoding.join(guessed_recoding)) if guessed_recoding.rules else (stated_recoding,)


def _are_all_published(cells: pl.Series, values: pl.Series) -> bool:
    return bool(np.isin(read_numbers(values.drop_nulls()), read_numbers(cells)).all())


def _cut_between(intervals: CutIntervals, cells: pl.Series) -> Recode:
    """The midpoint of the interval that a number is in: the edges are published."""

    def recode(values: pl.Series) -> pl.Series:
        numbers = np.nan_to_num(read_numbers(values))
        return restore_cells(intervals.middles[intervals.find_places(numbers)], values.is_not_null(), cells.dtype)

    return recode
