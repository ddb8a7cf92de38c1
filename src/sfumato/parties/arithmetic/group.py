# SPDX-License-Identifier: MIT
"""A group of prime order in which discrete logarithms are hard: hashing to it, multiplying by secrets, adding.

Points and scalars are 32 bytes each; many points are an array of uint8 with 32 columns. Commutative encryption is
multiplication by a secret scalar: ``multiply(a, multiply(b, point))`` does not depend on the order, and multiplying by
the inverse undoes it. Without the scalar, a multiplied hash looks random (the decisional Diffie-Hellman assumption, the
hash as a random oracle): nobody can tell whether two lists under different scalars hold the same elements, or confirm a
guess. Multiplication in libsodium takes the same time whatever the secret is.

The group is ristretto255, by rbcl. Where rbcl is missing, it is the subgroup of prime order of edwards25519, by PyNaCl:
equally strong, but other points. So sites agree on the name of the group before they start.
"""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Bytes
from sfumato.errors import PartyError, spell_install
from sfumato.parties.transport.liveness import stop_if_failed

POINT_BYTES = 32
INSTALL = spell_install("parties")
_BATCH = 256


class Group(ABC):
    """Operations on points and scalars, 32 bytes each."""

    name: str

    @abstractmethod
    def hash_to_point(self, digest: bytes) -> bytes:
        """A point from 64 uniform bytes; nobody knows its logarithm."""

    @abstractmethod
    def is_point(self, point: bytes) -> bool:
        """Whether these bytes are a point of the group other than the neutral one."""

    @abstractmethod
    def draw_scalar(self) -> bytes:
        """A secret scalar, not zero."""

    @abstractmethod
    def invert(self, scalar: bytes) -> bytes:
        """The scalar that undoes a multiplication."""

    @abstractmethod
    def negate(self, scalar: bytes) -> bytes:
        """The scalar that turns a multiple into its opposite."""

    @abstractmethod
    def multiply_scalars(self, left: bytes, right: bytes) -> bytes:
        """The product of two scalars."""

    @abstractmethod
    def multiply(self, scalar: bytes, point: bytes) -> bytes:
        """A multiple of a point."""

    @abstractmethod
    def multiply_base(self, scalar: bytes) -> bytes:
        """A multiple of the generator."""

    @abstractmethod
    def add(self, left: bytes, right: bytes) -> bytes:
        """The sum of two points."""

    @abstractmethod
    def subtract(self, left: bytes, right: bytes) -> bytes:
        """The difference of two points."""

    def hash_entry(self, domain: str, entry: bytes) -> bytes:
        """The point of an entry; different domains give unrelated points."""
        mark = domain.encode("utf-8")
        return self.hash_to_point(hashlib.sha512(len(mark).to_bytes(4, "big") + mark + entry).digest())


class Ristretto(Group):
    """ristretto255, by rbcl."""

    name = "ristretto255"

    def __init__(self) -> None:
        """Load the library."""
        import rbcl
        from rbcl import _sodium

        with suppress(
            OSError, AttributeError
        ):  # rbcl leaves its library behind in the temporary folder, at each import
            Path(_sodium.lib_path).unlink()
        self._library: Any = rbcl

    def hash_to_point(self, digest: bytes) -> bytes:
        """A point from 64 uniform bytes."""
        point: bytes = self._library.crypto_core_ristretto255_from_hash(digest)
        return point

    def is_point(self, point: bytes) -> bool:
        """Whether these bytes are a point, and not the neutral one."""
        return point != bytes(POINT_BYTES) and bool(self._library.crypto_core_ristretto255_is_valid_point(point))

    def draw_scalar(self) -> bytes:
        """A secret scalar, not zero."""
        scalar: bytes = self._library.crypto_core_ristretto255_scalar_random()
        return scalar

    def invert(self, scalar: bytes) -> bytes:
        """The inverse of a scalar."""
        inverse: bytes = self._library.crypto_core_ristretto255_scalar_invert(scalar)
        return inverse

    def negate(self, scalar: bytes) -> bytes:
        """The opposite of a scalar."""
        opposite: bytes = self._library.crypto_core_ristretto255_scalar_negate(scalar)
        return opposite

    def multiply_scalars(self, left: bytes, right: bytes) -> bytes:
        """The product of two scalars."""
        product: bytes = self._library.crypto_core_ristretto255_scalar_mul(left, right)
        return product

    def multiply(self, scalar: bytes, point: bytes) -> bytes:
        """A multiple of a point."""
        multiple: bytes = self._library.crypto_scalarmult_ristretto255_allow_scalar_zero(scalar, point)
        return multiple

    def multiply_base(self, scalar: bytes) -> bytes:
        """A multiple of the generator."""
        multiple: bytes = self._library.crypto_scalarmult_ristretto255_base(scalar)
        return multiple

    def add(self, left: bytes, right: bytes) -> bytes:
        """The sum of two points."""
        total: bytes = self._library.crypto_core_ristretto255_add(left, right)
        return total

    def subtract(self, left: bytes, right: bytes) -> bytes:
        """The difference of two points."""
        difference: bytes = self._library.crypto_core_ristretto255_sub(left, right)
        return difference


class Edwards(Group):
    """The subgroup of prime order of edwards25519, by PyNaCl."""

    name = "edwards25519"

    def __init__(self) -> None:
        """Load the library."""
        import nacl.bindings

        if not nacl.bindings.has_crypto_core_ed25519 or not nacl.bindings.has_crypto_scalarmult_ed25519:
            raise ImportError("this build of PyNaCl has no group operations")
        self._library: Any = nacl.bindings

    def hash_to_point(self, digest: bytes) -> bytes:
        """A point from 64 uniform bytes: one map covers half the points, the sum of two covers all evenly."""
        halves = (self._library.crypto_core_ed25519_from_uniform(half) for half in (digest[:32], digest[32:]))
        return self.add(*halves)

    def is_point(self, point: bytes) -> bool:
        """Whether these bytes are a point of the subgroup, and not the neutral one."""
        return bool(self._library.crypto_core_ed25519_is_valid_point(point))

    def draw_scalar(self) -> bytes:
        """A secret scalar, not zero."""
        scalar: bytes = self._library.crypto_core_ed25519_scalar_reduce(os.urandom(64))
        return scalar if any(scalar) else self.draw_scalar()

    def invert(self, scalar: bytes) -> bytes:
        """The inverse of a scalar."""
        inverse: bytes = self._library.crypto_core_ed25519_scalar_invert(scalar)
        return inverse

    def negate(self, scalar: bytes) -> bytes:
        """The opposite of a scalar."""
        opposite: bytes = self._library.crypto_core_ed25519_scalar_negate(scalar)
        return opposite

    def multiply_scalars(self, left: bytes, right: bytes) -> bytes:
        """The product of two scalars."""
        product: bytes = self._library.crypto_core_ed25519_scalar_mul(left, right)
        return product

    def multiply(self, scalar: bytes, point: bytes) -> bytes:
        """A multiple of a point."""
        multiple: bytes = self._library.crypto_scalarmult_ed25519_noclamp(scalar, point)
        return multiple

    def multiply_base(self, scalar: bytes) -> bytes:
        """A multiple of the generator."""
        multiple: bytes = self._library.crypto_scalarmult_ed25519_base_noclamp(scalar)
        return multiple

    def add(self, left: bytes, right: bytes) -> bytes:
        """The sum of two points."""
        total: bytes = self._library.crypto_core_ed25519_add(left, right)
        return total

    def subtract(self, left: bytes, right: bytes) -> bytes:
        """The difference of two points."""
        difference: bytes = self._library.crypto_core_ed25519_sub(left, right)
        return difference


@lru_cache(maxsize=1)
def get_group() -> Group:
    """ristretto255 if rbcl is installed, else edwards25519 of PyNaCl."""
    for kind in (Ristretto, Edwards):
        with suppress(ImportError):
            return kind()
    raise PartyError(f"mining together needs a library for elliptic curves: {INSTALL}")


def map_over_points(work: Any, *columns: Sequence[bytes]) -> list[bytes]:
    """Apply an operation of a group to long lists, on all cores: the library lets go of Python's lock."""
    count = len(columns[0])
    workers = min(os.cpu_count() or 1, -(-count // _BATCH))
    if workers < 2:
        return list(map(work, *columns))
    points: list[bytes] = []
    with ThreadPoolExecutor(workers) as pool:
        for start in range(0, count, workers * _BATCH):
            stop_if_failed()
            starts = range(start, min(start + workers * _BATCH, count), _BATCH)
            parts = pool.map(
                lambda first: list(map(work, *(column[first : first + _BATCH] for column in columns))), starts
            )
            points += [point for part in parts for point in part]
    return points


def multiply_all(group: Group, scalar: bytes, points: Sequence[bytes]) -> list[bytes]:
    """Multiply all points by one scalar: encrypt them, or decrypt them with the inverse."""
    return map_over_points(group.multiply, list(repeat(scalar, len(points))), points)


def pack_points(points: Sequence[bytes]) -> Bytes:
    """Points as an array with 32 columns, to send them."""
    return np.frombuffer(b"".join(points), dtype=np.uint8).reshape(-1, POINT_BYTES)


def unpack_points(group: Group, array: Bytes) -> list[bytes]:
    """Points from an array that was received; an error if one is no point of the group."""
    whole = array.tobytes()
    points = [whole[start : start + POINT_BYTES] for start in range(0, len(whole), POINT_BYTES)]
    if not all(map_over_points(group.is_point, points)):
        raise PartyError("a message holds bytes that are not points of the group")
    return points
