# SPDX-License-Identifier: MIT
"""Packed homomorphic encryption: 8,192 numbers in one ciphertext that can be multiplied without being opened.

The scheme is BFV (Brakerski 2012; Fan and Vercauteren 2012) as in Microsoft SEAL, by tenseal, with its 128-bit security
parameters. One site holds the key and sends encrypted blocks; the other multiplies them by its own numbers, adds up and
returns one block. What must not come back with it:

- the sums of single slots: every slot gets a random number modulo the plaintext modulus, which hides it perfectly;
- the second polynomial of the ciphertext, from which the key's holder could divide out the factors: the random numbers
  are added as a fresh encryption, which hides it as the scheme hides a plaintext;
- the noise of the ciphertext, which the key's holder can read and which is linear in the factors: uniform noise is
  added that is 2^53 times as large as the largest that the factors can make, so that for all 8,192 coefficients
  together the statistical distance is below 2^-40. SEAL has no such function, so it is done on the coefficients.

Blocks are sent as plain coefficients, checked against their moduli, so that no site hands foreign files to SEAL.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Bytes, Ints, Words
from sfumato.errors import PartyError
from sfumato.parties.arithmetic.group import INSTALL
from sfumato.randomness import Randomness

SLOTS = 8192
"""How many numbers a block holds: the degree of the polynomials."""
MODULUS_BITS = 174
"""The product of the four moduli of a ciphertext."""
FEWEST_BITS, MOST_BITS = 17, 40
"""Sizes of the plaintext modulus: below, no prime fits; above, too little room is left for noise."""
FRESH_NOISE_BITS = 19
"""A fresh ciphertext's noise is below 2^19: three products of polynomials with coefficients of at most 1 and 21."""
STATISTICAL_BITS = 40
_LIMB_BITS = 16
_FILE_HEAD = struct.Struct("<HBBBBHQ")
_FILE_MARK, _PLAIN, _ZLIB, _ZSTD = 0xA15E, 0, 1, 2
_BODY_HEAD_BYTES = 97


@dataclass(frozen=True, slots=True)
class PackedParameters:
    """What both sites compute from the number of rows and the largest value."""

    modulus: int
    """Numbers are modulo this prime."""
    flood_bits: int
    """The size of the noise that hides the factors."""


class MaskedBlock(NamedTuple):
    """A product under random numbers."""

    block: Words
    masks: Ints
    """What was added to each slot; stays with the site that multiplied."""


def choose_parameters(blocks: int, largest: int) -> PackedParameters:
    """The smallest modulus for numbers up to `largest` in size, and the noise for sums of this many blocks."""
    prime = _find_prime((2 * largest + 1).bit_length() + 1)
    bits = prime.bit_length()
    factor_bits = bits - 1 + (SLOTS - 1).bit_length()  # a sum of 8,192 products with numbers of up to half the modulus
    noise_bits = FRESH_NOISE_BITS + 1 + factor_bits + max(blocks - 1, 0).bit_length()
    flood_bits = noise_bits + STATISTICAL_BITS + (SLOTS - 1).bit_length()
    if bits > MOST_BITS or flood_bits + bits + 3 > MODULUS_BITS:
        raise PartyError(
            f"{blocks * SLOTS:,} rows with this confidence need numbers of {bits} bits, more than packed encryption "
            "holds; round min_confidence to fewer digits, or add a third site"
        )
    return PackedParameters(prime, flood_bits)


def _find_prime(bits: int) -> int:
    """A prime of this many bits, or of the next size that has one, by which a block has 8,192 slots."""
    seal = _load_seal()
    for size in range(max(bits, FEWEST_BITS), 61):
        with suppress(RuntimeError):  # no prime of this size
            return int(seal.PlainModulus.Batching(SLOTS, size).value())
    raise PartyError(f"no prime of {bits} bits can be used; round min_confidence to fewer digits")


class KeyHolder:
    """The site that has the key: it encrypts its blocks and opens what comes back."""

    def __init__(self, parameters: PackedParameters) -> None:
        """Draw a key."""
        self._parameters, self._scheme = parameters, _Scheme(_make_context(parameters))

    def write_public_key(self) -> Bytes:
        """What the other site needs to encrypt and multiply."""
        return np.frombuffer(_save_context(self._scheme.context), dtype=np.uint8)

    def encrypt(self, numbers: Ints) -> Words:
        """A block of 8,192 numbers, encrypted."""
        return self._scheme.read_block(self._scheme.encrypt(numbers))

    def open(self, block: Words) -> Ints:
        """The numbers in a block, modulo the plaintext modulus."""
        numbers = np.array(self._scheme.write_block(block).decrypt(), dtype=np.int64)
        remainders: Ints = numbers % self._parameters.modulus
        return remainders


class Multiplier:
    """The site that has no key: it multiplies encrypted blocks by its own."""

    def __init__(self, parameters: PackedParameters, public_key: Bytes) -> None:
        """Take the other site's public key; an error if it is not for the agreed parameters."""
        content = public_key.tobytes()
        agreed_bytes = _save_context(_make_context(parameters))
        parameter_bytes = 2 + agreed_bytes[1]  # a mark, a length and the parameters come first
        if content[:parameter_bytes] != agreed_bytes[:parameter_bytes]:
            raise PartyError("a message holds a key for other parameters than agreed")
        try:
            context = _load_library().context_from(content)
        except (ValueError, RuntimeError):
            raise PartyError("a message holds a key that cannot be read") from None
        if not context.has_public_key() or context.has_secret_key():
            raise PartyError("a message does not hold a public key, or holds more")
        self._parameters, self._scheme = parameters, _Scheme(context)

    def multiply(self, blocks: Sequence[Words], factors: Sequence[Ints], randomness: Randomness) -> MaskedBlock:
        """The sum of products slot by slot, under random numbers and flooded with noise."""
        modulus = self._parameters.modulus
        masks: Ints = randomness.generator().integers(0, modulus, SLOTS, dtype=np.int64)
        total = self._scheme.encrypt(np.where(masks > modulus // 2, masks - modulus, masks))
        for block, numbers in zip(blocks, factors, strict=True):
            has_ones = bool(numbers.any())
            # The library refuses to multiply by zeros; the same work is done nevertheless, as its time would tell.
            product = self._scheme.write_block(block) * (numbers if has_ones else np.ones_like(numbers)).tolist()
            new_total = total + product
            total = new_total if has_ones else total
        block = flood_noise(self._scheme.read_block(total), self._parameters.flood_bits, randomness)
        return MaskedBlock(block, masks)


def flood_noise(block: Words, bits: int, randomness: Randomness) -> Words:
    """Add uniform noise of this many bits to each coefficient of the first polynomial."""
    moduli = get_moduli()
    limbs = randomness.generator().integers(0, 1 << _LIMB_BITS, (-(-bits // _LIMB_BITS), SLOTS), dtype=np.uint64)
    limbs[0] >>= np.uint64(-bits % _LIMB_BITS)
    noisy_block = block.copy()
    for row, modulus in enumerate(moduli):
        noise = np.zeros(SLOTS, dtype=np.uint64)
        for limb in limbs:
            noise = ((noise << np.uint64(_LIMB_BITS)) + limb) % np.uint64(modulus)
        noisy_block[row] = (noisy_block[row] + noise) % np.uint64(modulus)
    return noisy_block


def check_block(block: Words) -> Words:
    """A received block, after a check that its coefficients are below their moduli."""
    moduli = np.array(get_moduli() * 2, dtype=np.uint64)
    if (block.max(axis=1) >= moduli).any():
        raise PartyError("a message holds a number outside the agreed range")
    return block


def count_block_rows() -> int:
    """How many rows of 8,192 coefficients a block has: two polynomials modulo each of the moduli."""
    return 2 * len(get_moduli())


@lru_cache(maxsize=1)
def get_moduli() -> tuple[int, ...]:
    """The moduli of a ciphertext: SEAL's for 128 bits of security, without the last, which only keys have."""
    seal = _load_seal()
    moduli = seal.CoeffModulus.BFVDefault(SLOTS, seal.SEC_LEVEL_TYPE.TC128)
    return tuple(int(modulus.value()) for modulus in moduli[:-1])


def _load_library() -> Any:
    try:
        return import_module("tenseal")
    except ImportError:
        raise PartyError(f"private products need tenseal: {INSTALL}") from None


def _load_seal() -> Any:
    _load_library()
    return import_module("tenseal.sealapi")


def _make_context(parameters: PackedParameters) -> Any:
    library = _load_library()
    return library.context(library.SCHEME_TYPE.BFV, SLOTS, parameters.modulus)


def _save_context(context: Any) -> bytes:
    content: bytes = context.serialize(
        save_public_key=True, save_secret_key=False, save_galois_keys=False, save_relin_keys=False
    )
    return content


class _Scheme:
    """A context of the library, and ciphertexts as arrays of coefficients.

    A ciphertext's file is SEAL's head, a head of the body and the coefficients. Both heads are the same for all
    ciphertexts, but for the compression and the length, and are taken from an encryption of zeros.
    """

    def __init__(self, context: Any) -> None:
        self.context = context
        content: bytes = self.encrypt(np.zeros(SLOTS, dtype=np.int64)).serialize()
        start = content.index(_FILE_MARK.to_bytes(2, "little"))
        mark, head_size, major, minor, *_ = _FILE_HEAD.unpack_from(content, start)
        body_head = _extract_body(content)[:_BODY_HEAD_BYTES]
        length = _FILE_HEAD.size + _BODY_HEAD_BYTES + 8 * SLOTS * count_block_rows()
        file_head = _FILE_HEAD.pack(mark, head_size, major, minor, _PLAIN, 0, length)
        # Protocol buffers: field 1 holds the vector's length, field 2 the file.
        slots = _write_size(SLOTS)
        self._head = b"\x0a" + _write_size(len(slots)) + slots + b"\x12" + _write_size(length) + file_head + body_head

    def encrypt(self, numbers: Ints) -> Any:
        return _load_library().bfv_vector(self.context, numbers.tolist())

    def read_block(self, vector: Any) -> Words:
        """The coefficients of a ciphertext, one row for each polynomial and modulus."""
        body = _extract_body(vector.serialize())
        return np.frombuffer(body, dtype="<u8", offset=_BODY_HEAD_BYTES).astype(np.uint64).reshape(-1, SLOTS)

    def write_block(self, block: Words) -> Any:
        """The ciphertext with these coefficients."""
        content = self._head + np.ascontiguousarray(block, dtype="<u8").tobytes()
        return _load_library().bfv_vector_from(self.context, content)


def _extract_body(content: bytes) -> bytes:
    """The body of the ciphertext's file in a serialized vector."""
    start = content.index(_FILE_MARK.to_bytes(2, "little"))
    *_, compression, _, size = _FILE_HEAD.unpack_from(content, start)
    body = content[start + _FILE_HEAD.size : start + size]
    if compression == _ZSTD:
        import pyarrow

        plain_size = _BODY_HEAD_BYTES + 8 * SLOTS * count_block_rows()
        plain: bytes = pyarrow.Codec("zstd").decompress(body, plain_size, asbytes=True)
        return plain
    return zlib.decompress(body) if compression == _ZLIB else body


def _write_size(number: int) -> bytes:
    """A number in the variable length of protocol buffers."""
    parts = []
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
