# SPDX-License-Identifier: MIT
"""Frequent subsequences on disk, in SPMF's output format: ``1 2 -1 3 -1 #SUP: 4``.

``-1`` closes an element. Text items are written as numbers under a header of ``@ITEM=1=apple`` lines, and read back by
it. A file is written completely or not at all.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError

if TYPE_CHECKING:
    import polars as pl

_LINE = re.compile(r"((?:[^#\s]+\s+)+)#SUP:\s*(\d+)\s*$")
_EMPTY_LINE = "# no pattern"
_END = "-1"


def save_subsequences(patterns: pl.DataFrame, path: str | PathLike[str]) -> None:
    """Write a frame of ``pattern`` and ``support``."""
    from sfumato.data.items.basket_files import write_text
    from sfumato.data.items.spmf_text import number_spmf_items

    file = Path(path)
    rows = [_list_elements(pattern) for pattern in patterns["pattern"].to_list()]
    items: list[Any] = sorted({item for row in rows for element in row for item in element})
    header, words = number_spmf_items(file, items)
    word_of = dict(zip(items, words, strict=True))
    lines = [
        " ".join(word for element in row for word in (*(word_of[item] for item in element), _END)) + f" #SUP: {support}"
        for row, support in zip(rows, patterns["support"].to_list(), strict=True)
    ]
    write_text(file, [*header, *(lines or [_EMPTY_LINE])])


def read_subsequences(path: str | PathLike[str]) -> pl.DataFrame:
    """Read a frame of ``pattern`` and ``support``; patterns are flat if all elements have one item."""
    import polars as pl

    from sfumato.data.items.basket_files import name_items, read_text
    from sfumato.data.items.spmf_text import strip_spmf_comments

    file = Path(path)
    text, names = strip_spmf_comments(read_text(file))
    rows: list[list[list[str]]] = []
    supports: list[int] = []
    for number, line in enumerate(text.decode().split("\n"), start=1):
        if not line.strip():
            continue
        match = _LINE.match(line.strip())
        elements = [part.split() for part in f" {match[1]}".split(f" {_END} ")] if match else []
        if match is None or elements[-1] or not all(elements[:-1]) or len(elements) < 2:
            raise DataError(f'{file}: line {number} is not a pattern such as "1 -1 2 -1 #SUP: 3"; fix or remove it')
        rows.append(elements[:-1])
        supports.append(int(match[2]))
    words = sorted({word for row in rows for element in row for word in element})
    value_of = dict(zip(words, name_items(file, words, dict(names)), strict=True))
    inner = pl.String if any(isinstance(value, str) for value in value_of.values()) else pl.Int64
    is_flat = all(len(element) == 1 for row in rows for element in row)
    values: list[Any] = [[sorted(value_of[word] for word in element) for element in row] for row in rows]
    if is_flat:
        values = [[item for (item,) in row] for row in values]
    kind = pl.List(inner) if is_flat else pl.List(pl.List(inner))
    return pl.DataFrame({"pattern": pl.Series(values, dtype=kind), "support": pl.Series(supports, dtype=pl.Int64)})


def _list_elements(pattern: list[Any]) -> list[list[Any]]:
    return [element if isinstance(element, list) else [element] for element in pattern]
