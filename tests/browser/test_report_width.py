# SPDX-License-Identifier: MIT
"""Both reports of a method of each family fit a phone, measured by a real browser."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.browser.phone import BROWSER, list_too_wide, measure_widths
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.runs import attacks_on, run_example

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")


def _choose_examples() -> dict[str, Example]:
    """The first example of each family, which is the package that its method is in."""
    examples: dict[str, Example] = {}
    for example in METHOD_EXAMPLES:
        examples.setdefault(type(example.subject).__module__.split(".")[-2], example)
    return examples


def test_no_report_scrolls_sideways_on_a_phone(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    pages = []
    for family, example in _choose_examples().items():
        run_example(example, tmp_path / family, attacks_on(example))
        for side, name in (("release", "report.html"), ("private", "report.html")):
            shutil.copy(tmp_path / family / "out" / side / name, site / f"{family}-{side}.html")
            pages.append(f"{family}-{side}")
    widths = measure_widths(site, tuple(pages))
    assert set(widths) == set(pages)
    assert list_too_wide(widths) == {}
