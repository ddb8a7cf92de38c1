# SPDX-License-Identifier: MIT
"""The documentation fits a phone: at 375 px no page scrolls sideways, measured by a real browser.

Each page is put into a frame of that width, which media queries and layout take for the window.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("index", "methods/generalize", "policy", "reference", "which_method", "speed")
PHONE = 375
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
_MEASURE = """<!doctype html><body style="margin: 0"><script>
const widths = {{}}, pages = {pages};
async function measure() {{
  for (const page of pages) {{
    const frame = document.createElement("iframe");
    frame.style = "width: {width}px; height: 800px; border: 0";
    frame.src = page + ".html";
    document.body.append(frame);
    await new Promise((done) => (frame.onload = done));
    const root = frame.contentDocument.documentElement;
    widths[page] = [frame.contentWindow.innerWidth, root.scrollWidth, frame.contentDocument.body.scrollWidth];
    frame.remove();
  }}
  document.body.textContent = JSON.stringify(widths);
}}
measure();
</script></body>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(folder / "trees"), str(DOCS)]
    subprocess.run([*command, str(folder / "html")], check=True, capture_output=True)
    return folder / "html"


def _measure_widths(site: Path, pages: tuple[str, ...]) -> dict[str, list[int]]:
    """The inner width of the frame and the scroll widths of the page, by page."""
    (site / "measure.html").write_text(_MEASURE.format(pages=json.dumps(pages), width=PHONE), encoding="utf-8")
    assert BROWSER is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    profile = f"--user-data-dir={site.parent / 'profile'}"
    address = (site / "measure.html").as_uri()
    shown = subprocess.run(
        [BROWSER, *options, profile, "--virtual-time-budget=20000", address],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout
    body = re.search(r"<body[^>]*>(\{.*\})</body>", shown, re.DOTALL)
    assert body, f"the browser did not finish:\n{shown[:2000]}"
    widths: dict[str, list[int]] = json.loads(unescape(body[1]))
    return widths


def test_no_page_scrolls_sideways_on_a_phone(site: Path) -> None:
    widths = _measure_widths(site, PAGES)
    assert set(widths) == set(PAGES)
    assert {page: seen for page, seen in widths.items() if max(seen) > PHONE or seen[0] != PHONE} == {}


def test_the_measurement_sees_a_page_that_is_too_wide(site: Path) -> None:
    (site / "wide.html").write_text('<!doctype html><div style="width: 900px">wide</div>', encoding="utf-8")
    assert max(_measure_widths(site, ("wide",))["wide"]) >= 900
