# SPDX-License-Identifier: MIT
"""Damaged and hostile files: bombs are refused, nothing crashes or hangs, and no cell is in a message."""

from __future__ import annotations

import gzip
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf
from sfumato.data.reading.file_limits import MOST_COLUMNS, compute_unpack_limit
from sfumato.data.reading.table_reader import read_frame
from sfumato.errors import DataError, SfumatoError
from sfumato.workflow.certificate import Certificate
from sfumato.workflow.signing.signature import read_signer, sign_certificate

CANARY = "ZZSECRETZZ"
HARNESS = Path(__file__).with_name("binary_harness.py")
LIMIT = 8 << 20


def make_parquet(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, **options)
    return sink.getvalue()


def make_arrow(table: pa.Table, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def coded_text() -> pa.Table:
    """One long text, and many cells that are it."""
    codes = pa.array(np.zeros(2000, dtype=np.int32))
    return pa.table({"a": pa.DictionaryArray.from_arrays(codes, pa.array([CANARY * 1000]))})


def viewed_text() -> pa.Table:
    """One long text, seen from many cells."""
    views = np.zeros(2000, dtype=[("length", "<i4"), ("prefix", "S4"), ("buffer", "<i4"), ("offset", "<i4")])
    views["length"], views["prefix"] = 10_000, b"ZZSE"
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer((CANARY * 1000).encode())]
    return pa.table({"a": pa.Array.from_buffers(pa.string_view(), 2000, buffers)})


def zeros() -> pa.Table:
    return pa.table({"a": np.zeros(3_000_000, dtype=np.int64)})


BOMBS: dict[str, Callable[[], bytes]] = {
    "codes.parquet": lambda: make_parquet(coded_text(), store_schema=False),
    "codes_kept.parquet": lambda: make_parquet(coded_text()),
    "prefixes.parquet": lambda: make_parquet(
        pa.table({"a": [CANARY * 1000] * 2000}), use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"}
    ),
    "zeros.parquet": lambda: make_parquet(zeros(), compression="zstd", use_dictionary=False),
    "runs.parquet": lambda: make_parquet(zeros()),
    "nothing.parquet": lambda: make_parquet(pa.table({"a": pa.nulls(20_000_000)})),
    "codes.arrow": lambda: make_arrow(coded_text(), "zstd"),
    "zeros.arrow": lambda: make_arrow(zeros(), "zstd"),
    "nothing.arrow": lambda: make_arrow(pa.table({"a": pa.nulls(2_000_000_000)})),
    "views.arrow": lambda: make_arrow(viewed_text()),
    "runs.arrow": lambda: make_arrow(
        pa.table({"a": pa.RunEndEncodedArray.from_arrays(pa.array([20_000_000], pa.int32()), pa.array([7]))})
    ),
    "rows.csv.gz": lambda: gzip.compress(b"a,b\n" + b"1,2\n" * (4 << 20)),
    "cell.csv.gz": lambda: gzip.compress(b"a,b\n" + b"x" * (16 << 20)),
    "baskets.dat.gz": lambda: gzip.compress(b"1 2\n" * (4 << 20)),
    "long.csv.gz": lambda: gzip.compress(b"id,item\n" + b"1,2\n" * (4 << 20)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", str(LIMIT))
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    assert path.stat().st_size < LIMIT / 10
    with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT") as refusal:
        sf.Baskets.read(path) if name.startswith(("baskets", "long")) else read_frame(path)
    assert name in str(refusal.value)
    assert CANARY not in str(refusal.value)


@pytest.mark.parametrize("name", ["codes_kept.parquet", "zeros.arrow", "rows.csv.gz"])
def test_a_trusted_file_is_read_under_a_larger_limit(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", "256M")
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    assert read_frame(path).height >= 2000


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SFUMATO_UNPACK_LIMIT", raising=False)
    assert compute_unpack_limit(5 << 20) == 1 << 30
    assert compute_unpack_limit(5 << 20, text=True) == 500 << 20
    assert compute_unpack_limit(1 << 40) >= 1 << 41, "a plain file of any size is read"
    for setting, limit in (("16G", 16 << 30), ("10", 10), (" 3k ", 3 << 10)):
        monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", setting)
        assert compute_unpack_limit(1) == limit
    for setting in ("much", "-1", "1.5G", "1E9"):
        monkeypatch.setenv("SFUMATO_UNPACK_LIMIT", setting)
        with pytest.raises(DataError, match="SFUMATO_UNPACK_LIMIT"):
            compute_unpack_limit(1)


def test_too_many_columns(tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    wide.write_bytes(b"," * 1_000_000 + b"\n" + b"," * 1_000_000 + b"\n")
    with pytest.raises(DataError, match="columns"):
        read_frame(wide)
    path = tmp_path / "wide.arrow"
    path.write_bytes(make_arrow(pa.table({f"c{i}": pa.array([1], pa.int8()) for i in range(MOST_COLUMNS + 1)})))
    with pytest.raises(DataError, match=f"{MOST_COLUMNS:,} columns"):
        read_frame(path)


def lie(table: pa.Table, position: int, buffer: bytes) -> bytes:
    """An Arrow file one of whose buffers says something else."""
    column = table.column(0).chunk(0)
    buffers = [
        pa.py_buffer(buffer) if number == position else old_buffer for number, old_buffer in enumerate(column.buffers())
    ]
    changed = pa.Array.from_buffers(column.type, len(column), buffers)
    return make_arrow(pa.table({"a": changed}))


LIES: dict[str, Callable[[], bytes]] = {
    "offsets out of range": lambda: make_arrow(pa.table({"a": ["x", "y"]})).replace(
        np.array([0, 1, 2], "<i4").tobytes(), np.array([0, 1, 2**30], "<i4").tobytes()
    ),
    "offsets backwards": lambda: lie(pa.table({"a": ["xx", "y"]}), 1, np.array([0, -5, 3], "<i4").tobytes()),
    "no UTF-8": lambda: lie(pa.table({"a": ["xxxx", "y"]}), 2, b"\xff\xfe\xff\xfeyyy"),
    "codes out of range": lambda: make_arrow(
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([0, 99], pa.int32()), pa.array(["x"]), safe=False)})
    ),
    "a day of no year": lambda: make_arrow(pa.table({"a": pa.array([0, 2**31 - 1], pa.date32())})),
    "a moment of no year": lambda: make_parquet(pa.table({"a": pa.array([0, 2**62], pa.timestamp("us"))})),
    "a time after midnight": lambda: make_arrow(pa.table({"a": pa.array([0, 2**62], pa.time64("ns"))})),
    "no columns": lambda: make_arrow(pa.table({})),
    "no columns, many rows": lambda: make_parquet(pa.table({"a": [1, 2]}).select([])),
}


@pytest.mark.parametrize("name", LIES)
def test_files_that_lie(name: str, tmp_path: Path) -> None:
    path = tmp_path / "lie"
    path.write_bytes(LIES[name]())
    with pytest.raises(DataError):
        read_frame(path)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_not_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "special.dat"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/zero")
    readers: tuple[Callable[[Path], Any], ...] = (
        read_frame, sf.Baskets.read, sf.Sequences.read, sf.Hierarchy.read, sf.Policy.read,
    )  # fmt: skip
    for read in readers:
        with pytest.raises(DataError, match="pipe or device"):
            read(path)


def test_columns_keep_their_types(tmp_path: Path) -> None:
    """The way through another process changes nothing, whichever library wrote the file."""
    frame = pl.DataFrame(
        {
            "text": ["a", None, "a text of more than twelve bytes"],
            "kind": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "whole": [1, 2, None],
            "day": pl.Series([1, 2, 3]).cast(pl.Date),
            "truth": [True, None, False],
        }
    )
    frame.write_ipc(tmp_path / "a.arrow")
    frame.write_parquet(tmp_path / "a.parquet")
    for name in ("a.arrow", "a.parquet"):
        assert read_frame(tmp_path / name).equals(frame)
        assert read_frame(tmp_path / name).schema == frame.schema


def read_damaged_binaries(count: int, seed: int) -> int:
    """How many files a process of its own looked at; a crash of it is an error here."""
    environment = {**os.environ, "SFUMATO_UNPACK_LIMIT": "64M"}
    command = [sys.executable, str(HARNESS), str(count), str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, (result.returncode, result.stderr[-2000:])
    read, refusal_count = map(int, result.stdout.split())
    assert read > 0
    assert refusal_count > 0
    return read + refusal_count


def test_damaged_binary_files() -> None:
    assert read_damaged_binaries(105, seed=1) == 105


@pytest.mark.slow
def test_thousands_of_damaged_binary_files() -> None:
    assert read_damaged_binaries(2500, seed=2) == 2500


POLICY = f"""\
title = "{CANARY}"
[data]
path = "table.csv"
[roles]
quasi_identifying = ["age"]
sensitive = ["disease"]
[hierarchies]
age = {{ kind = "intervals", widths = [5, 10] }}
[[protect]]
method = "generalize"
models = [{{ model = "k_anonymity", k = 3 }}]
"""
ROWS = "".join(f"{20 + i % 9},{CANARY}{i % 3}\n" for i in range(40))
TEXTS: dict[str, tuple[str, bytes, Callable[[Path], Any]]] = {
    "csv": ("a.csv", f"age,disease\n{ROWS}".encode(), read_frame),
    "tsv": ("a.tsv", f"age,disease\n{ROWS}".replace(",", "\t").encode(), read_frame),
    "gzip": ("a.csv.gz", gzip.compress(f"age,disease\n{ROWS}".encode(), mtime=0), read_frame),
    "fimi": ("a.dat", f"1 2 {CANARY}\n3 {CANARY}x\n\n1 2\n".encode() * 9, sf.Baskets.read),
    "spmf": ("a.txt", f"@ITEM=1={CANARY}\n@ITEM=2=pear\n1 2\n2\n1\n".encode(), sf.Baskets.read),
    "long form": ("a.csv", b"id,item\n" + ROWS.encode(), sf.Baskets.read),
    "sequences": ("a.txt", b"1 -1 2 3 -1 -2\n4 -1 -2\n" * 5, sf.Sequences.read),
    "patterns": ("a.txt", f"@BASKETS=90\n@ITEM=1={CANARY}\n1 2 #SUP: 3\n2 #SUP: 9\n".encode(), sf.Patterns.read),
    "hierarchy": ("h.csv", f"{CANARY}1;{CANARY};*\n{CANARY}2;{CANARY};*\n".encode(), sf.Hierarchy.read),
    "policy": ("p.toml", POLICY.encode(), sf.Policy.read),
    "signer": ("s.txt", b"MCowBQYDK2VwAyEA" * 4, lambda path: read_signer(str(path))),
}


def damage(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4, 12))):
        index = chance.randrange(len(changed) + 1)
        kind = chance.randrange(6)
        if kind == 0 and index < len(changed):
            changed[index] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[index:index] = chance.randbytes(chance.randrange(4))
        elif kind == 2:
            marks = [b",", b'"', b"\n", b"\r", b"\0", b";", b"\xff", "\u2028".encode(), b"[", b"=", b"-2", b"9" * 30]
            changed[index:index] = chance.choice(marks)
        elif kind == 3:
            del changed[index : index + chance.randrange(9)]
        elif kind == 4:
            part = changed[index : index + chance.randrange(30)]
            changed[index:index] = part * chance.randrange(4)
        elif chance.random() < 0.3:
            del changed[index:]
    return bytes(changed)


def read_damaged_texts(folder: Path, count: int, seed: int) -> Iterator[bool]:
    """Whether each of many damaged files was read; only our own errors come out, and no cell in them."""
    chance = random.Random(seed)
    kinds = sorted(TEXTS)
    for number in range(count):
        name, content, read = TEXTS[kinds[number % len(kinds)]]
        path = folder / name
        path.write_bytes(damage(chance, content))
        try:
            read(path)
        except SfumatoError as error:
            assert str(error)
            assert CANARY not in str(error), kinds[number % len(kinds)]
            yield False
        else:
            yield True


def read_damaged_keys_and_certificates(folder: Path, count: int, seed: int) -> int:
    chance = random.Random(seed)
    raw = sign_certificate(
        {"format": "sfumato certificate 3", "title": CANARY, "n": [1, 2.5]}, Ed25519PrivateKey.generate()
    )
    key = folder / "k.json"
    refusals = 0
    for _ in range(count):
        (folder / "certificate.json").write_bytes(damage(chance, raw))
        with pytest.raises(SfumatoError) as refusal:
            Certificate.read(folder)
        key.write_bytes(damage(chance, b'{"secret": "' + CANARY.encode() + b'", "kind": "x", "version": 1}'))
        with pytest.raises(SfumatoError) as unread:
            sf.Key.load(key)
        assert CANARY not in str(refusal.value) + str(unread.value)
        refusals += 2
    return refusals


def test_damaged_text_files(tmp_path: Path) -> None:
    outcomes = list(read_damaged_texts(tmp_path, 330, seed=1))
    assert len(set(outcomes)) == 2
    assert read_damaged_keys_and_certificates(tmp_path, 60, seed=1) == 120


@pytest.mark.slow
def test_thousands_of_damaged_text_files(tmp_path: Path) -> None:
    outcomes = list(read_damaged_texts(tmp_path, 3300, seed=2))
    assert len(outcomes) == 3300
    assert read_damaged_keys_and_certificates(tmp_path, 500, seed=2) == 1000
