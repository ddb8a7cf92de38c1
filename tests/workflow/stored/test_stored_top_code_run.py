# SPDX-License-Identifier: MIT
"""Caps by duckdb: the release, claims, attacks and figures of memory; what cannot run is refused before."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, PolicyError
from sfumato.protect.anonymity import stored_top_code
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.stored.stored_support import list_unsupported
from sfumato.workflow.verification import verify
from tests.protect.test_stored_rowwise import make_people
from tests.workflow.stored.test_stored_run import compare_attacks, compare_runs, sign_changed_release

POLICY = """
[data]
path = "parts/*.KIND"

[roles]
identifying = ["name"]
quasi_identifying = ["age"]
sensitive = ["word", "x", "y", "day"]

[[protect]]
method = "top_code"
columns = ["age", "x", "y"]
k = 4
ends = "both"

[output]
format = "parquet"
"""


def write_policy(folder: Path, kind: str = "parquet") -> Policy:
    frame = make_people(200, 4, pl.Int64())
    if kind == "csv":  # one number beyond the cap makes a column of decimals, and is not published
        frame = frame.with_columns(pl.col("y").cast(pl.Float64))
        frame[3, "y"] = 99.5
    (folder / "parts").mkdir()
    for number, part in enumerate(frame.iter_slices(110)):
        path = folder / "parts" / f"{number}.{kind}"
        part.write_parquet(path) if kind == "parquet" else part.write_csv(path)
    return Policy.parse(POLICY.replace("KIND", kind), folder / "policy.toml")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_both_engines_release_the_same(tmp_path: Path, kind: str) -> None:
    ours, theirs = compare_runs(write_policy(tmp_path, kind), tmp_path)
    compare_attacks(ours, theirs)
    assert theirs.record["utility"]["loss"] == pytest.approx(theirs.release.losses["loss"])
    assert verify(theirs.out, theirs.certificate.body["signer"], engine="duckdb").holds


def test_a_number_beyond_the_cap_is_found_in_the_file(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path), tmp_path / "out", engine="duckdb")
    frame = pl.read_parquet(result.out / "release" / "data.parquet")
    frame[7, "x"] = 1e6
    sign_changed_release(result.out, frame)
    broken_properties = [
        finding.property for finding in verify(result.out, engine="duckdb").findings if finding.holds is False
    ]
    assert broken_properties == ["beyond_limits"]


def test_what_cannot_run_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    for path in (tmp_path / "parts").iterdir():
        path.unlink()
    for changes, words in (
        ({"attack": [{"attack": "homogeneity", "column": "x"}]}, "homogeneity of a capped column"),
        ({"data": {"path": "parts/*.parquet", "missing": "drop"}}, "missing = drop with capped columns"),
    ):
        changed_policy = Policy.model_validate(
            {**{name: getattr(policy, name) for name in Policy.model_fields}, **changes}
        )
        with pytest.raises(PolicyError, match=rf"the engine duckdb does not run {words}; it runs .*top_code"):
            run_policy(changed_policy, tmp_path / "out", engine="duckdb")


class Winsorize(sf.RoundNumbers):
    """Another method that caps, under another name."""

    def list_capped_columns(self) -> tuple[str, ...]:
        return self.columns


def test_any_method_that_caps_says_so(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    for attacked_column, is_named in (("x", True), ("y", False)):
        attack = {"attack": "homogeneity", "column": attacked_column}
        changes = {"protect": (Winsorize(columns=("x",), step=5),), "attack": (sf.attack.Homogeneity(**attack),)}
        features = list_unsupported(policy.model_copy(update=changes))
        assert ("homogeneity of a capped column" in features) == is_named


def test_more_numbers_than_memory_holds_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_top_code, "_FEWEST", 1)
    monkeypatch.setattr(stored_top_code, "find_memory_budget", lambda: 2 * 64 * 50)
    policy = write_policy(tmp_path)
    with pytest.raises(DataError, match=r'the column "x" has \d+ different numbers, and memory holds 50;.*SFUMATO'):
        run_policy(policy, tmp_path / "out", engine="duckdb")
