# SPDX-License-Identifier: MIT
"""A release folder on disk: `release/` may leave, `private/` stays; written whole or not at all.

Everything is written into a hidden folder beside the target, flushed to disk, and moved into place at the
end. A run that is killed leaves the target as it was; the next run sweeps the hidden folder away.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import DataError

_PARTIAL = ".sfumato-partial-"
_OURS = {"release", "private", "refused"}
_DISK_FAULTS = {
    errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENAMETOOLONG, errno.ENOSPC, errno.EPERM,
    errno.EROFS,
}  # fmt: skip
_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True)
class Staging:
    """Where a run writes before anything is published."""

    root: Path

    @property
    def release(self) -> Path:
        """What may leave."""
        return self.root / "release"

    @property
    def private(self) -> Path:
        """What stays: readable by its owner alone."""
        return self.root / "private"


@contextmanager
def staged(out: Path) -> Iterator[Staging]:
    """A hidden folder beside `out`, gone again whatever happens inside the block."""
    named = out.absolute()
    try:
        out = named.resolve()
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists() and not out.is_dir():
            raise DataError(f"{named}: a file lies where the release folder should be; choose another folder")
        # Moving must stay on one disk: where `out` is a disk of its own, the hidden folder lies inside.
        beside = out if out.exists() and out.stat().st_dev != out.parent.stat().st_dev else out.parent
        _sweep(beside)
        staging = Staging(beside / f"{_PARTIAL}{out.name[:100]}-{os.getpid()}")
        shutil.rmtree(staging.root, ignore_errors=True)
        staging.root.mkdir(mode=0o700)
        staging.release.mkdir()
        staging.private.mkdir(mode=0o700)
    except (OSError, RuntimeError) as error:  # a RuntimeError is a loop of links
        why = getattr(error, "strerror", None) or "it is a loop of links"
        raise DataError(f"{named}: the release cannot be written there ({why})") from None
    try:
        yield staging
    except OSError as error:
        if error.errno not in _DISK_FAULTS:
            raise
        why = error.strerror
        raise DataError(f"{named}: the release could not be written ({why}); nothing was published") from None
    finally:
        shutil.rmtree(staging.root, ignore_errors=True)


def publish(staging: Staging, out: Path) -> None:
    """Move what was staged into place, in one step where the folder is ours alone."""
    out = out.resolve()
    _flush(staging.root)
    staging.root.chmod(0o755)
    if not out.exists() or not any(out.iterdir()):
        staging.root.rename(out)  # an empty folder may stand there: POSIX puts ours in its place
    elif staging.release.exists() and {entry.name for entry in out.iterdir()} <= _OURS:
        _exchange(staging.root, out)
    else:  # something here must stay. The private part goes first, so that a release never lacks its record
        if staging.release.exists():
            shutil.rmtree(out / "refused", ignore_errors=True)
        for part in sorted(staging.root.iterdir(), key=lambda path: path.name):
            target = out / part.name
            if target.exists():
                _exchange(part, target)
            else:
                part.rename(target)
    _flush_folder(out.parent)


def _exchange(new: Path, old: Path) -> None:
    """Swap two folders at once, so that there is never a moment without a release; then `new` is the old one."""
    libc = ctypes.CDLL(None, use_errno=True)
    renameat2 = getattr(libc, "renameat2", None)
    if renameat2 and renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _EXCHANGE) == 0:
        return
    aside = new.with_name(new.name + "-old")  # no such call here: two steps
    old.rename(aside)
    new.rename(old)
    aside.rename(new)


def _flush(root: Path) -> None:
    for path in root.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        else:
            _flush_folder(path)


def _flush_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(parent: Path) -> None:
    """Remove what killed runs left behind; a run that is still alive keeps its folder."""
    for leftover in parent.glob(f"{_PARTIAL}*"):
        owner = leftover.name.removesuffix("-old").rsplit("-", 1)[-1]
        if not owner.isdigit() or not _alive(int(owner)):
            shutil.rmtree(leftover, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sha256(path: Path) -> str:
    """The SHA-256 of a file, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
