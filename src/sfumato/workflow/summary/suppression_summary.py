# SPDX-License-Identifier: MIT
"""Which rows were suppressed, and why that discloses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from sfumato.protect.method import Method
from sfumato.release import Release
from sfumato.suppression import SuppressedRows, Suppression
from sfumato.workflow.policy import Policy

_DROP_NOTE = " Rows that lack a quasi-identifying value in the originals, if there are any, are not in the release."


def classify_starred_rows(release: Release) -> Literal["class", "suppressed"]:
    """Whether rows of stars are suppressed rows or an ordinary class, as the methods state."""
    return "suppressed" if any(change.starred for change in release.changes) else "class"


def summarize_suppression(policy: Policy, release: Release) -> dict[str, Any]:
    """How many rows were suppressed, whether they are visible, and why that discloses nothing."""
    methods = policy.methods
    left_out = explain_left_out((type(method), method.describe()) for method in methods)
    return describe_suppression(release.suppression, left_out)


def explain_left_out(methods: Iterable[tuple[type[Method], Any]]) -> str:
    """Which rows methods with these public parameters may leave out; empty if none does."""
    return " ".join(sentence for method, parameters in methods if (sentence := method.explain_left_out(parameters)))


def describe_suppression(suppression: Suppression, left_out: str) -> dict[str, Any]:
    """The same from the statements alone: a certificate makes them, too."""
    count = suppression.row_count
    if left_out:
        explanation = left_out + _DROP_NOTE * suppression.drops_missing
        return {"rows": count, "seen": False, "safe": True, "why": explanation}
    return {"rows": count, "seen": True, "safe": True, "why": _explain_visible_rows(suppression)}


def _explain_visible_rows(suppression: Suppression) -> str:
    count = suppression.row_count
    rows = "1 suppressed row shows" if count == 1 else f"{count} suppressed rows show"
    match suppression.kind:
        case SuppressedRows.NONE:
            return _describe_starred_class(suppression.starred_count) + _DROP_NOTE * suppression.drops_missing
        case SuppressedRows.EMPTY:
            return f"The {rows} neither quasi-identifying nor sensitive values."
        case SuppressedRows.APART:
            return f"The {rows} no quasi-identifying value, and no column is sensitive."
        case SuppressedRows.TOGETHER:
            return (
                f"The {count} suppressed rows look alike in every quasi-identifying column and satisfy every model "
                f"together: a person who fits no other class is one of {count}."
            )


def _describe_starred_class(row_count: int) -> str:
    if not row_count:
        return "No row was suppressed."
    rows = "1 row is" if row_count == 1 else f"{row_count} rows are"
    return (
        f'{rows} "*" in every quasi-identifying column, since nothing finer fits them: they are a class like any other '
        "and satisfy every model."
    )
