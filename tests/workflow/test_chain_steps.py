# SPDX-License-Identifier: MIT
"""A policy of several methods: whoever reads a parameter of a method reads it from that method, wherever it stands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato import losses
from sfumato.data.generators.population import (
    build_population_hierarchies,
    generate_population,
    list_population_roles,
)
from sfumato.details import AnonymityDetails, SwapDetails, SynthesisDetails
from sfumato.workflow.attack_run import attack_again
from sfumato.workflow.summary.release_utility import _measure_swapped_joints

KNOWN = ["sex", "zip", "education", "occupation"]
SWAP = sf.SwapConfidential(column="salary_level", share=0.5, search="paper", pattern=tuple(KNOWN))
CAP = sf.TopCode(columns=("age",), k=5)
ORDERS = pytest.mark.parametrize("methods", [(SWAP, CAP), (CAP, SWAP)], ids=["swap first", "swap last"])


def draw_people(count: int = 600) -> sf.Table:
    return sf.Table.of(generate_population().head(count), list_population_roles(), build_population_hierarchies())


def run_seeded(data: Any, methods: tuple[sf.Method, ...], **options: Any) -> Any:
    return sf.run(data, list(methods), sf.Randomness.seeded(1), **options)


def find_attack(result: Any, name: str) -> Any:
    return next(attack for attack in result.record["attacks"] if attack["attack"] == name)


@ORDERS
def test_a_release_has_a_step_for_each_method(methods: tuple[sf.Method, ...]) -> None:
    release = run_seeded(draw_people(), methods).release
    steps = release.list_steps()
    assert [step.method for step in steps] == list(methods)
    assert all(step.data is release.data or step.data.frame.equals(release.data.frame) for step in steps)
    swap_step, cap_step = release.find_step(SwapDetails), release.find_step(AnonymityDetails)
    assert swap_step is not None and swap_step.method == SWAP
    assert cap_step is not None and cap_step.method == CAP


@ORDERS
def test_a_release_is_no_more_mature_than_each_of_its_methods(methods: tuple[sf.Method, ...]) -> None:
    result = run_seeded(draw_people(), methods)
    assert SWAP.maturity == "for study" and CAP.maturity == "stable"
    assert result.record["maturity"] == "for study"
    assert "A method of this release is for study, not for use." in result.verdict.warnings


@ORDERS
def test_swaps_are_undone_by_the_share_of_the_swap(methods: tuple[sf.Method, ...]) -> None:
    attack: dict[str, Any] = {"attack": "swap_linkage", "knows": "method", "knowledge": KNOWN}
    people = draw_people(1500)
    stated, given = (
        find_attack(run_seeded(people, methods, attacks=[{**attack, **extra}]), "swap_linkage")
        for extra in ({}, {"share": 0.5})
    )
    assert stated["reverted"] == given["reverted"] > 0
    assert stated["successes"] == given["successes"]


LEVELS = sf.Generalize(models=(sf.LDiversity(l=2, column="s"),))
CAP_VISITS = sf.TopCode(columns=("n",), k=2)


def build_patients() -> sf.Table:
    return sf.Table.of(
        {
            "q": ["q1"] * 2 + ["q2"] * 4,
            "s": ["cancer", "cancer", "flu", "cold", "gout", "cough"],
            "n": [1, 2, 3, 4, 5, 6],
        },
        {"q": "quasi_identifying", "s": "sensitive", "n": "insensitive"},
        {"q": [["q1", "Q"], ["q2", "Q"]]},
    )


def test_minimality_reads_the_models_of_the_method_that_has_them() -> None:
    hits = [
        find_attack(
            run_seeded(build_patients(), methods, attacks=[{"attack": "minimality"}], accept={"n": "drawn anew"}),
            "minimality",
        )["successes"]
        for methods in ((LEVELS,), (CAP_VISITS, LEVELS), (LEVELS, CAP_VISITS))
    ]
    assert hits == [3, 3, 3]


def test_levels_of_an_earlier_method_are_in_the_certificate() -> None:
    records = [
        run_seeded(build_patients(), methods, accept={"n": "drawn anew"}).record
        for methods in ((LEVELS,), (CAP_VISITS, LEVELS), (LEVELS, CAP_VISITS))
    ]
    assert [record["levels"] for record in records] == [{"q": 1}] * 3
    assert [record["heights"] for record in records] == [records[0]["heights"]] * 3


POLICY = """
[data]
path = "people.csv"
[roles]
quasi_identifying = ["age", "sex", "zip"]
sensitive = ["disease", "job"]
[[protect]]
method = "swap_confidential"
column = "job"
pattern = ["age", "sex", "zip"]
share = 0.5
search = "paper"
[[protect]]
method = "top_code"
columns = ["age"]
k = 5
[[attack]]
attack = "swap_linkage"
knows = "method"
[output]
path = "out"
"""


def test_an_attack_again_is_the_attack_of_the_run(tmp_path: Path) -> None:
    people = draw_people().frame.select("age", "sex", "zip", "disease", job="occupation")
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(POLICY)
    policy = sf.Policy.read(tmp_path / "policy.toml")
    result = sf.run(policy, randomness=sf.Randomness.seeded(1))
    (again,) = attack_again(tmp_path / "out", policy)
    attack = find_attack(result, "swap_linkage")
    assert again.outcome.facts["columns"] == attack["columns"] == ["job"]
    assert (again.outcome.attempts, again.outcome.successes) == (attack["attempts"], attack["successes"])
    other = sf.Policy.parse(POLICY.replace("share = 0.5", "share = 0.1"), tmp_path / "other.toml")
    with pytest.raises(sf.PolicyError, match="give the policy that made the release"):
        attack_again(tmp_path / "out", other)  # it undid another share of swaps, and was right less often


def test_people_are_linked_by_the_columns_that_hold_no_codes() -> None:
    """A method with a key switched linking off, even where it coded one column and left the others as they are."""
    names = ["zip", "pay", "ill"]
    cells = [(f"z{number}", number % 7, "ab"[number % 2]) for number in range(40)]
    roles = {"zip": "quasi_identifying", "pay": "quasi_identifying", "ill": "sensitive"}
    people = sf.Table.of(pl.DataFrame(cells, schema=names, orient="row"), roles)
    method = sf.EncodeForTrees(target="ill", columns=("pay",))
    with pytest.raises(sf.PolicyError, match="linking cannot read codes"):
        run_seeded(people, (method,), gate={"max_linking_risk": 0.5})  # sorted codes tell more than linking counts
    partly = run_seeded(people, (method,))
    attack = find_attack(partly, "linking")
    assert attack["parameters"]["knowledge"] == ["zip"] and attack["successes"] == 40
    wholly = run_seeded(people, (sf.EncodeForTrees(target="ill"),))
    assert [entry["attack"] for entry in wholly.record["attacks"]] == []


def test_a_swapped_column_is_compared_with_the_pattern_of_its_own_method() -> None:
    people = draw_people()
    release = run_seeded(people, (SWAP, CAP)).release
    assert release.find_step(SwapDetails).details.pattern == tuple(KNOWN)
    measured = _measure_swapped_joints(release.data, people, release)
    expected = sf.measure.joint_divergence(people, release.data, "salary_level", KNOWN)
    assert measured["joint_i_divergence"] == pytest.approx(expected.patterns)


def test_an_attack_made_again_knows_whether_the_search_was_finished(tmp_path: Path) -> None:
    """The record did not say it, and a search that had run out of time counted as finished."""
    result = run_seeded(draw_people(), (sf.Generalize(models=(sf.KAnonymity(k=5),)),), out=tmp_path / "out")
    record = json.loads((result.out / "private" / "record.json").read_text(encoding="utf-8"))
    assert [step["proven"] for step in record["steps"]] == [True]


def test_rows_of_people_stay_theirs_even_if_every_column_is_drawn(tmp_path: Path) -> None:
    """By its laws the report took such rows for nobody's, and by its details the run took them for people's."""
    cells = [(number % 5, "ab"[number % 2]) for number in range(60)]
    people = sf.Table.of(
        pl.DataFrame(cells, schema=["age", "sex"], orient="row"), dict.fromkeys(("age", "sex"), "quasi_identifying")
    )
    result = run_seeded(people, (sf.Synthesize(kind="partial", columns=("age", "sex")),), out=tmp_path / "out")
    assert not result.release.are_rows_drawn
    assert "people in the release" in (result.out / "private" / "report.html").read_text(encoding="utf-8")
    assert find_attack(result, "linking")["attempts"] == 60


def test_nobody_is_looked_up_by_codes() -> None:
    """Linking by a coded column found 9 of 60 people, where sorting the codes found 51, and a gate opened."""
    cells = [(20 + number, "ab"[number % 2], number % 3) for number in range(60)]
    roles = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
    people = sf.Table.of(pl.DataFrame(cells, schema=list(roles), orient="row"), roles)
    method = sf.EncodeForTrees(target="ill", columns=("age",))
    for attack in (sf.attack.Linking(knowledge=("age", "sex")), sf.attack.Inference(column="ill")):
        with pytest.raises(sf.PolicyError, match="holds codes"):
            run_seeded(people, (method,), attacks=(attack,))


def test_losses_add_up_if_their_rules_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {"delta": losses.LOSSES["epsilon"], "spread": losses.LOSSES["height"]}
    monkeypatch.setattr(losses, "LOSSES", entries)
    total = losses.combine_losses({"delta": 0.25, "spread": 2}, {"delta": 0.5, "spread": 1})
    assert total == {"delta": 0.75, "spread": 2}


def test_two_budgets_without_a_rule_are_refused() -> None:
    """Of two budgets of 1 by a name that nobody knows, the certificate said 1."""
    with pytest.raises(sf.PolicyError, match="does not say whether such losses add up"):
        losses.combine_losses({"epsilon_total": 1.0}, {"epsilon_total": 1.0})
    assert losses.combine_losses({"epsilon_total": 1.0}, {"loss": 0.5}) == {"epsilon_total": 1.0, "loss": 0.5}


def test_one_statement_says_whether_rows_are_drawn() -> None:
    """The run asked whether details name training rows, and the report asked the method."""
    people = draw_people()
    drawn_release = sf.Synthesize().protect(people, randomness=sf.Randomness.seeded(1))
    assert replace(drawn_release, details=SynthesisDetails()).are_rows_drawn
    kept_release = sf.RoundNumbers(columns=("age",), step=10).protect(people)
    assert not replace(kept_release, details=SynthesisDetails(training=np.arange(3))).are_rows_drawn
    assert not replace(kept_release, method=None).are_rows_drawn


def test_optimality_is_stated() -> None:
    """Whoever stated a bound alone was said to have searched for the best, and not to have proven it."""
    assert AnonymityDetails(bound=3.0).find_optimality() is None
    assert AnonymityDetails(bound=3.0, objective=4.0, proven=False).find_optimality() == (4.0, 3.0, False)
    assert SynthesisDetails().find_optimality() is None
