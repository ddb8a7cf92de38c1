# SPDX-License-Identifier: MIT
"""What is published of suppressed rows. Everybody can see them, so they are a class like any other.

Five rows of stars that all have the same disease tell it of each of five people who fit no other class. To empty their
sensitive cells only in such a case would tell it, too: each of the five knows the value of the other four. So these
cells are always empty under a model about sensitive values; under others, which count rows, if the rows are too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from sfumato.arrays import Flags
from sfumato.change import Change, ChangeKind
from sfumato.protect.anonymity.models.model import PrivacyModel
from sfumato.release import Claim
from sfumato.suppression import SuppressedRows, Suppression
from sfumato.table import Missing, Table


def list_hidden_columns(table: Table, models: Iterable[PrivacyModel]) -> tuple[str, ...]:
    """The columns that are empty in suppressed rows: all sensitive ones, and those that models judge."""
    judged_columns = [name for model in models for name in model.list_columns()]
    return tuple(
        name for name in dict.fromkeys((*table.sensitive, *judged_columns)) if name not in table.quasi_identifying
    )


def blank_rows(frame: pl.DataFrame, rows: Flags, columns: Sequence[str]) -> pl.DataFrame:
    """The frame with empty cells in some rows of some columns."""
    shown_mask = pl.Series(~rows)
    return frame.with_columns(pl.when(shown_mask).then(pl.col(name)).alias(name) for name in columns)


def state_blanked(changes: Iterable[Change], columns: Sequence[str]) -> tuple[Change, ...]:
    """Statements about all columns, in which some have blanked cells."""
    return tuple(replace(change, kind=ChangeKind.BLANKED) if change.column in columns else change for change in changes)


def state_suppression(
    table: Table,
    row_count: int,
    hidden_columns: Sequence[str] | None,
    *,
    is_left_out: bool = False,
    starred_count: int = 0,
) -> Suppression:
    """The statement about suppressed rows in which these columns are empty; None if they are a class like any other."""
    kind = SuppressedRows.TOGETHER
    if is_left_out or not row_count:
        kind = SuppressedRows.NONE
    elif hidden_columns is not None:
        kind = SuppressedRows.EMPTY if hidden_columns else SuppressedRows.APART
    return Suppression(kind, row_count, starred_count, drops_missing=table.missing is Missing.DROP)


def claim_nothing_shown(columns: tuple[str, ...]) -> tuple[Claim, ...]:
    """Nothing sensitive is published of suppressed rows; no claim if there is no such column."""
    if not columns:
        return ()
    return (
        Claim(
            property="shown_in_suppressed",
            threshold=0,
            bound="exactly",
            measure="shown_in_suppressed",
            arguments={"columns": columns},
            meaning="Suppressed rows have no sensitive value: those cells are empty.",
        ),
    )


def claim_about_all_rows(claim: Claim) -> Claim:
    """A claim that compares classes with the whole table, parts of which only the originals tell."""
    return claim.model_copy(update={"measure": f"{claim.measure}_with_originals", "needs_original": True})
