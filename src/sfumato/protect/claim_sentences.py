# SPDX-License-Identifier: MIT
"""The sentences of claims that follow from the claim alone: anyone can compare those of a certificate with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.protect.anonymity.group_rare_values import claim_frequent_values
from sfumato.protect.anonymity.round_numbers import claim_multiples
from sfumato.protect.anonymity.suppressed_rows import claim_nothing_shown
from sfumato.protect.anonymity.top_code import Limits
from sfumato.protect.claims import (
    claim_no_suppression,
    claim_nobody_named,
    claim_nothing_untrue,
    claim_suppression_within,
)
from sfumato.table import Table

COMMON_PROPERTIES = ("identifying_columns", "shown_in_suppressed", "suppressed_share")
"""Properties that anyone can check and that many methods claim."""


def list_common_meanings(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    """The sentences that a claim may have; empty if only its method knows them."""
    list_meanings = _MEANINGS.get(str(claim["property"]))
    return frozenset() if list_meanings is None else list_meanings(claim, outline)


def _word_suppression(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    no_suppression = claim_no_suppression()
    within_limit = claim_suppression_within(claim["threshold"], "class")
    return frozenset({(no_suppression if claim["bound"] == no_suppression.bound else within_limit).meaning})


def _word_limits(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    arguments = claim["arguments"]
    limits = Limits(arguments.get("floor"), arguments.get("cap"))
    promises = limits.claims(arguments["column"], claim["threshold"])
    return frozenset({promise.meaning for promise in promises if promise.property == claim["property"]})


_MEANINGS: Mapping[str, Callable[[Mapping[str, Any], Table], frozenset[str]]] = {
    "identifying_columns": lambda _, outline: frozenset({claim_nobody_named(outline).meaning}),
    "beyond_limits": _word_limits,
    "rows_at_limits": _word_limits,
    "numbers_between_steps": lambda claim, _: frozenset(
        {claim_multiples(claim["arguments"]["columns"], claim["arguments"]["step"]).meaning}
    ),
    "rows_with_each_value": lambda claim, _: frozenset(
        {claim_frequent_values(claim["arguments"]["columns"], claim["threshold"]).meaning}
    ),
    "untrue_cells": lambda *_: frozenset({claim_nothing_untrue().meaning}),
    "shown_in_suppressed": lambda *_: frozenset({promise.meaning for promise in claim_nothing_shown(("",))}),
    "suppressed_share": _word_suppression,
}
"""Property → its sentences."""
