# SPDX-License-Identifier: MIT
"""Which rows were suppressed, and why that discloses nothing."""

from __future__ import annotations

from typing import Any, Literal

from sfumato.release import Claim, Release
from sfumato.table import Missing
from sfumato.workflow.policy import Policy


def get_starred_rows(release: Release) -> Literal["class", "suppressed"]:
    """Whether rows of stars are suppressed rows or an ordinary class, as the methods state."""
    return "suppressed" if any(change.starred for change in release.changes) else "class"


def summarize_suppression(policy: Policy, release: Release) -> dict[str, Any]:
    """How many rows were suppressed, whether they are visible, and why that discloses nothing."""
    row_count = int(release.losses.get("suppressed_rows", 0))
    if any(getattr(method, "suppressed_rows", None) == "drop" for method in policy.methods()):
        return {"rows": row_count, "seen": False, "safe": True, "why": "Suppressed rows are not in the release."}
    left_out = " ".join(method.leaves_out for method in policy.methods() if method.leaves_out)
    if left_out:
        dropped_count = int(release.losses.get("dropped_sequences", 0))
        return {"rows": row_count + dropped_count, "seen": False, "safe": True, "why": left_out}
    if get_starred_rows(release) != "suppressed":
        drops = "dropped_rows" in release.losses and release.data.missing is Missing.DROP
        drop_note = " Rows with a missing quasi-identifying value are not in the release." if drops else ""
        why = _describe_starred_class(int(release.losses.get("starred_rows", 0))) + drop_note
        return {"rows": row_count, "seen": True, "safe": True, "why": why}
    rows = "1 suppressed row shows" if row_count == 1 else f"{row_count} suppressed rows show"
    has_hidden_values = any(claim.property == "shown_in_suppressed" for claim in release.claims)
    has_separate_count = any(_is_counted_apart(claim) for claim in release.claims)
    if has_hidden_values:
        why = f"The {rows} neither quasi-identifying nor sensitive values."
    elif has_separate_count:
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
