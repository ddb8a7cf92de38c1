# SPDX-License-Identifier: MIT
"""The measurements, or those named: `python -m bench [startup|classes|generalize …]`.

A module of this package with a function `main` is a measurement. One that sets `BY_NAME_ONLY`, the reason, runs only if
it is named.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path


def list_measurements() -> dict[str, bool]:
    """Every measurement, and whether it runs without being named."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("[!_]*.py"))}
    return {
        name: re.search(r"^BY_NAME_ONLY\b", source, re.MULTILINE) is None
        for name, source in sources.items()
        if re.search(r"^def main\(", source, re.MULTILINE)
    }


def main() -> None:
    """Run each in its own process, so that memory is measured separately."""
    measurements = list_measurements()
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure speed, as tables.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of {', '.join(measurements)}; default: most")
    names = parser.parse_args().names or [name for name, runs in measurements.items() if runs]
    if unknown_names := [name for name in names if name not in measurements]:
        parser.error(f"there is no measurement {', '.join(unknown_names)}; see --help")
    for name in names:
        subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)


if __name__ == "__main__":
    main()
