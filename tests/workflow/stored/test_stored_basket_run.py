# SPDX-License-Identifier: MIT
"""Rules and items hidden by duckdb: the bytes, claims and figures of memory, and less that is measured, not more."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.engine import stored_baskets
from sfumato.errors import PolicyError
from sfumato.workflow.certificate import Certificate
from sfumato.workflow.folders.manifest import hash_file
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from sfumato.workflow.signing.signature import load_signing_key, sign_certificate
from sfumato.workflow.verification import verify
from tests.command_line import Invoke
from tests.protect.baskets.test_stored_hiding import draw_baskets

POLICY = """
[data]
path = "PATH"
id = "visit"
item = "product"

[[protect]]
OPTIONS
"""
RULES = 'method = "hide_rules"\nrules = ["{0} ==> {1}", "{1}, {2} ==> {3}"]\nmin_support = 5\nmin_confidence = 0.4'
ITEMS = 'method = "hide_items"\nitems = ["{2}"]\nmin_support = 0.08\nmin_confidence = 0.5'
ALL = 'method = "hide_rules"\nitemsets = ["{0}"]\nmin_support = 1\nstrategy = "2b"'
NAMES = {"numbers": "{}", "words": "item {}", "formulas": "=item {}", "mixed": "{}"}
CASES = {
    "rules in lines": ("dat", "numbers", RULES, ""),
    "rules in rows": ("csv", "words", f'{RULES}\nstrategy = "1b"', ""),
    "items in rows": ("parquet", "words", ITEMS, '[output]\nformat = "long"'),
    "attacked": ("csv", "words", RULES, '[[attack]]\nattack = "remining"'),
    "items, attacked": ("dat", "numbers", ITEMS, '[[attack]]\nattack = "remining"\nreach = 0.3'),
    "formulas": ("csv", "formulas", RULES, '[output]\nformat = "long"\nescape_formulas = true'),
    "the only word goes": ("csv", "mixed", ALL, ""),
}


def write_policy(folder: Path, kind: str, names: str, options: str, more: str = "") -> Policy:
    words = [NAMES[names].format(number) for number in range(1, 15)]
    words[0] = "word" if names == "mixed" else words[0]
    lists = [[words[item - 1] for item in basket] for basket in draw_baskets(3, 150, 12)]
    path = folder / f"sales.{kind}"
    if kind == "dat":
        path.write_text("".join(f"{' '.join(basket)}\n" for basket in lists), encoding="utf-8")
    else:
        rows = [(f"visit {number}", item) for number, basket in enumerate(lists) for item in basket]
        frame = pl.DataFrame(rows, schema=["visit", "product"], orient="row").sample(fraction=1, shuffle=True, seed=1)
        frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    text = POLICY.replace("PATH", path.name).replace("OPTIONS", options.format(*words))
    return Policy.parse(f"{text}\n{more}", folder / "policy.toml")


@pytest.mark.parametrize("case", CASES)
def test_both_engines_release_the_same(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_baskets, "BATCH_BASKETS", 37)
    policy = write_policy(tmp_path, *CASES[case])
    ours, theirs = (run_policy(policy, tmp_path / engine, engine=engine) for engine in ("memory", "duckdb"))
    assert ours.published
    assert theirs.published
    name = ours.certificate.body["data"]["file"]
    files = [(result.out / "release" / name).read_bytes() for result in (ours, theirs)]
    assert files[0] == files[1]
    assert theirs.release.losses["removed"] > 0
    assert ours.findings == theirs.findings
    assert [outcome for _, outcome in ours.attacks] == [outcome for _, outcome in theirs.attacks]
    for part in ("claims", "losses", "formulas", "suppression", "gate", "methods", "data"):
        assert ours.record[part] == theirs.record[part], part
    for figure, value in theirs.record["utility"].items():
        assert ours.record["utility"][figure] == pytest.approx(value), figure
    for part in ("status", "warnings", "unchecked", "objections"):
        assert ours.record["verdict"][part] == theirs.record["verdict"][part], part
    bodies = [result.certificate.body for result in (ours, theirs)]
    for part in bodies[0].keys() - {"created", "input_commitment", "files", "signature"}:
        assert bodies[1][part] == bodies[0][part], f"{part}: what leaves is what leaves from memory"
    records = [json.loads((result.out / "private" / "record.json").read_text()) for result in (ours, theirs)]
    assert records[0]["steps"] == records[1]["steps"]
    assert ours.release.details["changes"] == theirs.release.details["changes"]
    checks = [verify(theirs.out, bodies[1]["signer"], engine=engine) for engine in ("memory", "duckdb")]
    assert checks[0].holds, checks[0].problems
    assert checks[1].as_json() == {**checks[0].as_json(), "engine": "duckdb"}


def sign_changed_file(out: Path, text: bytes) -> None:
    """A forger with a key of their own: the data is another, and its checksum is certified."""
    release = out / "release"
    body = {**Certificate.read(release).body}
    name = body["data"]["file"]
    (release / name).write_bytes(text)
    body["files"] = {**body["files"], name: hash_file(release / name)}
    body["data"] = {**body["data"], "sha256": body["files"][name]}
    del body["signature"], body["signer"]
    (release / "certificate.json").write_bytes(sign_certificate(body, load_signing_key()))


def test_a_basket_that_is_missing_is_found_in_the_file(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path, *CASES["rules in lines"]), tmp_path / "out", engine="duckdb")
    text = (result.out / "release" / "data.dat").read_bytes()
    sign_changed_file(result.out, text.split(b"\n", 1)[1])
    ours, theirs = (verify(result.out, engine=engine) for engine in ("memory", "duckdb"))
    assert any("another number of rows" in problem for problem in theirs.problems)
    assert theirs.as_json() == {**ours.as_json(), "engine": "duckdb"}


def test_hostile_releases_are_problems(tmp_path: Path) -> None:
    result = run_policy(write_policy(tmp_path, *CASES["rules in lines"]), tmp_path / "out", engine="duckdb")
    release = result.out / "release"
    for text, words in (
        (b"1 2\n\xff\xfe\n", "line 2 is not UTF-8"),
        (b"1 -2\n", "negative"),
        (gzip.compress(b"1 2\n"), "compressed"),
        (b"", "no basket"),
    ):
        sign_changed_file(result.out, text)
        checked = verify(result.out, engine="duckdb")
        assert any(words in problem for problem in checked.problems), checked.problems
    body = {**Certificate.read(release).body}
    del body["signature"], body["signer"]
    body["data"] = {**body["data"], "format": "comma"}
    (release / "certificate.json").write_bytes(sign_certificate(body, load_signing_key()))
    assert not verify(result.out, engine="duckdb").holds


def test_a_method_that_hides_too_little_is_caught_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sfumato.protect.baskets.stored_hiding.StoredHidingPlan.publish", lambda plan: plan.original.iterate("")
    )
    for case in ("rules in lines", "items in rows"):
        folder = tmp_path / case
        folder.mkdir()
        with pytest.raises(sf.ClaimBroken, match="promised 0, measured"):
            run_policy(write_policy(folder, *CASES[case]), folder / "out", engine="duckdb")
        assert not (folder / "out" / "release").exists()


@pytest.mark.parametrize(
    ("options", "more", "words"),
    [
        (f'{RULES}\nstrategy = "exact"', "", "hide_rules with strategy = exact"),
        (f'{ITEMS}\nstrategy = "dsrf"', "", "hide_items with strategy = dsrf"),
        (RULES, '[[attack]]\nattack = "fill_unknowns"', "fill_unknowns"),
        (f"{RULES}\n[[protect]]\n{ITEMS}", "", "several methods"),
        ('method = "randomize_baskets"\nkeep = 0.5\nadd = 0.1', "", "randomize_baskets"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_read(
    tmp_path: Path, options: str, more: str, words: str
) -> None:
    policy = write_policy(tmp_path, "dat", "numbers", options, more)
    (tmp_path / "sales.dat").unlink()
    runs = "it runs hide_items .* or hide_rules"
    with pytest.raises(PolicyError, match=rf"the engine duckdb does not run .*{words}.*; {runs}"):
        run_policy(policy, tmp_path / "out", engine="duckdb")
    with pytest.raises(PolicyError, match=rf"the engine spark does not run .*{words}.*; {runs}"):
        run_policy(policy, tmp_path / "out", engine="spark")
    table = policy.model_copy(update={"data": policy.data.model_copy(update={"path": "spark:shop.sales"})})
    with pytest.raises(PolicyError, match=r"the engine spark does not run .*baskets in a table of Spark"):
        run_policy(table, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_line_chooses_by_size(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = write_policy(tmp_path, *CASES["rules in rows"])
    text = POLICY.replace("PATH", "sales.csv").replace("OPTIONS", CASES["rules in rows"][2])
    words = [NAMES["words"].format(number) for number in range(1, 15)]
    (tmp_path / "policy.toml").write_text(text.format(*words), encoding="utf-8")
    assert policy.shape == "baskets"
    assert "Engine" not in invoke("run", tmp_path / "policy.toml", "-o", tmp_path / "a").out
    monkeypatch.setattr("sfumato.engine.choice.find_memory_budget", lambda: 1000)
    assert (
        "Engine: duckdb, since the file may take" in invoke("run", tmp_path / "policy.toml", "-o", tmp_path / "b").out
    )
    assert "Engine: duckdb; the rows" in invoke("verify", tmp_path / "b").out


def test_both_engines_say_that_nothing_was_hidden(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, "csv", "words", RULES.replace("min_support = 5", "min_support = 140"))
    for engine in ("memory", "duckdb"):
        done = run_policy(policy, tmp_path / engine, engine=engine)
        assert done.release.losses["changes"] == 0
        assert done.record["advice"][0].startswith("Nothing was changed: no secret exceeds its threshold"), engine
