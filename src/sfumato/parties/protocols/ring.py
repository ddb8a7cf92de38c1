# SPDX-License-Identifier: MIT
"""The textbook's secure sum around a ring, and the comparison of two parties that ends it (Kantarcioglu and Clifton).

The first site adds its term to a random number R modulo 2^b and sends the sum on; every site adds its own. The last
one holds V = R + total. Whether the total is negative is the highest bit of V - R modulo 2^b: the highest bits of both,
flipped if the lower bits of V are below those of R. The first and the last site compare these without showing them
(Damgård, Geisler and Krøigaard 2007): the first encrypts the bits of R by exponential ElGamal; the last computes, for
each place, an encryption of zero exactly if the comparison is decided there, and sends them masked and shuffled.

The leak, by which this protocol is "for study": a site's neighbours in the ring, if they collude, subtract what one
sent from what the other got, and have its term exactly. With two sites the total minus one's own term is the other's,
so two are refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Flags, Ints, Words
from sfumato.errors import PartyError
from sfumato.parties.arithmetic.group import Group, get_group, map_over_points, multiply_all, pack_points, unpack_points
from sfumato.parties.protocols.union import Cipher, encrypt_points, multiply_by_each
from sfumato.parties.transport.liveness import stop_if_failed
from sfumato.parties.transport.network import Network, compute

MOST_RING_BITS = 62


async def compare_ring_sums(network: Network, terms: Ints, bits: int, step: str) -> Flags:
    """Whether the sums of all sites' terms are at least zero; every sum is below 2^(bits - 1) in size."""
    if len(network.sites) < 3:
        raise PartyError(
            "a ring sum needs at least three sites: with two, each could subtract its own term and learn the other's"
        )
    if not 2 <= bits <= MOST_RING_BITS:
        raise PartyError(f"a ring sum of {bits} bits is not possible; use 2 to {MOST_RING_BITS}")
    numbers = await add_around_ring(network, terms, bits, step)
    if network.index > 0:
        network.learn(f"{step}: {terms.size} sums of the terms of the sites before it, under random numbers")
    return await compare_ends(network, numbers, bits, step)


async def compare_ends(network: Network, numbers: Words, bits: int, step: str) -> Flags:
    """Whether the last site's numbers less the first's, modulo 2^bits, are below 2^(bits - 1); other sites' are unused.

    That is the highest bits of both, flipped if the lower bits of the last site's number are below the first's.
    """
    group, first, last = get_group(), network.sites[0], network.sites[-1]
    if network.site == first:
        tops = await _compare_as_first(network, group, numbers, bits, step)
    elif network.site == last:
        tops = await _compare_as_last(network, group, numbers, bits, step)
    else:
        tops = None
    return await _announce(network, tops, numbers.size, step)


async def add_around_ring(network: Network, terms: Ints, bits: int, step: str) -> Words:
    """At the first site the random numbers, at the last one these plus the totals, elsewhere what passed on."""
    mask, index, kind = np.uint64((1 << bits) - 1), network.index, f"{step}/ring"
    randoms = np.zeros(0, dtype=np.uint64)
    if index == 0:
        randoms = np.array([secrets.randbits(bits) for _ in range(terms.size)], dtype=np.uint64)
        partial_sums = randoms
    else:
        message = await network.receive(network.sites[index - 1], kind)
        partial_sums = message.get_array("sums", np.uint64, terms.size)
    sums = (partial_sums + terms.astype(np.uint64)) & mask  # uint64 wraps modulo 2^64, which 2^bits divides
    if index < len(network.sites) - 1:
        await network.send(network.sites[index + 1], kind, {"sums": sums})
    return sums if index else randoms


@dataclass(frozen=True, slots=True)
class _BitCiphers:
    """Encrypted bits, one row of places for each number: bases and masked points."""

    bases: list[list[bytes]]
    masked_points: list[list[bytes]]


async def _compare_as_first(network: Network, group: Group, randoms: Words, bits: int, step: str) -> Flags:
    """The first site's half of each answer: its highest bit, flipped if the last site's masked test says so."""
    last, secret = network.sites[-1], group.draw_scalar()
    key, low = group.multiply_base(secret), bits - 1
    plain = [int(number) >> position & 1 for number in randoms for position in range(low)]
    cipher = await compute(_encrypt_bits, group, key, plain)
    arrays = {
        "key": pack_points([key]),
        "bases": pack_points(cipher.bases),
        "masked": pack_points(cipher.masked_points),
    }
    await network.send(last, f"{step}/bits", arrays)
    message = await network.receive(last, f"{step}/tests")
    count = randoms.size * (low + 1)
    bases = unpack_points(group, message.get_array("bases", np.uint8, count, 32))
    masked_points = unpack_points(group, message.get_array("masked", np.uint8, count, 32))
    mask_points = await compute(multiply_all, group, secret, bases)
    is_zero = np.array([left == right for left, right in zip(mask_points, masked_points, strict=True)], dtype=np.bool_)
    tops = (randoms >> np.uint64(low)).astype(np.bool_)
    flags: Flags = tops ^ is_zero.reshape(randoms.size, low + 1).any(axis=1)
    return flags


async def _compare_as_last(network: Network, group: Group, sums: Words, bits: int, step: str) -> Flags:
    """The last site's half of each answer: its highest bit, flipped by the secret coin of each test."""
    first, low = network.sites[0], bits - 1
    message = await network.receive(first, f"{step}/bits")
    key = unpack_points(group, message.get_array("key", np.uint8, 1, 32))[0]
    bases = unpack_points(group, message.get_array("bases", np.uint8, sums.size * low, 32))
    masked_points = unpack_points(group, message.get_array("masked", np.uint8, sums.size * low, 32))
    rows = range(0, len(bases), low)
    ciphers = _BitCiphers(
        [bases[start : start + low] for start in rows], [masked_points[start : start + low] for start in rows]
    )
    coins = np.array([secrets.randbits(1) for _ in range(sums.size)], dtype=np.bool_)
    tests = await compute(_build_tests, group, key, ciphers, sums, coins)
    arrays = {"bases": pack_points(tests.bases), "masked": pack_points(tests.masked_points)}
    await network.send(first, f"{step}/tests", arrays)
    flags: Flags = (sums >> np.uint64(low)).astype(np.bool_) ^ coins
    return flags


async def _announce(network: Network, own_half: Flags | None, count: int, step: str) -> Flags:
    """Both halves of the answers, sent to all sites: together whether a sum is negative."""
    halves = {}
    for site in (network.sites[0], network.sites[-1]):
        if site == network.site and own_half is not None:
            await network.broadcast(f"{step}/half", {"half": own_half.astype(np.uint8)})
            halves[site] = own_half
        else:
            message = await network.receive(site, f"{step}/half")
            halves[site] = message.get_array("half", np.uint8, count).astype(np.bool_)
    first, last = halves.values()
    return ~(first ^ last)


def _encrypt_bits(group: Group, key: bytes, plain: list[int]) -> Cipher:
    randoms = [group.draw_scalar() for _ in plain]
    masks = multiply_by_each(group, randoms, key)
    generator = group.multiply_base(_write_scalar(1))
    masked_points = [group.add(mask, generator) if bit else mask for mask, bit in zip(masks, plain, strict=True)]
    return Cipher(map_over_points(group.multiply_base, randoms), masked_points)


def _build_tests(group: Group, key: bytes, ciphers: _BitCiphers, sums: Words, coins: Flags) -> Cipher:
    """For each number, encryptions of which one is zero if [V < R] differs from the coin; masked and shuffled."""
    constants = {value: _multiply_generator(group, value) for value in range(-3, 4)}
    tests = Cipher([], [])
    for row, (number, coin) in enumerate(zip(sums.tolist(), coins.tolist(), strict=True)):
        stop_if_failed()
        number_tests = _list_tests(
            group, constants, Cipher(ciphers.bases[row], ciphers.masked_points[row]), number, coin
        )
        tests.bases.extend(number_tests.bases)
        tests.masked_points.extend(number_tests.masked_points)
    randoms = [group.draw_scalar() for _ in tests.bases]
    blinding_cipher = encrypt_points(group, key, map_over_points(group.multiply, randoms, tests.masked_points))
    bases = map_over_points(group.add, map_over_points(group.multiply, randoms, tests.bases), blinding_cipher.bases)
    tests_per_number = len(bases) // max(sums.size, 1)
    rows = [range(start, start + tests_per_number) for start in range(0, len(bases), tests_per_number or 1)]
    order = [position for row in rows for position in sorted(row, key=bases.__getitem__)]  # shuffles within a number
    return Cipher(
        [bases[position] for position in order], [blinding_cipher.masked_points[position] for position in order]
    )


def _list_tests(group: Group, constants: Mapping[int, bytes], bits: Cipher, number: int, coin: bool) -> Cipher:
    """Encryptions of s + r_i - v_i + 3 (different higher places), and of s - 1 + 3 (different places); s = 1 or -1."""
    sign = 1 if coin else -1
    different_bases = different_masked = constants[0]
    test_bases, test_masked = [], []
    for position in reversed(range(len(bits.bases))):
        bit = number >> position & 1
        base, mask = bits.bases[position], bits.masked_points[position]
        test_bases.append(group.add(base, _multiply_by_three(group, different_bases)))
        masked_test = group.add(group.add(mask, constants[sign - bit]), _multiply_by_three(group, different_masked))
        test_masked.append(masked_test)
        if bit:  # 1 - r
            different_bases = group.subtract(different_bases, base)
            different_masked = group.subtract(group.add(different_masked, constants[1]), mask)
        else:
            different_bases, different_masked = group.add(different_bases, base), group.add(different_masked, mask)
    test_bases.append(_multiply_by_three(group, different_bases))
    test_masked.append(group.add(constants[sign - 1], _multiply_by_three(group, different_masked)))
    return Cipher(test_bases, test_masked)


def _multiply_by_three(group: Group, point: bytes) -> bytes:
    return group.add(point, group.add(point, point))


def _write_scalar(value: int) -> bytes:
    return value.to_bytes(32, "little")


def _multiply_generator(group: Group, value: int) -> bytes:
    """A small multiple of the generator, also a negative one or none."""
    generator = group.multiply_base(_write_scalar(1))
    if value == 0:
        return group.add(generator, group.multiply(group.negate(_write_scalar(1)), generator))
    scalar = _write_scalar(abs(value))
    return group.multiply_base(group.negate(scalar) if value < 0 else scalar)
