# SPDX-License-Identifier: MIT
"""Every reader unpacks gzip, bzip2, xz and zstd, and refuses what is damaged or unpacks to too much."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.reading.compression import PACKING_FAULTS, find_packing, open_packed
from sfumato.data.reading.table_reader import read_frame
from sfumato.errors import DataError

CANARY = "ZZSECRETZZ"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
}
parametrize_packings = pytest.mark.parametrize("packing", PACKERS)


@parametrize_packings
def test_text_baskets_and_hierarchies_are_unpacked(packing: str, tmp_path: Path) -> None:
    pack = PACKERS[packing]
    (tmp_path / "table").write_bytes(pack(b"zip,age\n02139,31\n10001,42\n"))
    (tmp_path / "baskets").write_bytes(pack(b"1 2\n3\n"))
    (tmp_path / "levels").write_bytes(pack("31;30-39;*\n42;40-49;*\n".encode("utf-8-sig")))
    (tmp_path / "lines").write_bytes(pack(b'{"a": 1}\n{"a": 2}\n'))
    assert read_frame(tmp_path / "table").rows() == [("02139", 31), ("10001", 42)]
    assert sf.Baskets.read(tmp_path / "baskets").to_lists() == [[1, 2], [3]]
    assert sf.Hierarchy.read(tmp_path / "levels").leaves == ("31", "42")
    assert read_frame(tmp_path / "lines")["a"].to_list() == [1, 2]


def test_a_hierarchy_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "levels.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(DataError, match=r"levels.xlsx: this is an Excel file; a hierarchy is a text file"):
        sf.Hierarchy.read(tmp_path / "levels.xlsx")


def test_a_packed_binary_file_is_unpacked(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2], "t": ["x", None]})
    frame.write_parquet(tmp_path / "plain")
    (tmp_path / "packed").write_bytes(bz2.compress((tmp_path / "plain").read_bytes()))
    assert read_frame(tmp_path / "packed").equals(frame)


@parametrize_packings
def test_several_streams_in_one_file(packing: str, tmp_path: Path) -> None:
    path = tmp_path / "two"
    path.write_bytes(PACKERS[packing](b"a,b\n1,2\n") + PACKERS[packing](b"3,4\n"))
    assert read_frame(path).rows() == [(1, 2), (3, 4)]


@parametrize_packings
def test_damaged_and_truncated_files_are_named(packing: str, tmp_path: Path) -> None:
    whole = PACKERS[packing](f"a,b\n{CANARY},2\n".encode() * 500)
    middle = len(whole) // 2
    changed = whole[:middle] + bytes(255 - byte for byte in whole[middle : middle + 4]) + whole[middle + 4 :]
    for number, content in enumerate((whole[:middle], whole[:-1], *((changed,) if packing != "zstd" else ()))):
        path = tmp_path / f"damaged{number}"
        path.write_bytes(content)
        for read in (read_frame, sf.Baskets.read, sf.Hierarchy.read):
            with pytest.raises(DataError, match=f"damaged{number}: the {packing} file is damaged") as refusal:
                read(path)
            assert CANARY not in str(refusal.value)


@parametrize_packings
def test_bombs(packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", "1M")
    path = tmp_path / "bomb.dat"
    path.write_bytes(PACKERS[packing](b"1 2\n" * (1 << 20)))
    assert path.stat().st_size < 1 << 17
    for read in (read_frame, sf.Baskets.read, sf.Hierarchy.read):
        with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT"):
            read(path)


def test_a_packed_binary_bomb_stops_before_it_fills_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", "1M")
    (tmp_path / "bomb").write_bytes(lzma.compress(b"PAR1" + bytes(1 << 23)))
    with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT"):
        read_frame(tmp_path / "bomb")


def test_an_xz_file_cannot_demand_gigabytes_for_its_dictionary(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    compressor = lzma.LZMACompressor(filters=[{**filters[0], "dict_size": 1 << 20}])
    content = bytearray(compressor.compress(b"a,b\n1,2\n") + compressor.flush())
    index = content.index(b"\x21\x01", 12) + 2  # the size of the dictionary, after the filter's number and its length
    content[index] = 40  # 4 GiB − 1
    content[20:24] = zlib_crc(bytes(content[12:20]))
    (tmp_path / "greedy").write_bytes(content)
    with pytest.raises(PACKING_FAULTS), open_packed(tmp_path / "greedy", "xz") as file:
        file.read()


def zlib_crc(header: bytes) -> bytes:
    import zlib

    return zlib.crc32(header).to_bytes(4, "little")


def test_text_that_begins_like_a_packed_file_is_text() -> None:
    assert find_packing(b"BZh9,world,and,more") is None
    assert find_packing(bz2.compress(b"")) == "bzip2"
    assert find_packing(b"BZh91AY&SY") == "bzip2"
    assert find_packing(b"a,b") is None
