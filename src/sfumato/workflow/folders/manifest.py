# SPDX-License-Identifier: MIT
"""The files that a run made in `private/` or `refused/`; the next run carries everything else over.

A file is replaced only if it is byte for byte what an earlier run made. What a user put or changed there stays, and a
key is never removed: if the new run makes a file of the same name, the one before it gets a number.
"""

from __future__ import annotations

import errno
import filecmp
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAME = "manifest.json"
CERTIFICATE = "certificate.json"
KEY_SUFFIX = ".key.json"
_VERSION = 1


def hash_file(path: Path) -> str:
    """The SHA-256 of a file, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Manifest:
    """The list of a run's files, kept next to them; it never leaves `private/` or `refused/`."""

    run: str = ""
    """A random id of the run that made the folder."""
    certificate: str | None = None
    """The checksum of the certificate of the release that the folder belongs to."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What the run made: name → SHA-256."""
    release_files: tuple[str, ...] = ()
    """What the run made in `release/`."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Keys of earlier runs → the checksum of the certificate they belong to."""

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder; an empty one if there is none or it is invalid."""
        path = folder / NAME
        try:
            if not stat.S_ISREG(path.lstat().st_mode):
                return cls()
            content = json.loads(path.read_bytes())
            if content.pop("sfumato_manifest") != _VERSION:
                return cls()
            content["certificate"] = content.pop("certificate_sha256")
            content["release_files"] = tuple(content["release_files"])
            read = cls(**content)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return cls()
        usable = isinstance(read.run, str) and isinstance(read.files, dict) and isinstance(read.kept, dict)
        return read if usable else cls()

    def write(self, folder: Path) -> None:
        """Write it next to the files that it lists."""
        content: dict[str, Any] = {"sfumato_manifest": _VERSION, **vars(self)}
        content["certificate_sha256"] = content.pop("certificate")
        with (folder / NAME).open("w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump(content, file, indent=1)
            file.flush()
            os.fsync(file.fileno())

    def is_own(self, path: Path) -> bool:
        """Whether a file is the run's own and unchanged, so that it may be replaced; never a key."""
        if not self.run or path.name.endswith(KEY_SUFFIX) or not stat.S_ISREG(path.lstat().st_mode):
            return False
        return path.name == NAME or (path.name in self.files and self.files[path.name] == hash_file(path))


def hash_files(folder: Path) -> dict[str, str]:
    """Every regular file of a folder, with its checksum."""
    return {path.name: hash_file(path) for path in sorted(folder.iterdir()) if path.is_file()}


def list_release_files(release: Path, manifest: Manifest) -> set[str]:
    """The names of what an earlier run made in `release/`: by its certificate and its manifest."""
    names = {CERTIFICATE, *manifest.release_files} if manifest.run else set()
    path = release / CERTIFICATE
    try:
        if stat.S_ISREG(path.lstat().st_mode):
            names |= {CERTIFICATE, *json.loads(path.read_bytes())["files"]}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return names


def list_foreign_files(release: Path, manifest: Manifest) -> list[str]:
    """The files in `release/` that no run made."""
    if not release.is_dir():
        return []
    release_files = list_release_files(release, manifest)
    return sorted(
        path.name
        for path in release.iterdir()
        if path.name not in release_files or not stat.S_ISREG(path.lstat().st_mode)
    )


def copy_previous_files(old: Path, new: Path, manifest: Manifest) -> dict[str, str]:
    """Carry everything that a run did not make from one folder to another, by hard links.

    What is there already stays, so carrying twice is harmless. Returns the names that had to change.
    """
    new_names: dict[str, str] = {}
    if not old.is_dir() or old.is_symlink():
        return new_names
    present_inodes = (
        {(facts.st_dev, facts.st_ino) for facts in map(Path.lstat, new.iterdir())} if new.is_dir() else set()
    )
    for path in sorted(old.iterdir()):
        if manifest.is_own(path) or _is_carried(path, new, present_inodes):
            continue
        target = new / path.name
        merges = path.is_dir() and not path.is_symlink() and target.is_dir() and not target.is_symlink()
        if os.path.lexists(target) and not merges:
            target = find_free_name(target, old)
            new_names[path.name] = target.name
        new.mkdir(mode=0o700, exist_ok=True)
        link_file(path, target)
    return new_names


def _is_carried(path: Path, new: Path, present_inodes: set[tuple[int, int]]) -> bool:
    facts = path.lstat()
    if stat.S_ISDIR(facts.st_mode):
        return False
    if (facts.st_dev, facts.st_ino) in present_inodes:
        return True
    twin = new / path.name  # where there are no hard links, a copy
    plain = stat.S_ISREG(facts.st_mode) and twin.is_file() and not twin.is_symlink()
    return plain and filecmp.cmp(path, twin, shallow=False)


def link_file(path: Path, target: Path, *, copy: bool = True) -> None:
    """Hard-link a file; a folder is recreated with the same files; links are not followed."""
    facts = path.lstat()
    if stat.S_ISDIR(facts.st_mode):
        if facts.st_dev != path.parent.lstat().st_dev:
            raise OSError(errno.EXDEV, f"{path.name} is a mount point; move it elsewhere")
        target.mkdir(mode=0o700, exist_ok=True)
        copy_previous_files(path, target, Manifest())
        shutil.copystat(path, target)
        return
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if not copy or isinstance(error, FileExistsError):
            raise
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISLNK(facts.st_mode)):
            raise OSError(error.errno, f"{path.name} cannot be carried over; move it elsewhere") from None
        shutil.copy2(path, target, follow_symlinks=False)


def find_free_name(path: Path, *folders: Path) -> Path:
    """The first numbered name that is free here and in other folders: `a.key.json` becomes `a.1.key.json`."""
    suffix = KEY_SUFFIX if path.name.endswith(KEY_SUFFIX) else path.suffix
    stem = path.name.removesuffix(suffix)
    number = 1
    while any(os.path.lexists(folder / f"{stem}.{number}{suffix}") for folder in (path.parent, *folders)):
        number += 1
    return path.with_name(f"{stem}.{number}{suffix}")
