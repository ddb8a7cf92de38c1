# SPDX-License-Identifier: MIT
"""Large files of sequences are read and written as small ones are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.sequences import Sequences
from sfumato.workflow.shapes import large_sequences
from sfumato.workflow.shapes.large_sequences import parse_plain_text, read_sequences, write_sequences

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
NUMBERS = st.integers(0, 20_000_000)
LISTS: Any = st.one_of(
    st.lists(st.lists(NUMBERS, max_size=5), min_size=1, max_size=6),
    st.lists(st.lists(st.lists(NUMBERS, min_size=1, max_size=4), max_size=5), min_size=1, max_size=6),
)
WORDS = ["-1", "-2", "-3", "-", "-1x", "--1", "0", "7", "07", "12345678", "9999999", "x", "+1", "."]
PIECES = st.sampled_from([*WORDS, " ", "\t", "\n", "\r\n", ""])


@given(st.lists(PIECES, max_size=14), st.sampled_from([" ", ""]))
@SAME_FOLDER
def test_the_kernel_reads_what_the_word_list_reads(tmp_path: Path, pieces: list[str], gap: str) -> None:
    """Any text: the same sequences, or the same refusal."""
    path = tmp_path / "sequences.txt"
    path.write_bytes(gap.join(["1 -1 -2\n", *pieces]).encode())
    outcomes = []
    for large in (0, 1 << 60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large_sequences, "LARGE", large)
            try:
                outcomes.append((read_sequences(path, None), ""))
            except DataError as problem:
                outcomes.append((None, str(problem)))  # type: ignore[arg-type]
    assert outcomes[0] == outcomes[1]


@given(LISTS)
@SAME_FOLDER
def test_the_kernel_reads_and_writes_plain_files(tmp_path: Path, lists: list[list[Any]]) -> None:
    sequences = Sequences.of(lists)
    texts = []
    for large in (0, 1 << 60):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(large_sequences, "LARGE", large)
            write_sequences(sequences, tmp_path / "plain.txt", "spmf")
            assert read_sequences(tmp_path / "plain.txt", "spmf") == sequences
        texts.append((tmp_path / "plain.txt").read_bytes())
    assert texts[0] == texts[1]


def test_the_kernel_knows_plain_files() -> None:
    """Else the tests above would compare the word list with itself."""
    plain = parse_plain_text(Path("x"), b"\n1 -1 3 0 -1 -2\n\n-2 \n9999999\t-1 -2", {})
    assert plain is not None and list(plain.items) == [0, 1, 3, 9_999_999]
    assert plain.offsets.tolist() == [0, 2, 2, 3] and plain.element_offsets.tolist() == [0, 1, 3, 4]
    named_sequences = parse_plain_text(Path("x"), b"1 -1 -2\n", {"1": "home"})
    assert named_sequences is not None and list(named_sequences.items) == ["home"]
    for text in (b"1 -1", b"1 -2", b"-1 -2", b"1 -1 -2 1 -1 -2", b"01 -1 -2", b"10000000 -1 -2", b"a -1 -2", b"1 -1-2"):
        assert parse_plain_text(Path("x"), text, {}) is None, text
