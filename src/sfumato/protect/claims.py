# SPDX-License-Identifier: MIT
"""Claims that several methods make about a table, each checked by its own measure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from sfumato.bound_words import format_limit
from sfumato.release import Claim, Number
from sfumato.table import Missing, Table


def simplify_number(number: Number) -> Number:
    """A whole number without a decimal point, whatever its type."""
    return int(number) if number == int(number) else number


def spell_others(crowd: int) -> str:
    """How many others there are in a crowd of this size."""
    return "1 other" if crowd == 2 else f"{crowd - 1} others"


def spell_few(crowd: int) -> str:
    """Fewer people than a crowd, and not none."""
    return "1 person" if crowd == 2 else f"1 to {crowd - 1} people"


def claim_nobody_named(table: Table) -> Claim:
    """No column with the role identifying is in the release; whether another one names people, the verdict looks."""
    return Claim(
        property="identifying_columns",
        threshold=0,
        bound="exactly",
        measure="named_columns",
        arguments={"names": table.identifying},
        meaning="No column with the role identifying is in the release.",
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


def claim_count(name: str, measure: str, count: int, noun: str) -> Claim:
    """How many rows, baskets or sequences are published, as anyone can count."""
    published_text = f"1 {noun} is published." if count == 1 else f"{count} {noun}s are published."
    return Claim(property=name, threshold=count, bound="exactly", measure=measure, meaning=published_text)


def claim_others_kept(table: Table, changed_columns: Collection[str]) -> Claim:
    """No published column but the changed ones differs from the originals."""
    kept_columns = tuple(name for name in table.frame.columns if name not in {*changed_columns, *table.identifying})
    return claim_with_originals(
        "kept_cells_changed", 0, "exactly", {"columns": kept_columns}, "No other column was changed."
    )


def claim_nothing_untrue() -> Claim:
    """Every published cell covers its original; only checkable with the originals."""
    return Claim(
        property="untrue_cells",
        threshold=0,
        bound="exactly",
        measure="untrue_cells",
        needs_original=True,
        meaning="Every published cell is the original value, a generalization of it, or suppressed. A label that "
        "covers all values of its column may also stand for a missing one.",
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
        meaning=f"The share of rows that were suppressed is at most {format_limit(limit)}.",
    )


def claim_no_suppression() -> Claim:
    """No row is suppressed."""
    return Claim(
        property="suppressed_share",
        threshold=0,
        bound="exactly",
        measure="suppressed_share",
        arguments={"starred_rows": "suppressed"},
        meaning="No row is suppressed.",
    )


def guard_blanks(
    claims: tuple[Claim, ...], published_table: Table, least: int = 1, recoded_columns: Collection[str] = ()
) -> tuple[Claim, ...]:
    """Claims about crowds, worded for empty cells that match anything, with added claims about people.

    Rows that match only because they are empty do not hide anyone: after k − 1 whole rows were blanked, any file has
    classes of k. So each row must also fit at least k people of the originals, or `least` of them, and these people
    must satisfy what is claimed about sensitive values; not in `recoded_columns`, which no longer have those of the
    originals.
    """
    from sfumato.protect import MODELS  # modules of models import this one

    known_columns = [name for name in published_table.quasi_identifying if name in published_table.frame.columns]
    if published_table.missing is not Missing.MATCHES_ANY or not any(
        published_table.frame[name].null_count() for name in known_columns
    ):
        return claims
    if any(claim.property.startswith("fitting_") for claim in claims):
        return claims
    crowds = [claim for claim in claims if claim.property == "k_anonymity"]
    model_properties = {name for model in MODELS for name in model.claim_properties}
    values = [claim for claim in claims if claim.property in model_properties and "column" in claim.arguments]
    worded_claims = tuple(explain_blanks(claim) if claim in (*crowds, *values) else claim for claim in claims)
    least = max([least, *(int(claim.threshold) for claim in crowds)])
    guards = [_claim_fitting_people(least, [*crowds, *values])] if least > 1 else []
    guards += [_claim_fitting_values(claim) for claim in values if claim.arguments["column"] not in recoded_columns]
    return (*worded_claims, *guards)


def _claim_fitting_people(least: int, claims: Sequence[Claim]) -> Claim:
    star_arguments = {
        name: claim.arguments[name] for claim in claims for name in claim.arguments if name == "starred_rows"
    }
    return claim_with_originals(
        "fitting_people",
        least,
        "at_least",
        star_arguments,
        f"Every published row fits at least {least} people of the originals: they have all the values it shows.",
    )


def _claim_fitting_values(claim: Claim) -> Claim:
    meaning = f"It also holds if the class of a row is all the people of the originals whom it fits: {claim.meaning}"
    arguments = {**claim.arguments, "of": claim.measure.removesuffix("_with_originals")}
    changed_fields = {"property": "fitting_values", "measure": "fitting_values", "needs_original": True}
    return claim.model_copy(update={**changed_fields, "arguments": arguments, "meaning": meaning})


def explain_blanks(claim: Claim) -> Claim:
    """A claim about classes, worded for empty cells that match anything."""
    caveat_text = "An empty cell agrees with everything, so this alone hides nobody."
    others_text = spell_others(int(claim.threshold))
    meaning = (
        f"Every published row agrees with at least {others_text} wherever both have a quasi-identifying value."
        if claim.property == "k_anonymity"
        else f"{claim.meaning} A class is all rows that agree wherever both have a quasi-identifying value."
    )
    return claim.model_copy(update={"meaning": f"{meaning} {caveat_text}"})
