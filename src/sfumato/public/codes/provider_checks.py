# SPDX-License-Identifier: MIT
"""Whether a provider mined what was asked: what the key alone can tell, and what the originals prove.

The key knows the support of every single code, and the true supports of some larger itemsets that were drawn at random
from the baskets (spot checks). The provider does not know which. One who leaves out a share s of the frequent larger
itemsets at random, or counts them wrongly, passes n spot checks with a chance of about (1 − s)ⁿ. With the originals
nothing is left to chance: if an itemset was left out, then so was a smallest one, all of whose subsets were found
(the negative border of Mannila and Toivonen), and these few are counted. Spot checks after Wong, Cheung, Hung, Kao,
Mamoulis, *An audit environment for outsourcing of frequent itemset mining* (VLDB 2009).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sfumato.baskets import Baskets
from sfumato.errors import DataError, count_noun
from sfumato.public.codes.item_columns import build_full_column, build_item_columns, intersect_items
from sfumato.runtime.progress import report_progress

SPOT_CHECKS = 200
CodeSet = frozenset[int]
ItemIndices = tuple[int, ...]


class SpotCheck(NamedTuple):
    """An itemset whose true support the key knows."""

    items: ItemIndices
    support: int


def draw_spot_checks(data: Baskets, chance: np.random.Generator) -> tuple[SpotCheck, ...]:
    """Two or three items of randomly drawn baskets each: the more frequent an itemset, the likelier it is drawn."""
    rows = np.flatnonzero(np.diff(data.offsets) > 1)
    if not len(rows):
        return ()
    itemsets: set[ItemIndices] = set()
    for row in chance.choice(rows, SPOT_CHECKS).tolist():
        basket_codes = data.codes[data.offsets[row] : data.offsets[row + 1]]
        size = min(int(chance.integers(2, 4)), len(basket_codes))
        itemsets.add(tuple(sorted(chance.choice(basket_codes, size, replace=False).tolist())))
    return tuple(
        SpotCheck(items, support) for items, support in count_original_supports(sorted(itemsets), data).items()
    )


def spell_spot_checks(checks: Iterable[SpotCheck]) -> list[Any]:
    """Spot checks as lists, which a key file holds as JSON."""
    return [[list(check.items), check.support] for check in checks]


def parse_spot_checks(content: Iterable[Any]) -> tuple[SpotCheck, ...]:
    """Spot checks from the lists of a key file."""
    return tuple(SpotCheck(tuple(map(int, items)), int(support)) for items, support in content)


def choose_spot_checks(checks: Iterable[SpotCheck], least: int, max_length: int | None) -> list[SpotCheck]:
    """Those that a complete result must contain."""
    return [
        check for check in checks if check.support >= least and len(check.items) <= (max_length or len(check.items))
    ]


def refuse_failed_spot_checks(
    checks: Sequence[SpotCheck], supports: Mapping[ItemIndices, int], *, is_exact: bool
) -> None:
    """Stop if an itemset whose support the key knows is missing, or has another support (a lower one in filters)."""
    missing = sum(check.items not in supports for check in checks)
    present = [check for check in checks if check.items in supports]
    wrong = sum(
        supports[check.items] != check.support if is_exact else supports[check.items] < check.support
        for check in present
    )
    if missing or wrong:
        raise DataError(
            f"the key knows the support of {count_noun(len(checks), 'frequent itemset')}: the provider did not return "
            f"{missing}, and {wrong} came with a wrong support, so it left itemsets out or miscounted. Ask again, set "
            "min_support to the one that was mined, or set max_length if you asked for short itemsets only"
        )


def refuse_incomplete_sets(counts: Mapping[CodeSet, int]) -> None:
    """All subsets of a frequent set are frequent: if one is missing, the sets are incomplete."""
    gaps = sum(
        counts.get(codes - {code}, -1) < count for codes, count in counts.items() if len(codes) > 1 for code in codes
    )
    if gaps or frozenset() in counts:
        raise DataError(
            f"{count_noun(gaps, 'subset of an itemset is', 'subsets of itemsets are')} missing or rarer than the "
            "whole; mine all frequent itemsets "
            '(kind "all"), not the closed or maximal ones'
        )


def refuse_foreign_codes(counts: Mapping[CodeSet, int], code_supports: Mapping[int, int]) -> None:
    """Stop if a single code is not of the key, or has another support."""
    single = {next(iter(codes)): count for codes, count in counts.items() if len(codes) == 1}
    foreign = sum(code not in code_supports for code in single)
    if foreign:
        raise DataError(f"{foreign} of {len(single)} codes found are not of this key; use the key of this release")
    wrong = sum(code_supports[code] != count for code, count in single.items())
    if wrong:
        raise DataError(
            f"{wrong} of {len(single)} codes have a different support than in this key's release; either the key "
            "or the provider's counts belong to another release"
        )


def refuse_missing_codes(counts: Mapping[CodeSet, int], code_supports: Mapping[int, int], least: int) -> None:
    """A provider who mined with a higher threshold leaves out codes that the key knows to be frequent."""
    missing = sum(count >= least and frozenset({code}) not in counts for code, count in code_supports.items())
    if missing:
        raise DataError(
            f"of the codes with a support of {least} or more in this key's release, the provider did not return "
            f"{missing:,}: it mined with a higher threshold or left itemsets out. Ask for all itemsets from that "
            "support on, "
            "or set min_support to the one that was mined"
        )


def count_original_supports(sets: Iterable[ItemIndices], baskets: Baskets) -> dict[ItemIndices, int]:
    """The supports of sets of item indices, counted in the originals."""
    itemsets = list(sets)
    used_positions = sorted({position for itemset in itemsets for position in itemset})
    columns = dict(
        zip(
            used_positions,
            build_item_columns(baskets, [baskets.items[position] for position in used_positions]).values(),
            strict=True,
        )
    )
    whole = build_full_column(len(baskets))
    return {itemset: intersect_items(columns, itemset, whole).bit_count() for itemset in itemsets}


def refuse_left_out(itemsets: Collection[ItemIndices], baskets: Baskets, least: int, max_length: int | None) -> None:
    """Stop if a frequent itemset of the originals was not found; `itemsets` are frequent, with all of their subsets."""
    longest = max_length or len(baskets.items)
    by_length: dict[int, set[ItemIndices]] = {}
    for items in itemsets:
        by_length.setdefault(len(items), set()).add(items)
    left_out = int((np.bincount(baskets.codes) >= least).sum()) - len(by_length.get(1, ()))
    if longest >= 2:
        left_out += _count_frequent_pairs(baskets, least) - len(by_length.get(2, ()))
    for length in range(2, min(longest, max(by_length, default=0) + 1)):
        level = by_length.get(length, set())
        candidates = [items for items in _join_level(level) if items not in by_length.get(length + 1, ())]
        report_progress("counting itemsets that were not found", len(candidates))
        left_out += sum(count >= least for count in count_original_supports(candidates, baskets).values())
    if left_out:
        raise DataError(
            f"of the itemsets with a support of {least} or more in the originals, the provider did not return at least "
            f"{left_out:,}: it mined with a higher threshold or left itemsets out. Ask again, set min_support to the "
            "one that "
            "was mined, or set max_length if you asked for short itemsets only"
        )


def _count_frequent_pairs(baskets: Baskets, least: int) -> int:
    from scipy.sparse import coo_matrix, csr_matrix, triu

    basket_matrix = csr_matrix(
        (np.ones(baskets.codes.size, dtype=np.int64), baskets.codes, baskets.offsets),
        shape=(len(baskets), len(baskets.items)),
    )
    basket_matrix = basket_matrix[:, np.bincount(baskets.codes, minlength=len(baskets.items)) >= least]
    return int((coo_matrix(triu(basket_matrix.T @ basket_matrix, 1)).data >= least).sum())


def _join_level(level: Collection[ItemIndices]) -> Iterator[ItemIndices]:
    """Sets with one more item, all of whose subsets are in the level (Apriori)."""
    by_start: dict[ItemIndices, list[int]] = {}
    for items in level:
        by_start.setdefault(items[:-1], []).append(items[-1])
    for start, ends in by_start.items():
        for low, high in combinations(sorted(ends), 2):
            candidate = (*start, low, high)
            if all(candidate[:index] + candidate[index + 1 :] in level for index in range(len(start))):
                yield candidate
