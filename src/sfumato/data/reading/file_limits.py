# SPDX-License-Identifier: MIT
"""How much a file may unpack to: a few kilobytes of gzip, Parquet or Excel can expand beyond any memory.

The limit of a binary file (Parquet, Arrow, Excel …) is 1 GiB or 200 times its size, whichever is larger; of compressed
text, whose cells take more memory once they are split, 256 MiB or 100 times its size; but never more than half of the
machine's memory (or twice the file, if that is larger). Set `SFUMATO_UNPACK_LIMIT` (such as ``16G``) for a file that
you trust.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

from sfumato.data.reading.compression import PACKING_FAULTS, FileStream, detect_packing, open_packed
from sfumato.errors import DataError

MOST_COLUMNS = 20_000
"""The most columns of a table."""
VARIABLE = "SFUMATO_UNPACK_LIMIT"
_LEAST, _TIMES = 1 << 30, 200
_LEAST_TEXT, _TIMES_TEXT = 256 << 20, 100
_BLOCK = 1 << 20
_BYTES_A_CELL = 16
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def compute_unpack_limit(size: int, *, text: bool = False, is_held: bool = True) -> int:
    """How many bytes a file of this size may unpack to; more than memory only if nothing of it is held."""
    if limit_text := os.environ.get(VARIABLE):
        size_match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", limit_text.strip().upper())
        if size_match is None:
            raise DataError(f"{VARIABLE} must be a number of bytes, such as 500M or 16G")
        return int(size_match[1]) << _UNITS[size_match[2]]
    least, times = (_LEAST_TEXT, _TIMES_TEXT) if text else (_LEAST, _TIMES)
    most = max(least, times * size)
    return min(most, max(least, _get_half_of_memory(), 2 * size)) if is_held else most


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


class BoundedStream(FileStream):
    """A file whose bytes are unpacked while it is read, and refused once they exceed its limit."""

    def __init__(self, path: Path, *, text: bool = True) -> None:
        """Open the file; what is not compressed has no limit."""
        self._path = path
        packing = detect_packing(path)
        self._limit = compute_unpack_limit(path.stat().st_size, text=text)
        self._remaining_bytes = self._limit if packing else None
        self._file = open_packed(path, packing) if packing else path.open("rb")

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        data = self._file.read(min(len(buffer), _BLOCK))
        if self._remaining_bytes is not None:
            self._remaining_bytes -= len(data)
            if self._remaining_bytes < 0:
                raise explain_unpacked_size(self._path, self._limit)
        buffer[: len(data)] = data
        return len(data)


def refuse_bomb(path: Path) -> int:
    """Unpack a compressed file once and keep nothing, before anything is parsed: a bomb costs a second, and no memory.

    Returns its number of lines; 0 if the file is not compressed.
    """
    if detect_packing(path) is None:
        return 0
    lines = 1
    with BoundedStream(path) as stream:
        buffer = bytearray(_BLOCK)
        while count := stream.readinto(buffer):
            lines += buffer.count(b"\n", 0, count)
    return lines


def refuse_cells(path: Path, cells: int) -> None:
    """Stop before a compressed file of very many empty cells is split: each takes memory, however short."""
    limit = compute_unpack_limit(path.stat().st_size, text=True)
    if cells * _BYTES_A_CELL > limit:
        raise explain_unpacked_size(path, limit)


def read_whole(path: Path) -> bytes:
    """The whole file, unpacked if it is compressed; a damaged one raises what `PACKING_FAULTS` lists."""
    if detect_packing(path) is None:
        return path.read_bytes()
    refuse_bomb(path)
    with BoundedStream(path) as stream:
        return b"".join(iter(lambda: stream.read(_BLOCK), b""))


def open_whole(path: Path) -> BinaryIO:
    """The bytes of a file as a file that another process can seek in; a compressed one is unpacked without a name."""
    if detect_packing(path) is None:
        return path.open("rb")
    unpacked_file = tempfile.TemporaryFile()  # noqa: SIM115  (closed by the caller)
    try:
        with BoundedStream(path, text=False) as stream:
            while block := stream.read(_BLOCK):
                unpacked_file.write(block)
    except PACKING_FAULTS:
        unpacked_file.close()
        raise explain_damaged_packing(path) from None
    except BaseException:
        unpacked_file.close()
        raise
    unpacked_file.seek(0)
    return unpacked_file


def explain_damaged_packing(path: Path) -> DataError:
    """The error for a compressed file that cannot be unpacked."""
    return DataError(f"{path}: the {detect_packing(path)} file is damaged or truncated; download it again")
