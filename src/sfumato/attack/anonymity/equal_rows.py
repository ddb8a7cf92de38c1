# SPDX-License-Identifier: MIT
"""Split rows by the values of low-cardinality columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Ints, Places


def group_equal_rows(columns: Sequence[Places], most: int) -> list[Ints] | None:
    """The rows that are alike in all columns, each kind together, in the order in which kinds first appear.

    None if there are more than `most` kinds, or more than that in one column.
    """
    kinds = np.zeros(len(columns[0]), dtype=np.uint16)
    for numbers in columns:
        low = int(numbers.min(initial=0))
        width = int(numbers.max(initial=0)) - low + 1
        pairs = kinds.astype(np.int64) * width + (numbers - low)
        present = np.flatnonzero(np.bincount(pairs))
        if len(present) > most:
            return None
        kind_of_pair = np.zeros(int(present[-1]) + 1 if len(present) else 0, dtype=np.uint16)
        kind_of_pair[present] = np.arange(len(present))
        kinds = kind_of_pair[pairs]
    parts = [np.flatnonzero(kinds == kind) for kind in range(int(kinds.max(initial=0)) + 1)]
    return sorted(parts, key=lambda rows: int(rows[0])) if len(kinds) else []
