# SPDX-License-Identifier: MIT
"""Swap confidential values: nobody who is unique in the known columns has a certain confidential value.

Against an adversary who knows everything but the confidential column of someone, finds the one row that fits (or
several that agree) and reads the value. A share of such values is exchanged among records; all other columns stay the
same, and so do the counts of all values, unless one value is so common that its records find too few partners. Which
records, and for which values, is chosen to distort the joint distribution least, by a simple Bayes estimate. What
leaks: the values of records that were not swapped, and, to anyone who knows the method, which records are likely to
have been swapped. X.-B. Li, S. Sarkar, *A data perturbation approach to privacy protection in data mining* (ICIS 2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.arrays import Ints
from sfumato.bound_words import format_limit
from sfumato.change import ChangeKind, state_changes
from sfumato.details import SwapDetails
from sfumato.errors import DataError, ImpossibleRelease, PolicyError, count_noun, quote_names
from sfumato.protect.claims import claim_nobody_named, claim_with_originals
from sfumato.protect.footprint import Footprint, may_drop_rows, trace_columns
from sfumato.protect.method import Method
from sfumato.protect.named_columns import ask_published, list_names
from sfumato.protect.swapping.exchanges import list_exchanges
from sfumato.protect.swapping.identifiable_records import IdentifiableRecords
from sfumato.protect.swapping.posteriors import UNIT, NumberedColumn, compute_posteriors, encode_column
from sfumato.protect.swapping.swap_marginal import find_least_shift
from sfumato.protect.swapping.swap_optimal import SwapOptimum, find_best_answer
from sfumato.protect.swapping.swap_paper import draw_phase_one_answer, run_phase_two
from sfumato.protect.swapping.swap_prices import bound_without_prices, find_prices
from sfumato.protect.swapping.swap_random import draw_proportional_answer, draw_random_answer
from sfumato.protect.swapping.swap_records import SwapAnswer, SwapRecords, apply_answer
from sfumato.protect.swapping.swap_utility import measure_association, measure_joint_distance
from sfumato.randomness import Randomness
from sfumato.release import Claim, Number, Release
from sfumato.runtime.progress import report_progress
from sfumato.suppression import Suppression
from sfumato.table import Missing, Table

MOST_CELLS = 500_000_000
"""The most posteriors, records times categories, that are kept in memory at once: 4 GB."""


class SwapConfidential(Method):
    """Exchange confidential values among records that would disclose theirs.

    Guarantee: of the records that are unique in their non-confidential values, the given share has another confidential
    value than before. In each group of records that agree in everything, some have, and not all. No other cell changes.
    With `optimal`, the counts of values shift as little as these changes allow, and no release with these properties
    costs less in posterior probability, or the gap is stated; `paper` and `random` balance unique records and groups
    separately, and may shift more; `proportional` keeps counts approximately. That counts stay is claimed only if they
    do; otherwise `losses` has the shift. Against: an adversary who knows all non-confidential values of a person and
    reads the confidential one. The reading is right for the share that was not swapped, so it is never certain. Limits:
    counts cannot stay if one value must give away more than half of all changes: in a column of two values of which one
    is held by 11.7 % of 40,000 people who are all unique, a share of 0.5 makes that 38 %. Choose a share of at most
    twice the rare value's. Only certainty is prevented. Records that were not swapped show their true value. In a group
    of three or more, the majority value is true. An adversary who knows the method can distinguish likely from unlikely
    swaps: records are chosen by their values and not at random. With a column of two values, 92 % of the unique records
    of a census table were read correctly in this way after `optimal` and `paper` (`SwapLinkage(knows="method")`), and
    78 % after `random`, which is what the other columns predict for anybody. Papers: Li, Sarkar 2004.
    """

    optimum_of: ClassVar[str] = "among swaps that keep the same promises"

    @property
    def iso_20889(self) -> str:  # type: ignore[override]  # depends on the parameters
        """A permutation keeps the counts of values; drawn values do not, and the others only where they can."""
        if self.search == "proportional":
            return "randomization (values drawn by their shares)"
        return "randomization (permutation as far as counts can stay)"

    @property
    def maturity(self) -> str:  # type: ignore[override]  # depends on the parameters
        """`for study` unless records are drawn at random: a choice by values can be inferred from the values.

        `proportional` is there to compare with: `random` keeps counts, too.
        """
        return "stable" if self.search == "random" else "for study"

    public_fields: ClassVar[tuple[str, ...]] = ("column", "share", "group_share", "pattern", "search", "seconds")
    column_fields: ClassVar[tuple[str, ...]] = ("column", "pattern")

    method: Literal["swap_confidential"] = "swap_confidential"
    column: str | tuple[str, ...]
    """The confidential column; several are swapped one after another."""
    share: float = Field(ge=0.0, le=1.0)
    """The share p of uniquely identifiable records that is changed: round(p × their number)."""
    group_share: Annotated[int, Field(ge=1, strict=True)] | Annotated[float, Field(gt=0.0, le=1.0, strict=True)] = 1
    """In each group of records that agree in everything: how many are changed, or which share of them (a fraction); at
    least one, and never all, because all changed alike would agree again."""
    pattern: tuple[str, ...] | None = None
    """The non-confidential columns, which an adversary knows; by default the quasi-identifying ones."""
    search: Literal["optimal", "paper", "random", "proportional"] = "optimal"
    """`optimal` solves problem (12); `paper` swaps pairs as published, to a local optimum; `random` draws the swapped
    records evenly, and deals their values out again, so that neither can be inferred from the values; `proportional` is
    the random program that the paper compares with: each new value is drawn in proportion to its share."""
    seconds: float = Field(default=60.0, gt=0.0)
    """How long the search may take in each column. Then the best solution so far is published; `details` states its
    bound. With two values `optimal` needs no search."""

    @classmethod
    def list_change_kinds(cls, parameters: Mapping[str, Any]) -> Mapping[str, ChangeKind] | None:
        """Values of each confidential column may be swapped."""
        return dict.fromkeys(list_names(parameters["column"]), ChangeKind.SWAPPED)

    def footprint(self, data: Table) -> Footprint:
        """The swapped columns, and the pattern by which records are found."""
        names = self._list_columns(data)
        column_footprint = trace_columns(names, self._choose_pattern(data, names))
        return replace(column_footprint, drops_rows=may_drop_rows(data))

    def protect(self, data: Table, randomness: Randomness | None = None) -> Release:
        """Find the identifiable records, estimate posteriors, and swap; one confidential column after another."""
        chance = (randomness or Randomness.secure()).generator()
        names = self._list_columns(data)
        pattern = self._choose_pattern(data, names)
        table, rows = _select_usable_rows(data, pattern)
        report_progress("encoding the table")
        pattern_columns = [encode_column(table.frame[name]) for name in pattern]
        swapped_columns = [self._swap_column(table, name, pattern, pattern_columns, chance) for name in names]
        frame = table.frame.drop(table.identifying).with_columns(
            swapped_column.column for swapped_column in swapped_columns
        )
        published_table = table.replace_frame(frame)
        return Release(
            data=published_table,
            method=self,
            claims=(
                *(
                    claim
                    for swapped_column in swapped_columns
                    for claim in self._list_claims(swapped_column, pattern, names)
                ),
                claim_nobody_named(table),
            ),
            losses=_compute_swap_losses(swapped_columns, pattern_columns) | {"dropped_rows": len(data) - len(table)},
            details=replace(
                _collect_swap_details(swapped_columns, rows),
                pattern=pattern,
                share=self.share,
                is_searched=self.search in ("optimal", "paper"),
            ),
            changes=state_changes(self, table, published_table, dict.fromkeys(names, ChangeKind.SWAPPED)),
            suppression=Suppression(drops_missing=table.missing is Missing.DROP),
        )

    def _list_columns(self, table: Table) -> tuple[str, ...]:
        names = (self.column,) if isinstance(self.column, str) else self.column
        strange = [name for name in names if name not in table.frame.columns or name in table.identifying]
        if strange or not names or len(set(names)) < len(names):
            raise PolicyError(
                f"{table.source}: `column` names {quote_names(strange or names) or 'nothing'}; it must name "
                f"one or more different columns that are published{ask_published(table, strange)}"
            )
        return names

    def _choose_pattern(self, table: Table, names: Sequence[str]) -> tuple[str, ...]:
        if self.pattern is None:
            pattern_names = tuple(name for name in table.quasi_identifying if name not in names)
        else:
            pattern_names = tuple(dict.fromkeys(self.pattern))
        strange = [
            name for name in pattern_names if name not in table.frame.columns or name in (*table.identifying, *names)
        ]
        if strange or not pattern_names:
            raise PolicyError(
                f"{table.source}: {quote_names(strange) or 'nothing'} is not a pattern by which a record could be "
                "found; name published columns that are not confidential, or make some quasi_identifying"
                f"{ask_published(table, strange)}"
            )
        return pattern_names

    def _swap_column(
        self,
        table: Table,
        name: str,
        pattern: Sequence[str],
        pattern_columns: Sequence[NumberedColumn],
        chance: np.random.Generator,
    ) -> _SwappedColumn:
        """One confidential column: U and V, phase I, phase II."""
        values, codes = _number_categories(table.frame[name])
        identifiable = IdentifiableRecords.of(table.frame, pattern, codes, len(values))
        changes = round(self.share * len(identifiable.unique))
        self._refuse_reversible(table, name, len(values), changes, identifiable)
        record_indices = np.concatenate([identifiable.unique, identifiable.first])
        if len(record_indices) * len(values) > MOST_CELLS:
            raise PolicyError(
                f'{table.source}: "{name}" has {len(values):,} different values, too many for {len(record_indices):,} '
                "records; group the values first"
            )
        chances = compute_posteriors(pattern_columns, codes, len(values), record_indices)
        records = SwapRecords.of(
            identifiable, codes, chances, changes, self._count_changes_per_group(identifiable.sizes)
        )
        optimum = self._search_answer(records, np.bincount(codes, minlength=len(values))[: len(values)], chance)
        fresh = apply_answer(codes, identifiable, records, optimum.answer, chance)
        return _SwappedColumn(name, values, codes, fresh, identifiable, optimum)

    def _search_answer(self, records: SwapRecords, counts: Ints, chance: np.random.Generator) -> SwapOptimum:
        if self.search == "optimal":
            shift = find_least_shift(records.available, records.changes, records.forced_counts)
            return find_best_answer(records, shift, self.seconds, chance)
        if not records.moving_count:
            return SwapOptimum(SwapAnswer.change_nobody(), 0, 0)
        deadline = monotonic() + self.seconds
        if self.search == "paper":
            answer = run_phase_two(records, draw_phase_one_answer(records, chance), deadline).answer
            bound = find_prices(records, int(np.abs(answer.shift(records)).sum()), deadline).decisions.bound
        else:  # nothing is searched, so a bound is not worth linear programs, which are large if values are many
            answer = (
                draw_random_answer(records, chance)
                if self.search == "random"
                else draw_proportional_answer(records, counts, chance)
            )
            bound = bound_without_prices(records, int(np.abs(answer.shift(records)).sum()))
        return SwapOptimum(answer, answer.compute_cost(records), min(bound, answer.compute_cost(records)))

    def _count_changes_per_group(self, sizes: Ints) -> Ints:
        """How many members of each group are changed."""
        change_counts = np.rint(self.group_share * sizes) if isinstance(self.group_share, float) else self.group_share
        return np.asarray(np.clip(change_counts, 1, sizes - 1), dtype=np.int64)

    def _refuse_reversible(
        self, table: Table, name: str, categories: int, changes: int, identifiable: IdentifiableRecords
    ) -> None:
        """Refuse values that anyone who knows the share could restore, and values without an alternative."""
        if categories == 2 and (self.share == 1 or 0 < changes == len(identifiable.unique)):
            raise PolicyError(
                f'{table.source}: "{name}" has two values and all {len(identifiable.unique)} uniquely identifiable '
                "records would be changed, so reversing them restores all originals; choose a share below 1"
            )
        if categories == 1 and (changes or identifiable.groups):
            raise ImpossibleRelease(
                f'{table.source}: "{name}" has only one value, so {changes} records and {identifiable.groups} groups '
                "have "
                "nothing to swap with; everybody has the value, so do not publish it"
            )

    def _list_claims(
        self, swapped_column: _SwappedColumn, pattern: Sequence[str], names: Sequence[str]
    ) -> tuple[Claim, ...]:
        column, claim_arguments = f'"{swapped_column.name}"', {"column": swapped_column.name, "pattern": tuple(pattern)}
        # Counts that cannot stay are not claimed: their shift is a loss, which stays with the custodian.
        marginal = _make_swap_claim(
            "marginal_shift", {"column": swapped_column.name}, f"Every value of {column} occurs as often as before."
        )
        return (
            _make_swap_claim(
                "uniques_off_share",
                {**claim_arguments, "share": self.share},
                f"In a share of {format_limit(self.share)} of the uniquely identifiable records whose {column} is "
                f"known, rounded to whole records, {column} was changed.",
            ),
            _make_swap_claim(
                "groups_unbroken",
                {**claim_arguments, "group_share": self.group_share},
                f"No group of collectively identifiable records agrees in {column} any more.",
            ),
            *(() if swapped_column.shift else (marginal,)),
            _make_swap_claim(
                "changed_elsewhere",
                {**claim_arguments, "confidential": tuple(names)},
                f"Nothing but identifiable records' {column} was changed.",
            ),
        )


def _make_swap_claim(measure: str, arguments: Mapping[str, Any], meaning: str) -> Claim:
    """Claim that a count, measured against the originals, is zero."""
    return claim_with_originals(measure, 0, "exactly", arguments, meaning)


@dataclass(frozen=True, eq=False)
class _SwappedColumn:
    """One confidential column, before and after."""

    name: str
    values: pl.Series
    old: Ints
    new: Ints
    identifiable: IdentifiableRecords
    optimum: SwapOptimum

    @property
    def column(self) -> pl.Series:
        """The published column: of the same type, missing where it was."""
        places = pl.Series(self.new).set(pl.Series(self.new == len(self.values)), None)
        return self.values.gather(places).alias(self.name)

    @property
    def changed_rows(self) -> Ints:
        return np.flatnonzero(self.old != self.new).astype(np.int64)

    @property
    def shift(self) -> int:
        """The total change of the counts of values."""
        return int(np.abs(np.bincount(self.old) - np.bincount(self.new, minlength=int(self.old.max()) + 1)).sum())

    def list_details(self) -> dict[str, Any]:
        """The decisions; rows are numbered as in the release."""
        exchanges = list_exchanges(self.old, self.new, len(self.values))
        return {
            "identifiable": self.identifiable.count_by_status(),
            "changed_rows": self.changed_rows,
            "swaps": exchanges.swaps,
            "replaced": exchanges.replaced_rows,
            "objective": self.optimum.objective / UNIT,
            "bound": self.optimum.bound / UNIT,
            "gap": (self.optimum.objective - self.optimum.bound) / UNIT,
            "proven": self.optimum.proven,
            "marginal_shift": self.shift,
        }


def _select_usable_rows(table: Table, pattern: Sequence[str]) -> tuple[Table, Ints]:
    """The rows that take part, and their row numbers."""
    if not len(table):
        raise DataError(f"{table.source}: the table has no rows")
    rows = np.arange(len(table), dtype=np.int64)
    missing_mask = table.frame.select(pl.any_horizontal(pl.col(list(pattern)).is_null())).to_series().to_numpy()
    if not missing_mask.any() or table.missing is Missing.OWN_VALUE:
        return table, rows
    if table.missing is not Missing.DROP:
        raise PolicyError(
            f"{table.source}: {count_noun(int(missing_mask.sum()), 'row has', 'rows have')} a missing cell in the "
            f"pattern, and swapping does not support missing = {table.missing.value}; use own_value or drop"
        )
    if missing_mask.all():
        raise DataError(f"{table.source}: every row has a missing cell, and missing = drop")
    return table.replace_frame(table.frame.filter(pl.Series(~missing_mask))), rows[~missing_mask]


def _number_categories(column: pl.Series) -> tuple[pl.Series, Ints]:
    """The values of a column in order, and the number of each cell's value; missing has the next number."""
    values = column.drop_nulls().unique().sort()
    if column.dtype == pl.String:
        places = column.cast(pl.Enum(values)).to_physical().cast(pl.Int64)
    else:
        places = column.rank("dense").cast(pl.Int64) - 1
    return values, places.fill_null(len(values)).to_numpy().astype(np.int64)


def _compute_swap_losses(
    swapped_columns: Sequence[_SwappedColumn], pattern_columns: Sequence[NumberedColumn]
) -> dict[str, Number]:
    cells = sum(len(swapped_column.old) for swapped_column in swapped_columns)
    values = sum(
        int((swapped_column.old < len(swapped_column.values)).sum()) for swapped_column in swapped_columns
    )  # a missing cell has none
    changed_count = sum(len(swapped_column.changed_rows) for swapped_column in swapped_columns)
    distances = [
        measure_joint_distance(pattern_columns, swapped_column.old, swapped_column.new, len(swapped_column.values) + 1)
        for swapped_column in swapped_columns
    ]
    return {
        "loss": round(changed_count / values, 12) if values else 0.0,
        "changed_cells": changed_count,
        "joint_total_variation": round(sum(distances) / len(distances), 12),
        "marginal_shift": sum(swapped_column.shift for swapped_column in swapped_columns),
        "marginal_total_variation": round(
            sum(swapped_column.shift for swapped_column in swapped_columns) / 2 / cells, 12
        ),
        "objective": sum(swapped_column.optimum.objective for swapped_column in swapped_columns) / UNIT,
        "suppressed_rows": 0,
    }


def _collect_swap_details(swapped_columns: Sequence[_SwappedColumn], rows: Ints) -> SwapDetails:
    """In total, and column by column."""
    by_column = {swapped_column.name: swapped_column.list_details() for swapped_column in swapped_columns}
    every = list(by_column.values())
    pairs = [
        (swapped_column, other)
        for index, swapped_column in enumerate(swapped_columns)
        for other in swapped_columns[index + 1 :]
    ]
    return SwapDetails(
        rows=rows,
        swaps=np.concatenate([details["swaps"] for details in every]),
        changed_rows=np.unique(np.concatenate([details["changed_rows"] for details in every])),
        objective=sum(swapped_column.optimum.objective for swapped_column in swapped_columns) / UNIT,
        bound=sum(swapped_column.optimum.bound for swapped_column in swapped_columns) / UNIT,
        gap=sum(swapped_column.optimum.objective - swapped_column.optimum.bound for swapped_column in swapped_columns)
        / UNIT,
        proven=all(details["proven"] for details in every),
        identifiable={name: swapped_column["identifiable"] for name, swapped_column in by_column.items()},
        by_column=by_column,
        correlations=[
            {
                "columns": (swapped_column.name, other.name),
                "before": measure_association(
                    swapped_column.old, other.old, len(swapped_column.values), len(other.values)
                ),
                "after": measure_association(
                    swapped_column.new, other.new, len(swapped_column.values), len(other.values)
                ),
            }
            for swapped_column, other in pairs
        ],
    )
