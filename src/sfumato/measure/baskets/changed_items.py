# SPDX-License-Identifier: MIT
"""Which items of baskets were added, removed or made unknown, compared basket by basket."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number


@dataclass(frozen=True)
class _OccurrenceKeys:
    """A number for each item in each basket, the same before and after."""

    original_keys: Ints
    certain_keys: Ints
    unknown_keys: Ints
    names: Mapping[str, int]

    @property
    def width(self) -> int:
        """The distance of the keys of two baskets."""
        return max(len(self.names), 1)

    @classmethod
    def of(cls, original: Baskets, published_baskets: Baskets, unknown_mark: str) -> _OccurrenceKeys:
        """Without a mark, nothing is unknown."""
        names = {str(item): number for number, item in enumerate(original.items)}
        shown_names = [str(item) for item in published_baskets.items]
        unknown_items = np.array(
            [bool(unknown_mark) and name.endswith(unknown_mark) for name in shown_names], dtype=bool
        )
        plain_names = [
            name.removesuffix(unknown_mark) if is_unknown else name
            for name, is_unknown in zip(shown_names, unknown_items, strict=True)
        ]
        numbers = np.array([names.setdefault(name, len(names)) for name in plain_names], dtype=np.int64)
        width = max(len(names), 1)
        published_keys = _key_occurrences(published_baskets, numbers, width)
        unknown_mask = unknown_items[published_baskets.codes] if shown_names else np.zeros(0, dtype=bool)
        original_keys = _key_occurrences(original, np.arange(len(original.items), dtype=np.int64), width)
        return cls(original_keys, published_keys[~unknown_mask], published_keys[unknown_mask], names)


def _key_occurrences(baskets: Baskets, numbers: Ints, width: int) -> Ints:
    rows = np.repeat(np.arange(len(baskets), dtype=np.int64), np.diff(baskets.offsets))
    return rows * width + (numbers[baskets.codes] if len(numbers) else 0)


def measure_changed_items(original: Baskets, published_baskets: Baskets, unknown_mark: str) -> float:
    """Changed items as a share of all occurrences, at most 1; an unknown item counts whether or not it was there."""
    keys = _OccurrenceKeys.of(original, published_baskets, unknown_mark)
    changed_keys = np.union1d(np.setxor1d(keys.original_keys, keys.certain_keys), keys.unknown_keys)
    return round(min(len(changed_keys) / max(len(keys.original_keys), 1), 1.0), 12)


def count_unnamed_changes(
    original: Baskets,
    published_baskets: Baskets,
    named_items: Collection[str],
    stated_changes: Iterable[tuple[int, str]] = (),
) -> int:
    """How many items baskets have got, and how many they have lost that are not among the named ones.

    `stated_changes`, as the row and the item, do not count.
    """
    keys = _OccurrenceKeys.of(original, published_baskets, "")
    lost_keys = np.setdiff1d(keys.original_keys, keys.certain_keys)
    named_numbers = [number for name, number in keys.names.items() if name in named_items]
    unnamed_keys = lost_keys[~np.isin(lost_keys % keys.width, named_numbers)]
    changed_keys = np.union1d(np.setdiff1d(keys.certain_keys, keys.original_keys), unnamed_keys)
    stated_keys = [row * keys.width + keys.names[name] for row, name in stated_changes if name in keys.names]
    return len(np.setdiff1d(changed_keys, stated_keys))


def count_untrue_items(original: Baskets, published_baskets: Baskets, unknown_mark: str) -> int:
    """How many certain items the original basket lacks, and how many original ones are neither certain nor unknown."""
    keys = _OccurrenceKeys.of(original, published_baskets, unknown_mark)
    shown_keys = np.union1d(keys.certain_keys, keys.unknown_keys)
    return len(np.setdiff1d(keys.certain_keys, keys.original_keys)) + len(np.setdiff1d(keys.original_keys, shown_keys))


@checks_claim("unnamed_changes", "exactly", private="sensitive")
def _check_unnamed_changes(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    stated_changes = [
        (int(row), str(item)) for details in evidence.other_details for row, item, _ in details.get("changes") or ()
    ]
    named_items = {str(item) for item in evidence.details["sensitive"]}
    return count_unnamed_changes(evidence.original, evidence.published_data, named_items, stated_changes)


@checks_claim("untrue_items", "exactly", needs_original=True)
def _check_untrue_items(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    return count_untrue_items(evidence.original, evidence.published_data, str(arguments["unknown_mark"]))
