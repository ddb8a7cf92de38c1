# SPDX-License-Identifier: MIT
"""What the search accepts, the check confirms, in corners where they used to disagree."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.reading.text_table import TextFormat
from sfumato.data.roles.role import Role
from sfumato.engine.staging import open_stored_rows
from sfumato.release import Release
from sfumato.table import Table

ROLES = {"a": "quasi_identifying"}


@pytest.mark.parametrize("metric", ["height", "loss", "discernibility", "loss_geometric"])
def test_a_node_that_suppresses_everybody_is_no_release(metric: Any) -> None:
    """Under "height" the finest node is the cheapest, and without a limit it used to be chosen, and then refused."""
    roles = {"a": "quasi_identifying", "b": "quasi_identifying"}
    table = sf.Table.of({"a": ["x", "y", "z", "x"], "b": ["1", "2", "3", "4"]}, roles)
    release = sf.Generalize(models=(sf.KAnonymity(k=2),), suppression_limit=1.0, metric=metric).protect(table)
    assert release.losses["suppressed_rows"] < 4


@pytest.mark.parametrize("model", [sf.KMap, sf.DeltaPresence])
def test_people_with_missing_cells_count_nowhere_under_drop(model: Any) -> None:
    """The search used to count them where a level covers all values, and the claim then broke."""
    table = sf.Table.of({"a": ["x", "x", "y", "y"]}, ROLES, missing="drop")
    crowd = sf.Table.of({"a": ["x", "x", "y", "y", None, None, None, None]}, ROLES)
    crowd_model = model(population=crowd, **({"k": 6} if model is sf.KMap else {"high": 0.8}))
    with pytest.raises(sf.ImpossibleRelease):
        sf.Generalize(models=(crowd_model,)).protect(table)
    full_table = sf.Table.of(table.frame, ROLES)
    release = sf.Generalize(models=(crowd_model,)).protect(full_table)
    assert all(finding.holds for finding in sf.check(release, full_table))


@pytest.mark.parametrize("kind", [pl.Float64, pl.Float32])
def test_a_negative_zero_is_zero(kind: Any, tmp_path: Path) -> None:
    """Counts hold −0.0 and 0.0 for equal; whoever reads the Parquet file could tell who is who."""
    frame = pl.DataFrame({"a": pl.Series([0.0, 0.0, -0.0, 1.5, 1.5], dtype=kind)})
    frame.write_parquet(tmp_path / "in.parquet")
    for table in (sf.Table.of(frame, ROLES), sf.Table.read(tmp_path / "in.parquet", ROLES)):
        release = sf.Generalize(models=(sf.KAnonymity(k=2),)).protect(table)
        release.data.frame.write_parquet(tmp_path / "out.parquet")
        published = pl.read_parquet(tmp_path / "out.parquet")["a"]
        assert published.dtype == kind
        assert not np.signbit(published.to_numpy()).any()


def test_a_table_holds_no_negative_zero(tmp_path: Path) -> None:
    """Each zero is one value to a hierarchy, whichever engine reads it; polars takes `x + 0.0` for `x`."""
    frame = pl.DataFrame({"a": [-0.0, 0.0, 1.5, None], "at": [datetime(2024, 1, 1)] * 4})
    frame.write_parquet(tmp_path / "in.parquet")
    stored = open_stored_rows(tmp_path / "in.parquet", TextFormat(), tmp_path)
    for read in (sf.Table.of(frame).frame, sf.Table.read(tmp_path / "in.parquet").frame, *stored.iterate_batches()):
        assert not np.signbit(read["a"].drop_nulls().to_numpy()).any()
        assert read["a"].to_list() == [0.0, 0.0, 1.5, None]


def test_a_release_holds_no_negative_zero() -> None:
    table = Table(pl.DataFrame({"a": [-0.0, 0.0, None]}), {"a": Role.INSENSITIVE})
    published = Release(table, None, (), {}).data.frame["a"]
    assert not np.signbit(published.drop_nulls().to_numpy()).any()
    assert published.null_count() == 1
