# SPDX-License-Identifier: MIT
"""A release folder on disk: `release/` may be published, `private/` stays; written whole or not at all.

Everything is written into a hidden folder with a random name next to the target, flushed to disk, and moved into place
at the end. A run holds a lock on its target from beginning to end: a second run waits a few seconds and is then
refused. A killed run leaves the target as it was or as it should be; the next run finishes or cleans up. The lock, not
a process number or an age, shows whether a hidden folder is still in use.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import DataError, SfumatoError, count_noun
from sfumato.runtime.interrupts import hold_signals, record_completion
from sfumato.workflow.folders.folder_lock import FolderLock, find_mount
from sfumato.workflow.folders.leftovers import LOCK, PARTIAL, digest_target, sweep_workspaces
from sfumato.workflow.folders.manifest import (
    CERTIFICATE,
    KEY_SUFFIX,
    NAME,
    Manifest,
    copy_previous_files,
    hash_file,
    hash_files,
    list_foreign_files,
)
from sfumato.workflow.folders.publication import (
    PARTS,
    ForeignJournal,
    PublicationJournal,
    PublicationWorkspace,
    can_exchange,
    describe_os_error,
    discard_workspace,
    finish_publication,
    flush_folder,
    flush_tree,
    has_moved,
    install_folder,
    read_staged_certificate,
    resume_publication,
)

_DISK_FAULTS = {
    errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENAMETOOLONG, errno.ENOSPC, errno.EPERM,
    errno.EROFS,
}  # fmt: skip
_MOST_TRIES = 100
"""How often a folder is made again that other runs remove before a lock is in it."""


@dataclass(frozen=True)
class StagingFolder:
    """Where a run writes before anything is published."""

    root: Path

    @property
    def release(self) -> Path:
        """What may be published."""
        return self.root / "release"

    @property
    def private(self) -> Path:
        """What stays: readable by its owner alone."""
        return self.root / "private"


class ReservedTarget:
    """A target that one run has locked, and the hidden folder in which the run writes."""

    def __init__(self, target: Path) -> None:
        """Nothing is taken before `open`."""
        self.path = target
        self.out = target
        self.is_published = False
        self._made_folders: list[Path] = []
        self._lock: FolderLock | None = None
        self._workspace: PublicationWorkspace | None = None
        self._stack = ExitStack()

    def open(self) -> None:
        """Lock the target, finish an interrupted run, and make the hidden folder."""
        try:
            self.out = self.path.resolve()
            self._make_parents()
            if os.path.lexists(self.out) and not self.out.is_dir():
                raise DataError(f"{self.path}: this is a file, not a folder; choose another folder")
            parent = _choose_workspace_folder(self.out)
            self._lock = FolderLock(parent / f"{LOCK}{digest_target(self.out, parent)}", self.out)
            self._wait(self._lock)
            sweep_workspaces(parent, self._lock)
            _refuse_strange_parts(self.path, self.out)
            self._stack.enter_context(_MASK.narrow())
            with hold_signals():
                self._workspace = _make_workspace(parent, self.out)
        except (OSError, RuntimeError) as error:  # a RuntimeError is a symlink loop
            reason = describe_os_error(error) if isinstance(error, OSError) else "it is a symlink loop"
            raise DataError(f"{self.path}: the release cannot be written there ({reason})") from None

    def _make_parents(self) -> None:
        missing = [folder for folder in self.out.parents if not os.path.lexists(folder)]
        for folder in reversed(missing):
            with suppress(FileExistsError):
                folder.mkdir()
                self._made_folders.append(folder)

    def _wait(self, lock: FolderLock) -> None:
        for _ in range(_MOST_TRIES):
            with suppress(FileNotFoundError):  # a run that just failed removed the folder that it had made
                lock.wait(self.path)
                return
            self._make_parents()
        lock.wait(self.path)  # or no file can be made there, as in /proc

    @contextmanager
    def stage_folders(self) -> Iterator[StagingFolder]:
        """The folders to write to; a full disk becomes one sentence, and no error names the hidden folder."""
        assert self._workspace is not None, "the place is open"
        try:
            yield StagingFolder(self._workspace.new)
        except SfumatoError as error:
            error.args = tuple(self._name_target(part) if isinstance(part, str) else part for part in error.args)
            raise
        except OSError as error:
            if error.errno not in _DISK_FAULTS:
                raise
            reason = describe_os_error(error)
            raise DataError(
                f"{self.path}: the release could not be written ({reason}); nothing was published"
            ) from None

    def _name_target(self, message: str) -> str:
        """A message with the paths that files will have instead of those in the hidden folder, which goes away."""
        assert self._workspace is not None, "the place is open"
        for folder in (self._workspace.new, self._workspace.root):
            message = message.replace(str(folder), str(self.path))
        return message

    def publish(self) -> tuple[str, ...]:
        """Move what was staged into place; returns sentences about keys of earlier runs that got another name."""
        assert self._workspace is not None, "the place is open"
        self._stack.enter_context(hold_signals())  # until the hidden folder is gone
        workspace, out = self._workspace, self.out
        staging = StagingFolder(workspace.new)
        has_release = staging.release.is_dir()
        _refuse_mixed_files(self.path, staging)
        _refuse_strange_parts(self.path, out)
        part = "private" if has_release else "refused"
        try:
            self._set_modes(staging)
            flush_tree(workspace.new)
            manifest, new_names = _list_and_carry(workspace, out, part)
            journal = self._move(workspace, manifest)
        except OSError as error:
            reason = describe_os_error(error)
            raise DataError(
                f"{self.path}: the release could not be written ({reason}); nothing was published"
            ) from None
        self.is_published = True
        record_completion(
            f"the release was already published in {self.path}"
            if has_release
            else f"the refusal was already written to {self.path}; nothing was published"
        )
        with suppress(OSError):  # if it fails, the journal stays and the next run finishes
            finish_publication(workspace, journal, out)
            workspace.journal.unlink(missing_ok=True)
        return tuple(
            f"{part}/{old} of an earlier run was kept as {part}/{new}" for old, new in sorted(new_names.items())
        )

    def _move(self, workspace: PublicationWorkspace, manifest: Manifest) -> PublicationJournal:
        out = self.out
        name = out.name if workspace.root.parent != out else ""
        if not os.path.lexists(out):
            workspace.new.chmod(_compute_open_mode(workspace.new))
            workspace.new.rename(out)
            return PublicationJournal(name, manifest.run, manifest.certificate, whole=True)
        whole = manifest.certificate is not None and can_exchange(out, workspace)
        journal = PublicationJournal(name, manifest.run, manifest.certificate, whole)
        flush_folder(workspace.new)
        journal.write(workspace)
        try:
            install_folder(workspace, journal, out)
        except OSError as error:
            if not has_moved(workspace, journal, out):
                workspace.journal.unlink(missing_ok=True)
                raise
            raise DataError(
                f"{self.path}: publication stopped half-way ({describe_os_error(error)}); "
                "nothing is lost: fix that, and the next run into the folder finishes it"
            ) from None
        return journal

    def _set_modes(self, staging: StagingFolder) -> None:
        """Set modes: the user's mask (and group) for what may be published, owner only for what stays."""
        target = self.out.stat() if self.out.is_dir() else None
        for path in (staging.release, *staging.release.iterdir()) if staging.release.is_dir() else ():
            if target is not None and target.st_mode & stat.S_ISGID:
                with suppress(PermissionError):
                    os.chown(path, -1, target.st_gid)
            path.chmod(_compute_open_mode(path))
        for part in (staging.private, staging.root / "refused"):
            for path in part.iterdir() if part.is_dir() else ():
                path.chmod(0o600)

    def close(self) -> None:
        """Remove everything but the target, and release the lock."""
        if self._workspace is not None:
            if self._workspace.journal.exists():  # moving stopped half-way: try again, else leave it to the next run
                with suppress(OSError, ForeignJournal):
                    resume_publication(self._workspace, self.out)
            else:
                discard_workspace(self._workspace)
        if self._lock is not None:
            self._lock.release()
        for folder in reversed(self._made_folders if not self.is_published else []):
            with suppress(OSError):
                folder.rmdir()
        self._stack.close()  # the mask is the user's again, and signals that were held back arrive


@contextmanager
def reserve_target(out: Path) -> Iterator[ReservedTarget]:
    """Lock a target from reading to publishing; nothing stray is left, whatever happens."""
    target = ReservedTarget(_locate_target(out))
    try:
        target.open()
        yield target
    finally:
        with hold_signals():
            target.close()


def _locate_target(out: Path) -> Path:
    """The whole path of a target, which the current folder may begin."""
    try:
        return out.absolute()
    except FileNotFoundError:
        raise DataError(
            f"{out}: the current folder no longer exists; change to another one, or give the whole path of the target"
        ) from None


def _choose_workspace_folder(out: Path) -> Path:
    """Moving must stay on one file system: if `out` is a mount point, the hidden folder is inside it."""
    if out.is_dir() and (find_mount(out) != find_mount(out.parent) or not os.access(out.parent, os.W_OK | os.X_OK)):
        return out
    return out.parent


def _make_workspace(parent: Path, out: Path) -> PublicationWorkspace:
    workspace = PublicationWorkspace(parent / f"{PARTIAL}{digest_target(out, parent)}-{secrets.token_hex(16)}")
    for folder in (workspace.root, workspace.new, workspace.new / "release", workspace.new / "private"):
        folder.mkdir(mode=0o700)
    return workspace


def _refuse_strange_parts(target: Path, out: Path) -> None:
    """Refuse links, files and mount points in place of our folders, and foreign files in `release/`."""
    if not out.is_dir():
        return
    for part in PARTS:
        path = out / part
        if not os.path.lexists(path):
            continue
        if path.is_symlink() or not path.is_dir():
            raise DataError(
                f"{target / part}: this is a link or a file, not a folder that a run made; move it elsewhere"
            )
        if find_mount(path) != find_mount(out):
            raise DataError(f"{target / part}: this is a mount point; mount its parent folder instead")
    if foreign := list_foreign_files(out / "release", Manifest.read(out / "private")):
        raise DataError(
            f"{target / 'release'}: sfumato did not make {count_noun(len(foreign), 'file')} there "
            f"({foreign[0]!r} first); move what is yours elsewhere, since release/ holds only what may be published"
        )


def _refuse_mixed_files(target: Path, staging: StagingFolder) -> None:
    """The last check before publishing: the certificate covers exactly these files."""
    if not staging.release.is_dir():
        return
    files = read_staged_certificate(staging.release).get("files")
    staged_files = {path.name: path for path in staging.release.iterdir()}
    is_covered = isinstance(files, Mapping) and staged_files.keys() == {*files, CERTIFICATE}
    plain = all(stat.S_ISREG(path.lstat().st_mode) for path in staged_files.values())
    if (
        not is_covered
        or not plain
        or any(hash_file(staged_files[name]) != digest for name, digest in dict(files or {}).items())
    ):
        raise DataError(
            f"{target}: the files are no longer those that were certified, so nothing was published; "
            "does another program write to the hidden folders?"
        )


def _list_and_carry(workspace: PublicationWorkspace, out: Path, part: str) -> tuple[Manifest, dict[str, str]]:
    """List what this run made, then carry over the other files; returns the list and the names that changed."""
    staging, folder = StagingFolder(workspace.new), workspace.new / part
    file_digests = hash_files(folder)
    (folder / NAME).touch(mode=0o600)  # its name is taken: a user's file with that name is renamed
    release_digests = hash_files(staging.release) if staging.release.is_dir() else {}
    earlier = Manifest.read(out / part)
    new_names = copy_previous_files(out / part, folder, earlier)
    if release_digests:
        copy_previous_files(out / "refused", workspace.new / "refused", Manifest.read(out / "refused"))
    kept_digests = {name: digest for name, digest in earlier.kept.items() if (folder / name).is_file()}
    for name in (name for name in earlier.files if name.endswith(KEY_SUFFIX) and earlier.certificate):
        kept_digests[new_names.get(name, name)] = str(earlier.certificate)
    manifest = Manifest(
        secrets.token_hex(16), release_digests.get(CERTIFICATE), file_digests, tuple(release_digests), kept_digests
    )
    manifest.write(folder)
    flush_folder(folder)
    return manifest, new_names


def _compute_open_mode(path: Path) -> int:
    """The mode that the user's mask gives a new file or folder; a folder keeps the group it inherited."""
    mode = path.stat().st_mode
    return (0o777 if stat.S_ISDIR(mode) else 0o666) & ~_MASK.of_user | (mode & stat.S_ISGID)


class _UserMask:
    """The user's mask, and a narrow one while staging: nothing private is ever readable by others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self.of_user = 0o077

    @contextmanager
    def narrow(self) -> Iterator[None]:
        with self._lock:
            if not self._users:
                self.of_user = os.umask(0o077)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    os.umask(self.of_user)


_MASK = _UserMask()
