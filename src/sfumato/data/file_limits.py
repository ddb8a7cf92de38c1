# SPDX-License-Identifier: MIT
"""How much a file may unpack to: a few kilobytes of gzip, Parquet or Arrow can expand beyond any memory.

The limit of a Parquet or Arrow file is 1 GiB or 200 times its size, whichever is larger; of gzipped text, whose cells
take more memory once they are split, 256 MiB or 100 times its size; but never more than half of the machine's memory
(or twice the file, if that is larger). Set `SFUMATO_UNPACK_LIMIT` (such as ``16G``) for a file that you trust.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import zlib
from pathlib import Path
from typing import Any

from sfumato.errors import DataError

MOST_COLUMNS = 20_000
"""The most columns of a table."""
VARIABLE = "SFUMATO_UNPACK_LIMIT"
_LEAST, _TIMES = 1 << 30, 200
_LEAST_TEXT, _TIMES_TEXT = 256 << 20, 100
_BLOCK = 1 << 20
_BYTES_A_CELL = 16
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def compute_unpack_limit(size: int, *, text: bool = False) -> int:
    """How many bytes a file of this size may unpack to."""
    if given := os.environ.get(VARIABLE):
        size_match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", given.strip().upper())
        if size_match is None:
            raise DataError(f"{VARIABLE} must be a number of bytes, such as 500M or 16G")
        return int(size_match[1]) << _UNITS[size_match[2]]
    least, times = (_LEAST_TEXT, _TIMES_TEXT) if text else (_LEAST, _TIMES)
    return min(max(least, times * size), max(least, _get_half_of_memory(), 2 * size))


def _get_half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (OSError, ValueError, AttributeError):
        return _LEAST


def explain_unpacked_size(path: Path, limit: int) -> DataError:
    """The error for a file that unpacks to more than its limit."""
    size = f"{limit / (1 << 30):.3g} GiB" if limit >= 1 << 30 else f"{limit / (1 << 20):.3g} MiB"
    return DataError(
        f"{path}: the file unpacks to more than {size}; if you trust it, set {VARIABLE} to a larger limit, such as 16G"
    )


def refuse_columns(path: Path, count: int) -> None:
    """Stop before a table of too many columns is made: each takes memory, even if it is empty."""
    if count > MOST_COLUMNS:
        raise DataError(f"{path}: the file has {count:,} columns; at most {MOST_COLUMNS:,} can be read")


def refuse_special(path: Path) -> None:
    """Stop before a pipe or a device is opened: reading one may never end."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise DataError(f"{path}: a pipe or device cannot be read; save it to a file first")


class BoundedGzip(io.RawIOBase):
    """A gzip file that is decompressed while it is read, and refused once it exceeds its limit."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self._path = path
        self._limit = compute_unpack_limit(path.stat().st_size, text=True)
        self._left = self._limit
        self._file = gzip.open(path)  # noqa: SIM115  (closed with this one)

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        data = self._file.read(min(len(buffer), _BLOCK))
        self._left -= len(data)
        if self._left < 0:
            raise explain_unpacked_size(self._path, self._limit)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()


def refuse_bomb(path: Path) -> int:
    """Decompress a gzip file once and keep nothing, before anything is parsed: a bomb costs a second, and no memory.

    Returns its number of lines; 0 if the file is not gzipped.
    """
    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            return 0
    lines = 1
    with BoundedGzip(path) as packed:
        buffer = bytearray(_BLOCK)
        while count := packed.readinto(buffer):
            lines += buffer.count(b"\n", 0, count)
    return lines


def refuse_cells(path: Path, cells: int) -> None:
    """Stop before a gzipped file of very many empty cells is split: each takes memory, however short."""
    limit = compute_unpack_limit(path.stat().st_size, text=True)
    if cells * _BYTES_A_CELL > limit:
        raise explain_unpacked_size(path, limit)


def read_whole(path: Path) -> bytes:
    """The whole file, decompressed if it is gzipped; a damaged one raises what gzip and zlib raise."""
    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            file.seek(0)
            return file.read()
    refuse_bomb(path)
    with BoundedGzip(path) as packed:
        return packed.read()


GZIP_FAULTS = (EOFError, gzip.BadGzipFile, zlib.error)
"""What a damaged gzip file raises."""
