# SPDX-License-Identifier: MIT
"""The size of a Bloom filter, which is no secret."""

from __future__ import annotations

from typing import NamedTuple


class FilterSize(NamedTuple):
    """How an item becomes bits, but for the key."""

    bits: int
    """The number of bits in a filter."""
    hashes: int
    """The number of bits that an item sets."""
