# SPDX-License-Identifier: MIT
"""Microaggregation: group similar people and publish each group's centre for all of them.

Against an adversary who knows someone's quasi-identifying values. Cells are no longer true of anybody, but sums and
means over groups are preserved. What leaks: the centre of every group, and everything that its members share. MDAV as
in Domingo-Ferrer and Torra, *Ordinal, continuous and heterogeneous k-anonymity through microaggregation* (2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Codes, Floats, Ints
from sfumato.change import ChangeKind, state_changes
from sfumato.data.cells.moments_in_text import UtcSpelling, find_utc_spelling
from sfumato.data.cells.unread_dates import refuse_unread_dates
from sfumato.details import AnonymityDetails
from sfumato.engine.classes import count_class_sizes
from sfumato.errors import DataError, PolicyError, count_noun, quote_names
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.models.model_promises import list_model_promises
from sfumato.protect.anonymity.participants import refuse_too_few, select_participants
from sfumato.protect.claims import claim_no_suppression, claim_nobody_named, claim_others_kept
from sfumato.protect.footprint import Footprint, trace_classes
from sfumato.protect.method import Method
from sfumato.protect.named_columns import refuse_infinite, refuse_unpublished
from sfumato.protect.number_spelling import NumberSpelling
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress
from sfumato.suppression import Suppression
from sfumato.table import Missing, Table

Centre = Literal["mean", "median"]

MOST_AT_ONCE = 50_000
"""Up to this many rows `auto` runs MDAV over the whole table: about a second."""
BLOCK = 8_192
"""The largest number of rows that the fast search groups together, unless k is large."""
_CHUNK = 200_000_000
_DIGITS = 6


class Microaggregate(Method):
    """Publish for every person the mean (or median) and the most common categories of a group of k or more.

    Guarantee: every published row shares its quasi-identifying values with at least k − 1 others: all of them are
    aggregated together. Against: an adversary who knows a person's quasi-identifying values, and that the person is in
    the table, and looks for the row (the prosecutor). Limits: groups have k to 2k − 1 rows; published cells are
    centres, which are not true of most people, and a mode or a median is someone's own; groups are good,
    not optimal (optimal ones are NP-hard to find); a group of equal values publishes them; sensitive values are
    published unchanged, so an adversary learns what all members of a group have in common. Papers: Domingo-Ferrer,
    Mateo-Sanz 2002; Domingo-Ferrer, Torra 2005.
    """

    truthful: ClassVar[bool] = False
    iso_20889: ClassVar[str] = "microaggregation"
    hides_in_crowds: ClassVar[bool] = True
    change_kinds: ClassVar[frozenset[ChangeKind]] = frozenset({ChangeKind.MEANS})
    public_fields: ClassVar[tuple[str, ...]] = ("k", "columns", "search", "centre")
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    method: Literal["microaggregate"] = "microaggregate"
    k: int = Field(ge=1, strict=True)
    """The smallest number of rows in a group."""
    columns: tuple[str, ...] | None = None
    """What is microaggregated together: at least all quasi-identifying columns, and by default only those."""
    search: Literal["auto", "mdav", "fast"] = "auto"
    """`mdav` over the whole table; `fast` over blocks of neighbours; `auto` is MDAV up to 50,000 rows."""
    centre: Centre = "mean"
    """What a group publishes for its numbers: the mean, or the lower median, which is a value that occurs."""

    @classmethod
    def list_promises(cls, parameters: Mapping[str, Any]) -> tuple[Claim, ...]:
        """k-anonymity."""
        return list_model_promises([{"model": "k_anonymity", "k": parameters["k"]}] if "k" in parameters else [])

    @classmethod
    def list_certain_claims(cls, parameters: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
        """It suppresses nobody."""
        return (frozenset({"suppressed_share"}),)

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Named columns are aggregated; the roles say which if none is named."""
        return None if parameters["columns"] is None else dict.fromkeys(parameters["columns"], ChangeKind.MEANS)

    def footprint(self, data: Table) -> Footprint:
        """The columns that are aggregated."""
        return trace_classes(data, further=self._choose_columns(data))

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Standardize, group, and replace every cell by its group's centre."""
        table, row_numbers = self._select_usable(data)
        refuse_too_few(table, self.k)
        report_progress("encoding the table")
        axes = [_GroupingAxis.of(table.frame[name]) for name in self._choose_columns(table)]
        groups = self._group_rows(axes, len(table))
        centres = [axis.compute_centres(groups, self.centre) for axis in axes]
        frame = table.frame.drop(table.identifying).with_columns(centres)
        sse = sum(axis.compute_error(centre) for axis, centre in zip(axes, centres, strict=True))
        published_table = table.replace_frame(frame)
        sizes = count_class_sizes(frame, table.quasi_identifying)
        return Release(
            data=published_table,
            method=self,
            claims=self._list_claims(table),
            losses=_compute_group_losses(sse, sum(axis.total for axis in axes), sizes)
            | {"dropped_rows": len(data) - len(table)},
            details=AnonymityDetails(
                rows=row_numbers,
                suppressed=np.zeros(0, dtype=np.int64),
                group_of_row=groups,
                groups=int(groups.max()) + 1,
                classes=len(sizes),
                objective=sse,
                proven=False,
            ),
            changes=state_changes(
                self, table, published_table, dict.fromkeys(self._choose_columns(table), ChangeKind.MEANS)
            ),
            suppression=Suppression(drops_missing=table.missing is Missing.DROP),
        )

    def _choose_columns(self, table: Table) -> tuple[str, ...]:
        """The columns that are aggregated; raise an error if one that an adversary knows would stay unchanged."""
        column_names = table.quasi_identifying if self.columns is None else tuple(dict.fromkeys(self.columns))
        refuse_unpublished(table, column_names)
        unchanged_names = [name for name in table.quasi_identifying if name not in column_names]
        if unchanged_names:
            raise PolicyError(
                f"{table.source}: {quote_names(unchanged_names)} would stay unchanged, and then groups of {self.k} "
                "hide nobody; microaggregate all quasi_identifying columns together, or give those another role"
            )
        return column_names

    def _select_usable(self, table: Table) -> tuple[Table, Ints]:
        """The rows that take part, and their row numbers; rows with missing numbers have no distance."""
        names = self._choose_columns(table)
        usable, rows = select_participants(table, names, can_overlap=True)
        for name in names:
            _refuse_unfit_column(usable, name)
        return usable, rows

    def _group_rows(self, axes: Sequence[_GroupingAxis], rows: int) -> Codes:
        whole = self.search == "mdav" or (self.search == "auto" and rows <= MOST_AT_ONCE)
        numbers = [axis.standard_scores for axis in axes if axis.categories is None]
        codes = [axis.codes for axis in axes if axis.categories is not None]
        return cluster_rows(numbers, codes, self.k, rows if whole else max(BLOCK, 16 * self.k))

    def _list_claims(self, table: Table) -> tuple[Claim, ...]:
        return (
            KAnonymity(k=self.k).claim({"starred_rows": "class"}),
            claim_no_suppression(),
            claim_others_kept(table, self._choose_columns(table)),
            claim_nobody_named(table),
        )


_LARGEST = 1e150
"""The squares of larger numbers are infinite."""


@dataclass(frozen=True)
class _GroupingAxis:
    """One dimension of the space in which rows are grouped: standardized numbers, or categories."""

    column: pl.Series
    codes: Codes
    """The number of each cell's category, missing last; empty for numbers."""
    categories: pl.Series | None
    numbers: Floats
    spelling: NumberSpelling | UtcSpelling | None
    """How a column of text spells dates or times; None for any other column."""
    deviation: float
    total: float
    """The error if everybody were in one group."""

    @classmethod
    def of(cls, column: pl.Series) -> _GroupingAxis:
        spelling = _find_time_spelling(column)
        if _is_number_or_date(column):
            plain = column.to_physical() if spelling is None else spelling.read(column)
            numbers = plain.cast(pl.Float64).to_numpy()
            deviation = float(numbers.std())
            # Rounding residue of equal numbers is not spread.
            spread = deviation > 1e-12 * float(np.abs(numbers).max())
            scale = deviation if spread else 1.0
            total = float(len(numbers)) if spread else 0.0
            return cls(column, np.zeros(0, np.int32), None, numbers, spelling, scale, total)
        known_values = column.drop_nulls().unique().sort()
        value_codes = pl.DataFrame({"value": known_values}).with_row_index("code")
        codes = pl.DataFrame({"value": column}).join(value_codes, on="value", how="left", maintain_order="left")["code"]
        cell_codes = np.array(codes.cast(pl.Int32).fill_null(len(known_values)).to_numpy())
        total = len(column) - int(np.bincount(cell_codes).max())
        categories = pl.concat([known_values, pl.Series(known_values.name, [None], dtype=known_values.dtype)])
        return cls(column, cell_codes, categories, np.zeros(0), None, 1.0, float(total))

    @property
    def standard_scores(self) -> Floats:
        """The numbers with mean 0 and deviation 1."""
        standard_scores: Floats = (self.numbers - self.numbers.mean()) / self.deviation
        return standard_scores

    def compute_centres(self, groups: Codes, centre: Centre) -> pl.Series:
        """For every row, its group's mean, median or most common category."""
        if self.categories is not None:
            return self.categories.gather(_find_modes(groups, self.codes)[groups]).alias(self.column.name)
        if not self.total:
            return self.column
        if centre == "median":
            return self.column.gather(_find_medians(groups, self.numbers)[groups])
        means = np.bincount(groups, self.numbers) / np.bincount(groups)
        if self.spelling is not None:
            return self.spelling.write(pl.Series(np.rint(means).astype(np.int64)))[groups].alias(self.column.name)
        if self.column.dtype == pl.Date:
            return pl.Series(self.column.name, np.rint(means)[groups].astype(np.int32)).cast(pl.Date)
        # Six digits finer than the spread: finer ones carry no information and are long to write.
        digits = int(np.clip(_DIGITS - np.floor(np.log10(self.deviation)), 0, 15))
        return pl.Series(self.column.name, np.round(means, digits)[groups])

    def compute_error(self, centres: pl.Series) -> float:
        """Σ (cell − centre)² in standard deviations; for categories, the cells that changed."""
        if self.categories is not None:
            return float((~self.column.eq_missing(centres)).sum())
        plain = centres.to_physical() if self.spelling is None else self.spelling.read(centres)
        gaps = (self.numbers - plain.cast(pl.Float64).to_numpy()) / self.deviation
        return float(gaps @ gaps)


def _is_number_or_date(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype == pl.Date or _find_time_spelling(column) is not None


def _find_time_spelling(column: pl.Series) -> NumberSpelling | UtcSpelling | None:
    """How a column of text spells dates, timestamps or times of day; None for any other column."""
    spelling = NumberSpelling.of(column)
    if spelling is None:
        return find_utc_spelling(column)
    return spelling if spelling.kind != "decimal" else None


def _refuse_unfit_column(table: Table, name: str) -> None:
    column = table.frame[name]
    missing = column.null_count()
    if not _is_number_or_date(column):
        refuse_unread_dates(column, table.source)
    if missing and (_is_number_or_date(column) or table.missing is not Missing.OWN_VALUE):
        raise DataError(
            f'{table.source}: the column "{name}" has '
            f"{count_noun(missing, 'missing cell, which has', 'missing cells, which have')} no distance to others; use "
            "missing = drop, fill them, or, for categories, missing = own_value"
        )
    refuse_infinite(table, name, "which have no mean")
    large_count = int((column.abs() > _LARGEST).sum()) if column.dtype.is_float() else 0
    if large_count:
        raise DataError(
            f'{table.source}: the column "{name}" has numbers beyond 1e150 in {count_noun(large_count, "row")}, whose '
            "distances cannot be computed; mark them missing"
        )


def cluster_rows(numbers: Sequence[Floats], codes: Sequence[Codes], k: int, block: int) -> Codes:
    """The group of every row: MDAV inside blocks of neighbours, one block if they all fit."""
    from sfumato.kernels.anonymity.microaggregate import GROUPS, ROWS_LEFT, MixedSpace, group_by_mdav

    rows = len((numbers or codes)[0])
    points = np.array(numbers, dtype=np.float64).reshape(len(numbers), rows)
    marks = np.array(codes, dtype=np.int32).reshape(len(codes), rows)
    start = np.cumsum([0, *(int(column.max()) + 1 for column in codes)]).astype(np.int64)
    groups = np.zeros(rows, dtype=np.int32)
    state = np.zeros(2, dtype=np.int64)
    grouped_count = 0
    for members in _halve_into_blocks(points, marks, k, block):
        block_groups = np.zeros(len(members), dtype=np.int32)
        block_rows = np.arange(len(members), dtype=np.int64)
        space = MixedSpace(points[:, members].copy(), marks[:, members].copy(), start, block_rows)
        state[ROWS_LEFT] = len(members)
        report_progress("grouping rows", grouped_count, rows)
        while not group_by_mdav(space, k, block_groups, state, _CHUNK):
            report_progress("grouping rows", grouped_count + len(members) - int(state[ROWS_LEFT]), rows)
        groups[members] = block_groups
        grouped_count += len(members)
    assert groups.max() + 1 == state[GROUPS]
    return groups


def _halve_into_blocks(points: Floats, marks: Codes, k: int, block: int) -> list[Ints]:
    """Halve the rows along their widest spread, at a multiple of k, until every block is small enough."""
    blocks, stack = [], [np.arange(points.shape[1], dtype=np.int64)]
    while stack:
        rows = stack.pop()
        if len(rows) <= block:
            blocks.append(rows)
            continue
        spread = [float(column[rows].var()) for column in points] + [
            _compute_impurity(column[rows]) for column in marks
        ]
        widest = int(np.argmax(spread))
        values = points[widest] if widest < len(points) else marks[widest - len(points)]
        # A stable sort: a faster selection would order equal values differently on each machine.
        order = rows[np.argsort(values[rows], kind="stable")]
        middle = len(rows) // 2 // k * k
        stack += [order[middle:], order[:middle]]
        report_progress("cutting into blocks", len(blocks))
    return blocks


def _compute_impurity(codes: Codes) -> float:
    """The spread of categories that have distance 1 from one another."""
    shares = np.bincount(codes) / len(codes)
    return float(1 - shares @ shares) / 2


def _find_modes(groups: Codes, codes: Codes) -> Ints:
    """The most common category of each group; ties go to the first, missing last."""
    counts = pl.DataFrame({"group": groups, "code": codes}).group_by("group", "code").len()
    ranked_counts = counts.sort("group", pl.col("len").cast(pl.Int64) * -1, "code")
    return ranked_counts.unique("group", keep="first", maintain_order=True)["code"].cast(pl.Int64).to_numpy()


def _find_medians(groups: Codes, numbers: Floats) -> Ints:
    """The row that holds the lower median of each group."""
    order = np.lexsort((numbers, groups))
    sizes = np.bincount(groups)
    begin = np.cumsum(sizes) - sizes
    middle: Ints = order[begin + (sizes - 1) // 2].astype(np.int64)
    return middle


def _compute_group_losses(sse: float, sst: float, sizes: Ints) -> dict[str, Number]:
    lost_share = sse / sst if sst else 0.0
    return {
        "loss": round(min(lost_share, 1.0), 12),
        "sse": sse,
        "sst": sst,
        "information_loss": round(lost_share, 12),
        "discernibility": int((sizes**2).sum()),
        "height": 0,
        "average_class_size": float(sizes.sum() / len(sizes)),
        "suppressed_rows": 0,
    }
