# SPDX-License-Identifier: MIT
"""What published patterns reveal, derived by an auditor from the patterns alone.

In two ways, both different from the method's. For every set that is published, or whose proper subsets are all known,
the count of each of its patterns is a number plus or minus the unknown support: `derivable_patterns`. For a few items,
a linear program bounds each pattern over all databases that agree: `inferable_patterns`, which is not to be claimed of
more items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.baskets import Baskets
from sfumato.errors import DataError
from sfumato.measure.baskets.recount import ItemColumns, recount_itemsets
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.measure.patterns.known_supports import KnownSupports
from sfumato.patterns import Patterns
from sfumato.public.thresholds import compute_least_count
from sfumato.release import Number
from sfumato.runtime.progress import report_progress

Members = tuple[int, ...]

FEW_ITEMS = 6
"""The most items for which all databases that agree are examined."""
_SLACK = 1e-6
_CONTRADICTION = "the published supports contradict one another: no database has them; check their source"


def inferable_patterns(patterns: Patterns, k: int, complete_from: int | None = None) -> int:
    """How many patterns are found that 1 to k − 1 people must have, given the published supports.

    `complete_from` is the support from which an adversary may assume that everything is published. Patterns of two
    conjunctions, known only together, count as one. With more than `FEW_ITEMS` items there may be more than are found.
    """
    count = derivable_patterns(patterns, k, complete_from)
    if 0 < len(patterns.items) <= FEW_ITEMS and not count:
        count += _count_by_linear_programs(patterns, k, complete_from)
    return count


def derivable_patterns(patterns: Patterns, k: int, complete_from: int | None = None) -> int:
    """How many patterns of 1 to k − 1 people follow by inclusion and exclusion, and by bounds on one unknown support at
    a time.
    """
    ceiling = complete_from - 1 if complete_from else None
    sets = _index_supports(patterns)
    while True:
        report_progress("checking what supports reveal")
        notes = KnownSupports.of(sets, patterns.baskets, len(patterns.items))
        bounded_sets = [_bound_unknown_sets(notes, table, k, ceiling) for table in notes.iterate_unknown()]
        bounded_sets += list(_bound_unknown_pairs(notes, k, ceiling))
        learnt_supports = {
            tuple(itemset): support for part in bounded_sets for itemset, support in part.learnt_supports
        }
        if not learnt_supports:
            break
        # Derived supports are known from here on, and more may follow from them.
        sets |= learnt_supports
    count = sum(part.small for part in bounded_sets) + sum(
        _count_small_patterns(notes, table, k) for table in notes.iterate_known()
    )
    return count + _count_small_aside(notes, k)


def _index_supports(patterns: Patterns) -> dict[Members, int]:
    codes, offsets = patterns.codes.tolist(), patterns.offsets.tolist()
    supports = patterns.supports.tolist()
    return {tuple(codes[offsets[index] : offsets[index + 1]]): support for index, support in enumerate(supports)}


@dataclass(frozen=True)
class _BoundedSets:
    """For sets of unknown support: how many patterns are known to be small, and which supports follow exactly."""

    small: int
    learnt_supports: list[tuple[list[int], int]]


def _count_small_patterns(notes: KnownSupports, table: Ints, k: int) -> int:
    counts = notes.count_exact_holders(notes.number_subsets(table))
    if (counts < 0).any():
        raise DataError(_CONTRADICTION)
    return int(((counts > 0) & (counts < k)).sum())


def _bound_unknown_sets(notes: KnownSupports, table: Ints, k: int, ceiling: int | None) -> _BoundedSets:
    """Every pattern is a number plus or minus the unknown support, and not negative."""
    counts = notes.count_exact_holders(notes.number_subsets(table))
    masks = np.arange(counts.shape[1])
    adds = (table.shape[1] - np.bitwise_count(masks)) % 2 == 0
    low = np.maximum(0, (-counts[:, adds]).max(axis=1, initial=0))
    free = counts[:, ~adds].min(axis=1, initial=np.iinfo(np.int64).max)
    high = free if ceiling is None else np.minimum(free, ceiling)
    if (low > high).any():
        raise DataError(_CONTRADICTION)
    least = np.where(adds, counts + low[:, None], counts - high[:, None])
    most = np.where(adds, counts + high[:, None], counts - low[:, None])
    small = int(((least > 0) & (most < k)).sum()) + int(((free - low > 0) & (free - low < k)).sum())
    exact = low == high
    return _BoundedSets(small, list(zip(table[exact].tolist(), low[exact].tolist(), strict=True)))


def _bound_unknown_pairs(notes: KnownSupports, k: int, ceiling: int | None) -> Iterator[_BoundedSets]:
    """The same for unknown pairs, which are many: those of one item at a time."""
    if not notes.tables:
        return
    single = notes.tables[0][:, 0]
    for index, code in enumerate(single[:-1].tolist()):
        pairs = np.column_stack((np.full(len(single) - index - 1, code), single[index + 1 :]))
        unknown = pairs[notes.number_sets(pairs) < 0]
        if len(unknown):
            yield _bound_unknown_sets(notes, unknown, k, ceiling)


def _count_small_aside(notes: KnownSupports, k: int) -> int:
    """Sets that lack some subset: walk down from each as long as everything in between is known."""
    sets = dict(notes.aside) | {(): int(notes.supports[0])}
    for table in notes.tables:
        numbers = notes.number_sets(table)
        sets |= dict(zip(map(tuple, table.tolist()), notes.supports[numbers].tolist(), strict=True))
    count = 0
    for whole, _ in notes.aside:
        exact: dict[Members, int] = {}
        queue = [whole]
        while queue:
            inner = queue.pop(0)
            supersets = [tuple(sorted({*inner, code})) for code in whole if code not in inner]
            if inner in exact or inner not in sets or not all(outer in exact for outer in supersets):
                continue
            exact[inner] = sets[inner] - sum(many for outer, many in exact.items() if set(inner) < set(outer))
            queue += [tuple(code for code in inner if code != dropped_code) for dropped_code in inner]
        count += sum(0 < many < k for many in exact.values())
    return count


def _count_by_linear_programs(patterns: Patterns, k: int, complete_from: int | None) -> int:
    """Conjunctions that are small in every database, by linear programs over the number of baskets of each kind."""
    from scipy.optimize import linprog

    n = len(patterns.items)
    equal, amounts, bound_rows, limits = _build_support_conditions(patterns, complete_from)
    # The minimum and maximum of one pattern are databases that often settle another.
    worlds: list[Floats] = []
    count = 0
    kinds = np.arange(1 << n)
    for present in range(1 << n):
        for absent in range(1 << n):
            if present & absent or not present | absent:
                continue
            row = ((kinds & present == present) & (kinds & absent == 0)).astype(np.float64)
            if any(world @ row < _SLACK or world @ row > k - _SLACK for world in worlds):
                continue
            ends = []
            for sign in (-1, 1):
                answer = linprog(sign * row, bound_rows, limits, equal, amounts, bounds=(0, None))
                if answer.x is None:
                    raise DataError(_CONTRADICTION)
                worlds.append(np.asarray(answer.x))
                ends.append(float(worlds[-1] @ row))
            count += ends[0] < k - _SLACK and ends[1] > _SLACK
    return count


class _SupportConditions(NamedTuple):
    """What published supports say of the counts of all kinds of baskets."""

    equal: Floats
    amounts: Floats
    bound_rows: Floats | None
    limits: Floats | None


def _build_support_conditions(patterns: Patterns, complete_from: int | None) -> _SupportConditions:
    n = len(patterns.items)
    kinds = np.arange(1 << n)
    sets = {0: patterns.baskets}
    for members, support in _index_supports(patterns).items():
        sets[sum(1 << code for code in members)] = support
    equal = np.array([kinds & mask == mask for mask in sets], dtype=np.float64)
    unknown = [mask for mask in range(1 << n) if mask not in sets]
    if not complete_from or not unknown:
        return _SupportConditions(equal, np.array(list(sets.values()), dtype=np.float64), None, None)
    bound_rows = np.array([kinds & mask == mask for mask in unknown], dtype=np.float64)
    limits = np.full(len(unknown), complete_from - 1, dtype=np.float64)
    return _SupportConditions(equal, np.array(list(sets.values()), dtype=np.float64), bound_rows, limits)


def find_least_support(patterns: Patterns) -> int:
    """The smallest published support; the number of baskets if nothing is published."""
    return int(patterns.supports.min(initial=patterns.baskets))


def count_untrue_supports(patterns: Patterns, baskets: Baskets) -> int:
    """How many published supports, including the number of baskets, differ from those of the baskets."""
    columns = ItemColumns.of(baskets, patterns.items)
    wrong = sum(columns.count_support(items) != support for items, support in patterns.to_lists())
    return wrong + (patterns.baskets != len(baskets))


def count_lost_itemsets(patterns: Patterns, baskets: Baskets, least: int) -> int:
    """How many frequent itemsets of the baskets are not published, or with too small a support."""
    published_supports = {frozenset(map(str, items)): support for items, support in patterns.to_lists()}
    true = recount_itemsets(baskets, least)
    return sum(published_supports.get(items, 0) < support for items, support in true.items())


checks_claim("least_support", "at_least")(lambda evidence, _: find_least_support(evidence.published_data))
checks_claim("untrue_supports", "exactly", needs_original=True)(
    lambda evidence, _: count_untrue_supports(evidence.published_data, evidence.original)
)


@checks_claim("derivable_patterns", "exactly", arguments=("complete_from", "k"))
def _check_derivable_patterns(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return derivable_patterns(evidence.published_data, int(arguments["k"]), int(arguments["complete_from"]) or None)


@checks_claim("inferable_patterns", "exactly", arguments=("complete_from", "k"))
def _check_inferable_patterns(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    item_count = len(evidence.published_data.items)
    if item_count > FEW_ITEMS:
        raise DataError(
            f"{item_count} items are published, and all databases that agree can be examined for "
            f"{FEW_ITEMS} at most; claim derivable_patterns instead of inferable_patterns"
        )
    return inferable_patterns(evidence.published_data, int(arguments["k"]), int(arguments["complete_from"]) or None)


@checks_claim("lost_itemsets", "exactly", needs_original=True)
def _check_lost_itemsets(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    least = compute_least_count(arguments["min_support"], len(evidence.original))
    return count_lost_itemsets(evidence.published_data, evidence.original, least)
