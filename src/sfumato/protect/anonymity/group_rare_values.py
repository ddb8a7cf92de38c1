# SPDX-License-Identifier: MIT
"""Rare values under one label: publish every value that few rows have as the same word.

Against an adversary who recognizes someone by a rare category: the only judge, the only patient with a disease. What
leaks: the label, the values that many rows have, and that none of these is the value of a row with the label.
Hundepool et al., *Statistical Disclosure Control* (2012), section 3.6, where it is called global recoding.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from sfumato.change import ChangeKind, state_changes
from sfumato.data.cells.coded_cells import count_cells
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.details import AnonymityDetails
from sfumato.errors import DataError, ImpossibleRelease, count_noun, quote_names
from sfumato.protect.claims import claim_nobody_named, claim_others_kept, claim_with_originals
from sfumato.protect.footprint import Footprint, trace_columns
from sfumato.protect.method import Method
from sfumato.protect.named_columns import refuse_unpublished
from sfumato.randomness import Randomness
from sfumato.release import Claim, Release
from sfumato.table import Table


class GroupRareValues(Method):
    """Publish every value that fewer than `min_count` rows have as one label.

    Guarantee: whatever a published cell of the columns holds, at least `min_count` rows hold the same. An empty cell
    counts as a value. Against: an adversary who knows that someone has a rare value, and looks for it. Limits: each
    column is looked at alone, and common values may single people out together: this is not k-anonymity; it is known of
    a row with the label that its value is none of the others. Papers: Hundepool et al. 2012.
    """

    truthful: ClassVar[bool] = False  # no hierarchy says what the label covers
    iso_20889: ClassVar[str] = "generalization"
    threshold_fields: ClassVar[Mapping[str, str]] = {"rows_with_each_value": "min_count"}
    file_claims: ClassVar[frozenset[str]] = frozenset({"rows_with_each_value"})
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "min_count", "label")
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    method: Literal["group_rare_values"] = "group_rare_values"
    columns: tuple[str, ...] = Field(min_length=1)
    """The columns of categories whose rare values are grouped."""
    min_count: int = Field(default=10, ge=2, strict=True)
    """The smallest number of rows that have a published value."""
    label: str = Field(default="other", min_length=1)
    """What is published instead of a rare value."""

    @field_validator("columns", mode="before")
    @classmethod
    def _wrap_single_name(cls, names: Any) -> Any:
        return (names,) if isinstance(names, str) else names

    @field_validator("label")
    @classmethod
    def _refuse_signs(cls, label: str) -> str:
        if label != label.strip() or label == "*" or not label.isprintable():
            raise ValueError('must be a word, without spaces around it, and not "*", which marks suppressed rows')
        return label

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Each column is grouped, even if no value is rare."""
        return dict.fromkeys(parameters["columns"], ChangeKind.GROUPED)

    def footprint(self, data: Table) -> Footprint:
        """The grouped columns."""
        return trace_columns(self.columns)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Choose the values of each column that share the label, and write it in their place."""
        self._refuse_unfit(data)
        names = tuple(dict.fromkeys(self.columns))
        grouped_columns = [self._group_column(data.frame[name]) for name in names]
        frame = data.frame.drop(data.identifying).with_columns(grouped_columns)
        differs = [int(spell_cells(data.frame[name]).ne_missing(spell_cells(frame[name])).sum()) for name in names]
        published_table = data.replace_frame(frame)
        return Release(
            data=published_table,
            method=self,
            claims=self.state_claims(data),
            losses={"loss": sum(differs) / (len(data) * len(names)), "grouped_cells": sum(differs)},
            details=AnonymityDetails(rows=np.arange(len(data), dtype=np.int64)),
            changes=state_changes(self, data, published_table, dict.fromkeys(names, ChangeKind.GROUPED)),
        )

    def _refuse_unfit(self, table: Table) -> None:
        refuse_unpublished(table, self.columns)
        for name in self.columns:
            kind = table.frame[name].dtype
            if not (kind.is_integer() or kind in (pl.String, pl.Boolean, pl.Categorical, pl.Enum)):
                raise DataError(
                    f'{table.source}: the column "{name}" has no categories; for numbers and dates, use top_code, '
                    "generalize or partition"
                )
        if len(table) < self.min_count:
            raise ImpossibleRelease(
                f"{table.source}: {count_noun(len(table), 'row is', 'rows are')} fewer than {self.min_count}; "
                + ("lower min_count" if len(table) > 1 else "add rows, since min_count is at least 2")
            )

    def _group_column(self, column: pl.Series) -> pl.Series:
        """The column with the label in place of values in the group; a column without rare values stays as it is."""
        cells = spell_cells(column)
        values, counts = count_cells(cells)
        group = choose_group(values.to_list(), counts.tolist(), self.min_count, self.label)
        if not group:
            return column
        group_mask = cells.is_in([value for value in group if value is not None]).fill_null(None in group)
        return pl.repeat(self.label, len(cells), eager=True).zip_with(group_mask, cells).alias(column.name)

    def state_claims(self, table: Table) -> tuple[Claim, ...]:
        """All claims."""
        names = tuple(dict.fromkeys(self.columns))
        arguments = {"columns": names}
        columns_text = quote_names(names)
        return (
            claim_frequent_values(names, self.min_count),
            claim_with_originals(
                "cells_grouped_wrongly",
                0,
                "exactly",
                {**arguments, "label": self.label},
                f'Every cell of {columns_text} is the original, or "{self.label}" if its original is not published.',
            ),
            claim_others_kept(table, names),
            claim_nobody_named(table),
        )


def claim_frequent_values(names: Sequence[str], min_count: int) -> Claim:
    """Enough rows have every value that is published in some columns."""
    return Claim(
        property="rows_with_each_value",
        threshold=min_count,
        measure="rows_with_each_value",
        arguments={"columns": tuple(names)},
        meaning=f"Every value published in {quote_names(names)} occurs in at least {min_count} rows.",
    )


def choose_group(values: list[str | None], counts: list[int], least: int, label: str) -> Collection[str | None]:
    """The values that share the label: rare ones and, while they are too few rows, the next rarest; empty if none is.

    A label that few rows have would tell as much about them as their values. A missing cell is a value like another.
    """
    pairs = list(zip(values, counts, strict=True))
    size = sum(count for value, count in pairs if value == label)
    rest = sorted((count, value is None, value or "") for value, count in pairs if value != label)
    group: list[str | None] = []
    if all(count >= least for count, *_ in rest) and (size == 0 or size >= least):
        return group
    for count, missing, value in rest:
        if count >= least and size >= least:
            break
        group.append(None if missing else value)
        size += count
    return group
