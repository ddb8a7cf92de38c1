# SPDX-License-Identifier: MIT
"""What SPMF files have around their lines of items: comments, and a header of names for items that are text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sfumato.errors import DataError, count_noun

SPMF_COMMENT = re.compile(rb"(?m)^[#%@].*$")
_NAMED_ITEM = re.compile(rb"(?m)^@ITEM=([^=\n]*)=(.*)$")


class SpmfText(NamedTuple):
    """An SPMF file without its comments, and the names of items that its header gives."""

    text: bytes
    names: Mapping[str, str]


def strip_spmf_comments(text: bytes) -> SpmfText:
    """The text with its comment lines emptied, so that line numbers stay, and the names in its header."""
    if not any(mark in text for mark in (b"#", b"%", b"@")):
        return SpmfText(text, {})
    names = {key.decode().strip(): name.decode() for key, name in _NAMED_ITEM.findall(text)}
    return SpmfText(SPMF_COMMENT.sub(b"", text), names)


class SpmfItems(NamedTuple):
    """Items as an SPMF file has them: its header, and the word for each."""

    header: list[str]
    words: list[str]


def number_spmf_items(path: Path, items: Sequence[int | str]) -> SpmfItems:
    """An SPMF header and the word for each item: integers are themselves, text gets numbers and names."""
    if any(isinstance(item, str) for item in items):
        unwritable = sum("\n" in str(item) or "\r" in str(item) for item in items)
        words = [str(number) for number in range(1, len(items) + 1)]
        names = [f"@ITEM={word}={item}" for word, item in zip(words, items, strict=True)]
        header = ["@CONVERTED_FROM_TEXT", *names]
    else:
        words = [str(item) for item in items]
        unwritable = sum(word.startswith("-") for word in words)
        header = []
    if unwritable:
        raise DataError(
            f"{path}: {count_noun(unwritable, 'item holds line ends or is', 'items hold line ends or are')} negative; "
            "write the long form"
        )
    return SpmfItems(header, words)


def spell_negative_items(items: Sequence[int | str]) -> Sequence[int | str]:
    """The items as text if one is a negative number: for files that have no long form, where text gets names."""
    return [str(item) for item in items] if any(isinstance(item, int) and item < 0 for item in items) else items
