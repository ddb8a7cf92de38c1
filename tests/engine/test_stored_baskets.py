# SPDX-License-Identifier: MIT
"""Baskets in their file are those of memory, and so are the itemsets and rules that are found in them."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.reading import line_blocks
from sfumato.engine import basket_staging, stored_baskets
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.engine.choice import choose_basket_engine
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.errors import DataError, PolicyError, SfumatoError
from tests.command_line import Invoke

NAMES = ("a", "b c", "é", "7", "x", "12", "-3", "y")
NUMBERS = (1, 7, 12, 30, 5, 2, 99, 100)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def rebuild(stored: StoredBaskets) -> sf.Baskets:
    parts = list(stored.iterate("reading"))
    sizes = np.concatenate([batch.sizes for batch in parts])
    codes = np.concatenate([batch.codes for batch in parts])
    return sf.Baskets(stored.items, np.concatenate(([0], np.cumsum(sizes))), codes)


def compare_files(path: Path, folder: Path, **options: Any) -> StoredBaskets | None:
    """The baskets of both engines are equal, or both refuse the file in the same words."""
    try:
        ours = sf.Baskets.read(path, **options)
    except SfumatoError as error:
        with pytest.raises(type(error)) as second_error:
            open_stored_baskets(BasketSource(path, **options), folder)
        assert str(second_error.value) == str(error)
        return None
    theirs = open_stored_baskets(BasketSource(path, **options), folder)
    assert rebuild(theirs) == sf.Baskets(ours.items, ours.offsets, ours.codes)
    assert theirs.counts.tolist() == np.bincount(ours.codes, minlength=len(ours.items)).tolist()
    assert theirs.smallest == np.diff(ours.offsets).min()
    return theirs


@st.composite
def rows_of_long_form(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(1, 30))
    values = draw(st.sampled_from([NAMES, NUMBERS, tuple(map(str, NUMBERS))]))
    ids = draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    gap = draw(st.booleans())
    items = draw(st.lists(st.sampled_from([*values, *([None] if gap else [])]), min_size=rows, max_size=rows))
    kind = draw(st.sampled_from([pl.Int64(), pl.String()]))
    return pl.DataFrame({"id": pl.Series(ids).cast(kind), "other": range(rows), "item": items})


@settings(max_examples=12, deadline=None)
@given(rows_of_long_form(), st.sampled_from(["csv", "parquet"]), st.integers(1, 4))
def test_the_long_form(folder: Path, frame: pl.DataFrame, kind: str, batch: int) -> None:
    path = folder / f"long.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(basket_staging, "BATCH_BASKETS", batch)
        patch.setattr(stored_baskets, "BATCH_BASKETS", batch)
        compare_files(path, folder)


lines = st.lists(st.lists(st.sampled_from(["1", "7", "30", "a", "é"]), max_size=4), min_size=1, max_size=12)


@settings(max_examples=12, deadline=None)
@given(lines, st.sampled_from(["\n", "\r\n"]), st.integers(0, 3), st.sampled_from(["fimi", "spmf"]), st.integers(4, 40))
def test_lines(folder: Path, baskets: list[list[str]], end: str, blank: int, form: Any, block: int) -> None:
    header = ["@ITEM=1=one", "# a comment"] if form == "spmf" else []
    path = folder / "lines.txt"
    path.write_text(end.join([*header, *(" ".join(b) for b in baskets)]) + end * blank, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_blocks.read_line_blocks, "__defaults__", (block,))
        if path.stat().st_size and any(baskets):
            compare_files(path, folder, format=form)


def test_packed_files_and_what_their_names_say(folder: Path) -> None:
    text = b"\xef\xbb\xbf1 2 3\n2 3\n\n1 1\n"
    for name in ("plain.dat", "plain.txt"):
        (folder / name).write_bytes(text)
        compare_files(folder / name, folder)
    (folder / "plain.dat.gz").write_bytes(gzip.compress(text))
    compare_files(folder / "plain.dat.gz", folder)
    (folder / "named.txt").write_bytes(b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n1 2\n2\n")
    compare_files(folder / "named.txt", folder)
    (folder / "tab.csv").write_bytes(b"visit\tproduct\nb\t7\na\t7\nb\t8\nb\t7\n")
    stored = compare_files(folder / "tab.csv", folder, id="visit", item="product")
    assert stored is not None
    assert repr(stored) == "StoredBaskets(2 baskets, 2 items, 3 occurrences)"


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("negative.dat", b"1 2\n3 -4\n-1 2\n", {}),
        ("latin.dat", b"1 2\n\xe9\n", {}),
        ("header.csv", b"id,product\n1,2\n1,3\n", {}),
        ("gap.csv", b"id,item\n1,2\n,3\n1,\n", {}),
        ("empty.csv", b"id,item\n", {}),
        ("same.csv", b"id,item\n1,2\n", {"item": "id"}),
        ("missing.dat", None, {}),
    ],
)
def test_both_engines_refuse_in_the_same_words(folder: Path, name: str, text: bytes | None, options: Any) -> None:
    if text is not None:
        (folder / name).write_bytes(text)
    with pytest.raises(SfumatoError):
        sf.Baskets.read(folder / name, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_blocks.read_line_blocks, "__defaults__", (6,))
        compare_files(folder / name, folder, **options)


@settings(max_examples=8, deadline=None)
@given(
    rows_of_long_form(),
    st.sampled_from(["all", "closed", "maximal"]),
    st.integers(1, 4) | st.floats(0.05, 0.9),
    st.none() | st.integers(1, 3),
)
def test_the_itemsets_and_rules_of_memory(
    folder: Path, frame: pl.DataFrame, kind: Any, support: int | float, longest: int | None
) -> None:
    path = folder / "mined.parquet"
    frame.drop_nulls().write_parquet(path)
    if not frame.drop_nulls().height:
        return
    ours, theirs = (
        sf.mine.frequent_itemsets(path, support, kind, longest, engine=engine) for engine in ("memory", "duckdb")
    )
    assert ours.equals(theirs)
    assert ours.schema == theirs.schema
    ours, theirs = (
        sf.mine.association_rules(path, support, 0.4, max_length=longest, engine=engine)
        for engine in ("memory", "duckdb")
    )
    assert ours.equals(theirs)
    assert ours.schema == theirs.schema


def test_what_does_not_fit_is_refused_before_the_search(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "many.dat"
    path.write_text("1 2 3\n" * 50 + "4 5\n", encoding="utf-8")
    monkeypatch.setattr(stored_baskets, "find_memory_budget", lambda: 100 * 24)
    assert sf.mine.frequent_itemsets(path, 51, engine="duckdb").height == 0, "nothing is frequent, so nothing is held"
    words = r"many\.dat: the search for itemsets would hold 50 baskets with 150 items in memory, which takes about .*"
    with pytest.raises(DataError, match=words + r"2\.3 KB are available; raise min_support, or set SFUMATO_MEMORY"):
        sf.mine.frequent_itemsets(path, 2, engine="duckdb")
    monkeypatch.setattr(basket_staging, "find_memory_budget", lambda: 900)
    with pytest.raises(DataError, match=r"many\.dat: the file has more than 5 different items, which take"):
        sf.mine.frequent_itemsets(path, 2, engine="duckdb")


def test_the_size_of_a_file_chooses_the_engine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "lines.csv").write_text("milk,bread\nmilk\nbutter,bread,milk\n", encoding="utf-8")
    (folder / "sales.csv").write_text("id,item\n1,milk\n2,bread\n", encoding="utf-8")
    sales = BasketSource(folder / "sales.csv")
    assert choose_basket_engine(sales).name == "memory"
    monkeypatch.setattr("sfumato.engine.choice.find_memory_budget", lambda: 100)
    assert choose_basket_engine(sales).describe_choice().startswith("Engine: duckdb, since the file may take")
    assert choose_basket_engine(BasketSource(folder / "lines.csv")).name == "memory", "which reads comma lines"
    with pytest.raises(DataError, match="comma"):
        sf.mine.frequent_itemsets(folder / "lines.csv", 1, engine="duckdb", format="comma")
    with pytest.raises(PolicyError, match="engine = duckdb is about files"):
        sf.mine.frequent_itemsets(sf.Baskets.of([[1]]), 1, engine="duckdb")
    with pytest.raises(DataError, match="the engines duckdb and spark read baskets in files"):
        open_stored_baskets(BasketSource("spark:shop.sales"), folder)


def test_the_command_line_says_which_engine_it_took(folder: Path, invoke: Invoke) -> None:
    path = folder / "visits.csv"
    path.write_text("visit,product\n1,milk\n1,bread\n2,milk\n3,bread\n3,milk\n", encoding="utf-8")
    columns = ("--id", "visit", "--item", "product", "--min-support", "2")
    ours = invoke("mine", path, *columns, "--json")
    theirs = invoke("mine", path, *columns, "--json", "--engine", "duckdb", "--out", folder / "found.txt")
    assert json.loads(theirs.out) == json.loads(ours.out)
    assert sf.mine.read_itemsets(folder / "found.txt").height == 3
    assert "Engine: duckdb, as asked." in invoke("mine", path, *columns, "--engine", "duckdb", "--rules").err
    refusal = invoke("mine", path, "--engine", "duckdb", "--sequences")
    assert refusal.code == 2
    assert "the engine duckdb does not support --sequences" in refusal.err
