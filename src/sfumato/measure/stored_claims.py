# SPDX-License-Identifier: MIT
"""Measure claims on a release that stays in its file: classes are counted where they are, and judged here.

The same functions judge the counts as judge a table in memory (`diversity`, `closeness`, `presence`); only the counting
differs. `MEASURES` lists the claims that can be measured in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from sfumato.arrays import Flags, Ints
from sfumato.data.hierarchies.hierarchy import SUPPRESSED
from sfumato.engine.classes import pack_row_keys
from sfumato.engine.stored_rows import RowCounts
from sfumato.engine.stored_table import StoredTable
from sfumato.engine.text_dictionaries import flag_text
from sfumato.errors import DataError, PolicyError
from sfumato.measure.anonymity.class_tally import ClassTally, number_sorted_values
from sfumato.measure.anonymity.closeness import (
    choose_rank_order,
    measure_t_equal,
    measure_t_hierarchical,
    measure_t_ordered,
)
from sfumato.measure.anonymity.crowd_sizes import StarredRows, flag_starred_rows
from sfumato.measure.anonymity.diversity import (
    measure_alpha,
    measure_basic_beta,
    measure_delta_disclosure,
    measure_distinct_l,
    measure_enhanced_beta,
    measure_entropy_l,
    measure_recursive_c,
    parse_claim_hierarchy,
)
from sfumato.measure.anonymity.presence import PopulationFit
from sfumato.measure.anonymity.stored_limits import LIMIT_MEASURES
from sfumato.measure.answers.stored_answers import ANSWER_MEASURES
from sfumato.measure.checks import Arguments, explain_unmeasured
from sfumato.measure.entries.stored_entries import ENTRY_MEASURES
from sfumato.measure.noise.stored_noise import NOISE_MEASURES, StoredPairs
from sfumato.measure.stored_changes import StoredComparison
from sfumato.release import Claim, Finding, Number
from sfumato.table import Missing, Table


@dataclass(frozen=True)
class StoredEvidence:
    """A release in its file, and what only its custodian has."""

    published_table: StoredTable
    comparison: StoredComparison | None = None
    """The release next to its originals; None for an auditor."""
    population: Table | None = None
    """The population that a model compares with."""
    scratch: Path | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only the custodian knows: which entries are private."""
    pairs: dict[str, StoredPairs] = field(default_factory=dict)
    """Columns whose numbers were put next to their originals."""
    _counts_by_columns: dict[tuple[str, ...], RowCounts] = field(default_factory=dict)

    def count_classes(self, *columns: str) -> RowCounts:
        """The classes, with the values of some columns in each."""
        if columns not in self._counts_by_columns:
            names = self.published_table.quasi_identifying
            if not names:
                raise DataError("no column is quasi_identifying, so there are no classes to count")
            unknown = [name for name in columns if name not in self.published_table.rows.schema]
            if unknown:
                raise DataError(f'there is no column "{unknown[0]}" to measure')
            self._counts_by_columns[columns] = self.published_table.rows.count_rows([*names, *columns])
        return self._counts_by_columns[columns]

    def forget_values(self) -> None:
        """Give back the values counted in each class; the sizes of classes are needed for longer."""
        for columns in [columns for columns in self._counts_by_columns if columns]:
            del self._counts_by_columns[columns]

    def flag_placed(self, class_counts: RowCounts, arguments: Arguments) -> Flags:
        """Which of the counted rows belong to a class: not those of suppressed rows, if they are distinguished."""
        names = list(self.published_table.quasi_identifying)
        placed_mask: Flags = np.ones(len(class_counts.counts), dtype=np.bool_)
        if self.published_table.missing is Missing.DROP:
            placed_mask &= (
                class_counts.frame.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series().to_numpy()
            )
        if _get_starred_rows(arguments) == "suppressed":
            placed_mask &= ~flag_starred_rows(class_counts.frame, names).to_numpy()
        return placed_mask

    def restore(self, column: str) -> StoredEvidence:
        """The same evidence with a column as in the originals."""
        assert self.comparison is not None and self.scratch is not None
        return StoredEvidence(self.comparison.restore(column, self.scratch))


def measure_stored_claim(claim: Claim, evidence: StoredEvidence) -> Finding:
    """Measure a claim on the file; a claim that needs missing originals stays open."""
    if claim.measure not in MEASURES:
        raise PolicyError(f'the claim "{claim.property}" cannot be measured in its file; use --engine memory')
    if claim.needs_original and evidence.comparison is None:
        return Finding.of(claim, None)
    try:
        return Finding.of(claim, MEASURES[claim.measure](evidence, claim.arguments))
    except (KeyError, TypeError, ValueError):
        raise PolicyError(explain_unmeasured(claim)) from None


def count_stored_sizes(evidence: StoredEvidence, arguments: Arguments) -> Ints:
    """The size of each class."""
    class_counts = evidence.count_classes()
    return class_counts.counts[evidence.flag_placed(class_counts, arguments)]


def tally_stored(evidence: StoredEvidence, column: str, arguments: Arguments) -> ClassTally:
    """The values of a column, class by class."""
    class_counts = evidence.count_classes(column)
    names = list(evidence.published_table.quasi_identifying)
    codes, labels = number_sorted_values(class_counts.frame[column])
    overall = np.bincount(codes, weights=class_counts.counts, minlength=len(labels)).astype(np.int64)
    placed_mask = evidence.flag_placed(class_counts, arguments)
    key, _ = pack_row_keys(class_counts.frame.select(names).filter(pl.Series(placed_mask)), names)
    values = codes[placed_mask]
    order = np.lexsort((values, key))
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    return ClassTally(values[order], class_counts.counts[placed_mask][order], starts, overall, labels)


def _check_k(evidence: StoredEvidence, arguments: Arguments) -> Number:
    sizes = count_stored_sizes(evidence, arguments)
    return int(sizes.min()) if len(sizes) else 0


def _check_suppressed_share(evidence: StoredEvidence, arguments: Arguments) -> Number:
    rows = len(evidence.published_table)
    share = count_stored_stars(evidence) / rows if rows else 0.0
    return 0.0 if share == 1 and arguments.get("starred_rows") != "suppressed" else share


def count_stored_stars(evidence: StoredEvidence) -> int:
    """How many rows have `*` in every quasi-identifying column."""
    class_counts = evidence.count_classes()
    starred_mask = flag_starred_rows(class_counts.frame, evidence.published_table.quasi_identifying).to_numpy()
    return int(class_counts.counts[starred_mask].sum())


def _check_shown_in_suppressed(evidence: StoredEvidence, arguments: Arguments) -> Number:
    names, columns = evidence.published_table.quasi_identifying, list(arguments["columns"])
    shown_count = 0
    for batch in evidence.published_table.rows.iterate_coded_batches(list(dict.fromkeys([*names, *columns]))):
        starred_mask = np.full(batch.height, bool(names))
        for name in names:
            starred_mask &= flag_text(batch[name], SUPPRESSED)
        rows = batch.filter(pl.Series(starred_mask))
        shown_count += sum(rows.height - rows[name].null_count() for name in columns)
    return shown_count


def _check_named_columns(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return sum(name in evidence.published_table.rows.schema for name in arguments["names"])


def _check_left_out_share(evidence: StoredEvidence, _: Arguments) -> Number:
    assert evidence.comparison is not None
    usable = evidence.comparison.original.count_complete_rows()
    return (usable - len(evidence.published_table)) / usable


def _check_untrue_cells(evidence: StoredEvidence, _: Arguments) -> Number:
    assert evidence.comparison is not None
    return evidence.comparison.untrue_cells


def _check_k_map(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return _fit_population(evidence, arguments).k_map


def _check_delta_presence(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return _fit_population(evidence, arguments).presence.high


def _fit_population(evidence: StoredEvidence, arguments: Arguments) -> PopulationFit:
    if evidence.population is None:
        raise PolicyError("a claim compares with a population, which was not given")
    class_counts = evidence.count_classes()
    classes = evidence.published_table.outline.with_frame(class_counts.frame)
    return PopulationFit.of(classes, evidence.population, _get_starred_rows(arguments), class_counts.counts)


def _check_t_ordered(tally: ClassTally, arguments: Arguments, outline: Table) -> Number:
    order = arguments.get("order")
    if order is None and "parents" in arguments:
        order = parse_claim_hierarchy(arguments).leaves
    return measure_t_ordered(tally, choose_rank_order(outline, arguments["column"], order))


def _check_t_hierarchical(tally: ClassTally, arguments: Arguments, outline: Table) -> Number:
    column = arguments["column"]
    hierarchy = parse_claim_hierarchy(arguments) if "parents" in arguments else outline.hierarchies.get(column)
    if hierarchy is None:
        raise DataError(f'column "{column}" has no hierarchy; give one, or measure the equal or ordered distance')
    return measure_t_hierarchical(tally, hierarchy)


_TALLIED: Mapping[str, Callable[[ClassTally, Arguments, Table], Number]] = {
    "alpha": lambda tally, *_: measure_alpha(tally),
    "beta": lambda tally, *_: measure_basic_beta(tally),
    "delta_disclosure": lambda tally, *_: measure_delta_disclosure(tally),
    "distinct_l": lambda tally, *_: measure_distinct_l(tally),
    "enhanced_beta": lambda tally, *_: measure_enhanced_beta(tally),
    "entropy_l": lambda tally, *_: measure_entropy_l(tally),
    "recursive_c": lambda tally, arguments, _: measure_recursive_c(tally, arguments["l"]),
    "t_equal": lambda tally, *_: measure_t_equal(tally),
    "t_ordered": _check_t_ordered,
    "t_hierarchical": _check_t_hierarchical,
}
"""Measures of the values in each class."""
_WITH_ORIGINALS = ("beta", "delta_disclosure", "enhanced_beta", "t_equal", "t_ordered", "t_hierarchical")


def _make_tally_check(name: str) -> Callable[[StoredEvidence, Arguments], Number]:
    def check(evidence: StoredEvidence, arguments: Arguments) -> Number:
        tally = tally_stored(evidence, arguments["column"], arguments)
        return _TALLIED[name](tally, arguments, evidence.published_table.outline)

    return check


def _make_restored_check(name: str) -> Callable[[StoredEvidence, Arguments], Number]:
    return lambda evidence, arguments: MEASURES[name](evidence.restore(arguments["column"]), arguments)


def _get_starred_rows(arguments: Arguments) -> StarredRows:
    return cast(StarredRows, arguments.get("starred_rows", "class"))


MEASURES: Mapping[str, Callable[[StoredEvidence, Arguments], Number]] = {
    "k_anonymity": _check_k,
    "suppressed_share": _check_suppressed_share,
    "shown_in_suppressed": _check_shown_in_suppressed,
    "named_columns": _check_named_columns,
    "left_out_share": _check_left_out_share,
    "untrue_cells": _check_untrue_cells,
    "k_map": _check_k_map,
    "delta_presence": _check_delta_presence,
    **{name: _make_tally_check(name) for name in _TALLIED},
    **{f"{name}_with_originals": _make_restored_check(name) for name in _WITH_ORIGINALS},
    **LIMIT_MEASURES,
    **NOISE_MEASURES,
    **ANSWER_MEASURES,
    **ENTRY_MEASURES,
}
"""The claims that can be measured on a file, by the name of their measure."""
