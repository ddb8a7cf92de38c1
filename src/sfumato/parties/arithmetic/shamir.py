# SPDX-License-Identifier: MIT
"""Computing on shared secrets with an honest majority: sums, products, random bits, and whether a sum is negative.

A number is shared as the values of a random polynomial at 1 … n, one for each site, with the number at 0 (Shamir 1979).
Its degree t is the largest below half the sites, so that t sites together know nothing about it, and 2t + 1 values
still determine a product (Ben-Or, Goldwasser and Wigderson 1988; products are shared again as by Gennaro, Rabin and
Rabin 1998). Sums are free; a product takes one round.

Whether a number a is negative is the last bit of 2a modulo the odd prime p. Open c = 2a + r for a random r of 61 shared
bits, which hides a but for a bias of 2^-61; then the last bit of 2a is that of c, flipped by the last bit of r, and
flipped if c < r, as then p was subtracted (Nishide and Ohta 2007). Both flips are one test whether a product of 62
linear expressions in the bits of r is zero (Damgård, Geisler and Krøigaard 2007). The product is opened under a random
factor: it tells the answer and nothing else. The probability of a wrong answer is below 2^-60 for each comparison.

Semi-honest: sites follow the protocol. A share that does not fit the others is noticed and ends the run.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Flags, Ints, Words
from sfumato.errors import PartyError
from sfumato.parties.arithmetic.field import (
    BITS,
    PRIME,
    add,
    check_residues,
    draw_uniform,
    invert_root,
    multiply,
    scale,
    subtract,
    wrap_signed,
)
from sfumato.parties.transport.network import Network
from sfumato.randomness import Randomness

BATCH = 1024
"""How many comparisons are made at once: memory is about 3 kB for each and site."""
_UNIT = np.uint64(1)


def count_colluders(sites: int) -> int:
    """How many sites may collude without learning anything: fewer than half."""
    return (sites - 1) // 2


class SharedNumbers:
    """One site's part in computations on shared arrays; every site makes the same calls in the same order."""

    def __init__(self, network: Network, step: str) -> None:
        """Prepare the coefficients; the step names the messages."""
        if len(network.sites) < 3:
            raise PartyError(
                "sharing with an honest majority needs three or more sites: of two, each would be half, and learn all"
            )
        self.network, self.step, self.randomness = network, step, Randomness.secure()
        self.points = range(1, len(network.sites) + 1)
        self.degree = count_colluders(len(network.sites))
        self.at_zero = compute_coefficients(self.points, 0)

    async def share(self, values: Words) -> Words:
        """Share this site's array; the shares that this site got, one row for each site's array."""
        flat_values, polynomial = values.ravel(), draw_uniform(self.randomness, self.degree, values.size)
        received_shares: dict[str, Words] = {}
        for site, point in zip(self.network.sites, self.points, strict=True):
            share = evaluate_polynomial(flat_values, polynomial, point)
            if site == self.network.site:
                received_shares[site] = share
            else:
                await self.network.send(site, f"{self.step}/share", {"share": share})
        for site, message in (await self.network.gather(f"{self.step}/share")).items():
            received_shares[site] = check_residues(message.get_array("share", np.uint64, flat_values.size))
        return np.stack([received_shares[site] for site in self.network.sites])

    async def share_sum(self, values: Words) -> Words:
        """Shares of the sum of all sites' arrays."""
        return _add_rows(await self.share(values))

    async def open(self, shares: Words) -> Words:
        """The numbers behind shares, known to all sites afterwards."""
        flat = shares.ravel()
        messages = await self.network.exchange(f"{self.step}/open", {"share": flat})
        rows = np.stack(
            [check_residues(message.get_array("share", np.uint64, flat.size)) for message in messages.values()]
        )
        base_points = self.points[: self.degree + 1]
        for point in self.points[self.degree + 1 :]:
            if not np.array_equal(_combine(compute_coefficients(base_points, point), rows), rows[point - 1]):
                raise PartyError(f'the shares in "{self.step}" do not fit together; a site sent wrong numbers')
        return _combine(compute_coefficients(base_points, 0), rows).reshape(shares.shape)

    async def multiply(self, left: Words, right: Words) -> Words:
        """Shares of the products: multiply the shares, and share the results again with the lower degree."""
        products = multiply(left, right)
        return _combine(self.at_zero, await self.share(products)).reshape(left.shape)

    async def draw(self, count: int) -> Words:
        """Shares of uniform numbers that nobody knows."""
        return await self.share_sum(draw_uniform(self.randomness, count))

    async def draw_bits(self, count: int) -> Words:
        """Shares of random bits that nobody knows: the sign of a random number, with its square opened."""
        numbers = await self.draw(count)
        squares = await self.open(await self.multiply(numbers, numbers))
        if not squares.all():  # once in 2^61 numbers
            return await self.draw_bits(count)
        signs = multiply(numbers, invert_root(squares))
        return scale((PRIME + 1) // 2, add(signs, np.broadcast_to(_UNIT, signs.shape)))

    async def multiply_columns(self, factors: Words) -> Words:
        """Shares of the product of each row, in as many rounds as the number of columns has bits."""
        while factors.shape[1] > 1:
            pairs = factors.shape[1] // 2
            left_factors = np.ascontiguousarray(factors[:, :pairs])
            products = await self.multiply(left_factors, np.ascontiguousarray(factors[:, pairs : 2 * pairs]))
            factors = np.concatenate([products, factors[:, 2 * pairs :]], axis=1)
        return factors[:, 0]

    async def are_zero(self, shares: Words) -> Flags:
        """Whether shared numbers are zero, known to all sites afterwards; nothing else about them is."""
        masked_numbers = await self.open(await self.multiply(shares, await self.draw(shares.size)))
        flags: Flags = masked_numbers == 0
        return flags

    async def are_negative(self, shares: Words) -> Flags:
        """Whether shared numbers are negative (above half the prime), known to all sites afterwards."""
        parts = [await self._test_batch(shares[start : start + BATCH]) for start in range(0, shares.size, BATCH)]
        return np.concatenate([*parts, np.zeros(0, dtype=np.bool_)])

    async def _test_batch(self, shares: Words) -> Flags:
        bits = (await self.draw_bits(shares.size * BITS)).reshape(shares.size, BITS)
        mask = np.zeros(shares.size, dtype=np.uint64)
        for position in reversed(range(BITS)):
            mask = add(add(mask, mask), bits[:, position])
        masked_numbers = await self.open(add(add(shares, shares), mask))
        is_flipped = await self.are_zero(await self.multiply_columns(_build_factors(masked_numbers, bits)))
        return is_flipped ^ (masked_numbers & _UNIT).astype(np.bool_)


def _build_factors(masked_numbers: Words, bits: Words) -> Words:
    """Linear expressions in the bits of r of which one is zero if [c < r] differs from the last bit of r.

    With the sign s = 2 r0 - 1, and X the number of higher places where c and r differ, s + r_i - c_i + 3 X is zero at
    the highest different place if r is larger and s = -1, or c is larger and s = 1; the last one is zero if c = r and
    s = 1.
    """
    unit_values = np.broadcast_to(_UNIT, masked_numbers.shape)
    sign = subtract(add(bits[:, 0], bits[:, 0]), unit_values)
    different = np.zeros(masked_numbers.size, dtype=np.uint64)
    factors = np.empty((masked_numbers.size, BITS + 1), dtype=np.uint64)
    for position in reversed(range(BITS)):
        public = (masked_numbers >> np.uint64(position)) & _UNIT
        shared_bits = bits[:, position]
        factors[:, position] = add(add(sign, subtract(shared_bits, public)), scale(3, different))
        different = add(different, np.where(public == _UNIT, subtract(unit_values, shared_bits), shared_bits))
    factors[:, BITS] = add(subtract(sign, unit_values), scale(3, different))
    return factors


async def compare_shared_sums(network: Network, terms: Ints, step: str) -> Flags:
    """Whether the sums of all sites' terms are at least zero; no site learns a term or a sum of others."""
    shared_numbers = SharedNumbers(network, step)
    return ~await shared_numbers.are_negative(await shared_numbers.share_sum(wrap_signed(terms)))


def evaluate_polynomial(constant: Words, coefficients: Words, point: int) -> Words:
    """The values at a point of polynomials with these constants and rows of further coefficients."""
    value = np.zeros_like(constant)
    for row in coefficients[::-1]:
        value = scale(point, add(value, row))
    return add(value, constant)


def compute_coefficients(points: range, target: int) -> list[int]:
    """Lagrange's coefficients: what to multiply values at points with to get the value at the target."""
    coefficients = []
    for point in points:
        top = bottom = 1
        for other in points:
            if other != point:
                top, bottom = top * (target - other) % PRIME, bottom * (point - other) % PRIME
        coefficients.append(top * pow(bottom, -1, PRIME) % PRIME)
    return coefficients


def _combine(coefficients: list[int], rows: Words) -> Words:
    total: Words = np.zeros_like(rows[0])
    for coefficient, row in zip(coefficients, rows, strict=False):
        total = add(total, scale(coefficient, row))
    return total


def _add_rows(rows: Words) -> Words:
    total: Words = rows[0]
    for row in rows[1:]:
        total = add(total, row)
    return total
