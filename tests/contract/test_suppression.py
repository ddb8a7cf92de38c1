# SPDX-License-Identifier: MIT
"""What every method states about suppressed rows, and about the count at the top of its report, is counted again."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.suppression import SuppressedRows
from sfumato.table import Missing, Table
from tests.contract.claim_words import is_spelled, list_numbers, read_numbers
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import Made, make_all, make_once

EXAMPLES = (*METHOD_EXAMPLES, *MODE_EXAMPLES)


def count_rows_of_stars(table: Table) -> int:
    """How many rows show nothing in any quasi-identifying column."""
    names = table.quasi_identifying
    return sum(all(row[name] == "*" for name in names) for row in table.frame.iter_rows(named=True)) if names else 0


LEFT_OUT = (
    "it leaves rows out, and its `explain_left_out` says nothing: let it return a sentence for the certificate, which "
    "rows are not in the release, from the public parameters alone"
)


def explain_wrong_limit(result: Made) -> str:
    """What is wrong with the largest share of rows that a method may suppress, and the cure; empty if nothing is."""
    release, method = result.release, result.release.method
    limit, may_star_rows = method.find_suppression_limit(method.describe()), method.may_star_rows(method.describe())
    shares = {float(claim.threshold) for claim in release.claims if claim.property == "suppressed_share"}
    if limit is None or (may_star_rows and not shares):  # such rows cannot be told from suppressed ones
        return ""
    if shares != {limit}:
        return (
            f"its find_suppression_limit is {limit:g}, and it claims {sorted(shares)}: claim it by "
            "claim_suppression_within (protect/claims.py), or leave it out"
        )
    share = release.suppression.row_count / len(result.data)
    return (
        f"its find_suppression_limit is {limit:g}, and {share:.3g} of the rows are suppressed or left out: keep the "
        "limit, or leave it out"
        if share > limit
        else ""
    )


def explain_wrong_number(result: Made) -> str:
    """A number in what is said of rows that are left out which is no public field, and the cure; empty if none is."""
    method = result.release.method
    sentence = method.explain_left_out(method.describe())
    fields = [*list_numbers([getattr(method, field) for field in method.public_fields]), 0.0, 1.0]
    names = result.data.frame.columns if isinstance(result.data, Table) else ()
    strange = [text for text in read_numbers(sentence, names) if not any(is_spelled(field, text) for field in fields)]
    return (
        f'its explain_left_out says "{sentence}", and {strange[0]} is none of its public fields: take the number from '
        "the parameters"
        if strange
        else ""
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_what_is_stated_about_suppressed_rows_is_so(example: Example) -> None:
    result = make_once(example)
    release, stated = result.release, result.release.suppression
    method = release.method
    wrong = explain_wrong_limit(result) or explain_wrong_number(result)
    assert not wrong, f"{type(method).__name__}: {wrong}"
    cure = "state what was done in the `suppression` of its release (suppression.py)"
    if example.subject.gives not in ("table", "sequences") or release.are_rows_drawn:
        assert stated.row_count == 0, f"{method.method} publishes no rows of people: {cure}"
        return
    if not isinstance(release.data, Table):
        missing_rows = len(result.data) - len(release.data)
        assert stated.row_count == missing_rows, f"{missing_rows} sequences are not in the release: {cure}"
        assert method.explain_left_out(method.describe()) or not missing_rows, f"{LEFT_OUT}: {method.method}"
        return
    starred_count = count_rows_of_stars(release.data)
    left_out_count = len(result.data) - len(release.data)
    if stated.kind is SuppressedRows.NONE:
        is_class = not any(change.starred for change in release.changes)
        assert is_class, f"{method.method} stars suppressed rows: {cure}"
        has_reason = bool(method.explain_left_out(method.describe())) or stated.drops_missing
        assert has_reason or not (stated.row_count and left_out_count), f"{method.method}: {LEFT_OUT}"
        explained = stated.row_count if method.explain_left_out(method.describe()) else 0
        assert left_out_count == explained or stated.drops_missing, f"{left_out_count} rows are left out: {cure}"
        assert explained == stated.row_count, f"{method.method} suppresses rows that it does not explain: {cure}"
    else:
        assert stated.row_count + stated.starred_count == starred_count, f"{starred_count} rows hold stars only: {cure}"
    assert not stated.drops_missing or result.data.missing is Missing.DROP


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_rows_are_said_to_be_left_out_only_if_there_are_any(kind: type[sf.Method]) -> None:
    """The parameters tell which rows may be gone, not that some are: of 0 rows it was said that they are left out."""
    for result in make_all(kind):
        sentence = kind.explain_left_out(result.release.method.describe())
        cure = 'let its explain_left_out say ", if there are any, "'
        assert not sentence or ", if there are any, are not in the release" in sentence, f"{kind.__name__}: {cure}"


def test_a_method_that_may_suppress_no_row_leaves_none_out() -> None:
    method = sf.Generalize(models=sf.KAnonymity(k=2), suppressed_rows="drop")
    assert sf.Generalize.explain_left_out(method.describe()) == ""


def test_the_examples_show_every_kind_of_suppression() -> None:
    kinds = {make_once(example).release.suppression.kind for example in EXAMPLES}
    assert {SuppressedRows.NONE, SuppressedRows.EMPTY} <= kinds


@pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)
def test_a_headline_count_adds_up_losses(kind: type[sf.Method]) -> None:
    if kind.headline_count is None:
        return
    for result in make_all(kind):
        counts = {name: result.release.losses.get(name) for name in kind.headline_count.losses}
        assert all(isinstance(count, int) for count in counts.values()), (
            f"{kind.__name__}: its headline_count names {', '.join(counts)}; each must be a whole number in its losses"
        )
        assert "{" not in kind.headline_count.note.format(**counts)
