# SPDX-License-Identifier: MIT
"""A file with rows of another width is refused with the place of the first one."""

from pathlib import Path

import pytest

import sfumato as sf


@pytest.mark.parametrize("row", [2, 3, 40_000])
def test_the_first_ragged_row_is_named(row: int, tmp_path: Path) -> None:
    lines = ["a,b", *["1,2"] * 50_000]
    lines[row - 1] = "1,2,secret"
    lines[45_000] = "1"
    (tmp_path / "ragged.csv").write_text("\n".join(lines))
    words = rf"ragged\.csv: 2 rows have another number of cells than the 2 columns, first row {row:,} of the file "
    with pytest.raises(sf.DataError, match=words) as refusal:
        sf.Table.read(tmp_path / "ragged.csv")
    assert "secret" not in str(refusal.value)


def test_blank_lines_are_said_not_to_count(tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n\n\n3,4\n5,6,7\n")
    with pytest.raises(sf.DataError, match=r"first row 4 of the file \(blank lines not counted\); correct it"):
        sf.Table.read(tmp_path / "ragged.csv")
