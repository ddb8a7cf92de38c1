# SPDX-License-Identifier: MIT
"""How many items of baskets were added, removed or made unknown."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets


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


def _key_occurrences(baskets: Baskets, number: Ints, width: int) -> Ints:
    rows = np.repeat(np.arange(len(baskets), dtype=np.int64), np.diff(baskets.offsets))
    return rows * width + (number[baskets.codes] if len(number) else 0)
