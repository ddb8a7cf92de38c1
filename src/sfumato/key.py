# SPDX-License-Identifier: MIT
"""What stays home: a method's secret, never shown, saved only when asked, readable by its owner alone."""

from __future__ import annotations

import base64
import copy
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sfumato.errors import DataError

_ROUNDS = {"n": 2**15, "r": 8, "p": 1}


@dataclass(frozen=True)
class Key:
    """A method's secret: which method it belongs to, and what it needs to encode and decode."""

    method: str
    secret: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        """Keep a copy: whoever made the secret may change theirs."""
        object.__setattr__(self, "secret", MappingProxyType(copy.deepcopy(dict(self.secret))))

    def __repr__(self) -> str:
        """Redacted."""
        return f"Key({self.method}, secret kept)"

    __str__ = __repr__

    def __reduce__(self) -> str:
        """Refuse to be pickled: a pickle would be a copy that nobody asked for."""
        raise TypeError("a Key is saved by Key.save, not by pickling")

    def save(self, path: str | Path, passphrase: str | None = None) -> Path:
        """Write the key, mode 0600, under a passphrase if one is given. An existing file is not overwritten."""
        if passphrase == "":
            raise DataError("the passphrase is empty, which protects nothing; give one, or None for no passphrase")
        content = json.dumps({"method": self.method, "secret": dict(self.secret)}).encode()
        packed: dict[str, Any] = {"sfumato_key": 1, "sealed": bool(passphrase)}
        if passphrase:
            salt = secrets.token_bytes(16)
            packed |= {"salt": _text(salt), "content": _text(_fernet(passphrase, salt).encrypt(content))}
        else:
            packed |= {"content": _text(content)}
        target = Path(path)
        try:
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(packed, file)
        except FileExistsError:
            raise DataError(f"{target}: a key lies there already; move it away or choose another name") from None
        except OSError as error:
            raise DataError(f"{target}: the key cannot be written ({error.strerror})") from None
        return target

    @classmethod
    def load(cls, path: str | Path, passphrase: str | None = None) -> Key:
        """Read a key that was saved."""
        from cryptography.fernet import InvalidToken

        try:
            packed = json.loads(Path(path).read_text())
            content = base64.b64decode(packed["content"])
            if packed["sealed"]:
                if passphrase is None:
                    raise DataError(f"{path}: the key is under a passphrase; give it")
                content = _fernet(passphrase, base64.b64decode(packed["salt"])).decrypt(content)
            opened = json.loads(content)
            return cls(opened["method"], opened["secret"])
        except OSError as error:
            raise DataError(f"{path}: the key cannot be read ({error.strerror})") from None
        except InvalidToken:
            raise DataError(f"{path}: the passphrase does not open this key") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DataError(f"{path}: this is not a key that sfumato saved") from None


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _fernet(passphrase: str, salt: bytes) -> Any:
    from cryptography.fernet import Fernet
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    derived = Scrypt(salt=salt, length=32, **_ROUNDS).derive(passphrase.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
