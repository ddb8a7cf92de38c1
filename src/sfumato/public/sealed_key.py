# SPDX-License-Identifier: MIT
"""Keys that detect modification, and keys for baskets that detect other baskets.

A seal over its content detects a key that was modified or damaged; a fingerprint of the baskets detects one that
belongs to others. Both are refused, since a wrong key would decode to wrong itemsets. Neither is ever published with a
release.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any

from sfumato.baskets import Baskets
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.randomness import Randomness

FIRST_CODE, LAST_CODE = 10**9, 10**10
"""Codes have ten digits: two keys hardly share one, so that a wrong key is detected."""


def seal_key(method: str, secret: Mapping[str, Any]) -> Key:
    """A key with a seal over its content."""
    return Key(method, {**secret, "seal": _compute_seal(method, secret)})


def unseal_key(key: Key | None, method: str) -> dict[str, Any]:
    """The content of a key; a modified key, or one of another method, is refused."""
    if not isinstance(key, Key):
        raise PolicyError(f"{method} needs a key: create one with new_key(data), keep it, and pass it to protect")
    secret = dict(key.secret)
    if key.method != method or secret.pop("seal", None) != _compute_seal(method, secret):
        raise DataError(f"the key was changed or damaged, or is not a key of {method}; use the one you saved")
    return secret


def fingerprint_baskets(baskets: Baskets) -> str:
    """A hash that is the same for the same baskets in the same order."""
    mark = hashlib.sha256(json.dumps(baskets.items).encode())
    mark.update(baskets.offsets.astype("<i8").tobytes())
    mark.update(baskets.codes.astype("<i4").tobytes())
    return mark.hexdigest()


def refuse_other_baskets(baskets: Baskets, fingerprint: str) -> None:
    """Stop if the baskets are not those that a key was drawn for."""
    if fingerprint_baskets(baskets) != fingerprint:
        raise DataError(
            f"the key was drawn for other baskets than these {len(baskets)}; use its own, or draw a new key"
        )


def draw_codes(count: int, baskets: Baskets, randomness: Randomness) -> list[int]:
    """Distinct numbers of ten digits, none of them an item of the baskets.

    The provider sees them, so they come straight from the operating system: a generator's numbers might disclose what
    else it drew.
    """
    item_texts = {str(item) for item in baskets.items}
    codes: dict[int, None] = {}
    while len(codes) < count:
        if randomness.for_publication:
            new_codes = [FIRST_CODE + secrets.randbelow(LAST_CODE - FIRST_CODE) for _ in range(count - len(codes))]
        else:
            new_codes = randomness.generator().integers(FIRST_CODE, LAST_CODE, count - len(codes)).tolist()
        codes.update((code, None) for code in new_codes if str(code) not in item_texts)
    return list(codes)


def draw_bytes(randomness: Randomness) -> bytes:
    """A 256-bit secret."""
    return secrets.token_bytes(32) if randomness.for_publication else randomness.generator().bytes(32)


def _compute_seal(method: str, secret: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([method, secret], sort_keys=True, default=repr).encode()).hexdigest()
