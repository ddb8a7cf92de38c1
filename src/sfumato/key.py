# SPDX-License-Identifier: MIT
"""A method's secret key: never printed, saved only on request, readable by its owner alone."""

from __future__ import annotations

import base64
import copy
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import DataError
from sfumato.private.private_file import create_private, read_private, refuse_open_folder

_VERSION = 1
_ROUNDS = {"n": 2**15, "r": 8, "p": 1}


@dataclass(frozen=True)
class Key:
    """A method's secret: which method it belongs to, and what it needs to encode and decode."""

    method: str
    """The tag of the method."""
    secret: Mapping[str, Any] = field(repr=False)
    """The secret values; never printed."""

    def __post_init__(self) -> None:
        """Keep a copy, since the caller may change theirs."""
        object.__setattr__(self, "secret", MappingProxyType(copy.deepcopy(dict(self.secret))))

    def __repr__(self) -> str:
        """Redacted."""
        return f"Key({self.method}, secret kept)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        """Refuse pickling, which would make an unwanted copy."""
        raise TypeError("a Key is saved by Key.save, not by pickling")

    def save(self, path: str | Path, passphrase: str | None = None) -> Path:
        """Write the key, mode 0600, under a passphrase if one is given. An existing file is not overwritten."""
        if passphrase == "":
            raise DataError("the passphrase is empty, which protects nothing; give one, or None for no passphrase")
        content = json.dumps({"method": self.method, "secret": dict(self.secret)}).encode()
        file_fields: dict[str, Any] = {"sfumato_key": _VERSION, "sealed": bool(passphrase)}
        if passphrase:
            salt = secrets.token_bytes(16)
            file_fields |= {
                "salt": _encode_base64(salt),
                "content": _encode_base64(_derive_fernet(passphrase, salt).encrypt(content)),
            }
        else:
            file_fields |= {"content": _encode_base64(content)}
        target = Path(path)
        try:
            refuse_open_folder(target, "the key")
            create_private(target, json.dumps(file_fields).encode())
        except FileExistsError:
            raise DataError(f"{target}: a key exists there already; move it elsewhere or choose another name") from None
        except OSError as error:
            raise DataError(f"{target}: the key cannot be written ({error.strerror})") from None
        return target

    @classmethod
    def load(cls, path: str | Path, passphrase: str | None = None) -> Key:
        """Read a key that was saved; one that others can read or replace, or that was tampered with, is refused."""
        from cryptography.fernet import InvalidToken

        try:
            _refuse_other_file(Path(path))
            file_fields = _parse_key_file(read_private(Path(path), "the key"))
            _refuse_other_version(path, file_fields)
            is_sealed = _is_sealed(file_fields)
            content = base64.b64decode(file_fields["content"], validate=True)
            if is_sealed:
                if passphrase is None:
                    raise DataError(f"{path}: the key is protected by a passphrase; give it")
                content = _derive_fernet(passphrase, base64.b64decode(file_fields["salt"], validate=True)).decrypt(
                    content
                )
            elif passphrase is not None:
                raise DataError(
                    f"{path}: this key has no passphrase; if yours has one, this is a different key, otherwise omit "
                    "the passphrase"
                )
            key_fields = _parse_key_file(content)
            if key_fields.keys() != {"method", "secret"} or not isinstance(key_fields["method"], str):
                raise ValueError("not the content of a key")
            return cls(key_fields["method"], _require_object(key_fields["secret"]))
        except OSError as error:
            raise DataError(f"{path}: the key cannot be read {explain_unreadable(error, Path(path))}") from None
        except InvalidToken:
            raise DataError(f"{path}: the passphrase does not open this key") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DataError(f"{path}: this is not a key that sfumato saved") from None


def _refuse_other_file(path: Path) -> None:
    """Say that a file is no key before anybody is asked to make it private."""
    if path.is_file():
        with path.open("rb") as file:
            if file.read(1) != b"{":
                raise DataError(f"{path}: this is not a key that sfumato saved; a run writes it as private/….key.json")


def _parse_key_file(content: bytes) -> dict[str, Any]:
    """A JSON object without repeated names, which would be ambiguous."""

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(fields := dict(pairs)) != len(pairs):
            raise ValueError("a name occurs twice")
        return fields

    return _require_object(json.loads(content, object_pairs_hook=build))


def _require_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _refuse_other_version(path: str | Path, file_fields: Mapping[str, Any]) -> None:
    version = file_fields["sfumato_key"]
    if type(version) is not int or version < _VERSION:
        raise ValueError("no version of a key")
    if version > _VERSION:
        raise DataError(f"{path}: this key was made by a newer version of sfumato (format {version}); update sfumato")


def _is_sealed(file_fields: Mapping[str, Any]) -> bool:
    """Whether the key has a passphrase; a file with inconsistent fields is not a key."""
    is_sealed = file_fields["sealed"]
    fields = {"sfumato_key", "sealed", "content"} | ({"salt"} if is_sealed is True else set())
    if type(is_sealed) is not bool or file_fields.keys() != fields:
        raise ValueError("the sealing fields do not fit together")
    if not all(isinstance(file_fields[name], str) for name in fields - {"sfumato_key", "sealed"}):
        raise ValueError("content and salt are text")
    return is_sealed


def _encode_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _derive_fernet(passphrase: str, salt: bytes) -> Any:
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    derived = Scrypt(salt=salt, length=32, **_ROUNDS).derive(passphrase.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
