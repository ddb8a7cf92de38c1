# SPDX-License-Identifier: MIT
"""How many items of baskets were added, removed or made unknown."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Ints
from sfumato.baskets import Baskets


def measure_changed_items(original: Baskets, published: Baskets, unknown_mark: str) -> float:
    """Changed items as a share of all occurrences, at most 1; an unknown item counts whether or not it was there."""
    names = {str(item): number for number, item in enumerate(original.items)}
    shown = [str(item) for item in published.items]
    unknown = np.array([name.endswith(unknown_mark) for name in shown], dtype=bool)
    plain = [name.removesuffix(unknown_mark) if hidden else name for name, hidden in zip(shown, unknown, strict=True)]
    number = np.array([names.setdefault(name, len(names)) for name in plain], dtype=np.int64)
    width = max(len(names), 1)
    original_keys = _key_occurrences(original, np.arange(len(original.items), dtype=np.int64), width)
    published_keys = _key_occurrences(published, number, width)
    hidden = unknown[published.codes] if shown else np.zeros(0, dtype=bool)
    changed = np.union1d(np.setxor1d(original_keys, published_keys[~hidden]), published_keys[hidden])
    return round(min(len(changed) / max(len(original_keys), 1), 1.0), 12)


def _key_occurrences(baskets: Baskets, number: Ints, width: int) -> Ints:
    rows = np.repeat(np.arange(len(baskets), dtype=np.int64), np.diff(baskets.offsets))
    return rows * width + (number[baskets.codes] if len(number) else 0)
