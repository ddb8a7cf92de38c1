# SPDX-License-Identifier: MIT
"""Whether published cells are what their originals allow."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.measure.truth import count_changed_kept_cells


def test_kept_cells() -> None:
    cells = {"n": [1, 5], "w": ["a", None], "b": [True, False]}
    original = sf.Table.of(cells, dict.fromkeys(cells, "insensitive"))
    assert count_changed_kept_cells(original, original, ["n", "w", "b"]) == 0
    turned = original.replace_frame(original.frame.reverse())
    assert count_changed_kept_cells(original, turned, ["n", "w", "b"]) == 6
    assert count_changed_kept_cells(original, turned, ["n", "w"], rows=[1, 0]) == 0
    with pytest.raises(sf.DataError, match="cannot be compared"):
        count_changed_kept_cells(original, turned.replace_frame(turned.frame[:1]), ["n"])
