# SPDX-License-Identifier: MIT
"""What a method decides about data that stay where they are, and which methods decide it.

A method runs on stored rows if a module `stored_NAME` lies next to its own module `NAME`; nothing is registered. There,
`RUNS` says in words what of the method runs, `explain_unstored(method)` what of these parameters cannot, and
`plan_stored(method, data, randomness)` gives a `StoredPlan` of a table, or a `StoredHidingPlan` of baskets. Everything
else, from writing to the certificate, follows from the plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast, overload

import polars as pl

from sfumato.change import Change
from sfumato.details import Details
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.engine.stored_table import StoredTable
from sfumato.protect.method import Method
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number
from sfumato.runtime.lazy import find_tagged, find_tagged_class
from sfumato.suppression import Suppression
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.protect.baskets.stored_hiding import StoredHidingPlan


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


class StoredMethod(Protocol):
    """The module that plans a method on stored data."""

    RUNS: str

    def explain_unstored(self, method: Any) -> str | None:
        """What of a method does not run on stored data; None if it runs."""

    def plan_stored(self, method: Any, data: Any, randomness: Randomness) -> Any:
        """Decide what is published of each row or basket."""


def list_stored_methods(shape: str) -> tuple[str, ...]:
    """What of each method on data of a shape runs on stored data, in words."""
    tags = [tag for tag in find_tagged("method") if find_tagged_class("method", tag).shape == shape]
    planners = (_find_planner(tag) for tag in tags)
    return tuple(planner.RUNS for planner in planners if planner is not None)


def explain_unstored(method: Method) -> str | None:
    """What of a method does not run on stored data; None if it runs."""
    planner = _find_planner(_get_tag(method))
    return _get_tag(method) if planner is None else planner.explain_unstored(method)


@overload
def plan_stored(method: Method, data: StoredTable, randomness: Randomness) -> StoredPlan: ...
@overload
def plan_stored(method: Method, data: StoredBaskets, randomness: Randomness) -> StoredHidingPlan: ...
def plan_stored(method: Method, data: StoredTable | StoredBaskets, randomness: Randomness) -> Any:
    """Decide what is published of each row or basket."""
    planner = _find_planner(_get_tag(method))
    assert planner is not None, "refused before"
    return planner.plan_stored(method, data, randomness)


def _find_planner(tag: str) -> StoredMethod | None:
    """The module next to a method's own in which it is planned; None if there is none."""
    package, name = find_tagged("method")[tag][0].rsplit(".", 1)
    home = f"{package}.stored_{name}"
    return cast(StoredMethod, import_module(home)) if find_spec(home) is not None else None


def _get_tag(method: Any) -> str:
    return str(method.method)
