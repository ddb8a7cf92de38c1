# SPDX-License-Identifier: MIT
"""K-Optimize: the best way to cut every column into ranges, proven by search over all sets of cut points.

Against an adversary who knows someone's quasi-identifying values. What leaks: the chosen ranges, the number of
suppressed rows, and everything that the members of a class share. Bayardo and Agrawal, *Data privacy through optimal
k-anonymization* (ICDE 2005); the classification metric is Iyengar's (KDD 2002).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from sfumato.arrays import Codes, Flags, Ints
from sfumato.change import Change, ChangeKind, state_changes
from sfumato.data.cells.unread_dates import refuse_unread_dates
from sfumato.data.hierarchies.hierarchy import STAR, spell_cells
from sfumato.data.hierarchies.label_choice import choose_label, choose_range, find_covering_group
from sfumato.data.hierarchies.label_ranges import read_positions
from sfumato.data.hierarchies.published_labels import Domain, format_range
from sfumato.details import AnonymityDetails
from sfumato.errors import DataError
from sfumato.protect.anonymity.alternatives import use_partition
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model_promises import list_model_promises
from sfumato.protect.anonymity.participants import refuse_too_few, select_participants
from sfumato.protect.anonymity.search.cut_search import BestCuts, CutGoal, CutSearch
from sfumato.protect.anonymity.suppressed_rows import (
    blank_rows,
    claim_nothing_shown,
    list_hidden_columns,
    state_blanked,
    state_suppression,
)
from sfumato.protect.claims import claim_nobody_named, claim_nothing_untrue
from sfumato.protect.footprint import Footprint, StarSettings, trace_classes
from sfumato.protect.method import Alternative, Method
from sfumato.protect.named_columns import refuse_infinite, refuse_unpublished
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress
from sfumato.table import Table


class KOptimize(Method):
    """Cut every quasi-identifying column into ranges of its ordered values, at minimum cost.

    Guarantee: every published class has at least k rows. The cost is the least of all sets of cuts, proven by search;
    at the time limit it is the best found, with a bound. Against: an adversary who knows a person's quasi-identifying
    values, and that the person is in the table, and looks for the row (the prosecutor). Limits: sensitive values are
    published unchanged, so an adversary learns what all members of a class have in common; suppressed rows that are
    fewer than k show no sensitive cell; the search may take very long for many values, and its result under a time
    limit depends on the machine. Papers: Bayardo, Agrawal 2005; Iyengar 2002.
    """

    iso_20889: ClassVar[str] = "generalization (ranges and sets), record suppression"
    optimum_of: ClassVar[str] = "among all sets of cuts"
    hides_in_crowds: ClassVar[bool] = True
    loses_detail: ClassVar[bool] = True
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset({ChangeKind.RANGES, ChangeKind.BLANKED})
    public_fields: ClassVar[tuple[str, ...]] = ("k", "metric", "target", "suppress", "seconds")
    column_fields: ClassVar[tuple[str, ...]] = ("target",)

    method: Literal["k_optimize"] = "k_optimize"
    k: int = Field(ge=1, strict=True)
    """The smallest number of rows that share their published quasi-identifying values."""
    metric: Literal["discernibility", "classification"] = "discernibility"
    """What is minimized. `discernibility`: Σ |class|², and |D| for a suppressed row; `classification`: the rows that
    are suppressed or do not have the most common `target` of their class."""
    target: str | None = None
    """The column that a classifier predicts, for the classification metric."""
    suppress: bool = True
    """Whether rows in classes smaller than k are published with `*`; otherwise no such class is allowed."""
    seconds: float | None = Field(default=60.0, gt=0)
    """When to stop with the best set found; without it, only when it is proven optimal, however long that takes."""

    @model_validator(mode="after")
    def _has_target(self) -> KOptimize:
        if self.metric == "classification" and self.target is None:
            raise ValueError("the classification metric needs a target, the column to predict")
        return self

    @classmethod
    def list_promises(cls, parameters: Mapping[str, Any]) -> tuple[Claim, ...]:
        """k-anonymity."""
        return list_model_promises([{"model": "k_anonymity", "k": parameters["k"]}] if "k" in parameters else [])

    def footprint(self, data: Table) -> Footprint:
        """The quasi-identifying columns, the target, by which cuts are chosen, and what suppressed rows do not show."""
        judged_columns = () if self.target is None else (self.target,)
        return trace_classes(
            data,
            judged_columns,
            emptied_columns=list_hidden_columns(data, ()) if self.suppress else (),
            survives_blanks=True,
            stars=StarSettings("suppress = false") if self.suppress else None,
        )

    def list_alternatives(self, table: Table) -> Iterator[Alternative]:
        """Partition."""
        yield use_partition((KAnonymity(k=self.k),), table)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Order the values, find the best cuts, publish the ranges between them, and star the rows in small classes."""
        table, row_numbers = select_participants(data)
        refuse_too_few(table, self.k)
        report_progress("encoding the table")
        columns = [_OrderedColumn.of(table, name) for name in table.quasi_identifying]
        labels = self._number_target_classes(table)
        best = self._search(columns, labels)
        pieces = [_ColumnPieces.of(column, cuts) for column, cuts in zip(columns, best.cuts, strict=True)]
        sizes = _count_rows_in_same_pieces(pieces)
        starred_mask = sizes < self.k
        hidden_columns = list_hidden_columns(table, ()) if 0 < int(starred_mask.sum()) < self.k else None
        published_table = _publish_pieces(table, pieces, starred_mask)
        published_table = published_table.replace_frame(
            blank_rows(published_table.frame, starred_mask, hidden_columns or ())
        )
        return Release(
            data=published_table,
            method=self,
            claims=self._list_claims(table, hidden_columns),
            losses=_compute_cut_losses(table, pieces, sizes, self.k, labels) | {"dropped_rows": len(data) - len(table)},
            details=_collect_cut_details(pieces, best, row_numbers, starred_mask),
            changes=state_blanked(
                self._state_changes(table, published_table, pieces, bool(starred_mask.any())), hidden_columns or ()
            ),
            suppression=state_suppression(table, int(starred_mask.sum()), hidden_columns),
        )

    def _state_changes(
        self, table: Table, published_table: Table, pieces: Sequence[_ColumnPieces], has_stars: bool
    ) -> tuple[Change, ...]:
        cut = {piece.column.name: ChangeKind.KEPT if piece.whole else ChangeKind.RANGES for piece in pieces}
        changes = state_changes(self, table, published_table, cut)
        return tuple(replace(change, starred=has_stars and change.column in cut) for change in changes)

    def _number_target_classes(self, table: Table) -> Codes | None:
        if self.target is None:
            return None
        refuse_unpublished(table, (self.target,))
        return spell_cells(table.frame[self.target]).rank("dense").fill_null(0).cast(pl.Int32).to_numpy()

    def _search(self, columns: Sequence[_OrderedColumn], labels: Codes | None) -> BestCuts:
        squares = self.metric == "discernibility"
        goal = CutGoal(self.k, squares, self.suppress, self.seconds)
        search = CutSearch(
            [column.codes for column in columns],
            [column.width for column in columns],
            None if squares else labels,
            goal,
        )
        return search.run()

    def _list_claims(self, table: Table, hidden_columns: tuple[str, ...] | None) -> tuple[Claim, ...]:
        """How many rows are suppressed is a loss: the cheapest cuts decide it, so it cannot be promised."""
        return (
            KAnonymity(k=self.k).claim({"starred_rows": "class" if hidden_columns is None else "suppressed"}),
            *claim_nothing_shown(hidden_columns or ()),
            claim_nobody_named(table),
            claim_nothing_untrue(),
        )


@dataclass(frozen=True)
class _OrderedColumn:
    """A column with ordered values: numbers by size, moments by the clock, others by their hierarchy or their text."""

    name: str
    codes: Codes
    """The index of each cell's value; a missing cell comes last."""
    values: tuple[str, ...]
    """The values that occur, in order."""
    numeric: bool
    domain: Domain
    missing: bool
    full_label: str
    """The label that covers every possible value of the column: the only one that discloses nothing about a missing
    cell."""

    @classmethod
    def of(cls, table: Table, name: str) -> _OrderedColumn:
        column, hierarchy = table.frame[name], table.hierarchies.get(name)
        numeric, domain = column.dtype.is_numeric(), Domain.of(column, hierarchy)
        if hierarchy is None and domain.positions is None:
            refuse_unread_dates(column, table.source)
            refuse_infinite(table, name, "which no range holds")
        order = None if hierarchy is None else hierarchy.code_leaves(column)
        known_values = column.drop_nulls().unique().sort() if numeric else _order_by_leaf(column, order)
        if domain.moments is not None:
            known_values = known_values.gather((read_positions(spell_cells(known_values))).arg_sort())
        values = spell_cells(known_values).to_list()
        codes = spell_cells(column).cast(pl.Enum(values)).to_physical().cast(pl.Int32).fill_null(len(values)).to_numpy()
        label = _label_everything(domain, numeric)
        return cls(name, codes, tuple(values), numeric, domain, bool(column.null_count()), label)

    @property
    def width(self) -> int:
        """How many values can be distinguished."""
        return len(self.values) + self.missing

    def label(self, begin: int, end: int) -> str | None:
        """The published label of the values from one index to another."""
        if end > len(self.values):
            return None if begin == len(self.values) else self.full_label
        if not self.numeric or end - begin == 1:
            return _label_words(self.domain, [self._leaves[value] for value in self.values[begin:end]])
        return format_range(_parse_number(self.values[begin]), _parse_number(self.values[end - 1]))

    @cached_property
    def _leaves(self) -> dict[str, int]:
        """The leaf of every value."""
        return {text: leaf for leaf, text in enumerate(self.domain.spellings)}


def _label_words(domain: Domain, leaves: Sequence[int]) -> str:
    """The range of several moments, and a readable label of several other texts."""
    leaf_numbers = np.array(leaves, dtype=np.int64)
    span = choose_range(domain, leaf_numbers) if domain.moments is not None and len(leaves) > 1 else None
    return (span or choose_label(domain, leaf_numbers, lambda leaves: find_covering_group(domain, leaves))).text


def _parse_number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _order_by_leaf(column: pl.Series, order: Codes | None) -> pl.Series:
    """The distinct texts of a column in the order of their leaves, or sorted."""
    texts = spell_cells(column)
    if order is None:
        return texts.drop_nulls().unique().sort()
    pairs = pl.DataFrame({"text": texts, "leaf": order}).drop_nulls().unique().sort("leaf")
    return pairs["text"]


def _label_everything(domain: Domain, numeric: bool) -> str:
    if len(domain.leaves) < 2:
        return STAR
    if numeric and domain.numbers is not None:
        return format_range(float(domain.numbers.min()), float(domain.numbers.max()))
    return _label_words(domain, range(len(domain.leaves)))


@dataclass(frozen=True)
class _ColumnPieces:
    """A column cut into pieces: the label of each piece, and the piece of each cell."""

    column: _OrderedColumn
    labels: tuple[str | None, ...]
    of_row: Codes

    @classmethod
    def of(cls, column: _OrderedColumn, cuts: Sequence[int]) -> _ColumnPieces:
        ends = [0, *cuts, column.width]
        labels = tuple(column.label(begin, end) for begin, end in pairwise(ends))
        if len(set(labels)) < len(labels):
            if column.domain.positions is None:
                refuse_unread_dates(pl.Series(column.name, column.values, dtype=pl.String), "the table")
            raise DataError(
                f'column "{column.name}": a value is spelled like a range or set of others; change its spelling'
            )
        piece = np.repeat(np.arange(len(labels), dtype=np.int32), np.diff(ends))
        return cls(column, labels, piece[column.codes])

    @property
    def whole(self) -> bool:
        """Whether every value is its own piece."""
        return len(self.labels) == self.column.width

    def publish(self, starred_mask: Flags) -> pl.Series:
        """The label of every cell."""
        places = np.where(starred_mask, len(self.labels), self.of_row)
        return pl.Series(self.column.name, [*self.labels, STAR], dtype=pl.String).gather(places)


def _count_rows_in_same_pieces(pieces: Sequence[_ColumnPieces]) -> Ints:
    """For every row, the number of rows in the same pieces."""
    frame = pl.DataFrame({str(i): piece.of_row for i, piece in enumerate(pieces)})
    return frame.select(pl.len().over(frame.columns).cast(pl.Int64)).to_series().to_numpy()


def _publish_pieces(table: Table, pieces: Sequence[_ColumnPieces], starred_mask: Flags) -> Table:
    frame = table.frame.drop(table.identifying)
    return table.replace_frame(
        frame.with_columns(piece.publish(starred_mask) for piece in pieces if starred_mask.any() or not piece.whole)
    )


def _compute_cut_losses(
    table: Table, pieces: Sequence[_ColumnPieces], sizes: Ints, k: int, labels: Codes | None
) -> dict[str, Number]:
    starred_mask = sizes < k
    suppressed_count = int(starred_mask.sum())
    classes = _count_piece_classes(pieces, starred_mask)
    losses: dict[str, Number] = {
        "loss": _compute_piece_loss(table, pieces, starred_mask),
        "discernibility": int(sizes[~starred_mask].sum()) + suppressed_count * len(sizes),
        "height": 0,
        "average_class_size": (len(sizes) - suppressed_count) / classes,
        "suppressed_rows": suppressed_count,
    }
    if labels is not None:
        losses["classification"] = suppressed_count + _count_minority_rows(pieces, starred_mask, labels)
    return losses


def _count_piece_classes(pieces: Sequence[_ColumnPieces], starred_mask: Flags) -> int:
    return pl.DataFrame({str(i): piece.of_row[~starred_mask] for i, piece in enumerate(pieces)}).n_unique()


def _count_minority_rows(pieces: Sequence[_ColumnPieces], starred_mask: Flags, labels: Codes) -> int:
    """Published rows that do not have the most common target of their class."""
    frame = pl.DataFrame({str(i): piece.of_row[~starred_mask] for i, piece in enumerate(pieces)})
    counts = frame.with_columns(pl.Series("label", labels[~starred_mask])).group_by(pl.all()).len()
    return int(frame.height - counts.group_by(frame.columns).agg(pl.col("len").max())["len"].sum())


def _compute_piece_loss(table: Table, pieces: Sequence[_ColumnPieces], starred_mask: Flags) -> float:
    """The mean over quasi-identifying cells of the share of leaves lost; a suppressed cell loses all."""
    total_loss = 0.0
    for piece in pieces:
        domain = Domain.of(table.frame[piece.column.name], table.hierarchies.get(piece.column.name))
        counts = np.bincount(piece.of_row[~starred_mask], minlength=len(piece.labels))
        total_loss += float(counts @ domain.measure_losses(piece.labels)) + int(starred_mask.sum())
    return total_loss / (len(starred_mask) * len(pieces))


def _collect_cut_details(
    pieces: Sequence[_ColumnPieces], best: BestCuts, row_numbers: Ints, starred_mask: Flags
) -> AnonymityDetails:
    return AnonymityDetails(
        pieces={piece.column.name: piece.labels for piece in pieces},
        rows=row_numbers,
        suppressed=row_numbers[starred_mask],
        classes=_count_piece_classes(pieces, starred_mask),
        objective=best.objective,
        bound=best.bound,
        proven=best.proven,
        examined_nodes=best.examined_count,
        seconds=best.seconds,
    )
