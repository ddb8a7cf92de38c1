# SPDX-License-Identifier: MIT
"""Pensa et al. (2008) made again: the example, sparse and dense data, and the distance from the optimum."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from papers.pensa_2008 import STUDIES
from papers.pensa_2008.example import COUNTER_EXAMPLE, anonymize, draw_outcomes, list_rare
from papers.pensa_2008.optimum import Size, measure_size
from papers.study import Findings, Setting
from papers.tracks import TRACKS, keep_dense

BY_NAME = {study.name: study for study in STUDIES}
YES, NO, OPEN = "reproduced", "differs", "not comparable"
DATA = Path(os.environ.get("SFUMATO_DATA", ""))


@cache
def quickly(name: str) -> Findings:
    return BY_NAME[name].work(Setting(quick=True, data=DATA))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("example", [YES, YES, YES, NO, YES]), ("cars", [OPEN, OPEN, YES, NO]), ("optimum", [OPEN, OPEN, YES])],
)
def test_the_verdicts(name: str, expected: list[str]) -> None:
    statements = quickly(name).statements
    assert [statement.verdict for statement in statements] == expected
    assert all(statement.reason for statement in statements if statement.verdict != YES)


def test_one_pass_leaves_a_rare_sequence_and_its_repetition_none() -> None:
    assert list_rare(anonymize(COUNTER_EXAMPLE, literal=True)) == {"A"}
    assert not list_rare(anonymize(COUNTER_EXAMPLE))
    outcomes = draw_outcomes(20)
    assert outcomes["databases"] == 20 and outcomes["once"] > 2 and outcomes["repeated"] == 0


def test_cells_that_few_pass_are_left_out_and_repeats_merged() -> None:
    walks = [list("abac"), list("ab"), list("aa")]
    assert keep_dense(walks, 0.5) == [list("aba"), list("ab"), ["a"]]
    assert keep_dense(walks, 0.7) == [["a"], ["a"], ["a"]]


def check_density(findings: Findings, names: set[str]) -> None:
    """Denser sequences keep more of their patterns, at every set of trajectories; all k hold."""
    described, measures = (grid.frame for grid in findings.grids)
    assert set(described["data"]) == set(measures["data"]) == names
    assert (measures["k_found"] >= measures["k"]).all()
    means = measures.group_by("data", "density").agg(pl.col("f_measure").mean()).rows()
    density_means = {(name, density): mean for name, density, mean in means}
    assert all(density_means[name, "dense"] > density_means[name, "sparse"] for name in names)
    assert len(findings.plots) == 4 and all("to" in plot.caption for plot in findings.plots)


def test_sparse_and_dense_cars() -> None:
    check_density(quickly("cars"), {"cars"})


@pytest.mark.slow
@pytest.mark.skipif(not all((DATA / path).is_file() for path in TRACKS.values()), reason="no real data")
def test_sparse_and_dense_tracks() -> None:
    check_density(quickly("tracks"), set(TRACKS))


def test_the_optimum_is_below_the_method() -> None:
    row = measure_size(Size(20, 3), 10.0)
    assert row["proven"] and 0 < row["best_found"] == row["bound"] < row["bf_p2ka"]
    assert row["bf_p2ka_per_pattern"] == row["bf_p2ka"] / row["patterns"]
