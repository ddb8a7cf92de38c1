# SPDX-License-Identifier: MIT
"""What a killed run leaves next to its target: a hidden folder and a lock. The next run finishes or removes them.

The lock, not a process number or an age, shows whether a hidden folder is still in use.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path

from sfumato.errors import DataError
from sfumato.workflow.folders.folder_lock import FolderLock
from sfumato.workflow.folders.publication import (
    ForeignJournal,
    PublicationJournal,
    PublicationWorkspace,
    discard_workspace,
    resume_publication,
)

PARTIAL, LOCK = ".sfumato-partial-", ".sfumato-lock-"


def is_unfinished(folder: Path) -> bool:
    """Whether publication into a folder (or the parent of its `release/`) was interrupted.

    Nothing is changed: a check from outside must not move anything.
    """
    with suppress(OSError, RuntimeError):
        folder = folder.resolve()
        return any(
            os.path.lexists(path / "journal.json")
            for out in ((folder, folder.parent) if folder.name == "release" else (folder,))
            for parent in (out.parent, out)
            for path in parent.glob(f"{PARTIAL}*")
            if _belongs_to_target(path, digest_target(out, parent))
        )
    return False


def sweep_workspaces(parent: Path, held_lock: FolderLock | None = None) -> None:
    """Finish or remove what killed runs left in a folder; an active run holds its lock."""
    for path in sorted(parent.glob(f"{PARTIAL}*")):
        digest = path.name.removeprefix(PARTIAL).split("-")[0]
        if not _belongs_to_target(path, digest):
            continue
        lock = FolderLock(parent / f"{LOCK}{digest}")
        is_own = held_lock is not None and held_lock.path == lock.path
        try:
            if is_own or lock.take():
                _sweep_workspace(parent, digest, PublicationWorkspace(path))
        except OSError:
            continue  # another user's, or a read-only disk: the next run tries again
        except ForeignJournal:
            if is_own:
                raise DataError(
                    f"{path}: this hidden folder says that an unfinished release is to be moved into place, and your "
                    "signing key did not write that; look at it, then finish it with the SFUMATO_HOME that began it, "
                    "or remove it"
                ) from None
        finally:
            lock.release()
    for path in sorted(parent.glob(f"{LOCK}*")):  # a run was killed before it had a hidden folder
        lock = FolderLock(path)
        with suppress(OSError):
            if (held_lock is None or held_lock.path != path) and path.lstat().st_uid == os.geteuid():
                lock.take()
        lock.release()


def _sweep_workspace(parent: Path, digest: str, workspace: PublicationWorkspace) -> None:
    journal = PublicationJournal.read(workspace)
    if journal is None:
        discard_workspace(workspace)
        return
    out = parent / journal.target if journal.target else parent
    if digest_target(out, parent) == digest and not out.is_symlink():
        resume_publication(workspace, out)


def _belongs_to_target(path: Path, digest: str) -> bool:
    """Whether a hidden folder belongs to a run of this user for the target with that digest."""
    parts = path.name.removeprefix(PARTIAL).split("-")
    if len(parts) != 2 or parts[0] != digest or len(digest) != 16 or len(parts[1]) != 32:
        return False
    facts = path.lstat()
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()


def digest_target(out: Path, parent: Path) -> str:
    """A short name for a target, as seen from where its lock lies: the same in every container."""
    name = out.name if parent != out else ""
    return hashlib.sha256(os.fsencode(name)).hexdigest()[:16]
