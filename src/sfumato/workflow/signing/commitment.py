# SPDX-License-Identifier: MIT
"""A keyed commitment to the input of a run: it reveals nothing until the custodian opens it.

A plain hash of the input is a guessing oracle: anyone who knows the layout and the possible values can hash every
candidate and compare. HMAC-SHA256 under a random key that stays in `private/` reveals nothing without the key, and
with it proves which files went in: two different inputs under two keys that give one commitment would be a collision
of SHA-256. A table of a database server has no file: its rows, in sorted order, are committed to instead.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.data.reading.file_limits import refuse_special
from sfumato.data.reading.near_files import explain_unreadable
from sfumato.data.reading.source import is_server, is_spark_table
from sfumato.data.reading.table_reader import TextFormat, list_input_files, read_frame
from sfumato.data.writing.rebuild import rebuild_column
from sfumato.errors import DataError
from sfumato.private.private_file import create_private
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.engine.server_copy import SortedTexts

OPENING = "input_opening.json"
"""The file in `private/` with which the custodian can later prove what the input was."""
_SCHEME = "HMAC-SHA256"
_BLOCK = 1 << 20
_LARGEST_OPENING = 1 << 16


@dataclass(frozen=True)
class Commitment:
    """What is published (`value`), and what opens it (`key`), which stays."""

    value: str
    key: bytes

    def __repr__(self) -> str:
        """The commitment without its key."""
        return f"Commitment({self.value[:12]}…, key kept)"

    def save(self, path: Path) -> None:
        """Write the opening, readable by its owner alone."""
        content = {"scheme": _SCHEME, "key": self.key.hex(), "commitment": self.value}
        create_private(path, json.dumps(content, indent=1).encode())


def commit_to_source(path: str) -> Commitment:
    """Commit to what a data path names: its files, or the rows of a server's table."""
    if not is_server(path):
        return commit_to_files(list_input_files(path))
    key = secrets.token_bytes(32)
    return Commitment(_compute_table_digest(path, key), key)


def commit_to_stored_source(path: str, scratch: Path) -> Commitment:
    """The same for rows that `open_stored_rows` opened: of a server's table, to the copy in the scratch folder."""
    if not is_server(path):
        return commit_to_source(path)
    from sfumato.engine.server_copy import SortedTexts

    key, texts = secrets.token_bytes(32), SortedTexts(scratch)
    value = _compute_sorted_digest(texts, key)
    texts.close()
    return Commitment(value, key)


def does_source_match(commitment: str, opening: Path, path: str | Path) -> bool:
    """Whether an opening proves that a commitment was made to what a data path names."""
    if not is_server(path):
        return does_opening_match(commitment, opening, list_input_files(path))
    if is_spark_table(path):
        return hmac.compare_digest(_compute_spark_digest(path, _read_opening_key(opening)), commitment)
    return hmac.compare_digest(_compute_table_digest(path, _read_opening_key(opening)), commitment)


def commit_to_files(paths: Sequence[Path]) -> Commitment:
    """Commit to the bytes of some files, in their order, under a fresh key."""
    key = secrets.token_bytes(32)
    return Commitment(_compute_keyed_digest(paths, key), key)


def commit_to_data(data: Any) -> Commitment:
    """Commit to data in memory: to the file that `table.frame.write_csv` or `baskets.write` makes of it."""
    with _write_data(data) as path:
        return commit_to_files([path])


def do_data_match(commitment: str, opening: Path, data: Any) -> bool:
    """Whether an opening proves that a commitment was made to the file that data in memory would be written to."""
    with _write_data(data) as path:
        return does_opening_match(commitment, opening, [path])


@contextmanager
def _write_data(data: Any) -> Iterator[Path]:
    with TemporaryDirectory(prefix="sfumato-") as folder:  # mode 0700
        path = Path(folder) / "input.csv"
        if isinstance(data, Table):
            data.frame.write_csv(path)
        else:
            data.write(path)
        yield path


def does_opening_match(commitment: str, opening: Path, paths: Sequence[Path]) -> bool:
    """Whether an opening proves that a commitment was made to these files."""
    return hmac.compare_digest(_compute_keyed_digest(paths, _read_opening_key(opening)), commitment)


def _read_opening_key(opening: Path) -> bytes:
    refuse_special(opening)
    try:
        with opening.open("rb") as file:
            content = json.loads(file.read(_LARGEST_OPENING))
        key = bytes.fromhex(content["key"])
    except OSError as error:
        raise DataError(f"{opening}: the opening cannot be read {explain_unreadable(error, opening)}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError(f"{opening}: this is not the opening of a commitment ({OPENING} in private/)") from None
    if content.get("scheme") != _SCHEME or len(key) != 32:  # longer keys are hashed first, so two keys would fit
        raise DataError(f"{opening}: this is not an opening that sfumato wrote")
    return key


def _compute_table_digest(path: str | Path, key: bytes) -> str:
    """HMAC over the names of the columns and their cells, as text, in sorted order: a server keeps no order of rows."""
    read = read_frame(path, TextFormat(missing_marks=()))
    texts = pl.DataFrame([spell_cells(column) for column in read.get_columns()]).sort(read.columns)
    digest = hmac.new(key, digestmod=hashlib.sha256)
    for part in (json.dumps([texts.columns, texts.height]).encode(), *_list_buffers(texts)):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def _compute_spark_digest(path: str | Path, key: bytes) -> str:
    """The digest of a table of Spark, from a new copy of it."""
    from sfumato.engine.scratch import open_scratch_folder
    from sfumato.engine.server_copy import SortedTexts
    from sfumato.engine.staging import open_stored_rows

    with open_scratch_folder() as scratch:
        open_stored_rows(path, TextFormat(), scratch, "spark")
        return _compute_sorted_digest(SortedTexts(scratch), key)


def _compute_sorted_digest(texts: SortedTexts, key: bytes) -> str:
    """`_compute_table_digest` of rows that are read some at a time, three times for each column."""
    digest = hmac.new(key, digestmod=hashlib.sha256)

    def add_part(length: int, *blocks: bytes) -> None:
        digest.update(length.to_bytes(8, "big"))
        for block in blocks:
            digest.update(block)

    header = json.dumps([texts.columns, texts.height]).encode()
    add_part(len(header), header)
    for column in range(len(texts.columns)):
        add_part(texts.height)
        for cells in texts.iterate(column):
            digest.update(bytes(cells.is_null().to_numpy().astype("u1")))
        end = 0
        add_part(8 * (texts.height + 1), bytes(8))
        for cells in texts.iterate(column):
            ends = end + cells.str.len_bytes().fill_null(0).cast(pl.Int64).cum_sum().to_numpy()
            digest.update(ends.astype("<i8").tobytes())
            end = int(ends[-1])
        add_part(end)
        for cells in texts.iterate(column):
            digest.update("".join(cells.drop_nulls().to_list()).encode())
    return digest.hexdigest()


def _list_buffers(texts: pl.DataFrame) -> Iterator[bytes]:
    """For each column, which cells there are, where each ends, and their letters."""
    for column in texts.get_columns():
        cells = rebuild_column(column).rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        yield bytes(column.is_null().to_numpy().astype("u1"))
        yield from (b"" if buffer is None else buffer.to_pybytes() for buffer in cells.buffers()[1:])


def _compute_keyed_digest(paths: Sequence[Path], key: bytes) -> str:
    """HMAC over each file's length and bytes, so that no two lists of files give the same input."""
    digest = hmac.new(key, digestmod=hashlib.sha256)
    digest.update(len(paths).to_bytes(8, "big"))
    for path in paths:
        refuse_special(path)
        try:
            digest.update(path.stat().st_size.to_bytes(8, "big"))
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
        except OSError as error:
            raise DataError(f"{path}: the input cannot be read {explain_unreadable(error, path)}") from None
    return digest.hexdigest()
