# SPDX-License-Identifier: MIT
"""What may have been meant by the name of a file that is not there."""

from __future__ import annotations

from pathlib import Path

from sfumato.errors import ask_meant

_MOST_FILES = 5_000
"""Of a larger folder, only this many names are compared."""


def ask_for_file(path: Path, *, is_folder: bool = False) -> str:
    """`; did you mean "people.csv"?` for a missing file next to one with a similar name; or which folder is missing."""
    folder = path.parent
    try:
        if path.is_symlink():
            return "; it is a link to a file that is not there"
        if not folder.is_dir():
            return f"; there is no folder {folder} either"
        entries = [entry for entry, _ in zip(folder.iterdir(), range(_MOST_FILES), strict=False)]
        names = [entry.name for entry in entries if entry.is_dir() == is_folder]
    except OSError:
        return ""
    return ask_meant([path.name], (name for name in names if not name.startswith(".")))


def explain_unreadable(error: OSError | ValueError, path: Path) -> str:
    """Why a file cannot be opened, and which one may have been meant: the end of a message after "cannot be read"."""
    reason = getattr(error, "strerror", None) or "not a valid file name"
    return f"({reason}){ask_for_file(path) if isinstance(error, FileNotFoundError) else ''}"
