# SPDX-License-Identifier: MIT
"""Wrong parameters get one sentence: which one, what it should be, and what was probably meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

import sfumato as sf

# A type checker refuses what these tests give.
Partition: Any = sf.Partition
KAnonymity: Any = sf.KAnonymity
LDiversity: Any = sf.LDiversity
RandomizeResponse: Any = sf.RandomizeResponse
HideRules: Any = sf.HideRules
Policy: Any = sf.Policy
Linking: Any = sf.attack.Linking

SENTENCES: dict[str, Callable[[], object]] = {
    'Partition: there is no parameter "modles"; did you mean "models"?': lambda: Partition(modles=[KAnonymity(k=5)]),
    'KAnonymity: there is no parameter "K"; did you mean "k"?': lambda: KAnonymity(K=5),
    'Linking: there is no parameter "who"; it takes knowledge, external': lambda: Linking(who="me"),
    "KAnonymity: k must be at least 1": lambda: KAnonymity(k=0),
    "KAnonymity: k must be a whole number, without quotes": lambda: KAnonymity(k="zzvaluezz"),
    "KAnonymity: k is missing (The smallest number of rows that share their quasi-identifying values)": KAnonymity,
    'LDiversity: kind: did you mean "entropy"?': lambda: LDiversity(l=2, column="ill", kind="entrpy"),
    'Partition: models[0]: there is no such model; did you mean "k_anonymity"?': lambda: Partition(
        models=[{"model": "k_anonimity", "k": 5}]
    ),
    'Partition: models[0]: there is no parameter "kk"; did you mean "k"?': lambda: Partition(
        models=[{"model": "k_anonymity", "kk": 5}]
    ),
    'Partition: models[0]: say which model it is: model = "…"': lambda: Partition(models=[{"k": 5}]),
    'Partition: models[0]: there is no such model; did you mean "l_diversity"?': lambda: Partition(
        models=[{"model": "diversity", "l": 5}]
    ),
    "RandomizeResponse: give either p or epsilon, not both": lambda: RandomizeResponse(column="ill", p=0.5, epsilon=1),
    "RandomizeResponse: column must be text or a list": lambda: RandomizeResponse(column=5, p=0.5),
    "TopCode: caps.age must be a number": lambda: sf.TopCode(columns="age", k=5, caps={"age": True}),
    "RoundNumbers: step must be a number": lambda: sf.RoundNumbers(columns="age", step=True),
    'Policy: gate: there is no parameter "max_los"; did you mean "max_loss"?': lambda: Policy(
        data={"path": "demo"}, protect=[Partition(models=[KAnonymity(k=5)])], gate={"max_los": 1}
    ),
    "KAnonymity: it cannot be changed; make another one, or a copy: .model_copy(update={...})": lambda: setattr(
        KAnonymity(k=5), "k", 7
    ),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_wrong_parameter_is_explained(sentence: str) -> None:
    with pytest.raises(sf.PolicyError) as error_info:
        SENTENCES[sentence]()
    assert str(error_info.value) == repr(error_info.value) == sentence
    assert isinstance(error_info.value, ValidationError), "a model around it collects it"


def test_many_problems_are_counted() -> None:
    with pytest.raises(sf.PolicyError, match=r"zz7.*; and 4 more"):
        KAnonymity(k=5, **{f"zz{number}": 1 for number in range(12)})


def test_one_model_needs_no_list() -> None:
    assert Partition(models=KAnonymity(k=5)) == Partition(models=[KAnonymity(k=5)])


def test_a_representation_shows_what_was_given_and_nothing_hidden() -> None:
    assert repr(Partition(models=[KAnonymity(k=5)])) == "Partition(models=(KAnonymity(k=5),))"
    assert str(KAnonymity(k=5)) == "KAnonymity(k=5)"
    method = HideRules(rules=["milk ==> bread"], min_support=0.1, min_confidence=0.5)
    assert "milk" not in repr(method) and "min_support=0.1" in repr(method)
