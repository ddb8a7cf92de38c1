# SPDX-License-Identifier: MIT
"""Checks follow the rows that were published, rows are in their order or in that of chance, counts of cells are counts,
and footprints say what blanking is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.change_kinds import CellDifference
from sfumato.measure import checks
from sfumato.measure.checks import CHECKS, Evidence, measure_claim
from sfumato.protect import METHODS
from sfumato.release import Claim, Number
from tests.contract.column_pairs import pair_column
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released

parametrize_kinds = pytest.mark.parametrize("kind", METHODS, ids=lambda kind: kind.__name__)


def list_cell_claims(result: Made) -> Iterator[Claim]:
    """Claims that compare cells with the originals; of rows that were drawn, which have none, only that something is so
    in no cell."""
    for claim in result.release.claims if result.is_table else ():
        check = CHECKS[claim.measure]
        is_count = claim.bound == "exactly" and claim.threshold == 0
        is_compared = is_count or (not result.release.are_rows_drawn and looks_at_cells(result, claim))
        if check.needs_original and check.private is None and is_compared:
            yield claim


def looks_at_cells(result: Made, claim: Claim) -> bool:
    """Whether a check measures something else if half of the originals are as the first: else it counts rows alone."""
    size = len(result.data)
    alike = result.data.with_frame(result.data.frame[[*[0] * (size // 2), *range(size // 2, size)]])
    tables = (result.data, alike)
    try:
        measured = [sf.check(replace(result.release, claims=(claim,)), table)[0].measured for table in tables]
    except (sf.SfumatoError, ValueError):
        return True
    return measured[0] != measured[1]


def find_check_of_positions(result: Made, claim: Claim) -> str:
    """What a check measures otherwise if it compares published rows with other originals than their own; else empty.

    Each original follows a row that an earlier method left out, which changes nothing about cells, groups or counts of
    those that are left.
    """
    rows, size = result.release.details.rows, len(result.data)
    owners = np.arange(size) if rows is None else np.asarray(rows)
    mixed = result.data.frame[np.column_stack([np.arange(size)[::-1], np.arange(size)]).ravel()]
    details = replace(result.release.details, rows=2 * owners + 1)
    own_details = replace(result.release.details, rows=owners)
    right = measure_claim(claim, Evidence(result.release.data, result.data, owners, None, own_details))
    try:
        finding = measure_claim(
            claim, Evidence(result.release.data, result.data.with_frame(mixed), 2 * owners + 1, None, details)
        )
    except sf.DataError as refusal:  # as many originals as published rows are wanted
        return f"refuses them ({refusal})"
    if finding.measured == pytest.approx(right.measured, rel=1e-9) and finding.holds == right.holds:
        return ""
    return f"measures {finding.measured} instead of {right.measured}"


@parametrize_kinds
def test_a_check_compares_rows_with_their_own_originals(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        for claim in list_cell_claims(result):
            otherwise = find_check_of_positions(result, claim)
            assert not otherwise, (
                f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" {otherwise} if the '
                "originals have more rows than are published: an earlier method may leave rows out, so look only at "
                "`evidence.find_original_rows()`, or at `select_originals(original, rows)` of measure/alignment.py, "
                "when you compare cells, and when you count values or form groups"
            )


def test_a_check_of_positions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    for name in ("kept_cells_changed", "largest_rounding"):
        claim = next(claim for claim in list_cell_claims(result) if claim.measure == name)
        assert not find_check_of_positions(result, claim)
        whole = CHECKS[claim.measure]

        def forget_rows(
            evidence: Evidence, arguments: Mapping[str, Any], measure: checks.Measure = whole.measure
        ) -> Number:
            head = evidence.original.with_frame(evidence.original.frame.head(len(evidence.published)))
            return measure(replace(evidence, original=head, rows=None), arguments)

        monkeypatch.setitem(checks._LOADED, claim.measure, replace(whole, measure=forget_rows))
        assert find_check_of_positions(result, claim)


def test_a_check_of_groups_that_forgets_the_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is promised of groups or counts, which a part of the rows would not show."""
    made = make_once(next(example for example in METHOD_EXAMPLES if example.name == "swap confidential"))
    for name in ("uniques_off_share", "groups_unbroken", "marginal_shift"):
        claim = next(claim for claim in list_cell_claims(made) if claim.measure == name)
        whole = CHECKS[name]
        assert not find_check_of_positions(made, claim)

        def forget_rows(
            evidence: Evidence, arguments: Mapping[str, Any], measure: checks.Measure = whole.measure
        ) -> Number:
            return measure(replace(evidence, rows=None), arguments)

        monkeypatch.setitem(checks._LOADED, name, replace(whole, measure=forget_rows))
        assert find_check_of_positions(made, claim), name


def explain_row_order(result: Made, second_release: sf.Release) -> str:
    """Why rows are in an order that tells something, with the cure; empty if not. `again` is drawn by other chance."""
    rows, other_rows = result.release.details.rows, second_release.details.rows
    if rows is None or other_rows is None or (np.diff(np.asarray(rows)) >= 0).all():
        return ""
    if np.array_equal(rows, other_rows):
        return (
            "it publishes rows in another order, the same for every randomness: whoever knows how it was made undoes "
            "it. Leave rows in their order, or draw it from `(randomness or Randomness.secure()).generator()`"
        )
    return ""


@parametrize_kinds
def test_rows_are_in_their_order_or_in_that_of_chance(kind: type[sf.Method]) -> None:
    for result in make_all(kind)[:3]:
        rows = result.release.details.rows
        # Baskets may be sorted by their sizes, which are published.
        if result.is_table and rows is not None and (np.diff(np.asarray(rows)) < 0).any():
            wrong = explain_row_order(result, released(result.example, result.data, seed=2))
            assert not wrong, f'{kind.__name__}, example "{result.example.name}": {wrong}'


def test_a_fixed_order_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    turned = replace(result.release, details=replace(result.release.details, rows=np.arange(399, -1, -1)))
    assert explain_row_order(result, result.release) == ""
    assert "the same for every randomness" in explain_row_order(result._replace(release=turned), turned)
    assert explain_row_order(result._replace(release=turned), result.release) == ""


@parametrize_kinds
def test_a_loss_that_counts_cells_is_their_number(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        counts = {name: value for name, value in result.release.losses.items() if name.endswith("_cells")}
        if counts and result.is_table:
            pairs = [pair_column(result, name) for name in result.release.data.frame.columns]
            differ = sum(
                was != new_cell for pair in pairs for was, new_cell in zip(pair.before, pair.after, strict=True)
            )
            wrong = {name: value for name, value in counts.items() if value != differ}
            assert not wrong, (
                f'{kind.__name__}, example "{result.example.name}": {wrong} in `losses`, and {differ} cells '
                "differ from "
                "their originals: count those, or call it otherwise"
            )


@parametrize_kinds
def test_a_method_that_only_blanks_says_so_of_its_changes(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        if result.is_table and kind.shape == "table":
            footprint = result.example.subject.footprint(result.data)
            changed = {change.kind for change in result.release.changes if not change.trivial}
            more = {
                change_kind.name
                for change_kind in changed
                if change_kind.meaning.differences - {CellDifference.BLANKED}
            } - {"DROPPED"}
            assert not footprint.blanks or not more, (
                f"{kind.__name__}: its footprint says blanks=True, and it states {sorted(more)}: a policy would let "
                "another method's claims break; say blanks=False"
            )
