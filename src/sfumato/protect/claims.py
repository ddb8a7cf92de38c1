# SPDX-License-Identifier: MIT
"""Claims that several methods make about a table, each checked by its own measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sfumato.release import Claim, Number
from sfumato.table import Missing, Table


def claim_nobody_named(table: Table) -> Claim:
    """No column that names a person is in the release."""
    return Claim(
        property="identifying_columns",
        threshold=0,
        bound="exactly",
        measure="named_columns",
        arguments={"names": table.identifying},
        meaning="No column that names a person is in the release.",
    )


def claim_with_originals(
    measure: str,
    threshold: Number,
    bound: Literal["at_least", "at_most", "exactly"],
    arguments: Mapping[str, Any],
    meaning: str,
) -> Claim:
    """A claim that can only be checked with the originals, named like its measure."""
    return Claim(
        property=measure,
        threshold=threshold,
        bound=bound,
        measure=measure,
        arguments=arguments,
        needs_original=True,
        meaning=meaning,
    )


def claim_nothing_untrue() -> Claim:
    """Every published cell covers its original; only checkable with the originals."""
    return Claim(
        property="untrue_cells",
        threshold=0,
        bound="exactly",
        measure="untrue_cells",
        needs_original=True,
        meaning="Every published cell is the original value, a generalization of it, or suppressed.",
    )


def claim_suppression_within(limit: float, starred_rows: str, left_out: bool = False) -> Claim:
    """The share of suppressed rows is within the limit; omitted rows can only be counted with the originals."""
    return Claim(
        property="suppressed_share",
        threshold=limit,
        bound="at_most",
        measure="left_out_share" if left_out else "suppressed_share",
        arguments={"starred_rows": starred_rows},
        needs_original=left_out,
        meaning="The share of rows that were suppressed is within the limit.",
    )


def guard_blanks(claims: tuple[Claim, ...], published: Table, least: int = 1) -> tuple[Claim, ...]:
    """Claims about crowds, worded for empty cells that match anything, and one about people beside them.

    Rows that match because they are empty are no crowd: after k − 1 whole rows were blanked, any file has classes of k.
    So each row must also fit at least k people of the originals, or `least` of them.
    """
    known = [name for name in published.quasi_identifying if name in published.frame.columns]
    if published.missing is not Missing.MATCHES_ANY or not any(published.frame[name].null_count() for name in known):
        return claims
    crowds = [claim for claim in claims if claim.property == "k_anonymity"]
    least = max([least, *(int(claim.threshold) for claim in crowds)])
    if least < 2 or any(claim.property == "fitting_people" for claim in claims):
        return claims
    starred = {name: claim.arguments[name] for claim in crowds for name in claim.arguments if name == "starred_rows"}
    fitting = claim_with_originals(
        "fitting_people",
        least,
        "at_least",
        starred,
        f"Every published row fits at least {least} people of the originals: they have all the values it shows.",
    )
    return (*(_word_for_blanks(claim) if claim in crowds else claim for claim in claims), fitting)


def _word_for_blanks(claim: Claim) -> Claim:
    others = int(claim.threshold) - 1
    meaning = (
        f"Every published row agrees with at least {others} others wherever both have a quasi-identifying value. An "
        "empty cell agrees with everything, so this alone hides nobody."
    )
    return claim.model_copy(update={"meaning": meaning})
