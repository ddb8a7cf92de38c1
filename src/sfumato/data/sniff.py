# SPDX-License-Identifier: MIT
"""What the beginning of a text file tells: how many cells its records have, and what parts them."""

from __future__ import annotations

import re
from collections.abc import Iterator

SEPARATORS = (",", ";", "\t", "|")


def record_widths(text: str, separator: str, quote: str | None, most: int = 1) -> Iterator[int]:
    """How many cells the first records have; empty lines are passed over."""
    signs = re.compile("[" + re.escape(f"{separator}\n\r{quote or ''}") + "]")
    cells, begin, inside, found = 1, 0, False, 0
    for sign in signs.finditer(text):
        place, char = sign.start(), sign.group()
        if char == quote:
            # A quote opens a cell only at its beginning; inside, a doubled one closes and opens again.
            inside = not inside if inside or place == begin or text[place - 1] == quote else inside
        elif not inside and char == separator:
            cells, begin = cells + 1, place + 1
        elif not inside:
            if place > begin or cells > 1:
                yield cells
                found += 1
                if found == most:
                    return
            cells, begin = 1, place + 1
    if begin < len(text) or cells > 1:
        yield cells


def without_comments(text: str, comment: str | None) -> str:
    """The text without the lines that begin with the mark of a comment."""
    if not comment:
        return text
    return "".join(line for line in re.split(r"(?<=\n)", text) if not line.startswith(comment))


def likely_separator(opening: str, quote: str | None) -> str:
    """The separator under which the first records agree on the largest number of cells."""

    def agreement(separator: str) -> tuple[float, int]:
        widths = list(record_widths(opening, separator, quote, 50))
        if not widths or widths[0] < 2:
            return (0.0, 0)
        return (sum(width == widths[0] for width in widths) / len(widths), widths[0])

    best = max(SEPARATORS, key=agreement)
    return best if agreement(best)[1] >= 2 else ","
