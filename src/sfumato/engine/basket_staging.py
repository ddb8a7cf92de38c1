# SPDX-License-Identifier: MIT
"""Bring a file of baskets into the scratch folder as codes, some lines or rows at a time.

Lines (FIMI, SPMF) are coded as they are read. Rows of the long form are numbered and grouped by duckdb, which puts on
disk what does not fit: baskets are in the order of the first appearance of their ids, as in memory. The vocabulary is
held in memory; ids are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.arrays import Codes, Ints
from sfumato.baskets import BasketFormat
from sfumato.data.items.basket_files import (
    Values,
    check_utf8,
    is_table_file,
    name_items,
    parse_item_types,
    refuse_negative_lines,
    tokenize,
)
from sfumato.data.items.long_form import (
    check_dialect,
    choose_long_separator,
    explain_missing_column,
    flag_missing_cells,
)
from sfumato.data.items.spmf_text import strip_spmf_comments
from sfumato.data.reading.arrow_frame import build_frame
from sfumato.data.reading.file_kinds import HEAD, detect_file_kind
from sfumato.data.reading.line_blocks import read_first_lines, read_line_blocks
from sfumato.data.reading.source import is_database, is_spark_table
from sfumato.data.reading.text_table import TextFormat, iterate_text_cells, read_first_bytes
from sfumato.engine.duckdb_rows import check_schemas, explain_damaged, open_connection, quote_sql_text, require_duckdb
from sfumato.engine.engine_names import ChosenEngine
from sfumato.engine.memory_budget import find_memory_budget, format_size
from sfumato.engine.parquet_writer import write_batches
from sfumato.engine.spark.spark_session import require_spark
from sfumato.engine.stored_baskets import BATCH_BASKETS, NO_ITEM, BasketWriter, StoredBaskets
from sfumato.engine.stored_rows import TooManyRows
from sfumato.errors import DataError, SfumatoError
from sfumato.runtime.progress import report_progress

_ROWS = 1 << 17
_COMMENT_LINE = re.compile(rb"[\r\n]*[#%@]")
BYTES_A_WORD = 300
"""What an item of the vocabulary takes."""
_ARCHIVE_SUFFIX = re.compile(r"\.(?:gz|bz2|xz|zst)$")


class BasketSource(NamedTuple):
    """A file of baskets, and how it spells them; see `Baskets.read`."""

    path: str | Path
    format: BasketFormat | None = None
    id: str = "id"
    item: str = "item"
    separator: str | None = None


Rename = Callable[[Sequence[str]], Sequence[str]]


def open_stored_baskets(
    source: BasketSource,
    scratch: Path,
    name: str = "baskets",
    rename: Rename | None = None,
    engine: ChosenEngine = "duckdb",
) -> StoredBaskets:
    """The baskets of a file, as codes in the scratch folder; items that are texts may be renamed."""
    path = Path(source.path)
    require_spark() if engine == "spark" else require_duckdb()
    match source.format or guess_stored_format(source):
        case "fimi" | "spmf" as lines:
            writer, values = _stage_lines(path, scratch, name, is_spmf=lines == "spmf")
        case "long" if engine == "spark":
            writer, values = _stage_on_spark(path, source, scratch, name)
        case "long":
            writer, values = _stage_long_form(path, source, scratch, name)
        case _:
            raise DataError(
                f"{path}: the engine {engine} reads baskets in long form, FIMI and SPMF; read comma lines with "
                "--engine memory, or convert them"
            )
    if rename is not None and all(isinstance(value, str) for value in values):
        values = rename([str(value) for value in values])
    return writer.finish(values, str(path))


def can_stage(source: BasketSource) -> bool:
    """Whether the file can be brought there, judged by its beginning."""
    try:
        form = source.format or guess_stored_format(source)
        if form == "long" and not is_table_file(Path(source.path)):
            _choose_separator(Path(source.path), (source.id, source.item), source.separator)
    except SfumatoError:
        return False
    return form != "comma"


def guess_stored_format(source: BasketSource) -> BasketFormat:
    """The format, from the name of the file or its first bytes."""
    path = Path(source.path)
    name = _ARCHIVE_SUFFIX.sub("", path.name.lower())
    if is_database(str(source.path)) or is_spark_table(source.path):
        raise DataError("the engines duckdb and spark read baskets in files; use --engine memory for a database")
    if name.endswith(".dat"):
        return "fimi"
    if name.endswith((".csv", ".tsv", ".parquet")) or is_table_file(path):
        return "long"
    return "spmf" if _COMMENT_LINE.match(read_first_lines(path)) else "fimi"


class _SeenWords:
    """Words by first appearance, refused if they are more than memory holds."""

    def __init__(self, path: Path) -> None:
        self.codes: dict[str | int, int] = {}
        self._path = path

    def number(self, words: list[str] | list[int]) -> Codes:
        """The code of each word."""
        codes = np.array([self.codes.setdefault(word, len(self.codes)) for word in words], dtype=np.int32)
        if len(self.codes) * BYTES_A_WORD > find_memory_budget():
            raise explain_many_items(self._path, len(self.codes))
        return codes


def explain_many_items(path: Path, count: int) -> DataError:
    """A vocabulary that memory does not hold."""
    need, budget = format_size(count * BYTES_A_WORD), format_size(find_memory_budget())
    return DataError(
        f"{path}: the file has more than {count:,} different items, which take {need}, and {budget} are available; set "
        "SFUMATO_MEMORY higher"
    )


def _stage_lines(path: Path, scratch: Path, name: str, *, is_spmf: bool) -> tuple[BasketWriter, Values]:
    """One basket from each line; in SPMF, neither from empty lines nor from comments."""
    vocabulary = _SeenWords(path)
    names: dict[str, str] = {}
    negative: list[Ints] = []
    line = 0
    with closing(BasketWriter(scratch, name)) as writer:
        for text, is_last in _mark_last(read_line_blocks(path)):
            if b"\r" in (plain := check_utf8(path, text, line)):
                plain = plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            lines = plain.count(b"\n")
            if is_spmf:
                plain, more = strip_spmf_comments(plain)
                names |= more
            tokens = tokenize(plain)
            negative.append(tokens.find_negative_lines() + line)
            count = tokens.line_count if is_last else lines
            sizes = np.bincount(tokens.lines, minlength=count)
            writer.add(sizes[sizes > 0] if is_spmf else sizes, vocabulary.number(tokens.words)[tokens.codes])
            line += lines
            report_progress("reading", writer.rows)
        refuse_negative_lines(path, np.concatenate([np.zeros(0, dtype=np.int64), *negative]))
        if not writer.rows:
            raise DataError(
                f"{path}: the file holds no basket; a file of lines has one on each {'plain ' if is_spmf else ''}line"
            )
        words = [str(word) for word in vocabulary.codes]
        return writer, name_items(path, words, names) if is_spmf else parse_item_types(words)


def _mark_last(blocks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Each block, and whether it is the last."""
    previous_block = None
    for block in blocks:
        if previous_block is not None:
            yield previous_block, False
        previous_block = block
    if previous_block is not None:
        yield previous_block, True


def _stage_long_form(path: Path, source: BasketSource, scratch: Path, name: str) -> tuple[BasketWriter, Values]:
    """One basket from all rows of an id, in the order of first rows."""
    columns = (source.id, source.item)
    check_dialect(columns, source.separator)
    is_typed = is_table_file(path)
    batches = _read_typed_rows(path, columns) if is_typed else _read_text_rows(path, columns, source.separator)
    vocabulary, staged_file = _SeenWords(path), scratch / f"{name}-rows.parquet"
    rows = write_batches(_code_rows(path, batches, vocabulary), staged_file, step="reading")
    if not rows:
        raise DataError(f"{path}: the file has no rows below its header")
    with closing(BasketWriter(scratch, name)) as writer:
        _sort_staged_codes(path, staged_file, scratch / f"{name}-grouped.parquet", source.item, rows, scratch)
        staged_file.unlink()
        _write_groups(scratch / f"{name}-grouped.parquet", writer)
        values = list(vocabulary.codes)
        return writer, values if is_typed else parse_item_types([str(value) for value in values])


def _stage_on_spark(path: Path, source: BasketSource, scratch: Path, name: str) -> tuple[BasketWriter, Values]:
    """The same by Spark's executors; text files are first copied to Parquet."""
    from sfumato.engine.spark.spark_baskets import count_items, gather_baskets
    from sfumato.engine.spark.spark_rows import SparkRows

    columns = (source.id, source.item)
    check_dialect(columns, source.separator)
    is_typed, file = is_table_file(path), path
    if is_typed:
        _refuse_unfit_types(path, columns)
    else:
        file = scratch / f"{name}-rows.parquet"
        write_batches(_read_text_rows(path, columns, source.separator), file, step="reading")
    rows = SparkRows([file], str(path), columns)
    if not rows.height:
        raise DataError(f"{path}: the file has no rows below its header")
    rows.refuse_unseen(scratch)
    report_progress("grouping baskets")
    most = find_memory_budget() // BYTES_A_WORD
    try:
        items = count_items(rows, source.item, most)
    except TooManyRows:
        raise explain_many_items(path, most) from None
    groups = gather_baskets(rows, columns, items, scratch, name)
    if groups.missing_ids:
        raise explain_missing_rows(path, source.id, groups.missing_ids, rows.height, groups.first_missing_id)
    if groups.missing_items:
        raise explain_missing_rows(path, source.item, groups.missing_items, rows.height, groups.first_missing_item)
    with closing(BasketWriter(scratch, name)) as writer:
        for part in groups.files:
            _write_groups(part, writer)
        if file != path:
            file.unlink()
        values = items.to_list()
        return writer, values if is_typed else parse_item_types([str(value) for value in values])


def _refuse_unfit_types(path: Path, columns: tuple[str, ...]) -> None:
    """Stop if a file is no Parquet, or its ids and items are neither texts nor integers."""
    _refuse_other_tables(path)
    schema = check_schemas([path])
    if not set(columns) <= set(schema.names):
        raise explain_missing_column(path, columns)
    empty = build_frame(schema.empty_table().select(list(columns)), path)
    for name in columns:
        _spell_plain(path, empty[name])


def _read_text_rows(path: Path, columns: tuple[str, ...], separator: str | None) -> Iterator[pl.DataFrame]:
    mark = _choose_separator(path, columns, separator)
    for cells in iterate_text_cells(path, TextFormat(mark, missing_marks=("",), trim=False)):
        if not set(columns) <= set(cells.columns):
            raise explain_missing_column(path, columns)
        yield cells.select(columns)


def _choose_separator(path: Path, columns: tuple[str, ...], separator: str | None) -> str:
    header = read_first_lines(path).split(b"\n", 1)[0].decode()
    return choose_long_separator(path, header, columns, separator)


def _refuse_other_tables(path: Path) -> None:
    if detect_file_kind(read_first_bytes(path, HEAD)) != "parquet":
        raise DataError(
            f"{path}: the engines duckdb and spark read baskets in text and Parquet files; use --engine memory, or "
            "convert it"
        )


def _read_typed_rows(path: Path, columns: tuple[str, ...]) -> Iterator[pl.DataFrame]:
    _refuse_other_tables(path)
    try:
        with pq.ParquetFile(path, pre_buffer=False) as parquet_file:
            if not set(columns) <= set(parquet_file.schema_arrow.names):
                raise explain_missing_column(path, columns)
            for batch in parquet_file.iter_batches(_ROWS, columns=list(columns)):
                yield build_frame(pa.Table.from_batches([batch]), path).select(columns)
    except (pa.ArrowException, OSError):
        raise explain_damaged(path) from None


def _code_rows(path: Path, batches: Iterator[pl.DataFrame], vocabulary: _SeenWords) -> Iterator[pl.DataFrame]:
    """The number of each row, its id, and the code of its item; stops at a row without an id."""
    first, missing, first_missing, name = 0, 0, 0, ""
    for batch in batches:
        ids, items = (_spell_plain(path, batch[column]) for column in batch.columns)
        gaps, name = flag_missing_cells(ids), ids.name
        if gaps.any():
            first_missing = first_missing if missing else first + int(gaps.arg_max() or 0)
            missing += int(gaps.sum())
        known_items = items.set(flag_missing_cells(items), None)
        distinct = known_items.drop_nulls().unique(maintain_order=True)
        codes = pl.Series(vocabulary.number(distinct.to_list()), dtype=pl.Int32)
        item_codes = known_items.replace_strict(distinct, codes, default=NO_ITEM, return_dtype=pl.Int32)
        yield pl.DataFrame({"row": np.arange(first, first + len(ids)), "id": ids, "code": item_codes})
        first += len(ids)
    if missing:
        raise explain_missing_rows(path, name, missing, first, first_missing)


def _spell_plain(path: Path, column: pl.Series) -> pl.Series:
    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype != pl.String and not column.dtype.is_integer():
        raise DataError(f'{path}: column "{column.name}" is {column.dtype}; cast it to text or integers')
    return column


def explain_missing_rows(path: Path, column: str, missing: int, rows: int, first: int) -> DataError:
    """Cells that a basket cannot do without."""
    return DataError(
        f'{path}: "{column}" is missing in {missing} of {rows} rows, first in row {first} (from 0); fill those cells '
        "or drop the rows"
    )


def _sort_staged_codes(path: Path, staged_file: Path, grouped_file: Path, item: str, rows: int, scratch: Path) -> None:
    """Sort the codes of all baskets by the first row of each; a code that a basket has twice is kept once."""
    duckdb = require_duckdb()
    table = f"read_parquet({quote_sql_text(str(staged_file))})"
    owners = f"(SELECT id, min(row) AS first, count(*) AS many FROM {table} GROUP BY id)"
    join_clause = f"{table} AS r JOIN {owners} AS o USING (id)"
    report_progress("grouping baskets")
    try:
        with open_connection(scratch) as connection:
            gaps = f"SELECT count(*), min(r.row) FROM {join_clause} WHERE r.code = {NO_ITEM} AND o.many > 1"
            missing, first = connection.execute(gaps).fetchone() or (0, 0)
            if missing:
                raise explain_missing_rows(path, item, missing, rows, first)
            query = f"SELECT o.first, r.code FROM {join_clause} GROUP BY 1, 2 ORDER BY 1, 2"
            connection.execute(f"COPY ({query}) TO {quote_sql_text(str(grouped_file))} (FORMAT parquet)")
    except duckdb.OutOfMemoryException:
        raise DataError(
            f"{path}: grouping the baskets needs more than {format_size(find_memory_budget())} of memory; set "
            "SFUMATO_MEMORY higher"
        ) from None
    except duckdb.Error as error:
        raise DataError(f"{path}: duckdb cannot group its rows ({type(error).__name__}); try --engine memory") from None


def _write_groups(grouped_file: Path, writer: BasketWriter) -> None:
    """Cut the sorted codes into baskets; the last basket of a part may go on in the next one."""
    owners, codes = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)
    with pq.ParquetFile(grouped_file, pre_buffer=False) as parquet_file:
        for batch in parquet_file.iter_batches(BATCH_BASKETS):
            owners = np.concatenate((owners, batch.column(0).to_numpy()))
            codes = np.concatenate((codes, batch.column(1).to_numpy()))
            end = int(np.searchsorted(owners, owners[-1]))
            _write_group(owners[:end], codes[:end], writer)
            owners, codes = owners[end:], codes[end:]
    _write_group(owners, codes, writer)
    grouped_file.unlink()


def _write_group(owners: Ints, codes: Codes, writer: BasketWriter) -> None:
    if len(owners):
        basket = np.cumsum(np.diff(owners, prepend=owners[0]) > 0)
        item_mask = codes != NO_ITEM
        writer.add(np.bincount(basket[item_mask], minlength=int(basket[-1]) + 1), codes[item_mask])
