# SPDX-License-Identifier: MIT
"""Columns that chance changed, on their way: what leaves is enough to estimate from, and nothing more leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.change import ChangeKind
from sfumato.errors import PolicyError
from sfumato.mine.noise.estimates import estimate_released_columns
from sfumato.workflow.attack_run import attack_again
from sfumato.workflow.pipeline import run_policy
from sfumato.workflow.policy import Policy
from tests.cli.test_cli_mining import ran

POLICY = """
[data]
path = "people.csv"
[roles]
identifying = ["name"]
quasi_identifying = ["age", "town"]
sensitive = ["ill"]
[[protect]]
method = "add_noise"
columns = ["age"]
kind = "gaussian"
privacy = 0.4
ranges = "from_data"
[[protect]]
method = "randomize_response"
column = "ill"
p = 0.75
categories = ["yes", "no"]
[[attack]]
attack = "bayes_estimate"
[[attack]]
attack = "likeliest_answer"
column = "ill"
[output]
path = "out"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People of whom three in ten are ill, the older ones more often."""
    chance = np.random.default_rng(3)
    age = chance.integers(20, 80, 3000)
    ill = chance.random(3000) < (age - 20) / 100
    frame = pl.DataFrame(
        {
            "name": [f"p{n}" for n in range(3000)],
            "age": age,
            "town": np.where(age + chance.integers(-5, 5, 3000) < 45, "Aa", "Bb"),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def run_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    run_policy(Policy.read("policy.toml"), randomness=sf.Randomness.seeded(5))
    return folder


def test_two_methods_keep_their_promises_beside_each_other(run_folder: Path) -> None:
    body = json.loads((run_folder / "out/release/certificate.json").read_text())
    claims = {claim["measure"]: claim for claim in body["claims"]}
    assert all(claim["holds"] for claim in body["claims"])
    recorded_claims = json.loads((run_folder / "out/private/record.json").read_text())["found"]["claims"]
    exceptions = {claim["measure"]: claim["arguments"].get("except_columns") for claim in recorded_claims}
    assert (exceptions["changed_without_noise"], exceptions["changed_without_answers"]) == (["ill"], ["age"])
    assert '"age"' in claims["changed_without_answers"]["meaning"]
    assert sum(claim["property"] == "identifying_columns" for claim in body["claims"]) == 1
    assert sf.verify(run_folder / "out").holds


def test_what_leaves_is_enough_to_estimate_from(run_folder: Path) -> None:
    truth = pl.read_csv(run_folder / "people.csv")
    release = sf.read_release(run_folder / "out")
    assert release.method is None
    assert set(release.details) == {"public"}
    assert set(release.public) == {"age", "ill"}
    shares = sf.mine.estimate_proportions(release, "ill")
    estimates = dict(zip(shares["value"], shares["estimate"], strict=True))
    assert estimates["yes"] == pytest.approx((truth["ill"] == "yes").mean(), abs=0.05)
    ages = sf.mine.reconstruct_distribution(release, column="age")
    assert ages.mean == pytest.approx(truth["age"].mean(), abs=1.0)
    guessed = sf.attack.BayesEstimate().estimate(release)
    assert guessed.columns == release.data.frame.columns
    tree = sf.mine.train_tree_on_noise(release, "town", columns=("age",))
    assert tree.measure_accuracy(truth) > 0.85


def test_nothing_more_leaves_than_is_needed(run_folder: Path) -> None:
    certificate_text = (run_folder / "out/release/certificate.json").read_text()
    assert "p17" not in certificate_text
    page = (run_folder / "out/release/report.html").read_text()
    assert "What can be estimated" in page
    assert "What an analyst and an attacker learn from it" not in page
    internal_page = (run_folder / "out/private/report.html").read_text()
    assert "What an analyst and an attacker learn from it" in internal_page


def test_an_attack_can_be_repeated_from_the_folder(run_folder: Path) -> None:
    first = json.loads((run_folder / "out/private/record.json").read_text())["found"]["attacks"]
    outcomes = {attack.model_dump()["attack"]: outcome for attack, outcome in attack_again("out", "policy.toml")}
    for entry in first:
        if entry["attack"] in outcomes:
            assert outcomes[entry["attack"]].successes == entry["successes"]
    assert set(outcomes) == {"bayes_estimate", "likeliest_answer"}


def test_two_chances_on_one_column_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    double_policy = POLICY.replace(
        'method = "randomize_response"\ncolumn = "ill"\np = 0.75\ncategories = ["yes", "no"]',
        'method = "add_noise"\ncolumns = ["age"]\nranges = { age = [-1000, 1000] }',
    )
    double_policy = double_policy.replace('[[attack]]\nattack = "likeliest_answer"\ncolumn = "ill"\n', "")
    (folder / "policy.toml").write_text(double_policy)
    with pytest.raises(PolicyError, match='add_noise cannot follow add_noise: it would change "age"'):
        run_policy(Policy.read("policy.toml"))


def test_the_command_estimates_columns_pairs_and_trees(run_folder: Path) -> None:
    listed = ran(run_folder, "mine", "out", "--json")
    assert json.loads(listed.stdout)["rows"] == [
        {"column": "age", "kind": "gaussian"},
        {"column": "ill", "kind": "warner"},
    ]
    ages = json.loads(ran(run_folder, "mine", "out", "--column", "age", "--json").stdout)["rows"]
    assert sum(row["probability"] for row in ages) == pytest.approx(1)
    joint_result = ran(run_folder, "mine", "out", "--column", "ill", "--column", "town", "--out", "both.csv")
    assert joint_result.returncode == 0, joint_result.stderr
    assert pl.read_csv(run_folder / "both.csv")["estimate"].sum() == pytest.approx(1)
    tree = ran(run_folder, "mine", "out", "--target", "town")
    assert "age <=" in tree.stdout
    wrong = ran(run_folder, "mine", "out", "--column", "nothing")
    assert wrong.returncode == 2
    assert '"nothing"' in wrong.stderr
    plain = ran(run_folder, "mine", "out", "--column", "town")
    assert "count it as published" in plain.stderr


def test_estimates_refuse_what_they_cannot_take(run_folder: Path) -> None:
    release = sf.read_release(run_folder / "out")
    with pytest.raises(PolicyError, match='"age" has noise'):
        estimate_released_columns(release, ("age", "town", "ill"))


def run_methods(folder: Path, *methods: str, attacks: str = "", more: str = "") -> Path:
    """A run of some methods on people with a day of birth, in a folder of its own."""
    chance = np.random.default_rng(5)
    birth_dates = pl.date_range(pl.date(1950, 1, 1), pl.date(1999, 12, 31), eager=True).gather(
        chance.integers(0, 18_000, 400)
    )
    pl.DataFrame(
        {
            "name": [f"p{n}" for n in range(400)],
            "age": chance.integers(20, 80, 400),
            "born": birth_dates,
            "town": chance.choice(["Aa", "Ab", "Bb"], 400),
            "ill": chance.choice(["flu", "gout", "mumps"], 400),
            "pay": chance.normal(3000, 500, 400).round(2),
        }
    ).write_csv(folder / "people.csv")
    text = f"""
[data]
path = "people.csv"
[roles]
identifying = ["name"]
quasi_identifying = ["age", "town"]
sensitive = ["ill"]
insensitive = ["born", "pay"]
[hierarchies]
age = {{ kind = "intervals", widths = [10, 20] }}
town = {{ kind = "prefix", keep = [1] }}
{"".join(f"[[protect]]{chr(10)}{method}{chr(10)}" for method in methods)}
{attacks}
{more}
[accept]
born = "invented people"
pay = "invented people"
[output]
path = "out"
"""
    (folder / "policy.toml").write_text(text)
    run_policy(Policy.read(folder / "policy.toml"), randomness=sf.Randomness.seeded(5))
    return folder / "out"


GENERALIZE = 'method = "generalize"\nmodels = [{ model = "k_anonymity", k = 3 }]'
NOISE = 'method = "add_noise"\ncolumns = ["{}"]\nprivacy = 0.5\nranges = "from_data"'
ANSWERS = 'method = "randomize_response"\ncolumn = "{}"\nepsilon = 1.0\ncategories = "from_data"'
DRAWN = 'method = "synthesize"\nkind = "partial"\ncolumns = ["{}"]'
SWAPPED = 'method = "swap_confidential"\ncolumn = "ill"\nshare = 0.5\nsearch = "random"'


@pytest.mark.parametrize(
    "methods",
    [
        (NOISE.format("born"),),
        (ANSWERS.format("ill") + '\nkind = "unary"',),
        (ANSWERS.format("town") + '\nkind = "unary"',),
        (SWAPPED, NOISE.format("age")),
        (NOISE.format("pay"), SWAPPED),
        (DRAWN.format("ill"), NOISE.format("pay")),
        (NOISE.format("pay"), DRAWN.format("ill")),
        (GENERALIZE, DRAWN.format("ill")),
        (DRAWN.format("ill"), GENERALIZE),
        (ANSWERS.format("ill"), GENERALIZE),
        (NOISE.format("pay"), NOISE.format("born"), ANSWERS.format("ill")),
    ],
    ids=lambda methods: " + ".join(method.split('"')[1] for method in methods),
)
def test_methods_of_chance_can_be_combined(tmp_path: Path, methods: tuple[str, ...]) -> None:
    out = run_methods(tmp_path, *methods, more='[measure]\nqueries = 20\nclassify = "ill"')
    body = json.loads((out / "release/certificate.json").read_text())
    assert all(claim["holds"] for claim in body["claims"])
    assert sf.verify(out).holds


def test_a_swap_after_its_pattern_was_changed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r'needs "age" as in the originals.*put swap_confidential first'):
        run_methods(tmp_path, NOISE.format("age"), SWAPPED)


def test_a_full_synthesis_beside_other_chance_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="draws every column"):
        run_methods(tmp_path, 'method = "synthesize"', NOISE.format("pay"))
    assert not (tmp_path / "out").exists()


def test_who_is_asked_twice_gives_away_both(tmp_path: Path) -> None:
    out = run_methods(tmp_path, ANSWERS.format("ill"), ANSWERS.format("town"))
    losses = json.loads((out / "release/certificate.json").read_text())["losses"]
    assert losses["epsilon"] == pytest.approx(2.0)


def test_nothing_can_be_promised_beside_columns_that_were_all_drawn(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="synthesize must be the only method"):
        run_methods(tmp_path, 'method = "synthesize"', GENERALIZE)
    assert not (tmp_path / "out").exists()


def test_a_repeated_attack_finds_what_the_run_found(tmp_path: Path) -> None:
    """Labels of a hierarchy are read as such from the folder, too."""
    out = run_methods(
        tmp_path, GENERALIZE, attacks='[[attack]]\nattack = "linking"\n[[attack]]\nattack = "homogeneity"'
    )
    body = json.loads((out / "private/record.json").read_text())["found"]
    assert any(body["levels"].values())
    first = {entry["attack"]: entry["successes"] for entry in body["attacks"]}
    second_attacks = attack_again(out, tmp_path / "policy.toml")
    assert {attack.model_dump()["attack"]: outcome.successes for attack, outcome in second_attacks} == first
    assert first["linking"] > 0


def test_a_repeated_attack_knows_what_was_done_to_columns(tmp_path: Path) -> None:
    """Nobody's noisy age is covered by a cell, so homogeneity needs the stated changes to look anybody up."""
    out = run_methods(
        tmp_path, NOISE.format("age"), attacks='[[attack]]\nattack = "linking"\n[[attack]]\nattack = "homogeneity"'
    )
    entries = json.loads((out / "private/record.json").read_text())["found"]["attacks"]
    first = {entry["attack"]: entry["successes"] for entry in entries}
    second_attacks = attack_again(out, tmp_path / "policy.toml")
    assert {attack.model_dump()["attack"]: outcome.successes for attack, outcome in second_attacks} == first
    assert first["homogeneity"] > 0
    assert {change.kind for change in sf.read_release(out).list_column_changes("age")} == {ChangeKind.NOISE}


def test_a_changed_folder_is_not_read(run_folder: Path) -> None:
    certificate = run_folder / "out/release/certificate.json"
    original_text = certificate.read_text()
    certificate.write_text(original_text.replace('"p": 0.75', '"p": 0.65'))
    with pytest.raises(sf.CertificateRefused, match="public is malformed"):  # these are no probabilities
        sf.read_release(run_folder / "out")
    certificate.write_text(original_text.replace('"p": 0.75', '"p": 0.65').replace('"q": 0.25', '"q": 0.35'))
    with pytest.raises(sf.CertificateRefused, match="changed after it was signed"):
        sf.read_release(run_folder / "out")
    with pytest.raises(sf.CertificateRefused, match="changed after it was signed"):
        attack_again("out", "policy.toml")


def test_whole_numbers_are_read_back_as_such(tmp_path: Path) -> None:
    release = sf.read_release(run_methods(tmp_path, NOISE.format("age"), ANSWERS.format("ill")))
    assert release.data.frame["age"].dtype == pl.Int64
    assert release.data.frame["pay"].dtype == pl.Float64


def test_tables_of_two_are_for_answers(run_folder: Path) -> None:
    with pytest.raises(PolicyError, match='"age" has noise'):
        estimate_released_columns(sf.read_release(run_folder / "out"), ("age", "ill"))
    result = ran(run_folder, "mine", "out", "--column", "age", "--target", "town")
    assert result.returncode == 2
    assert "use only one of them" in result.stderr


def test_a_tree_may_tell_a_drawn_column(tmp_path: Path) -> None:
    release = sf.read_release(run_methods(tmp_path, DRAWN.format("ill")))
    assert sf.mine.train_tree_on_noise(release, "ill", columns=("age",)).n_leaves >= 1
