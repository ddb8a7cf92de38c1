# SPDX-License-Identifier: MIT
"""Patterns on disk, in SPMF's format for itemsets: ``1 4 7 #SUP: 12``, one set per line.

Lines that start with ``#``, ``%`` or ``@`` are comments, and ``@ITEM=1=apple`` names an item, as in SPMF's files of
baskets. Ours have two more entries, which SPMF does not know: ``@BASKETS=88162``, the number of baskets, and
``@COMPLETE_FROM=88``, if every itemset of that support or more is listed. Text is UTF-8, gzipped or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.data.items.basket_files import Values, name_items, parse_item_types, read_text, tokenize, write_text
from sfumato.data.items.spmf_text import number_spmf_items, spell_negative_items, strip_spmf_comments
from sfumato.errors import DataError

_LINE = re.compile(rb"(?m)^([^\n]*?)[ \t]*#SUP:[ \t]*([0-9]{1,18})[ \t]*$")
_BASKETS = re.compile(rb"(?m)^@BASKETS=([0-9]{1,18})$")
_COMPLETE_FROM = re.compile(rb"(?m)^@COMPLETE_FROM=([0-9]{1,18})$")


class PatternArrays(NamedTuple):
    """Itemsets as found in a file."""

    items: Values
    offsets: Ints
    codes: Codes
    supports: Ints
    baskets: int | None = None
    complete_from: int | None = None


def read_pattern_arrays(path: Path) -> PatternArrays:
    """Read one itemset and its support from each line that is neither empty nor a comment."""
    text = read_text(path)
    plain, names = strip_spmf_comments(text)
    lines = sum(bool(line.strip()) for line in plain.split(b"\n"))
    line_matches = _LINE.findall(plain)
    if len(line_matches) != lines:
        raise DataError(
            f'{path}: {lines - len(line_matches)} of {lines} lines are not "items #SUP: count"; correct them'
        )
    tokens = tokenize(b"\n".join(items for items, _ in line_matches) + b"\n")
    if len(np.unique(tokens.lines)) != len(line_matches):
        raise DataError(f"{path}: some lines have a support but no item; the empty set is not listed")
    words = name_items(path, tokens.words, names) if names else parse_item_types(tokens.words)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(tokens.lines, minlength=len(line_matches))))).astype(np.int64)
    supports = np.array([int(count) for _, count in line_matches], dtype=np.int64)
    return PatternArrays(
        words,
        offsets,
        tokens.codes,
        supports,
        _parse_header_number(path, _BASKETS, text),
        _parse_header_number(path, _COMPLETE_FROM, text),
    )


def write_pattern_arrays(path: Path, patterns: PatternArrays) -> None:
    """Write one itemset per line, with a header that gives the number of baskets."""
    header, words = number_spmf_items(path, spell_negative_items(patterns.items))
    header_lines = [("@BASKETS", patterns.baskets), ("@COMPLETE_FROM", patterns.complete_from)]
    header += [f"{name}={number}" for name, number in header_lines if number is not None]
    write_text(path, [*header, *_format_pattern_lines(words, patterns)])


def _format_pattern_lines(words: list[str], patterns: PatternArrays) -> Iterable[str]:
    tokens = np.array(words, dtype=object)[patterns.codes].tolist()
    cuts = pairwise(patterns.offsets.tolist())
    for (start, stop), support in zip(cuts, patterns.supports.tolist(), strict=True):
        yield f"{' '.join(tokens[start:stop])} #SUP: {support}"


def _parse_header_number(path: Path, header: re.Pattern[bytes], text: bytes) -> int | None:
    numbers = {int(number) for number in header.findall(text)}
    if len(numbers) > 1:
        raise DataError(f"{path}: the header gives {len(numbers)} different numbers; keep the right one")
    return numbers.pop() if numbers else None
