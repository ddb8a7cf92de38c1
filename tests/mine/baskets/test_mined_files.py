# SPDX-License-Identifier: MIT
"""Itemsets and rules in SPMF's format: written, streamed, read back; damaged files and full disks."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Baskets, DataError, PolicyError
from sfumato.mine.baskets import itemset_search, itemset_worker
from sfumato.mine.baskets.association_rules import association_rules
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.baskets.mined_files import read_itemsets, read_rules, save_itemsets, save_rules, write_itemsets
from sfumato.runtime import progress

NAMED = Baskets.of([["green tea", "milk"], ["green tea", "milk", "=="], ["milk"]])


def test_itemsets_are_written_as_spmf_does(tmp_path: Path) -> None:
    baskets = Baskets.of([[1, 2], [1, 2], [1]])
    save_itemsets(frequent_itemsets(baskets, 2), tmp_path / "sets.txt")
    assert sorted((tmp_path / "sets.txt").read_text().splitlines()) == ["1 #SUP: 3", "1 2 #SUP: 2", "2 #SUP: 2"]


def test_rules_are_written_as_spmf_does(tmp_path: Path) -> None:
    baskets = Baskets.of([[1, 2], [1, 2], [1], [1]])
    rules = association_rules(baskets, 2, 0.5)
    save_rules(rules.drop("lift"), tmp_path / "rules.txt")
    lines = sorted((tmp_path / "rules.txt").read_text().splitlines())
    assert lines == ["1 ==> 2 #SUP: 2 #CONF: 0.5", "2 ==> 1 #SUP: 2 #CONF: 1.0"]


@pytest.mark.parametrize("name", ["sets.txt", "sets.txt.gz"])
@pytest.mark.parametrize("kind", ["all", "closed", "maximal"])
def test_streamed_sets_equal_the_frame(tmp_path: Path, name: str, kind: Any) -> None:
    count = write_itemsets(NAMED, 1, tmp_path / name, kind)
    frame = frequent_itemsets(NAMED, 1, kind)
    assert count == frame.height
    assert read_itemsets(tmp_path / name).equals(frame)


def test_a_stream_in_many_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(itemset_worker, "BUFFER_SETS", 3)
    monkeypatch.setattr(itemset_worker, "BUFFER_CODES", 16)
    baskets = Baskets.of([[item for item in range(100, 110) if (row + item) % 4] for row in range(30)])
    assert write_itemsets(baskets, 3, tmp_path / "sets.txt", max_length=4) > 300
    assert read_itemsets(tmp_path / "sets.txt").equals(frequent_itemsets(baskets, 3, max_length=4))


@given(
    rows=st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), max_size=4), max_size=5)
)
@settings(max_examples=40, deadline=None)
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("patterns")
    baskets = Baskets.of([[f"x{item}" for item in row] for row in rows])
    frame = frequent_itemsets(baskets, 1)
    rules = association_rules(baskets, 1, 0.1)
    write_itemsets(baskets, 1, folder / "stream.txt")
    save_itemsets(frame, folder / "sets.txt")
    save_rules(rules, folder / "rules.txt")
    if frame.height:
        assert read_itemsets(folder / "stream.txt").equals(frame)
        assert read_itemsets(folder / "sets.txt").equals(frame)
    if rules.height:
        assert read_rules(folder / "rules.txt").equals(rules.select(pl.nth(0, 1, 2, 3, 4)))


def test_rules_come_back_with_the_same_floats(tmp_path: Path) -> None:
    rules = association_rules(Baskets.of([[1, 2, 3], [1, 2], [3, 1], [2]]), 1, 0.3)
    save_rules(rules, tmp_path / "rules.txt")
    assert read_rules(tmp_path / "rules.txt").equals(
        rules.select("antecedent", "consequent", "support", "confidence", "lift")
    )


def test_no_pattern_is_written_and_read(tmp_path: Path) -> None:
    baskets = Baskets.of([[1, 2]])
    assert write_itemsets(baskets, 2, tmp_path / "sets.txt") == 0
    assert read_itemsets(tmp_path / "sets.txt").equals(frequent_itemsets(baskets, 2))
    save_rules(association_rules(baskets, 2, 0.5), tmp_path / "rules.txt")
    assert read_rules(tmp_path / "rules.txt").height == 0


def test_spmfs_own_output_is_read(tmp_path: Path) -> None:
    """As SPMF 2.66 writes it: more blanks, more tags, other order."""
    (tmp_path / "sets.txt").write_text("@comment\n5 3  #SUP: 4 #UTIL: 7\r\n\n12 #SUP: 9\n")
    assert read_itemsets(tmp_path / "sets.txt").rows() == [([3, 5], 4), ([12], 9)]
    (tmp_path / "rules.txt").write_text("4 ==> 2 #SUP: 3 #CONF: 0.75 #LIFT: 1.25\n1,2 ==> 3 #SUP: 1 #CONF: 1.0\n")
    assert read_rules(tmp_path / "rules.txt").rows() == [(["4"], ["2"], 3, 0.75), (["1,2"], ["3"], 1, 1.0)]


@pytest.mark.parametrize("line", ["1 2", "1 2 #SUP: x", "#SUP: 3 4", "1 ==> 2 #SUP: 3 #CONF: 0.5", "1 #SUP: -3"])
def test_a_broken_itemset_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "sets.txt").write_text(f"1 #SUP: 2\n {line}\n")
    with pytest.raises(DataError, match=r"sets\.txt: line 2 is not an itemset"):
        read_itemsets(tmp_path / "sets.txt")


@pytest.mark.parametrize(
    "line",
    ["1 2 #SUP: 3", "1 ==> #SUP: 3 #CONF: 1", "==> 1 #SUP: 3 #CONF: 1", "1 ==> 2 ==> 3 #SUP: 3 #CONF: 1",
     "1 ==> 2 #SUP: 3", "1 ==> 2 #SUP: 3 #CONF: 1.5", "1 ==> 2 #CONF: 0.5"],
)  # fmt: skip
def test_a_broken_rule_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "rules.txt").write_text(f"1 ==> 2 #SUP: 2 #CONF: 0.5\n{line}\n")
    with pytest.raises(DataError, match=r"rules\.txt: line 2 is not a rule"):
        read_rules(tmp_path / "rules.txt")


def test_a_missing_file_and_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_itemsets(tmp_path / "none.txt")
    with pytest.raises(DataError, match="cannot be written"):
        write_itemsets(NAMED, 1, tmp_path / "none" / "sets.txt")


def test_a_name_with_a_line_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 item holds line ends"):
        write_itemsets(Baskets.of([["a\nb"]]), 1, tmp_path / "sets.txt")
    assert not list(tmp_path.iterdir())


def test_an_interrupted_stream_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(itemset_search, "WORK", 100)
    (tmp_path / "sets.txt").write_text("1 #SUP: 9\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    baskets = Baskets.of([[item for item in range(12) if (row * item) % 5] for row in range(80)])
    with pytest.raises(KeyboardInterrupt), progress.listen_to_progress(interrupt):
        write_itemsets(baskets, 2, tmp_path / "sets.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["sets.txt"]
    assert (tmp_path / "sets.txt").read_text() == "1 #SUP: 9\n"


def test_bad_arguments_touch_no_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyError):
        write_itemsets(NAMED, 0, tmp_path / "sets.txt")
    assert not list(tmp_path.iterdir())


def test_gzipped_files_are_the_same_each_time(tmp_path: Path) -> None:
    write_itemsets(NAMED, 1, tmp_path / "a.gz")
    write_itemsets(NAMED, 1, tmp_path / "b.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()).startswith(b"@CONVERTED_FROM_TEXT\n@ITEM=1===")
