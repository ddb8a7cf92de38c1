# SPDX-License-Identifier: MIT
"""What a method decides about a table that stays where it is, and which methods decide it.

A method runs on stored rows if its tag is in `STORED_METHODS`, which names a module beside the method's own. It has
`explain_unstored(method)`, which says what of these parameters cannot run, and `plan_stored(method, table,
randomness)`, which gives a `StoredPlan`. Everything else, from writing to the certificate, follows from the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import polars as pl

from sfumato.change import Change
from sfumato.details import Details
from sfumato.engine.stored_table import StoredTable
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number
from sfumato.table import Table


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

    def publish(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """What is published of some rows, in their order; `first` is the number of the first of them in the table.

        The same rows at the same place give the same, however the table is cut into batches and however often it is
        asked.
        """

    def publish_coded(self, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        """The same of rows in which repeated texts may be numbers (`engine.coded_columns`), and so may be published."""

    def publish_numbered(self, rows: pl.DataFrame, first: int = 0) -> tuple[pl.DataFrame, pl.Series]:
        """The published rows, and which of the given ones they are, counted from 0."""


class StoredMethod(NamedTuple):
    """A method that runs on stored rows."""

    module: str
    """Where it is planned."""
    words: str
    """What of it runs, for errors."""


STORED_METHODS: Mapping[str, StoredMethod] = {
    "generalize": StoredMethod("sfumato.protect.anonymity.stored_generalize", "generalize with global recoding"),
    "partition": StoredMethod("sfumato.protect.anonymity.stored_partition", "partition"),
    "suppress_entries": StoredMethod(
        "sfumato.protect.entries.stored_suppress_entries", "suppress_entries against rules"
    ),
    "top_code": StoredMethod("sfumato.protect.anonymity.stored_top_code", "top_code"),
    "add_noise": StoredMethod("sfumato.protect.noise.stored_add_noise", "add_noise in columns of their own"),
    "randomize_response": StoredMethod(
        "sfumato.protect.answers.stored_randomize_response", "randomize_response drawn afresh"
    ),
}
"""By tag, the methods that run on stored rows."""


def explain_unstored(method: Method) -> str | None:
    """What of a method does not run on stored rows; None if it runs."""
    known = STORED_METHODS.get(_get_tag(method))
    if known is None:
        return _get_tag(method)
    reason: str | None = import_module(known.module).explain_unstored(method)
    return reason


def plan_stored(method: Method, table: StoredTable, randomness: Randomness) -> StoredPlan:
    """Decide what is published of each row."""
    plan: StoredPlan = import_module(STORED_METHODS[_get_tag(method)].module).plan_stored(method, table, randomness)
    return plan


def _get_tag(method: Any) -> str:
    return str(method.method)
