# SPDX-License-Identifier: MIT
"""What a report says of rows that one method leaves out, beside another that suppresses rows."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.losses import LOSSES
from sfumato.protect.claims import claim_suppression_within
from sfumato.report import content
from sfumato.report.words.findings import list_losses
from sfumato.workflow.chain import LEFT_OUT_ROWS, _exempt_left_out_rows
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import make_once


def describe_body(suppressed: int | None, published: int, share: float | None) -> dict[str, Any]:
    claims = [] if share is None else [{"property": "suppressed_share", "threshold": 0.1, "measured": share}]
    return {"suppression": {"rows": suppressed}, "data": {"rows": published}, "claims": claims, "methods": []}


@pytest.mark.parametrize(
    ("suppressed", "published", "share", "words"),
    [
        (20, 200, 0.1, "10 % of all rows"),  # stars, which are in the release
        (20, 180, 0.1, "10 % of all rows"),  # left out
        (180, 189, 0.0, ""),  # another method left them out, and the share is of what it left
        (180, 189, None, ""),
    ],
)
def test_a_share_of_rows_is_that_of_the_number_beside_it(
    suppressed: int, published: int, share: float | None, words: str
) -> None:
    note = content._describe_suppressed_share(describe_body(suppressed, published, share))
    assert note.replace("\u00a0", " ") == words
    dropping = {**describe_body(suppressed, published, share), "missing": "drop"}
    note = content._describe_suppressed_share(dropping)  # who was left out before is not among the rows
    assert note.replace("\u00a0", " ") == words.replace("all rows", "rows with no missing value")


def test_rows_that_may_be_left_out_have_a_section() -> None:
    """Their number does not leave, so that it is None."""
    assert content.may_suppress_rows(describe_body(None, 189, None))
    assert not content.may_suppress_rows(describe_body(0, 189, None))


def test_what_is_left_says_that_rows_left_out_are_lost() -> None:
    body = {**describe_body(180, 189, None), "utility": {"loss": 0.5}, "losses": {}}
    assert "left out" not in content._list_kept_tiles(body)[0].note
    body["utility"]["published_loss"] = 0.0
    assert content._list_kept_tiles(body)[0].note.endswith("; rows left out count as lost")


def test_each_loss_says_which_rows_it_is_about() -> None:
    """None was suppressed although 21 were left out for a missing cell; and "the same" was the line above it."""
    assert LOSSES["suppressed_rows"].meaning.startswith("Rows that fit no class: left out, or published with")
    assert LOSSES["published_loss"].meaning == "The loss without rows that are not in the release."


@pytest.mark.parametrize("dropped_rows", [0, 7])
def test_the_loss_says_how_people_without_a_value_count(dropped_rows: int) -> None:
    """The method said 32 %, the file 48 % and 30 %, and nothing said why."""
    body = {
        **describe_body(0, 189, 0.0),
        "methods": [{"method": "generalize"}],
        "changes": [],
        "heights": {},
        "losses": {"loss": 0.32, "discernibility": 9.0, "dropped_rows": dropped_rows},
        "utility": {"loss": 0.48, "published_loss": 0.3},
    }
    rows = list_losses(body)
    assert [row["title"] for row in rows[:2]] == ["Loss", "Loss of the published rows"]
    assert ("count as 100 % on the file" in rows[0]["meaning"]) == bool(dropped_rows)


def test_a_share_of_suppressed_rows_says_whose_rows_do_not_count() -> None:
    claims = (claim_suppression_within(0.1, "suppressed"),)
    examples = {example.name: example for example in METHOD_EXAMPLES}
    left_out, whole = (make_once(examples[name]).release for name in ("generalize, rows left out", "round numbers"))
    assert _exempt_left_out_rows(left_out, claims)[0].meaning == f"{claims[0].meaning}{LEFT_OUT_ROWS}"
    assert _exempt_left_out_rows(whole, claims) == claims
