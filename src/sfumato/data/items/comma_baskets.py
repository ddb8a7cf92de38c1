# SPDX-License-Identifier: MIT
"""Baskets as comma lines: one basket on each line, its items by name, as market-basket sets are usually shared.

``whole milk,yogurt,rolls/buns``: names may hold blanks, and commas inside of quotes. Lines may be padded with empty
cells to one width. An empty line is an empty basket. The separator may be a semicolon, a tab or a bar instead.

A first line such as ``Item 1,Item 2,Item 3`` is a header; a column before it is the id of the basket, or is skipped if
it always counts the items. Any other first line is a basket, unless `header` says otherwise.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sfumato.data.items.basket_files import BasketArrays, Values, parse_item_types, read_text
from sfumato.errors import DataError

_SEPARATORS = (",", ";", "\t", "|")
_OPENING = 1000
_NUMBERED_NAME = re.compile(r"(.*?)[\s_.#-]*([0-9]+)")
_LONGEST = 1 << 20


class _Header(NamedTuple):
    """Whether there is a header, and whether a column precedes the items."""

    is_present: bool
    has_first: bool


def read_comma_baskets(path: Path, *, separator: str | None = None, header: bool | None = None) -> BasketArrays:
    """Read one basket from each line."""
    lines = _split_lines(path, separator)
    top = _judge_header(lines[0] if lines else [], header)
    rows = lines[1:] if top.is_present else lines
    if not rows:
        raise DataError(f"{path}: the file holds no basket; a file of comma lines has one on each line")
    firsts = [row[0] if row else "" for row in rows] if top.has_first else []
    baskets = [[cell for cell in (row[1:] if top.has_first else row) if cell] for row in rows]
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(item, len(numbers)) for basket in baskets for item in basket]
    offsets = np.concatenate(([0], np.cumsum([len(basket) for basket in baskets], dtype=np.int64)))
    items = parse_item_types(list(numbers))
    return BasketArrays(items, offsets, np.array(codes, dtype=np.int32), _choose_ids(path, firsts, baskets))


def looks_like_comma_lines(path: Path, columns: tuple[str, ...], separator: str | None) -> bool:
    """Whether a text file has lines of different lengths, and no header that names the columns of the long form."""
    if separator is not None and (len(separator.encode()) != 1 or separator in '"\r\n'):
        return False  # no separator at all: the long form says so
    lines = _split_lines(path, separator, _OPENING)
    if not lines or set(columns) <= set(lines[0]):
        return False
    line_lengths = {len(_drop_padding(line)) for line in lines if line}
    return len(line_lengths) > 1


def _split_lines(path: Path, separator: str | None, most: int | None = None) -> list[list[str]]:
    text = read_text(path).decode()
    lines = text.removesuffix("\n").split("\n")
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
    delimiter = separator or _guess_separator(lines[:_OPENING])
    try:
        rows = csv.reader(lines[:most] if most else lines, delimiter=delimiter, strict=True, skipinitialspace=True)
        return [[cell.strip() for cell in row] for row in rows]
    except (csv.Error, TypeError, ValueError):
        raise DataError(f"{path}: the lines cannot be split into items; check the separator and the quotes") from None


def _guess_separator(lines: list[str]) -> str:
    """The sign that occurs most; a comma if there is none."""
    counts = {sign: sum(line.count(sign) for line in lines) for sign in _SEPARATORS}
    return max(_SEPARATORS, key=lambda sign: counts[sign])


def _drop_padding(cells: list[str]) -> list[str]:
    count = len(cells)
    while count and not cells[count - 1]:
        count -= 1
    return cells[:count]


def _judge_header(cells: list[str], has_header: bool | None) -> _Header:
    """A header numbers its columns: `Item 1, Item 2, …`, perhaps after one that does not."""
    if has_header is False:
        return _Header(is_present=False, has_first=False)
    for start in (0, 1):
        matches = [_NUMBERED_NAME.fullmatch(cell) for cell in _drop_padding(cells)[start:]]
        parts = [(match[1].lower(), int(match[2])) for match in matches if match is not None]
        if len(parts) < 2 or len(parts) < len(matches):
            continue
        stem, begin = parts[0]
        if (stem or has_header) and parts == [(stem, begin + number) for number in range(len(parts))]:
            return _Header(is_present=True, has_first=start == 1)
    return _Header(is_present=bool(has_header), has_first=False)


def _choose_ids(path: Path, firsts: list[str], baskets: list[list[str]]) -> Values | None:
    """The ids, unless the column before the items only counts them."""
    if not firsts or all(first == str(len(basket)) for first, basket in zip(firsts, baskets, strict=True)):
        return None
    if len(set(firsts)) < len(firsts) or "" in firsts:
        raise DataError(
            f"{path}: the first column is neither the number of items nor a different id for each basket; remove it, "
            "or read the file as a table"
        )
    return parse_item_types(firsts)
