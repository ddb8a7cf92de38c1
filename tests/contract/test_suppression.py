# SPDX-License-Identifier: MIT
"""What every method states about suppressed rows, and about the count at the top of its report, is counted again."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.protect import METHODS
from sfumato.suppression import SuppressedRows
from sfumato.table import Missing, Table
from tests.contract.examples import METHOD_EXAMPLES, Example
from tests.contract.mode_examples import MODE_EXAMPLES
from tests.contract.releases import make_all, make_once

EXAMPLES = (*METHOD_EXAMPLES, *MODE_EXAMPLES)


def count_rows_of_stars(table: Table) -> int:
    """How many rows show nothing in any quasi-identifying column."""
    names = table.quasi_identifying
    return sum(all(row[name] == "*" for name in names) for row in table.frame.iter_rows(named=True)) if names else 0


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_what_is_stated_about_suppressed_rows_is_so(example: Example) -> None:
    result = make_once(example)
    release, stated = result.release, result.release.suppression
    method = release.method
    cure = "state what was done in the `suppression` of its release (suppression.py)"
    if example.subject.gives not in ("table", "sequences") or release.are_rows_drawn:
        assert stated.row_count == 0, f"{method.method} publishes no rows of people: {cure}"
        return
    if not isinstance(release.data, Table):
        missing_rows = len(result.data) - len(release.data)
        assert stated.row_count == missing_rows, f"{missing_rows} sequences are not in the release: {cure}"
        assert method.explain_left_out(method.describe()) or not missing_rows
        return
    starred_count = count_rows_of_stars(release.data)
    left_out_count = len(result.data) - len(release.data)
    if stated.kind is SuppressedRows.NONE:
        is_class = not any(change.starred for change in release.changes)
        assert is_class, f"{method.method} stars suppressed rows: {cure}"
        explained = stated.row_count if method.explain_left_out(method.describe()) else 0
        assert left_out_count == explained or stated.drops_missing, f"{left_out_count} rows are left out: {cure}"
        assert explained == stated.row_count, f"{method.method} suppresses rows that it does not explain: {cure}"
    else:
        assert stated.row_count + stated.starred_count == starred_count, f"{starred_count} rows hold stars only: {cure}"
    assert not stated.drops_missing or result.data.missing is Missing.DROP


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
