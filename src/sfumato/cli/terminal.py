# SPDX-License-Identifier: MIT
"""Terminal output: JSON for scripts, lines and a progress bar for people.

Names of files and columns come from outside. A terminal obeys some characters instead of showing them, so a name could
clear a line and fake a verdict. `escape_text` makes such characters visible; everything printed passes through it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any
from unicodedata import category

from sfumato.cli.progress_lines import ProgressLines
from sfumato.runtime.interrupts import hold_signals, settle_answer

_CONTROL_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Kinds of characters that a terminal may obey or hide: controls, direction marks, surrogates, line separators."""


def escape_text(text: object) -> str:
    r"""Make one line of anything: a character that a terminal would obey becomes visible, as in ``\x1b``."""
    line = str(text)
    if line.isascii() and line.isprintable():
        return line
    return "".join(_escape_letter(letter) if category(letter) in _CONTROL_KINDS else letter for letter in line)


def _escape_letter(letter: str) -> str:
    number = ord(letter)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def print_line(text: object = "", *, error: bool = False) -> None:
    """Print one line; a line break inside it is made visible."""
    print(escape_text(text), file=sys.stderr if error else sys.stdout)


def print_json(content: Any) -> None:
    """Print JSON for a script, with control characters escaped."""
    text = json.dumps(_replace_infinities(content), indent=1, ensure_ascii=False, default=str, allow_nan=False)
    if not text.isascii() or "\x7f" in text:
        text = "".join(
            _escape_json(letter) if letter != "\n" and category(letter) in _CONTROL_KINDS else letter for letter in text
        )
    with hold_signals():  # a script gets one JSON text: this one, or the one about the signal
        print(text, flush=True)
        settle_answer()


def _escape_json(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else json.dumps(letter)[1:-1]


def _replace_infinities(content: Any) -> Any:
    """Replace infinity, which JSON lacks, by null."""
    if isinstance(content, Mapping):
        return {key: _replace_infinities(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_replace_infinities(value) for value in content]
    return None if isinstance(content, float) and not isfinite(content) else content


@contextmanager
def show_progress(quiet: bool) -> Iterator[None]:
    """Show a progress bar on a terminal, a line every half minute in a log or a pipe, nothing with JSON."""
    from sfumato.runtime.progress import listen_to_progress

    if quiet:
        yield
        return
    if not sys.stderr.isatty():
        with listen_to_progress(ProgressLines(lambda line: print_line(line, error=True))):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    clock, countdown = TimeElapsedColumn(), TimeRemainingColumn()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), clock, TextColumn("left"), countdown)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(step: str, done_count: int, total: int | None) -> None:
            if step != bar.tasks[0].description:  # how long a step takes says nothing about the next one
                bar.reset(task, description=step, completed=done_count, total=total)
            bar.update(task, completed=done_count, total=total)

        with listen_to_progress(tell):
            yield


def spell_tabs(words: list[str]) -> list[str]:
    r"""The words of a command line with the tab that `--separator "\t"` means: a shell leaves it two characters."""
    predecessors = ["", *words]
    tabs = {"--separator=\\t": "--separator=\t", "\\t": "\t"}
    return [
        tabs.get(word, word) if predecessor == "--separator" or word.startswith("--separator=") else word
        for predecessor, word in zip(predecessors, words, strict=False)
    ]
