# SPDX-License-Identifier: MIT
"""Runs by duckdb that randomize: the release, claims and figures of memory, and less that leaves, not more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify
from tests.protect.test_stored_rowwise import make_people

POLICY = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["age"]
sensitive = ["x", "y", "day", "word"]

[[protect]]
OPTIONS

[measure]
queries = 0

[output]
format = "parquet"
"""
NOISE = 'method = "add_noise"\ncolumns = ["x", "y"]\nranges = { x = [-90.0, 90.0], y = [-50, 50] }'
ANSWERS = 'method = "randomize_response"\ncolumn = ["word"]\nepsilon = 1.0\ncategories = ["a", "b", "c"]'


def write_policy(folder: Path, options: str) -> Policy:
    (folder / "parts").mkdir(exist_ok=True)
    for number, part in enumerate(make_people(300, 4, pl.Int64()).iter_slices(110)):
        part.write_parquet(folder / "parts" / f"{number}.parquet")
    return Policy.parse(POLICY.replace("OPTIONS", options), folder / "policy.toml")


@pytest.mark.parametrize("options", [NOISE, pytest.param(ANSWERS, marks=pytest.mark.slow)])
def test_both_engines_release_the_same(tmp_path: Path, options: str) -> None:
    policy = write_policy(tmp_path, options)
    ours, theirs = (
        run_policy(policy, tmp_path / engine, sf.Randomness.seeded(3), engine=engine) for engine in ("memory", "duckdb")
    )
    frames = [pl.read_parquet(result.out / "release" / "data.parquet") for result in (ours, theirs)]
    assert frames[0].equals(frames[1])
    assert frames[0].schema == frames[1].schema
    assert ours.release.claims == theirs.release.claims
    for mine, other in zip(ours.findings, theirs.findings, strict=True):
        assert other.measured == pytest.approx(mine.measured, abs=1e-9), mine.property
    for part in ("changes", "public", "suppression", "formulas", "roles", "gate"):
        assert ours.record[part] == theirs.record[part], part
    for figure, value in theirs.record["utility"].items():
        assert ours.record["utility"][figure] == pytest.approx(value), figure
    for part in ("unique_rows", "not_counted", "objections", "unchecked", "status", "warnings"):
        assert ours.record["verdict"][part] == theirs.record["verdict"][part], part
    bodies = [result.certificate.body for result in (ours, theirs)]
    for part in bodies[0].keys() - {"created", "input_commitment", "data", "files", "signature"}:
        assert bodies[1][part] == bodies[0][part], f"{part}: what leaves is what leaves from memory"
    assert verify(theirs.out, engine="duckdb").holds
    assert not (theirs.out / "private" / "rows.parquet").exists()


def test_answers_are_checked_and_verified_in_their_file(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path, ANSWERS), tmp_path / "out", engine="duckdb")
    assert result.published
    findings = {finding.property: finding for finding in result.findings}
    assert findings["epsilon"].measured == pytest.approx(1.0)
    assert findings["answers_off_channel"].measured is not None
    ours, theirs = (verify(result.out, engine=engine) for engine in ("memory", "duckdb"))
    assert theirs.as_json() == {**ours.as_json(), "engine": "duckdb"}
    assert theirs.holds


@pytest.mark.parametrize(
    ("options", "changes", "words"),
    [
        (NOISE.replace('"y"]', '"age"]'), {}, r"randomized quasi-identifying columns \(age\)"),
        (f"{NOISE}\nkind = 'correlated'", {}, "kind = correlated"),
        (f"{ANSWERS}\nperson = ['name']", {}, "randomize_response with person"),
        (NOISE, {"attack": [{"attack": "homogeneity", "column": "x"}]}, "homogeneity of a randomized column"),
        (NOISE, {"attack": [{"attack": "bayes_estimate"}]}, "bayes_estimate"),
        (NOISE, {"data": {"path": "parts/*.parquet", "missing": "drop"}}, "missing = drop with randomized columns"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_read(
    tmp_path: Path, options: str, changes: dict[str, Any], words: str
) -> None:
    policy = write_policy(tmp_path, options)
    for path in (tmp_path / "parts").iterdir():
        path.unlink()
    changed_policy = Policy.model_validate({**{name: getattr(policy, name) for name in Policy.model_fields}, **changes})
    with pytest.raises(PolicyError, match=rf"the engine duckdb does not run .*{words}.*; it runs generalize"):
        run_policy(changed_policy, tmp_path / "out", engine="duckdb")
    assert not (tmp_path / "out").exists()


def test_what_the_data_decides_must_be_declared(tmp_path: Path) -> None:
    for options, words in (
        (NOISE.split("\nranges", maxsplit=1)[0], "no range is given"),
        (ANSWERS.split("\ncategories", maxsplit=1)[0], "possible answers .* are not given"),
    ):
        with pytest.raises(PolicyError, match=words):
            run_policy(write_policy(tmp_path, options), tmp_path / "out", engine="duckdb")
