# SPDX-License-Identifier: MIT
"""Baskets as comma lines with the names of items, with and without a header."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import DataError

LINES = "citrus fruit,semi-finished bread\ntropical fruit,yogurt,coffee\nwhole milk\n"


def read(folder: Path, text: str, name: str = "shop.csv", **options: bool) -> list[list[int | str]]:
    (folder / name).write_text(text, encoding="utf-8")
    return sf.Baskets.read(folder / name, **options).to_lists()  # type: ignore[arg-type]


def test_lines_of_different_lengths_are_baskets(tmp_path: Path) -> None:
    assert read(tmp_path, LINES) == [
        ["citrus fruit", "semi-finished bread"], ["coffee", "tropical fruit", "yogurt"], ["whole milk"],
    ]  # fmt: skip


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_other_separators(sign: str, tmp_path: Path) -> None:
    assert read(tmp_path, LINES.replace(",", sign)) == read(tmp_path, LINES)


def test_a_header_that_numbers_its_columns_is_no_basket(tmp_path: Path) -> None:
    padded = "Item 1,Item 2,Item 3\nbread,milk,\nbeer,,\n"
    assert read(tmp_path, padded) == [["bread", "milk"], ["beer"]]
    text = "Item(s),Item 1,Item 2,Item 3\n2,bread,milk,\n1,beer,,\n"
    assert read(tmp_path, text) == [["bread", "milk"], ["beer"]]
    (tmp_path / "ids.csv").write_text("basket,item_0,item_1\nT7,bread,milk\nT9,beer,\n")
    baskets = sf.Baskets.read(tmp_path / "ids.csv")
    assert baskets.to_lists() == [["bread", "milk"], ["beer"]]
    assert baskets.ids == ("T7", "T9")


def test_any_other_header_must_be_told(tmp_path: Path) -> None:
    text = "what,they,bought\nbread,milk\nbeer\n"
    assert len(read(tmp_path, text)) == 3
    assert read(tmp_path, text, header=True) == [["bread", "milk"], ["beer"]]
    assert len(read(tmp_path, "Item 1,Item 2\nbread\n", header=False)) == 2


def test_quotes_blanks_empty_lines_and_numbers(tmp_path: Path) -> None:
    assert read(tmp_path, '"rolls, buns", milk\n\nbeer\n') == [["milk", "rolls, buns"], [], ["beer"]]
    assert read(tmp_path, "1,2,3\n4,5\n") == [[1, 2, 3], [4, 5]]


def test_a_table_of_two_columns_is_not_taken_for_baskets(tmp_path: Path) -> None:
    text = "customer,product\n1,bread\n1,milk\n"
    with pytest.raises(DataError, match=r'"id", "item".*"comma"'):
        read(tmp_path, text)
    assert len(sf.Baskets.read(tmp_path / "shop.csv", "comma")) == 3
    assert sf.Baskets.read(tmp_path / "shop.csv", id="customer", item="product").to_lists() == [["bread", "milk"]]


def test_bad_lines_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="quotes"):
        read(tmp_path, 'a,"b"c,d\ne\n')
    with pytest.raises(DataError, match="first column"):
        read(tmp_path, "who,Item 1,Item 2\nZZ,bread,milk\nZZ,beer,\n")


def test_a_policy_reads_them(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("Item 1,Item 2\nbread,milk\nbread,\nmilk,bread\n")
    protect = '[[protect]]\nmethod = "publish_patterns"\nmin_support = 1\nk = 2\n'
    text = f'[data]\npath = "shop.csv"\nformat = "comma"\n{protect}'
    policy = sf.Policy.parse(text, tmp_path / "policy.toml")
    assert policy.read_original().to_lists() == [["bread", "milk"], ["bread"], ["bread", "milk"]]
