# SPDX-License-Identifier: MIT
"""Hierarchies: read as ARX writes them, checked when made, each fault named with its cure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato.data.hierarchies.hierarchy import Hierarchy, build_flat_hierarchy, spell_cells
from sfumato.errors import DataError

CANARY = "ZZSECRETZZ"
ZIPS = "13053;1305*;130**;*\n13068;1306*;130**;*\n14850;1485*;148**;*"


def write_file(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "hierarchy.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        ZIPS,
        ZIPS + "\n",
        ZIPS.replace("\n", "\r\n"),
        ZIPS.replace("\n", "\r\n") + "\r\n",
        ZIPS.replace("\n", "\r"),
        "\ufeff" + ZIPS,
        ZIPS.replace("\n", "\n\n") + "\n\n\n",
        ZIPS.replace(";", ","),
        ZIPS.replace(";", "\t"),
        ZIPS.replace(";", " ; "),
        "\n".join(";".join(f'"{cell}"' for cell in line.split(";")) for line in ZIPS.split("\n")),
        ZIPS + "\n" + ZIPS,
    ],
    ids=["no last newline", "plain", "crlf", "crlf at the end", "cr", "bom", "blank lines", "commas", "tabs", "blanks",
         "quotes", "rows twice"],
)  # fmt: skip
def test_spellings_of_one_hierarchy(tmp_path: Path, content: str) -> None:
    hierarchy = Hierarchy.read(write_file(tmp_path, content))
    assert hierarchy == Hierarchy.of([line.split(";") for line in ZIPS.split("\n")])
    assert hierarchy.height == 3
    assert hierarchy.leaves == ("13053", "13068", "14850")


def test_labels_with_odd_signs(tmp_path: Path) -> None:
    """Separators and line ends inside quotes, and signs that only Python takes for line ends."""
    content = '"a;b";"x ""y""";*\n"c\nd";z;*\ne\u2028\x0cf;z;*\n'
    hierarchy = Hierarchy.read(write_file(tmp_path, content))
    assert hierarchy.leaves == ("a;b", "c\nd", "e\u2028\x0cf")


def test_a_very_long_label(tmp_path: Path) -> None:
    assert Hierarchy.read(write_file(tmp_path, f"{'x' * 200_000};*\ny;*\n")).height == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["no rows"]),
        ("\n\n", ["no rows"]),
        (f"{CANARY};a;*\nb;*\n", ["1 row", "row 2", "every level"]),
        (f"{CANARY};a;*\nx;a;*\n{CANARY};b;*\n", ["row 3", "one row for each leaf"]),
        (f"x;{CANARY};p;*\ny;{CANARY};q;*\n", ["levels 1 and 2", "row 2", "one parent"]),
        (f"x;1;{CANARY};*\ny;2;{CANARY};other\n", ["levels 2 and 3", "row 2"]),
        (b"\xe9;a;*\n" + CANARY.encode(), ["UTF-8"]),
        (f"{CANARY};a;*".encode("utf-16"), ["UTF-8"]),
    ],
    ids=["empty", "blank", "ragged", "two parents", "no nesting", "no nesting above", "latin-1", "utf-16"],
)
def test_faults_are_named_with_their_cure(tmp_path: Path, content: str | bytes, words: list[str]) -> None:
    with pytest.raises(DataError) as refusal:
        Hierarchy.read(write_file(tmp_path, content))
    message = str(refusal.value)
    assert "hierarchy.csv" in message
    assert all(word in message for word in words), message
    assert CANARY not in message


@pytest.mark.parametrize("name", ["nowhere.csv", ".", "x" * 5000, "a\0b"])
def test_places_that_hold_no_hierarchy(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError):
        Hierarchy.read(tmp_path / name)


def test_values_without_a_row() -> None:
    hierarchy = Hierarchy.of([["a", "*"]], "letters")
    with pytest.raises(DataError) as refusal:
        hierarchy.code_leaves(pl.Series("c", ["a", CANARY, CANARY, "other", None]))
    message = str(refusal.value)
    assert all(word in message for word in ('"c"', "2 values", "3 rows", "letters", "add a row")), message
    assert CANARY not in message


def test_levels_and_groups() -> None:
    hierarchy = Hierarchy.of([line.split(";") for line in ZIPS.split("\n")])
    assert [len(level.labels) for level in hierarchy.levels] == [3, 3, 2, 1]
    assert hierarchy.levels[2].leaves_under.tolist() == [2, 1]
    codes = hierarchy.code_leaves(pl.Series(["14850", None, "13053"]))
    assert codes.tolist() == [2, 3, 0]
    assert hierarchy.publish(codes, 0).to_list() == ["14850", None, "13053"]
    assert hierarchy.publish(codes, 2).to_list() == ["148**", None, "130**"]
    assert hierarchy.publish(codes, 3).to_list() == ["*", "*", "*"]
    assert hierarchy.leaves_under["130**"] == 2
    assert hierarchy.leaves_under["*"] == 3


def test_a_preview_shows_every_level() -> None:
    preview = Hierarchy.of([line.split(";") for line in ZIPS.split("\n")]).preview(most=2)
    assert preview["groups"].to_list() == [3, 3, 2, 1]
    assert preview["labels"].to_list()[1] == "1305*, 1306*, …"


def test_the_text_form_holds_no_leaf() -> None:
    assert CANARY not in repr(Hierarchy.of([[CANARY, "*"]]))


@pytest.mark.parametrize(
    "values",
    [
        [" x", "x", "x "],
        ["x\n", "x"],
        ["\u00a0x", "x"],
        ["", " ", "x"],
        ["*", "**", "x"],
        [None, "x"],
        [None, None],
        [1, 2, None],
        [1.5, 2.0, -0.0],
        [True, False, None],
        ["é", "e\u0301"],
    ],
)
def test_a_flat_hierarchy_knows_its_own_column(values: list[object]) -> None:
    column = pl.Series("c", values, strict=False)
    codes = build_flat_hierarchy(column, "flat").code_leaves(column)
    texts = spell_cells(column).to_list()
    for i, text in enumerate(texts):
        for j, other in enumerate(texts):
            assert (codes[i] == codes[j]) == (text == other)
    assert len(np.unique(codes)) == len(set(texts))


def test_whole_floats_are_spelt_as_whole_numbers() -> None:
    assert spell_cells(pl.Series([1.0, 2.5, None, 1e300])).to_list()[:3] == ["1", "2.5", None]
    assert spell_cells(pl.Series([2**53, 7])).to_list() == ["9007199254740992", "7"]


def test_equality_does_not_ask_for_the_order_of_rows() -> None:
    hierarchy, other = Hierarchy.of([["a", "*"], ["b", "*"]]), Hierarchy.of([["b", "*"], ["a", "*"]])
    assert hierarchy == other
    assert hash(hierarchy) == hash(other)
    assert hierarchy != Hierarchy.of([["a", "*"]])


def test_arx_adult_hierarchies(shared_data: Path) -> None:
    heights = {}
    for path in sorted((shared_data / "arx-adult").glob("adult_hierarchy_*.csv")):
        hierarchy = Hierarchy.read(path)
        heights[path.stem.removeprefix("adult_hierarchy_")] = hierarchy.height
        assert hierarchy.levels[-1].labels == ("*",)
    assert heights["age"] == 4
    assert len(heights) == 9
