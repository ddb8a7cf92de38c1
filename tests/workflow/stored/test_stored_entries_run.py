# SPDX-License-Identifier: MIT
"""A run by duckdb that blanks entries: the release, claims and figures of memory; what cannot run is refused first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack.anonymity import stored_covering
from sfumato.errors import ClaimBroken, PolicyError
from sfumato.protect.entries.stored_suppress_entries import BlankingPlan
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.verification import verify
from tests.protect.entries.test_stored_suppress_entries import make_people
from tests.workflow.stored.test_stored_run import sign_changed_release
from tests.workflow.test_bounded_memory import PARTS, ROWS, run_limited, write_parts

POLICY = """
[data]
path = "parts/*.KIND"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "b"]
sensitive = ["a", "c"]

[[protect]]
method = "suppress_entries"
private = [{ share = 0.1 }]
confidence = 0.7
min_support = 3
search = "grades"

[[attack]]
attack = "rule_inference"
min_support = 4

[measure]
queries = 0

[output]
format = "parquet"
"""


def write_policy(folder: Path, kind: str = "parquet", rows: int = 200, text: str = POLICY) -> Policy:
    (folder / "parts").mkdir(exist_ok=True)
    for number, part in enumerate(make_people(rows, 4).iter_slices(90)):
        path = folder / "parts" / f"{number}.{kind}"
        part.write_parquet(path) if kind == "parquet" else part.write_csv(path)
    return Policy.parse(text.replace("KIND", kind), folder / "policy.toml")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_both_engines_release_the_same(tmp_path: Path, kind: str) -> None:
    policy = write_policy(tmp_path, kind)
    ours, theirs = (
        run_policy(policy, tmp_path / engine, sf.Randomness.seeded(3), engine=engine) for engine in ("memory", "duckdb")
    )
    frames = [pl.read_parquet(result.out / "release" / "data.parquet") for result in (ours, theirs)]
    assert frames[0].equals(frames[1])
    assert frames[0].schema == frames[1].schema
    assert ours.release.claims == theirs.release.claims
    assert ours.findings == theirs.findings
    for part in ("changes", "losses", "public", "suppression", "formulas", "roles", "gate", "claims"):
        assert ours.record[part] == theirs.record[part], part
    assert theirs.record["utility"]["loss"] == pytest.approx(ours.record["utility"]["loss"])
    for part in ("unique_rows", "not_counted", "objections", "unchecked", "status", "warnings"):
        assert ours.record["verdict"][part] == theirs.record["verdict"][part], part
    assert ours.attacks[1] == theirs.attacks[1], "rule inference"
    (_, mine), (_, other) = ours.attacks[0], theirs.attacks[0]
    assert (mine.attempts, mine.baseline, mine.facts) == (other.attempts, other.baseline, other.facts)
    # One draw against what is to be expected; off by five deviations once in a million.
    assert abs(mine.successes - other.successes) <= 5 * max(other.successes, 1) ** 0.5
    bodies = [result.certificate.body for result in (ours, theirs)]
    for part in bodies[0].keys() - {"created", "input_commitment", "data", "files", "signature", "attacks", "verdict"}:
        assert bodies[1][part] == bodies[0][part], f"{part}: what leaves is what leaves from memory"
    for engine in ("memory", "duckdb"):
        assert verify(theirs.out, engine=engine).holds


def test_a_changed_file_is_found(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path), tmp_path / "out", sf.Randomness.seeded(3), engine="duckdb")
    frame = pl.read_parquet(result.out / "release" / "data.parquet")
    frame.with_columns(pl.lit("Ada").alias("a")).write_parquet(result.out / "release" / "data.parquet")
    problems = verify(result.out, engine="duckdb").problems
    assert problems == ("data.parquet: the file was changed after it was certified",)
    changed_frame = frame.with_columns(pl.int_range(pl.len()).cast(pl.String).alias("a"))
    sign_changed_release(result.out, changed_frame)
    forged = [verify(result.out, engine=engine).problems for engine in ("memory", "duckdb")]
    assert forged[0] == forged[1]
    assert any("unique rows" in problem for problem in forged[1])


def test_claims_are_measured_on_the_written_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = write_policy(tmp_path)

    def show_everything(plan: BlankingPlan, rows: pl.DataFrame, first: int = 0) -> pl.DataFrame:
        return rows.drop("name", strict=False)

    monkeypatch.setattr(BlankingPlan, "publish", show_everything)
    with pytest.raises(ClaimBroken, match=r"promised 0, measured \d+; .*promised 0, measured 7\d"):
        run_policy(policy, tmp_path / "out", sf.Randomness.seeded(3), engine="duckdb")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("method", "changes", "words"),
    [
        ({"search": "exact"}, {}, "suppress_entries with search = exact"),
        ({"learner_risk": 0.2}, {}, "suppress_entries with learner_risk"),
        ({}, {"attack": [{"attack": "learned_inference"}]}, "learned_inference"),
        ({}, {"attack": [{"attack": "rule_inference", "columns": ["a"]}]}, "rule_inference with columns"),
        ({}, {"attack": [{"attack": "homogeneity", "column": "a"}]}, "homogeneity with blanked entries"),
        ({}, {"data": {"path": "parts/*.parquet", "missing": "drop"}}, "missing = drop with blanked entries"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_read(
    tmp_path: Path, method: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    policy = write_policy(tmp_path)
    for path in (tmp_path / "parts").iterdir():
        path.unlink()
    protect = [policy.protect[0].model_copy(update=method)]
    changed_policy = Policy.model_validate({**{name: getattr(policy, name) for name in Policy.model_fields}, **changes})
    changed_policy = changed_policy.model_copy(update={"protect": protect})
    with pytest.raises(PolicyError, match=rf"the engine duckdb does not run {words}; it runs generalize"):
        run_policy(changed_policy, tmp_path / "out", engine="duckdb")
    assert not (tmp_path / "out").exists()


def test_people_are_looked_up_among_the_rows_that_fit_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = write_policy(tmp_path)
    listed = run_policy(policy, tmp_path / "listed", sf.Randomness.seeded(3), engine="duckdb")
    monkeypatch.setattr(stored_covering, "_MOST_CLASSES", 0)
    lookup_run = run_policy(policy, tmp_path / "sought", sf.Randomness.seeded(3), engine="duckdb")
    assert lookup_run.attacks[0][1] == listed.attacks[0][1]


LARGE = """
[data]
path = "parts/*.parquet"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "sex", "zip"]
sensitive = ["disease", "salary_level"]
insensitive = ["education", "occupation", "marital_status"]

[[protect]]
method = "suppress_entries"
private = [{ columns = ["disease", "salary_level"], share = 0.01 }]
confidence = 0.8
min_support = 0.001
"""


@pytest.mark.slow
def test_entries_of_four_million_people_within_a_limit(tmp_path: Path) -> None:
    policy = write_parts(tmp_path, PARTS, ROWS)
    policy.write_text(LARGE, encoding="utf-8")
    refused_result = run_limited(tmp_path, "run", policy, "--out", tmp_path / "no")
    assert refused_result.returncode == 2
    assert "4,000,000 rows of 8 columns" in json.loads(refused_result.stdout)["message"]
    result = run_limited(tmp_path, "run", policy, "--out", tmp_path / "out", memory="1GB")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["engine"] == "duckdb", "chosen by the size of the data"
    checked = run_limited(tmp_path, "verify", tmp_path / "out")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["engine"] == "duckdb"
    release = pl.scan_parquet(tmp_path / "out" / "release" / "data.parquet")
    before, after = (
        sum(frame.drop("name", strict=False).null_count().collect(engine="streaming").row(0))
        for frame in (pl.scan_parquet(tmp_path / "parts" / "*.parquet"), release)
    )
    losses = json.loads((tmp_path / "out" / "private" / "record.json").read_text(encoding="utf-8"))["found"]["losses"]
    assert after - before == losses["private_entries"] + losses["derived_entries"]
    assert losses["private_entries"] == round(0.01 * 2 * PARTS * ROWS)
    assert release.select(pl.len()).collect().item() == PARTS * ROWS
    assert not list(tmp_path.glob("sfumato-scratch-*"))


@pytest.mark.parametrize("missing", ["matches_any", "never_matches"])
def test_blanked_entries_are_verified_in_their_file_whatever_missing_cells_mean(tmp_path: Path, missing: str) -> None:
    """No class is claimed, so it does not matter what rows with missing cells equal."""
    text = POLICY.replace('path = "parts/*.KIND"', f'path = "parts/*.KIND"\nmissing = "{missing}"')
    run = run_policy(write_policy(tmp_path, text=text), tmp_path / "out", engine="memory")
    checked = verify(run.out, engine="duckdb")
    assert (checked.problems, checked.engine) == ((), "duckdb")
