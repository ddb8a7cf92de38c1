# SPDX-License-Identifier: MIT
"""Release folders: staged aside, moved into place at once, swept up afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sfumato.errors import DataError
from sfumato.folder import Staging, publish, sha256, staged


def fill(staging: Staging, text: str = "new") -> None:
    (staging.release / "data.csv").write_text(text)
    (staging.private / "record.json").write_text(text)


def make(out: Path, text: str = "new") -> None:
    with staged(out) as staging:
        fill(staging, text)
        publish(staging, out)


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(".sfumato-partial-*"))


def test_published_at_once(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with staged(out) as staging:
        fill(staging)
        assert not out.exists()
        publish(staging, out)
        assert (out / "release" / "data.csv").read_text() == "new"
    assert not leftovers(tmp_path)
    assert (out / "private").stat().st_mode & 0o777 == 0o700


def test_staging_is_for_the_owner_alone(tmp_path: Path) -> None:
    with staged(tmp_path / "out") as staging:
        assert staging.root.stat().st_mode & 0o077 == 0
        assert staging.root.name.startswith(".sfumato-partial-")


def test_over_an_earlier_release(tmp_path: Path) -> None:
    out = tmp_path / "out"
    make(out, "old")
    make(out, "new")
    assert (out / "release" / "data.csv").read_text() == "new"
    assert (out / "private" / "record.json").read_text() == "new"
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("had_release", [False, True])
def test_beside_files_of_others(tmp_path: Path, had_release: bool) -> None:
    out = tmp_path / "out"
    if had_release:
        make(out, "old")
    out.mkdir(exist_ok=True)
    (out / "notes.txt").write_text("mine")
    (out / "folder").mkdir()
    make(out, "new")
    assert (out / "release" / "data.csv").read_text() == "new"
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "folder").is_dir()
    assert not leftovers(tmp_path)


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    make(tmp_path / "out")
    assert (tmp_path / "out" / "release").is_dir()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, DataError])
def test_a_failure_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    out = tmp_path / "out"
    with pytest.raises(error), staged(out) as staging:
        fill(staging)
        raise error
    assert not out.exists()
    assert not leftovers(tmp_path)


def test_a_disk_fault_is_told(tmp_path: Path) -> None:
    import errno

    with pytest.raises(DataError, match="No space left"), staged(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not leftovers(tmp_path)


def test_the_earlier_release_outlives_a_failure(tmp_path: Path) -> None:
    out = tmp_path / "out"
    make(out, "old")
    with pytest.raises(ValueError, match="x"), staged(out) as staging:
        fill(staging)
        raise ValueError("x")
    assert (out / "release" / "data.csv").read_text() == "old"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(DataError, match="out"):
        make(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"
    assert not leftovers(tmp_path)


def test_sweeping(tmp_path: Path) -> None:
    """What dead runs left goes; what a living run writes, and what only looks alike, stays."""
    for name in ("out-4194301", "out-4194301-old", "a-b-4194301"):
        (tmp_path / f".sfumato-partial-{name}").mkdir()
    kept = [
        tmp_path / f".sfumato-partial-other-{os.getppid()}",
        tmp_path / f".sfumato-partial-other-{os.getppid()}-old",
    ]
    kept += [tmp_path / ".sfumato-notes", tmp_path / "sfumato-partial-1"]
    for folder in kept:
        folder.mkdir()
    make(tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "out"])


def test_a_leftover_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / ".sfumato-partial-out-4194301").symlink_to(precious)
    make(tmp_path / "in" / "out")
    assert (precious / "file").read_text() == "mine"


def test_without_the_exchange_of_linux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere two moves do it."""
    import ctypes

    class Nothing:
        def __init__(self, *_: object, **__: object) -> None: ...

    monkeypatch.setattr(ctypes, "CDLL", Nothing)
    out = tmp_path / "out"
    make(out, "old")
    make(out, "new")
    assert (out / "release" / "data.csv").read_text() == "new"
    assert not leftovers(tmp_path)


def test_checksum(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
