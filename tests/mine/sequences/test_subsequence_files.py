# SPDX-License-Identifier: MIT
"""Subsequences in files: they come back as they were, and bad lines get a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf


@pytest.mark.parametrize("lists", [[[1, 2], [1, 2]], [["a", "b"], ["a b", "a"]], [[["a", "b"], ["c"]]] * 2, [[]]])
def test_patterns_come_back(lists: list[list[object]], tmp_path: Path) -> None:
    patterns = sf.mine.frequent_subsequences(sf.Sequences.of(lists), 1)  # type: ignore[arg-type]
    sf.mine.save_subsequences(patterns, tmp_path / "patterns.txt")
    read = sf.mine.read_subsequences(tmp_path / "patterns.txt")
    assert read.to_dicts() == patterns.to_dicts()


@pytest.mark.parametrize("line", ["1 2 #SUP: 3", "1 -1", "-1 #SUP: 3", "1 -1 -1 #SUP: 3", "1 -1 #SUP: x"])
def test_bad_lines_get_a_sentence(line: str, tmp_path: Path) -> None:
    (tmp_path / "patterns.txt").write_text(f"1 -1 #SUP: 2\n{line}\n")
    with pytest.raises(sf.DataError, match="line 2 is not a pattern"):
        sf.mine.read_subsequences(tmp_path / "patterns.txt")
