# SPDX-License-Identifier: MIT
"""Check classes on a release that stays in its file: they are counted where they are, and judged here.

The same functions judge the counts as judge a table in memory (`diversity`, `closeness`, `presence`); only the counting
differs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.engine.classes import pack_row_keys
from sfumato.engine.text_dictionaries import flag_text
from sfumato.errors import PolicyError
from sfumato.measure.anonymity.class_tally import ClassTally, number_sorted_values
from sfumato.measure.anonymity.closeness import (
    choose_rank_order,
    choose_tree,
    measure_t_equal,
    measure_t_hierarchical,
    measure_t_ordered,
)
from sfumato.measure.anonymity.crowd_sizes import flag_starred_rows, read_starred_rows
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
from sfumato.measure.checks import Arguments
from sfumato.measure.stored_checks import StoredMeasure, checks_stored_claim, find_stored_measure
from sfumato.measure.stored_claims import StoredEvidence
from sfumato.release import Number


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


@checks_stored_claim("k_anonymity")
def _check_k(evidence: StoredEvidence, arguments: Arguments) -> Number:
    sizes = count_stored_sizes(evidence, arguments)
    return int(sizes.min()) if len(sizes) else 0


@checks_stored_claim("suppressed_share")
def _check_suppressed_share(evidence: StoredEvidence, arguments: Arguments) -> Number:
    rows = len(evidence.published_table)
    share = count_stored_stars(evidence) / rows if rows else 0.0
    return 0.0 if share == 1 and arguments.get("starred_rows") != "suppressed" else share


def count_stored_stars(evidence: StoredEvidence) -> int:
    """How many rows have `*` in every quasi-identifying column."""
    class_counts = evidence.count_classes()
    starred_mask = flag_starred_rows(class_counts.frame, evidence.published_table.quasi_identifying).to_numpy()
    return int(class_counts.counts[starred_mask].sum())


@checks_stored_claim("shown_in_suppressed")
def _check_shown_in_suppressed(evidence: StoredEvidence, arguments: Arguments) -> Number:
    names, columns = evidence.published_table.quasi_identifying, list(arguments["columns"])
    shown_count = 0
    for batch in evidence.published_table.rows.iterate_coded_batches(list(dict.fromkeys([*names, *columns]))):
        starred_mask = np.full(batch.height, bool(names))
        for name in names:
            starred_mask &= flag_text(batch[name], STAR)
        rows = batch.filter(pl.Series(starred_mask))
        shown_count += sum(rows.height - rows[name].null_count() for name in columns)
    return shown_count


@checks_stored_claim("named_columns")
def _check_named_columns(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return sum(name in evidence.published_table.rows.schema for name in arguments["names"])


@checks_stored_claim("left_out_share")
def _check_left_out_share(evidence: StoredEvidence, _: Arguments) -> Number:
    assert evidence.comparison is not None
    usable = evidence.comparison.original.count_complete_rows()
    return (usable - len(evidence.published_table)) / usable


@checks_stored_claim("untrue_cells")
def _check_untrue_cells(evidence: StoredEvidence, _: Arguments) -> Number:
    assert evidence.comparison is not None
    return evidence.comparison.untrue_cells


@checks_stored_claim("k_map")
def _check_k_map(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return _fit_population(evidence, arguments).k_map


@checks_stored_claim("delta_presence")
def _check_delta_presence(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return _fit_population(evidence, arguments).presence.high


def _fit_population(evidence: StoredEvidence, arguments: Arguments) -> PopulationFit:
    if evidence.population is None:
        raise PolicyError("a claim compares with a population, which was not given")
    class_counts = evidence.count_classes()
    classes = evidence.published_table.outline.replace_frame(class_counts.frame)
    return PopulationFit.of(classes, evidence.population, read_starred_rows(arguments), class_counts.counts)


def _make_column_check(measure: Callable[[ClassTally], Number]) -> StoredMeasure:
    """A check of the values of a column in each class."""
    return lambda evidence, arguments: measure(tally_stored(evidence, arguments["column"], arguments))


checks_stored_claim("alpha")(_make_column_check(measure_alpha))
checks_stored_claim("beta")(_make_column_check(measure_basic_beta))
checks_stored_claim("delta_disclosure")(_make_column_check(measure_delta_disclosure))
checks_stored_claim("distinct_l")(_make_column_check(measure_distinct_l))
checks_stored_claim("enhanced_beta")(_make_column_check(measure_enhanced_beta))
checks_stored_claim("entropy_l")(_make_column_check(measure_entropy_l))
checks_stored_claim("t_equal")(_make_column_check(measure_t_equal))


@checks_stored_claim("recursive_c")
def _check_recursive_c(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return measure_recursive_c(tally_stored(evidence, arguments["column"], arguments), arguments["l"])


@checks_stored_claim("t_ordered")
def _check_t_ordered(evidence: StoredEvidence, arguments: Arguments) -> Number:
    column, order = arguments["column"], arguments.get("order")
    tally = tally_stored(evidence, column, arguments)
    if order is None and "parents" in arguments:
        order = parse_claim_hierarchy(arguments).leaves
    return measure_t_ordered(tally, choose_rank_order(evidence.published_table.outline, column, order))


@checks_stored_claim("t_hierarchical")
def _check_t_hierarchical(evidence: StoredEvidence, arguments: Arguments) -> Number:
    column = arguments["column"]
    tally = tally_stored(evidence, column, arguments)
    hierarchy = parse_claim_hierarchy(arguments) if "parents" in arguments else None
    return measure_t_hierarchical(tally, choose_tree(evidence.published_table.outline, column, hierarchy))


def _make_whole_column_check(name: str) -> StoredMeasure:
    """The same measure where suppressed rows show nothing: their values count in the whole table, as they were."""

    def check(evidence: StoredEvidence, arguments: Arguments) -> Number:
        measure = find_stored_measure(name)
        assert measure is not None
        return measure(evidence.restore(arguments["column"]), arguments)

    return check


checks_stored_claim("beta_with_originals")(_make_whole_column_check("beta"))
checks_stored_claim("delta_disclosure_with_originals")(_make_whole_column_check("delta_disclosure"))
checks_stored_claim("enhanced_beta_with_originals")(_make_whole_column_check("enhanced_beta"))
checks_stored_claim("t_equal_with_originals")(_make_whole_column_check("t_equal"))
checks_stored_claim("t_ordered_with_originals")(_make_whole_column_check("t_ordered"))
checks_stored_claim("t_hierarchical_with_originals")(_make_whole_column_check("t_hierarchical"))
