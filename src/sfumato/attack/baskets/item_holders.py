# SPDX-License-Identifier: MIT
"""The baskets that hold each item, as the bits of one number, to count itemsets that no miner lists."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sfumato.baskets import Baskets


@dataclass(frozen=True)
class ItemHolders:
    """Item → the baskets that hold it, as bits."""

    bits: Mapping[str, int]

    @classmethod
    def of(cls, baskets: Baskets, wanted_names: Container[str] | None = None) -> ItemHolders:
        """The holders of each item that a basket holds, or of the wanted ones."""
        rows = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        order = np.argsort(baskets.codes, kind="stable")
        ends = np.cumsum(np.bincount(baskets.codes, minlength=len(baskets.items))).tolist()
        bits: dict[str, int] = {}
        for item, begin, end in zip(baskets.items, [0, *ends], ends, strict=False):
            if end > begin and (wanted_names is None or str(item) in wanted_names):
                flags = np.zeros(len(baskets), dtype=np.uint8)
                flags[rows[order[begin:end]]] = 1
                bits[str(item)] = int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
        return cls(bits)

    def find(self, items: Iterable[str]) -> int:
        """The baskets that hold all of some items, of which there is at least one."""
        return reduce(int.__and__, (self.bits.get(name, 0) for name in items))

    def count(self, items: Iterable[str]) -> int:
        """How many baskets hold all of some items."""
        return self.find(items).bit_count()
