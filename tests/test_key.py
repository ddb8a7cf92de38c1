# SPDX-License-Identifier: MIT
"""A key stays home: redacted, not pickled, 0600, under a passphrase, never overwritten."""

from __future__ import annotations

import copy
import json
import logging
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import DataError
from sfumato.key import Key

CANARY = "ZZSECRETZZ"


@pytest.fixture
def key() -> Key:
    return Key("encode", {"seed": CANARY, "numbers": [1, 2], "nested": {"a": CANARY}})


def test_redacted(key: Key, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        logging.getLogger().warning("%s %r", key, key)
    for text in (repr(key), str(key), f"{key}", f"{key!r}", f"{[key]}", f"{ {'k': key} }", caplog.text):
        assert CANARY not in text
        assert "encode" in text


def test_redacted_in_a_traceback(key: Key) -> None:
    import traceback

    try:
        raise ValueError(key)
    except ValueError as error:
        text = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert CANARY not in text


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_not_pickled(key: Key, protocol: int) -> None:
    with pytest.raises(TypeError, match="save"):
        pickle.dumps(key, protocol)


def test_not_pickled_inside_something_else(key: Key) -> None:
    with pytest.raises(TypeError):
        pickle.dumps({"key": [key]})


def test_not_copied_silently(key: Key) -> None:
    """A copy is either the key itself or refused."""
    try:
        copied = copy.deepcopy(key)
    except TypeError:
        return
    assert copied == key
    assert CANARY not in repr(copied)


def test_frozen(key: Key) -> None:
    with pytest.raises((AttributeError, TypeError)):
        key.secret = {}  # type: ignore[misc]


def test_saved_and_loaded(key: Key, tmp_path: Path) -> None:
    path = key.save(tmp_path / "key.json")
    assert path.stat().st_mode & 0o777 == 0o600
    assert Key.load(path) == key


def test_saved_0600_whatever_the_mask(key: Key, tmp_path: Path) -> None:
    old_mask = os.umask(0)
    try:
        assert key.save(tmp_path / "key.json").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(old_mask)


def test_under_a_passphrase(key: Key, tmp_path: Path) -> None:
    path = key.save(tmp_path / "key.json", "correct horse")
    content = path.read_text()
    assert CANARY not in content
    assert "correct horse" not in content
    assert Key.load(path, "correct horse") == key
    for wrong in ("wrong", None, ""):
        with pytest.raises(DataError, match="passphrase") as error_info:
            Key.load(path, wrong)
        assert CANARY not in str(error_info.value)
        assert "wrong" not in str(error_info.value)


def test_two_sealings_differ(key: Key, tmp_path: Path) -> None:
    first_text, other = key.save(tmp_path / "1", "p").read_text(), key.save(tmp_path / "2", "p").read_text()
    assert json.loads(first_text)["salt"] != json.loads(other)["salt"]
    assert json.loads(first_text)["content"] != json.loads(other)["content"]


def test_an_empty_passphrase_is_no_open_door(key: Key, tmp_path: Path) -> None:
    """Whoever gives a passphrase wants one: an empty one is refused, or seals."""
    try:
        path = key.save(tmp_path / "key.json", "")
    except (DataError, ValueError):
        return
    assert json.loads(path.read_text())["sealed"] is True


def test_not_overwritten(key: Key, tmp_path: Path) -> None:
    path = key.save(tmp_path / "key.json")
    content = path.read_bytes()
    with pytest.raises(DataError, match="already"):
        Key("other", {"x": CANARY}).save(path)
    assert path.read_bytes() == content


def test_places_that_hold_no_key(key: Key, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "no" / "where", tmp_path / "file" / "below", tmp_path):
        with pytest.raises(DataError, match="key"):
            key.save(path)
        with pytest.raises(DataError, match="key"):
            Key.load(path)


def test_what_cannot_be_saved_leaves_nothing(tmp_path: Path) -> None:
    """A secret that is no JSON: an error, no half file, and no value in the words."""
    path = tmp_path / "key.json"
    with pytest.raises((DataError, TypeError)) as error_info:
        Key("m", {"x": {CANARY}}).save(path)
    assert CANARY not in str(error_info.value)
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"5",
        b"\xff\xfe",
        b'{"content": "x", "sealed": false}',
        b'{"content": "bnVsbA==", "sealed": false}',
        b'{"content": "W10=", "sealed": false}',
        b'{"content": 5, "sealed": false}',
        b'{"content": "e30=", "sealed": true}',
        b'{"content": "e30=", "sealed": true, "salt": "x"}',
        b'{"content": "e30=", "sealed": true, "salt": "eHh4eHh4eHh4eHh4eHh4eA=="}',
        b"[" * 100_000,
    ],
)
def test_files_that_are_no_key(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.json"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(DataError, match="not a key that sfumato saved"):
        Key.load(path, "passphrase")


def test_the_secret_is_not_shared_with_its_maker() -> None:
    secret: dict[str, Any] = {"x": 1}
    key = Key("m", secret)
    secret["x"] = 2
    assert key.secret["x"] == 1


def rewrite(path: Path, **changes: Any) -> None:
    """Change fields of a saved key; None removes one."""
    packed = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({name: value for name, value in packed.items() if value is not None}))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o666, 0o610])
def test_a_key_that_others_can_open_is_refused(key: Key, tmp_path: Path, mode: int) -> None:
    path = key.save(tmp_path / "key.json")
    path.chmod(mode)
    with pytest.raises(DataError, match=f"chmod 600 {path}"):
        Key.load(path)
    path.chmod(0o400)
    assert Key.load(path) == key


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_key_in_a_folder_that_others_can_change_is_refused(key: Key, tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = key.save(folder / "key.json")
    folder.chmod(mode)
    with pytest.raises(DataError, match=f"chmod go-w {folder}"):
        Key.load(path)
    with pytest.raises(DataError, match="chmod go-w"):
        key.save(folder / "other.json")
    assert [entry.name for entry in folder.iterdir()] == ["key.json"]
    (tmp_path / "link.json").symlink_to(path)
    with pytest.raises(DataError, match="chmod go-w"):
        Key.load(tmp_path / "link.json")
    folder.chmod(mode | 0o1000)  # as /tmp: others cannot replace it there
    assert Key.load(path) == key


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_key_of_another_user_is_refused(key: Key, tmp_path: Path) -> None:
    path = key.save(tmp_path / "key.json")
    os.chown(path, 12345, -1)
    with pytest.raises(DataError, match="another user"):
        Key.load(path)


@pytest.mark.parametrize("version", [2, 17])
def test_a_key_of_a_newer_version(key: Key, tmp_path: Path, version: int) -> None:
    path = key.save(tmp_path / "key.json")
    rewrite(path, sfumato_key=version)
    with pytest.raises(DataError, match="newer version"):
        Key.load(path)


SALT = "eHh4eHh4eHh4eHh4eHh4eA=="


@pytest.mark.parametrize(
    "changes",
    [
        {"sfumato_key": None},
        {"sfumato_key": True},
        {"sfumato_key": "1"},
        {"sfumato_key": 1.0},
        {"sfumato_key": 0},
        {"sealed": None},
        {"sealed": 0},
        {"sealed": ""},
        {"sealed": []},
        {"sealed": "false"},
        {"sealed": True},
        {"salt": SALT},
        {"salt": ""},
        {"more": 1},
        {"content": None},
        {"content": ["e30="]},
    ],
    ids=str,
)
def test_fields_that_do_not_fit_together(key: Key, tmp_path: Path, changes: dict[str, Any]) -> None:
    path = key.save(tmp_path / "key.json")
    rewrite(path, **changes)
    with pytest.raises(DataError, match="not a key that sfumato saved"):
        Key.load(path)


@pytest.mark.parametrize("changes", [{"sealed": 1}, {"sealed": "true"}, {"salt": None}, {"salt": 5}, {"salt": "??"}])
def test_sealing_fields_that_do_not_fit_together(key: Key, tmp_path: Path, changes: dict[str, Any]) -> None:
    path = key.save(tmp_path / "key.json", "passphrase")
    rewrite(path, **changes)
    with pytest.raises(DataError, match="not a key that sfumato saved"):
        Key.load(path, "passphrase")


def test_a_sealed_key_is_not_exchanged_for_an_open_one(key: Key, tmp_path: Path) -> None:
    """Who gives a passphrase expects a sealed key: an open one in its place is someone else's."""
    path = key.save(tmp_path / "key.json")
    with pytest.raises(DataError, match="passphrase"):
        Key.load(path, "passphrase")
    with pytest.raises(DataError, match="passphrase"):
        Key.load(path, "")


def test_a_name_that_occurs_twice(key: Key, tmp_path: Path) -> None:
    path = key.save(tmp_path / "key.json")
    path.write_text(path.read_text().replace("{", '{"sealed": true, ', 1))
    with pytest.raises(DataError, match="not a key"):
        Key.load(path)


def test_a_pipe_is_no_key(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key.json", 0o600)
    with pytest.raises(DataError, match="regular file"):
        Key.load(tmp_path / "key.json")


def test_created_whole_where_files_without_names_are_unknown(
    key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = key.save(tmp_path / "key.json")
    assert path.stat().st_mode & 0o777 == 0o600
    assert Key.load(path) == key
    with pytest.raises(DataError, match="already"):
        key.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["key.json"]
