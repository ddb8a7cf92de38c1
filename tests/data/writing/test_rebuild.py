# SPDX-License-Identifier: MIT
"""A rebuilt frame has the same cells, and memory that holds nothing else."""

from __future__ import annotations

import datetime as dt
import struct
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.items.long_form import write_table
from sfumato.data.writing.rebuild import rebuild_column, rebuild_frame
from sfumato.data.writing.table_writer import Format, write_frame
from tests.contract.canaries import bytes_of_arrow, bytes_of_file, leaked

NEWEST = pl.CompatLevel.newest()
COLUMNS: dict[str, Any] = {
    "text": [f"a text longer than twelve letters {n}" for n in range(40)],
    "short": [f"s{n}" for n in range(40)],
    "whole": [10**12 + n for n in range(40)],
    "byte": pl.Series(range(40), dtype=pl.UInt8),
    "half": [n + 0.5 for n in range(40)],
    "small": pl.Series([n + 0.5 for n in range(40)], dtype=pl.Float32),
    "truth": [n % 3 == 0 for n in range(40)],
    "day": [dt.date(2020, 1, 1) + dt.timedelta(n) for n in range(40)],
    "moment": [dt.datetime(2020, 1, 1, n % 24) for n in range(40)],
    "span": [dt.timedelta(hours=n) for n in range(40)],
    "hour": [dt.time(n % 24) for n in range(40)],
    "huge": pl.Series([10**30 + n for n in range(40)], dtype=pl.Int128),
    "list": [[n, n + 1] for n in range(40)],
    "nothing": [None] * 40,
}


def cut(frame: pl.DataFrame) -> pl.DataFrame:
    """Some rows dropped, some cells blanked, in several chunks."""
    frame = pl.concat([frame.slice(0, 15), frame.slice(15, 25)], rechunk=False)
    row_sample = frame.filter(pl.Series([n % 4 != 0 for n in range(40)]))
    blank = pl.Series([n % 3 == 0 for n in range(row_sample.height)])
    return row_sample.with_columns(
        pl.when(blank).then(None).otherwise(pl.col(name)).alias(name) for name in row_sample.columns
    )


@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column_keeps_its_cells_and_its_kind(name: str) -> None:
    column = cut(pl.DataFrame(COLUMNS))[name]
    new_column = rebuild_column(column)
    assert new_column.dtype == column.dtype
    assert new_column.equals(column, null_equal=True)
    assert rebuild_column(column.clear()).dtype == column.dtype
    assert new_column.name == name


@given(st.lists(st.one_of(st.none(), st.text(max_size=20), st.just("0" * 30))), st.integers(0, 5), st.integers(0, 20))
@settings(deadline=None)
def test_texts_stay_as_they_are_and_their_bytes_are_exactly_theirs(
    texts: list[str | None], start: int, count: int
) -> None:
    column = pl.Series("a", texts, dtype=pl.String).slice(start, count)
    new_column = rebuild_column(column)
    assert new_column.to_list() == texts[start : start + count]
    oldest = new_column.to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()
    letters = b"" if oldest[2] is None else oldest[2].to_pybytes()
    assert letters == "".join(text or "" for text in new_column.to_list()).encode()


def test_only_a_frame_that_was_rebuilt_is_not_rebuilt_again() -> None:
    new_frame = rebuild_frame(cut(pl.DataFrame({"text": COLUMNS["text"]})))
    assert rebuild_frame(new_frame) is new_frame
    for derived in (new_frame.head(3), new_frame.clone(), new_frame.with_columns(pl.col("text").alias("b"))):
        assert rebuild_frame(derived) is not derived


def test_a_blanked_cell_is_zero_below_its_mask() -> None:
    frame = rebuild_frame(cut(pl.DataFrame({name: COLUMNS[name] for name in ("text", "whole", "half", "truth")})))
    for name in ("whole", "half"):
        values = frame[name].to_arrow()
        raw_values = pa.Array.from_buffers(values.type, len(values), [None, values.buffers()[1]])
        assert [
            value for value, null in zip(raw_values.to_pylist(), values.is_null().to_pylist(), strict=True) if null
        ] == [0] * values.null_count
        assert values.null_count
    views = frame["text"].to_arrow(compat_level=NEWEST)
    assert views.type == pa.string_view()
    raw = views.buffers()[1].to_pybytes()
    lengths = [struct.unpack_from("<i", raw, 16 * index)[0] for index in range(len(views))]
    assert [length for length, null in zip(lengths, views.is_null().to_pylist(), strict=True) if null] == [
        0
    ] * views.null_count


def test_categories_that_nobody_has_are_gone() -> None:
    enum = pl.Series("a", ["seen", "unseen"], dtype=pl.Enum(["seen", "unseen", "never seen"]))
    words = ["unseen", "never seen"]
    assert leaked(words, bytes_of_arrow(rebuild_frame(enum.head(1).to_frame()).to_arrow(compat_level=NEWEST))) == []


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "arrow", "excel", "stata", "spss"])
def test_no_writer_finds_dropped_rows_or_blanked_cells(kind: Format, tmp_path: Path) -> None:
    whole = pl.DataFrame({name: COLUMNS[name] for name in ("text", "whole", "half")})
    frame = cut(whole)
    write_frame(frame.with_columns(there=1), tmp_path / "data", kind)
    blobs = list(bytes_of_file(tmp_path / "data"))
    dropped_texts = sorted(set(whole["text"]) - set(frame["text"].drop_nulls()), key=len)
    ends = [text for text in dropped_texts if not any(text in kept_text for kept_text in frame["text"].drop_nulls())]
    assert ends
    assert leaked(ends, blobs) == []
    numbers = set(whole["whole"]) - set(frame["whole"].drop_nulls())
    assert not any(number.to_bytes(8, "little") in blob for blob in blobs for number in numbers)
    assert not any(struct.pack("<d", number) in blob for blob in blobs for number in numbers)
    assert not any(str(number).encode() in blob for blob in blobs for number in numbers)


def test_the_statistics_of_a_parquet_file_are_those_of_published_cells(tmp_path: Path) -> None:
    whole = pl.DataFrame({"a": [1, 50, 99], "t": ["aaa", "mmm", "zzz"]})
    blanked = whole.with_columns(pl.when(pl.col("a") == 50).then(pl.col(name)).alias(name) for name in whole.columns)
    write_frame(blanked, tmp_path / "data.parquet", "parquet")
    chunks = pq.read_metadata(tmp_path / "data.parquet").row_group(0)
    bounds = [(chunks.column(n).statistics.min, chunks.column(n).statistics.max) for n in range(2)]
    assert bounds == [(50, 50), ("mmm", "mmm")]


def test_files_hold_no_metadata_of_pandas(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1]})
    write_frame(frame, tmp_path / "data.parquet", "parquet")
    write_frame(frame, tmp_path / "data.arrow", "arrow")
    assert set(pq.read_metadata(tmp_path / "data.parquet").metadata or {}) <= {b"ARROW:schema"}
    assert not pyarrow.feather.read_table(tmp_path / "data.arrow").schema.metadata


def test_a_long_form_parquet_file_holds_its_rows_alone(tmp_path: Path) -> None:
    items = pl.Series([f"an item with a long name {n}" for n in range(9)])
    write_table(tmp_path / "long.parquet", ("id", "item"), (pl.Series([1, 2]), items.gather([3, 4])), None)
    words = [f"an item with a long name {n}" for n in (0, 1, 2, 5, 6, 7, 8)]
    assert leaked(words, bytes_of_file(tmp_path / "long.parquet")) == []
