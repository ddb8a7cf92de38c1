# SPDX-License-Identifier: MIT
"""A text file in blocks of whole lines, unpacked as it is read: for files that are larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sfumato.data.items.basket_files import check_utf8
from sfumato.data.reading.compression import PACKING_FAULTS
from sfumato.data.reading.file_limits import BoundedStream, explain_damaged_packing, refuse_special
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.errors import DataError

_BLOCK = 16 << 20
_OPENING = 1 << 16


def read_line_blocks(path: Path, size: int = _BLOCK) -> Iterator[bytes]:
    """The bytes of a file, cut at line ends; an error says why it cannot be read."""
    rest = b""
    try:
        refuse_special(path)
        with BoundedStream(path) as stream:
            while chunk := stream.read(size):
                whole, end, tail = (rest + chunk).rpartition(b"\n")
                if end:
                    yield whole + end
                rest = tail
    except PACKING_FAULTS:
        raise explain_damaged_packing(path) from None
    except (OSError, ValueError) as problem:
        raise DataError(f"{path}: the file cannot be read {explain_unreadable(problem, path)}") from None
    if rest:
        yield rest


def read_first_lines(path: Path) -> bytes:
    """Some lines at the beginning of a text file, without a byte order mark."""
    return check_utf8(path, next(read_line_blocks(path, _OPENING), b""))
