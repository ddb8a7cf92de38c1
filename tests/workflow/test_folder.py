# SPDX-License-Identifier: MIT
"""Release folders: staged aside, checked, moved into place at once, swept up afterwards, and nobody's file lost."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import signal
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.workflow import folder
from sfumato.workflow.folder import ReservedTarget, StagingFolder, reserve_target
from sfumato.workflow.folders import folder_lock, leftovers, publication
from sfumato.workflow.folders.leftovers import sweep_workspaces
from sfumato.workflow.folders.manifest import Manifest, hash_file
from sfumato.workflow.signing.signature import load_signing_key


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals are signed, so a run has a signing key before it publishes."""
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path_factory.mktemp("home")))
    load_signing_key()


def fill(staging: StagingFolder, text: str = "new") -> None:
    (staging.release / "data.csv").write_text(text)
    files = {"data.csv": hash_file(staging.release / "data.csv")}
    (staging.release / "certificate.json").write_text(json.dumps({"files": files}))
    (staging.private / "record.json").write_text(text)


def make(out: Path, text: str = "new", **more: str) -> tuple[str, ...]:
    """Publish a release; `more` are further files of `private/`."""
    with reserve_target(out) as target, target.stage_folders() as staging:
        fill(staging, text)
        for name, content in more.items():
            (staging.private / f"{name}.key.json").write_text(content)
        return target.publish()


def refuse(out: Path, text: str = "no") -> None:
    """Publish a refusal, as the pipeline does."""
    with reserve_target(out) as target, target.stage_folders() as staging:
        (staging.private / "record.json").write_text(text)
        (staging.private / "x.key.json").write_text(text)
        staging.release.rmdir()
        staging.private.rename(staging.root / "refused")
        target.publish()


def strays(folder: Path) -> list[Path]:
    return list(folder.rglob(".sfumato-*"))


def belongs_together(out: Path) -> bool:
    certificate = hash_file(out / "release" / "certificate.json")
    text = (out / "release" / "data.csv").read_text()
    return (
        Manifest.read(out / "private").certificate == certificate
        and (out / "private" / "record.json").read_text() == text
    )


@pytest.fixture(params=["exchanged", "in parts", "by renaming"])
def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The three ways into place: one step; part by part; part by part where the system cannot exchange."""
    if request.param == "in parts":
        monkeypatch.setattr(folder, "can_exchange", lambda *_: False)
    if request.param == "by renaming":
        monkeypatch.setattr(publication, "_exchange_folders", lambda *_: False)
    return str(request.param)


def test_published_at_once(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with reserve_target(out) as target, target.stage_folders() as staging:
        fill(staging)
        assert not out.exists()
        target.publish()
        assert (out / "release" / "data.csv").read_text() == "new"
    assert belongs_together(out)
    assert not strays(tmp_path)


def test_staging_is_for_the_owner_alone(tmp_path: Path) -> None:
    with reserve_target(tmp_path / "out") as target, target.stage_folders() as staging:
        for path in (staging.root.parent, staging.root, staging.private):
            assert path.stat().st_mode & 0o077 == 0
        (staging.private / "x").write_text("secret")
        assert (staging.private / "x").stat().st_mode & 0o077 == 0, "from the moment of creation"


def test_staging_names_are_random(tmp_path: Path) -> None:
    names = []
    for _ in range(2):
        with reserve_target(tmp_path / "out") as target, target.stage_folders() as staging:
            names.append(staging.root.parent.name)
    assert names[0] != names[1]
    assert not any(str(os.getpid()) == name.rsplit("-", 1)[-1] for name in names)


def test_over_an_earlier_release(tmp_path: Path, route: str) -> None:
    out = tmp_path / "out"
    make(out, "old")
    make(out, "new")
    assert (out / "release" / "data.csv").read_text() == "new"
    assert belongs_together(out)
    assert sorted(path.name for path in out.iterdir()) == ["private", "release"]
    assert sorted(path.name for path in (out / "private").iterdir()) == ["manifest.json", "record.json"]
    assert not strays(tmp_path)


@pytest.mark.parametrize("had_release", [False, True])
def test_beside_files_of_others(tmp_path: Path, had_release: bool, route: str) -> None:
    out = tmp_path / "out"
    if had_release:
        make(out, "old")
    out.mkdir(exist_ok=True)
    (out / "notes.txt").write_text("mine")
    (out / "link").symlink_to("nowhere")
    inode = (out / "notes.txt").stat().st_ino
    make(out, "new")
    assert (out / "release" / "data.csv").read_text() == "new"
    assert belongs_together(out)
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "notes.txt").stat().st_ino == inode, "the same file, not a copy"
    assert (out / "notes.txt").stat().st_nlink == 1
    assert (out / "link").readlink() == Path("nowhere")
    assert not strays(tmp_path)


def test_a_folder_of_others_is_not_moved(tmp_path: Path) -> None:
    """Someone may stand in it."""
    out = tmp_path / "out"
    make(out, "old")
    (out / "folder").mkdir()
    (out / "folder" / "x").write_text("mine")
    inode = (out / "folder").stat().st_ino
    make(out, "new")
    assert (out / "folder").stat().st_ino == inode
    assert (out / "folder" / "x").read_text() == "mine"
    assert belongs_together(out)


def test_the_folder_one_stands_in_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    make(out, "old")
    monkeypatch.chdir(out)
    make(Path(), "new")
    assert sorted(os.listdir()) == ["private", "release"]  # noqa: PTH208
    assert Path("release/data.csv").read_text() == "new"


def test_files_of_others_in_private_are_kept(tmp_path: Path, route: str) -> None:
    """A memory key was lost here, and people were asked anew."""
    out = tmp_path / "out"
    (out / "private" / "deep" / "er").mkdir(parents=True)
    memory, target = out / "private" / "answers.key.json", tmp_path / "elsewhere"
    target.write_text("afar")
    memory.write_text("memory")
    (out / "private" / "deep" / "er" / "x").write_text("deep")
    (out / "private" / "link").symlink_to(target)
    inode = memory.stat().st_ino
    for text in ("one", "two", "three"):
        make(out, text)
        assert belongs_together(out)
        assert memory.read_text() == "memory"
        assert memory.stat().st_ino == inode
        assert (out / "private" / "deep" / "er" / "x").read_text() == "deep"
        assert (out / "private" / "link").is_symlink()
        assert target.read_text() == "afar"
    assert not strays(tmp_path)


def test_a_memory_key_is_there_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after the one step, under its name."""
    out = tmp_path / "out"
    make(out, "old")
    (out / "private" / "answers.key.json").write_text("memory")
    key_flags = []
    swap = publication._exchange_folders

    def look(new: Path, old: Path) -> bool:
        key_flags.append((out / "private" / "answers.key.json").exists())
        swap_result = swap(new, old)
        key_flags.append((out / "private" / "answers.key.json").exists())
        return swap_result

    monkeypatch.setattr(publication, "_exchange_folders", look)
    make(out, "new")
    assert len(key_flags) >= 4
    assert all(key_flags)


def test_keys_are_never_overwritten(tmp_path: Path, route: str) -> None:
    out = tmp_path / "out"
    assert make(out, "1", encode="first") == ()
    certificate = hash_file(out / "release" / "certificate.json")
    messages = make(out, "2", encode="second")
    assert messages == ("private/encode.key.json of an earlier run was kept as private/encode.1.key.json",)
    make(out, "3", encode="third")
    make(out, "4")
    private = out / "private"
    key_texts = {path.name: path.read_text() for path in private.glob("*.key.json")}
    assert key_texts == {"encode.1.key.json": "first", "encode.2.key.json": "second", "encode.key.json": "third"}
    assert Manifest.read(private).kept["encode.1.key.json"] == certificate, "which release it opens"
    assert not strays(tmp_path)


def test_what_a_user_changed_is_kept(tmp_path: Path, route: str) -> None:
    """Only a file that is byte for byte a run's is replaced; without a list of them, none is."""
    out = tmp_path / "out"
    make(out, "old")
    (out / "private" / "record.json").write_text("my remarks")
    messages = make(out, "new")
    assert (out / "private" / "record.1.json").read_text() == "my remarks"
    assert "record.1.json" in messages[0]
    (out / "private" / "manifest.json").write_text("{}")
    make(out, "newer")
    assert (out / "private" / "record.2.json").read_text() == "new"
    assert (out / "private" / "manifest.1.json").read_text() == "{}"
    assert belongs_together(out)


def test_a_refusal_beside_a_release(tmp_path: Path, route: str) -> None:
    out = tmp_path / "out"
    make(out, "old")
    refuse(out)
    (out / "refused" / "notes").write_text("mine")
    refuse(out, "again")
    assert belongs_together(out)
    refusal_folder = out / "refused"
    assert (refusal_folder / "record.json").read_text() == "again"
    assert (refusal_folder / "x.1.key.json").read_text() == "no"
    assert (refusal_folder / "notes").read_text() == "mine"
    assert not strays(tmp_path)
    make(out, "new")
    assert belongs_together(out)
    assert sorted(path.name for path in refusal_folder.iterdir()) == ["notes", "x.1.key.json", "x.key.json"]
    assert not strays(tmp_path)


def test_a_refusal_goes_when_a_release_comes(tmp_path: Path, route: str) -> None:
    out = tmp_path / "out"
    refuse(out)
    (out / "refused" / "x.key.json").unlink()
    make(out)
    assert not (out / "refused").exists()


@pytest.mark.parametrize("name", ["notes.txt", "folder", "link"])
def test_foreign_files_in_release_are_refused(tmp_path: Path, name: str) -> None:
    """Carried over they would leave with the data; removed they would be lost."""
    out = tmp_path / "out"
    make(out, "old")
    path = out / "release" / name
    if name == "notes.txt":
        path.touch()
    elif name == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path)
    with pytest.raises(DataError, match=name):
        make(out, "new")
    assert os.path.lexists(path)
    assert belongs_together(out)
    assert not strays(tmp_path)


@pytest.mark.parametrize(("count", "words"), [(1, "did not make 1 file there"), (3, "did not make 3 files there")])
def test_foreign_files_are_counted(tmp_path: Path, count: int, words: str) -> None:
    """It said "1 of the files there were not made by sfumato"."""
    make(tmp_path / "out", "old")
    for number in range(count):
        (tmp_path / "out" / "release" / f"{number}.txt").touch()
    with pytest.raises(DataError, match=rf"release: sfumato {words} \('0\.txt' first\); move what is yours elsewhere"):
        make(tmp_path / "out", "new")


@pytest.mark.parametrize("part", ["release", "private", "refused"])
def test_links_in_place_of_folders_are_refused(tmp_path: Path, part: str) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "x").write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    (out / part).symlink_to(tmp_path / "precious")
    with pytest.raises(DataError, match=part):
        make(out)
    assert (out / part).is_symlink()
    assert (tmp_path / "precious" / "x").read_text() == "mine"
    assert not strays(tmp_path)


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    make(tmp_path / "out")
    assert (tmp_path / "out" / "release").is_dir()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, DataError])
def test_a_failure_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    out = tmp_path / "deep" / "er" / "out"
    with pytest.raises(error), reserve_target(out) as target, target.stage_folders() as staging:
        fill(staging)
        raise error
    assert not list(tmp_path.iterdir())


def test_a_disk_fault_is_told(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="No space left"),
        reserve_target(tmp_path / "out") as target,
        target.stage_folders(),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not list(tmp_path.iterdir())


def test_the_earlier_release_outlives_a_failure(tmp_path: Path) -> None:
    out = tmp_path / "out"
    make(out, "old")
    with pytest.raises(ValueError, match="x"), reserve_target(out) as target, target.stage_folders() as staging:
        fill(staging)
        raise ValueError("x")
    assert (out / "release" / "data.csv").read_text() == "old"


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(DataError, match="out"):
        make(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"
    assert not strays(tmp_path)


@pytest.mark.parametrize("change", ["data", "certificate", "more", "less", "link"])
def test_files_that_do_not_belong_together_are_not_published(tmp_path: Path, change: str) -> None:
    """One run's certificate over another's data was published here, and passed."""
    out = tmp_path / "out"
    make(out, "old")
    with pytest.raises(DataError, match="certified"), reserve_target(out) as target, target.stage_folders() as staging:
        fill(staging)
        data, certificate = staging.release / "data.csv", staging.release / "certificate.json"
        if change == "data":
            data.write_text("another run's")
        if change == "certificate":
            certificate.unlink()
        if change == "more":
            (staging.release / "x").touch()
        if change in ("less", "link"):
            data.rename(tmp_path / "data")
        if change == "link":
            data.symlink_to(tmp_path / "data")
        target.publish()
    assert (out / "release" / "data.csv").read_text() == "old"
    assert belongs_together(out)
    assert not strays(tmp_path)


def test_one_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_lock.FolderLock.wait, "__defaults__", (0.3,))
    out = tmp_path / "out"
    with reserve_target(out) as target, target.stage_folders() as staging:
        fill(staging, "first")
        with pytest.raises(DataError, match="another run is writing"):
            make(out, "second")
        assert staging.private.is_dir(), "the second run swept nothing away"
        make(tmp_path / "other")
        assert staging.private.is_dir(), "nor did one into a folder beside it"
        target.publish()
    assert (out / "release" / "data.csv").read_text() == "first"
    make(out, "second")
    assert (out / "release" / "data.csv").read_text() == "second"
    assert not strays(tmp_path)


def test_a_second_run_waits_for_the_first(tmp_path: Path) -> None:
    out, start_event, steps = tmp_path / "out", threading.Event(), []

    def second() -> None:
        start_event.set()
        make(out, "second")
        steps.append("second")

    with reserve_target(out) as target, target.stage_folders() as staging:
        thread = threading.Thread(target=second)
        thread.start()
        start_event.wait()
        fill(staging, "first")
        target.publish()
        steps.append("first")
    thread.join()
    assert steps == ["first", "second"]
    assert (out / "release" / "data.csv").read_text() == "second"
    assert belongs_together(out)
    assert not strays(tmp_path)


def test_the_lock_meets_runs_that_see_the_folder_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have the target itself as a mount, and its lock file in there: the folder is locked, too."""
    monkeypatch.setattr(folder_lock.FolderLock.wait, "__defaults__", (0.3,))
    out = tmp_path / "out"
    out.mkdir()
    handle = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(DataError, match="another run"):
            make(out)
    finally:
        os.close(handle)
    make(out)


def test_sweeping(tmp_path: Path) -> None:
    """What dead runs left goes; what a living run writes, and what only looks alike, stays."""
    kept_paths = [
        tmp_path / ".sfumato-notes",
        tmp_path / "sfumato-partial-1",
        tmp_path / f".sfumato-partial-{os.getpid()}",
    ]
    for path in kept_paths:
        path.mkdir()
    dead = [ReservedTarget(tmp_path / name) for name in ("out", "other")]
    for target in dead:
        target.open()
        die(target)
    with reserve_target(tmp_path / "living") as living, living.stage_folders() as staging:
        make(tmp_path / "out")
        assert staging.root.is_dir()
        assert len(strays(tmp_path)) == 4  # the two alike, a lock and a folder of the living
    make(tmp_path / "other")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted([*(path.name for path in kept_paths), "out", "other"])


def test_a_leftover_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    (tmp_path / "in").mkdir()
    out = tmp_path / "in" / "out"
    (tmp_path / "in" / f".sfumato-partial-{leftovers.digest_target(out, out.parent)}-{'0' * 32}").symlink_to(precious)
    make(out)
    assert (precious / "file").read_text() == "mine"


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it is carried out."""


def stop_before(step: int, patch: pytest.MonkeyPatch) -> None:
    """Let everything that moves or links something happen so many times, and then nothing more."""
    rename, swap, link = Path.rename, publication._exchange_folders, os.link
    remaining_steps = step

    def count() -> None:
        nonlocal remaining_steps
        remaining_steps -= 1
        if remaining_steps < 0:
            raise Killed

    def counted_rename(self: Path, target: Path) -> Path:
        count()
        return rename(self, target)

    def counted_swap(new: Path, old: Path) -> bool:
        count()
        return swap(new, old)

    def counted_link(path: Path, target: Path, *, follow_symlinks: bool = True) -> None:
        count()
        link(path, target, follow_symlinks=follow_symlinks)

    patch.setattr(Path, "rename", counted_rename)
    patch.setattr(publication, "_exchange_folders", counted_swap)
    patch.setattr(os, "link", counted_link)


def publish_and_die(out: Path, text: str, step: int, patch: pytest.MonkeyPatch) -> bool:
    """A run that is killed before a certain step of its publication; whether it got to the end."""
    target = ReservedTarget(out)
    target.open()
    try:
        with target.stage_folders() as staging:
            fill(staging, text)
            stop_before(step, patch)
            target.publish()
            return True
    except Killed:
        return False
    finally:
        die(target)


def die(target: ReservedTarget) -> None:
    """What the kernel does when the owner of a lock is killed."""
    assert target._lock
    for handle in (target._lock._handle, target._lock._folder_handle):
        if handle is not None:
            os.close(handle)
    target._stack.close()


@pytest.mark.parametrize("cleaner", ["run", "sweep"])
def test_stopped_before_every_move(tmp_path: Path, route: str, cleaner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At no step is one run's release beside another's record, and the next start finishes or undoes."""
    out = tmp_path / "out"
    make(out, "old")
    (out / "private" / "answers.key.json").write_text("memory")
    (out / "notes").write_text("mine")
    step, ended = 0, False
    while not ended:
        with monkeypatch.context() as patch:
            ended = publish_and_die(out, f"new {step}", step, patch)
        is_complete = (out / "release" / "data.csv").exists() and (out / "private" / "record.json").exists()
        assert not is_complete or belongs_together(out)
        assert is_complete or route != "exchanged", "one step has no moment without a release"
        if cleaner == "sweep":
            for parent in (tmp_path, out):
                sweep_workspaces(parent)
        else:
            make(out, f"after {step}")
            assert not strays(tmp_path)
        assert belongs_together(out)
        assert (out / "private" / "answers.key.json").read_text() == "memory"
        assert (out / "notes").read_text() == "mine"
        step += 1
    assert step >= 5
    make(out, "last")
    assert not strays(tmp_path)
    assert (out / "private" / "answers.key.json").stat().st_nlink == 1


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o027, 0o077, 0o000])
def test_modes_follow_the_mask(tmp_path: Path, mask: int) -> None:
    out = tmp_path / "deep" / "out"
    old_mask = os.umask(mask)
    try:
        make(out, encode="secret")
        assert os.umask(mask) == mask, "the mask is the user's again"
    finally:
        os.umask(old_mask)
    for path in (out.parent, out, out / "release"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o777 & ~mask, path
    for path in (out / "release").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask, path
    assert stat.S_IMODE((out / "private").stat().st_mode) == 0o700
    for path in (out / "private").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.parametrize("mode", [0o700, 0o770, 0o750, 0o2775, 0o1777])
def test_an_existing_folder_keeps_its_mode(tmp_path: Path, mode: int, route: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(mode)
    for text in ("old", "new"):
        make(out, text)
        assert stat.S_IMODE(out.stat().st_mode) == mode
    assert stat.S_IMODE((out / "private").stat().st_mode) & 0o777 == 0o700


def look(out: Path) -> bool | None:
    """Whether a reader finds a release with its own record; None if it was exchanged while they read."""
    before = out.stat()
    try:
        whole = belongs_together(out)
    except FileNotFoundError:
        whole = False
    after = out.stat()
    return whole if (before.st_ino, before.st_ctime_ns) == (after.st_ino, after.st_ctime_ns) else None


def test_a_reader_never_finds_half_a_publication(tmp_path: Path) -> None:
    out, stop_event = tmp_path / "out", threading.Event()
    make(out, "0")
    (out / "notes").write_text("mine")
    observations: list[bool | None] = []

    def read() -> None:
        while not stop_event.is_set():
            observations.append(look(out))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(1, 9):
            make(out, str(number))
    finally:
        stop_event.set()
        reader.join()
    assert False not in observations
    assert observations.count(True) > 8


def test_a_signal_waits_for_the_publication(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    make(out, "old")
    move, old_handler = publication.install_folder, signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupted(*args: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        move(*args)

    monkeypatch.setattr(folder, "install_folder", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            make(out, "new")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, old_handler)
    assert (out / "release" / "data.csv").read_text() == "new"
    assert belongs_together(out)
    assert not strays(tmp_path)


def test_checksum(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert hash_file(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def _hostile(parent_folder: Path, target: str, victim: Path, journal: dict[str, object]) -> Path:
    """A hidden folder as a delivery or a repository might bring it, with links to the reader's own files."""
    digest = hashlib.sha256(target.encode()).hexdigest()[:16]
    root = parent_folder / f".sfumato-partial-{digest}-{'a' * 32}"
    root.mkdir(mode=0o700)
    for name in ("new", "old"):
        (root / name).symlink_to(victim)
    (root / "journal.json").write_text(json.dumps(journal))
    return root


@pytest.mark.parametrize("is_inside", [True, False])
@pytest.mark.parametrize("seal", [None, "AAAA", "A" * 88])
def test_a_hidden_folder_that_is_not_our_own_moves_nothing(tmp_path: Path, is_inside: bool, seal: str | None) -> None:
    """Neither `verify` nor a run follows a journal that the custodian's key did not sign."""
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.mkdir()
    (victim / "diary.txt").write_text("mine")
    (out / "release").mkdir(parents=True)
    journal: dict[str, object] = {"target": "" if is_inside else "out", "run": "x", "certificate": None, "whole": False}
    journal |= {} if seal is None else {"seal": seal}
    _hostile(out if is_inside else tmp_path, "" if is_inside else "out", victim, journal)
    old_paths = sorted(path for path in tmp_path.rglob("*"))
    for parent in (tmp_path, out):
        sweep_workspaces(parent)
    sf.verify(out)
    assert sorted(path for path in tmp_path.rglob("*")) == old_paths
    if not is_inside:
        with pytest.raises(sf.DataError, match="signing key did not write that"), reserve_target(out):
            pass
    assert (victim / "diary.txt").read_text() == "mine"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no file system here that holds no files of ours")
def test_a_folder_that_holds_no_files_is_refused() -> None:
    """Making a folder there fails as if it were missing, however often it is tried."""
    with (
        pytest.raises(DataError, match="/proc/nowhere: the release cannot be written there"),
        reserve_target(Path("/proc/nowhere")),
    ):
        raise AssertionError("nothing can be written there")


def test_a_target_in_a_folder_that_is_gone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    current = tmp_path / "gone"
    current.mkdir()
    monkeypatch.chdir(current)
    current.rmdir()
    with (
        pytest.raises(DataError, match="out: the current folder no longer exists; change"),
        reserve_target(Path("out")),
    ):
        raise AssertionError("nothing can be written there")
    monkeypatch.chdir(tmp_path)


def test_verify_says_that_a_run_was_refused(tmp_path: Path) -> None:
    table = sf.Table.of({"age": [1, 2, 3], "ill": ["a", "b", "c"]}, {"age": "quasi_identifying", "ill": "sensitive"})
    method = sf.Partition(models=[sf.KAnonymity(k=1)])
    run = sf.run(table, method, out=tmp_path / "out", gate={"max_record_risk": 0.1})
    assert not run.published
    assert "a run into this folder was refused, so nothing was released" in str(sf.verify(tmp_path / "out").problems)
