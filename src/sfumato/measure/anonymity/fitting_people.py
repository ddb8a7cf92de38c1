# SPDX-License-Identifier: MIT
"""How many people of the originals each published row could be about.

Against an adversary who finds a row and asks whose it is. A person fits a row that shows no value but theirs, or labels
that cover it; an empty cell and `*` fit everybody. Unlike a crowd in which empty cells match anything, this does not
grow when other rows are blanked: a row with its original values fits only the people who have them. A person whose own
cell is missing fits only cells that say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.published_labels import Domain
from sfumato.errors import DataError, quote_names
from sfumato.measure.anonymity.crowd_sizes import StarredRows, flag_starred_rows, read_starred_rows
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_REPORT_EVERY = 4096


def fitting_people(published_table: Table, original: Table, starred_rows: StarredRows = "class") -> pl.DataFrame:
    """For each combination of published quasi-identifying cells, the number of `rows` that have it and of the
    original `people` who fit it.
    """
    names = require_original_columns(published_table, original)
    classes = group_published_rows(published_table, names, starred_rows)
    people = original.frame.group_by(names, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("\0people"))
    weights = people["\0people"].to_numpy()
    counts = [
        int(weights[person_indices].sum()) for person_indices in iterate_fitting(classes, people, names, original)
    ]
    return classes.select(pl.col("\0rows").alias("rows"), pl.Series("people", counts, dtype=pl.Int64))


def require_original_columns(published_table: Table, original: Table) -> list[str]:
    """The quasi-identifying columns, which the originals must have, too."""
    names = list(published_table.quasi_identifying)
    if not names:
        raise DataError(f"{published_table.source}: no column is quasi_identifying, so everybody fits every row")
    absent = [name for name in names if name not in original.frame.columns]
    if absent:
        raise DataError(f"{original.source}: the originals lack the quasi-identifying {quote_names(absent)}")
    return names


def group_published_rows(published_table: Table, names: list[str], starred_rows: StarredRows) -> pl.DataFrame:
    """The distinct published combinations, and in the column `\\0rows` how many rows have each."""
    frame = pl.DataFrame([spell_cells(published_table.frame[name]) for name in names])
    if starred_rows == "suppressed":
        frame = frame.filter(~flag_starred_rows(frame, names))
    return frame.group_by(names, maintain_order=True).agg(pl.len().cast(pl.Int64).alias("\0rows"))


def iterate_fitting(classes: pl.DataFrame, people: pl.DataFrame, names: list[str], original: Table) -> Iterator[Ints]:
    """For each published combination, which of some people fit it."""
    columns = [_FittingColumn.of(classes[name], people[name], _read_domain(original, name)) for name in names]
    for number in range(classes.height):
        if number % _REPORT_EVERY == 0:
            report_progress("finding people who fit", number, classes.height)
        yield _find_fitting(columns, number)


def count_fewest_fitting(published_table: Table, original: Table, starred_rows: StarredRows = "class") -> int:
    """The smallest number of original people whom a published row fits; 0 without published rows."""
    fewest = fitting_people(published_table, original, starred_rows)["people"].min()
    return int(fewest) if isinstance(fewest, int) else 0


def _read_domain(original: Table, name: str) -> Domain:
    return Domain.of(original.frame[name], original.hierarchies.get(name))


def _find_fitting(columns: list[_FittingColumn], number: int) -> Ints:
    """The people who fit a class: those who fit its rarest label, as far as they fit the others."""
    first, *other_columns = sorted(columns, key=lambda column: column.counts[column.labels[number]])
    people = first.list_people(int(first.labels[number]))
    for column in other_columns:
        people = people[column.flag_fitting(int(column.labels[number]), people)]
    return people


@dataclass(frozen=True, eq=False)
class _FittingColumn:
    """Which people fit the published labels of one column."""

    labels: Ints
    """The label of each class."""
    runs: tuple[tuple[tuple[int, int], ...], ...]
    """The positions that each label covers."""
    position: Ints
    """The position of each person's value; the last one is that of a missing value."""
    order: Ints
    """The people by position."""
    begins: Ints
    """Where the people of each position begin in `order`, and last where they end."""
    counts: Ints
    """How many people fit each label."""

    @classmethod
    def of(cls, cells: pl.Series, people: pl.Series, domain: Domain) -> _FittingColumn:
        texts = cells.unique(maintain_order=True).to_list()
        runs = _list_runs(texts, domain)
        leaf = domain.code_originals(people)
        places = np.append(np.argsort(domain.cover([STAR]).order), len(domain.leaves))
        position = places[leaf].astype(np.int64)
        order = np.argsort(position, kind="stable").astype(np.int64)
        begins = np.searchsorted(position[order], np.arange(len(domain.leaves) + 2)).astype(np.int64)
        counts = [sum(int(begins[stop] - begins[start]) for start, stop in spans) for spans in runs]
        number_of = {text: number for number, text in enumerate(texts)}
        labels = np.array([number_of[cell] for cell in cells.to_list()], dtype=np.int64)
        return cls(labels, runs, position, order, begins, np.array(counts, dtype=np.int64))

    def list_people(self, label: int) -> Ints:
        """The people who fit a label."""
        no_people = np.zeros(0, dtype=np.int64)
        parts = [self.order[self.begins[start] : self.begins[stop]] for start, stop in self.runs[label]]
        return np.concatenate([no_people, *parts])

    def flag_fitting(self, label: int, people: Ints) -> Flags:
        """Which of some people fit a label."""
        fits = np.zeros(len(people), dtype=np.bool_)
        for start, stop in self.runs[label]:
            fits |= (self.position[people] >= start) & (self.position[people] < stop)
        return fits


def _list_runs(texts: list[str | None], domain: Domain) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The positions that each label covers; none for a label that no original value could have."""
    full_run = ((0, len(domain.leaves) + 1),)
    readable = [number for number, text in enumerate(texts) if text is not None and domain.reads(text)]
    cover = domain.cover([texts[number] for number in readable])
    runs: list[list[tuple[int, int]]] = [[] for _ in texts]
    for label, start, stop in zip(cover.label.tolist(), cover.start.tolist(), cover.stop.tolist(), strict=True):
        runs[readable[label]].append((start, stop))
    whole = [text is None or text == STAR or domain.says_nothing(text) for text in texts]
    return tuple(full_run if is_whole else tuple(spans) for is_whole, spans in zip(whole, runs, strict=True))


@checks_claim("fitting_people", "at_least", needs_original=True)
def _check_fitting_people(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_fewest_fitting(evidence.published_data, evidence.original, read_starred_rows(arguments))
