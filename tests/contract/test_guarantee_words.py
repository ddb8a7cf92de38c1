# SPDX-License-Identifier: MIT
"""What a method promises in words is what it claims: its numbers, and the names of models of privacy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import ClassVar

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from tests.contract.claim_words import is_spelled, list_numbers
from tests.contract.releases import Made, make_all
from tests.contract.test_method_pages import read_page, read_statement

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def list_promised_numbers(kind: type[sf.Method], releases: Iterable[Made]) -> set[float]:
    """The numbers that a guarantee may say: defaults, and thresholds that no field sets."""
    numbers = {0.0, 1.0, *list_numbers([field.default for field in kind.model_fields.values()])}
    for result in releases:
        field_numbers = {*list_numbers(result.example.subject.model_dump(mode="json"))}
        sizes = {float(len(result.data)), float(len(result.release.data))}
        numbers |= {float(claim.threshold) for claim in result.release.claims} - field_numbers - sizes
    return numbers


def find_strange_promises(guarantee: str, numbers: Set[float]) -> list[str]:
    """Numbers of a guarantee that nothing in the method has; what stands in backticks is spelled as in a policy."""
    text = re.sub(r"`[^`]*`", "", guarantee)
    return [
        spelling
        for spelling, percent in re.findall(r"(?<![\w.])(\d+(?:[.,]\d+)*)(?!\w)(\s?%)?", text)
        if not any(is_spelled(number * 100 if percent else number, spelling) for number in numbers)
    ]


@parametrize_kinds
def test_a_guarantee_says_no_number_of_its_own(kind: type[sf.Method]) -> None:
    strange = find_strange_promises(read_statement(kind, "Guarantee"), list_promised_numbers(kind, make_all(kind)))
    assert not strange, (
        f"{kind.__name__}: its guarantee says {strange}, which is neither the default of a field nor a threshold that "
        "every release has: write the name of the field that sets the number, in backticks, or the number checked"
    )


def test_a_number_of_its_own_is_noticed() -> None:
    numbers = list_promised_numbers(sf.GroupRareValues, make_all(sf.GroupRareValues))
    assert (
        find_strange_promises("at least `min_count` rows, 10 unless you say so, share k − 1 or 2k of `a5`", numbers)
        == []
    )
    assert find_strange_promises("at least 20 rows hold the same.", numbers) == ["20"], (
        "its example sets min_count = 20"
    )
    assert find_strange_promises("at most 2 % are changed.", list_promised_numbers(sf.TopCode, [])) == []
    assert find_strange_promises("at most 3 % are changed.", list_promised_numbers(sf.TopCode, [])) == ["3"]


MODEL_WORDS = {
    r"anonym(?:ous|ously|ity|ized)": "anonymity",
    r"differential(?:ly)? priva(?:cy|te)": "epsilon",
    r"l-divers(?:e|ity)": "l_diversity",
    r"t-close(?:ness)?": "t_closeness",
}
"""Words that promise a model of privacy → what a claim of that model is called, or a part of its name."""


def find_false_models(text: str, properties: Set[str]) -> list[str]:
    """Models that a text promises and no claim states. "This is not k-anonymity" promises nothing."""
    false_models = []
    for sentence in re.split(r"(?<=[.;:!?])\s", re.sub(r"`[^`]*`", "", text)):
        for words, claimed in MODEL_WORDS.items():
            match = re.search(rf"\b(?:\w+-)?{words}\b", sentence, re.IGNORECASE)
            denied = match and re.search(r"\b(no|not|never|nor|neither|without)\b", sentence[: match.start()], re.I)
            if match and not denied and not any(claimed in name for name in properties):
                false_models.append(match[0])
    return false_models


def list_statements(page: str) -> str:
    """The sentences of a page that say what the method or its release is: "It is …", "This is …"."""
    flat = re.sub(r"\s+", " ", page)
    return " ".join(re.findall(r"\b(?:It|This|The (?:method|release|table)) (?:is|gives)\b[^.]*\.", flat))


def read_introduction(page: str) -> str:
    """What a page says before its first table or section, without the title."""
    return re.split(r"^(?:\||## )", page.partition("\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


@parametrize_kinds
def test_no_model_is_promised_that_is_not_claimed(kind: type[sf.Method]) -> None:
    properties = {claim.property for result in make_all(kind) for claim in result.release.claims}
    summary = (kind.__doc__ or "").split("Limits:")[0]
    for source, text in (
        ("its docstring", summary),
        ("the beginning of its page", read_introduction(read_page(kind))),
        ("its page", list_statements(read_page(kind))),
    ):
        false = find_false_models(text, properties)
        assert not false, (
            f'{kind.__name__}: {source} promises "{false[0]}", and no example claims it, so that nobody checks it: '
            "say what is claimed, or that it is not this"
        )


def test_a_model_that_nobody_claims_is_noticed() -> None:
    class Anonymous(sf.RoundNumbers):
        """Round numbers. Guarantee: every published row is k-anonymous. Limits: this is not differential privacy."""

        maturity: ClassVar[str] = "stable"

    claimed = {claim.property for result in make_all(sf.RoundNumbers) for claim in result.release.claims}
    assert find_false_models(Anonymous.__doc__ or "", claimed) == ["k-anonymous"]
    assert find_false_models(Anonymous.__doc__ or "", {"k_anonymity"}) == []
    assert find_false_models("It is not safe. The release is anonymous.", claimed) == ["anonymous"]
    assert find_false_models("No row shows more: differential privacy.", claimed) == ["differential privacy"]
    assert find_false_models("Locally differentially private.", {"epsilon_in_all"}) == []
    assert find_false_models(list_statements("## What it does not do\n\n- It is\n  k-anonymity."), claimed)
    assert not find_false_models(list_statements("- It is not\n  k-anonymity. Anonymity is elsewhere."), claimed)
    assert read_introduction("# Round\n\nIt rounds.\n\nTwice.\n\n| a | b |\n\nanonymous").split() == [
        "It",
        "rounds.",
        "Twice.",
    ]
