# SPDX-License-Identifier: MIT
"""The texts below attributes are read from the lines of their class alone."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from sfumato.fields.field_docs import find_field_doc, read_attribute_docs
from sfumato.protect.anonymity.generalize import Generalize

SOURCE = '''
class Plain(
    dict,
):
    """Something."""

    first: int = 1
    """The first."""
    second = 2
    """The
    second."""
    bare = 3


class PlainOther:
    first = 1
    """Of another class."""


class Ragged:
    before = 1
    """Before."""
    text = """
class Plain at the beginning of a line
"""
    after = 2
    """After."""


class Outer:
    class Inner:
        deep = 1
        """Deep."""
'''


def test_the_texts_of_a_class(tmp_path: Path) -> None:
    path = tmp_path / "ragged_module.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("ragged_module", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["ragged_module"] = module
    try:
        spec.loader.exec_module(module)
        assert dict(read_attribute_docs(module.Plain)) == {"first": "The first.", "second": "The\nsecond."}
        assert dict(read_attribute_docs(module.PlainOther)) == {"first": "Of another class."}
        assert dict(read_attribute_docs(module.Ragged)) == {"before": "Before.", "after": "After."}
        assert dict(read_attribute_docs(module.Outer.Inner)) == {"deep": "Deep."}
    finally:
        del sys.modules["ragged_module"]


def test_classes_without_source_have_none() -> None:
    assert read_attribute_docs(int) == {}
    assert find_field_doc(Generalize, "search").startswith("`optimal` is proven")
