# SPDX-License-Identifier: MIT
"""Private entries, said in every way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from sfumato.arrays import Flags
from sfumato.data.cells.private_entries import AnyEntries, PrivateEntries, build_private_mask, require_private_mask
from sfumato.errors import DataError, PolicyError

FRAME = pl.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dora"],
        "salary": [10.0, 20.5, None, 10.0],
        "asked": [True, False, True, None],
    }
)
READ: TypeAdapter[Any] = TypeAdapter(AnyEntries)


def mask_of(entries: Any, frame: pl.DataFrame = FRAME, seed: int = 0) -> Flags:
    return build_private_mask(READ.validate_python(entries), frame, np.random.default_rng(seed))


def places(mask: Flags) -> set[tuple[int, int]]:
    return {(int(row), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)}


def marks() -> Flags:
    mask = np.zeros((4, 3), dtype=bool)
    mask[0, 1] = mask[3, 2] = mask[2, 0] = mask[2, 1] = True
    return mask


def as_polars(mask: Flags) -> pl.DataFrame:
    return pl.DataFrame(mask, schema=FRAME.columns)


def as_arrow(mask: Flags) -> pa.Table:
    return pa.table(as_polars(mask))


@pytest.mark.parametrize("kind", [np.asarray, as_polars, pd.DataFrame, as_arrow])
def test_a_mask(kind: Any) -> None:
    """A missing cell has nothing to hide, whoever marks it: (2, 1) and (3, 2)."""
    assert places(mask_of(kind(marks()))) == {(0, 1), (2, 0)}


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_mask_frame_is_matched_by_its_names(library: Any) -> None:
    """Columns in another order, and one left out: by position the neighbour would be hidden."""
    mask = library({"asked": [False, True, False, False], "name": [True, False, False, False]})
    assert places(mask_of(mask)) == {(0, 0), (1, 2)}
    with pytest.raises(PolicyError, match='"wage"'):
        mask_of(library({"wage": [True] * 4, "name": [True] * 4}))
    assert READ.validate_python(mask) != READ.validate_python(np.asarray(mask))


@pytest.mark.parametrize(
    "entries",
    [
        [],
        0.0,
        {"share": 0.01},
        {"columns": ["name"], "where": {"asked": "yes"}},
        {"columns": ["name"], "where": {"salary": "[10, 20]"}},
        {"cells": []},
        np.zeros((4, 3), dtype=bool),
        [(2, "salary")],
        [{"columns": ["asked"]}, {"columns": ["name"], "where": {"salary": "11"}}],
    ],
    ids=str,
)
def test_where_nothing_would_be_private_a_method_stops(entries: Any) -> None:
    with pytest.raises(PolicyError, match="nothing would be private"):
        require_private_mask(READ.validate_python(entries), FRAME, np.random.default_rng(0), "table", FRAME.columns)


def test_columns_that_do_not_leave_hold_nothing_to_hide() -> None:
    entries = READ.validate_python([[0, "name"]])
    with pytest.raises(PolicyError, match=r"nothing would be private: the specification \(cells\)"):
        require_private_mask(entries, FRAME, np.random.default_rng(0), "table", ["salary", "asked"])
    mask = require_private_mask(entries, FRAME, np.random.default_rng(0), "table", ["name"])
    assert places(mask) == {(0, 0)}


def test_a_mask_is_kept_as_it_was() -> None:
    mask = marks()
    entries = PrivateEntries(mask=mask)
    mask[:] = True
    assert places(build_private_mask([entries], FRAME, np.random.default_rng(0))) == {(0, 1), (2, 0)}
    assert entries == PrivateEntries(mask=marks())
    assert entries != PrivateEntries(mask=mask)
    assert hash(entries) == hash(PrivateEntries(mask=marks()))
    assert entries != PrivateEntries(share=0.5)


def test_cells_by_name_or_number() -> None:
    assert places(mask_of([(0, "salary"), (2, 0)])) == {(0, 1), (2, 0)}
    assert places(mask_of([[np.int64(3), np.int32(1)], [3, "name"], [3, "name"]])) == {(3, 0), (3, 1)}
    assert places(mask_of({(1, "salary")})) == {(1, 1)}
    assert places(mask_of({"cells": [[1, "name"], [2, "salary"]]})) == {(1, 0)}
    assert places(mask_of([])) == set()


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_a_file_of_cells(tmp_path: Path, ending: str) -> None:
    listed = pl.DataFrame({"row": [0, 3], "column": ["salary", "name"], "why": ["a", "b"]})
    path = tmp_path / f"cells.{ending}"
    if ending == "parquet":
        listed.write_parquet(path)
    else:
        listed.write_csv(path, separator="\t" if ending == "tsv" else ",")
    assert (
        places(mask_of(path)) == places(mask_of(str(path))) == places(mask_of({"file": str(path)})) == {(0, 1), (3, 0)}
    )


def test_a_file_of_columns_with_numbers_for_names(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("row,column\n1,2019\n")
    frame = pl.DataFrame({"2018": [1, 2], "2019": [3, 4]})
    assert places(mask_of(tmp_path / "cells.csv", frame)) == {(1, 1)}


def test_a_file_without_cells(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("row,column\n")
    assert not mask_of(tmp_path / "cells.csv").any()


def test_whole_columns() -> None:
    assert places(mask_of(["salary"])) == {(0, 1), (1, 1), (3, 1)}
    assert places(mask_of({"columns": ["salary", "asked"]})) == {(0, 1), (1, 1), (3, 1), (0, 2), (1, 2), (2, 2)}


def test_people_who_asked() -> None:
    """Values are taken as they are spelt: true, 10 for 10.0; a missing one is no value."""
    assert places(mask_of({"columns": ["name"], "where": {"asked": True}})) == {(0, 0), (2, 0)}
    assert places(mask_of({"columns": ["name"], "where": {"salary": [10, 20.5]}})) == {(0, 0), (1, 0), (3, 0)}
    conditions = {"columns": ["name"], "where": {"salary": "10", "asked": ["true"]}}
    assert places(mask_of(conditions)) == {(0, 0)}
    assert places(mask_of({"where": {"name": "Cid"}})) == {(2, 0), (2, 2)}
    with pytest.raises(ValidationError, match="missing one"):
        PrivateEntries(where={"asked": None})


def test_several_ways_together() -> None:
    entries = [{"columns": ["name"], "where": {"asked": True}}, PrivateEntries(cells=((1, "salary"),))]
    assert places(mask_of(entries)) == {(0, 0), (2, 0), (1, 1)}


@given(st.floats(0, 1), st.integers(0, 5))
def test_a_share_of_the_entries_that_hold_something(share: float, seed: int) -> None:
    mask = mask_of(share, seed=seed)
    assert mask.sum() == round(share * 10)
    assert not mask[2, 1] and not mask[3, 2]
    sample_mask = mask_of({"columns": ["salary"], "where": {"name": ["Ann", "Bob", "Cid"]}, "share": share}, seed=seed)
    assert sample_mask.sum() == round(share * 2)
    assert places(sample_mask) <= {(0, 1), (1, 1)}


def test_a_share_is_drawn_from_what_is_published() -> None:
    """Names are not published: half of the six other entries are drawn, none of them a name."""
    entries = READ.validate_python(0.5)
    for seed in range(20):
        mask = build_private_mask(entries, FRAME, np.random.default_rng(seed), published_columns=["salary", "asked"])
        assert mask.sum() == 3
        assert not mask[:, 0].any()
    drawn_sets = [places(build_private_mask(entries, FRAME, np.random.default_rng(seed))) for seed in (1, 1, 2, 3)]
    assert drawn_sets[0] == drawn_sets[1]
    assert len({frozenset(entry_set) for entry_set in drawn_sets}) > 1


def test_what_is_said_reads_back() -> None:
    for entries in (
        PrivateEntries(columns=("salary",), share=0.5),
        PrivateEntries(where={"asked": ("true",)}),
        PrivateEntries(cells=((0, "salary"), (1, 2))),
        PrivateEntries(file="cells.csv"),
    ):
        assert PrivateEntries.model_validate_json(entries.model_dump_json()) == entries
    assert "0, 'salary'" not in repr(PrivateEntries(cells=((0, "salary"),)))


@pytest.mark.parametrize(
    "entries",
    [
        3,
        None,
        {},
        {"columns": ["salary"], "cells": [[0, "salary"]]},
        {"share": 1.5},
        {"share": -0.1},
        {"rows": [1]},
        1.5,
        [(0, "salary"), "salary"],
        [(0, "salary", 1)],
        [(-1, "salary")],
        [(0.0, "salary")],
        [(True, "salary")],
        [[True, False], [False, True]],
        {"columns": "salary"},
    ],
)
def test_nonsense_is_refused(entries: Any) -> None:
    with pytest.raises(ValidationError):
        READ.validate_python(entries)


@pytest.mark.parametrize(
    ("entries", "error", "words"),
    [
        ([(4, "salary")], DataError, "1 private entry is outside"),
        ([(0, 3), (0, -1)], DataError, "2 private entries are outside"),
        ([(0, "wage")], PolicyError, '"wage"'),
        (["wage"], PolicyError, '"wage"'),
        ({"where": {"wage": "1"}}, PolicyError, '"wage"'),
        (np.zeros((3, 3), dtype=bool), DataError, r"shape \(3, 3\)"),
        (np.zeros((4, 3)), DataError, "float64"),
        (pl.DataFrame({"a": [True, None, True, True]}), DataError, "object"),
        ("no_such_file.csv", DataError, "does not exist"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(entries: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        mask_of(entries)


@pytest.mark.parametrize(
    "text", ["row,cell\n0,salary\n", "row,column\n-1,salary\n", "row,column\nx,salary\n", "row,column\n0,\n1,salary\n"]
)
def test_a_file_that_does_not_list_cells_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=r"cells\.csv"):
        mask_of(path)
