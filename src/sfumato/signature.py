# SPDX-License-Identifier: MIT
"""Who vouches for a certificate: an Ed25519 key, made on first use, that never leaves its owner's folder."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sfumato.errors import DataError
from sfumato.private_file import create_private, read_private, refuse_open_folder

_RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def home() -> Path:
    """Where the signing key lives: `SFUMATO_HOME`, else the user's configuration folder."""
    if given := os.environ.get("SFUMATO_HOME"):
        return Path(given)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "sfumato"


def signing_key() -> Ed25519PrivateKey:
    """The custodian's signing key; made on first use, mode 0600, and refused once others can read or replace it."""
    path = home() / "signing_key.pem"
    try:
        if not path.exists():
            _make(path)
        key = serialization.load_pem_private_key(read_private(path, "the signing key"), password=None)
    except OSError as error:
        raise DataError(f"{path}: the signing key cannot be kept there ({error.strerror}); set SFUMATO_HOME") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise DataError(f"{path}: this is not a signing key; move it away and a new one is made") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise DataError(f"{path}: this is not an Ed25519 key; move it away and a new one is made")
    return key


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    refuse_open_folder(path, "the signing key")
    with suppress(FileExistsError):  # two first runs at once agree on one key
        create_private(path, content)


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half, as text to hand to an auditor."""
    return base64.b64encode(key.public_key().public_bytes(*_RAW)).decode()


def signed(body: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The body with its signer and a signature over everything else."""
    whole = {**body, "signer": public_text(key)}
    return {**whole, "signature": base64.b64encode(key.sign(_canonical(whole))).decode()}


def vouched(certificate: Mapping[str, Any], signer: str | None = None) -> bool:
    """Whether the certificate is signed, by `signer` if one is given: an auditor's trust is in that key alone."""
    claimed = certificate.get("signer")
    key = _raw(claimed) if isinstance(claimed, str) else None
    if key is None or (signer is not None and _raw(signer) != key):
        return False
    body = {name: value for name, value in certificate.items() if name != "signature"}
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            base64.b64decode(certificate["signature"], validate=True), _canonical(body)
        )
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def read_signer(given: str) -> str:
    """A public key as text: given as such, or as a file that holds it (PEM or text)."""
    path = Path(given)
    try:
        content = path.read_text() if path.is_file() else given
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path}: the public key cannot be read") from None
    if "BEGIN" in content:
        try:
            key = serialization.load_pem_public_key(content.encode())
        except (ValueError, UnsupportedAlgorithm):
            raise DataError(f"{path}: this is not a public key") from None
        if not isinstance(key, Ed25519PublicKey):
            raise DataError(f"{path}: this is not an Ed25519 public key")
        return base64.b64encode(key.public_bytes(*_RAW)).decode()
    if _raw(content.strip()) is None:
        raise DataError("the signer is not an Ed25519 public key; `sfumato signer` prints yours")
    return content.strip()


def _raw(text: str) -> bytes | None:
    """The 32 bytes of a public key; None if the text is none."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == 32 else None


def _canonical(body: Mapping[str, Any]) -> bytes:
    """One spelling for one content, so that only content can be changed."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
