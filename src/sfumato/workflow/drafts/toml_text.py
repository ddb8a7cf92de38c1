# SPDX-License-Identifier: MIT
"""Write TOML by hand, with comments: names and values quoted so that any text survives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any

WIDTH = 110
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def quote_toml_text(text: str) -> str:
    """A TOML string; characters that TOML forbids are escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def quote_key(name: str) -> str:
    """A key, bare if it can be."""
    return name if _BARE.fullmatch(name) else quote_toml_text(name)


def write_value(value: Any) -> str:
    """A string, number, truth value, list or inline table."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote_toml_text(value)
    if isinstance(value, Mapping):
        entries = ", ".join(f"{quote_key(key)} = {write_value(part)}" for key, part in value.items())
        return f"{{ {entries} }}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(write_value, value))}]"
    return repr(value)


def write_entry(key: str, value: Any, comment: str = "") -> str:
    """One line `key = value  # comment`."""
    return f"{quote_key(key)} = {write_value(value)}" + (f"  # {clean_comment(comment)}" if comment else "")


def write_list(key: str, values: Iterable[tuple[Any, str]]) -> list[str]:
    """A list with one entry on each line, each with its comment above it."""
    lines = [f"{quote_key(key)} = ["]
    for value, comment in values:
        lines += [f"    {line}" for line in (write_comment(comment) if comment else [])]
        lines.append(f"    {write_value(value)},")
    return [*lines, "]"]


def write_comment(text: str) -> list[str]:
    """A comment, wrapped; nothing in it can end the comment."""
    return [f"# {line}" for line in wrap(clean_comment(text), WIDTH, break_long_words=False, break_on_hyphens=False)]


def comment_out(lines: Iterable[str]) -> list[str]:
    """Lines that take effect once the marks are removed."""
    return [f"#| {line}" if line else "#|" for line in lines]


def clean_comment(text: str) -> str:
    """One line without control characters."""
    return "".join(" " if ord(letter) < 32 or ord(letter) == 127 else letter for letter in text)
