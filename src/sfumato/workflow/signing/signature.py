# SPDX-License-Identifier: MIT
"""The signature of a certificate: an Ed25519 key, created on first use, that never leaves its owner's folder."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sfumato.errors import CertificateRefused, DataError
from sfumato.private.private_file import create_private, read_private, refuse_open_folder
from sfumato.workflow.signing.certificate_text import add_signature, parse_certificate, spell_body, split_signature

_RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64
_LARGEST_KEY_FILE = 1 << 16


def find_home() -> Path:
    """The folder of the signing key: `SFUMATO_HOME`, else the user's configuration folder."""
    if home_folder := os.environ.get("SFUMATO_HOME"):
        return Path(home_folder)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "sfumato"


def load_signing_key() -> Ed25519PrivateKey:
    """The custodian's signing key; created on first use with mode 0600, refused if others can read or replace it."""
    path = find_home() / "signing_key.pem"
    try:
        if not path.exists():
            _make_signing_key(path)
        key = serialization.load_pem_private_key(read_private(path, "the signing key"), password=None)
    except OSError as error:
        raise DataError(
            f"{path}: the signing key cannot be stored there ({error.strerror}); set SFUMATO_HOME"
        ) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise DataError(f"{path}: this is not a signing key; move it elsewhere, and a new one is made") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise DataError(f"{path}: this is not an Ed25519 key; move it elsewhere, and a new one is made")
    return key


def _make_signing_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    refuse_open_folder(path, "the signing key")
    with suppress(FileExistsError):  # two first runs at once agree on one key
        create_private(path, content)


def format_public_key(key: Ed25519PrivateKey) -> str:
    """The public key as text, for an auditor."""
    return base64.b64encode(key.public_key().public_bytes(*_RAW)).decode()


def sign_certificate(body: Mapping[str, Any], key: Ed25519PrivateKey) -> bytes:
    """Write a certificate: the body, its signer, and a signature over the bytes of both."""
    fields = {name: value for name, value in body.items() if name not in ("signer", "signature")}
    signed_bytes = spell_body({**fields, "signer": format_public_key(key)})
    return add_signature(signed_bytes, base64.b64encode(key.sign(signed_bytes)).decode())


def check_signature(raw: bytes, signer: str | None = None) -> bool:
    """Whether these bytes are signed, by `signer` if it is given."""
    parts = split_signature(raw)
    if parts is None:
        return False
    try:
        claimed_signer = parse_certificate(raw).get("signer")
    except CertificateRefused:
        return False
    key = _decode_exactly(claimed_signer, _KEY_BYTES) if isinstance(claimed_signer, str) else None
    signature = _decode_exactly(parts.signature, _SIGNATURE_BYTES)
    if key is None or signature is None or (signer is not None and _decode_exactly(signer, _KEY_BYTES) != key):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, parts.signed_bytes)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_signer(key_source: str) -> str:
    """A public key as text: given directly, or as a file (PEM or text)."""
    path = Path(key_source)
    try:
        is_file = path.is_file()
        if is_file and path.stat().st_size > _LARGEST_KEY_FILE:
            raise DataError(f"{path}: this file is too large for a public key")
        content = path.read_text(encoding="utf-8") if is_file else key_source
    except (OSError, ValueError):
        raise DataError("the public key cannot be read; give a file or its text") from None
    if "BEGIN" in content:
        source = path if is_file else "the signer"  # the input may be a private key: it is never repeated
        try:
            key = serialization.load_pem_public_key(content.encode())
        except (ValueError, UnsupportedAlgorithm):
            raise DataError(f"{source}: this is not a public key") from None
        if not isinstance(key, Ed25519PublicKey):
            raise DataError(f"{source}: this is not an Ed25519 public key")
        return base64.b64encode(key.public_bytes(*_RAW)).decode()
    if _decode_exactly(content.strip(), _KEY_BYTES) is None:
        raise DataError("the signer is not an Ed25519 public key; `sfumato signer` prints yours")
    return content.strip()


def _decode_exactly(text: str, length: int) -> bytes | None:
    """The bytes of a key or a signature; None unless the text is the canonical encoding of that many bytes."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == length and base64.b64encode(raw).decode() == text else None
