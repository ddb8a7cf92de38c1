# SPDX-License-Identifier: MIT
"""Explain what is wrong in a policy file: the line and the field, never a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError


def explain_validation_error(error: ValidationError, text: str, file: Path) -> str:
    """One sentence with the first errors of a policy."""
    lines = _index_toml_lines(text)
    sentences = []
    errors = _select_innermost_errors(error)
    for problem in errors[:8]:
        loc = problem["loc"]
        if problem["type"] == "union_tag_invalid":  # the line of the tag itself is wrong
            loc = (*loc, problem["ctx"]["discriminator"].strip("'"))
        path, line = _find_nearest_line(loc, lines)
        field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in loc).lstrip(".")
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "union_tag_not_found":
            message = f"say which {problem['ctx']['discriminator'].strip(chr(39))} it is"
        location = f"line {line}, " if path else ""
        sentences.append(f"{location}{field or 'policy'}: {message[0].lower()}{message[1:]}")
    more = len(errors) - len(sentences)
    return f"{file}: " + "; ".join(sentences) + (f"; and {more} more" if more > 0 else "")


def _select_innermost_errors(error: ValidationError) -> list[Any]:
    """Keep the errors that no other error explains: a list may be too short only because its item was refused."""
    errors = error.errors()
    places = [problem["loc"] for problem in errors]
    return [
        problem
        for problem in errors
        if not any(
            len(position) > len(problem["loc"]) and position[: len(problem["loc"])] == problem["loc"]
            for position in places
        )
    ]


_Path = tuple[int | str, ...]


def _index_toml_lines(text: str) -> dict[_Path, int]:
    """The line of each table and key of a TOML text."""
    line_numbers: dict[_Path, int] = {}
    counts: dict[_Path, int] = {}
    table: _Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]", line):
            table = tuple(part.strip().strip("\"'") for part in head[2].split("."))
            if head[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            line_numbers.setdefault(table, number)
        elif key := re.match(r"\s*([A-Za-z0-9_\-\"'.]+)\s*=", line):
            path = (*table, *(part.strip("\"'") for part in key[1].split(".")))
            line_numbers.setdefault(path, number)
    return line_numbers


def _find_nearest_line(loc: _Path, lines: Mapping[_Path, int]) -> tuple[_Path, int]:
    """The innermost part of a field's path that has its own line."""
    path: _Path = ()
    for part in loc:
        if any(known[: len(path) + 1] == (*path, part) for known in lines):
            path = (*path, part)
    return path, lines.get(path, next((n for known, n in lines.items() if known[: len(path)] == path), 1))
