# SPDX-License-Identifier: MIT
"""The few questions of `sfumato init` on a terminal; an empty answer takes the default in brackets."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from sfumato.cli.terminal import escape_text, print_line
from sfumato.errors import PolicyError, count_noun

if TYPE_CHECKING:
    from sfumato.workflow.drafts.draft_source import DraftSource

Answer = TypeVar("Answer")
TRIES = 3


def can_ask() -> bool:
    """Whether both input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(question: str, default: str, parse: Callable[[str], Answer]) -> Answer:
    """Ask until the answer can be understood, three times at most."""
    for _ in range(TRIES):
        try:
            answer = input(escape_text(f"{question} [{default}] ")).strip()
        except EOFError:
            print_line()
            answer = ""
        try:
            return parse(answer or default)
        except PolicyError as error:
            print_line(str(error))
    raise PolicyError("no answer could be understood; see sfumato init --help for the options")


def ask_purpose() -> str:
    """What the release is for."""
    from sfumato.workflow.drafts.draft_methods import PURPOSES, parse_purpose

    print_line("What is the release for?")
    for purpose, words in PURPOSES.items():
        print_line(f"  {purpose:<10} {words}")
    return ask("Purpose", "publish", parse_purpose)


def ask_missing_marks(source: DraftSource) -> tuple[str, ...]:
    """Which of the noticed cells mean "missing"; none by default."""
    if not source.noticed_marks:
        return ()
    print_line('These cells may mean "missing":')
    for number, mark in enumerate(source.noticed_marks, 1):
        columns = ", ".join(f"{name}: {count_noun(rows, 'row')}" for name, rows in mark.rows.items())
        print_line(f'  {number}. "{mark.mark}"  ({columns})')
    mark_numbers = ask(
        "Which do? Numbers with commas, all, or none", "none", lambda text: _parse_column_numbers(text, source)
    )
    return tuple(source.noticed_marks[number].mark for number in mark_numbers)


def _parse_column_numbers(text: str, source: DraftSource) -> list[int]:
    count = len(source.noticed_marks)
    if text.lower() in ("all", "none"):
        return list(range(count)) if text.lower() == "all" else []
    words = [word.strip() for word in text.split(",")]
    if all(word.isdecimal() and 1 <= int(word) <= count for word in words):
        return [int(word) - 1 for word in words]
    raise PolicyError(f"Type numbers from 1 to {count} with commas between them, all, or none.")


def ask_sensitive(proposed_names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Which columns an adversary wants to learn."""

    def parse(text: str) -> tuple[str, ...]:
        names = () if text.lower() == "none" else split_names(text)
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise PolicyError(f"There is no column {', '.join(unknown)}. The columns are: {', '.join(columns)}.")
        return names

    return ask("Which columns are sensitive? Names with commas, or none", _join_names(proposed_names) or "none", parse)


def split_names(text: str) -> tuple[str, ...]:
    """Names with commas between them; a name that holds a comma stands in double quotes."""
    return tuple(filter(None, split_at_commas(text)))


def split_at_commas(text: str) -> tuple[str, ...]:
    """The same with an empty name where nothing stands between two commas, or after the last."""
    try:
        names = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise PolicyError("a list of names cannot be read: separate names by commas, without line breaks") from None
    return tuple(name.strip() for name in names)


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' if "," in name else name for name in names)


def ask_k(default: int) -> int:
    """How many people each person is hidden among."""
    return ask("Hide each person among how many people (k)?", str(default), _parse_k)


def _parse_k(text: str) -> int:
    if text.isdecimal() and int(text) >= 2:
        return int(text)
    raise PolicyError("Type a whole number from 2 on.")
