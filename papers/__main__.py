# SPDX-License-Identifier: MIT
"""`python -m papers` lists the studies; `python -m papers NAME … [--quick] [--out DIR] [--json]` runs them."""

from __future__ import annotations

import argparse
import json
import sys

from papers.registry import list_studies
from papers.run import reproduce
from papers.study import find_data
from sfumato.cli.terminal import show_progress
from sfumato.errors import SfumatoError


def main(arguments: list[str] | None = None) -> int:
    """List or run studies; 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python -m papers", description="Reproduce published tables and figures.")
    parser.add_argument("names", nargs="*", help="a study, a paper, or all; without a name, list them")
    parser.add_argument("--quick", action="store_true", help="smaller sizes where a figure allows it")
    parser.add_argument("--out", default="papers-out", help="the folder for the page and its tables")
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    options = parser.parse_args(arguments)
    if not options.names:
        print("\n".join(_list_lines()))
        return 0
    try:
        with show_progress(options.json):
            summary = reproduce(options.names, options.out, quick=options.quick)
    except SfumatoError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(summary.as_json(), indent=2) if options.json else "\n".join(summary.list_sentences()))
    return 0


def _list_lines() -> list[str]:
    """Every paper with its studies, and which data they lack."""
    data, lines = find_data(), []
    for study in list_studies().values():
        paper = f"{study.paper.name}: {study.paper.authors}, {study.paper.title}"
        if paper not in lines:
            lines.append(paper)
        missing = study.missing(data)
        lines.append(f"  {study.full_name}: {study.title}" + (f" (needs {', '.join(missing)})" if missing else ""))
    return lines


if __name__ == "__main__":
    sys.exit(main())
