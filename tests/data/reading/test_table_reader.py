# SPDX-License-Identifier: MIT
"""Reading files as they come: a right answer or a clear error, never a cell in a message."""

from __future__ import annotations

import datetime
import decimal
import gzip
import os
import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sfumato.data.reading.table_reader import TextFormat, read_frame
from sfumato.errors import DataError
from sfumato.table import Table

CANARY = "ZZSECRETZZ"


def read(tmp_path: Path, content: str | bytes, **text: Any) -> pl.DataFrame:
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_frame(path, TextFormat(**text))


def refusal(tmp_path: Path, content: str | bytes, **text: Any) -> str:
    with pytest.raises(DataError) as error:
        read(tmp_path, content, **text)
    message = str(error.value)
    assert str(tmp_path) in message, "the file is named"
    assert CANARY not in message
    return message


BIG = b"a,b\n" + b"".join(b"%d,%d\n" % (i, random.Random(i).randrange(10**6)) for i in range(30_000))

RIGHT: dict[str, tuple[str | bytes, dict[str, Any], dict[str, list[Any]]]] = {
    "plain": ("a,b\n1,x\n2,y\n", {}, {"a": [1, 2], "b": ["x", "y"]}),
    "utf-16": ("a,b\nmü,1\n".encode("utf-16"), {}, {"a": ["mü"], "b": [1]}),
    "utf-16 named": ("a,b\nmü,1\n".encode("utf-16-be"), {"encoding": "utf-16-be"}, {"a": ["mü"], "b": [1]}),
    "latin-1 named": ("a,b\nmü,1\n".encode("latin-1"), {"encoding": "latin-1"}, {"a": ["mü"], "b": [1]}),
    "cp1252 named": ("a\n€\n".encode("cp1252"), {"encoding": "cp1252"}, {"a": ["€"]}),
    "ebcdic named": ("a,b\n1,2\n".encode("cp500"), {"encoding": "cp500"}, {"a": [1], "b": [2]}),
    "bom": (b"\xef\xbb\xbfa,b\n1,2\n", {}, {"a": [1], "b": [2]}),
    "bom and quotes": (b'\xef\xbb\xbf"a","b"\n1,2\n', {}, {"a": [1], "b": [2]}),
    "crlf": ("a,b\r\n1,2\r\n", {}, {"a": [1], "b": [2]}),
    "cr": ("a,b\r1,2\r3,4\r", {}, {"a": [1, 3], "b": [2, 4]}),
    "no last newline": ("a,b\n1,2", {}, {"a": [1], "b": [2]}),
    "gzip": (gzip.compress(b"a,b\n1,2\n"), {}, {"a": [1], "b": [2]}),
    "gzip in parts": (gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"), {}, {"a": [1, 3], "b": [2, 4]}),
    "gzip and utf-16": (gzip.compress("a,b\n1,2\n".encode("utf-16")), {}, {"a": [1], "b": [2]}),
    "newline in quotes": ('a,b\n"x\ny",2\n', {}, {"a": ["x\ny"], "b": [2]}),
    "crlf in quotes": ('a,b\r\n"x\r\ny",2\r\n', {}, {"a": ["x\r\ny"], "b": [2]}),
    "quotes in quotes": ('a,b\n"x ""y""",2\n', {}, {"a": ['x "y"'], "b": [2]}),
    "separator in quotes": ('a,b\n"x,y",2\n', {}, {"a": ["x,y"], "b": [2]}),
    "quote inside a cell": ('a,b\nx"y,2\n', {}, {"a": ['x"y'], "b": [2]}),
    "no quoting": ('a,b\n"1,2\n', {"quote": None}, {"a": ['"1'], "b": [2]}),
    "nul": (b"a,b\nx\0y,2\n", {}, {"a": ["x\0y"], "b": [2]}),
    "semicolons": ("a;b\n1;2\n", {}, {"a": [1], "b": [2]}),
    "tabs": ("a\tb\n1\t2\n", {}, {"a": [1], "b": [2]}),
    "pipes": ("a|b\n1|2\n", {}, {"a": [1], "b": [2]}),
    "decimal commas": ("a;b\n1,5;2,5\n", {}, {"a": ["1,5"], "b": ["2,5"]}),
    "commas in quotes": ('n;m\n"a, b, c";"x, y"\n"d";"e"\n', {}, {"n": ["a, b, c", "d"], "m": ["x, y", "e"]}),
    "one column": ("a\nx\ny\n", {}, {"a": ["x", "y"]}),
    "one column with a gap": ("a\nx\n\ny\n", {}, {"a": ["x", None, "y"]}),
    "blank lines": ("a,b\n\n1,2\n\n\n3,4\n", {}, {"a": [1, 3], "b": [2, 4]}),
    "blanks around": ("a, b\n 1 , x \n", {}, {"a": [1], "b": ["x"]}),
    "blanks kept": ("a,b\n 1, x \n", {"trim": False}, {"a": [" 1"], "b": [" x "]}),
    "missing marks": ("a,b\n?,2\n,3\n", {}, {"a": [None, None], "b": [2, 3]}),
    "own missing marks": ("a,b\nNA,?\n1,2\n", {"missing_marks": ("NA",)}, {"a": [None, 1], "b": ["?", "2"]}),
    "no missing marks": ("a,b\n,2\n", {"missing_marks": ()}, {"a": [""], "b": [2]}),
    "leading zeros": ("a\n01\n02\n", {}, {"a": ["01", "02"]}),
    "one leading zero": ("a\n10\n02\n", {}, {"a": ["10", "02"]}),
    "huge integers": ("a\n123456789012345678901234\n1\n", {}, {"a": ["123456789012345678901234", "1"]}),
    "plus signs": ("a\n+5\n3\n", {}, {"a": ["+5", "3"]}),
    "hex": ("a\n0x10\n", {}, {"a": ["0x10"]}),
    "underscores": ("a\n1_000\n", {}, {"a": ["1_000"]}),
    "dates": ("a\n2020-01-02\n", {}, {"a": ["2020-01-02"]}),
    "truth": ("a\ntrue\nFalse\n", {}, {"a": ["true", "False"]}),
    "words of floats": ("a\ninf\nnan\n", {}, {"a": ["inf", "nan"]}),
    "other digits": ("a\n١\n٢\n", {}, {"a": ["١", "٢"]}),
    "emoji and right to left": ("a,b\n😀,שלום\n", {}, {"a": ["😀"], "b": ["שלום"]}),
    "stars": ("a,b\n*,**\n", {}, {"a": ["*"], "b": ["**"]}),
    "names empty": (",b,\n1,2,3\n", {}, {"column_0": [1], "b": [2], "column_2": [3]}),
    "name with newline": ('"a\nb",c\n1,2\n', {}, {"a\nb": [1], "c": [2]}),
    "name with html": ("<script>,b\n1,2\n", {}, {"<script>": [1], "b": [2]}),
    "name star": ("*,b\n1,2\n", {}, {"*": [1], "b": [2]}),
    "name regex": ("^.*$,b\n1,2\n", {}, {"^.*$": [1], "b": [2]}),
    "names that differ in case": ("a,A\n1,2\n", {}, {"a": [1], "A": [2]}),
    "names given": ("1,2\n", {"header": False, "columns": ("x", "y")}, {"x": [1], "y": [2]}),
    "names replaced": ("a,b\n1,2\n", {"columns": ("x", "y")}, {"x": [1], "y": [2]}),
    "no header": ("1,2\n3,4\n", {"header": False}, {"column_0": [1, 3], "column_1": [2, 4]}),
    "comments": ("#x\na,b\n#y\n1,2\n", {"comment": "#"}, {"a": [1], "b": [2]}),
    "comments in gzip": (gzip.compress(b"#x\na,b\n1,2\n"), {"comment": "#"}, {"a": [1], "b": [2]}),
    "comments in utf-16": ("#x\na,b\n#y\n1,2\n".encode("utf-16"), {"comment": "#"}, {"a": [1], "b": [2]}),
    "comments after a bom": (b"\xef\xbb\xbf#x\na,b\n1,2\n", {"comment": "#"}, {"a": [1], "b": [2]}),
    "comment mark empty": ("a,b\n1,2\n", {"comment": ""}, {"a": [1], "b": [2]}),
    "form feed in the header": ("a\x0cb,c\n1,2\n", {}, {"a\x0cb": [1], "c": [2]}),
    "line separator in the header": ("a\u2028b,c\n1,2\n", {}, {"a\u2028b": [1], "c": [2]}),
    "control signs in cells": ("a,b\nx\x85\x0b\x1c\u2028y,2\n", {}, {"a": ["x\x85\x0b\x1c\u2028y"], "b": [2]}),
    "a name like a filled-in one": (",column_0\n1,2\n", {}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers(tmp_path: Path, name: str) -> None:
    content, text, expected = RIGHT[name]
    frame = read(tmp_path, content, **text)
    if expected:
        assert frame.to_dict(as_series=False) == expected
    assert frame.height > 0


@pytest.mark.parametrize(
    "cell",
    ["1.50", "1.5", "-0", "-0.0", "0.0", "2.0", "1e5", "1E5", "100000.0", "123456789012345.001", "0.12345678901234567",
     "1e99", "1e-99", "123456789012345e99", "0.1", "9007199254740993", "9007199254740993.0", "1e22",
     "0.30000000000000004"],
)  # fmt: skip
def test_no_digit_is_lost(tmp_path: Path, cell: str) -> None:
    """A column is a number only if that number is exactly what the cells say."""
    from sfumato.data.hierarchies.hierarchy import spell_cells

    frame = read(tmp_path, f"a,b\n{cell},x\n{cell},x\n")
    assert [decimal.Decimal(text) for text in spell_cells(frame["a"])] == [decimal.Decimal(cell)] * 2


@pytest.mark.parametrize("cell", ["1.50", "2.0", "-0", "1e5", "100000.0", "1e22", "0.10", "007"])
def test_a_hierarchy_may_spell_numbers_as_the_file_does(tmp_path: Path, cell: str) -> None:
    (tmp_path / "h.csv").write_text(f"{cell};low;*\n3;high;*\n")
    (tmp_path / "t.csv").write_text(f"a,b\n{cell},x\n3,x\n")
    table = Table.read(tmp_path / "t.csv", hierarchies={"a": tmp_path / "h.csv"})
    assert table.get_hierarchy("a").code_leaves(table.frame["a"]).tolist() == [0, 1]


def test_different_cells_stay_different(tmp_path: Path) -> None:
    cells = ["123456789012345.001", "123456789012345.002", "0.12345678901234567", "0.123456789012345671"]
    assert read(tmp_path, "a\n" + "\n".join(cells) + "\n")["a"].n_unique() == 4


WRONG: dict[str, tuple[str | bytes, dict[str, Any], str]] = {
    "empty": (b"", {}, "empty"),
    "blank lines only": ("\n\n\n", {}, "no rows"),
    "comments only": ("#x\n", {"comment": "#"}, "no rows"),
    "latin-1 as utf-8": (f"a,b\n{CANARY}ü,1\n".encode("latin-1"), {}, "encoding"),
    "utf-16 without a mark": (f"a,b\n{CANARY}ü,1\n".encode("utf-16-le"), {}, "encoding"),
    "cp1252 with a gap": (b"a,b\n" + CANARY.encode() + b"\x81,2\n", {"encoding": "cp1252"}, "encoding"),
    "all bytes": (CANARY.encode() + bytes(range(256)) * 3, {}, ""),
    "gzip cut in two": (gzip.compress(BIG)[:20_000], {}, "truncated"),
    "gzip without its end": (gzip.compress(BIG)[:-8], {}, "truncated"),
    "gzip short": (gzip.compress(b"a,b\n1,2\n")[:-4], {}, "truncated"),
    "gzip with another sum": (gzip.compress(BIG)[:-8] + b"\1\2\3\4\5\6\7\0", {}, "damaged"),
    "gzip of nothing": (gzip.compress(b""), {}, "empty"),
    "gzip cut off with comments": (gzip.compress(BIG)[:-9], {"comment": "#"}, "truncated"),
    "repeated names": (f"a,a,b\n{CANARY},2,3\n", {}, "columns 1 and 2 have the same name"),
    "names repeated but for blanks": (f" a , a\n{CANARY},2\n", {}, "columns 1 and 2 have the same name"),
    "short row": (f"a,b,c\n1,2,3\n{CANARY},5\n", {}, "1 row"),
    "long row": (f"a,b\n1,2\n{CANARY},2,3\n", {}, "1 row"),
    "many short rows": ("a,b,c\n1,2,3\n" + f"{CANARY},5\n" * 7, {}, "7 rows"),
    "short header": (f"a\n{CANARY},2\n3,4\n", {}, "2 rows"),
    "long header": (f"a,b,c\n{CANARY},2\n", {}, "1 row"),
    "ragged and undecodable": (b"a,b\n1,2\n" + CANARY.encode() + b"\xff\xfe,2,3\n", {}, ""),
    "open quote": (f'a,b\n"{CANARY},2\n3,4\n', {}, ""),
    "encoding unknown": (f"a,b\n{CANARY},2\n", {"encoding": "klingon"}, "encoding"),
    "encoding empty": (f"a,b\n{CANARY},2\n", {"encoding": ""}, "encoding"),
    **{
        f"encoding {name!r}": (f"a,b\n{CANARY},2\n", {"encoding": name}, "encoding")
        for name in ("hex", "rot13", "base64", "zlib", "idna", "punycode", "undefined", "a\0b", "\ud800")
    },
    "separator too long": (f"a,b\n{CANARY},2\n", {"separator": ", "}, "separator"),
    "separator not plain": (f"a,b\n{CANARY},2\n", {"separator": "é"}, "separator"),
    "separator nul": (f"a,b\n{CANARY},2\n", {"separator": "\0"}, "separator"),
    "separator newline": (f"a,b\n{CANARY},2\n", {"separator": "\n"}, "separator"),
    "separator return": (f"a,b\n{CANARY},2\n", {"separator": "\r"}, "separator"),
    "separator quote": (f"a,b\n{CANARY},2\n", {"separator": '"'}, "separator"),
    "names too few": (f"a,b\n{CANARY},2\n", {"columns": ("x",)}, "1 column name"),
    "names given twice": (f"a,b\n{CANARY},2\n", {"columns": ("x", "x")}, "columns 1 and 2 have the same name"),
    "quote too long": (f"a,b\n{CANARY},2\n", {"quote": "ab"}, "quote"),
    "quote not plain": (f"a,b\n{CANARY},2\n", {"quote": "é"}, "quote"),
}


@pytest.mark.parametrize("name", WRONG)
def test_clear_errors(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    content, text, word = WRONG[name]
    assert word in refusal(tmp_path, content, **text)
    output = capfd.readouterr()
    assert output.err == "", "nothing is printed behind the error's back"


@pytest.mark.parametrize("content", ["a,b\n", "a,b", "a", "a\n", "a,b\r\n", '"a","b"'])
def test_header_only(tmp_path: Path, content: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(DataError, match="no rows"):
        Table.read(path)


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    for path, word in (
        (tmp_path / "nowhere.csv", "does not exist"),
        (tmp_path, "folder"),
        (tmp_path / "*.csv", "pattern"),
        (tmp_path / ("x" * 5000), "name"),
        (tmp_path / "a\0b", ":"),
    ):
        with pytest.raises(DataError, match=word):
            read_frame(path)


def test_a_file_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a\n1\n")
    with pytest.raises(DataError):
        read_frame(tmp_path / "x" / "y.csv")


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.csv"))
    path.write_text("a,b\n1,2\n")
    assert read_frame(path).height == 1


def test_files_of_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "2.csv").write_text("a,b\nq,y\n")
    assert read_frame(tmp_path / "*.csv")["a"].to_list() == ["1", "q"]
    (tmp_path / "3.csv").write_text(f"a,c\n{CANARY},y\n")
    with pytest.raises(DataError, match=r"3\.csv") as error:
        read_frame(tmp_path / "*.csv")
    assert CANARY not in str(error.value)


def test_a_name_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    (tmp_path / "[a].csv").write_text("a\n1\n")
    assert read_frame(tmp_path / "[a].csv").height == 1


@pytest.mark.parametrize("part", ["a cell", "a quoted cell", "the first row", "the first row, quoted", "the header"])
def test_a_million_characters(tmp_path: Path, part: str) -> None:
    long, lines = "x" * 1_000_000, "x,\n" * 333_333 + "x"
    if part == "a cell":
        frame = read(tmp_path, f"a,b\n{long},2\n1,2\n")
    elif part == "a quoted cell":
        frame = read(tmp_path, f'a,b\n"{lines}",2\n1,2\n')
    elif part == "the first row":
        frame = read(tmp_path, f"{long},2\n1,2\n", header=False)
    elif part == "the first row, quoted":
        frame = read(tmp_path, f'"{lines}",2\n1,2\n', header=False)
    else:
        frame = read(tmp_path, f"{long},b\n1,2\n3,4\n")
    assert frame.shape == (2, 2)
    assert 1_000_000 in (len(frame.columns[0]), len(str(frame.row(0)[0])))


@pytest.mark.parametrize("width", [2_000, 5_000])
def test_many_columns(tmp_path: Path, width: int) -> None:
    header = ",".join(f"column name {number}" for number in range(width))
    frame = read(tmp_path, header + "\n" + ("1," * (width - 1) + "1\n") * 3)
    assert frame.shape == (3, width)


def test_a_cell_larger_than_a_block(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1,2\n" + "x" * (17 << 20) + ",2\n").height == 2


def parquet(tmp_path: Path, array: Any) -> Path:
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pa.table({"a": array}), path)
    return path


def feather(tmp_path: Path, array: Any) -> Path:
    path = tmp_path / "table.feather"
    pyarrow.feather.write_feather(pa.table({"a": array}), path)
    return path


NOON = datetime.datetime(2020, 1, 2, 12)
PLAIN_ARRAYS: dict[str, Any] = {
    "text": pa.array(["x", None]),
    "large text": pa.array(["x", None], pa.large_string()),
    "integers": pa.array([1, None]),
    "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
    "floats": pa.array([1.5, float("nan")]),
    "half floats": pa.array([1.5, 2.5], pa.float16()),
    "truth": pa.array([True, None]),
    "dates": pa.array([datetime.date(2020, 1, 2), None]),
    "moments": pa.array([NOON, None]),
    "moments with a zone": pa.array([NOON, None], pa.timestamp("us", "Europe/Rome")),
    "times": pa.array([datetime.time(1, 2, 3), None]),
    "decimals": pa.array([decimal.Decimal("1.50"), None]),
    "categories": pa.array(["x", "y"]).dictionary_encode(),
    "categories of numbers": pa.array([1, 2]).dictionary_encode(),
    "nothing": pa.nulls(2),
}


@pytest.mark.parametrize("name", PLAIN_ARRAYS)
@pytest.mark.parametrize("write", [parquet, feather])
def test_types_of_parquet_and_feather(tmp_path: Path, name: str, write: Any) -> None:
    table = Table.read(write(tmp_path, PLAIN_ARRAYS[name]))
    assert len(table) == 2


STRANGE_ARRAYS: dict[str, Any] = {
    "bytes": pa.array([CANARY.encode()] * 2),
    "lists": pa.array([[CANARY]] * 2),
    "records": pa.array([{"x": CANARY}] * 2),
    "maps": pa.array([[(CANARY, 1)]] * 2, pa.map_(pa.string(), pa.int64())),
    "fixed bytes": pa.array([b"ZZ"] * 2, pa.binary(2)),
    "durations": pa.array([datetime.timedelta(days=1)] * 2),
    "wide decimals": pa.array([decimal.Decimal("1.5")] * 2, pa.decimal256(50, 3)),
    "months": pa.array([pa.MonthDayNano([1, 2, 3])] * 2),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([CANARY])),
    "unions": pa.UnionArray.from_dense(pa.array([0, 0], pa.int8()), pa.array([0, 1], pa.int32()), [pa.array([1, 2])]),
    "broken text": pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    ),
}


@pytest.mark.parametrize("name", STRANGE_ARRAYS)
@pytest.mark.parametrize("write", [parquet, feather])
def test_types_that_are_no_plain_cells(
    tmp_path: Path, name: str, write: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """Either read, or refused with the column's name; never an exception of the engine, nor a panic."""
    try:
        path = write(tmp_path, STRANGE_ARRAYS[name])
    except (pa.ArrowException, NotImplementedError):
        pytest.skip("pyarrow cannot write this")
    try:
        table = Table.read(path)
    except DataError as error:
        assert '"a"' in str(error) or " a " in str(error)
        assert CANARY not in str(error)
    else:
        from sfumato.data.hierarchies.hierarchy import spell_cells

        assert spell_cells(table.frame["a"]).len() == 2
    assert "panicked" not in capfd.readouterr().err


def test_repeated_names_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pa.table([pa.array([CANARY]), pa.array(["x"])], names=["a", "a"]), path)
    with pytest.raises(DataError, match="columns 1 and 2 have the same name") as error:
        Table.read(path)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("start", [b"PAR1", b"ARROW1\0\0", b"FEA1"])
def test_damaged_binary_files(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "table.bin"
    path.write_bytes(start + CANARY.encode() * 50)
    with pytest.raises(DataError, match="damaged") as error:
        read_frame(path)
    assert CANARY not in str(error.value)


@pytest.mark.parametrize("write", [parquet, feather])
def test_binary_files_cut_off(tmp_path: Path, write: Any) -> None:
    path = write(tmp_path, pa.array([f"{CANARY}{i}" for i in range(5000)]))
    whole = path.read_bytes()
    for part in (0.1, 0.5, 0.99):
        path.write_bytes(whole[: int(len(whole) * part)])
        with pytest.raises(DataError) as error:
            read_frame(path)
        assert CANARY not in str(error.value)


def test_an_index_that_pandas_wrote(tmp_path: Path) -> None:
    """pandas keeps a named index as a column: it is seen, and must get a role."""
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "table.parquet"
    pandas.DataFrame({"a": ["x", "y"]}, index=[CANARY, "2"]).to_parquet(path)
    assert Table.read(path).frame.width == 2
    with pytest.raises(DataError, match="__index_level_0__") as error:
        Table.read(path, {"a": "quasi_identifying"})
    assert CANARY not in str(error.value)


def test_a_parquet_file_without_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pa.table({}), path)
    with pytest.raises(DataError):
        Table.read(path)


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ([1, 2], [1.5, None], True),
        (["a"], [None], True),
        ([None], [3], True),
        (pl.Series(["a"], dtype=pl.Categorical), ["b"], True),
        (pl.Series([1], dtype=pl.Int8), [300], True),
        ([1], ["1"], False),
        ([1], [True], False),
        ([datetime.date(2020, 1, 1)], ["2020-01-01"], False),
        ([datetime.datetime(2020, 1, 1)], [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)], False),
    ],
)
def test_a_stored_type_that_changes_between_files_is_named(
    tmp_path: Path, first: Any, second: Any, alike: bool
) -> None:
    for number, cells in enumerate((first, second)):
        pl.DataFrame({"x": cells}).write_parquet(tmp_path / f"{number}.parquet")
    if alike:
        assert read_frame(tmp_path / "*.parquet").height == len(first) + len(second)
        return
    with pytest.raises(DataError, match=r'1\.parquet: "x" has another type than in .*0\.parquet; write the file again'):
        read_frame(tmp_path / "*.parquet")
