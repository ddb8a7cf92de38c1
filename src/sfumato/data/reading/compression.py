# SPDX-License-Identifier: MIT
"""Recognize compressed files by their first bytes, and read them as a stream: gzip, bzip2, xz and zstd.

The decompressors raise what `PACKING_FAULTS` lists on a damaged or truncated file. How much a file may unpack to is
not decided here, see `file_limits`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

Packing = Literal["gzip", "bzip2", "xz", "zstd"]
LONGEST_MAGIC = 10
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # of data, and of the end
_MAGIC: dict[bytes, Packing] = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_XZ_MEMORY = 256 << 20  # a header can demand 4 GiB for a dictionary; `xz -9` needs 65 MiB
_BLOCK = 1 << 18


class DamagedPacking(Exception):
    """A compressed file ends early, or holds bytes that its format forbids."""


PACKING_FAULTS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, DamagedPacking)
"""What a damaged compressed file raises."""


def find_packing(head: bytes) -> Packing | None:
    """How a file is compressed, by its first bytes."""
    kind = next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), None)
    return None if kind == "bzip2" and head[4:10] not in _BZIP2_BLOCKS else kind


def detect_packing(path: Path) -> Packing | None:
    """How a file on disk is compressed."""
    with path.open("rb") as file:
        return find_packing(file.read(LONGEST_MAGIC))


def open_packed(path: Path, packing: Packing) -> BinaryIO:
    """The unpacked bytes of a file, as a stream without a limit."""
    if packing == "gzip":
        return gzip.open(path)  # type: ignore[return-value]  # a GzipFile has all that is used of a BinaryIO
    raw: io.RawIOBase = _ZstdFile(path) if packing == "zstd" else _BlockFile(path, packing)
    return io.BufferedReader(raw, _BLOCK)


class FileStream(io.RawIOBase):
    """Bytes that are made from those of an open file, which is closed with it."""

    _file: IO[bytes]

    def readable(self) -> bool:
        """It can be read."""
        return True

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._file.close()
        super().close()


class _BlockFile(FileStream):
    """A bzip2 or xz file of one or more streams; unlike the standard library's, with a limit on xz's memory."""

    def __init__(self, path: Path, packing: Packing) -> None:
        self._file = path.open("rb")
        self._packing = packing
        self._decompressor = self._start()
        self._streams = 0

    def _start(self) -> Any:
        return bz2.BZ2Decompressor() if self._packing == "bzip2" else lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; none at the end of the last stream."""
        while True:
            block = b""
            if self._decompressor.eof:
                block = self._decompressor.unused_data or self._file.read(_BLOCK)
                if not block.strip(b"\0"):  # xz allows padding after a stream
                    return 0
                self._decompressor = self._start()
            elif self._decompressor.needs_input:
                block = self._file.read(_BLOCK)
                if not block:
                    raise EOFError
            try:
                data = self._decompressor.decompress(block, len(buffer))
            except OSError:  # how bzip2 reports damage; a disk's failure has a number
                raise DamagedPacking from None
            if data:
                buffer[: len(data)] = data
                return len(data)


class _ZstdFile(FileStream):
    """A zstd file, unpacked by Arrow."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        self._file = path.open("rb")
        self._stream = pa.CompressedInputStream(self._file, "zstd")

    def readinto(self, buffer: Any) -> int:
        """Read some bytes."""
        try:
            data = self._stream.read(len(buffer))
        except OSError as error:
            if error.errno is not None and error.errno > 0:
                raise
            raise DamagedPacking from None
        buffer[: len(data)] = data
        return len(data)
