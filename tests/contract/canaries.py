# SPDX-License-Identifier: MIT
"""Data in which every original text is a random word of its own, and the bytes in which such words are looked for."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.data.roles.role import Role

_LETTERS = np.array(list("bcdfghjklmnpqrstvwxz"))
_ZSTD = b"\x28\xb5\x2f\xfd"


class Words:
    """Random words, each given out once."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(11)
        self.given: list[str] = []

    def new(self) -> str:
        self.given.append("zq" + "".join(self._chance.choice(_LETTERS, 18)))
        return self.given[-1]


def plant_in_table(table: sf.Table, keep: tuple[str, ...], *, notes: bool) -> tuple[sf.Table, list[str]]:
    """The table with a random word for each text of each column, names and notes that are words of one person only.

    Three people have a word of their own in each quasi-identifying text column: rows that are hard to hide.
    """
    words, frame, hierarchies = Words(), table.frame, dict(table.hierarchies)
    for number, name in enumerate(frame.columns):
        if frame[name].dtype != pl.String:
            continue
        if table.roles[name] is Role.IDENTIFYING:
            frame = frame.with_columns(pl.Series(name, [words.new() for _ in range(frame.height)]))
            continue
        known_values = sorted(set(frame[name].drop_nulls()) | set(_leaves(hierarchies.get(name))))
        new = {value: value if value in keep else words.new() for value in known_values}
        cells = [None if value is None else new[value] for value in frame[name].to_list()]
        rows = [[new[row[0]], *row[1:]] for row in hierarchies[name].rows] if name in hierarchies else []
        if table.roles[name] is Role.QUASI_IDENTIFYING and rows and not keep:
            for person in range(3 * number, 3 * number + 3):
                cells[person] = words.new()
                rows.append([cells[person], *rows[0][1:]])
        frame = frame.with_columns(pl.Series(name, cells, dtype=pl.String))
        if rows:
            hierarchies[name] = sf.Hierarchy.of(rows)
    roles: dict[str, str | Role] = dict(table.roles)
    if notes:
        frame = frame.with_columns(note=pl.Series([words.new() for _ in range(frame.height)]))
        roles["note"] = "insensitive"
    return sf.Table.of(frame, roles, hierarchies), words.given


def plant_in_baskets(baskets: sf.Baskets, keep: tuple[str, ...]) -> tuple[sf.Baskets, list[str]]:
    """The baskets with a random word for each item but those that a method names, ids, and words of one basket only."""
    words = Words()
    new = {item: str(item) if item in keep else words.new() for item in baskets.items}
    lists = [[new[item] for item in basket] for basket in baskets.to_lists()]
    for basket in lists[:3]:
        basket.append(words.new())
    return sf.Baskets.of(lists, ids=[words.new() for _ in lists]), words.given


def plant_in_sequences(sequences: sf.Sequences, keep: tuple[str, ...]) -> tuple[sf.Sequences, list[str]]:
    """The sequences with a random word for each item but those that a method names, and ids."""
    words = Words()
    new = {item: str(item) if item in keep else words.new() for item in sequences.items}
    lists = [[new[item] for item in sequence] for sequence in sequences.to_lists()]
    return sf.Sequences.of(lists, ids=[words.new() for _ in lists]), words.given


def published_text(data: Any) -> str:
    """Everything that can be seen in released data."""
    if isinstance(data, sf.Table):
        return "\n".join(str(cell) for column in data.frame.get_columns() for cell in column.to_list())
    return "\n".join(map(str, data.to_lists()))


def unpublished(words: Iterable[str], release: sf.Release) -> list[str]:
    """The words that cannot be seen in released data, nor in what is public of chance (the possible answers)."""
    visible_text = published_text(release.data) + json.dumps(dict(release.public), default=dict)
    return [word for word in words if word not in visible_text]


def leaked(words: Iterable[str], blobs: Iterable[bytes]) -> list[str]:
    """The words that stand in some bytes, as UTF-8 or UTF-16."""
    whole = b"\0\0".join(blobs)
    return [word for word in words if any(word.encode(code) in whole for code in ("utf-8", "utf-16-le", "utf-16-be"))]


def bytes_of_file(path: Path) -> Iterator[bytes]:
    """A file as it is, its compressed parts unpacked, and every buffer, dictionary and statistic in it."""
    raw = path.read_bytes()
    yield raw
    if raw[:2] == b"\x1f\x8b":
        yield gzip.decompress(raw)
    if raw[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(part) for part in archive.infolist())
            yield repr([archive.comment, [(part.extra, part.comment) for part in archive.infolist()]]).encode()
    if raw[:6] == b"ARROW1":
        yield from bytes_of_arrow(pyarrow.feather.read_table(path, memory_map=False))
    if raw[:4] == b"PAR1":
        yield from _pages(raw)
        names = [name for name, kind in zip(*_schema(path), strict=True) if _is_text(kind)]
        yield from bytes_of_arrow(pq.read_table(path, read_dictionary=names))
        yield repr([_statistics(path), pq.read_metadata(path).metadata]).encode()


def bytes_of_arrow(table: pa.Table) -> Iterator[bytes]:
    """All memory that an Arrow table refers to, below masks too, and its metadata."""
    yield repr([table.schema.metadata, [field.metadata for field in table.schema]]).encode()
    for column in table.columns:
        for chunk in column.chunks:
            yield from (buffer.to_pybytes() for buffer in chunk.buffers() if buffer is not None)
            if pa.types.is_dictionary(chunk.type):
                yield from (part.to_pybytes() for part in chunk.dictionary.buffers() if part is not None)


def cells_below_masks(path: Path) -> Iterator[bytes]:
    """What an Arrow file holds in the place of each missing cell."""
    for column in pyarrow.feather.read_table(path, memory_map=False).columns:
        for chunk in column.chunks:
            width = 16 if pa.types.is_string_view(chunk.type) else chunk.type.bit_width // 8
            values = chunk.buffers()[1].to_pybytes() if chunk.null_count else b""
            missing = np.flatnonzero(chunk.is_null().to_numpy(zero_copy_only=False)) + chunk.offset
            if pa.types.is_boolean(chunk.type):
                bits = np.unpackbits(np.frombuffer(values, dtype=np.uint8), bitorder="little")
                yield from (bytes([bits[row]]) for row in missing)
            else:
                yield from (values[width * row : width * (row + 1)] for row in missing)


def bytes_in_python(release: sf.Release) -> Iterator[bytes]:
    """What a Python user could hand on: pickles, and files that other libraries write."""
    yield pickle.dumps(release)
    yield pickle.dumps(release.data)
    if not isinstance(release.data, sf.Table):
        yield pickle.dumps(release.data.to_lists())
        return
    frame = release.data.frame
    yield pickle.dumps(frame)
    yield pickle.dumps(frame.to_pandas())
    yield pickle.dumps(frame.to_arrow())
    yield from bytes_of_arrow(frame.to_arrow())
    for write in (frame.write_ipc, frame.write_ipc_stream, frame.serialize):
        buffer = io.BytesIO()
        write(buffer)
        yield buffer.getvalue()
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="uncompressed")
    yield buffer.getvalue()


def write_policy(folder: Path, method: Any, data: Any, form: str | None) -> Path:
    """Files and a policy for one run of one method on planted data."""
    described: dict[str, Any] = {"data": {"path": "data.csv"}, "output": {"path": "out"}}
    if form:
        described["output"]["format"] = form
    if isinstance(data, sf.Table):
        data.frame.write_csv(folder / "data.csv")
        described["roles"] = {
            role.value: [name for name, column_role in data.roles.items() if column_role is role]
            for role in Role
            if role in data.roles.values()
        }
        described["accept"] = dict.fromkeys(data.frame.columns, "invented people")
        described["hierarchies"] = {}
        for name, hierarchy in data.hierarchies.items():
            lines = "\n".join(";".join(row) for row in hierarchy.rows)
            (folder / f"{name}_levels.csv").write_text(lines)
            described["hierarchies"][name] = str(folder / f"{name}_levels.csv")
    else:
        data.write(folder / "data.csv")
    described["data"]["path"] = str(folder / "data.csv")
    described["output"]["path"] = str(folder / "out")
    described["protect"] = [method.model_dump(mode="json", exclude_none=True)]
    path = folder / "policy.json"
    path.write_text(json.dumps(described))
    return path


def _leaves(hierarchy: sf.Hierarchy | None) -> tuple[str, ...]:
    return hierarchy.leaves if hierarchy is not None else ()


def _schema(path: Path) -> tuple[list[str], list[pa.DataType]]:
    schema = pq.read_schema(path)
    return schema.names, schema.types


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _statistics(path: Path) -> list[tuple[Any, Any]]:
    groups = pq.read_metadata(path)
    chunks = [groups.row_group(g).column(c) for g in range(groups.num_row_groups) for c in range(groups.num_columns)]
    statistics = [chunk.statistics for chunk in chunks if chunk.statistics is not None]
    return [(statistic.min, statistic.max) for statistic in statistics if statistic.has_min_max]


def _pages(raw: bytes) -> Iterator[bytes]:
    """Every part of a file that is packed with zstd, unpacked."""
    start = raw.find(_ZSTD)
    while start >= 0:
        most = _unpack(raw[start:], 0, 1024)
        yield most + _unpack(raw[start:], len(most), 1)  # the last block, byte by byte up to the end of the page
        start = raw.find(_ZSTD, start + 1)


def _unpack(packed: bytes, skipped: int, step: int) -> bytes:
    """What is packed at the beginning of some bytes; what follows it is not packed and ends the reading."""
    stream, unpacked = pa.CompressedInputStream(pa.BufferReader(packed), "zstd"), bytearray()
    try:
        stream.read(skipped)
        while block := stream.read(step):
            unpacked += block
    except OSError:
        pass
    return bytes(unpacked)
