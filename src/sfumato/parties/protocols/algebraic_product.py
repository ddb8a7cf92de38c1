# SPDX-License-Identifier: MIT
"""The algebraic scalar product of Vaidya and Clifton (2002): broken for 0/1 vectors, for study.

Both sites know a matrix a of n rows and n/2 columns. The first site draws n/2 random numbers R and sends the n values
x + aR. The last one sends S = y (x + aR), and the n/2 values y a. Then S - (y a) R = x y, which the first site learns;
it tells the last one only whether that reaches the threshold.

The argument was that n/2 equations in n unknowns leave infinitely many solutions. They leave one whose entries are all
0 or 1, and linear programming finds it: `sfumato.attack.recover_vector`. Both sites' data are lost. The matrix
also has n²/2 entries, so that more than some thousand rows cannot be used.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Flags, Ints
from sfumato.errors import PartyError
from sfumato.parties.protocols.support_shares import GetVector, Parts, SupportShares
from sfumato.parties.result import Itemset
from sfumato.parties.transport.network import Network
from sfumato.randomness import Randomness

MOST_ROWS = 4096
COEFFICIENT_BITS, RANDOM_BITS = 8, 24
"""Small enough that S is exact in 64 bits for 4,096 rows."""
LEAK = "the equations of algebraic products, from which linear programming recovers the other site's vectors of 0 and 1"


class Reply(NamedTuple):
    """What the last site sends."""

    total: int
    """S, the product of its vector with the disguised one."""
    values: Ints
    """The n/2 values: its vector times the columns of the matrix."""


def draw_coefficients(seed: int, rows: int) -> Ints:
    """The public matrix: an even number of rows, and half as many columns."""
    even = pad_rows(rows)
    return Randomness.seeded(seed).generator().integers(1, 1 << COEFFICIENT_BITS, (even, even // 2), dtype=np.int64)


def pad_rows(rows: int) -> int:
    """The number of rows, made even."""
    return rows + rows % 2


def disguise(vector: Ints, coefficients: Ints, randoms: Ints) -> Ints:
    """The n values that the first site sends: x + aR."""
    return vector + coefficients @ randoms


def reply(vector: Ints, coefficients: Ints, disguised_vector: Ints) -> Reply:
    """What the last site sends: S = y (x + aR), and y a."""
    return Reply(int(vector @ disguised_vector), vector @ coefficients)


def resolve(answer: Reply, randoms: Ints) -> int:
    """The scalar product: S - (y a) R."""
    return answer.total - int(answer.values @ randoms)


class AlgebraicShares(SupportShares):
    """No shares at all: the first site learns every support."""

    modulus = 1 << 62

    def __init__(self, network: Network, coefficients: Ints, rows: int) -> None:
        """Use an agreed matrix."""
        self._network, self._coefficients, self._rows = network, coefficients, rows

    async def share_known(self, counts: Sequence[int], step: str) -> list[int]:
        """The last site tells the first its counts."""
        if self._network.index == 1:
            await self._network.send(self._network.sites[0], f"{step}/counts", {"counts": np.array(counts, np.int64)})
            return [0] * len(counts)
        message = await self._network.receive(self._network.sites[1], f"{step}/counts")
        self._network.learn(f"{step}: the supports of the other site's own frequent itemsets")
        other_counts = message.get_array("counts", np.int64, len(counts))
        return [own_count + int(other) for own_count, other in zip(counts, other_counts, strict=True)]

    async def share_products(self, itemsets: Sequence[Parts], get_vector: GetVector, step: str) -> list[int]:
        """One algebraic product after the other."""
        return [await self._multiply(parts[self._network.index], get_vector, step) for parts in itemsets]

    async def _multiply(self, part: Itemset, get_vector: GetVector, step: str) -> int:
        network, rows = self._network, self._coefficients.shape[0]
        vector = np.zeros(rows, dtype=np.int64)
        vector[: self._rows] = get_vector(part)
        if network.index == 0:
            randoms = Randomness.secure().generator().integers(0, 1 << RANDOM_BITS, rows // 2, dtype=np.int64)
            arrays = {"values": disguise(vector, self._coefficients, randoms)}
            await network.send(network.sites[1], f"{step}/disguised", arrays)
            message = await network.receive(network.sites[1], f"{step}/reply")
            total = int(message.get_array("total", np.int64, 1)[0])
            return resolve(Reply(total, message.get_array("values", np.int64, rows // 2)), randoms)
        message = await network.receive(network.sites[0], f"{step}/disguised")
        answer = reply(vector, self._coefficients, message.get_array("values", np.int64, rows))
        arrays = {"total": np.array([answer.total], dtype=np.int64), "values": answer.values}
        await network.send(network.sites[0], f"{step}/reply", arrays)
        return 0

    def share_constant(self, value: int) -> int:
        """The first site computes."""
        return value if self._network.index == 0 else 0

    async def are_positive(self, shares: Sequence[int], step: str) -> Flags:
        """The first site tells."""
        half = self.modulus // 2
        if self._network.index == 0:
            flags = np.array([share % self.modulus < half for share in shares], dtype=np.bool_)
            await self._network.send(self._network.sites[1], f"{step}/flags", {"flags": flags.astype(np.uint8)})
            return flags
        message = await self._network.receive(self._network.sites[0], f"{step}/flags")
        received_flags: Flags = message.get_array("flags", np.uint8, len(shares)).astype(np.bool_)
        return received_flags


async def open_algebraic_products(network: Network, rows: int) -> AlgebraicShares:
    """Agree on the matrix: the first site draws a seed, which is no secret."""
    if rows > MOST_ROWS:
        raise PartyError(
            f"the algebraic product needs a number for each two rows, too many for {rows:,} rows; it is for study with "
            f"up to {MOST_ROWS:,}, and broken; leave out the protocol"
        )
    if network.index == 0:
        seed = secrets.randbits(32)
        await network.send(network.sites[1], "products/matrix", None, {"seed": seed})
    else:
        seed = (await network.receive(network.sites[0], "products/matrix")).get_fact("seed", int)
    network.learn(LEAK)
    return AlgebraicShares(network, draw_coefficients(seed, rows), rows)
