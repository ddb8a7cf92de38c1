# SPDX-License-Identifier: MIT
"""What classes reveal about sensitive values: the value that a table achieves under each model.

Against an adversary who finds someone's class and reads what its members have in common. p is the share of a value in
a class, q its share in the whole table, suppressed rows included; dropped rows with a missing cell (`drop`) count in
neither. Where a missing cell matches anything, a row's class is the set of rows that it matches. Without published
rows, "at least" models achieve 0, and so do "at most" models.

Papers: Machanavajjhala et al. 2006 (l-diversity: distinct, entropy, recursive); Wong et al. 2006 ((α,k)-anonymity); Cao
and Karras 2012 (β-likeness); Brickell and Shmatikov 2008 (δ-disclosure).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sfumato.arrays import Floats
from sfumato.data.cells.published_words import LEVEL_MARK
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.errors import PolicyError
from sfumato.measure.anonymity.class_tally import ClassTally, GroupedRows
from sfumato.measure.anonymity.closeness import (
    choose_rank_order,
    choose_tree,
    measure_t_equal,
    measure_t_hierarchical,
    measure_t_ordered,
)
from sfumato.measure.anonymity.crowd_sizes import StarredRows, read_starred_rows
from sfumato.measure.checks import CHECKS, Evidence, Measure, checks_claim
from sfumato.table import Table


def distinct_l(table: Table, column: str, *, starred_rows: StarredRows = "class") -> int:
    """The smallest number of distinct values in a class."""
    return measure_distinct_l(GroupedRows.of(table, starred_rows).tally(column))


def entropy_l(table: Table, column: str, *, starred_rows: StarredRows = "class") -> float:
    """e to the smallest entropy of a class: the l for which entropy l-diversity holds."""
    return measure_entropy_l(GroupedRows.of(table, starred_rows).tally(column))


def recursive_c(table: Table, column: str, l: int = 2, *, starred_rows: StarredRows = "class") -> float:
    """The largest r₁ / (rₗ + … + rₘ) of a class: recursive (c, l)-diversity holds for every greater c.

    The definition is strict: it does not hold for this c itself. Infinite if a class has fewer than l values.
    """
    return measure_recursive_c(GroupedRows.of(table, starred_rows).tally(column), l)


def alpha(table: Table, column: str, *, starred_rows: StarredRows = "class") -> float:
    """The largest share of one value in a class."""
    return measure_alpha(GroupedRows.of(table, starred_rows).tally(column))


def basic_beta(table: Table, column: str, *, starred_rows: StarredRows = "class") -> float:
    """The largest gain (p − q) / q of a value in a class."""
    return measure_basic_beta(GroupedRows.of(table, starred_rows).tally(column))


def enhanced_beta(table: Table, column: str, *, starred_rows: StarredRows = "class") -> float:
    """The smallest β for which (p − q) / q ≤ min(β, −ln q) in every class; infinite if −ln q itself is exceeded."""
    return measure_enhanced_beta(GroupedRows.of(table, starred_rows).tally(column))


def delta_disclosure(table: Table, column: str, *, starred_rows: StarredRows = "class") -> float:
    """The largest |ln(p / q)|: δ-disclosure privacy holds for every greater δ, but not for this one.

    Infinite if a class lacks one of the table's values: the adversary learns that the person does not have it.
    """
    return measure_delta_disclosure(GroupedRows.of(table, starred_rows).tally(column))


def measure_distinct_l(tally: ClassTally) -> int:
    """The smallest number of distinct values in a class."""
    return int(tally.distinct.min()) if len(tally.starts) else 0


def measure_entropy_l(tally: ClassTally) -> float:
    """e to the smallest entropy of a class."""
    if not len(tally.starts):
        return 0.0
    shares = tally.counts / tally.spread(tally.sizes)
    lowest = int(np.argmax(np.add.reduceat(shares * np.log(shares), tally.starts)))
    # Again in the widest available floats: l equally frequent values must achieve l, not slightly less.
    begin = int(tally.starts[lowest])
    counts = tally.counts[begin : begin + int(tally.distinct[lowest])].astype(np.longdouble)
    widest = counts / counts.sum()
    return round(float(np.exp(-(widest * np.log(widest)).sum())), 12)


def measure_recursive_c(tally: ClassTally, l: int) -> float:
    """The largest r₁ / (rₗ + … + rₘ), where r are the counts of a class in descending order."""
    if not isinstance(l, int) or isinstance(l, bool) or l < 1:
        raise PolicyError("recursive diversity: l must be a whole number, 1 or more")
    if not len(tally.starts):
        return 0.0
    if measure_distinct_l(tally) < l:
        return float("inf")
    order = np.lexsort((-tally.counts, tally.spread(np.arange(len(tally.starts)))))
    counts = tally.counts[order]
    ranks = np.arange(len(counts)) - tally.spread(tally.starts)
    tails = tally.sum_by_class(np.where(ranks >= l - 1, counts, 0))
    return _round_maximum(counts[tally.starts] / tails)


def measure_alpha(tally: ClassTally) -> float:
    """The largest share of one value in a class."""
    return _round_maximum(tally.counts / tally.spread(tally.sizes))


def measure_basic_beta(tally: ClassTally) -> float:
    """The largest (p − q) / q."""
    return _round_maximum(_compute_gains(tally))


def measure_enhanced_beta(tally: ClassTally) -> float:
    """The largest (p − q) / q, infinite if one exceeds −ln q."""
    gains = _compute_gains(tally)
    bounds = -np.log(tally.overall / max(tally.rows, 1))[tally.values]
    violation_mask = np.round(gains, 12) > np.round(bounds, 12)
    return float("inf") if violation_mask.any() else _round_maximum(gains)


def measure_delta_disclosure(tally: ClassTally) -> float:
    """The largest |ln(p / q)|, infinite if a class lacks a value."""
    if len(tally.starts) and measure_distinct_l(tally) < len(tally.labels):
        return float("inf")
    sizes = tally.spread(tally.sizes)
    return _round_maximum(np.abs(np.log(tally.counts * tally.rows / (sizes * tally.overall[tally.values]))))


def _compute_gains(tally: ClassTally) -> Floats:
    """(p − q) / q of each value in each class, 0 where it is not more frequent there."""
    gains: Floats = np.maximum(tally.compute_excess(), 0) / (tally.spread(tally.sizes) * tally.overall[tally.values])
    return gains


def _round_maximum(numbers: Floats) -> float:
    return round(float(numbers.max(initial=0.0)), 12)


_SHOWN_ARGUMENTS = ("column", "starred_rows")


def _tally_values(evidence: Evidence, arguments: Mapping[str, Any]) -> ClassTally:
    """The values of a claim's column in each class of the release, or in the classes that the evidence names."""
    if evidence.class_tally is not None:
        return evidence.class_tally
    return GroupedRows.of(evidence.published_data, read_starred_rows(arguments)).tally(arguments["column"])


def _make_column_check(measure: Callable[[ClassTally], float]) -> Measure:
    """Turn a measure of the values in classes into a check of claims."""
    return lambda evidence, arguments: measure(_tally_values(evidence, arguments))


checks_claim("alpha", "at_most", arguments=_SHOWN_ARGUMENTS)(_make_column_check(measure_alpha))
checks_claim("beta", "at_most", properties=("beta_likeness",), arguments=_SHOWN_ARGUMENTS)(
    _make_column_check(measure_basic_beta)
)
checks_claim("delta_disclosure", "below", arguments=_SHOWN_ARGUMENTS)(_make_column_check(measure_delta_disclosure))
checks_claim("distinct_l", "at_least", properties=("distinct_l_diversity",), arguments=_SHOWN_ARGUMENTS)(
    _make_column_check(measure_distinct_l)
)
checks_claim("enhanced_beta", "at_most", properties=("enhanced_beta_likeness",), arguments=_SHOWN_ARGUMENTS)(
    _make_column_check(measure_enhanced_beta)
)
checks_claim("entropy_l", "at_least", properties=("entropy_l_diversity",), arguments=_SHOWN_ARGUMENTS)(
    _make_column_check(measure_entropy_l)
)
checks_claim("t_equal", "at_most", properties=("t_closeness",), arguments=_SHOWN_ARGUMENTS)(
    _make_column_check(measure_t_equal)
)


def _make_whole_column_check(measure: str) -> Measure:
    """The same measure where suppressed rows show nothing: their values count in the whole table, as they were."""
    return lambda evidence, arguments: CHECKS[measure](evidence.leave_out_columns((arguments["column"],)), arguments)


checks_claim("beta_with_originals", "at_most", properties=("beta_likeness",), needs_original=True)(
    _make_whole_column_check("beta")
)
checks_claim("delta_disclosure_with_originals", "below", properties=("delta_disclosure",), needs_original=True)(
    _make_whole_column_check("delta_disclosure")
)
checks_claim("enhanced_beta_with_originals", "at_most", properties=("enhanced_beta_likeness",), needs_original=True)(
    _make_whole_column_check("enhanced_beta")
)
checks_claim("t_equal_with_originals", "at_most", properties=("t_closeness",), needs_original=True)(
    _make_whole_column_check("t_equal")
)
checks_claim("t_ordered_with_originals", "at_most", properties=("t_closeness",), needs_original=True)(
    _make_whole_column_check("t_ordered")
)
checks_claim("t_hierarchical_with_originals", "at_most", properties=("t_closeness",), needs_original=True)(
    _make_whole_column_check("t_hierarchical")
)


@checks_claim("recursive_c", "below", properties=("recursive_l_diversity",), arguments=(*_SHOWN_ARGUMENTS, "l"))
def _check_recursive_c(evidence: Evidence, arguments: Mapping[str, Any]) -> float:
    return measure_recursive_c(_tally_values(evidence, arguments), arguments["l"])


@checks_claim(
    "t_ordered",
    "at_most",
    properties=("t_closeness",),
    arguments=(*_SHOWN_ARGUMENTS, "order", "parents?"),
)
def _check_t_ordered(evidence: Evidence, arguments: Mapping[str, Any]) -> float:
    order = arguments.get("order")
    if order is None and "parents" in arguments:
        order = parse_claim_hierarchy(arguments).leaves
    rank_order = choose_rank_order(evidence.published_data, arguments["column"], order)
    return measure_t_ordered(_tally_values(evidence, arguments), rank_order)


@checks_claim("t_hierarchical", "at_most", properties=("t_closeness",), arguments=(*_SHOWN_ARGUMENTS, "parents"))
def _check_t_hierarchical(evidence: Evidence, arguments: Mapping[str, Any]) -> float:
    hierarchy = parse_claim_hierarchy(arguments) if "parents" in arguments else None
    column_hierarchy = choose_tree(evidence.published_data, arguments["column"], hierarchy)
    return measure_t_hierarchical(_tally_values(evidence, arguments), column_hierarchy)


def parse_claim_hierarchy(arguments: Mapping[str, Any]) -> Hierarchy:
    """The hierarchy of a sensitive column, as a claim spells it."""
    rows = [row.split(LEVEL_MARK) for row in arguments["parents"]]
    return Hierarchy.of(rows, name=f'the claim\'s hierarchy of "{arguments["column"]}"')
