# SPDX-License-Identifier: MIT
"""The documentation builds without a warning, fetches nothing, and fits a phone: a real browser measures its pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.phone import BROWSER, list_too_wide, measure_widths

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("index", "methods/generalize", "policy", "reference", "which_method", "speed")


def test_the_documentation_builds_fetches_nothing_and_fits_a_phone(tmp_path: Path) -> None:
    """It is one test because a build takes long."""
    site = tmp_path / "html"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html"]
    result = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(DOCS), str(site)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert (site / "index.html").is_file()
    fetched = [
        page.name
        for page in site.rglob("*.html")
        if re.search(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css|woff2?)"', page.read_text(encoding="utf-8"))
    ]
    assert fetched == []
    if BROWSER is None:
        pytest.skip("no chromium on this machine: the width of pages was not measured")
    widths = measure_widths(site, PAGES)
    assert set(widths) == set(PAGES)
    assert list_too_wide(widths) == {}


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_the_measurement_sees_a_page_that_is_too_wide(tmp_path: Path) -> None:
    (tmp_path / "wide.html").write_text('<!doctype html><div style="width: 900px">wide</div>', encoding="utf-8")
    assert max(measure_widths(tmp_path, ("wide",))["wide"]) >= 900
