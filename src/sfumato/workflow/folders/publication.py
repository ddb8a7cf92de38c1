# SPDX-License-Identifier: MIT
"""Publish a staged release: in one step if the system allows it, otherwise in steps that can be resumed.

A workspace is the hidden folder of one run. `new/` in it is what will be published, `old/` what was moved out of the
way, `journal.json` says that publication has begun. The whole target is exchanged with `new/` in one step, after the
user's own files in it were linked over. Where that is impossible (the target is a mount point, holds folders of the
user, or is the working folder), the parts are moved one by one, the private part first, so that no release ever lies
next to another run's record. The next run into the target finishes a run that died in between.

A hidden folder that came with a delivery, or with a repository, could name any files to be moved. So a journal counts
only if the custodian's own key signed it, for this very folder; and links are never followed.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature

from sfumato.errors import DataError
from sfumato.workflow.folders.folder_lock import find_mount
from sfumato.workflow.folders.manifest import (
    CERTIFICATE,
    Manifest,
    copy_previous_files,
    find_free_name,
    hash_file,
    link_file,
    list_foreign_files,
)
from sfumato.workflow.signing.signature import load_signing_key

PARTS = ("release", "private", "refused")
_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True)
class PublicationWorkspace:
    """The hidden folder of one run."""

    root: Path

    @property
    def new(self) -> Path:
        """What will be published; once it is, what was there before."""
        return self.root / "new"

    @property
    def old(self) -> Path:
        """What was moved out of the way."""
        return self.root / "old"

    @property
    def journal(self) -> Path:
        """Records that publication has started, and of what."""
        return self.root / "journal.json"


class ForeignJournal(Exception):
    """A hidden folder has a journal that this custodian did not sign."""


def _is_folder(path: Path) -> bool:
    """Whether this is a folder, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


@dataclass(frozen=True)
class PublicationJournal:
    """What is being published where: enough to finish it without the run that started it."""

    target: str
    """The name of the target in the folder of the workspace; empty if the workspace lies in the target."""
    run: str
    certificate: str | None
    whole: bool
    """Whether the whole target is exchanged, or its parts one by one."""

    @classmethod
    def read(cls, workspace: PublicationWorkspace) -> PublicationJournal | None:
        """The journal of a workspace; None if publication had not started, `ForeignJournal` if another key signed."""
        try:
            if not os.path.lexists(workspace.journal):
                return None
            if not _is_folder(workspace.root) or workspace.journal.is_symlink():
                raise ForeignJournal
            content = json.loads(workspace.journal.read_bytes())
            seal = base64.b64decode(content.pop("seal"), validate=True)
            journal = cls(**content)
            load_signing_key().public_key().verify(seal, journal._build_message(workspace))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidSignature, DataError):
            raise ForeignJournal from None
        texts = isinstance(journal.target, str) and isinstance(journal.run, str) and journal.run
        plain = texts and journal.target not in (".", "..") and Path(journal.target).name == journal.target
        if not plain:
            raise ForeignJournal
        return journal

    def _build_message(self, workspace: PublicationWorkspace) -> bytes:
        """The signed bytes: the journal and its folder, so that a copy elsewhere is invalid."""
        folder = [workspace.root.name, workspace.root.lstat().st_ino]
        return b"sfumato journal\0" + json.dumps([vars(self), folder], sort_keys=True).encode()

    def write(self, workspace: PublicationWorkspace) -> None:
        """Write and flush it before anything is moved."""
        partial = workspace.root / "journal.partial"
        seal = base64.b64encode(load_signing_key().sign(self._build_message(workspace))).decode()
        with partial.open("w", encoding="utf-8") as file:
            json.dump({**vars(self), "seal": seal}, file)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(workspace.journal)
        flush_folder(workspace.root)


def can_exchange(out: Path, workspace: PublicationWorkspace) -> bool:
    """Whether the whole target can be exchanged; if so, the user's own files are linked into the new one."""
    if (
        workspace.root.parent == out
        or find_mount(out) != find_mount(out.parent)
        or _works_inside(out)
        or not _is_ours(out)
    ):
        return False
    foreign = [path for path in out.iterdir() if path.name not in PARTS]
    if any(stat.S_ISDIR(path.lstat().st_mode) for path in foreign) or not _can_exchange_folders(workspace):
        return False
    try:
        for path in foreign:
            link_file(path, workspace.new / path.name, copy=False)
        shutil.copystat(out, workspace.new)
        facts = out.stat()
        if (facts.st_uid, facts.st_gid) != (workspace.new.stat().st_uid, workspace.new.stat().st_gid):
            os.chown(workspace.new, facts.st_uid, facts.st_gid)
            workspace.new.chmod(stat.S_IMODE(facts.st_mode))
    except OSError:
        for path in foreign:
            (workspace.new / path.name).unlink(missing_ok=True)
        return False
    return True


def _is_ours(out: Path) -> bool:
    """Whether the system lets us move the target itself: not in a sticky folder (/tmp) if it is another user's."""
    parent, user = out.parent.stat(), os.geteuid()
    owners = (0, out.stat().st_uid, parent.st_uid)  # the superuser may
    return os.access(out, os.W_OK) and (not parent.st_mode & stat.S_ISVTX or user in owners)


def _works_inside(out: Path) -> bool:
    """Whether the target is the working folder, which must not be exchanged."""
    try:
        return Path.cwd().resolve().is_relative_to(out)
    except OSError:
        return False


def _can_exchange_folders(workspace: PublicationWorkspace) -> bool:
    """Try an exchange on two empty folders."""
    first, other = workspace.root / "probe-1", workspace.root / "probe-2"
    first.mkdir()
    other.mkdir()
    try:
        return _exchange_folders(first, other)
    finally:
        first.rmdir()
        other.rmdir()


def _exchange_folders(new: Path, old: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return bool(renameat2 and renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _EXCHANGE) == 0)


def install_folder(workspace: PublicationWorkspace, journal: PublicationJournal, out: Path) -> None:
    """Move the new parts into place, from wherever it was interrupted."""
    if journal.whole:
        if not _is_published(out, journal) and not _exchange_folders(workspace.new, out):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return
    workspace.old.mkdir(mode=0o700, exist_ok=True)
    private, release = workspace.new / "private", workspace.new / "release"
    if journal.certificate is None:
        if _belongs_to_run(workspace.new / "refused", journal):
            _put_in_place(workspace.new / "refused", out / "refused", workspace.old)
        return
    if _belongs_to_run(private, journal):
        if os.path.lexists(out / "private"):
            (out / "private").rename(_find_free_path(workspace.old / "private"))
        if not _is_certified(out / "release", journal):
            _put_in_place(release, out / "release", workspace.old)
        private.rename(out / "private")


def _put_in_place(new: Path, target: Path, old: Path) -> None:
    if os.path.lexists(target):
        if _exchange_folders(new, target):
            return
        target.rename(_find_free_path(old / target.name))
    new.rename(target)


def _find_free_path(path: Path) -> Path:
    return find_free_name(path) if os.path.lexists(path) else path


def _belongs_to_run(folder: Path, journal: PublicationJournal) -> bool:
    return Manifest.read(folder).run == journal.run


def _is_certified(release: Path, journal: PublicationJournal) -> bool:
    path = release / CERTIFICATE
    return path.is_file() and hash_file(path) == journal.certificate


def _is_published(out: Path, journal: PublicationJournal) -> bool:
    part = "refused" if journal.certificate is None else "private"
    in_place = _belongs_to_run(out / part, journal)
    return in_place and (journal.certificate is None or _is_certified(out / "release", journal))


def has_moved(workspace: PublicationWorkspace, journal: PublicationJournal, out: Path) -> bool:
    """Whether anything of the target was moved yet."""
    moved_away = workspace.old.is_dir() and any(workspace.old.iterdir())
    return moved_away or (journal.certificate is not None and _is_certified(out / "release", journal))


def finish_publication(workspace: PublicationWorkspace, journal: PublicationJournal, out: Path) -> None:
    """Keep what a user just put into the old folders, remove an earlier refusal, flush."""
    for root in (workspace.new, workspace.old):
        if _is_folder(root):
            _rescue_user_files(root, out)
    if journal.certificate is not None:
        _clear_refusal(out / "refused")
    for folder in (out, *(out / part for part in PARTS), out.parent):
        with suppress(OSError):  # the parent may belong to another user
            flush_folder(folder)


def _rescue_user_files(root: Path, out: Path) -> None:
    for path in sorted(root.iterdir()):
        part = path.name.split(".")[0]
        if part in ("private", "refused") and _is_folder(path):
            copy_previous_files(path, out / part, Manifest.read(path))
        elif part == "release" and _is_folder(path):
            for name in list_foreign_files(path, Manifest.read(root / "private")):
                link_file(path / name, _find_free_path(out / "private" / name))
        elif not _is_same(path, out / path.name):  # it appeared, or was replaced, after the user's files were linked
            path.rename(_find_free_path(out / path.name))


def _is_same(path: Path, other: Path) -> bool:
    return os.path.lexists(other) and os.path.samestat(path.lstat(), other.lstat())


def _clear_refusal(refusal_folder: Path) -> None:
    """After publication, remove an earlier refusal, except keys and the user's files."""
    manifest = Manifest.read(refusal_folder)
    if not manifest.run or refusal_folder.is_symlink():
        return
    for path in [path for path in refusal_folder.iterdir() if manifest.is_own(path)]:
        path.unlink()
    with suppress(OSError):
        refusal_folder.rmdir()


def resume_publication(workspace: PublicationWorkspace, out: Path) -> None:
    """Finish an interrupted publication, or undo one that had not started; then remove the workspace.

    An exchange of the whole target happened or did not: one that did not is undone. Parts are always moved on, because
    all of them were staged, checked and flushed before the first was moved.
    """
    journal = PublicationJournal.read(workspace)
    if journal is not None:
        if not journal.whole:
            out.mkdir(exist_ok=True)
            install_folder(workspace, journal, out)
        if not journal.whole or _is_published(out, journal):
            finish_publication(workspace, journal, out)
    discard_workspace(workspace)


def discard_workspace(workspace: PublicationWorkspace) -> None:
    """Remove a workspace; links in it are removed, never followed."""
    shutil.rmtree(workspace.root, ignore_errors=True)


def flush_tree(root: Path) -> None:
    """Flush every file and folder below to disk."""
    for path in root.rglob("*"):
        mode = path.lstat().st_mode
        if stat.S_ISREG(mode):
            with path.open("rb") as file:
                os.fsync(file.fileno())
        elif stat.S_ISDIR(mode):
            flush_folder(path)
    flush_folder(root)


def flush_folder(path: Path) -> None:
    """Flush the names in a folder to disk."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def describe_os_error(error: OSError) -> str:
    """The reason of the operating system."""
    return str(error.strerror or "the system gives no reason")


def read_staged_certificate(release: Path) -> dict[str, Any]:
    """The staged certificate, as plain JSON; empty if there is none."""
    try:
        content = json.loads((release / CERTIFICATE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
