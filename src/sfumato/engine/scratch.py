# SPDX-License-Identifier: MIT
"""A private folder for temporary files, removed at the end, and after a kill by the next process that needs one.

It lies in `SFUMATO_SCRATCH`, or else where temporary files go, under a name that starts with `sfumato-scratch-`, and is
readable by its owner alone. A lock on a file in it, which the system releases when a process ends in any way, shows
whether it is still in use.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from sfumato.errors import DataError

PREFIX = "sfumato-scratch-"
_LOCK = "in-use"


@contextmanager
def open_scratch_folder() -> Iterator[Path]:
    """A new folder, locked; folders that killed processes left are removed first."""
    parent = Path(os.environ.get("SFUMATO_SCRATCH") or tempfile.gettempdir())
    try:
        sweep_scratch_folders(parent)
        folder, lock = _make_locked_folder(parent)
    except OSError as error:
        raise DataError(
            f"{parent}: no folder for temporary files can be made there ({error.strerror}); set SFUMATO_SCRATCH"
        ) from None
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _make_locked_folder(parent: Path) -> tuple[Path, TextIO]:
    """A folder and its lock; once more if another process swept it away before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))  # mode 0700
        with suppress(FileNotFoundError):
            lock = (folder / _LOCK).open("w")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (folder / _LOCK).exists():
                return folder, lock
            lock.close()


def explain_full_scratch(scratch: Path) -> DataError:
    """There is no room for temporary files."""
    return DataError(
        f"{scratch.parent}: the disk has no room left for temporary files; free some, or set SFUMATO_SCRATCH to a "
        "folder on another disk. Nothing was published"
    )


def sweep_scratch_folders(parent: Path) -> None:
    """Remove our folders that no process holds any more."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # someone else's, in use, or just removed
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
