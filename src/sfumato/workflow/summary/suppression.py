# SPDX-License-Identifier: MIT
"""Which rows were suppressed, and why that discloses nothing."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from sfumato.release import Claim, Release
from sfumato.table import Missing
from sfumato.workflow.policy import Policy


def get_starred_rows(release: Release) -> Literal["class", "suppressed"]:
    """Whether rows of stars are suppressed rows or an ordinary class, as the methods state."""
    return "suppressed" if any(change.starred for change in release.changes) else "class"


class SuppressionFacts(NamedTuple):
    """What the account of suppressed rows follows from."""

    row_count: int
    """How many rows were suppressed."""
    starred_count: int
    """How many rows are stars because nothing finer fits them."""
    is_dropping: bool
    """Whether suppressed rows are left out."""
    left_out: str
    """Why methods leave other rows out; empty if none does."""
    is_starred: bool
    """Whether suppressed rows are rows of stars."""
    drops_missing: bool
    """Whether rows with a missing cell are left out."""
    has_hidden_values: bool
    """Whether a claim says that suppressed rows show no sensitive value."""
    has_separate_count: bool
    """Whether a claim about classes leaves suppressed rows out."""


def summarize_suppression(policy: Policy, release: Release) -> dict[str, Any]:
    """How many rows were suppressed, whether they are visible, and why that discloses nothing."""
    methods, losses = policy.methods(), release.losses
    left_out = " ".join(method.leaves_out for method in methods if method.leaves_out)
    return describe_suppression(
        SuppressionFacts(
            row_count=int(losses.get("suppressed_rows", 0)) + int(losses.get("dropped_sequences", 0)) * bool(left_out),
            starred_count=int(losses.get("starred_rows", 0)),
            is_dropping=any(getattr(method, "suppressed_rows", None) == "drop" for method in methods),
            left_out=left_out,
            is_starred=get_starred_rows(release) == "suppressed",
            drops_missing="dropped_rows" in losses and release.data.missing is Missing.DROP,
            has_hidden_values=any(claim.property == "shown_in_suppressed" for claim in release.claims),
            has_separate_count=any(_is_counted_apart(claim) for claim in release.claims),
        )
    )


def describe_suppression(facts: SuppressionFacts) -> dict[str, Any]:
    """The same from the facts alone: a certificate states them, too."""
    row_count = facts.row_count
    if facts.is_dropping:
        return {"rows": row_count, "seen": False, "safe": True, "why": "Suppressed rows are not in the release."}
    if facts.left_out:
        return {"rows": row_count, "seen": False, "safe": True, "why": facts.left_out}
    if not facts.is_starred:
        drop_note = " Rows with a missing quasi-identifying value are not in the release." * facts.drops_missing
        why = _describe_starred_class(facts.starred_count) + drop_note
        return {"rows": row_count, "seen": True, "safe": True, "why": why}
    rows = "1 suppressed row shows" if row_count == 1 else f"{row_count} suppressed rows show"
    if facts.has_hidden_values:
        why = f"The {rows} neither quasi-identifying nor sensitive values."
    elif facts.has_separate_count:
        why = f"The {rows} no quasi-identifying value, and no column is sensitive."
    else:
        why = (
            f"The {row_count} suppressed rows look alike in every quasi-identifying column and satisfy every model "
            f"together: a person who fits no other class is one of {row_count}."
        )
    return {"rows": row_count, "seen": True, "safe": True, "why": why}


def _describe_starred_class(row_count: int) -> str:
    if not row_count:
        return "No row was suppressed."
    rows = "1 row is" if row_count == 1 else f"{row_count} rows are"
    return (
        f'{rows} "*" in every quasi-identifying column, since nothing finer fits them: they are a class like any other '
        "and satisfy every model."
    )


def _is_counted_apart(claim: Claim) -> bool:
    """Whether a claim about classes leaves suppressed rows out."""
    return claim.property != "suppressed_share" and claim.arguments.get("starred_rows") == "suppressed"
