# SPDX-License-Identifier: MIT
"""A run by duckdb releases, measures and certifies what a run in memory does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.attack import Homogeneity, Linking
from sfumato.errors import PolicyError
from sfumato.workflow.certificate import Certificate
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.signing.signature import load_signing_key, sign_certificate
from sfumato.workflow.verification import verify
from tests.command_line import Invoke
from tests.protect.anonymity.test_stored_generalize import people

POLICY = """
[data]
path = "PATH"
missing = "MISSING"

[roles]
identifying = ["name"]
quasi_identifying = ["age", "zip", "sex"]
sensitive = ["disease"]
insensitive = ["visits"]

[hierarchies]
age = { kind = "intervals", widths = [5, 20] }
zip = { kind = "prefix", keep = [3, 2, 0] }
disease = { kind = "tree", groups = { lung = ["flu", "cold"], other = ["cut", "ache"] } }

[[protect]]
method = "generalize"
OPTIONS

[[attack]]
attack = "homogeneity"

[output]
format = "parquet"
"""
K = "models = [{ model = 'k_anonymity', k = 3 }]\nsuppression_limit = 0.1"
L = "models = [{ model = 'k_anonymity', k = 2 }, { model = 'l_diversity', l = 2, column = 'disease' }]"
T = "models = [{ model = 't_closeness', t = 0.3, column = 'disease', distance = 'ordered' }]\nsuppression_limit = 0.2"
TREE = "models = [{ model = 't_closeness', t = 0.3, column = 'disease', distance = 'hierarchical' }]"
DROP = f"{K}\nsuppressed_rows = 'drop'"
BLANK = f"{L}\nsuppression_limit = 0.1\nsuppressed_rows = 'blank'"
BETA = "models = [{ model = 'beta_likeness', beta = 2.0, column = 'disease' }]\nsuppression_limit = 0.3"
CASES = {
    "k": ("parquet", "own_value", K),
    "l in text": ("csv", "own_value", f"{L}\nsuppression_limit = 0.05"),
    "t": ("parquet", "own_value", T),
    "tree": ("parquet", "own_value", TREE),
    "dropping in text": ("csv", "drop", DROP),
    "blank": ("parquet", "drop", BLANK),
    "beta": ("parquet", "own_value", BETA),
}


def write_policy(folder: Path, kind: str, missing: str, options: str, rows: int = 600) -> Policy:
    frame = people(rows, 0.01)
    (folder / "parts").mkdir(exist_ok=True)
    for number, part in enumerate(frame.iter_slices(250)):
        path = folder / "parts" / f"{number}.{kind}"
        part.write_parquet(path) if kind == "parquet" else part.write_csv(path)
    text = POLICY.replace("PATH", f"parts/*.{kind}").replace("MISSING", missing).replace("OPTIONS", options)
    return Policy.parse(text, folder / "policy.toml")


def compare_runs(policy: Policy, folder: Path) -> tuple[Any, Any]:
    ours, theirs = (
        run_policy(policy, folder / "memory", engine="memory"),
        run_policy(policy, folder / "duckdb", engine="duckdb"),
    )
    frames = [pl.read_parquet(result.out / "release" / "data.parquet") for result in (ours, theirs)]
    assert frames[0].equals(frames[1])
    assert frames[0].schema == frames[1].schema
    assert ours.findings == theirs.findings
    assert ours.release.claims == theirs.release.claims
    for part in ("changes", "levels", "heights", "losses", "suppression", "formulas", "roles", "claims", "gate"):
        assert ours.record[part] == theirs.record[part], part
    for figure, value in theirs.record["utility"].items():
        assert ours.record["utility"][figure] == pytest.approx(value), figure
    assert theirs.record["shown_detail"] == pytest.approx(ours.record["shown_detail"]), "this is published"
    for figure in ("loss", "precision"):
        assert theirs.certificate.body["utility"].get(figure) == ours.certificate.body["utility"].get(figure), figure
    assert {**ours.record["data"], "sha256": ""} == {**theirs.record["data"], "sha256": ""}
    for part in ("unique_rows", "unique_before", "not_counted", "objections", "unchecked", "status", "warnings"):
        assert ours.record["verdict"][part] == theirs.record["verdict"][part], part
    return ours, theirs


def compare_attacks(ours: Any, theirs: Any) -> None:
    """Attacks on both releases find as much."""
    assert theirs.published
    for attack, outcome in theirs.attacks:
        other = next(other_outcome for kind, other_outcome in ours.attacks if type(kind) is type(attack))
        assert (outcome.attempts, outcome.baseline) == (other.attempts, other.baseline)
        assert outcome.facts == other.facts
        if isinstance(attack, Homogeneity):
            assert outcome.successes == other.successes
        else:  # the guesses of one draw against those to expect; off by five deviations once in a million
            assert isinstance(attack, Linking)
            assert abs(outcome.successes - other.successes) <= 5 * max(outcome.successes, 1) ** 0.5


QUICK = ("t", "dropping in text")


@pytest.mark.parametrize(
    "case", [case if case in QUICK else pytest.param(case, marks=pytest.mark.slow) for case in CASES]
)
def test_both_engines_release_the_same(tmp_path: Path, case: str) -> None:
    ours, theirs = compare_runs(write_policy(tmp_path, *CASES[case]), tmp_path)
    compare_attacks(ours, theirs)
    assert {"loss", "precision"} <= theirs.certificate.body["utility"].keys()
    checked = verify(theirs.out, theirs.certificate.body["signer"])
    assert checked.holds, checked.problems


def test_an_auditor_counts_in_the_file_what_memory_counts(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path, "parquet", "own_value", T), tmp_path / "out", engine="duckdb")
    ours, theirs = verify(result.out, engine="memory"), verify(result.out, engine="duckdb")
    assert ours.holds
    assert theirs.as_json() == {**ours.as_json(), "engine": "duckdb"}
    assert any(finding.measured is not None for finding in theirs.findings)


@pytest.mark.parametrize("missing", ["matches_any", "never_matches"])
def test_missing_cells_that_are_no_values_are_counted_in_memory(tmp_path: Path, missing: str) -> None:
    """In the file they were counted as values of their own, and honest releases were refused."""
    result = run_policy(write_policy(tmp_path, "parquet", missing, K), tmp_path / "out")
    with pytest.raises(PolicyError, match="use --engine memory"):
        verify(result.out, engine="duckdb")
    assert verify(result.out).problems == ()


def test_a_claim_that_needs_the_originals_is_unchecked_in_the_file_too(tmp_path: Path) -> None:
    people = {"age": [20 + n % 9 for n in range(60)], "ill": ["flu", "cold"] * 30}
    table = sf.Table.of(people, {"age": "quasi_identifying", "ill": "sensitive"})
    policy = {"protect": [{"method": "synthesize", "min_leaf": 5}], "output": {"format": "parquet"}}
    out = sf.run(table, policy, out=tmp_path / "out").out
    ours, theirs = verify(out, engine="memory"), verify(out, engine="duckdb")
    assert ours.problems == theirs.problems == ()
    assert "copied_uniques" in theirs.as_json()["unchecked"]


def test_a_release_larger_than_memory_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_policy(write_policy(tmp_path, "parquet", "own_value", K), tmp_path / "out", engine="duckdb")
    monkeypatch.setattr("sfumato.data.reading.file_limits._get_half_of_memory", lambda: 1)
    monkeypatch.setattr("sfumato.data.reading.file_limits._LEAST", 1)
    assert any("unpacks to more than" in problem for problem in verify(result.out, engine="memory").problems)
    assert verify(result.out, engine="duckdb").holds


def sign_changed_release(out: Path, frame: pl.DataFrame) -> None:
    """A forger with a key of their own: the data is another, and its checksum is certified."""
    release = out / "release"
    frame.write_parquet(release / "data.parquet")
    body = {**Certificate.read(release).body}
    body["files"] = {**body["files"], "data.parquet": hash_file(release / "data.parquet")}
    body["data"] = {**body["data"], "sha256": body["files"]["data.parquet"], "rows": frame.height}
    del body["signature"], body["signer"]
    (release / "certificate.json").write_bytes(sign_certificate(body, load_signing_key()))


def test_forged_and_damaged_data_is_found_in_the_file(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path, "parquet", "own_value", K), tmp_path / "out", engine="duckdb")
    frame = pl.read_parquet(result.out / "release" / "data.parquet")
    odd = frame.with_columns(pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("99")).otherwise("zip").alias("zip"))
    sign_changed_release(result.out, odd)
    for engine in ("memory", "duckdb"):
        verification = verify(result.out, engine=engine)
        assert any("k_anonymity" in problem and "broken" in problem for problem in verification.problems), engine
    path = result.out / "release" / "data.parquet"
    path.write_bytes(path.read_bytes()[:-50])
    body = Certificate.read(result.out / "release").body
    assert body["data"]["file"] == "data.parquet"
    assert not verify(result.out, engine="duckdb").holds


def test_the_commands_take_an_engine(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    write_policy(tmp_path, "parquet", "own_value", K)
    text = POLICY.replace("PATH", "parts/*.parquet").replace("MISSING", "own_value").replace("OPTIONS", K)
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    result = invoke("run", tmp_path / "policy.toml", "--out", tmp_path / "out", "--engine", "duckdb")
    assert result.code == 0
    assert "Engine: duckdb, as asked." in result.out
    checked = invoke("verify", tmp_path / "out", "--engine", "duckdb")
    assert checked.code == 0
    assert "Engine: duckdb" in checked.out
    monkeypatch.setattr("sfumato.engine.choice.BYTES_A_CELL", 1 << 40)
    assert (
        "Engine: duckdb, since the table may take" in invoke("run", tmp_path / "policy.toml", "-o", tmp_path / "b").out
    )
    (tmp_path / "policy.toml").write_text(
        text.replace("[output]", "[measure]\nclassify = 'disease'\n[output]"), encoding="utf-8"
    )
    assert (
        "Engine: memory, although the table may not fit"
        in invoke("run", tmp_path / "policy.toml", "-o", tmp_path / "c").out
    )


def test_a_policy_names_its_engine(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, "parquet", "own_value", K)
    duckdb_policy = policy.model_copy(update={"data": policy.data.model_copy(update={"engine": "duckdb"})})
    result = run_policy(duckdb_policy, tmp_path / "out")
    assert result.record["engine"]["name"] == "duckdb"
    assert len(result.release.data) == 600
    assert result.release.data.count_values("sex").rows == 600, "the release can be counted where it is"
    with pytest.raises(PolicyError, match="keeps nothing in memory"):
        sf.run(policy.data.path, duckdb_policy)
    with pytest.raises(PolicyError, match="reads files"):
        sf.run(people(20), duckdb_policy)


TWO = {"model": "k_anonymity", "k": 2}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"protect": [{"method": "generalize", "models": [TWO], "recoding": "local"}]},
            "local recoding",
        ),
        (
            {"protect": [{"method": "generalize", "models": [TWO], "search": "incognito"}]},
            "search = incognito",
        ),
        ({"protect": [{"method": "microaggregate", "k": 2}]}, "microaggregate"),
        ({"attack": [{"attack": "linking", "knowledge": ["age"]}]}, "linking with knowledge"),
        ({"output": {"format": "csv"}}, "format = csv"),
        ({"output": {"order": "shuffled"}}, "order = shuffled"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_read(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    policy = write_policy(tmp_path, "parquet", "own_value", K)
    for path in (tmp_path / "parts").iterdir():
        path.unlink()
    changed_policy = Policy.model_validate({**{name: getattr(policy, name) for name in Policy.model_fields}, **changes})
    with pytest.raises(PolicyError, match=rf"the engine duckdb does not run .*{words}.*; it runs generalize"):
        run_policy(changed_policy, tmp_path / "out", engine="duckdb")
    assert not (tmp_path / "out").exists()


def test_labels_that_are_numbers_have_the_same_type_in_both_engines(tmp_path: Path) -> None:
    """Years stand in the place of dates: nothing is hidden, and they are numbers in the file."""
    rows = [f"2000-{month:02}-0{day},{'pq'[day % 2]}" for month in (4, 6, 7, 12) for day in (3, 4)]
    (tmp_path / "people.csv").write_text("\n".join(["born,s", *rows]) + "\n")
    policy = Policy.parse(
        """
        [data]
        path = "people.csv"
        [roles]
        quasi_identifying = ["born"]
        sensitive = ["s"]
        [hierarchies]
        born = { kind = "date", units = ["year"] }
        [[protect]]
        method = "generalize"
        models = [{ model = "k_anonymity", k = 2 }]
        [output]
        format = "parquet"
        """,
        tmp_path / "policy.toml",
    )
    ours, _ = compare_runs(policy, tmp_path)
    assert pl.read_parquet(ours.out / "release" / "data.parquet").schema["born"] == pl.Int64


def test_whole_decimals_of_a_text_file_have_the_same_type_in_both_engines(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,pay,half,zero\n" + "30,5.0,1.5,-0\n31,6.0,2.0,0\n" * 4)
    policy = {
        "data": {"path": str(tmp_path / "people.csv")},
        "roles": {"quasi_identifying": ["age"], "sensitive": ["pay", "half", "zero"]},
        "protect": [{"method": "generalize", "models": [{"model": "k_anonymity", "k": 2}]}],
        "measure": {"queries": 0},
        "output": {"format": "parquet"},
    }
    ours, _ = compare_runs(Policy.model_validate(policy), tmp_path)
    schema = pl.read_parquet_schema(ours.out / "release" / "data.parquet")
    assert schema == {"age": pl.Int64, "pay": pl.Int64, "half": pl.Float64, "zero": pl.Int64}
