# SPDX-License-Identifier: MIT
"""Papers are cited by authors and year: no working name of a source stands in code or docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKING_NAMES = re.compile(r"\bseed[ _]00\d|\bseeds/|\bthe slides\b|\bslide \d|(?-i:GOLDEN)", re.IGNORECASE)
PLACES = ("src", "docs", "tests", "bench", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
TEXTS = {".py", ".md", ".j2", ".html", ".toml", ".css"}


def list_texts(source: Path) -> list[Path]:
    paths = [source] if source.is_file() else sorted(source.rglob("*"))
    return [path for path in paths if path.suffix in TEXTS and path != Path(__file__) and "_build" not in path.parts]


@pytest.mark.parametrize("source", PLACES)
def test_no_working_name_of_a_source(source: str) -> None:
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in list_texts(ROOT / source)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if WORKING_NAMES.search(line)
    ]
    assert hits == []


def test_the_pattern_finds_working_names() -> None:
    for text in ("JASA 1965; seed 001", "the slides' filter", "slide 12", "see seeds/", "GOLDEN 004"):
        assert WORKING_NAMES.search(text)
    assert not WORKING_NAMES.search("seed 2007 of the generator, and golden tests in tests")
