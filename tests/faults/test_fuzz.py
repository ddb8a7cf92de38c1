# SPDX-License-Identifier: MIT
"""Random policies and random bytes: whatever comes, only sfumato's own errors go out."""

from __future__ import annotations

import atexit
import gzip
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.hierarchies.hierarchy import Hierarchy
from sfumato.data.reading.table_reader import TextFormat, read_frame
from sfumato.errors import SfumatoError
from sfumato.table import Table
from sfumato.workflow.policy import Policy

FOLDER = Path(tempfile.mkdtemp(prefix="sfumato-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

MEANINGS = ["own_value", "matches_any", "never_matches", "drop"]
POLICY = """\
title = "Patients"
[data]
path = "table.csv"
missing = "own_value"
[roles]
identifying = ["name"]
quasi_identifying = ["age", "zip"]
sensitive = ["disease"]
[hierarchies]
age = { kind = "intervals", widths = [5, 10] }
zip = { kind = "prefix", keep = [3, 2] }
[[protect]]
method = "generalize"
models = [{ model = "k_anonymity", k = 3 }]
suppression_limit = 0.1
[[attack]]
attack = "linking"
[gate]
max_linking_risk = 0.5
[output]
path = "out"
format = "csv"
"""
TABLE = "name,age,zip,disease\n" + "".join(f"n{i},{20 + i % 5},{1300 + i % 3},d{i % 2}\n" for i in range(30))

VALUES = st.sampled_from([
    '""', '"x"', '"age"', "0", "1", "-1", "3.5", "nan", "inf", "-inf", "true", "[]", "{}", "[1]", '["age"]', "[[]]",
    '{ kind = "prefix", keep = [1] }', '{ kind = "quantiles", counts = [2] }', "1979-05-27", "07:32:00", "9" * 40,
    '"~x/y"', '"\\u0000"', '"../x"', '"*"', '"\\U0010FFFF"', "'''\n'''", "0x7fffffffffffffff", "[0.1, 0.3]",
    "9" * 5000, '"parquet"', '"matches_any"', '"never_matches"', '"drop"', '"table.csv"',
    '{ kind = "tree", groups = { a = ["20"] } }',
])  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A valid policy with a few wounds."""
    lines = POLICY.splitlines()
    for _ in range(draw(st.integers(1, 3))):
        index = draw(st.integers(0, len(lines) - 1))
        wound = draw(st.sampled_from(["drop", "twice", "value", "swap", "cut", "insert", "rename", "noise"]))
        line = lines[index]
        if wound == "drop":
            lines[index] = ""
        elif wound == "twice":
            lines.insert(index, line)
        elif wound == "value" and " = " in line:
            lines[index] = line.split(" = ", 1)[0] + " = " + draw(VALUES)
        elif wound == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[index], lines[other] = lines[other], line
        elif wound == "cut":
            lines[index] = line[: draw(st.integers(0, len(line)))]
        elif wound == "insert":
            lines.insert(
                index, draw(st.sampled_from(["foo", '"a b"', "a.b.c", "k", "path", '""'])) + " = " + draw(VALUES)
            )
        elif wound == "rename":
            lines[index] = line.replace(
                draw(st.sampled_from(["age", "zip", "data", "k", "="])), draw(st.text(max_size=4))
            )
        else:
            lines[index] = line + draw(st.text(max_size=8))
    return "\n".join(lines)


@quick
@given(mutated())
def test_wounded_policies(text: str) -> None:
    (FOLDER / "table.csv").write_text(TABLE)
    try:
        policy = Policy.parse(text, FOLDER / "policy.toml")
        table = policy.read_original_table()
        for method in policy.methods:
            release = method.protect(table)
            assert all(finding.holds is not False for finding in sf.check(release, table))
        for attack in policy.attacks:
            attack.run(release, table)
    except SfumatoError as error:
        assert str(error)


@quick
@given(st.text(max_size=200))
def test_any_text_as_a_policy(text: str) -> None:
    with pytest.raises(SfumatoError):
        Policy.parse(text, FOLDER / "policy.toml")


@quick
@given(st.binary(max_size=200))
def test_any_bytes_as_a_policy(content: bytes) -> None:
    path = FOLDER / "bytes.toml"
    path.write_bytes(content)
    with pytest.raises(SfumatoError):
        Policy.read(path)


ODD = ["", "?", "*", "1", "01", "1.5", "-0", "1e5", "x", '"', '""', '"a,b"', '"a\nb"', " a ", "\u00a0", "\u2028"]
CELL = st.sampled_from(ODD) | st.text(max_size=5)


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """Something like a CSV file."""
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    width = draw(st.integers(1, 4))
    names = (
        [f"c{i}" for i in range(width)] if draw(st.booleans()) else draw(st.lists(CELL, min_size=width, max_size=width))
    )
    rows = draw(st.lists(st.lists(CELL, min_size=width, max_size=width), max_size=12))
    if draw(st.integers(0, 9)) == 0:
        rows.append(draw(st.lists(CELL, max_size=6)))
    text = end.join(separator.join(row) for row in [names, *rows]) + draw(st.sampled_from(["", end]))
    content = text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])), errors="replace")
    if draw(st.integers(0, 9)) == 0:
        content = gzip.compress(content)
    if content and draw(st.integers(0, 9)) == 0:
        index = draw(st.integers(0, len(content) - 1))
        content = content[:index] + draw(st.binary(max_size=4)) + content[index + 1 :]
    return content


FORMATS = st.builds(
    TextFormat,
    separator=st.sampled_from([None, None, None, ",", ";", " ", "\0", '"', "ab"]),
    header=st.booleans(),
    trim=st.booleans(),
    comment=st.sampled_from([None, None, None, "#", "", "é"]),
    quote=st.sampled_from(['"', '"', '"', None, "'"]),
    encoding=st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16", "ascii", "cp500"]),
)


@quick
@given(tables() | st.binary(max_size=300), FORMATS)
def test_any_bytes_as_a_table(content: bytes, text: TextFormat) -> None:
    path = FOLDER / "any.csv"
    path.write_bytes(content)
    try:
        frame = read_frame(path, text)
    except SfumatoError as error:
        assert str(path) in str(error)
    else:
        assert frame.width >= 1
        assert len(set(frame.columns)) == frame.width


@quick
@given(tables(), st.integers(1, 4), st.sampled_from([0.0, 0.2, 1.0]), st.sampled_from(MEANINGS))
def test_any_table_generalized(content: bytes, k: int, limit: float, missing: str) -> None:
    """What is read can be protected; what is claimed holds when written and read again."""
    from sfumato.data.writing.table_writer import choose_missing_mark, write_frame
    from sfumato.workflow.shapes.file_shapes import describe_text_format

    path = FOLDER / "table2.csv"
    path.write_bytes(content)
    try:
        bare = Table.read(path)
        columns = bare.frame.columns
        roles = {name: "quasi_identifying" if i < 3 else "sensitive" for i, name in enumerate(columns)}
        table = Table.of(bare.frame, roles, missing=missing)
        release = sf.Generalize(models=(sf.KAnonymity(k=k),), suppression_limit=limit).protect(table)
    except SfumatoError:
        return
    assert all(finding.holds for finding in sf.check(release, table))
    published: Any = release.data
    csv_path = FOLDER / "back.csv"
    mark = choose_missing_mark(published.frame)
    write_frame(published.frame, csv_path, "csv", mark)
    read = read_frame(csv_path, describe_text_format("csv", mark, (), ()))
    assert read.shape == published.frame.shape
    assert read.columns == published.frame.columns


def hierarchy_bytes(rows: list[list[str]]) -> bytes:
    return "\n".join(";".join(row) for row in rows).encode(errors="replace")


@quick
@given(st.binary(max_size=200) | st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=6).map(hierarchy_bytes))
def test_any_bytes_as_a_hierarchy(content: bytes) -> None:
    path = FOLDER / "hierarchy.csv"
    path.write_bytes(content)
    try:
        hierarchy = Hierarchy.read(path)
    except SfumatoError as error:
        assert str(path) in str(error)
    else:
        assert hierarchy.height >= 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            hierarchy.preview()
