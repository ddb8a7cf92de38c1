# SPDX-License-Identifier: MIT
"""Detect from the beginning of a text file how many cells its records have, and what separates them."""

from __future__ import annotations

import re
from collections.abc import Iterator

SEPARATORS = (",", ";", "\t", "|")


def count_record_cells(text: str, separator: str, quote: str | None, most: int = 1) -> Iterator[int]:
    """How many cells the first records have; empty lines are skipped."""
    signs = re.compile("[" + re.escape(f"{separator}\n\r{quote or ''}") + "]")
    cells, begin, is_quoted, record_count = 1, 0, False, 0
    for sign in signs.finditer(text):
        position, char = sign.start(), sign.group()
        if char == quote:
            # A quote opens a cell only at its beginning; inside, a doubled one closes and reopens it.
            is_quoted = not is_quoted if is_quoted or position == begin or text[position - 1] == quote else is_quoted
        elif not is_quoted and char == separator:
            cells, begin = cells + 1, position + 1
        elif not is_quoted:
            if position > begin or cells > 1:
                yield cells
                record_count += 1
                if record_count == most:
                    return
            cells, begin = 1, position + 1
    if begin < len(text) or cells > 1:
        yield cells


def strip_comment_lines(text: str, comment: str | None) -> str:
    """The text without comment lines."""
    if not comment:
        return text
    return "".join(line for line in re.split(r"(?<=\n)", text) if not line.startswith(comment))


def guess_separator(opening: str, quote: str | None) -> str:
    """The separator under which the first records agree on the largest number of cells."""

    def measure_agreement(separator: str) -> tuple[float, int]:
        widths = list(count_record_cells(opening, separator, quote, 50))
        if not widths or widths[0] < 2:
            return (0.0, 0)
        return (sum(width == widths[0] for width in widths) / len(widths), widths[0])

    best = max(SEPARATORS, key=measure_agreement)
    return best if measure_agreement(best)[1] >= 2 else ","
