# SPDX-License-Identifier: MIT
"""How many items of baskets were added, removed or made unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets
from sfumato.measure.checks import Evidence, checks_claim
from sfumato.release import Number


def measure_changed_items(original: Baskets, published_baskets: Baskets, unknown_mark: str) -> float:
    """Changed items as a share of all occurrences, at most 1; an unknown item counts whether or not it was there.

    Without a mark, nothing is unknown.
    """
    names = {str(item): number for number, item in enumerate(original.items)}
    shown_names = [str(item) for item in published_baskets.items]
    unknown = np.array([bool(unknown_mark) and name.endswith(unknown_mark) for name in shown_names], dtype=bool)
    plain = [
        name.removesuffix(unknown_mark) if is_unknown else name
        for name, is_unknown in zip(shown_names, unknown, strict=True)
    ]
    number = np.array([names.setdefault(name, len(names)) for name in plain], dtype=np.int64)
    width = max(len(names), 1)
    original_keys = _key_occurrences(original, np.arange(len(original.items), dtype=np.int64), width)
    published_keys = _key_occurrences(published_baskets, number, width)
    is_unknown = unknown[published_baskets.codes] if shown_names else np.zeros(0, dtype=bool)
    changed_keys = np.union1d(np.setxor1d(original_keys, published_keys[~is_unknown]), published_keys[is_unknown])
    return round(min(len(changed_keys) / max(len(original_keys), 1), 1.0), 12)


def count_unnamed_changes(
    original: Baskets,
    published_baskets: Baskets,
    named_items: Collection[str],
    stated_changes: Iterable[tuple[int, str]] = (),
) -> int:
    """How many items baskets have got, and how many they have lost that are not among the named ones.

    `stated_changes`, as the row and the item, do not count.
    """
    names = {str(item): number for number, item in enumerate(original.items)}
    numbers = np.array([names.setdefault(str(item), len(names)) for item in published_baskets.items], dtype=np.int64)
    width = max(len(names), 1)
    original_keys = _key_occurrences(original, np.arange(len(original.items), dtype=np.int64), width)
    published_keys = _key_occurrences(published_baskets, numbers, width)
    lost_keys = np.setdiff1d(original_keys, published_keys)
    named_numbers = [number for name, number in names.items() if name in named_items]
    unnamed_keys = lost_keys[~np.isin(lost_keys % width, named_numbers)]
    changed_keys = np.union1d(np.setdiff1d(published_keys, original_keys), unnamed_keys)
    stated_keys = [row * width + names[name] for row, name in stated_changes if name in names]
    return len(np.setdiff1d(changed_keys, stated_keys))


@checks_claim("unnamed_changes", "exactly", private="sensitive")
def _check_unnamed_changes(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
    stated_changes = [
        (int(row), str(item)) for details in evidence.other_details for row, item, _ in details.get("changes") or ()
    ]
    named_items = {str(item) for item in evidence.details["sensitive"]}
    return count_unnamed_changes(evidence.original, evidence.published_data, named_items, stated_changes)


def _key_occurrences(baskets: Baskets, number: Ints, width: int) -> Ints:
    rows = np.repeat(np.arange(len(baskets), dtype=np.int64), np.diff(baskets.offsets))
    return rows * width + (number[baskets.codes] if len(number) else 0)
