# SPDX-License-Identifier: MIT
"""What it costs to start: import, help, and a whole run as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.timing import best_of, shared_data, show

_ADULT = """
import sys
import sfumato as sf
folder, *names = sys.argv[1:]
hierarchies = {name: f"{folder}/adult_hierarchy_{name}.csv" for name in names}
roles = dict.fromkeys(names, "quasi_identifying") | {"salary-class": "insensitive"}
table = sf.Table.read(f"{folder}/adult.csv", roles, hierarchies, separator=";")
sf.Generalize(models=[sf.KAnonymity(k=5)], suppression_limit=0.05).protect(table)
"""
EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


def main() -> None:
    python = sys.executable
    command = str(Path(python).with_name("sfumato"))
    with tempfile.TemporaryDirectory() as folder:
        surroundings = {**os.environ, "SFUMATO_HOME": folder}
        # Modules are compiled to bytecode once, as on any machine where Python may write it.
        surroundings |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "PYTHONDONTWRITEBYTECODE": ""}

        def run(*words: str) -> float:
            return best_of(5, lambda: subprocess.run(words, check=True, capture_output=True, env=surroundings))

        rows = [
            ("python -c 'import sfumato'", f"{run(python, '-c', 'import sfumato'):.2f} s"),
            ("sfumato --help", f"{run(command, '--help'):.2f} s"),
            (
                "sfumato demo (20,000 people, to report and certificate)",
                f"{run(command, 'demo', '--out', f'{folder}/out'):.1f} s",
            ),
        ]
        data = shared_data()
        if data is None:
            print("startup: no real data (set SFUMATO_DATA), the whole process on ARX's Adult is skipped")
        else:
            seconds = run(python, "-c", _ADULT, str(data / "arx-adult"), *EIGHT)
            rows.append(("import, read ARX's Adult, protect (k = 5, 5 %; ARX 2.2 s)", f"{seconds:.2f} s"))
    show("Start-up, whole processes", ("command", "best of 5"), rows)


if __name__ == "__main__":
    main()
