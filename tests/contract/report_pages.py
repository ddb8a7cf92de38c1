# SPDX-License-Identifier: MIT
"""Reports as lines of text, for tests that compare every line with plain counts over the original and the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.report.words.wording import NBSP, format_count, format_percent
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES

EXAMPLES = (*METHOD_EXAMPLES, *MODE_EXAMPLES)
Itemset = frozenset[str]

_PICTURES = re.compile(r"<(style|script|svg)\b.*?</\1>", re.DOTALL)
_ENDS = re.compile(r"</(tr|p|li|h\d|figure|figcaption|section|caption|div|title|dd|summary)>")
PROMISED, LEFT, NEXT = "What was promised, and what was measured", "What is left for the analyst", "What to do next"
FREE = (
    r"All \d+ claims hold, each measured again on the file as written\..*",
    r"\d+ claims? (is|are) about the originals: a recipient cannot check (it|them)\.",
    r"(The attack that gains most|! The attack|Residual risk|✓ Passed|! Passed|1 Passed).*",
)
"""Lines with numbers that `check_common_lines` compares, or that tell of attacks."""


def read_lines(page: Path) -> list[str]:
    """The text of a report, line by line, without pictures; a row of a table is one line, with bars between cells."""
    text = _PICTURES.sub("", page.read_text(encoding="utf-8"))
    text = _ENDS.sub("\n", re.sub(r"<tr\b.*?</tr>", lambda row: _join_cells(row[0]), text, flags=re.DOTALL))
    lines = (" ".join(line.split()) for line in _strip_tags(text).splitlines())
    return [line for line in lines if line]


def _join_cells(row: str) -> str:
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
    return "\n" + " | ".join(" ".join(_strip_tags(cell).split()) for cell in cells).replace("<", "&lt;") + "\n"


def _strip_tags(text: str) -> str:
    return unescape(re.sub(r"<[^>]*>", " ", text))


def select_figures(lines: list[str]) -> list[str]:
    """The lines with numbers in all parts that say something about the data: findings, losses and sizes."""
    report_lines = [*lines[: lines.index(PROMISED)], *lines[lines.index(LEFT) : lines.index(NEXT)]]
    report_lines += [line for line in lines if line.startswith("Data file") or " in the originals " in line]
    return [
        line for line in report_lines if re.search(r"\d", line) and not any(re.fullmatch(free, line) for free in FREE)
    ]


def compare_lines(page: Path, expected: Iterable[str]) -> None:
    """Every expected line is on the page, and every line with a number is expected."""
    lines = read_lines(page)
    expected_lines = list(expected)
    missing = [line for line in expected_lines if line not in lines]
    figures = select_figures(lines)
    unread = [line for line in figures if line not in expected_lines]
    assert not missing, (
        f"{page.parent.name}/{page.name} does not say what a count of the data gives: {missing}; lines that nothing "
        f"compares: {unread}"
    )
    assert not unread, (
        f"{page.parent.name}/{page.name} says {unread}, which nothing compares with the data: add the lines, counted "
        "plainly, to the expected ones of this test"
    )


COMPARED: set[str] = set()
"""The examples whose reports are compared line by line."""


def select(*kinds: type[sf.Method]) -> pytest.MarkDecorator:
    """The examples of some methods, as parameters of a test that compares their reports."""
    COMPARED.update(example.name for example in EXAMPLES if isinstance(example.subject, kinds))
    examples = [example for example in EXAMPLES if isinstance(example.subject, kinds)]
    return pytest.mark.parametrize("example", examples, ids=lambda example: example.name)


def percent(share: float) -> str:
    """A share as reports write it."""
    return format_percent(round(share, 12)).replace(NBSP, " ")


def count(number: int, singular: str, many: str | None = None) -> str:
    """A number and its noun."""
    return f"{number:,} {singular if number == 1 else many or singular + 's'}"


def check_both(run: Any, public_lines: list[str], private_lines: Iterable[str]) -> None:
    """The public page says what anyone can count in the file; the private page says more."""
    body = run.certificate.body
    for side, expected in (("release", public_lines), ("private", private_lines)):
        page = run.out / side / "report.html"
        compare_lines(page, expected)
        lines = read_lines(page)
        assert any(line.startswith(f"All {len(body['claims'])} claims hold,") for line in lines)
        private = sum(claim["needs_original"] for claim in body["claims"])
        free_lines = [line for line in lines if re.fullmatch(FREE[1], line)]
        assert [int(line.split()[0]) for line in free_lines] == ([private] if private else [])


def complete_rows(lines: Iterable[str], losses: Mapping[str, Any]) -> list[str]:
    """The rows of the table of losses that begin with a name and end with its number."""
    rows = []
    for name, number in losses.items():
        number_text = percent(number) if isinstance(number, float) else format_count(number)
        fitting = [
            line for line in lines if re.fullmatch(rf"{name} [A-Z][^|]* \| {re.escape(number_text)}( \| –)?", line)
        ]
        rows += fitting or [f"{name} … | {number_text} | –"]
    return rows


def take_baskets(example: Example) -> tuple[Itemset, ...]:
    """The originals."""
    return tuple(frozenset(map(str, basket)) for basket in example.data().to_lists())
