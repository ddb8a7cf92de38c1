# SPDX-License-Identifier: MIT
"""Days that no calendar shows are refused wherever data comes in: polars panics on them later."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError

_ROLES = {"born": "quasi_identifying", "visit": "sensitive"}


def frame_of(days: list[int | None], kind: pl.DataType) -> pl.DataFrame:
    return pl.DataFrame({"born": pl.Series(days).cast(kind), "visit": ["a"] * len(days)})


@pytest.mark.parametrize(
    ("days", "kind", "rows"),
    [
        ([0, 2**31 - 1, -(2**31), None], pl.Date(), "2 rows"),
        ([0, 2_932_897], pl.Date(), "1 row"),
        ([0, 2**63 - 1], pl.Datetime("ms"), "1 row"),
    ],
)
def test_days_outside_the_calendar_are_refused_from_python(
    days: list[int | None], kind: pl.DataType, rows: str
) -> None:
    with pytest.raises(DataError, match=rf'"born" holds .* in {rows}; correct') as caught:
        sf.Table.of(frame_of(days, kind), _ROLES)
    assert not any(str(day) in str(caught.value) for day in days if day), "a message shows no cell"


def test_days_outside_the_calendar_are_refused_from_files(tmp_path: Path) -> None:
    days = pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"born": days, "visit": ["a", "b"]}), tmp_path / "people.parquet")
    with pytest.raises(DataError, match=r'people\.parquet: the column "born" .* in 1 row;'):
        sf.Table.read(tmp_path / "people.parquet", _ROLES)


def test_the_first_and_the_last_day_are_read() -> None:
    table = sf.Table.of(frame_of([-719_162, 2_932_896, None], pl.Date()), _ROLES)
    assert table.frame["born"].to_list() == [date.min, date.max, None]


def test_every_moment_in_nanoseconds_is_one_of_the_calendar() -> None:
    moments = frame_of([-(2**63) + 1, 2**63 - 1], pl.Datetime("ns"))
    assert [text[:4] for text in sf.Table.of(moments, _ROLES).frame["born"]] == ["1677", "2262"]
