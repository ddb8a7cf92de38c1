# SPDX-License-Identifier: MIT
"""Top coding of a table that stays where it is: limits from counted numbers, then some rows at a time.

A limit is a number of a certain rank, which follows from how often each number occurs. So limits, claims and losses
equal those of the in-memory method; each cell is clipped independently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.engine.memory_budget import find_memory_budget
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import DataError
from sfumato.protect.anonymity.top_code import KnownNumbers, Limits, TopCode
from sfumato.protect.rowwise_plan import RowwisePlan
from sfumato.protect.stored_method import StoredTableMethod
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress

_BYTES_A_NUMBER = 64
"""What it takes to count a number, sort it and clip it."""
_FEWEST = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class TopCodePlan(RowwisePlan):
    """The limits of each column, chosen before any row is written."""

    limits: Mapping[str, Limits]

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The rows with their numbers clipped."""
        coded_columns = [limits.clip(rows[name]) for name, limits in self.limits.items()]
        return rows.drop(self.table.outline.identifying, strict=False).with_columns(coded_columns)


class StoredTopCode(StoredTableMethod[TopCode]):
    """All of top coding."""

    runs = "top_code"

    def plan(self, method: TopCode, table: StoredTable, randomness: Randomness) -> TopCodePlan:
        """Choose the limits of each column by its counted numbers; nothing is drawn."""
        outline = table.outline
        method.refuse_unfit(outline, len(table))
        limits: dict[str, Limits] = {}
        coded_count = known_rows = 0
        for name in dict.fromkeys(method.columns):
            report_progress("choosing limits", len(limits), len(method.columns))
            known_numbers = _count_numbers(table, name)
            limits[name] = method.choose_limits(known_numbers, table.source, name)
            coded_count += known_numbers.count_coded(limits[name])
            known_rows += known_numbers.rows
        losses = {"loss": coded_count / known_rows, "coded_cells": coded_count}
        empty = outline.frame.drop(outline.identifying)
        published_table = outline.replace_frame(empty.with_columns(limits[name].clip(empty[name]) for name in limits))
        return TopCodePlan(table, method.describe_release(outline, published_table, limits, losses), limits)


def _count_numbers(table: StoredTable, name: str) -> KnownNumbers:
    """The numbers of a column, each once, and how often they occur; refused if memory cannot hold them."""
    most = max(find_memory_budget() // 2 // _BYTES_A_NUMBER, _FEWEST)
    if (count := table.rows.count_values(name)) > most:
        raise DataError(
            f'{table.source}: the column "{name}" has {count:,} different numbers, and memory holds {most:,}; set '
            "SFUMATO_MEMORY higher, or round the column before"
        )
    row_counts = table.rows.count_rows([name])
    known_mask = row_counts.frame[name].is_not_null()
    return KnownNumbers(row_counts.frame[name].filter(known_mask), np.cumsum(row_counts.counts[known_mask.to_numpy()]))
