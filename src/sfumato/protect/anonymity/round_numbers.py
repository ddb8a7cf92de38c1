# SPDX-License-Identifier: MIT
"""Rounded numbers: publish the nearest multiple of a step instead of each number.

Against an adversary who knows an exact number of someone, such as a wage, and looks for it. What leaks: the step, and
of each number the interval, as wide as the step, in which it lies. Hundepool et al., *Statistical Disclosure Control*
(2012).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, field_validator

from sfumato.change import ChangeKind, state_changes
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.details import AnonymityDetails
from sfumato.errors import DataError, PolicyError, count_noun, quote_names
from sfumato.protect.claims import claim_nobody_named, claim_others_kept, claim_with_originals, simplify_number
from sfumato.protect.footprint import Footprint, trace_columns
from sfumato.protect.method import Method
from sfumato.protect.named_columns import explain_no_numbers, refuse_unpublished
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.table import Table

_MOST_STEPS = 10**15
"""Beyond as many steps from zero, a stored number is too coarse to be rounded."""


class RoundNumbers(Method):
    """Publish the nearest multiple of `step` instead of every number of some columns.

    Guarantee: every published number of the columns is a multiple of the step, and is at most half a step from the true
    one. Against: an adversary who knows someone's exact number, and looks for it. Limits: who knows the number knows
    its multiple, which few rows or one may have, and several columns single people out together: this is not
    k-anonymity; everybody learns each number to within half a step. Papers: Hundepool et al. 2012.
    """

    truthful: ClassVar[bool] = False
    iso_20889: ClassVar[str] = "generalization (rounding)"
    file_claims: ClassVar[frozenset[str]] = frozenset({"numbers_between_steps"})
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "step")
    column_fields: ClassVar[tuple[str, ...]] = ("columns",)

    method: Literal["round_numbers"] = "round_numbers"
    columns: tuple[str, ...] = Field(min_length=1)
    """The columns of numbers to round."""
    step: float = Field(ge=1e-9, le=1e12)
    """What every published number is a multiple of, such as 5 or 0.5."""

    @field_validator("columns", mode="before")
    @classmethod
    def _wrap_single_name(cls, names: Any) -> Any:
        return (names,) if isinstance(names, str) else names

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Each column is rounded."""
        return dict.fromkeys(parameters["columns"], ChangeKind.ROUNDED)

    def footprint(self, data: Table) -> Footprint:
        """The rounded columns."""
        return trace_columns(self.columns)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Round each column."""
        names = tuple(dict.fromkeys(self.columns))
        self._refuse_unfit(data, names)
        rounded_columns = [round_column(data.frame[name], self.step) for name in names]
        published_table = data.replace_frame(data.frame.drop(data.identifying).with_columns(rounded_columns))
        changed_count = sum(
            int(spell_cells(data.frame[column.name]).ne_missing(spell_cells(column)).sum())
            for column in rounded_columns
        )
        known_count = sum(column.count() for column in rounded_columns)
        return Release(
            data=published_table,
            method=self,
            claims=self.state_claims(data),
            losses={"loss": changed_count / known_count if known_count else 0.0, "rounded_cells": changed_count},
            details=AnonymityDetails(rows=np.arange(len(data), dtype=np.int64)),
            changes=state_changes(self, data, published_table, dict.fromkeys(names, ChangeKind.ROUNDED)),
        )

    def _refuse_unfit(self, table: Table, names: Iterable[str]) -> None:
        if not len(table):
            raise DataError(f"{table.source}: the table has no rows")
        refuse_unpublished(table, self.columns)
        for name in names:
            column = table.frame[name]
            if not (column.dtype.is_integer() or column.dtype.is_float()):
                cure = "for dates and categories, use generalize or partition"
                raise explain_no_numbers(table, name, "rounded", cure)
            if column.dtype.is_integer() and self.step <= 1:
                raise PolicyError(
                    f'{table.source}: "{name}" has whole numbers, which a step of 1 or less does not hide; raise step'
                )
            numbers = column.drop_nulls().cast(pl.Float64).abs()
            large = int((~(numbers < _MOST_STEPS * min(self.step, 1.0))).sum())
            if large:
                raise DataError(
                    f'{table.source}: {count_noun(large, "row")} of "{name}" {"has" if large == 1 else "have"} numbers '
                    "too large for this step; raise step, or mark them missing"
                )

    def state_claims(self, table: Table) -> tuple[Claim, ...]:
        """All claims."""
        names = tuple(dict.fromkeys(self.columns))
        columns_text, step, half = quote_names(names), simplify_number(self.step), simplify_number(self.step / 2)
        return (
            claim_multiples(names, step),
            claim_with_originals(
                "largest_rounding",
                half,
                "at_most",
                {"columns": names},
                f"Every published number of {columns_text} is at most {half} from the true one.",
            ),
            claim_others_kept(table, names),
            claim_nobody_named(table),
        )


def claim_multiples(names: Sequence[str], step: Number) -> Claim:
    """Every published number of some columns is a multiple of the step."""
    return Claim(
        property="numbers_between_steps",
        threshold=0,
        bound="exactly",
        measure="numbers_between_steps",
        arguments={"columns": tuple(names), "step": step},
        meaning=f"Every published number of {quote_names(names)} is a multiple of {step}.",
    )


def round_column(column: pl.Series, step: float) -> pl.Series:
    """The nearest multiple of the step to each number, of two the larger; a missing cell stays missing.

    A multiple of 0.1 is a whole number divided by 10, so that 0.3 is spelled as such; polars would multiply by a tenth.
    Whether cells are whole follows from the step alone: one person's decimal must not make a column decimal.
    """
    exact = Fraction(repr(step))
    numerator, denominator = float(exact.numerator), float(exact.denominator)
    multiples = np.floor(column.cast(pl.Float64).to_numpy() * denominator / numerator + 0.5)
    rounded_numbers = pl.Series(column.name, multiples * numerator / denominator, nan_to_null=True)
    return rounded_numbers.cast(pl.Int64 if exact.denominator == 1 else pl.Float64)
