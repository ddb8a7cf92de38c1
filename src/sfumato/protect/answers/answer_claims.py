# SPDX-License-Identifier: MIT
"""Claims about randomized answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.bound_words import spell_at_most
from sfumato.public.answer_channel import AnswerChannel
from sfumato.release import Claim

ERRORS = 5.0
"""By how many standard errors the published answers may differ from what the probabilities predict."""


def claim_answers(
    name: str, channel: AnswerChannel, person: tuple[str, ...], *, has_given_categories: bool
) -> tuple[Claim, ...]:
    """The claims about a column; `has_given_categories` is whether the custodian named the categories."""
    column = f'"{name}"'
    arguments = {"kind": channel.kind, "p": channel.p, "q": channel.q}
    answers = {
        "column": name,
        "kind": channel.kind,
        "categories": tuple(category for category in channel.categories if category is not None),
        "missing": "answer" if None in channel.categories else "keep",
    }
    claims = [
        claim_epsilon(
            "epsilon",
            channel.compute_epsilon(),
            arguments,
            f"Each published answer in {column} is",
            has_given_categories=has_given_categories,
        ),
        _make_zero_claim("strange_answers", answers, f"Every answer in {column} is one of the categories."),
        Claim(
            property="answers_off_channel",
            threshold=ERRORS,
            bound="at_most",
            measure="answers_off_channel",
            arguments={**answers, "p": channel.p, "q": channel.q, "person": person},
            needs_original=True,
            meaning=f"Every answer in {column} occurs among people with each true answer as often as its "
            "probability says, "
            f"and independently, within {ERRORS:g} standard errors (an honest release fails less than once in a "
            "million times).",
        ),
    ]
    if person:
        meaning = f"The same person with the same true answer always has the same published answer in {column}."
        person_arguments = {"column": name, "person": person}
        claims.append(_make_zero_claim("answers_that_differ", person_arguments, meaning, needs_original=True))
    return tuple(claims)


def _make_zero_claim(measure: str, arguments: Mapping[str, Any], meaning: str, needs_original: bool = False) -> Claim:
    """Claim that a count is zero."""
    return Claim(
        property=measure,
        threshold=0,
        bound="exactly",
        measure=measure,
        arguments=arguments,
        needs_original=needs_original,
        meaning=meaning,
    )


def claim_epsilon(
    name: str, epsilon: float, arguments: Mapping[str, Any], subject: str, *, has_given_categories: bool
) -> Claim:
    """How far answers may depend on the truth; if categories are not given, this holds only if they are public."""
    condition = (
        "" if has_given_categories else ", given that the list of categories, which was taken from the data, is public"
    )
    return Claim(
        property=name,
        threshold=epsilon,
        bound="at_most",
        measure="answer_epsilon",
        arguments=arguments,
        meaning=f"{subject} at most e^{spell_at_most(epsilon)} times as likely under one true answer as under "
        f"another{condition}.",
    )
