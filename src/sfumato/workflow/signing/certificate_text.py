# SPDX-License-Identifier: MIT
"""The bytes of a certificate: each content has one encoding, and every other encoding is refused.

A certificate is one JSON file whose last member is its signature. The signed bytes are all bytes before the suffix
``,\\n "signature": "<88 base64 characters>"\\n}``, which ends the file without a final newline. Two readers can never
see two contents in bytes that were signed once: repeated keys, NaN, a byte order mark, other blanks or escapes, and
whatever else json would forgive are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from sfumato.errors import CertificateRefused

LARGEST_CERTIFICATE = 16 << 20
"""The most bytes of a certificate."""
DEEPEST_NESTING = 32
"""The deepest nesting of objects and lists."""
LONGEST_INTEGER = 40
"""The most digits of an integer; no count needs more, and arithmetic on longer ones fails or takes forever."""

_SUFFIX = re.compile(rb',\n "signature": "([A-Za-z0-9+/]{86}==)"\n}\Z')
_SUFFIX_LENGTH = len(b',\n "signature": ""\n}') + 88
_TOO_DEEP = re.compile(rb"\n {%d}" % (DEEPEST_NESTING + 1))


class SignedText(NamedTuple):
    """A certificate split at its signature."""

    signed_bytes: bytes
    signature: str


def spell_body(body: Mapping[str, Any]) -> bytes:
    """Encode a certificate without its signature: the bytes that are signed."""
    try:
        text = json.dumps(body, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, TypeError, RecursionError):  # UnicodeEncodeError is a ValueError
        raise CertificateRefused(
            "the certificate cannot be written: a field holds NaN, infinity, a lone surrogate or a non-JSON value"
        ) from None
    signed_bytes = text.removesuffix(b"\n}")
    if len(signed_bytes) + _SUFFIX_LENGTH > LARGEST_CERTIFICATE:
        raise CertificateRefused(f"the certificate would be larger than {LARGEST_CERTIFICATE >> 20} MB")
    return signed_bytes


def add_signature(signed_bytes: bytes, signature: str) -> bytes:
    """Encode a whole certificate file."""
    return b'%b,\n "signature": "%b"\n}' % (signed_bytes, signature.encode("ascii"))


def split_signature(raw: bytes) -> SignedText | None:
    """Split a certificate at its signature; None if it does not end like one."""
    suffix = _SUFFIX.search(raw, max(0, len(raw) - _SUFFIX_LENGTH))
    return SignedText(raw[: suffix.start()], suffix[1].decode("ascii")) if suffix else None


def parse_certificate(raw: bytes) -> dict[str, Any]:
    """Parse the bytes of a certificate, refusing every encoding but the one that sfumato writes."""
    if len(raw) > LARGEST_CERTIFICATE:
        raise CertificateRefused(f"the certificate is larger than {LARGEST_CERTIFICATE >> 20} MB")
    try:
        content = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_refuse_repeated_fields,
            parse_constant=_refuse_constant,
            parse_int=_parse_integer,
        )
        spelling = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise CertificateRefused("the certificate is damaged; it is not readable JSON") from None
    if not isinstance(content, dict):
        raise CertificateRefused("this is not a certificate that sfumato wrote (all of it is malformed)")
    if spelling != raw:
        raise CertificateRefused(
            "the certificate is not encoded as sfumato writes it; it was changed after it was signed, or never signed"
        )
    if _TOO_DEEP.search(raw):
        raise CertificateRefused(f"the certificate is nested deeper than {DEEPEST_NESTING} levels")
    return content


def _refuse_repeated_fields(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise CertificateRefused(f"the certificate says {len(pairs) - len(content)} fields twice, which is ambiguous")
    return content


def _refuse_constant(_: str) -> NoReturn:
    raise CertificateRefused("the certificate holds NaN or infinity, which is not JSON")


def _parse_integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER:
        raise CertificateRefused(f"the certificate holds a number of more than {LONGEST_INTEGER} digits")
    return int(digits)
