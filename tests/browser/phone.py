# SPDX-License-Identifier: MIT
"""How wide pages are on a phone, measured by a real browser.

Each page is put into a frame of a phone's width, which media queries and layout take for the window.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

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


def measure_widths(folder: Path, pages: tuple[str, ...]) -> dict[str, list[int]]:
    """The inner width of the frame and the scroll widths of the page, by page; pages are named without `.html`."""
    (folder / "measure.html").write_text(_MEASURE.format(pages=json.dumps(pages), width=PHONE), encoding="utf-8")
    assert BROWSER is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    profile = f"--user-data-dir={folder.parent / 'profile'}"
    address = (folder / "measure.html").as_uri()
    page_dump = subprocess.run(
        [BROWSER, *options, profile, "--virtual-time-budget=20000", address],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout
    body = re.search(r"<body[^>]*>(\{.*\})</body>", page_dump, re.DOTALL)
    assert body, f"the browser did not finish:\n{page_dump[:2000]}"
    widths: dict[str, list[int]] = json.loads(unescape(body[1]))
    return widths


def list_too_wide(widths: dict[str, list[int]]) -> dict[str, list[int]]:
    """The pages that scroll sideways, with their widths."""
    return {
        page: page_widths for page, page_widths in widths.items() if max(page_widths) > PHONE or page_widths[0] != PHONE
    }
