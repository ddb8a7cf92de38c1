# SPDX-License-Identifier: MIT
"""The measurements, or those named: `python -m bench [startup|classes|generalize …]`.

A module of this package with a function `main` is a measurement. One that sets `BY_NAME_ONLY`, the reason, runs only if
it is named.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def list_measurements() -> list[str]:
    """Every measurement that runs without being named."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("[!_]*.py"))}
    return [
        name
        for name, source in sources.items()
        if re.search(r"^def main\(", source, re.MULTILINE) and not re.search(r"^BY_NAME_ONLY\b", source, re.MULTILINE)
    ]


def main() -> None:
    """Run each in its own process, so that memory is measured separately."""
    for name in sys.argv[1:] or list_measurements():
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)


if __name__ == "__main__":
    main()
