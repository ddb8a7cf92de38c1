# SPDX-License-Identifier: MIT
"""The sentences of claims that follow from the claim, or from the public parameters of the methods.

Anyone can compare those of a certificate with them. A claim about the originals is published without its arguments, so
its columns are those that the methods name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.protect.anonymity.suppressed_rows import claim_nothing_shown
from sfumato.protect.anonymity.top_code import Limits
from sfumato.protect.claims import (
    claim_no_suppression,
    claim_nobody_named,
    claim_nothing_untrue,
    claim_others_kept,
    claim_suppression_within,
)
from sfumato.protect.method import Method
from sfumato.table import Table

COMMON_PROPERTIES = ("identifying_columns", "shown_in_suppressed", "suppressed_share")
"""Properties that anyone can check and that many methods claim."""


def list_common_meanings(claim: Mapping[str, Any], outline: Table, methods: Sequence[Method] = ()) -> frozenset[str]:
    """The sentences that a claim may have beside these methods; empty if only its own method knows them."""
    name = str(claim["property"])
    if name in _MEANINGS:
        return _MEANINGS[name](claim, outline)
    stated_claims = [own_claim for method in methods for own_claim in method.state_claims(outline)]
    claims = (*stated_claims, claim_others_kept(outline, ()))
    return frozenset({own_claim.meaning for own_claim in claims if own_claim.property == name})


def _word_suppression(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    no_suppression = claim_no_suppression()
    within_limit = claim_suppression_within(claim["threshold"], "class")
    return frozenset({(no_suppression if claim["bound"] == no_suppression.bound else within_limit).meaning})


def _word_limits(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    arguments = claim["arguments"]
    limits = Limits(arguments.get("floor"), arguments.get("cap"))
    promises = limits.list_claims(arguments["column"], claim["threshold"])
    return frozenset({promise.meaning for promise in promises if promise.property == claim["property"]})


_MEANINGS: Mapping[str, Callable[[Mapping[str, Any], Table], frozenset[str]]] = {
    "identifying_columns": lambda _, outline: frozenset({claim_nobody_named(outline).meaning}),
    "beyond_limits": _word_limits,
    "rows_at_limits": _word_limits,
    "untrue_cells": lambda *_: frozenset({claim_nothing_untrue().meaning}),
    "shown_in_suppressed": lambda *_: frozenset({promise.meaning for promise in claim_nothing_shown(("",))}),
    "suppressed_share": _word_suppression,
}
"""Property → its sentences, from the claim."""
