# SPDX-License-Identifier: MIT
"""A partition by duckdb releases, measures, attacks and certifies what a run in memory does."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from sfumato.attack.anonymity import stored_covering
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify
from tests.protect.anonymity.test_stored_generalize import people
from tests.workflow.stored.test_stored_run import POLICY, compare_attacks, compare_runs
from tests.workflow.test_bounded_memory import PARTS, ROWS, run_limited, write_parts

K = "models = [{ model = 'k_anonymity', k = 3 }]"
L = "models = [{ model = 'k_anonymity', k = 2 }, { model = 'l_diversity', l = 2, column = 'disease' }]"
T = "models = [{ model = 't_closeness', t = 0.4, column = 'disease', distance = 'ordered' }]\npublish = 'hierarchy'"
BETA = "models = [{ model = 'beta_likeness', beta = 2.0, column = 'disease' }]\nrefine = false"
RELAXED = f"{K}\nrelaxed = true"
CASES = {
    "k in text": ("csv", "own_value", K),
    "l": ("parquet", "drop", L),
    "t": ("parquet", "own_value", T),
    "beta": ("parquet", "own_value", BETA),
    "relaxed": ("csv", "drop", RELAXED),
}
QUICK = ("k in text", "l")


def write_policy(folder: Path, kind: str, missing: str, options: str, rows: int = 400) -> Policy:
    frame = people(rows, 0.01)
    (folder / "parts").mkdir()
    for number, part in enumerate(frame.iter_slices(250)):
        path = folder / "parts" / f"{number}.{kind}"
        part.write_parquet(path) if kind == "parquet" else part.write_csv(path)
    text = POLICY.replace("PATH", f"parts/*.{kind}").replace("MISSING", missing).replace("OPTIONS", options)
    return Policy.parse(text.replace('"generalize"', '"partition"'), folder / "policy.toml")


@pytest.mark.parametrize(
    "case", [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
def test_both_engines_release_the_same(tmp_path: Path, case: str) -> None:
    ours, theirs = compare_runs(write_policy(tmp_path, *CASES[case]), tmp_path)
    compare_attacks(ours, theirs)
    assert verify(theirs.out, theirs.certificate.body["signer"], engine="duckdb").holds


def test_a_large_release_is_attacked_for_some_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_covering, "_MOST_PAIRS", 1)
    monkeypatch.setattr(stored_covering, "_FEWEST_TRIED", 150)
    result = run_policy(write_policy(tmp_path, "parquet", "own_value", K), tmp_path / "out", engine="duckdb")
    for _, outcome in result.attacks:
        assert outcome.attempts == 150
        assert outcome.successes <= 150 / 2
    frame = pl.read_parquet(result.out / "release" / "data.parquet")
    assert frame.group_by("age", "zip", "sex").len()["len"].min() >= 3  # type: ignore[operator]


LARGE = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "sex", "education", "marital_status"]
sensitive = ["disease"]
insensitive = ["zip", "occupation", "salary_level"]

[[protect]]
method = "partition"
models = [{ model = "k_anonymity", k = 5 }, { model = "l_diversity", l = 2, column = "disease" }]
"""


@pytest.mark.slow
def test_four_million_people_are_cut_within_a_limit(tmp_path: Path) -> None:
    policy = write_parts(tmp_path, PARTS, ROWS)
    policy.write_text(LARGE, encoding="utf-8")
    result = run_limited(tmp_path, "run", policy, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["engine"] == "duckdb", "chosen by the size of the data"
    checked = run_limited(tmp_path, "verify", tmp_path / "out")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["engine"] == "duckdb"
    release = pl.scan_parquet(tmp_path / "out" / "release" / "data.parquet")
    names = ["age", "sex", "education", "marital_status"]
    classes = release.group_by(names).agg(pl.len(), pl.col("disease").n_unique().alias("values"))
    class_sizes = classes.collect(engine="streaming")
    assert class_sizes["len"].sum() == PARTS * ROWS
    assert (class_sizes["len"] >= 5).all()
    assert (class_sizes["values"] >= 2).all()
    assert not list(tmp_path.glob("sfumato-scratch-*"))
