# SPDX-License-Identifier: MIT
"""Sequence files: every format there and back, real files by count, bad files by message."""

from __future__ import annotations

import gzip
import time
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.baskets import Baskets
from sfumato.errors import DataError
from sfumato.sequences import Sequences

SECRET = "7431"
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
NUMBERS = st.integers(0, 2**63 - 1)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1)
ANY_TEXT = st.text(min_size=1).map(lambda word: f"{word}x")


def lists_of(items: st.SearchStrategy[Any], least: int) -> st.SearchStrategy[list[list[Any]]]:
    itemsets = st.lists(items, min_size=1, max_size=4)
    flat = st.lists(st.lists(items, min_size=least, max_size=5), min_size=1, max_size=6)
    nested = st.lists(st.lists(itemsets, min_size=least, max_size=5), min_size=1, max_size=6)
    return st.one_of(flat, nested)


def write_file(folder: Path, text: str | bytes, name: str = "sequences.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def message_for(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as error:
        Sequences.read(path, **options)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert SECRET not in message.removeprefix(str(path))
    return message.removeprefix(f"{path}: ")


def assert_comes_back(sequences: Sequences, path: Path) -> Sequences:
    sequences.write(path)
    reread_sequences = Sequences.read(path)
    singles = bool((np.diff(sequences.element_offsets) == 1).all())
    assert reread_sequences.flat == singles
    if sequences.flat == singles:
        assert reread_sequences.to_lists() == sequences.to_lists()
    assert reread_sequences.items == sequences.items
    return reread_sequences


# There and back


@SAME_FOLDER
@given(st.one_of(lists_of(NUMBERS, 0), lists_of(NAMES, 0)), st.sampled_from(["s.txt", "s.dat.gz"]))
def test_spmf_comes_back(tmp_path: Path, lists: list[list[Any]], name: str) -> None:
    sequences = Sequences.of(lists)
    assert assert_comes_back(sequences, tmp_path / name) == sequences


@settings(SAME_FOLDER, max_examples=25)  # binary files are read by a process of its own
@given(
    st.one_of(lists_of(st.integers(-99, 99), 1), lists_of(ANY_TEXT, 1)),
    st.sampled_from(["s.csv", "s.tsv", "s.parquet", "s.csv.gz"]),
)
def test_long_form_comes_back(tmp_path: Path, lists: list[list[Any]], name: str) -> None:
    ids = [f"p{number}" for number in range(len(lists))]
    assert assert_comes_back(Sequences.of(lists, ids), tmp_path / name) == Sequences.of(lists, ids)
    reread_sequences = assert_comes_back(Sequences.of(lists), tmp_path / name)
    assert reread_sequences.ids == tuple(range(len(lists)))


# SPMF, line by line


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("1 -1 2 -1 -2\n", [[1, 2]]),
        ("3 1 3 -1 2 -1 -2\n0 -1 -2", [[[1, 3], [2]], [[0]]]),
        ("1 -1 1 -1 -2 \r\n\r\n2 -1 -2\r\n\r\n", [[1, 1], [2]]),
        ("-2\n1 -1 -2\n-2\n", [[], [1], []]),
        ("# note\n1 -1 -2\n% note\n@x\n2 -1 -2\n", [[1], [2]]),
        ("b -1 a -1 -2\n", [["b", "a"]]),
        ("\ufeff5 5 -1 -2\n", [[5]]),
        (
            "@CONVERTED_FROM_TEXT\n@ITEM=1=apple\n@ITEM=2=a b\n@ITEM=-1=|\n2 -1 1 -1 3 -1 -2\n",
            [["a b", "apple", "3"]],
        ),
    ],
)
def test_spmf_lines(tmp_path: Path, text: str, lists: list[list[Any]]) -> None:
    assert Sequences.read(write_file(tmp_path, text)).to_lists() == lists
    assert Sequences.read(write_file(tmp_path, gzip.compress(text.encode()))).to_lists() == lists


@pytest.mark.parametrize(
    ("text", "message_start"),
    [
        (b"", "the file is empty"),
        (b"# 7431\n\n", "the file holds no sequence"),
        (b"1 -1 -2\n7431 -1\n7431 -1 2 -1\n", "2 lines do not end in -2"),
        (b"1 -1 -2\n7431 7431\n", "line 2 does not end in -2"),
        (b"1 -1 -2\n7431 -1 -2 2 -1 -2\n", "line 2 continues after -2"),
        (b"1 -1 -2\n7431 -2\n", "line 2 holds items between the last -1 and -2"),
        (b"1 -1 -2\n-1 7431 -1 -2\n", "line 2 holds a -1 that closes no item"),
        (b"1 -1 -2\n7431 -1 -1 -2\n", "line 2 holds a -1 that closes no item"),
        (b"1 -1 -2\n-7431 -1 -2\n", "line 2 holds negative items"),
        (b"1 -1 -2\n7431 \xe9 -1 -2\n", "line 2 is not UTF-8 text"),
        (gzip.compress(b"7431 -1 -2", mtime=0)[:-4], "the gzip file is damaged or truncated"),
    ],
)
def test_bad_spmf_files(tmp_path: Path, text: bytes, message_start: str) -> None:
    message = message_for(write_file(tmp_path, text))
    assert message.startswith(message_start)
    assert " lines " not in message_start or message.endswith("; the first is line 2")


def test_baskets_and_sequences_point_to_each_other(tmp_path: Path) -> None:
    assert "Baskets.read" in message_for(write_file(tmp_path, "1 2 3\n"))
    with pytest.raises(DataError, match=r"Sequences\.read"):
        Baskets.read(write_file(tmp_path, "1 -1 2 -1 -2\n"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "Is a directory" in message_for(tmp_path)
    assert "No such file" in message_for(tmp_path / "none.csv")


# Long form, by time


@pytest.mark.parametrize(
    "times",
    [
        ["10", "9", "10", "-1"],
        ["10.5", "9", "10.50", "-1e0"],
        ["2024-10-01", "2024-09-30", "2024-10-01", "2023-12-31"],
        ["10:15", "8:05", "10:15", "0:30"],
        ["30/06/2009 10:00", "1/07/2008 9:00", "30/06/2009 10:00", "28/06/2009 11:00"],
        ["6/30/2009 10:00", "12/14/2008 9:00", "6/30/2009 10:00", "6/28/2009 11:00"],
        ["2024-05-01 08:00:30", "2024-05-01 08:00", "2024-05-01 08:00:30", "2024-04-30 23:00"],
        ["2024-05-01T09:00+02:00", "2024-05-01T06:30Z", "2024-05-01T07:00Z", "2024-05-01T08:00+02:00"],
        ["2024-05-01", "2024-04-30 10:00", "2024-05-01", "2023-12-31 09:00"],
        ["week 12", "week 02", "week 12", "week 01"],
        ["noon", "morning", "noon", "a day before"],
    ],
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_rows_are_put_in_order_of_time(tmp_path: Path, times: list[str], separator: str) -> None:
    rows = [("when", "who", "what"), *zip(times, "baab", "qprs", strict=True)]
    text = "\n".join(separator.join(row) for row in rows)
    sequences = Sequences.read(write_file(tmp_path, text, "s.csv"), id="who", item="what", time="when")
    assert sequences == Sequences.of([[["s"], ["q"]], [["p"], ["r"]]], ids=["b", "a"])


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["9", "10", "noon", "8"], '"when" is a number in 3 of 4 rows and text in the others, first in row 2'),
        (["9", "10", "nan", "inf"], '"when" is a number in 2 of 4 rows'),
        (["T1", "T2", "T10", "T3"], '"when" mixes several text formats'),
        (["5/1/2024 8:00", "12/11/2023 9:00", "5/2/2024 8:00", "6/1/2024 8:00"], "with ambiguous day and month"),
        (
            ["5/1/24 8:00", "12/31/23 9:00", "5/2/24 8:00", "6/1/24 8:00"],
            "several forms, or no four digits for the year",
        ),
        (["05-01-2024", "12-01-2023", "05-02-2024", "06-01-2024"], "with ambiguous day and month"),
    ],
)
def test_times_that_stand_in_another_order_as_text_are_refused(tmp_path: Path, times: list[str], message: str) -> None:
    """They were put in the order of their letters: 10 before 9, and December 2023 after May 2024."""
    rows = "\n".join(f"1,{SECRET}{number},{time}" for number, time in enumerate(times))
    with pytest.raises(DataError) as refusal:
        Sequences.read(write_file(tmp_path, f"id,item,when\n{rows}\n", "s.csv"), time="when")
    assert message in str(refusal.value)
    assert "s.csv" in str(refusal.value)
    assert str(refusal.value).endswith("write times as 2009-06-30 12:00, or as numbers")
    assert all(time not in str(refusal.value).replace("2009-06-30 12:00", "") for time in times if len(time) > 2)


def test_items_of_one_time_form_one_element(tmp_path: Path) -> None:
    text = "id\titem\ttime\n1\tb\t5\n2\tc\t5\n1\ta\t5\n1\ta\t4\n1\tb\t5\n"
    sequences = Sequences.read(write_file(tmp_path, text, "s.tsv"))
    assert sequences.to_lists() == [[["a"], ["a", "b"]], [["c"]]]


@pytest.mark.parametrize(
    "times",
    [[3, 1, 2], [0.3, 0.1, 0.2], [date(2024, 3, 1), date(2024, 1, 9), date(2024, 2, 1)], ["30", "4", "5"]],
)
def test_parquet_times_keep_their_order(tmp_path: Path, times: list[Any]) -> None:
    frame = pl.DataFrame({"id": [1, 1, 1], "item": ["c", "a", "b"], "time": times})
    frame.write_parquet(tmp_path / "s.parquet")
    assert Sequences.read(tmp_path / "s.parquet").to_lists() == [["a", "b", "c"]]


def test_missing_cells_and_odd_times_are_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, f"id,item,time\n{SECRET},{SECRET},\n1,{SECRET},2\n", "s.csv")
    assert message_for(path).startswith('"time" is missing in 1 of 2 rows, first in row 0')
    pl.DataFrame({"id": [1], "item": [7431], "time": [float("nan")]}).write_parquet(tmp_path / "s.parquet")
    assert message_for(tmp_path / "s.parquet").startswith('"time" is missing in 1 of 1 rows')
    pl.DataFrame({"id": [1], "item": [7431], "time": [True]}).write_parquet(tmp_path / "s.parquet")
    assert message_for(tmp_path / "s.parquet").startswith('column "time" is Boolean')
    assert message_for(write_file(tmp_path, "id,item\n1,2\n", "s.csv")).startswith('the header lacks "time";')


@pytest.mark.parametrize(
    ("lists", "name", "message"),
    [
        ([], "s.txt", "there is nothing to write"),
        ([[7431], []], "s.csv", "1 of 2 lists are empty"),
        ([[-7431]], "s.txt", "1 item holds line ends or is negative"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path: Path, lists: list[list[Any]], name: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        Sequences.of(lists).write(tmp_path / name)
    assert SECRET not in str(error.value).removeprefix(str(tmp_path))
    assert not list(tmp_path.iterdir())


# Real files; the counts are those of the data folder's README


class Counts(NamedTuple):
    sequences: int
    items: int
    shortest: int
    longest: int
    mean: float
    distinct: int


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("SIGN.txt", Counts(730, 267, 18, 94, 52.00, 730)),
        ("LEVIATHAN.txt", Counts(5_834, 9_025, 9, 100, 33.81, 5_834)),
        ("MSNBC.txt", Counts(31_790, 17, 9, 100, 13.33, 30_247)),
        ("bms-webview-1.seq.txt", Counts(59_601, 497, 1, 267, 2.51, 18_473)),
        ("kosarak10k.txt", Counts(10_000, 10_094, 1, 608, 8.14, 7_614)),
    ],
)
def test_real_files(shared_data: Path, name: str, counts: Counts) -> None:
    path = shared_data / "sequences" / name
    sequences = Sequences.read(path)
    lists = sequences.to_lists()
    lengths = np.diff(sequences.offsets)
    mean, distinct = round(float(lengths.mean()), 2), len(set(map(tuple, lists)))
    assert Counts(len(sequences), len(sequences.items), lengths.min(), lengths.max(), mean, distinct) == counts
    lines = [line for line in path.read_text().splitlines() if line]
    assert lists == [[int(word) for word in line.split() if word not in ("-1", "-2")] for line in lines]
    assert sequences.flat


def test_real_quirks(shared_data: Path) -> None:
    leviathan = Sequences.read(shared_data / "sequences" / "LEVIATHAN.txt").to_lists()
    assert sum(a == b for line in leviathan for a, b in pairwise(line)) == 3_831
    baskets = Baskets.read(shared_data / "fimi" / "bms-webview-1.dat").to_lists()
    sequences = Sequences.read(shared_data / "sequences" / "bms-webview-1.seq.txt").to_lists()
    assert [sorted(set(line)) for line in sequences] == baskets[:-1]


def test_msnbc_parses_well_under_a_second(shared_data: Path) -> None:
    path = shared_data / "sequences" / "MSNBC.txt"
    took = []
    for _ in range(3):
        start = time.perf_counter()
        Sequences.read(path)
        took.append(time.perf_counter() - start)
    assert min(took) < 1


def test_json_lines_and_workbooks_are_the_long_form_by_their_bytes(tmp_path: Path) -> None:
    """Without `format` they were read as SPMF: "12 lines do not end in -2"."""
    frame = pl.DataFrame({"id": [1, 1, 2], "item": ["a", "b", "a"], "time": [2, 1, 1]})
    frame.write_ndjson(tmp_path / "walks.jsonl")
    frame.write_parquet(tmp_path / "walks.data")
    for name in ("walks.jsonl", "walks.data"):
        assert Sequences.read(tmp_path / name).to_lists() == [["b", "a"], ["a"]]
