# SPDX-License-Identifier: MIT
"""Who signs: one key, made once, 0600; a signature fits one content only."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sfumato.errors import DataError, SfumatoError
from sfumato.signature import home, public_text, read_signer, signed, signing_key, vouched

BODY: dict[str, Any] = {"a": 1, "b": [1.5, None, "é"], "c": {"d": True}}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("SFUMATO_HOME", str(place))
    return place


def test_made_once(own_home: Path) -> None:
    first = public_text(signing_key())
    assert public_text(signing_key()) == first
    path = own_home / "signing_key.pem"
    assert path.stat().st_mode & 0o777 == 0o600
    assert own_home.stat().st_mode & 0o077 == 0
    assert [entry.name for entry in own_home.iterdir()] == ["signing_key.pem"]


def test_where_home_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home() == tmp_path / "home"
    monkeypatch.delenv("SFUMATO_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert home() == tmp_path / "config" / "sfumato"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert home() == tmp_path / ".config" / "sfumato"


def test_first_use_by_many_at_once(own_home: Path) -> None:
    script = "import sys; sys.stdin.readline()\nfrom sfumato.signature import *\nprint(public_text(signing_key()))"
    processes = [
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].strip() for process in processes]
    assert len(set(said)) == 1, said
    assert said[0] == public_text(signing_key())
    assert [entry.name for entry in own_home.iterdir()] == ["signing_key.pem"]


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"\xff", b"-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_file_that_holds_none(own_home: Path, content: bytes) -> None:
    own_home.mkdir()
    (own_home / "signing_key.pem").write_bytes(content)
    (own_home / "signing_key.pem").chmod(0o600)
    with pytest.raises(DataError, match=r"signing_key\.pem: this is not a signing key"):
        signing_key()
    assert (own_home / "signing_key.pem").read_bytes() == content, "nobody's file is replaced"


def test_a_key_under_a_passphrase(own_home: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    own_home.mkdir()
    sealed = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x")
    )
    (own_home / "signing_key.pem").write_bytes(sealed)
    (own_home / "signing_key.pem").chmod(0o600)
    with pytest.raises(DataError, match="not a signing key"):
        signing_key()


def test_signed_and_vouched_for() -> None:
    key = Ed25519PrivateKey.generate()
    whole = signed(BODY, key)
    assert vouched(whole)
    assert vouched(whole, public_text(key))
    assert not vouched(whole, public_text(Ed25519PrivateKey.generate()))
    assert vouched(json.loads(json.dumps(whole))), "the way through a file changes nothing"
    assert vouched(dict(reversed(whole.items()))), "nor does the order of fields"


@pytest.mark.parametrize(
    "change",
    [
        {"a": 2},
        {"a": 1.5},
        {"a": True},
        {"a": "1"},
        {"b": [1.5, None, "e"]},
        {"b": [1.5, "é", None]},
        {"c": {"d": 1}},
        {"c": {}},
        {"more": None},
        {"signature": None},
        {"signature": ""},
        {"signature": "AAAA"},
        {"signature": 5},
        {"signer": 5},
        {"signer": None},
    ],
    ids=str,
)
def test_any_change_is_seen(change: dict[str, Any]) -> None:
    with suppress(SfumatoError):
        assert not vouched({**signed(BODY, Ed25519PrivateKey.generate()), **change})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"], ids=str)
def test_what_has_no_one_spelling_is_not_vouched_for(value: Any) -> None:
    assert not vouched({**signed(BODY, Ed25519PrivateKey.generate()), "more": value})


@pytest.mark.parametrize("signer", ["", "AAAA", "x", "é"])
def test_a_signer_that_is_no_key(signer: str) -> None:
    whole = {**signed(BODY, Ed25519PrivateKey.generate()), "signer": signer}
    with suppress(SfumatoError):
        assert not vouched(whole)
    with pytest.raises(SfumatoError):
        read_signer(signer)


def test_signers_given_as_files(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    text = public_text(key)
    (tmp_path / "key.txt").write_text(f"  {text}\n")
    assert read_signer(text) == read_signer(str(tmp_path / "key.txt")) == read_signer(f" {text} ") == text
    (tmp_path / "bytes").write_bytes(os.urandom(200))
    for given in (str(tmp_path / "bytes"), str(tmp_path), "a\0b", "x" * 5000, "-----BEGIN PUBLIC KEY-----\nx"):
        with pytest.raises(SfumatoError):
            read_signer(given)


def test_a_private_key_is_no_signer(tmp_path: Path, own_home: Path) -> None:
    """Whoever hands over the private key by mistake is told, and the key is not echoed."""
    signing_key()
    with pytest.raises(SfumatoError) as refused:
        read_signer(str(own_home / "signing_key.pem"))
    secret = (own_home / "signing_key.pem").read_text().splitlines()[1]
    assert secret not in str(refused.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666])
def test_a_signing_key_that_others_can_open_is_refused(own_home: Path, mode: int) -> None:
    first = public_text(signing_key())
    path = own_home / "signing_key.pem"
    path.chmod(mode)
    with pytest.raises(DataError, match=f"chmod 600 {path}"):
        signing_key()
    path.chmod(0o600)
    assert public_text(signing_key()) == first


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_home_that_others_can_change_is_refused(own_home: Path, mode: int) -> None:
    own_home.mkdir()
    own_home.chmod(mode)
    with pytest.raises(DataError, match=f"chmod go-w {own_home}"):
        signing_key()
    assert not list(own_home.iterdir()), "no key is made in such a place"
    own_home.chmod(0o700)
    signing_key()
    own_home.chmod(mode)
    with pytest.raises(DataError, match="chmod go-w"):
        signing_key()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_signing_key_of_another_user_is_refused(own_home: Path) -> None:
    signing_key()
    os.chown(own_home / "signing_key.pem", 12345, -1)
    with pytest.raises(DataError, match="another user"):
        signing_key()
