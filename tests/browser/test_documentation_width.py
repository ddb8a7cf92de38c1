# SPDX-License-Identifier: MIT
"""The documentation fits a phone: at 375 px no page scrolls sideways, measured by a real browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.phone import BROWSER, list_too_wide, measure_widths

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("index", "methods/generalize", "policy", "reference", "which_method", "speed")

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(folder / "trees"), str(DOCS)]
    subprocess.run([*command, str(folder / "html")], check=True, capture_output=True)
    return folder / "html"


def test_no_page_scrolls_sideways_on_a_phone(site: Path) -> None:
    widths = measure_widths(site, PAGES)
    assert set(widths) == set(PAGES)
    assert list_too_wide(widths) == {}


def test_the_measurement_sees_a_page_that_is_too_wide(site: Path) -> None:
    (site / "wide.html").write_text('<!doctype html><div style="width: 900px">wide</div>', encoding="utf-8")
    assert max(measure_widths(site, ("wide",))["wide"]) >= 900
