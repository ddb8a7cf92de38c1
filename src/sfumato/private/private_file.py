# SPDX-License-Identifier: MIT
"""Secret files: written completely and readable by their owner alone, refused if others could read or replace them.

Against other users of the machine: a key that others can read is no secret, and one that others can replace signs or
draws for them. The owner and the mode are read from the open file, so that it cannot be exchanged between check and
use. The superuser and backups are not kept out.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from sfumato.errors import DataError

_OTHERS_ACCESS, _OTHERS_WRITE = 0o077, 0o022


def create_private(path: Path, content: bytes) -> None:
    """Write a new file with mode 0600, completely or not at all, and never over an existing one (`FileExistsError`)."""
    handle, partial = _open_unnamed(path)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            _name_private_file(file.fileno(), partial, path)
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _open_unnamed(path: Path) -> tuple[int, Path | None]:
    """Open a file without a name, which a killed process cannot leave behind; else one with a random hidden name."""
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir():
        with suppress(OSError):
            return os.open(path.parent, os.O_WRONLY | os.O_TMPFILE, 0o600), None
    partial = path.with_name(f".{path.name[:40]}.{secrets.token_hex(8)}")
    return os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), partial


def _name_private_file(handle: int, partial: Path | None, path: Path) -> None:
    """Give the written file its name; two writers at once agree on one file."""
    if partial is None:
        # Only with a folder handle does Python ask the system to follow the link in /proc; the path is absolute.
        os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
        return
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # no hard links on this file system
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        partial.rename(path)


def read_private(path: Path, noun: str) -> bytes:
    """Read a secret file; refuse it, with the fix, if others could read or replace it."""
    refuse_open_folder(path, noun)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # a pipe must not make us wait
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise DataError(f"{path}: this is not a regular file, so not {noun}")
        if facts.st_uid != os.geteuid():
            raise DataError(
                f"{path}: {noun} belongs to another user, who can replace it; make a copy of your own (mode 0600)"
            )
        if facts.st_mode & _OTHERS_ACCESS:
            mode = stat.S_IMODE(facts.st_mode)
            raise DataError(
                f"{path}: {noun} is open to other users (mode {mode:04o}); if nobody read or changed it, "
                f"`chmod 600 {path}`, else make a new one"
            )
        return file.read()


def refuse_open_folder(path: Path, noun: str) -> None:
    """Refuse a secret in a folder where others can remove or replace it (sticky folders like /tmp prevent that)."""
    for folder in {path.parent, Path(os.path.realpath(path)).parent}:
        mode = folder.stat().st_mode
        if stat.S_ISDIR(mode) and mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
            raise DataError(
                f"{path}: other users can replace {noun}, because they can write to its folder "
                f"(mode {stat.S_IMODE(mode):04o}); `chmod go-w {folder}`"
            )
