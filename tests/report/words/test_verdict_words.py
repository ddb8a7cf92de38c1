# SPDX-License-Identifier: MIT
"""What a data protection officer asks about a release, answered from the record."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.report.words.verdict_words import describe_verdict, list_officer_answers


def record_changes(roles: dict[str, str], **kinds: str) -> dict[str, Any]:
    """A record of a table with a change for each named column."""
    changes = [{"column": name, "kind": kinds.get(name, "kept"), "starred": 0} for name in roles]
    return {
        "data": {"shape": "table"},
        "roles": roles,
        "changes": changes,
        "verdict": {"accepted": {"visit": "numbers are drawn anew every year"}},
    }


def answer_columns(record: dict[str, Any]) -> str:
    answers = {answer.title: answer.answer for answer in list_officer_answers(record)}
    return answers["Columns that no method changes"]


def test_unchanged_columns_are_listed_with_role_or_reason() -> None:
    roles = {"age": "quasi_identifying", "zip": "quasi_identifying", "visit": "insensitive"}
    assert answer_columns(record_changes(roles, age="rounded")) == (
        '"zip" (quasi-identifying), "visit" (numbers are drawn anew every year). Some cells of other columns may also '
        "be unchanged."
    )
    assert answer_columns(record_changes(roles)).startswith('"age" (quasi-identifying), ')
    assert "Some cells" not in answer_columns(record_changes(roles))


def test_a_release_whose_columns_are_all_changed_has_none() -> None:
    record = record_changes({"age": "quasi_identifying"}, age="rounded")
    assert answer_columns(record) == "none. Some cells of changed columns may still be unchanged."


@pytest.mark.parametrize("headline", [{"headline": "Passed."}, {}], ids=["internal", "public"])
def test_a_release_that_nobody_attacked_has_no_residual_risk_to_tell(headline: dict[str, str]) -> None:
    """The status stood there: "Residual risk: Passed."."""
    record = record_changes({"age": "quasi_identifying"}, age="synthetic")
    verdict = {
        "status": "passed",
        "warnings": (),
        "unchecked": (),
        "unique_rows": (),
        "not_counted": (),
        "accepted": {},
    }
    record |= {"verdict": {**verdict, **headline}, "claims": (), "attacks": (), "created": "2026-02-03T04:05:06+00:00"}
    answer = describe_verdict(record)
    assert answer["headline"] == "Passed."
    assert answer["risk"] == "Not measured: no attack was tried, and no unique rows were counted."
