# SPDX-License-Identifier: MIT
"""The sentences of claims that follow from the claim, or from the public parameters of the methods.

Anyone can compare those of a certificate with them. A claim about the originals is published without its arguments, so
its columns are those that the methods name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.protect.anonymity.group_rare_values import GroupRareValues, claim_frequent_values
from sfumato.protect.anonymity.round_numbers import RoundNumbers, claim_multiples
from sfumato.protect.anonymity.suppressed_rows import claim_nothing_shown
from sfumato.protect.anonymity.top_code import Limits, TopCode
from sfumato.protect.claims import (
    claim_no_suppression,
    claim_nobody_named,
    claim_nothing_untrue,
    claim_others_kept,
    claim_suppression_within,
)
from sfumato.protect.method import Method
from sfumato.protect.synthesis.synthesize import Synthesize
from sfumato.table import Table

COMMON_PROPERTIES = ("identifying_columns", "shown_in_suppressed", "suppressed_share")
"""Properties that anyone can check and that many methods claim."""


def list_common_meanings(claim: Mapping[str, Any], outline: Table, methods: Sequence[Method] = ()) -> frozenset[str]:
    """The sentences that a claim may have beside these methods; empty if only its own method knows them."""
    name = str(claim["property"])
    if name in _MEANINGS:
        return _MEANINGS[name](claim, outline)
    return _METHOD_MEANINGS[name](name, outline, methods) if name in _METHOD_MEANINGS else frozenset()


def _word_suppression(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    no_suppression = claim_no_suppression()
    within_limit = claim_suppression_within(claim["threshold"], "class")
    return frozenset({(no_suppression if claim["bound"] == no_suppression.bound else within_limit).meaning})


def _word_limits(claim: Mapping[str, Any], outline: Table) -> frozenset[str]:
    arguments = claim["arguments"]
    limits = Limits(arguments.get("floor"), arguments.get("cap"))
    promises = limits.claims(arguments["column"], claim["threshold"])
    return frozenset({promise.meaning for promise in promises if promise.property == claim["property"]})


def _word_changed_cells(name: str, outline: Table, methods: Sequence[Method]) -> frozenset[str]:
    changing_methods = [method for method in methods if isinstance(method, RoundNumbers | GroupRareValues)]
    claims = [
        claim
        for method in changing_methods
        for claim in method.state_claims(outline, tuple(dict.fromkeys(method.columns)))
    ]
    # The sentence about cells within the limits leaves the limits out.
    coding_methods = [method for method in methods if isinstance(method, TopCode)]
    claims += [
        claim
        for method in coding_methods
        for column in method.columns
        for claim in Limits(0, None).claims(column, method.k)
    ]
    return frozenset({claim.meaning for claim in claims if claim.property == name})


def _word_kept_cells(name: str, outline: Table, methods: Sequence[Method]) -> frozenset[str]:
    """What several methods say in the same words; one that draws has words of its own."""
    if any(isinstance(method, Synthesize) for method in methods):
        return frozenset()
    return frozenset({claim_others_kept(outline, ()).meaning})


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
"""Property → its sentences, from the claim."""
_METHOD_MEANINGS: Mapping[str, Callable[[str, Table, Sequence[Method]], frozenset[str]]] = {
    "cells_grouped_wrongly": _word_changed_cells,
    "kept_cells_changed": _word_kept_cells,
    "largest_rounding": _word_changed_cells,
    "miscoded_cells": _word_changed_cells,
}
"""Property → its sentences, from the parameters of the methods."""
