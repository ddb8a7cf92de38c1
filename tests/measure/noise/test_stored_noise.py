# SPDX-License-Identifier: MIT
"""Claims about noise and answers, measured on files: what memory measures, on honest releases and on others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.checks import Evidence, measure_claim
from sfumato.measure.noise import stated_law
from sfumato.measure.noise.stated_law import pick_distances
from sfumato.measure.stored_changes import compare_stored
from sfumato.measure.stored_claims import StoredEvidence, measure_stored_claim
from sfumato.release import Finding, Release
from tests.protect.test_stored_rowwise import ROLES, CutRows, make_people

NOISE = sf.AddNoise(columns=("x", "y"), ranges={"x": (-80.0, 80.0), "y": (-50, 50)})
UNIFORM = sf.AddNoise(columns=("x", "y"), ranges={"x": (-80.0, 80.0), "y": (-50, 50)}, kind="uniform")
INTERVALS = sf.AddNoise(columns=("x", "y"), kind="discretize", privacy=0.2)
CUTS = sf.AddNoise(columns=("x", "y"), kind="discretize", discretize={"x": 4, "y": (-10, 10)}, ranges={"y": (-50, 50)})
ANSWERS = sf.RandomizeResponse(column=("word", "day"), p=0.6, kind="k_ary")
MISSING = sf.RandomizeResponse(column="word", p=0.6, missing="answer")
Change = Callable[[pl.DataFrame, pl.DataFrame], pl.Series]


def halve(before: pl.DataFrame, after: pl.DataFrame) -> pl.Series:
    return ((after["x"] + before["x"]) / 2).alias("x")


def shift(before: pl.DataFrame, after: pl.DataFrame) -> pl.Series:
    return after["x"] + 20.0


def follow(before: pl.DataFrame, after: pl.DataFrame) -> pl.Series:
    """Noise that has the sign of the value, so that it tells it."""
    noise = (after["x"] - before["x"]).to_numpy()
    return pl.Series("x", before["x"].to_numpy() + np.abs(noise) * np.sign(before["x"].to_numpy()), nan_to_null=True)


def tell_truth(before: pl.DataFrame, after: pl.DataFrame) -> pl.Series:
    return before["word"]


def change_another(before: pl.DataFrame, after: pl.DataFrame) -> pl.Series:
    return after["age"] + 1


def fill(before: pl.DataFrame, after: pl.DataFrame) -> pl.Series:
    return after["x"].fill_null(0.0)


CASES: dict[str, tuple[Any, Change | None, str]] = {
    "noise": (NOISE, None, ""),
    "uniform": (UNIFORM, None, ""),
    "intervals": (INTERVALS, None, ""),
    "cuts": (CUTS, None, ""),
    "a value between cuts": (CUTS, shift, "outside_cuts"),
    "answers": (ANSWERS, None, ""),
    "missing": (MISSING, None, ""),
    "half the noise": (NOISE, halve, "noise_law"),
    "half the uniform noise": (UNIFORM, halve, "noise_privacy"),
    "noise off its centre": (NOISE, shift, "noise_centre"),
    "noise that tells": (NOISE, follow, "noise_dependence"),
    "an interval's neighbour": (INTERVALS, shift, "outside_interval"),
    "true answers": (ANSWERS, tell_truth, "answers_off_channel"),
    "another column": (NOISE, change_another, "changed_without_noise"),
    "another column beside answers": (ANSWERS, change_another, "changed_without_answers"),
    "a filled gap": (NOISE, fill, "changed_without_noise"),
}


def measure_both(release: Release, original: sf.Table, folder: Path) -> tuple[list[Finding], list[Finding]]:
    rows = {name: role for name, role in ROLES.items() if name != "name"}
    before = StoredTable.of(CutRows(original.frame, [97]), ROLES)
    after = StoredTable.of(CutRows(release.data.frame, [50, 1, 13]), rows)
    changed = [change.column for change in release.changes if not change.trivial]
    evidence = StoredEvidence(after, compare_stored(before, after, None, changed), None, folder)
    ours = [measure_claim(claim, Evidence(release.data, original)) for claim in release.claims]
    return ours, [measure_stored_claim(claim, evidence) for claim in release.claims]


@pytest.mark.parametrize("case", CASES)
def test_the_file_is_measured_as_memory_is(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stated_law, "_PART", 61)
    method, change, broken_claim = CASES[case]
    original = sf.Table.of(make_people(801, 1, pl.Int64()), ROLES)
    release = method.protect(original, sf.Randomness.seeded(5))
    if change is not None:
        frame = release.data.frame
        forged = frame.with_columns(change(original.frame, frame))
        release = Release(release.data.replace_frame(forged), method, release.claims, {}, changes=release.changes)
    ours, theirs = measure_both(release, original, tmp_path)
    for mine, other in zip(ours, theirs, strict=True):
        assert other.measured == pytest.approx(mine.measured, abs=1e-9), mine.property
        assert other.holds == mine.holds
    failed = {finding.property for finding in theirs if not finding.holds}
    assert broken_claim in failed if broken_claim else not failed


@given(st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=30), st.sampled_from([0.0, 2.5, -7.0]))
def test_distances_are_picked_without_sorting_them(numbers: list[float], centre: float) -> None:
    ordered = np.sort(numbers)
    ranks = np.arange(1, len(numbers) + 1)
    assert pick_distances(ordered, centre, ranks).tolist() == np.sort(np.abs(ordered - centre)).tolist()
