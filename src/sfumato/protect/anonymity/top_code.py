# SPDX-License-Identifier: MIT
"""Top and bottom coding: publish a cap instead of every number above it, a floor instead of every number below it.

Against an adversary who recognizes someone by an extreme number: the highest income, the oldest person. What leaks:
the cap and the floor. If you do not give them, they are derived from the data, as a number that k rows or more reach,
moved inward to a coarse grid, so that it is nobody's own. Hundepool et al., *Statistical Disclosure Control* (2012),
section 3.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor, inf
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field, field_validator, model_validator

from sfumato.arrays import Ints
from sfumato.change import ChangeKind, state_changes
from sfumato.data.hierarchies.coarse_range import narrow_range
from sfumato.details import AnonymityDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, ask_meant, count_noun, quote_names
from sfumato.protect.claims import claim_nobody_named, claim_others_kept, claim_with_originals, simplify_number
from sfumato.protect.footprint import Footprint, trace_columns
from sfumato.protect.method import Method
from sfumato.protect.named_columns import explain_no_numbers, refuse_unpublished
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.table import Table

_CURE = "for dates, use generalize or partition, which publish years or ranges"


class TopCode(Method):
    """Publish every number above a cap as the cap and, optionally, every number below a floor as the floor.

    Guarantee: no published number of the columns lies beyond the cap or the floor, and at least k rows have each of
    them. Against: an adversary who knows or guesses that someone's number is extreme, and looks for it. Limits:
    numbers in between stay unchanged, and may single people out together with other columns: this is not k-anonymity; a
    person at the cap is known to have that or more; means and variances shrink. Papers: Hundepool et al. 2012.
    """

    truthful: ClassVar[bool] = False
    iso_20889: ClassVar[str] = "top and bottom coding"
    threshold_fields: ClassVar[Mapping[str, str]] = {"rows_at_limits": "k"}
    file_claims: ClassVar[frozenset[str]] = frozenset({"beyond_limits", "rows_at_limits"})
    public_fields: ClassVar[tuple[str, ...]] = ("columns", "k", "ends", "share", "caps", "floors")
    column_fields: ClassVar[tuple[str, ...]] = ("columns", "caps", "floors")

    method: Literal["top_code"] = "top_code"
    columns: tuple[str, ...] = Field(min_length=1)
    """The columns of numbers to code."""
    k: int = Field(ge=2, strict=True)
    """The smallest number of rows that have the cap, and the floor."""
    ends: Literal["top", "bottom", "both"] = "top"
    """Which end of the numbers is coded."""
    share: float = Field(default=0.02, gt=0, lt=0.5)
    """The smallest share of known numbers that are coded at each end, if no cap or floor is given."""
    caps: Mapping[str, float] = Field(default_factory=dict)
    """Column → a cap chosen without looking at the data."""
    floors: Mapping[str, float] = Field(default_factory=dict)
    """Column → a floor chosen without looking at the data."""

    @field_validator("columns", mode="before")
    @classmethod
    def _wrap_name(cls, names: Any) -> Any:
        return (names,) if isinstance(names, str) else names

    @model_validator(mode="after")
    def _check_ends(self) -> TopCode:
        if self.caps and not self.codes_top:
            raise ValueError('caps are for numbers at the top: ends = "top" or "both"')
        if self.floors and not self.codes_bottom:
            raise ValueError('floors are for numbers at the bottom: ends = "bottom" or "both"')
        return self

    @property
    def codes_top(self) -> bool:
        """Whether the largest numbers are coded."""
        return self.ends != "bottom"

    @property
    def codes_bottom(self) -> bool:
        """Whether the smallest numbers are coded."""
        return self.ends != "top"

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Each coded column is capped."""
        return dict.fromkeys(parameters["columns"], ChangeKind.CAPPED)

    @classmethod
    def may_claim(cls, parameters: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
        """Limits at the coded ends, and given ones as they were given, or moved inward to a whole number."""
        ends, column = parameters["ends"], arguments["column"]
        return (
            super().may_claim(parameters, arguments)
            and ("cap" in arguments) == (ends != "bottom")
            and ("floor" in arguments) == (ends != "top")
            and _is_given_limit(arguments.get("cap"), parameters["caps"].get(column), floor)
            and _is_given_limit(arguments.get("floor"), parameters["floors"].get(column), ceil)
        )

    def list_capped_columns(self) -> tuple[str, ...]:
        """All that it codes."""
        return self.columns

    def footprint(self, data: Table) -> Footprint:
        """The coded columns."""
        return trace_columns(self.columns)

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Choose the limits of each column, and clip it."""
        self.refuse_unfit(data, len(data))
        limits, coded_count = {}, 0
        for name in dict.fromkeys(self.columns):
            known_numbers = KnownNumbers.of(data.frame[name])
            limits[name] = self.choose_limits(known_numbers, data.source, name)
            coded_count += known_numbers.count_coded(limits[name])
        frame = data.frame.drop(data.identifying).with_columns(limits[name].clip(data.frame[name]) for name in limits)
        losses = {"loss": coded_count / sum(data.frame[name].count() for name in limits), "coded_cells": coded_count}
        return self.describe_release(
            data, data.replace_frame(frame), limits, losses, np.arange(len(data), dtype=np.int64)
        )

    def describe_release(
        self,
        data: Table,
        published_table: Table,
        limits: Mapping[str, Limits],
        losses: Mapping[str, Number],
        rows: Ints | None = None,
    ) -> Release:
        """What is published, promised, lost and stated about the columns."""
        return Release(
            data=published_table,
            method=self,
            claims=self._list_claims(data, limits),
            losses=losses,
            details=AnonymityDetails(rows=rows, limits=limits),
            changes=state_changes(self, data, published_table, dict.fromkeys(limits, ChangeKind.CAPPED)),
        )

    def refuse_unfit(self, table: Table, rows: int) -> None:
        """Stop if the columns cannot be coded, by their names and types; the table may come without its rows."""
        if not rows:
            raise DataError(f"{table.source}: the table has no rows")
        refuse_unpublished(table, self.columns)
        for name in self.columns:
            if not (table.frame[name].dtype.is_integer() or table.frame[name].dtype.is_float()):
                raise explain_no_numbers(table, name, "capped", _CURE)
        strange = sorted({*self.caps, *self.floors} - set(self.columns))
        if strange:
            raise PolicyError(
                f"{table.source}: caps or floors name {quote_names(strange)}, which `columns` does not"
                f"{ask_meant(strange, self.columns)}"
            )

    def choose_limits(self, known_numbers: KnownNumbers, source: str, name: str) -> Limits:
        """The floor and the cap of a column: given, or chosen so that enough rows reach them."""
        values, count = known_numbers.values, known_numbers.rows
        if not count:
            raise DataError(f'{source}: the column "{name}" has no numbers, and only numbers can be capped; {_CURE}')
        infinite_count = known_numbers.count_rows(~values.is_finite()) if values.dtype.is_float() else 0
        if infinite_count:
            raise DataError(
                f'{source}: the column "{name}" has infinite numbers in {count_noun(infinite_count, "row")}; mark them '
                "missing"
            )
        low, high = self._choose_ends(known_numbers, source, name)
        # Whether limits are whole must not tell whether a number beyond them, which nobody sees, has decimals.
        whole = _are_whole(values.filter((values >= low) & (values <= high)))
        if -inf < low < high < inf:
            low, high = ((int if whole else float)(end) for end in narrow_range(low, high, whole=whole))
        limits = Limits(
            _round_inward(self.floors.get(name, low), whole, ceil) if self.codes_bottom else None,
            _round_inward(self.caps.get(name, high), whole, floor) if self.codes_top else None,
        )
        column = f'{source}: "{name}"'
        if not all(_can_hold(values.dtype, limit) for limit in limits if limit is not None):
            raise ImpossibleRelease(
                f"{column}: the given cap or floor lies beyond all numbers that the column's type ({values.dtype}) can "
                "hold; move it inward, or omit it to derive it from the data"
            )
        self._refuse_lonely(limits, known_numbers, column)
        return limits

    def _choose_ends(self, known_numbers: KnownNumbers, source: str, name: str) -> tuple[Any, Any]:
        """The numbers between which all stay: those that enough rows reach, or else the given limits."""
        if (name in self.caps or not self.codes_top) and (name in self.floors or not self.codes_bottom):
            return self.floors.get(name, -inf), self.caps.get(name, inf)
        count = known_numbers.rows
        end_count = max(self.k, ceil(self.share * count))
        if 2 * end_count > count:
            raise ImpossibleRelease(
                f'{source}: "{name}" has {count_noun(count, "number")}, fewer than twice the {end_count} that one end '
                "needs; lower k or share, or give caps and floors"
            )
        return known_numbers.take(end_count - 1), known_numbers.take(count - end_count)

    def _refuse_lonely(self, limits: Limits, known_numbers: KnownNumbers, column: str) -> None:
        """Refuse a limit that fewer than k rows would have: the numbers at that end would identify people."""
        if limits.floor is not None and limits.cap is not None and limits.floor >= limits.cap:
            raise ImpossibleRelease(f"{column}: the floor is not below the cap; give others, or code only one end")
        limit_counts = (
            [known_numbers.count_rows(known_numbers.values <= limits.floor)] if limits.floor is not None else []
        )
        limit_counts += [known_numbers.count_rows(known_numbers.values >= limits.cap)] if limits.cap is not None else []
        if min(limit_counts) < self.k:
            raise ImpossibleRelease(
                f"{column}: only {count_noun(min(limit_counts), 'row')} would have the given cap or floor, and "
                f"{self.k} must; move it inward, or omit it to derive it from the data"
            )

    def state_claims(self, table: Table) -> tuple[Claim, ...]:
        """That numbers within the limits stay: the other claims name limits, which may come from the data."""
        return tuple(claim_others_uncoded(name, {}) for name in self.columns)

    def _list_claims(self, table: Table, limits: Mapping[str, Limits]) -> tuple[Claim, ...]:
        limit_claims = [claim for name in limits for claim in limits[name].list_claims(name, self.k)]
        return (
            *limit_claims,
            claim_others_kept(table, limits),
            claim_nobody_named(table),
        )


class KnownNumbers(NamedTuple):
    """The numbers of a column, without missing ones."""

    values: pl.Series
    """Ascending; some may be equal."""
    ends: Ints
    """How many rows have each number or one that is listed before it."""

    @classmethod
    def of(cls, cells: pl.Series) -> KnownNumbers:
        """Sort the cells of a column."""
        values = cells.drop_nulls().sort()
        return cls(values, np.arange(1, len(values) + 1, dtype=np.int64))

    @property
    def rows(self) -> int:
        """How many rows have a number."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def take(self, rank: int) -> Any:
        """The number of a rank, counted from 0."""
        return self.values[int(np.searchsorted(self.ends, rank, side="right"))]

    def count_rows(self, number_mask: pl.Series) -> int:
        """How many rows have one of the chosen numbers."""
        return int(np.diff(self.ends, prepend=0)[number_mask.to_numpy()].sum())

    def count_coded(self, limits: Limits) -> int:
        """How many rows have a number that limits change."""
        return self.count_rows(limits.clip(self.values) != self.values)


class Limits(NamedTuple):
    """The limits of a column; None for an end that is not coded."""

    floor: Number | None
    cap: Number | None

    def clip(self, column: pl.Series) -> pl.Series:
        """A column within its limits; a missing cell stays missing."""
        return column.clip(self.floor, self.cap).cast(column.dtype)

    def list_claims(self, name: str, k: int) -> tuple[Claim, ...]:
        """Nothing lies beyond the limits and nobody is alone at them, as anybody can check; the rest is unchanged."""
        simple_limits = {end: simplify_number(limit) for end, limit in self._asdict().items() if limit is not None}
        arguments = {"column": name, **simple_limits}
        words = {"floor": "at least", "cap": "at most"}
        range_text = " and ".join(f"{words[end]} {limit}" for end, limit in simple_limits.items())
        return (
            Claim(
                property="beyond_limits",
                threshold=0,
                bound="exactly",
                measure="beyond_limits",
                arguments=arguments,
                meaning=f'Every published number of "{name}" is {range_text}.',
            ),
            Claim(
                property="rows_at_limits",
                threshold=k,
                measure="rows_at_limits",
                arguments=arguments,
                meaning=f'At least {k} rows have each limit of "{name}".',
            ),
            claim_others_uncoded(name, arguments),
        )


def claim_others_uncoded(name: str, arguments: Mapping[str, Any]) -> Claim:
    """Numbers within the limits are the originals."""
    return claim_with_originals("miscoded_cells", 0, "exactly", arguments, f'No other number of "{name}" was changed.')


def _is_given_limit(limit: Number | None, given_limit: Number | None, to_whole: Callable[[float], int]) -> bool:
    """Whether a limit is the given one, if one was given for a coded end."""
    return limit is None or given_limit is None or limit in (given_limit, to_whole(given_limit))


def _can_hold(kind: pl.DataType, limit: Number) -> bool:
    """Whether a column of this type can hold a limit; decimals can hold any."""
    if not kind.is_integer():
        return True
    ends = np.iinfo(pl.Series(dtype=kind).to_numpy().dtype)
    return bool(ends.min <= limit <= ends.max)


def _are_whole(numbers: pl.Series) -> bool:
    return numbers.dtype.is_integer() or bool((numbers == numbers.round()).all())


def _round_inward(limit: float, whole: bool, to_whole: Callable[[float], int]) -> Number:
    """A limit that the column can hold: whole for whole numbers."""
    return to_whole(limit) if whole else float(limit)
