# SPDX-License-Identifier: MIT
"""What a pandas user tries first: frames out of a run, and measures of a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf

UNTYPED: Any = sf
"""Whoever guesses has no type checker."""
FRAME = pl.DataFrame({"age": [20, 21, 22, 40, 41, 90] * 20, "sex": list("mmmfff") * 20, "ill": ["flu", "gout"] * 60})
ROLES = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
METHOD = sf.Partition(models=[sf.KAnonymity(k=30)])


@pytest.fixture(scope="module")
def run() -> sf.Run:
    return sf.run(FRAME, METHOD, roles=ROLES)


def test_a_run_gives_its_data(run: sf.Run, tmp_path: Path) -> None:
    frame = run.release.to_polars()
    assert run.to_polars().equals(frame)
    assert run.to_arrow().num_rows == len(run.to_pandas()) == 120
    run.to_csv(tmp_path / "data.csv")
    assert pl.read_csv(tmp_path / "data.csv").equals(frame)
    assert run.losses == run.release.losses


def test_a_refused_run_gives_none() -> None:
    refused_run = sf.run(FRAME, sf.Partition(models=[sf.KAnonymity(k=2)]), roles=ROLES, gate={"max_linking_risk": 0.01})
    assert not refused_run.published
    for give in (refused_run.to_pandas, refused_run.to_polars, refused_run.to_arrow):
        with pytest.raises(sf.DataError, match="published nothing: the gate refused it"):
            give()


def test_a_table_gives_its_columns() -> None:
    table = sf.Table.of(FRAME, ROLES)
    assert table.columns == ("age", "sex", "ill")
    assert table.to_polars().equals(FRAME)
    assert table.to_arrow().num_rows == len(table.to_pandas()) == 120


def test_measures_take_frames_releases_and_runs(run: sf.Run) -> None:
    table = sf.Table.of(FRAME, ROLES)
    assert UNTYPED.measure.k_anonymity(FRAME, ["age"]) == UNTYPED.measure.k_anonymity(table, "age") == 20
    assert UNTYPED.measure.k_anonymity(FRAME.to_pandas(), columns=["age"]) == 20
    assert UNTYPED.measure.k_anonymity(run) == UNTYPED.measure.k_anonymity(run.release) == 30
    assert UNTYPED.measure.precision(FRAME, run, columns=["age"]) == UNTYPED.measure.precision(
        table, run.release.data, ["age"]
    )
    with pytest.raises(sf.DataError, match=r"no roles are given.*Proposed.*sf.Table.of\(df, roles="):
        UNTYPED.measure.risk(FRAME)
    with pytest.raises(sf.DataError, match=r"this is a path; read it with sf.Table.read"):
        UNTYPED.measure.k_anonymity("people.csv")


def test_a_run_is_checked_and_audited(run: sf.Run) -> None:
    assert UNTYPED.check(run, sf.Table.of(FRAME, ROLES)) == sf.check(run.release, sf.Table.of(FRAME, ROLES))
    assert UNTYPED.audit(run).k == UNTYPED.audit(run.release).k == 30
    with pytest.raises(sf.DataError, match=r"got Run: give run.release"):
        UNTYPED.attack.Linking().run(run, sf.Table.of(FRAME, ROLES))


@pytest.mark.parametrize(
    ("package", "name", "suggestion"),
    [
        ("sfumato", "Linking", "sf.attack.Linking"),
        ("sfumato", "k_anonymity", "sf.measure.k_anonymity"),
        ("sfumato.measure", "l_diversity", "distinct_l"),
        ("sfumato.measure", "t_closeness", "t_equal"),
    ],
)
def test_names_are_found_where_they_are(package: str, name: str, suggestion: str) -> None:
    home = sf if package == "sfumato" else sf.measure
    with pytest.raises(AttributeError, match=f'did you mean "{suggestion}"'):
        getattr(home, name)
