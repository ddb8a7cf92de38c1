# SPDX-License-Identifier: MIT
"""Small pieces of HTML for notebooks: plain, escaped, without colours of their own, so that any theme reads well.

What a notebook shows is stored in its file, and notebooks are passed on. So the originals are shown without a cell:
names of columns, roles, types and counts. Cells are shown of releases only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import polars as pl

from sfumato.errors import count_noun

ROWS, COLUMNS, LONGEST, SENTENCE = 5, 20, 60, 2000
STAYS = "For the custodian: this holds facts about the originals."
_CELL = "text-align:left;vertical-align:top;padding:.15em 1em .15em 0;border-bottom:1px solid rgba(128,128,128,.35)"
_SMALL = "font-weight:normal;opacity:.75;white-space:nowrap"


def render_card(title: str, *parts: str) -> str:
    """A titled block."""
    return f'<div style="max-width:70em"><p><strong>{clean_text(title, SENTENCE)}</strong></p>{"".join(parts)}</div>'


def render_sentences(sentences: Iterable[str]) -> str:
    """Each sentence on a line of its own."""
    return "".join(f"<p>{clean_text(sentence, SENTENCE)}</p>" for sentence in sentences)


def render_grid(head: Sequence[str | Sequence[str]], rows: Iterable[Sequence[Any]], longest: int = LONGEST) -> str:
    """A table; a head cell may have further lines under its first."""
    heads = [_render_head([cell] if isinstance(cell, str) else cell) for cell in head]
    body = "".join(_render_line("td", [clean_text(cell, longest) for cell in row]) for row in rows)
    style = "border-collapse:collapse;background:none;margin:0 0 .8em 0"
    grid = f"<thead>{_render_line('th', heads)}</thead><tbody>{body}</tbody>"
    return f'<div style="overflow-x:auto"><table style="{style}">{grid}</table></div>'


def _render_line(tag: str, cells: Iterable[str]) -> str:
    inner = "".join(f'<{tag} style="{_CELL}">{cell}</{tag}>' for cell in cells)
    return f"<tr>{inner}</tr>"


def _render_head(lines: Sequence[str]) -> str:
    first, *other_lines = lines
    return clean_text(first) + "".join(f'<br><span style="{_SMALL}">{clean_text(line)}</span>' for line in other_lines)


def clean_text(value: Any, longest: int = LONGEST) -> str:
    """Any value as short escaped text; characters that cannot be seen are marked."""
    text = "(missing)" if value is None else str(value)
    single_line = " ".join(text.split())  # no-break spaces and line ends among them
    visible = "".join(letter if letter.isprintable() else "�" for letter in single_line)
    return escape(visible if len(visible) <= longest else f"{visible[: longest - 1]}…")


def format_few_digits(value: Any) -> str:
    """A number with few digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def render_rows(frame: pl.DataFrame, notes: dict[str, list[str]]) -> str:
    """The first rows of a released frame, with notes under the names of its columns."""
    return _render_columns(frame, notes, frame.select(frame.columns[:COLUMNS]).head(ROWS).rows(), frame.height - ROWS)


def render_summary(frame: pl.DataFrame, notes: dict[str, list[str]]) -> str:
    """Types and counts of the columns of the originals: no cell."""
    columns = frame.get_columns()[:COLUMNS]
    rows = [
        [str(column.dtype) for column in columns],
        [count_noun(column.drop_nulls().n_unique(), "value") for column in columns],
        [f"{column.null_count():,} missing" for column in columns],
    ]
    return _render_columns(frame, notes, rows, 0)


def _render_columns(frame: pl.DataFrame, notes: dict[str, list[str]], rows: Iterable[Sequence[Any]], more: int) -> str:
    shown_columns = frame.columns[:COLUMNS]
    rest = [count_noun(more, "more row")] if more > 0 else []
    rest += [count_noun(frame.width - len(shown_columns), "more column")] if frame.width > len(shown_columns) else []
    grid = render_grid([(name, *notes.get(name, ())) for name in shown_columns], rows)
    return grid + render_sentences([f"… and {' and '.join(rest)}"] if rest else [])


def name_roles(columns: Iterable[str], roles: Any) -> dict[str, list[str]]:
    """The role of each column, as the note under its name."""
    return {name: [str(roles.get(name, "no role")).replace("_", "-")] for name in columns}
