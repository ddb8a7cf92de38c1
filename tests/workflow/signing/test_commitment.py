# SPDX-License-Identifier: MIT
"""The commitment to the input: no oracle without its key, a proof with it."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.workflow.signing.commitment import commit_to_files, does_opening_match
from sfumato.workflow.verification import show_input

POLICY = """
data = { path = "people.csv" }
roles = { quasi_identifying = ["age"], sensitive = ["ill"] }
protect = [{ method = "randomize_response", column = "ill", epsilon = 0.1, categories = ["yes", "no"] }]
"""
PEOPLE = 10


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    (tmp_path / "people.csv").write_text(table("yes" if index % 3 else "no" for index in range(PEOPLE)))
    (tmp_path / "policy.toml").write_text(POLICY)
    sf.run(sf.Policy.read(tmp_path / "policy.toml"), tmp_path / "out")
    return tmp_path


def table(answers: Iterable[str]) -> str:
    return "age,ill\n" + "".join(f"{20 + index},{answer}\n" for index, answer in enumerate(answers))


def test_no_hash_that_leaves_singles_out_the_input(folder: Path) -> None:
    """An adversary who knows the layout tries every possible input, by every plain hash and with obvious keys."""
    files = [path.read_bytes() for path in (folder / "out/release").iterdir()]
    released = {hashlib.sha256(content).hexdigest().encode() for content in files}
    hashes = set(re.findall(rb"[0-9a-f]{64}", b"".join(files))) - released
    assert hashes
    candidates = [table(answers).encode() for answers in itertools.product(["yes", "no"], repeat=PEOPLE)]
    assert (folder / "people.csv").read_bytes() in candidates
    known_keys = [b"", b"sfumato", *(bytes.fromhex(digest.decode()) for digest in hashes), *hashes]
    for content in candidates:
        assert hashlib.sha256(content).hexdigest().encode() not in hashes
        framed = (1).to_bytes(8, "big") + len(content).to_bytes(8, "big") + content
        assert not any(hmac.new(key, framed, "sha256").hexdigest().encode() in hashes for key in known_keys)


def test_the_custodian_proves_what_the_input_was(folder: Path) -> None:
    opening = folder / "out/private/input_opening.json"
    assert opening.stat().st_mode & 0o777 == 0o600
    assert show_input(folder / "out", folder / "people.csv", opening).input_shown
    other = folder / "other.csv"
    other.write_text(table(["yes"] * PEOPLE))
    outcome = show_input(folder / "out", other, opening)
    assert (outcome.input_shown, outcome.holds) == (False, False)


def test_two_runs_on_one_input_have_nothing_in_common(folder: Path) -> None:
    sf.run(sf.Policy.read(folder / "policy.toml"), folder / "again")
    certificate, two = (json.loads((folder / out / "release/certificate.json").read_text()) for out in ("out", "again"))
    assert certificate["input_commitment"] != two["input_commitment"]
    opening = folder / "again/private/input_opening.json"
    assert not show_input(folder / "out", folder / "people.csv", opening).holds


def test_files_are_told_apart_by_their_borders(tmp_path: Path) -> None:
    first_path, two, joined = (tmp_path / name for name in ("one", "two", "joined"))
    first_path.write_text("ab")
    two.write_text("cd")
    joined.write_text("abcd")
    sealed = commit_to_files([first_path, two])
    sealed.save(tmp_path / "opening")
    assert does_opening_match(sealed.value, tmp_path / "opening", [first_path, two])
    for other in ([two, first_path], [joined], [first_path], [first_path, two, two]):
        assert not does_opening_match(sealed.value, tmp_path / "opening", other)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"key": "zz"}', '{"scheme": "HMAC-SHA256", "key": "00"}'])
def test_what_is_no_opening_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "opening").write_text(content)
    (tmp_path / "input").write_text("x")
    with pytest.raises(sf.DataError, match="opening"):
        does_opening_match("0" * 64, tmp_path / "opening", [tmp_path / "input"])
