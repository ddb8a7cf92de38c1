# SPDX-License-Identifier: MIT
"""A page of a method names only fields, values, claims and losses that there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

import sfumato as sf
from sfumato import details
from sfumato.attack import ATTACKS
from sfumato.description import Description
from sfumato.losses import LOSSES
from sfumato.protect import METHODS, MODELS
from sfumato.runtime.lazy import find_checks, find_tagged
from sfumato.table import Missing
from sfumato.workflow.policy import Policy
from tests.contract.releases import make_all
from tests.contract.test_method_pages import parametrize_kinds, read_page

SOURCES = Path(sf.__file__).parent
OF_LIBRARIES = frozenset({"dart", "gblinear", "rf"})
"""Words of xgboost."""


def list_subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from list_subclasses(subclass)


def list_field_words(kind: type[Any]) -> set[str]:
    """The fields of a description, and the words that they may have as values."""
    annotations = [entry.annotation for entry in kind.model_fields.values()]
    parts = [
        part for annotation in annotations for part in (*get_args(annotation), *map(get_args, get_args(annotation)))
    ]
    values = {
        word for part in parts for word in (part if isinstance(part, tuple) else (part,)) if isinstance(word, str)
    }
    return {*kind.model_fields, *values}


@cache
def list_words() -> frozenset[str]:
    """Every public name that a page may mean."""
    descriptions: set[type[Any]] = {*METHODS, *MODELS, *ATTACKS, Policy, *list_subclasses(Description)}
    families = [family for family in vars(details).values() if isinstance(family, type) and is_dataclass(family)]
    return OF_LIBRARIES | frozenset({
        *(word for kind in descriptions for word in list_field_words(kind)),
        *(entry.name for family in (*families, sf.Release) for entry in fields(family)),
        *(name for package in (sf, sf.mine, sf.measure, sf.attack, sf.protect) for name in dir(package)),
        *(tag for kind in ("method", "model", "attack") for tag in find_tagged(kind)),
        *find_checks(), *LOSSES, *Missing,
    })  # fmt: skip


@cache
def read_family(family: str) -> str:
    """The source of a family, in every stage."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob(f"*/{family}/**/*.py")))


def find_unknown_words(page: str, known_words: frozenset[str], sources: str) -> list[str]:
    """Words of the code, in backticks, that are neither known, nor in an example of the page, nor in the sources.

    In `unit = "month"` both are such words.
    """
    examples = " ".join(re.findall(r"^```.*?^```", page, re.MULTILINE | re.DOTALL))
    prose = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    words = dict.fromkeys(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", prose))
    words |= dict.fromkeys(word for pair in re.findall(r'`([a-z_]+) = "?([a-z_]*)', prose) for word in pair if word)
    return [
        word
        for word in words
        if word not in known_words and not any(re.search(rf"\b{word}\b", text) for text in (examples, sources))
    ]


@parametrize_kinds
def test_a_page_names_only_what_there_is(kind: type[sf.Method]) -> None:
    made = make_all(kind)
    own_words = {word for result in made for word in result.release.losses}
    own_words |= {word for result in made for law in result.release.public.values() for word in law}
    own_words |= {claim.property for result in made for claim in result.release.claims}
    sources = read_family(kind.__module__.split(".")[2])
    unknown = find_unknown_words(read_page(kind), list_words() | own_words, sources)
    assert not unknown, (
        f"the page of {kind.__name__} names {unknown} in backticks, which is no field, value, claim or loss, and "
        "stands in no example of the page: write its name as in the code, or leave out the backticks"
    )


@pytest.mark.parametrize(
    "sentence", ["With `period`, it reads days.", 'Say `unit = "week"`.', "Losses: `coarse_share`."]
)
def test_a_word_that_means_nothing_is_noticed(sentence: str) -> None:
    known_words = frozenset({"unit", "month", "loss"})
    page = f'With `unit = "month"` the `loss` is small; `day` is printed.\n```text output\nday 1\n```\n{sentence}\n'
    assert len(find_unknown_words(page, known_words, "key = 'first'")) == 1
    assert find_unknown_words(page.replace(sentence, "`first`"), known_words, "key = 'first'") == []
