# SPDX-License-Identifier: MIT
"""The compiled page of the report: kept once, compiled again when it does not fit, and never in the way."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from sfumato.report import compiled_page
from sfumato.report.compiled_page import CompiledPage


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compiled_page, "cache_from_source", lambda _: str(tmp_path / "kept" / "page.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "kept"


def render(text: str) -> str:
    return (
        Environment(autoescape=True, loader=DictLoader({"page": text}), bytecode_cache=CompiledPage())
        .get_template("page")
        .render(name="<b>")
    )


def test_what_was_kept_is_used_for_the_same_page_only(folder: Path) -> None:
    assert render("Hello {{ name }}") == "Hello &lt;b&gt;"
    (kept_file,) = folder.iterdir()
    content = kept_file.read_bytes()
    assert render("Hello {{ name }}") == "Hello &lt;b&gt;"
    assert kept_file.read_bytes() == content
    assert render("Bye {{ name }}") == "Bye &lt;b&gt;"
    (kept_file,) = folder.iterdir()
    assert kept_file.read_bytes() != content, "another page was compiled anew"


def test_a_damaged_file_is_replaced(folder: Path) -> None:
    render("Hello {{ name }}")
    (kept_file,) = folder.iterdir()
    whole = kept_file.read_bytes()
    for damaged in (b"", whole[:40], b"x" * 200):
        kept_file.write_bytes(damaged)
        assert render("Hello {{ name }}") == "Hello &lt;b&gt;"
        assert kept_file.read_bytes() == whole


def test_a_folder_that_cannot_be_written_to_keeps_nothing(folder: Path) -> None:
    folder.write_text("no folder")
    assert render("Hello {{ name }}") == "Hello &lt;b&gt;"
    assert folder.read_text() == "no folder"
