# SPDX-License-Identifier: MIT
"""What a method decides about a table that stays where it is (`stored_method.py`), before any row is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import polars as pl

from sfumato.change import Change
from sfumato.details import Details
from sfumato.engine.stored_table import StoredTable
from sfumato.release import Claim, Number
from sfumato.suppression import Suppression
from sfumato.table import Table


class NumberedRows(NamedTuple):
    """Published rows, and which of the given ones they are, counted from 0."""

    frame: pl.DataFrame
    row_numbers: pl.Series


class StoredPlan(Protocol):
    """What is published of each row, decided before any row is written; claimed, stated and lost as in memory."""

    @property
    def table(self) -> StoredTable:
        """The originals."""

    @property
    def outline(self) -> Table:
        """The published table without its rows."""

    @property
    def leaves_rows_out(self) -> bool:
        """Whether some rows are not published."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What is promised."""

    @property
    def losses(self) -> Mapping[str, Number]:
        """What an analyst loses."""

    @property
    def details(self) -> Details:
        """The decisions, which stay private."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """What was done to each column."""

    @property
    def suppression(self) -> Suppression:
        """What was done with suppressed rows."""

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """What is published of some rows, in their order; `first` is the number of the first of them in the table.

        The same rows at the same place give the same, however the table is cut into batches and however often it is
        asked.
        """

    def publish_coded(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The same of rows in which repeated texts may be numbers (`engine.coded_columns`), and so may be published."""

    def publish_numbered(self, rows: pl.DataFrame, first: int = 0) -> NumberedRows:
        """The published rows, and which of the given ones they are, counted from 0."""
