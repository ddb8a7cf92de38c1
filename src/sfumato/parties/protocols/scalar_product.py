# SPDX-License-Identifier: MIT
"""Private scalar products of two sites' 0/1 vectors: each site gets a random share; both add up to the product.

The first site holds the key of a packed cipher and sends its vectors encrypted; the last one multiplies, adds up and
masks (`packed_cipher`). Neither learns a vector, a slot or the product: the first opens uniform numbers, the last keeps
what it added. Whether a product reaches a threshold is then determined by comparing the shares (`compare_shares`), and
nothing else is. Semi-honest: sites follow the protocol. A dot product with a unit vector would be one bit of the other
site's data; here such a question is answered by "below the threshold", which is why thresholds have a floor.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Flags, Ints, Words
from sfumato.errors import DataError, PolicyError
from sfumato.parties.arithmetic.packed_cipher import (
    SLOTS,
    KeyHolder,
    Multiplier,
    PackedParameters,
    check_block,
    choose_parameters,
    count_block_rows,
)
from sfumato.parties.protocols.ring import compare_ends
from sfumato.parties.transport.network import Network, Tap, compute, run_sites
from sfumato.randomness import Randomness
from sfumato.runtime.progress import report_progress

FLOOR = 10
"""The smallest threshold unless sites agree on another: nothing is asked about fewer people."""
LEAST_FLOOR = 2
"""The smallest that they can agree on: a threshold of one would tell about a single person."""
COMPARISONS = 128
"""How many comparisons are one message: some seconds of work, so that the other site does not give up waiting."""
Part = TypeVar("Part", bound=Hashable)


class Pair(NamedTuple, Generic[Part]):
    """The names of two vectors: one of the first site, one of the last."""

    left: Part
    right: Part


@dataclass(frozen=True, slots=True)
class _Batch(Generic[Part]):
    """Vectors of the first site in one encryption, and those of the last that it is multiplied with, in turn."""

    lefts: tuple[Part, ...]
    rights: tuple[tuple[Part, ...], ...]
    places: tuple[tuple[int, ...], ...]
    """For each multiplication, which pairs it answers."""


class PackedProducts(Generic[Part]):
    """One site's part in private scalar products; both sites make the same calls in the same order."""

    def __init__(self, network: Network, rows: int, largest: int, cipher: KeyHolder | Multiplier) -> None:
        """Use a cipher; `open_products` makes one."""
        self.network, self.rows, self.cipher = network, rows, cipher
        self.modulus = choose_parameters(_count_blocks(rows), largest).modulus
        self._randomness = Randomness.secure()

    async def share(self, pairs: Sequence[Pair[Part]], get_vector: Callable[[Part], Flags], step: str) -> list[int]:
        """This site's shares of the products; `get_vector` is asked for vectors of this site only."""
        shares = [0] * len(pairs)
        batches = plan_batches(pairs, max(1, SLOTS // max(self.rows, 1)))
        done_count = 0
        for batch in batches:
            answers = await self._run_batch(batch, get_vector, step)
            for places, sums in zip(batch.places, answers, strict=True):
                for index, total in zip(places, sums.tolist(), strict=False):
                    shares[index] = total
            done_count += sum(map(len, batch.places))
            report_progress(f"{step}: private products", done_count, len(pairs))
        return shares

    async def _run_batch(self, batch: _Batch[Part], get_vector: Callable[[Part], Flags], step: str) -> list[Ints]:
        network = self.network
        if isinstance(self.cipher, KeyHolder):
            for numbers in self._lay_out(batch.lefts, get_vector):
                block = await compute(self.cipher.encrypt, numbers)
                await network.send(network.sites[-1], f"{step}/block", {"block": block})
            return [self._sum_up(await self._open_answer(self.cipher, step)) for _ in batch.rights]
        blocks = [await self._receive(network.sites[0], f"{step}/block") for _ in range(_count_blocks(self.rows))]
        sums = []
        for rights in batch.rights:
            factors = self._lay_out(rights, get_vector)
            answer = await compute(self.cipher.multiply, blocks, factors, self._randomness)
            await network.send(network.sites[0], f"{step}/answer", {"block": answer.block})
            sums.append(self._sum_up(-answer.masks))
        return sums

    async def _open_answer(self, cipher: KeyHolder, step: str) -> Ints:
        return await compute(cipher.open, await self._receive(self.network.sites[-1], f"{step}/answer"))

    async def _receive(self, sender: str, kind: str) -> Words:
        message = await self.network.receive(sender, kind)
        return check_block(message.get_array("block", np.uint64, count_block_rows(), SLOTS))

    def _lay_out(self, parts: Sequence[Part], get_vector: Callable[[Part], Flags]) -> list[Ints]:
        """One vector over several blocks, or several vectors in one."""
        numbers = np.zeros(_count_blocks(self.rows) * SLOTS, dtype=np.int64)
        for slot, part in enumerate(parts):
            numbers[slot * self.rows : (slot + 1) * self.rows] = get_vector(part)
        return list(numbers.reshape(-1, SLOTS))

    def _sum_up(self, slots: Ints) -> Ints:
        """The sum of all slots, or of the slots of each vector, modulo the plaintext modulus."""
        vectors = max(1, SLOTS // max(self.rows, 1))
        parts = slots[: vectors * self.rows].reshape(vectors, -1) if vectors > 1 else slots.reshape(1, -1)
        sums: Ints = parts.sum(axis=1, dtype=np.int64) % self.modulus
        return sums


def compare_scalar_product(
    vectors: Sequence[ArrayLike],
    least: int,
    *,
    floor: int = FLOOR,
    names: Sequence[str] | None = None,
    tap: Tap | None = None,
) -> bool:
    """Whether the scalar product of two sites' 0/1 vectors reaches a threshold, with both sites in this process.

    Nothing but the answer is learned. A threshold below the floor is refused: it would tell about too few people.
    """
    check_floor(floor)
    columns = [check_vector(vector) for vector in vectors]
    if len(columns) != 2 or columns[0].size != columns[1].size:
        raise PolicyError("a scalar product needs the vectors of two sites, equally long")
    if type(least) is not int or least < floor:
        raise PolicyError(f"the threshold must be a whole number, at least the floor of {floor}: less is about too few")

    async def compare(network: Network, site_vector: Flags) -> bool:
        products: PackedProducts[int] = await open_products(network, site_vector.size, max(site_vector.size, least))
        shares = await products.share([Pair(0, 0)], lambda _: site_vector, "product")
        terms = [share - (least if network.index == 0 else 0) for share in shares]
        return bool((await compare_shares(network, terms, products.modulus, "product"))[0])

    return run_sites(compare, columns, names, tap)[0]


def check_floor(floor: int) -> None:
    """Raise an error unless a floor keeps single people out of questions."""
    if type(floor) is not int or floor < LEAST_FLOOR:
        raise PolicyError(f"floor must be a whole number, at least {LEAST_FLOOR}: less is about a single person")


def check_vector(vector: ArrayLike) -> Flags:
    """A vector of 0 and 1 as flags; an error if it is none."""
    numbers = np.asarray(vector)
    if numbers.ndim != 1 or not np.isin(numbers, (0, 1)).all():
        raise DataError("a vector of 0 and 1 is needed; it has other entries, or more than one dimension")
    return numbers.astype(np.bool_)


async def open_products(network: Network, rows: int, largest: int) -> PackedProducts[Part]:
    """Prepare products of vectors with this many rows, for shares of numbers up to `largest` in size."""
    parameters = choose_parameters(_count_blocks(rows), largest)
    cipher = await _exchange_key(network, parameters)
    return PackedProducts(network, rows, largest, cipher)


async def _exchange_key(network: Network, parameters: PackedParameters) -> KeyHolder | Multiplier:
    if network.index == 0:
        holder = await compute(KeyHolder, parameters)
        await network.send(network.sites[-1], "products/key", {"key": holder.write_public_key()})
        return holder
    message = await network.receive(network.sites[0], "products/key")
    return await compute(Multiplier, parameters, message.get_array("key", np.uint8, None))


async def compare_shares(network: Network, shares: Sequence[int], modulus: int, step: str) -> Flags:
    """Whether the sums of two sites' shares modulo an odd number are at least zero: below half the modulus.

    That is the last bit of twice the sum, modulo the modulus: the last bits of c = 2 share at the last site and
    r = -2 share at the first, flipped if c < r, as then the odd modulus was added.
    """
    bits = modulus.bit_length()
    sign = -2 if network.index == 0 else 2
    doubled_shares = [sign * share % modulus for share in shares]
    numbers = np.array([(number & 1) << bits | number for number in doubled_shares], dtype=np.uint64)
    parts = []
    for start in range(0, numbers.size, COMPARISONS):
        report_progress(f"{step}: comparisons", start, numbers.size)
        parts.append(await compare_ends(network, numbers[start : start + COMPARISONS], bits + 1, step))
    return np.concatenate([*parts, np.zeros(0, dtype=np.bool_)])


def plan_batches(pairs: Sequence[Pair[Part]], vectors: int) -> list[_Batch[Part]]:
    """Pairs in batches: `vectors` pairs in a block, or all pairs of one left vector after each other."""
    order = sorted(range(len(pairs)), key=lambda index: repr(pairs[index].left))
    if vectors > 1:
        slices = [tuple(order[start : start + vectors]) for start in range(0, len(order), vectors)]
        return [
            _Batch(
                tuple(pairs[index].left for index in places),
                (tuple(pairs[index].right for index in places),),
                (places,),
            )
            for places in slices
        ]
    by_left: dict[Part, list[int]] = {}
    for index in order:
        by_left.setdefault(pairs[index].left, []).append(index)
    return [
        _Batch((left_part,), tuple((pairs[index].right,) for index in places), tuple((index,) for index in places))
        for left_part, places in by_left.items()
    ]


def _count_blocks(rows: int) -> int:
    return max(1, -(-rows // SLOTS))
