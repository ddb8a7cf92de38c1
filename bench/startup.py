# SPDX-License-Identifier: MIT
"""What it costs to start: import, help, and a whole run as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.timing import best_of, show


def main() -> None:
    python = sys.executable
    command = str(Path(python).with_name("sfumato"))
    with tempfile.TemporaryDirectory() as folder:
        surroundings = {**os.environ, "SFUMATO_HOME": folder}

        def run(*words: str) -> float:
            return best_of(3, lambda: subprocess.run(words, check=True, capture_output=True, env=surroundings))

        rows = [
            ("python -c 'import sfumato'", f"{run(python, '-c', 'import sfumato'):.2f} s"),
            ("sfumato --help", f"{run(command, '--help'):.2f} s"),
            (
                "sfumato demo (20,000 people, to report and certificate)",
                f"{run(command, 'demo', '--out', f'{folder}/out'):.1f} s",
            ),
        ]
    show("Start-up, whole processes", ("command", "best of 3"), rows)


if __name__ == "__main__":
    main()
