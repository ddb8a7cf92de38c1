# SPDX-License-Identifier: MIT
"""Columns of few leaves, looked up together: a row's class is then a sum of fewer lookups."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Codes

_BUNDLE = 1 << 12


def choose_bundles(widths: list[int]) -> list[tuple[int, ...]]:
    """Neighbouring columns whose leaves have few combinations are looked up together: fewer lookups per row."""
    bundles: list[tuple[int, ...]] = []
    size = 0
    for column, width in enumerate(widths):
        if bundles and size * width <= _BUNDLE:
            bundles[-1] = (*bundles[-1], column)
            size *= width
        else:
            bundles.append((column,))
            size = width
    return bundles


def bundle_codes(codes: Codes, widths: list[int], columns: tuple[int, ...]) -> Codes:
    """One number for the leaves of such columns."""
    numbers = codes[columns[0]]
    for column in columns[1:]:
        numbers = numbers * np.int32(widths[column]) + codes[column]
    return np.ascontiguousarray(numbers)
