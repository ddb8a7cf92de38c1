# SPDX-License-Identifier: MIT
"""The tutorial notebook runs in a real kernel, and its stored outputs are what it gives."""

from __future__ import annotations

import ast
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


def _list_outputs(cells: list[Any]) -> list[Any]:
    """The outputs of each cell; those of pandas look different in other versions of it."""
    outputs: list[Any] = []
    for cell in cells:
        printed = None
        for output in cell.get("outputs", ()):
            if printed is not None and "text" in output:  # one text may arrive in pieces
                printed["text/plain"] += "".join(output["text"])
                continue
            data = output.get("data", {"text/plain": output.get("text", "")})
            texts = {kind: "".join(text) for kind, text in data.items()}
            printed = texts if "text" in output else None
            outputs.append(None if "dataframe" in texts.get("text/html", "") else texts)
    return outputs


def test_the_tutorial_gives_its_stored_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_HOME", str(tmp_path / "home"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Jupyter's own, about event loops and folders
        import nbformat
        from nbclient import NotebookClient

        read: Any = nbformat.read
        book = read(NOTEBOOK, as_version=4)
        stored = _list_outputs(json.loads(json.dumps(book.cells)))
        NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(texts and "text/html" in texts for texts in stored)
    assert _list_outputs(book.cells) == stored
    assert (tmp_path / "out" / "release" / "certificate.json").is_file()


def test_the_tutorial_is_small_and_fits_marimo() -> None:
    """In marimo a name is assigned in one cell only."""
    assert NOTEBOOK.stat().st_size < 80_000
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assigned = [
        name for cell in cells if cell["cell_type"] == "code" for name in _list_assigned("".join(cell["source"]))
    ]
    assert len(set(assigned)) == len(assigned) > 5


def _list_assigned(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {
        alias.asname or alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom | ast.Import)
        for alias in node.names
    }
