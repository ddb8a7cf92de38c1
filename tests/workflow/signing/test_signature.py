# SPDX-License-Identifier: MIT
"""Who signs: one key, made once, 0600; a signature fits one content only."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sfumato.errors import DataError, SfumatoError
from sfumato.workflow.signing.certificate_text import (
    DEEPEST_NESTING,
    LONGEST_INTEGER,
    add_signature,
    parse_certificate,
    spell_body,
)
from sfumato.workflow.signing.signature import (
    check_signature,
    find_home,
    format_public_key,
    load_signing_key,
    read_signer,
    sign_certificate,
)

BODY: dict[str, Any] = {"a": 1, "b": [1.5, None, "é"], "c": {"d": True}}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("SFUMATO_HOME", str(home))
    return home


def test_made_once(own_home: Path) -> None:
    first = format_public_key(load_signing_key())
    assert format_public_key(load_signing_key()) == first
    path = own_home / "signing_key.pem"
    assert path.stat().st_mode & 0o777 == 0o600
    assert own_home.stat().st_mode & 0o077 == 0
    assert [entry.name for entry in own_home.iterdir()] == ["signing_key.pem"]


def test_where_home_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_home() == tmp_path / "home"
    monkeypatch.delenv("SFUMATO_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert find_home() == tmp_path / "config" / "sfumato"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_home() == tmp_path / ".config" / "sfumato"


def test_first_use_by_many_at_once(own_home: Path) -> None:
    script = (
        "import sys; sys.stdin.readline()\nfrom sfumato.workflow.signing.signature import "
        "*\nprint(format_public_key(load_signing_key()))"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate()[0].strip() for process in processes]
    assert len(set(outputs)) == 1, outputs
    assert outputs[0] == format_public_key(load_signing_key())
    assert [entry.name for entry in own_home.iterdir()] == ["signing_key.pem"]


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b"\xff", b"-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"]
)
def test_a_key_file_that_holds_none(own_home: Path, content: bytes) -> None:
    own_home.mkdir()
    (own_home / "signing_key.pem").write_bytes(content)
    (own_home / "signing_key.pem").chmod(0o600)
    with pytest.raises(DataError, match=r"signing_key\.pem: this is not a signing key"):
        load_signing_key()
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
        load_signing_key()


def test_signed_and_checked() -> None:
    key = Ed25519PrivateKey.generate()
    raw = sign_certificate(BODY, key)
    assert check_signature(raw)
    assert check_signature(raw, format_public_key(key))
    assert not check_signature(raw, format_public_key(Ed25519PrivateKey.generate()))
    whole = parse_certificate(raw)
    assert {name: whole[name] for name in BODY} == BODY
    assert list(whole)[-2:] == ["signer", "signature"]
    assert raw == json.dumps(whole, indent=1, ensure_ascii=False).encode()


def test_the_signed_bytes_are_those_before_the_suffix() -> None:
    """Anybody can check a certificate with a few lines of other code."""
    key = Ed25519PrivateKey.generate()
    raw = sign_certificate(BODY, key)
    signed, text = raw[:-108], raw[-108:]
    assert text.startswith(b',\n "signature": "')
    assert text.endswith(b'"\n}')
    key.public_key().verify(base64.b64decode(text[17:-3]), signed)


def spell(body: dict[str, Any]) -> bytes:
    return json.dumps(body, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")


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
        {"more": float("nan")},
        {"more": float("inf")},
        {"more": "\ud800"},
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
    whole = parse_certificate(sign_certificate(BODY, Ed25519PrivateKey.generate()))
    assert check_signature(spell(whole))
    last = whole.pop("signature")
    assert not check_signature(spell({**whole, "signature": last, **change}))
    assert not check_signature(spell({**whole, **change, "signature": change.get("signature", last)}))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "a key twice": lambda text: text.replace('"a": 1,', '"a": 2,\n "a": 1,'),
    "a key twice, the same value": lambda text: text.replace('"a": 1,', '"a": 1,\n "a": 1,'),
    "a key twice, escaped": lambda text: text.replace('"a": 1,', '"\\u0061": 2,\n "a": 1,'),
    "a key twice inside": lambda text: text.replace('"d": true', '"d": true,\n  "d": true'),
    "the signature twice": lambda text: text.replace('"a": 1,', '"a": 1,\n "signature": "",'),
    "an escape": lambda text: text.replace("é", "\\u00e9"),
    "a blank more": lambda text: text.replace('"a": 1', '"a":  1'),
    "a number spelled otherwise": lambda text: text.replace("1.5", "1.50"),
    "an exponent": lambda text: text.replace("1.5", "15e-1"),
    "a final newline": lambda text: text + "\n",
    "a blank before": lambda text: " " + text,
    "a byte order mark": lambda text: "\ufeff" + text,
    "windows line ends": lambda text: text.replace("\n", "\r\n"),
    "something after": lambda text: text + "{}",
    "signer in another place": lambda text: json.dumps(dict(reversed(json.loads(text).items())), indent=1),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_one_content_has_one_spelling(name: str) -> None:
    """The first of these passed with the true signer while the signature covered what json made of the bytes."""
    raw = sign_certificate(BODY, Ed25519PrivateKey.generate())
    changed = SPELLINGS[name](raw.decode()).encode()
    assert changed != raw
    assert not check_signature(changed)
    with pytest.raises(SfumatoError):
        parse_certificate(changed)


@pytest.mark.parametrize("name", ["a key twice", "an escape", "a blank more", "an exponent"])
def test_other_spellings_are_refused_even_if_signed(name: str) -> None:
    """A signer who signs two meanings at once is refused as well."""
    key = Ed25519PrivateKey.generate()
    signed = SPELLINGS[name](sign_certificate(BODY, key)[:-108].decode()).encode()
    raw = add_signature(signed, base64.b64encode(key.sign(signed)).decode())
    assert not check_signature(raw)


def test_base64_has_one_spelling() -> None:
    """The last character before the padding has unused bits, which base64 decoders ignore."""
    key = Ed25519PrivateKey.generate()
    raw = sign_certificate(BODY, key)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    index = len(raw) - 6
    other = letters[letters.index(chr(raw[index])) ^ 1].encode()
    same_bytes = raw[:index] + other + raw[index + 1 :]
    assert base64.b64decode(same_bytes[-91:-3]) == base64.b64decode(raw[-91:-3])
    assert not check_signature(same_bytes)
    text = format_public_key(key)
    variant = text[:-2] + letters[letters.index(text[-2]) ^ 1] + "="
    assert base64.b64decode(variant) == base64.b64decode(text)
    assert not check_signature(raw, variant)
    with pytest.raises(SfumatoError):
        read_signer(variant)


@pytest.mark.parametrize(
    "body", [{"x": float("nan")}, {"x": "\ud800"}, {"x": b""}, {"x": "x" * (16 << 20)}], ids=range(4)
)
def test_what_has_no_spelling_is_not_signed(body: dict[str, Any]) -> None:
    with pytest.raises(SfumatoError):
        sign_certificate(body, Ed25519PrivateKey.generate())


def test_limits_of_a_certificate() -> None:
    deep: Any = 0
    for _ in range(DEEPEST_NESTING + 1):
        deep = [deep]
    for body in ({"x": deep}, {"x": 10**LONGEST_INTEGER}):
        raw = sign_certificate(body, Ed25519PrivateKey.generate())
        assert not check_signature(raw)
        with pytest.raises(SfumatoError):
            parse_certificate(raw)


@pytest.mark.parametrize("signer", ["", "AAAA", "x", "é"])
def test_a_signer_that_is_no_key(signer: str) -> None:
    key = Ed25519PrivateKey.generate()
    signed = spell_body({**BODY, "signer": signer})
    assert not check_signature(add_signature(signed, base64.b64encode(key.sign(signed)).decode()))
    with pytest.raises(SfumatoError):
        read_signer(signer)


def test_signers_given_as_files(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    text = format_public_key(key)
    (tmp_path / "key.txt").write_text(f"  {text}\n")
    assert read_signer(text) == read_signer(str(tmp_path / "key.txt")) == read_signer(f" {text} ") == text
    (tmp_path / "bytes").write_bytes(os.urandom(200))
    for signer in (str(tmp_path / "bytes"), str(tmp_path), "a\0b", "x" * 5000, "-----BEGIN PUBLIC KEY-----\nx"):
        with pytest.raises(SfumatoError):
            read_signer(signer)


def test_a_private_key_is_no_signer(tmp_path: Path, own_home: Path) -> None:
    """Whoever hands over the private key by mistake is told, and the key is not echoed."""
    load_signing_key()
    with pytest.raises(SfumatoError) as error_info:
        read_signer(str(own_home / "signing_key.pem"))
    secret = (own_home / "signing_key.pem").read_text().splitlines()[1]
    assert secret not in str(error_info.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666])
def test_a_signing_key_that_others_can_open_is_refused(own_home: Path, mode: int) -> None:
    first = format_public_key(load_signing_key())
    path = own_home / "signing_key.pem"
    path.chmod(mode)
    with pytest.raises(DataError, match=f"chmod 600 {path}"):
        load_signing_key()
    path.chmod(0o600)
    assert format_public_key(load_signing_key()) == first


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_home_that_others_can_change_is_refused(own_home: Path, mode: int) -> None:
    own_home.mkdir()
    own_home.chmod(mode)
    with pytest.raises(DataError, match=f"chmod go-w {own_home}"):
        load_signing_key()
    assert not list(own_home.iterdir()), "no key is made in such a place"
    own_home.chmod(0o700)
    load_signing_key()
    own_home.chmod(mode)
    with pytest.raises(DataError, match="chmod go-w"):
        load_signing_key()


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_signing_key_of_another_user_is_refused(own_home: Path) -> None:
    load_signing_key()
    os.chown(own_home / "signing_key.pem", 12345, -1)
    with pytest.raises(DataError, match="another user"):
        load_signing_key()


def test_a_private_key_as_text_is_not_echoed(own_home: Path) -> None:
    load_signing_key()
    text = (own_home / "signing_key.pem").read_text()
    with pytest.raises(SfumatoError) as error_info:
        read_signer(text)
    assert text.splitlines()[1] not in str(error_info.value)
