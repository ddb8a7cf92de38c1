# SPDX-License-Identifier: MIT
"""Supports of itemsets whose items are at different sites, held as shares that no site can read alone.

==========  ============================================================================================================
packed      two sites: private scalar products by packed homomorphic encryption, shares that add up to the support, and
            a comparison of the shares; each site is protected against the other
shamir      three or more sites: every site shares its vectors, products and comparisons are computed on shares; fewer
            than half the sites may collude
textbook    two sites: the algebraic product of Vaidya and Clifton, in `algebraic_product`; broken, for study
==========  ============================================================================================================

In the first two, sites learn which itemsets are frequent and which rules hold, and no count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from sfumato.arrays import Flags, Words
from sfumato.parties.arithmetic.field import PRIME, add, multiply, scale
from sfumato.parties.arithmetic.shamir import SharedNumbers
from sfumato.parties.protocols.scalar_product import PackedProducts, Pair, compare_shares
from sfumato.parties.result import Itemset
from sfumato.parties.transport.network import Network
from sfumato.runtime.progress import report_progress

Parts = tuple[Itemset, ...]
"""An itemset by sites: what each site has of it, perhaps nothing, in the order of the sites."""
GetVector = Callable[[Itemset], Flags]
_BATCH_NUMBERS = 1 << 20


class SupportShares(ABC):
    """One site's part in computing on supports; every site makes the same calls in the same order."""

    modulus: int
    """Shares are modulo this number."""

    @abstractmethod
    async def share_known(self, counts: Sequence[int], step: str) -> list[int]:
        """Shares of supports that one site knows; the other sites give 0."""

    @abstractmethod
    async def share_products(self, itemsets: Sequence[Parts], get_vector: GetVector, step: str) -> list[int]:
        """Shares of the supports of itemsets that are split between sites."""

    @abstractmethod
    def share_constant(self, value: int) -> int:
        """A share of a number that all sites know."""

    @abstractmethod
    async def are_positive(self, shares: Sequence[int], step: str) -> Flags:
        """Whether shared numbers are at least zero, known to all sites afterwards."""


class PackedShares(SupportShares):
    """Shares of two sites that add up to the number."""

    def __init__(self, network: Network, products: PackedProducts[Itemset]) -> None:
        """Use prepared products."""
        self._network, self._products, self.modulus = network, products, products.modulus

    async def share_known(self, counts: Sequence[int], step: str) -> list[int]:
        """The count itself is the share of the site that knows it."""
        del step
        return list(counts)

    async def share_products(self, itemsets: Sequence[Parts], get_vector: GetVector, step: str) -> list[int]:
        """Private scalar products."""
        return await self._products.share([Pair(*parts) for parts in itemsets], get_vector, step)

    def share_constant(self, value: int) -> int:
        """The first site takes it."""
        return value % self.modulus if self._network.index == 0 else 0

    async def are_positive(self, shares: Sequence[int], step: str) -> Flags:
        """A comparison of two parties."""
        return await compare_shares(self._network, shares, self.modulus, step)


class ShamirShares(SupportShares):
    """Values of polynomials, one for each site, with the number at zero."""

    modulus = PRIME

    def __init__(self, network: Network, rows: int) -> None:
        """Prepare for vectors with this many rows."""
        self._network, self._rows = network, rows

    async def share_known(self, counts: Sequence[int], step: str) -> list[int]:
        """Every site shares its counts, and the sums are those of the site that knows."""
        shared_numbers = SharedNumbers(self._network, step)
        return [int(share) for share in await shared_numbers.share_sum(np.array(counts, dtype=np.uint64))]

    async def share_products(self, itemsets: Sequence[Parts], get_vector: GetVector, step: str) -> list[int]:
        """Vectors are shared, multiplied and summed, in batches of itemsets that are split between the same sites."""
        shares = [0] * len(itemsets)
        batch = max(1, _BATCH_NUMBERS // max(self._rows, 1))
        sites = [tuple(np.flatnonzero([bool(part) for part in parts]).tolist()) for parts in itemsets]
        order = sorted(range(len(itemsets)), key=sites.__getitem__)
        done_count = 0
        for holders, group in groupby(order, key=sites.__getitem__):
            places = list(group)
            for start in range(0, len(places), batch):
                part = places[start : start + batch]
                own_parts = [itemsets[index][self._network.index] for index in part]
                sums = await self._multiply(holders, own_parts, get_vector, step)
                for index, total in zip(part, sums, strict=True):
                    shares[index] = total
                done_count += len(part)
                report_progress(f"{step}: products of shares", done_count, len(itemsets))
        return shares

    async def _multiply(
        self, holders: tuple[int, ...], own_parts: Sequence[Itemset], get_vector: GetVector, step: str
    ) -> list[int]:
        shared_numbers = SharedNumbers(self._network, step)
        is_holder = self._network.index in holders
        vectors = [get_vector(part) if is_holder else np.zeros(self._rows, dtype=np.bool_) for part in own_parts]
        rows = await shared_numbers.share(np.concatenate(vectors).astype(np.uint64))
        first, *factors = (rows[holder] for holder in holders)
        for factor in factors[:-1]:
            first = await shared_numbers.multiply(first, factor)
        # The products of shares have twice the degree; their sums are shared again, one number for each itemset.
        sums = _sum_modulo(multiply(first, factors[-1]).reshape(len(own_parts), self._rows))
        total = np.zeros_like(sums)
        for coefficient, row in zip(shared_numbers.at_zero, await shared_numbers.share(sums), strict=True):
            total = add(total, scale(coefficient, row))
        return [int(share) for share in total]

    def share_constant(self, value: int) -> int:
        """A constant polynomial."""
        return value % self.modulus

    async def are_positive(self, shares: Sequence[int], step: str) -> Flags:
        """Comparisons on shares."""
        shared_numbers = SharedNumbers(self._network, step)
        return ~await shared_numbers.are_negative(np.array(shares, dtype=np.uint64))


def _sum_modulo(numbers: Words) -> Words:
    """The sum of each row, modulo the prime: the halves of numbers are summed without overflow."""
    half, mask = np.uint64(32), np.uint64((1 << 32) - 1)
    high, low = (numbers >> half).sum(axis=1, dtype=np.uint64), (numbers & mask).sum(axis=1, dtype=np.uint64)
    sums = [((top << 32) + bottom) % PRIME for top, bottom in zip(high.tolist(), low.tolist(), strict=True)]
    return np.array(sums, dtype=np.uint64)
