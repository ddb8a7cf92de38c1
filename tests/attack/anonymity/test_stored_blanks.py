# SPDX-License-Identifier: MIT
"""The classes that someone fits are found by what they show, against a comparison of every row with everybody."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attack.anonymity.stored_blanks import count_fitting_classes
from tests.protect.test_stored_rowwise import CutRows

CELL = st.sampled_from(["x", "y", "z", None])
ROW = st.tuples(CELL, st.sampled_from([1, 2, None]), CELL)
SCHEMA = {"a": pl.String, "b": pl.Int64, "c": pl.String}


@settings(deadline=None)
@given(st.lists(ROW, max_size=25), st.lists(ROW, min_size=1, max_size=4), st.integers(1, 9))
def test_classes_that_fit_somebody(rows: list[tuple[str]], people: list[tuple[str]], length: int) -> None:
    frame, person_frame = (pl.DataFrame(records, schema=SCHEMA, orient="row") for records in (rows, people))
    class_counts = count_fitting_classes(CutRows(frame, [length]), person_frame)
    fitting: dict[tuple[str], int] = {}
    for row in rows:
        if any(all(None in pair or pair[0] == pair[1] for pair in zip(row, person, strict=True)) for person in people):
            fitting[row] = fitting.get(row, 0) + 1
    assert dict(zip(class_counts.frame.rows(), class_counts.counts.tolist(), strict=True)) == fitting
