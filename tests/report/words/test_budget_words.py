# SPDX-License-Identifier: MIT
"""A privacy budget is stated of what it bounds: the answers, of all methods together, and never rounded down."""

from __future__ import annotations

import json
from math import log
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.report.words.findings import list_losses
from sfumato.report.words.loss_words import find_loss_words
from tests.contract.report_pages import read_lines

ILLS, SEXES, TOWNS = ("flu", "cold", "gout"), ("f", "m"), ("A", "B", "C")
PEOPLE = {
    "ill": [ILLS[n % 3] for n in range(240)],
    "sex": [SEXES[n * n % 5 % 2] for n in range(240)],
    "town": [TOWNS[n // 7 % 3] for n in range(240)],
}
CLOSE = " at most e^ε times as likely for one truth as for another, under the conditions that the claims name."


def state_budget(tmp_path: Path, people: dict[str, Any], *methods: sf.RandomizeResponse) -> tuple[dict[str, Any], str]:
    """The certificate of some methods, and the line of the budget in the report that leaves."""
    table = sf.Table.of(people, dict.fromkeys(people, "sensitive"))
    accepted = dict.fromkeys(people, "a test")
    out = sf.run(table, list(methods), out=tmp_path / "out", accept=accepted).out
    (line,) = [line for line in read_lines(out / "release" / "report.html") if line.startswith("Privacy budget ε")]
    return json.loads((out / "release" / "certificate.json").read_text(encoding="utf-8")), line


def test_a_budget_is_of_the_answers_alone_where_other_columns_are_exact(tmp_path: Path) -> None:
    """It said that what is published of a person is bounded, beside a column published as it was."""
    _, line = state_budget(tmp_path, PEOPLE, sf.RandomizeResponse(column="ill", epsilon=1.0, categories=ILLS))
    assert line == (
        f'Privacy budget ε What is published of a person in "ill" is{CLOSE} Less is safer. It says nothing about what '
        "other columns disclose. It is not hidden whose answer is missing. | 1"
    )


def test_a_budget_is_of_everything_if_all_columns_are_answers(tmp_path: Path) -> None:
    people = {name: PEOPLE[name] for name in ("ill", "sex")}
    answers = sf.RandomizeResponse(column=("ill", "sex"), epsilon=1.0, categories="from_data", missing="answer")
    body, line = state_budget(tmp_path, people, answers)
    assert line == f"Privacy budget ε What is published of a person is{CLOSE} Less is safer. | 2"
    (joint,) = [claim["meaning"] for claim in body["claims"] if claim["property"] == "epsilon_in_all"]
    assert joint.startswith('The published answers of a person in "ill", "sex" together are at most e^2 times')


@pytest.mark.parametrize("columns", [("sex",), ("sex", "town")], ids=len)
def test_answers_of_several_methods_add_up_by_name(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """All 2 answers of a person were bounded, while a second method published a third."""
    first = sf.RandomizeResponse(column=columns, epsilon=1.0, categories="from_data")
    second = sf.RandomizeResponse(column="ill", epsilon=2.0, categories=ILLS)
    body, line = state_budget(tmp_path, {**PEOPLE, "age": list(range(240))}, first, second)
    names = ", ".join(f'"{name}"' for name in (*columns, "ill"))
    assert line.startswith(f"Privacy budget ε What is published of a person in {names}, taken together, is at most e^ε")
    assert line.endswith(f" | {len(columns) + 2}") and body["losses"] == {"epsilon": len(columns) + 2}
    assert not any(claim["meaning"].startswith("All ") for claim in body["claims"])


@pytest.mark.parametrize("p", [0.7, 0.99])
def test_a_budget_is_rounded_up(tmp_path: Path, p: float) -> None:
    answers = sf.RandomizeResponse(column="ill", p=p, categories=ILLS)
    body, line = state_budget(tmp_path, PEOPLE, answers)
    budget = log(p * 2 / (1 - p))
    assert budget <= float(line.split(" | ")[1]) < budget + 0.01
    assert budget * (1 - 1e-14) <= body["losses"]["epsilon"] < budget + 1e-9
    stated = {"utility": {}, **body, "losses": {"epsilon": 2.15415}}
    assert list_losses(stated)[0]["value"] == "2.155"


@pytest.mark.parametrize("keep", [0.7, 0.8, 0.9])
def test_budgets_of_baskets_are_rounded_up(keep: float) -> None:
    baskets = sf.Baskets.of([["a", "b"], ["b", "c"], ["a"], ["c"]] * 20)
    release = sf.RandomizeBaskets(keep=keep, add=0.1).protect(baskets, sf.Randomness.seeded(1))
    budget = max(log(keep / 0.1), log(0.9 / (1 - keep)))
    assert budget * 3 * (1 - 1e-14) <= release.losses["epsilon"] < budget * 3 + 1e-6
    thresholds = {claim.property: claim.threshold for claim in release.claims}
    assert budget * (1 - 1e-14) <= thresholds["epsilon"] < budget + 1e-6


def test_a_budget_says_that_missing_answers_show() -> None:
    """With missing = keep, whether somebody answered is published as it is: no ε bounds that."""
    law = {"kind": "warner", "p": 0.7, "q": 0.3, "categories": ["a", "b"], "epsilon": 0.9, "missing": "kept"}
    body: dict[str, Any] = {
        "methods": [{"method": "randomize_response"}],
        "losses": {"epsilon": 0.9},
        "data": {"shape": "table"},
        "public": {"vote": law},
        "changes": [{"column": "vote", "kind": "answers"}],
    }
    sentence = "It is not hidden whose answer is missing."
    assert find_loss_words("epsilon", body).meaning.endswith(sentence)
    assert (
        sentence not in find_loss_words("epsilon", {**body, "public": {"vote": {**law, "missing": "answer"}}}).meaning
    )
