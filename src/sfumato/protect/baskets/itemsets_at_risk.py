# SPDX-License-Identifier: MIT
"""The frequent itemsets that hiding may lose: the border between what an analyst keeps and loses.

An itemset is at risk if it holds a removable item, and if removing it from all baskets where that serves a rule would
leave fewer than the threshold. All others stay frequent whatever is chosen. Itemsets that contain a secret itemset are
lost on purpose and not counted. Border-based hiding: Sun and Yu 2005; Gkoulalas-Divanis and Verykios 2006.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints, Words
from sfumato.baskets import Baskets
from sfumato.mine.baskets.itemsets import Itemsets, find_itemsets
from sfumato.protect.baskets.basket_columns import BasketDraft, ItemOccurrences
from sfumato.protect.baskets.item_rules import BasketCounter
from sfumato.protect.baskets.secret_rules import SecretRule
from sfumato.runtime.progress import report_progress

_REPORT_EVERY = 4096


@dataclass(frozen=True, eq=False)
class ItemsetsAtRisk:
    """Itemsets that may be lost; those that any choice treats the same are one."""

    columns: tuple[frozenset[int], ...]
    """The removable columns of each itemset."""
    held_mask: Flags
    """Itemsets × critical baskets: whether the basket holds it, and removing one of those columns serves a rule."""
    spare: Ints
    """How many baskets each can lose and stay frequent."""
    most: Ints
    """The most baskets that a sensible plan takes from each."""
    times: Ints
    """The number of itemsets that each represents."""

    def __len__(self) -> int:
        """The number of itemsets, equal ones counted once."""
        return len(self.columns)


def assume_nothing_at_risk(rows: int) -> ItemsetsAtRisk:
    """No itemset matters."""
    empty_counts = np.zeros(0, dtype=np.int64)
    return ItemsetsAtRisk((), np.zeros((0, rows), dtype=np.bool_), empty_counts, empty_counts, empty_counts)


def find_itemsets_at_risk(
    draft: BasketDraft,
    rules: Sequence[SecretRule],
    least: int,
    rows: Ints,
    wholes: Flags,
    most: Ints,
    longest: int | None = None,
) -> ItemsetsAtRisk:
    """The itemsets that may be lost when rules are hidden in the critical baskets `rows`, which hold `wholes`.

    No sensible plan changes more than `most` baskets of each rule. At most `longest` items, if an estimate of the risk
    is enough.
    """
    itemsets = find_itemsets(draft.data, least, max_length=longest)
    candidates = _list_touched_itemsets(itemsets, draft, rules, least + int(most.sum()))
    bits = BasketCounter.of(_select_critical_baskets(draft.data, rows), np.unique(itemsets.codes).astype(np.int64))
    served_rules = _ServedRules(rules, wholes, most)
    alike: Counter[_AlikeItemsets] = Counter()
    for columns, places, support in _report_candidates(candidates):
        basket_bits, limit = served_rules.of(columns)
        if (spare := support - least) >= limit:
            continue
        held_bits = bits.flag_holding(places) & basket_bits
        many = min(limit, int(np.bitwise_count(held_bits).sum()))
        if many > spare:
            alike[_AlikeItemsets(columns, held_bits.tobytes(), spare, many)] += 1
    kinds = list(alike)
    held_rows = [_unpack_flag_words(kind.held_bytes, len(rows)) for kind in kinds]
    return ItemsetsAtRisk(
        tuple(kind.columns for kind in kinds),
        np.array(held_rows, dtype=np.bool_).reshape(len(kinds), len(rows)),
        np.array([kind.spare for kind in kinds], dtype=np.int64),
        np.array([kind.most for kind in kinds], dtype=np.int64),
        np.array([alike[kind] for kind in kinds], dtype=np.int64),
    )


class _AlikeItemsets(NamedTuple):
    """Itemsets that any choice treats the same."""

    columns: frozenset[int]
    held_bytes: bytes
    """The critical baskets that hold them, as bits."""
    spare: int
    most: int


class _TouchedItemset(NamedTuple):
    """An itemset with a removable item."""

    columns: frozenset[int]
    places: list[int]
    support: int


def _report_candidates(candidates: list[_TouchedItemset]) -> Iterator[_TouchedItemset]:
    for number, candidate in enumerate(candidates):
        if number % _REPORT_EVERY == 0:
            report_progress("finding itemsets at risk", number, len(candidates))
        yield candidate


def _list_touched_itemsets(
    itemsets: Itemsets, draft: BasketDraft, rules: Sequence[SecretRule], support_limit: int
) -> list[_TouchedItemset]:
    """The itemsets with a removable item, without a secret itemset, and with a support below some limit."""
    column = draft.column
    victims = np.zeros(len(itemsets.items), dtype=np.int64)
    victims[[draft.places[c] for rule in rules for c in rule.whole]] = 1
    cumulative_counts = np.concatenate([[0], np.cumsum(victims[itemsets.codes])])
    has_victim = cumulative_counts[itemsets.offsets[1:]] > cumulative_counts[itemsets.offsets[:-1]]
    touched_indices = np.flatnonzero(has_victim & (itemsets.supports < support_limit))
    secret = [frozenset(rule.right) for rule in rules if not rule.left]
    candidates: list[_TouchedItemset] = []
    for number in touched_indices.tolist():
        places = itemsets.codes[itemsets.offsets[number] : itemsets.offsets[number + 1]].tolist()
        columns = frozenset(column[position] for position in places if victims[position])
        if not any(items <= columns for items in secret):
            candidates.append(_TouchedItemset(columns, places, int(itemsets.supports[number])))
    # Not in the order of the search, which depends on baskets without any of these items: sums are rounded in order.
    return sorted(candidates, key=lambda candidate: candidate.places)


class _ServedBaskets(NamedTuple):
    """Where removing any of some columns serves a rule, and how often a plan does."""

    bits: Words
    """The critical baskets."""
    limit: int


class _ServedRules:
    """Where removing any of some columns serves a rule, as bits, and how often a plan does; cached by columns."""

    def __init__(self, rules: Sequence[SecretRule], wholes: Flags, most: Ints) -> None:
        self._rules = [frozenset(rule.whole) for rule in rules]
        self._wholes = wholes
        self._most = most
        self._cache: dict[frozenset[int], _ServedBaskets] = {}

    def of(self, columns: frozenset[int]) -> _ServedBaskets:
        if columns not in self._cache:
            hit = [u for u, whole in enumerate(self._rules) if whole & columns]
            self._cache[columns] = _ServedBaskets(
                _pack_flag_words(np.asarray(self._wholes[hit].any(axis=0))),
                int(self._most[hit].sum()),
            )
        return self._cache[columns]


def _select_critical_baskets(data: Baskets, rows: Ints) -> ItemOccurrences:
    """The critical baskets alone, renumbered."""
    every = ItemOccurrences.of(data)
    number = np.full(len(data), -1, dtype=np.int64)
    number[rows] = np.arange(len(rows))
    occurrence_mask = number[every.rows] >= 0
    return ItemOccurrences(data.items, number[every.rows[occurrence_mask]], every.codes[occurrence_mask], len(rows))


def _pack_flag_words(flags: Flags) -> Words:
    padded_mask = np.zeros(-(-len(flags) // 64) * 64, dtype=np.bool_)
    padded_mask[: len(flags)] = flags
    return np.packbits(padded_mask, bitorder="little").view(np.uint64)


def _unpack_flag_words(flag_bytes: bytes, rows: int) -> Flags:
    return np.unpackbits(np.frombuffer(flag_bytes, dtype=np.uint8), count=rows, bitorder="little").astype(np.bool_)
