# SPDX-License-Identifier: MIT
"""One run at a time writes to a target: a lock that ends with its owner, whatever its process number is.

The kernel holds the lock (`flock`) and releases it when the owner ends in any way, so it works between containers
that share a folder and not their process numbers. The lock file is hidden, lies next to the target and is removed by
its owner; a killed owner leaves an unlocked file that the next run takes and removes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import DataError
from sfumato.runtime.interrupts import hold_signals
from sfumato.runtime.progress import report_progress

WAIT_SECONDS = 10.0
_PAUSE_SECONDS = 0.1


class FolderLock:
    """An exclusive lock on a file that exists only while a process holds or wants it."""

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        """A lock file, and the target: its own lock meets a run that sees it as another mount, next to another file."""
        self.path = path
        self._folder = folder
        self._handle: int | None = None
        self._folder_handle: int | None = None

    def take(self) -> bool:
        """Take the lock if it is free."""
        with hold_signals():
            handle = self._open()
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The previous owner may have removed the file: then nobody else can open the locked one.
                if self._is_current(handle):
                    self._handle, handle = handle, -1
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
            finally:
                if handle >= 0:
                    os.close(handle)
            if self._handle is not None and not self._take_folder():
                self.release()
        return self._handle is not None

    def _take_folder(self) -> bool:
        if self._folder is None or not self._folder.is_dir():
            return True
        with suppress(OSError):  # unreadable, or no locks on folders (NFS): the lock file must suffice
            handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._folder_handle = handle
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def wait(self, target: Path, seconds: float = WAIT_SECONDS) -> None:
        """Take the lock, waiting a short while for another run to end."""
        deadline = time.monotonic() + seconds
        while not self.take():
            if time.monotonic() > deadline:
                raise DataError(
                    f"{target}: another run is writing to this folder; "
                    "wait until it has ended, or choose another folder (--out)"
                )
            report_progress("waiting for another run into the same folder")
            time.sleep(_PAUSE_SECONDS)

    def release(self) -> None:
        """Release the lock and remove the file: a waiting process notices."""
        handle, self._handle = self._handle, None
        folder, self._folder_handle = self._folder_handle, None
        if folder is not None:
            os.close(folder)
        if handle is None:
            return
        with suppress(OSError):
            self.path.unlink()
        os.close(handle)

    def _open(self) -> int:
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT | flags, 0o644)
        except PermissionError:
            if not self.path.exists():
                raise
            return os.open(self.path, os.O_RDONLY | flags)  # another user's lock file: locking needs no writing

    def _is_current(self, handle: int) -> bool:
        try:
            path_status = self.path.lstat()
        except FileNotFoundError:
            return False
        handle_status = os.fstat(handle)
        return (handle_status.st_dev, handle_status.st_ino) == (path_status.st_dev, path_status.st_ino)


class MountedFolder(NamedTuple):
    """The file system that a folder is on."""

    device: int
    mount: str


def find_mount(folder: Path) -> MountedFolder:
    """The mounted file system of a folder: renaming works only within one, bind mounts of one disk included."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_PATH", 0))
    try:
        device, mount = os.fstat(handle).st_dev, ""
        with suppress(OSError):
            mount_text = Path(f"/proc/self/fdinfo/{handle}").read_text()
            mount = next((line for line in mount_text.splitlines() if line.startswith("mnt_id")), "")
        return MountedFolder(device, mount)
    finally:
        os.close(handle)
