# SPDX-License-Identifier: MIT
"""Basket files: every format there and back, real files by count, bad files by message."""

from __future__ import annotations

import gzip
import os
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.baskets import BasketFormat, Baskets
from sfumato.data.items import basket_files
from sfumato.data.items.basket_files import read_fimi, tokenize
from sfumato.errors import DataError, PolicyError

SECRET = "7431"
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
NUMBERS = st.integers(0, 2**63 - 1)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1).map(
    lambda word: f"{word}x"
)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1)
ANY_TEXT = st.text(min_size=1).map(lambda word: f"{word}x")


def lists_of(items: st.SearchStrategy[Any], least: int) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(items, min_size=least, max_size=6), min_size=1, max_size=8)


def write_file(folder: Path, text: str | bytes, name: str = "baskets.dat") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def message_for(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as error:
        Baskets.read(path, **options)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert SECRET not in message.removeprefix(str(path))
    return message.removeprefix(f"{path}: ")


def assert_comes_back(baskets: Baskets, path: Path, format: BasketFormat | None = None) -> None:
    baskets.write(path, format)
    reread_baskets = Baskets.read(path, format)
    assert reread_baskets.to_lists() == baskets.to_lists()
    assert reread_baskets.items == baskets.items


# There and back


@SAME_FOLDER
@given(st.one_of(lists_of(NUMBERS, 0), lists_of(WORDS, 0)), st.sampled_from(["b.dat", "b.dat.gz"]))
def test_fimi_comes_back(tmp_path: Path, lists: list[list[Any]], name: str) -> None:
    assert_comes_back(Baskets.of(lists), tmp_path / name)
    assert_comes_back(Baskets.of(lists), tmp_path / "b.anything", "fimi")


@SAME_FOLDER
@given(st.one_of(lists_of(NUMBERS, 1), lists_of(NAMES, 1)), st.sampled_from(["b.txt", "b.txt.gz"]))
def test_spmf_comes_back(tmp_path: Path, lists: list[list[Any]], name: str) -> None:
    assert_comes_back(Baskets.of(lists), tmp_path / name)
    assert_comes_back(Baskets.of(lists), tmp_path / name, "spmf")


@settings(SAME_FOLDER, max_examples=25)  # binary files are read by a process of its own
@given(
    st.one_of(lists_of(st.integers(-(2**63), 2**63 - 1), 0), lists_of(ANY_TEXT, 0)),
    st.sampled_from(["b.csv", "b.tsv", "b.parquet", "b.csv.gz"]),
)
def test_long_form_comes_back(tmp_path: Path, lists: list[list[Any]], name: str) -> None:
    baskets = Baskets.of(lists)
    assert_comes_back(baskets, tmp_path / name)
    assert Baskets.read(tmp_path / name).ids == tuple(range(len(baskets)))


@settings(SAME_FOLDER, max_examples=25)  # binary files are read by a process of its own
@given(st.lists(ANY_TEXT, min_size=1, unique=True), st.sampled_from(["b.csv", "b.parquet"]))
def test_ids_come_back_with_the_long_form(tmp_path: Path, ids: list[str], name: str) -> None:
    baskets = Baskets.of([[number, number + 1] for number in range(len(ids))], ids=ids)
    baskets.write(tmp_path / name, id="who", item="what")
    assert Baskets.read(tmp_path / name, id="who", item="what") == baskets


def test_numbers_as_text_keep_their_type_where_the_file_can_say_so(tmp_path: Path) -> None:
    baskets = Baskets.of([["1", "2"]])
    for name in ("b.txt", "b.parquet"):
        assert_comes_back(baskets, tmp_path / name)
    baskets.write(tmp_path / "b.dat")
    assert Baskets.read(tmp_path / "b.dat").to_lists() == [[1, 2]]


# FIMI, line by line


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("1 2 \n3 \n", [[1, 2], [3]]),
        ("3 1 2\n", [[1, 2, 3]]),
        ("1 2\n3", [[1, 2], [3]]),
        ("1 2\r\n\r\n3\r\n", [[1, 2], [], [3]]),
        ("1 2\r3\r", [[1, 2], [3]]),
        ("86 1 86\n", [[1, 86]]),
        ("0 5\n", [[0, 5]]),
        ("1\n\n2\n", [[1], [], [2]]),
        ("1\n\n", [[1]]),
        ("1\n  \n", [[1]]),
        ("1\n\n\n", [[1], []]),
        ("\n1\n", [[], [1]]),
        ("\n\n", [[]]),
        ("\t1\t\t2\n", [[1, 2]]),
        ("\ufeff1 2\n", [[1, 2]]),
        ("10 9\n", [[9, 10]]),
        ("10 09\n", [["09", "10"]]),
        ("+1 2\n", [["+1", "2"]]),
        ("9223372036854775808\n", [["9223372036854775808"]]),
        ("b é #a\n@c\n", [["#a", "b", "é"], ["@c"]]),
    ],
)
def test_fimi_lines(tmp_path: Path, text: str, lists: list[list[Any]]) -> None:
    assert Baskets.read(write_file(tmp_path, text)).to_lists() == lists
    assert Baskets.read(write_file(tmp_path, gzip.compress(text.encode()))).to_lists() == lists


# SPMF, line by line


@SAME_FOLDER
@given(
    st.lists(
        st.lists(st.one_of(st.integers(0, 2**63), st.integers(0, 30), WORDS, st.just("007")), max_size=5), min_size=1
    ),
    st.integers(1, 12),
)
def test_stretches_of_any_length_say_the_same(tmp_path: Path, lists: list[list[Any]], length: int) -> None:
    """Numbers, large numbers and words in turns: a word has one number wherever a stretch ends."""
    path = write_file(tmp_path, "".join(" ".join(map(str, row)) + "\n" for row in lists) + "last\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(basket_files, "_STRETCH", length)
        baskets = Baskets.read(path)
    assert baskets.to_lists() == [sorted(set(map(str, row))) for row in lists] + [["last"]]


def test_spmf_comments_names_and_empty_lines(tmp_path: Path) -> None:
    text = "@CONVERTED_FROM_TEXT\n@ITEM=1=apple\n@ITEM=2=a=b \n# note\n2 1 \n\n% note\n@NAME=x\n3 1\n\n"
    path = write_file(tmp_path, text, "spmf.txt")
    assert Baskets.read(path).to_lists() == [["a=b ", "apple"], ["3", "apple"]]
    assert Baskets.read(path) == Baskets.read(path, "spmf")


def test_spmf_numbers_stay_numbers_without_names_and_names_stay_text(tmp_path: Path) -> None:
    assert Baskets.read(write_file(tmp_path, "#\n2 10\n", "a.txt")).to_lists() == [[2, 10]]
    assert Baskets.read(write_file(tmp_path, "@ITEM=1=10\n1\n", "b.txt")).to_lists() == [["10"]]


def test_spmf_items_must_be_told_apart(tmp_path: Path) -> None:
    text = f"@ITEM=1={SECRET}\n@ITEM=2={SECRET}\n@ITEM=3=\n1 2 3\n"
    assert message_for(write_file(tmp_path, text, "b.txt")).startswith("2 items have an empty or duplicate @ITEM name")


# Long form, by column


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_long_form_finds_its_separator(tmp_path: Path, separator: str) -> None:
    rows = [
        ["product", "note", "customer"],
        ["b", "n", "z"],
        ["a", "", "y"],
        ["a", "n", "z"],
        ["b", "n", "z"],
    ]
    text = "\r\n".join(separator.join(row) for row in rows) + "\r\n\r\n"
    path = write_file(tmp_path, text, "long.csv")
    for given_separator in (None, separator):
        baskets = Baskets.read(path, "long", id="customer", item="product", separator=given_separator)
        assert baskets == Baskets.of([["a", "b"], ["a"]], ids=["z", "y"])


def test_long_form_keeps_leading_zeros(tmp_path: Path) -> None:
    path = write_file(tmp_path, "id,item\n1,007\n1,12\n", "b.csv")
    assert Baskets.read(path) == Baskets.of([["007", "12"]], ids=[1])


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": ["7", "7", "8"], "item": [5, 4, 5]}, schema_overrides={"item": pl.UInt8})
    frame.write_parquet(tmp_path / "b.parquet")
    assert Baskets.read(tmp_path / "b.parquet") == Baskets.of([[4, 5], [5]], ids=["7", "8"])
    frame.cast(pl.String).cast(pl.Categorical).write_parquet(tmp_path / "c.parquet")
    assert Baskets.read(tmp_path / "c.parquet").to_lists() == [["4", "5"], ["5"]]


def test_missing_cells_are_counted(tmp_path: Path) -> None:
    path = write_file(tmp_path, f'id,item\n{SECRET},\n1,{SECRET}\n2,""\n,{SECRET}\n', "b.csv")
    assert message_for(path).startswith('"id" is missing in 1 of 4 rows, first in row 3')
    path = write_file(tmp_path, f'id,item\n{SECRET},\n1,{SECRET}\n2,""\n{SECRET},1\n', "b.csv")
    assert message_for(path).startswith('"item" is missing in 1 of 4 rows, first in row 0')
    pl.DataFrame({"id": [2, 2], "item": [SECRET, None]}).write_parquet(tmp_path / "b.parquet")
    assert message_for(tmp_path / "b.parquet").startswith('"item" is missing in 1 of 2 rows, first in row 1')


def test_an_id_alone_has_an_empty_basket(tmp_path: Path) -> None:
    path = write_file(tmp_path, 'id,item\na,\nb,7\nc,""\n', "b.csv")
    assert Baskets.read(path) == Baskets.of([[], [7], []], ids=["a", "b", "c"])
    Baskets.of([[], ["whole milk"], []]).write(tmp_path / "c.csv")
    assert Baskets.read(tmp_path / "c.csv").to_lists() == [[], ["whole milk"], []]


def test_long_form_problems(tmp_path: Path) -> None:
    headless = write_file(tmp_path, f"{SECRET},{SECRET}\n", "b.csv")
    assert message_for(headless).startswith('the header lacks some of "id", "item"')
    assert "has no rows" in message_for(write_file(tmp_path, "id,item\n", "b.csv"))
    ragged = write_file(tmp_path, f"id,item\n1,{SECRET},{SECRET}\n", "b.csv")
    assert "cannot be read as a table" in message_for(ragged)
    damaged = write_file(tmp_path, b"PAR1" + SECRET.encode() * 9 + b"PAR1", "b.parquet")
    assert "damaged or truncated" in message_for(damaged)
    pl.DataFrame({"id": [1], "item": [7431.5]}).write_parquet(tmp_path / "b.parquet")
    assert message_for(tmp_path / "b.parquet").startswith('column "item" is Float64; cast it')
    assert message_for(tmp_path / "b.parquet", item="x").startswith("the header lacks")


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    path = write_file(tmp_path, "id,item\n1,2\n", "b.csv")
    for options in ({"item": "id"}, {"separator": "::"}, {"separator": "\n"}):
        with pytest.raises(PolicyError):
            Baskets.read(path, **options)  # type: ignore[arg-type]
        with pytest.raises(PolicyError):
            Baskets.of([[1]]).write(path, **options)  # type: ignore[arg-type]


# Bad files


@pytest.mark.parametrize(
    ("text", "message_start"),
    [
        (b"", "the file is empty"),
        (gzip.compress(b"", mtime=0), "the file is empty"),
        (b"\n", "the file holds no basket"),
        (b"1\n2 -7431\n-7431 -3\n", "2 lines hold negative items, the first is line 2; "),
        (b"7431\n7431 \xff\n", "line 2 is not UTF-8 text"),
        ("7431".encode("utf-16"), "line 1 is not UTF-8 text"),
        (gzip.compress(b"7431 " * 999, mtime=0)[:-9], "the gzip file is damaged or truncated"),
        (gzip.compress(b"7431 ", mtime=0)[:12], "the gzip file is damaged or truncated"),
        (gzip.compress(b"7431 ", mtime=0) + b"7431", "the gzip file is damaged or truncated"),
    ],
)
def test_bad_files(tmp_path: Path, text: bytes, message_start: str) -> None:
    for name in ("b.dat", "b.txt"):
        assert message_for(write_file(tmp_path, text, name)).startswith(message_start)
    if b"-" in text:
        assert "Sequences.read" in message_for(write_file(tmp_path, text, "b.txt"), format="spmf")


def test_spmf_without_baskets(tmp_path: Path) -> None:
    path = write_file(tmp_path, f"@ITEM=1={SECRET}\n\n", "b.txt")
    assert message_for(path).startswith("the file holds no basket")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert "Is a directory" in message_for(tmp_path, format="fimi")
    assert "No such file" in message_for(tmp_path / "none.dat")
    assert "No such file" in message_for(tmp_path / "none")
    if os.geteuid():
        locked = write_file(tmp_path, SECRET)
        locked.chmod(0)
        assert "Permission denied" in message_for(locked)


# Writing


@pytest.mark.parametrize(
    ("lists", "name", "message"),
    [
        ([["7431 a"], ["b"]], "b.dat", "1 item holds blanks or is negative"),
        ([[-7431, 1]], "b.dat", "1 item holds blanks or is negative"),
        ([["-7431", "a"]], "b.dat", "1 item holds blanks or is negative"),
        ([[-7431, 1]], "b.txt", "1 item holds line ends or is negative"),
        ([["7431\n", "a"]], "b.txt", "1 item holds line ends or is negative"),
        ([[7431], []], "b.txt", "1 of 2 lists are empty, and SPMF skips"),
        ([], "b.dat", "there is nothing to write"),
        ([], "b.txt", "there is nothing to write"),
        ([], "b.parquet", "there is nothing to write"),
        ([[7431]], "no/such/folder/b.dat", "the file cannot be written: No such file"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path: Path, lists: list[list[Any]], name: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        Baskets.of(lists).write(tmp_path / name)
    assert SECRET not in str(error.value).removeprefix(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path, "1 2\n")

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(DataError, match="cannot be written: No space left"):
        Baskets.of([[3]]).write(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "1 2\n"


def test_written_files_repeat_byte_for_byte(tmp_path: Path) -> None:
    for name in ("one.dat.gz", "two.dat.gz"):
        Baskets.of([[2, 1], [], [3]]).write(tmp_path / name)
    assert (tmp_path / "one.dat.gz").read_bytes() == (tmp_path / "two.dat.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.dat.gz").read_bytes()) == b"1 2\n\n3\n"


# Real files; the counts are those of the data folder's README


class Counts(NamedTuple):
    baskets: int
    items: int
    shortest: int
    longest: int
    occurrences: int


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("mushroom.dat", Counts(8_124, 119, 23, 23, 8_124 * 23)),
        ("chess.dat", Counts(3_196, 75, 37, 37, 3_196 * 37)),
        ("retail.dat.gz", Counts(88_162, 16_470, 1, 76, 908_576)),
        ("T10I4D100K.dat.gz", Counts(100_000, 870, 1, 29, 1_010_228)),
        ("bms-webview-1.dat", Counts(59_602, 497, 1, 267, 149_639)),
        ("kosarak-25k.dat", Counts(25_000, 14_804, 1, 608, 201_061)),
    ],
)
def test_real_files(shared_data: Path, name: str, counts: Counts) -> None:
    path = shared_data / "fimi" / name
    baskets = Baskets.read(path)
    lengths = np.diff(baskets.offsets)
    assert Counts(len(baskets), len(baskets.items), lengths.min(), lengths.max(), baskets.codes.size) == counts
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    assert baskets.to_lists() == [sorted({int(word) for word in line.split()}) for line in text.splitlines()]


def test_real_quirks(shared_data: Path) -> None:
    kosarak = shared_data / "fimi" / "kosarak-25k.dat"
    raw = read_fimi(kosarak)
    line = raw.codes[raw.offsets[10_101] : raw.offsets[10_102]]
    assert [raw.items[code] for code in line.tolist()].count(86) == 2
    assert Baskets.read(kosarak).to_lists()[10_101].count(86) == 1
    assert raw.codes.size - Baskets.read(kosarak).codes.size == 1
    items = np.array(raw.items)[raw.codes].tolist()
    lines = [items[start:stop] for start, stop in pairwise(raw.offsets.tolist())]
    assert sum(line != sorted(line) for line in lines) == 17_861
    for name in ("retail.dat.gz", "T10I4D100K.dat.gz"):
        assert Baskets.read(shared_data / "fimi" / name).items[0] == 0
    webview = Baskets.read(shared_data / "fimi" / "bms-webview-1.dat").items
    assert (webview[0], webview[-1]) == (10_291, 60_977)


def test_a_million_items_parse_well_under_a_second(shared_data: Path) -> None:
    path = shared_data / "fimi" / "T10I4D100K.dat.gz"
    Baskets.read(shared_data / "fimi" / "chess.dat")
    took = []
    for _ in range(3):
        start = time.perf_counter()
        Baskets.read(path)
        took.append(time.perf_counter() - start)
    assert min(took) < 1


MARKED_WORDS = [
    "-1",
    "-2",
    "-9",
    "-0",
    "-",
    "--1",
    "-12",
    "1-2",
    "0",
    "00",
    "01",
    "5",
    "12",
    "999999",
    "9999999",
    "a",
    "é",
]


@given(
    st.lists(st.tuples(st.sampled_from(MARKED_WORDS), st.sampled_from([" ", "\n", " -1 ", "\t"]))),
    st.sampled_from(MARKED_WORDS),
)
def test_words_are_numbered_as_they_appear(words: list[tuple[str, str]], last: str) -> None:
    """Small numbers and the marks of SPMF are read by arithmetic, everything else as words: nobody sees which."""
    text = "".join(word + gap for word, gap in words) + last
    tokens = tokenize(text.encode())
    split = [(number, word) for number, line in enumerate(text.split("\n")) for word in line.split()]
    assert [tokens.words[code] for code in tokens.codes] == [word for _, word in split]
    assert tokens.words == list(dict.fromkeys(word for _, word in split))
    assert tokens.lines.tolist() == [number for number, _ in split]
