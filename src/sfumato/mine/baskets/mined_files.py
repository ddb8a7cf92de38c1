# SPDX-License-Identifier: MIT
"""Itemsets and rules on disk, in SPMF's output format.

Pattern lines: ``1 2 #SUP: 3``, or ``1 2 ==> 3 #SUP: 3 #CONF: 0.75`` with ``#LIFT: …`` if there is one. Lines that
begin with ``#``, ``%`` or ``@`` are comments; text items are written as numbers under a header of ``@ITEM=1=apple``
lines, as in SPMF's basket files, and read back by it. :func:`write_itemsets` writes itemsets as it finds them and
keeps none: for results larger than memory. A file is written completely or not at all; a ``.gz`` name is gzipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from sfumato.arrays import Bytes, Codes, Ints
from sfumato.baskets import Baskets
from sfumato.errors import DataError
from sfumato.mine.baskets.itemsets import ItemsetKind, make_question
from sfumato.public.thresholds import Support

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]
Lists = list[list[int]] | list[list[str]]

_TAG = re.compile(r"#([A-Z]+):\s*(\S+)")
_EMPTY_LINE = "# no pattern"


def write_itemsets(
    baskets: Baskets, min_support: Support, path: PathLike, kind: ItemsetKind = "all", max_length: int | None = None
) -> int:
    """Search for itemsets and write each as it is found; returns their number."""
    from sfumato.data.items.basket_files import open_for_atomic_write
    from sfumato.data.items.spmf_text import number_spmf_items
    from sfumato.mine.baskets.itemset_search import search_in_turn

    file = Path(path)
    question = make_question(baskets, min_support, kind, max_length)
    header, words = number_spmf_items(file, baskets.items)
    lines = _LineWriter(words)
    count = 0
    with open_for_atomic_write(file) as out, ThreadPoolExecutor(max_workers=1) as pool:
        out.write("".join(f"{line}\n" for line in header).encode())
        future: Future[int] | None = None
        # One piece is written while the next is found; there are never more than two.
        for piece in search_in_turn(baskets, question, lambda *arrays: tuple(array.copy() for array in arrays)):
            if future is not None:
                count += future.result()
            future = pool.submit(lines.write, out, *piece)
        if future is not None:
            count += future.result()
        if not count:
            out.write(f"{_EMPTY_LINE}\n".encode())
    return count


def save_itemsets(itemsets: pl.DataFrame, path: PathLike) -> None:
    """Write a frame of ``items`` and ``support``."""
    lists = itemsets["items"].to_list()
    header, words = _number_item_names(Path(path), lists)
    supports = itemsets["support"].to_list()
    body = [f"{_format_side(row, words)} #SUP: {support}" for row, support in zip(lists, supports, strict=True)]
    _save_pattern_lines(Path(path), header, body)


def save_rules(rules: pl.DataFrame, path: PathLike) -> None:
    """Write a frame of rules: their sides, ``support``, ``confidence`` and, if present, ``lift``."""
    left, right = rules["antecedent"].to_list(), rules["consequent"].to_list()
    header, words = _number_item_names(Path(path), [*left, *right])
    ends = [
        f"#SUP: {support} #CONF: {confidence!r}"
        for support, confidence in zip(rules["support"].to_list(), rules["confidence"].to_list(), strict=True)
    ]
    if "lift" in rules.columns:
        ends = [f"{end} #LIFT: {lift!r}" for end, lift in zip(ends, rules["lift"].to_list(), strict=True)]
    body = [
        f"{_format_side(antecedent, words)} ==> {_format_side(other, words)} {end}"
        for antecedent, other, end in zip(left, right, ends, strict=True)
    ]
    _save_pattern_lines(Path(path), header, body)


def read_itemsets(path: PathLike) -> pl.DataFrame:
    """Read itemsets into a frame of ``items`` (sorted) and ``support``."""
    import polars as pl

    file = Path(path)
    lines, names = _read_pattern_lines(file)
    words, supports = [], []
    for number, line in lines:
        items, tags = _split_tags(line)
        if "==>" in items or not items or not _is_count(tags.get("SUP", "")):
            raise DataError(f'{file}: line {number} is not an itemset such as "1 2 #SUP: 3"; fix or remove it')
        words.append(items)
        supports.append(int(tags["SUP"]))
    (items_column,) = _parse_item_lists(file, names, words)
    return pl.DataFrame({"items": items_column, "support": pl.Series(supports, dtype=pl.Int64)})


def read_rules(path: PathLike) -> pl.DataFrame:
    """Read rules into a frame of their sides, ``support``, ``confidence`` and, if all lines have one, ``lift``."""
    import polars as pl

    file = Path(path)
    lines, names = _read_pattern_lines(file)
    left: list[list[str]] = []
    right: list[list[str]] = []
    tags_of: list[dict[str, str]] = []
    for number, line in lines:
        items, tags = _split_tags(line)
        middle = items.index("==>") if items.count("==>") == 1 else 0
        is_rule = 0 < middle < len(items) - 1
        if not is_rule or not _is_count(tags.get("SUP", "")) or not _is_share(tags.get("CONF", "")):
            raise DataError(
                f'{file}: line {number} is not a rule such as "1 ==> 2 #SUP: 3 #CONF: 0.5"; fix or remove it'
            )
        left.append(items[:middle])
        right.append(items[middle + 1 :])
        tags_of.append(tags)
    antecedents, other = _parse_item_lists(file, names, left, right)
    columns = {
        "antecedent": antecedents,
        "consequent": other,
        "support": pl.Series([int(tags["SUP"]) for tags in tags_of], dtype=pl.Int64),
        "confidence": pl.Series([float(tags["CONF"]) for tags in tags_of], dtype=pl.Float64),
    }
    if tags_of and all(_is_number_word(tags.get("LIFT", "")) for tags in tags_of):
        columns["lift"] = pl.Series([float(tags["LIFT"]) for tags in tags_of], dtype=pl.Float64)
    return pl.DataFrame(columns)


class _LineWriter:
    """Formats itemsets as lines with a kernel: the word of each code, and a buffer for the text."""

    LABEL = b"#SUP: "

    def __init__(self, words: Sequence[str]) -> None:
        encoded_words = [f"{word} ".encode() for word in words]
        self.letters = np.frombuffer(b"".join(encoded_words), dtype=np.uint8).copy()
        self.starts = np.cumsum([0, *map(len, encoded_words)], dtype=np.int64)
        self.longest = max(map(len, encoded_words), default=0)
        self.text: Bytes = np.empty(0, dtype=np.uint8)

    def write(self, out: IO[bytes], codes: Codes, ends: Ints, supports: Ints) -> int:
        from sfumato.kernels.baskets.itemsets_text import write_lines

        room = codes.size * self.longest + supports.size * (len(self.LABEL) + 21)
        if self.text.size < room:
            self.text = np.empty(room, dtype=np.uint8)
        label = np.frombuffer(self.LABEL, dtype=np.uint8).copy()
        size = write_lines(codes, ends, supports, self.letters, self.starts, label, self.text)
        out.write(self.text[:size].data)
        return supports.size


def _save_pattern_lines(path: Path, header: list[str], body: list[str]) -> None:
    from sfumato.data.items.basket_files import write_text

    write_text(path, [*header, *(body or [_EMPTY_LINE])])


def _number_item_names(path: Path, lists: Lists) -> tuple[list[str], dict[int | str, str]]:
    """The header of names, and the word of each item."""
    from sfumato.data.items.spmf_text import number_spmf_items

    items: list[int | str] = sorted({item for row in lists for item in row})
    header, words = number_spmf_items(path, items)
    return header, dict(zip(items, words, strict=True))


def _format_side(items: Sequence[int | str], words: dict[int | str, str]) -> str:
    return " ".join(words[item] for item in items)


def _read_pattern_lines(path: Path) -> tuple[list[tuple[int, str]], dict[str, str]]:
    """The lines with a pattern, with their numbers, and the header's item names."""
    from sfumato.data.items.basket_files import read_text
    from sfumato.data.items.spmf_text import strip_spmf_comments

    text, names = strip_spmf_comments(read_text(path))
    lines = text.decode().split("\n")
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()], dict(names)


def _split_tags(line: str) -> tuple[list[str], dict[str, str]]:
    """The words of a line before its tags, and the tags."""
    return line.partition("#")[0].split(), dict(_TAG.findall(line))


def _parse_item_lists(path: Path, names: dict[str, str], *sides: list[list[str]]) -> list[pl.Series]:
    """Columns of sorted lists: integers if every word of every side is one, else text."""
    import polars as pl

    from sfumato.data.items.basket_files import name_items

    words = sorted({word for side in sides for row in side for word in row})
    values = dict(zip(words, name_items(path, words, names), strict=True))
    inner = pl.String if any(isinstance(value, str) for value in values.values()) else pl.Int64
    columns = []
    for side in sides:
        rows = [sorted({values[word] for word in row}) for row in side]
        columns.append(pl.Series(rows, dtype=pl.List(inner)))
    return columns


def _is_number_word(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _is_share(word: str) -> bool:
    return _is_number_word(word) and 0 <= float(word) <= 1
