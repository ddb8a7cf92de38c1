# SPDX-License-Identifier: MIT
"""Whether the claims that anyone can check are those of a certificate's methods, and their sentences about the same.

A claim about other columns, or with another step, is easily kept. So the arguments must be those that a method makes
the claim with, every column of a method must be claimed, and the numbers and columns in a sentence must be the claim's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose
from typing import Any, NamedTuple

from sfumato import protect
from sfumato.errors import quote_names
from sfumato.measure.checks import CHECKS
from sfumato.protect.claim_sentences import COMMON_PROPERTIES
from sfumato.protect.method import Method
from sfumato.runtime.lazy import find_tagged_class

_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
_QUOTED_NAME = re.compile(r'"([^"]*)"')
_SPELLING = 1.1e-3
"""Sentences round numbers to four digits."""


class _StatedMethod(NamedTuple):
    """A method of a certificate, by its class and its public parameters."""

    kind: type[Method]
    parameters: Mapping[str, Any]

    def makes(self, claim: Mapping[str, Any]) -> bool:
        """Whether a claim is one that it makes with these parameters."""
        return claim["property"] in self.kind.file_claims and self.kind.may_claim(self.parameters, claim["arguments"])


def list_argument_problems(body: Mapping[str, Any]) -> list[str]:
    """Claims that no method of the certificate makes, or in other words; columns that a method should claim."""
    methods = [
        _StatedMethod(kind, parameters)
        for parameters in body["methods"]
        if (kind := find_tagged_class("method", str(parameters["method"]))) is not None
    ]
    file_claims = [claim for claim in body["claims"] if not claim["needs_original"]]
    model_properties = {name for model in protect.MODELS for name in model.claim_properties}
    problems = []
    for claim in file_claims:
        if claim["property"] in model_properties or claim["property"] in COMMON_PROPERTIES:
            continue
        claimants = [method for method in methods if method.makes(claim)]
        if not claimants:
            problems.append(f'no method of the certificate claims "{claim["property"]}" with these arguments')
        elif not _is_about_its_arguments(claim, claimants, body["roles"]):
            problems.append(f'the sentence of the claim "{claim["property"]}" names other numbers or columns')
    problems += [
        f'the sentence of the claim "{claim["property"]}" does not state its threshold'
        for claim in body["claims"]
        if (claim["threshold"] or claim["bound"] != "exactly")  # "exactly 0" is worded "No ..." or "Every ..."
        and claim["property"] not in model_properties
        and not _has_number(claim["meaning"], claim["threshold"])
    ]
    for method in methods:
        problems += [*_list_missing_claims(method, file_claims), *_list_unclaimed_columns(method, file_claims)]
    return problems


def _list_missing_claims(method: _StatedMethod, claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Claims that every release of the method makes with these parameters."""
    claimed_names = {
        claim["property"] for claim in claims if claim["property"] in COMMON_PROPERTIES or method.makes(claim)
    }
    for names in method.kind.list_certain_claims(method.parameters):
        if not names & claimed_names:
            yield f"the certificate does not claim {' or '.join(sorted(names))}, which its method always does"


def _list_unclaimed_columns(method: _StatedMethod, claims: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Columns that the method changes by its parameters, and that its claims about columns leave out."""
    changed_columns = set(method.kind.list_change_kinds(method.parameters) or ())
    for name in sorted(method.kind.file_claims):
        check = CHECKS.get(name)
        if check is None or not check.arguments & {"column", "columns"}:
            continue
        columns = {
            column
            for claim in claims
            if claim["property"] == name and method.makes(claim)
            for column in _list_columns(claim["arguments"])
        }
        if missing_columns := sorted(changed_columns - columns):
            yield f'the certificate does not claim "{name}" of {quote_names(missing_columns)}'


def _is_about_its_arguments(
    claim: Mapping[str, Any], claimants: Sequence[_StatedMethod], published_columns: Iterable[str]
) -> bool:
    """Whether the sentence has the columns of the claim and no others, and only numbers that the claim has."""
    columns, sentence = _list_columns(claim["arguments"]), str(claim["meaning"])
    method_columns = {name for kind, parameters in claimants for name in kind.list_columns_in(parameters)}
    quoted_names = set(_QUOTED_NAME.findall(sentence)) & set(published_columns)
    if not quoted_names <= (set(columns) or method_columns):
        return False
    if not all(quote_names([name]) in sentence for name in columns):
        return False
    for name in sorted({*columns, *method_columns}, key=len, reverse=True):
        sentence = sentence.replace(quote_names([name]), "")
    stated_numbers = [1.0, *_list_numbers([claim["threshold"], claim["arguments"], [p for _, p in claimants]])]
    return all(any(_is_spelled_as(n, number) for n in stated_numbers) for number in _read_numbers(sentence))


def _list_columns(arguments: Mapping[str, Any]) -> list[str]:
    return [arguments["column"]] if "column" in arguments else list(arguments.get("columns", ()))


def _has_number(sentence: str, number: float) -> bool:
    return f" {number - 1:g} other" in sentence or any(
        isclose(number, spelled_number, rel_tol=_SPELLING) for spelled_number in _read_numbers(sentence)
    )


def _read_numbers(sentence: str) -> list[float]:
    return [float(text.replace(",", "")) for text in _NUMBER.findall(sentence)]


def _is_spelled_as(number: float, spelled_number: float) -> bool:
    """Whether a sentence spells a number so, or a crowd by the others in it."""
    return isclose(number, spelled_number, rel_tol=_SPELLING) or spelled_number == number - 1


def _list_numbers(value: Any) -> list[float]:
    """Every number in arguments or parameters, also one that is spelled exactly as a text."""
    if isinstance(value, Mapping):
        return _list_numbers(list(value.values()))
    if isinstance(value, list | tuple):
        return [number for part in value for number in _list_numbers(part)]
    if isinstance(value, str):
        return _read_numbers(value) if _NUMBER.fullmatch(value) else []
    return [float(value)] if isinstance(value, int | float) else []
