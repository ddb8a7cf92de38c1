# SPDX-License-Identifier: MIT
"""What private fields hold stands in no sentence of a claim and in no certificate.

The report for others is made from the certificate and the published data alone (`test_outgoing.py`), so that it holds
no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.release import Claim
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import make_once
from tests.contract.runs import run_example

EVERY = (*METHOD_EXAMPLES, *MODE_EXAMPLES)
PRIVATE = [example for example in METHOD_EXAMPLES if example.subject.private_fields]
CURE = "write the sentence and the arguments without it, or name the field in public_fields, if everybody may know it"


def list_values(value: Any) -> Iterator[str]:
    """All texts and numbers that a field holds, however deep; names of columns are texts."""
    if isinstance(value, BaseModel):
        value = [getattr(value, name) for name in type(value).model_fields]
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from list_values(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def list_private_words(method: sf.Method) -> set[str]:
    """What private fields hold and public ones do not; a default that everybody can read is no secret."""
    given = [name for name in method.private_fields if name in method.model_fields_set]
    public = {word for name in method.public_fields for word in list_values(getattr(method, name))}
    return {word for name in given for word in list_values(getattr(method, name)) if word} - public


def find_word(words: Iterable[str], text: str) -> str:
    """The first of some words that a text holds, not as a part of another word or number."""
    return next((word for word in sorted(words) if re.search(rf"(?<![\w.]){re.escape(word)}(?![\w]|\.\d)", text)), "")


def find_told_claim(method: sf.Method, claims: Iterable[Claim]) -> str:
    """A private word in the sentence of a claim or in arguments that leave, with the claim; empty if there is none."""
    claims = list(claims)
    promised = {spelt for claim in claims for spelt in (str(claim.threshold), f"{claim.threshold:g}")}
    words = list_private_words(method) - promised  # what is claimed is known by intent
    for claim in claims:
        arguments = {} if claim.needs_original else dict(claim.arguments)
        if told := find_word(words, f"{claim.meaning} {json.dumps(arguments, default=str)}"):
            return f'the claim "{claim.property}" ("{claim.meaning}") tells "{told}"'
    return ""


@pytest.mark.parametrize(
    "example", [one for one in EVERY if one.subject.private_fields], ids=lambda example: example.name
)
def test_no_claim_tells_what_a_private_field_holds(example: Example) -> None:
    """Sentences of claims are in certificates and reports, also where only the custodian can check them."""
    told = find_told_claim(example.subject, make_once(example).release.claims)
    fields = ", ".join(example.subject.private_fields)
    assert not told, f"{type(example.subject).__name__}: {told}, which private_fields ({fields}) hides: {CURE}"


def find_told_part(body: Mapping[str, Any], words: set[str], columns: set[str]) -> str:
    """A part of a certificate that tells a private word. A part that lists all published columns, the attacks of the
    policy, and the verdict on columns of each role name columns for other reasons."""
    for name, part in body.items():
        text = json.dumps(part, ensure_ascii=False)
        lists_columns = name in ("attacks", "verdict") or all(find_word([column], text) for column in columns)
        hidden = {word for word in words if not re.fullmatch(r"-?[\d.]+", word)}  # numbers are everywhere
        if told := find_word(hidden - columns if lists_columns else hidden, text):
            return f'"{name}" of its certificate tells "{told}"'
    return ""


@pytest.mark.parametrize("example", PRIVATE, ids=lambda example: example.name)
def test_no_certificate_tells_what_a_private_field_holds(example: Example, tmp_path: Path) -> None:
    words = list_private_words(example.subject) | {*example.secrets}
    if not words:
        return
    run = run_example(example, tmp_path)
    columns = set(make_once(example).release.data.frame.columns) if make_once(example).is_table else set()
    told = find_told_part(run.certificate.body, words, columns)
    assert not told, f"{type(example.subject).__name__}: {told}, which private_fields hides: {CURE}"


def names_a_file(field: str, kind: type[sf.Method]) -> bool:
    """Whether a field says where the custodian keeps something."""
    return "Path" in str(kind.model_fields[field].annotation) or field in ("file", "memory")


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind.private_fields], ids=lambda kind: kind.__name__)
def test_an_example_fills_each_private_field(kind: type[sf.Method]) -> None:
    given = {name for one in EVERY if type(one.subject) is kind for name in one.subject.model_fields_set}
    unset = [name for name in kind.private_fields if name not in given and not names_a_file(name, kind)]
    assert not unset, (
        f"{kind.__name__}: no example (tests/contract/examples.py) gives {', '.join(unset)}, which private_fields "
        "hides, so that nobody sees whether it leaves: add one that does, with words that nothing else says"
    )


def test_private_words_that_leave_are_noticed() -> None:
    made = make_once(next(example for example in PRIVATE if example.name == "suppress entries"))
    method, claim = made.example.subject, made.release.claims[0]
    assert list_private_words(method) == {"disease", "sex", "female"}
    assert find_told_claim(method, made.release.claims) == ""
    told = claim.model_copy(update={"meaning": "No rule gives the disease away."})
    assert 'tells "disease"' in find_told_claim(method, [told])
    columns = {"disease", "sex", "age"}
    assert find_told_part({"changes": [*columns]}, {"sex", "female"}, columns) == ""
    assert 'tells "sex"' in find_told_part({"claims": ["of each sex"]}, {"sex", "female"}, columns)
    assert 'tells "female"' in find_told_part({"changes": [*columns, "female"]}, {"sex", "female"}, columns)
