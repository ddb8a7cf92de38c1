# SPDX-License-Identifier: MIT
"""A plan for stored rows that publishes every row: what a method says about its release, without the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfumato.change import Change
from sfumato.details import Details
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import spell_coded_columns
from sfumato.protect.stored_plan import NumberedRows
from sfumato.release import Claim, Number, Release
from sfumato.suppression import Suppression
from sfumato.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class RowwisePlan(ABC):
    """What is published of each row, whatever the others are; a `StoredPlan`."""

    table: StoredTable
    release: Release
    """What is claimed, stated and lost; its table has no rows."""

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only what a worker needs to publish rows."""
        return {**self.__dict__, "release": Release(None, None, (), {})}

    @abstractmethod
    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """What is published of some rows."""

    def publish_coded(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The same of rows in which repeated texts may be numbers."""
        return self.publish(spell_coded_columns(rows), first)

    def publish_numbered(self, rows: pl.DataFrame, first: int = 0) -> NumberedRows:
        """The published rows, which are all of them."""
        return NumberedRows(self.publish_coded(rows, first), pl.Series("row", np.arange(rows.height)))

    @property
    def leaves_rows_out(self) -> bool:
        """Every row is published."""
        return False

    @property
    def outline(self) -> Table:
        """The published table without its rows."""
        outline: Table = self.release.data
        return outline

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the method claims, which equals its claims in memory."""
        return self.release.claims

    @property
    def losses(self) -> Mapping[str, Number]:
        """What an analyst loses, which equals the losses in memory."""
        return self.release.losses

    @property
    def details(self) -> Details:
        """The decisions of the method, without the original row of each published row."""
        return self.release.details

    @property
    def changes(self) -> tuple[Change, ...]:
        """What was done to each column, stated as in memory."""
        return self.release.changes

    @property
    def suppression(self) -> Suppression:
        """What was done with suppressed rows, stated as in memory."""
        return self.release.suppression
