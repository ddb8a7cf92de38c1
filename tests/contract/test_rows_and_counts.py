# SPDX-License-Identifier: MIT
"""Checks follow the rows that were published and look at each of them, rows are in their order or in that of chance,
counts of cells and rows are counts, and footprints say what blanking is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.change_kinds import CellDifference
from sfumato.losses import LOSSES, adds_up, is_share
from sfumato.measure import checks
from sfumato.measure.checks import CHECKS, Evidence, measure_claim
from sfumato.protect import METHODS
from sfumato.protect.method import KeyedMethod
from sfumato.release import Claim, Number
from tests.contract.column_pairs import pair_column
from tests.contract.examples import METHOD_EXAMPLES
from tests.contract.releases import Made, make_all, make_once, released
from tests.contract.test_suppression import count_rows_of_stars

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
    alike = result.data.replace_frame(result.data.frame[[*[0] * (size // 2), *range(size // 2, size)]])
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
            claim, Evidence(result.release.data, result.data.replace_frame(mixed), 2 * owners + 1, None, details)
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
            head = evidence.original.replace_frame(evidence.original.frame.head(len(evidence.published_data)))
            return measure(replace(evidence, original=head, rows=None), arguments)

        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=forget_rows))
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

        monkeypatch.setitem(checks._LOADED_CHECKS, name, replace(whole, measure=forget_rows))
        assert find_check_of_positions(made, claim), name


def take_rows(result: Made, places: list[int]) -> sf.Release:
    """Some of the published rows, in an order, perhaps twice; with their originals."""
    release, frame = result.release, result.release.data.frame
    rows = np.arange(len(result.data)) if release.details.rows is None else np.asarray(release.details.rows)
    details = replace(release.details, rows=rows).follow(np.array(places))
    return replace(release, data=release.data.replace_frame(frame[places]), details=details)


def measure_rows(result: Made, claim: Claim, places: list[int]) -> Number | None:
    """What a check measures of some of the published rows; None if it refuses them."""
    try:
        return sf.check(replace(take_rows(result, places), claims=(claim,)), result.data)[0].measured
    except sf.SfumatoError:
        return None


def list_row_claims(result: Made) -> list[Claim]:
    """Claims about a table whose rows belong to people, in any of which they may be measured; no law is seen in few."""
    subject, is_drawn = result.example.subject, result.release.are_rows_drawn
    if not result.is_table or is_drawn or subject.by_chance or isinstance(subject, KeyedMethod):
        return []
    return [claim for claim in result.release.claims if CHECKS[claim.measure].private is None and claim.threshold]


def find_other_measure(result: Made, claim: Claim) -> str:
    """In which order of three rows, two of them alike, a check measures something else; empty if it is all one."""
    last = len(result.release.data) - 1
    first_measure, candidates = measure_rows(result, claim, [0]), [last, last // 2, last // 3, last // 5]
    other = next((row for row in candidates if measure_rows(result, claim, [row]) != first_measure), last)
    for single, twin in ((0, other), (other, 0)):
        orders = [single, twin, twin], [twin, single, twin], [twin, twin, single]
        measures = [measure_rows(result, claim, places) for places in orders]
        if any(measure != pytest.approx(measures[0]) for measure in measures):
            return f"{measures}"
    return ""


MANY = 40


def find_uncounted_rows(result: Made, claim: Claim) -> str:
    """What a check that counts rows that are alike does not count: many, or those with a missing cell; else empty."""
    counts = [measure_rows(result, claim, [0] * size) for size in (1, 2, MANY)]
    if claim.bound not in ("at_most", "below") or counts[:2] != [1, 2]:
        return ""
    if counts[2] != MANY:
        return f"measures {counts[2]} of {MANY} rows that are alike: count all of them"
    for name in [name for name in result.data.frame.columns if name in list(list_texts(claim.arguments))]:
        holed = result.data.frame.with_columns(pl.lit(None, result.data.frame[name].dtype).alias(name))
        release = replace(take_rows(result, [0, 0]), claims=(claim,))
        try:
            measured = sf.check(release, result.data.replace_frame(holed))[0].measured
        except sf.DataError:
            continue
        except sf.PolicyError:
            return f'crashes if "{name}" is missing: decide what such rows count, or raise a DataError'
        if measured != 2:
            return f'measures {measured} of 2 rows that are alike and have no "{name}": count all of them'
    return ""


def list_texts(value: Any) -> Iterator[str]:
    """All texts of arguments, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from list_texts(list(value.values()))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from list_texts(part)


@parametrize_kinds
def test_a_check_looks_at_every_row_in_any_order(kind: type[sf.Method]) -> None:
    for result in make_all(kind)[:3]:
        for claim in list_row_claims(result):
            otherwise = find_other_measure(result, claim)
            assert not otherwise, (
                f'{kind.__name__}, example "{result.example.name}": of three rows in three orders, the check '
                f'"{claim.measure}" measures {otherwise}: let it look at the first row, the last one and all between, '
                "wherever rows that belong together are"
            )
            uncounted = find_uncounted_rows(result, claim)
            assert not uncounted, (
                f'{kind.__name__}, example "{result.example.name}": the check "{claim.measure}" {uncounted}'
            )


def find_unseen_row(result: Made) -> str:
    """Where a row that was left out may stand in the release without breaking a claim; empty if nowhere.

    The cells are published as they were.
    """
    release, frame = result.release, result.release.data.frame
    rows = list(range(len(result.data))) if release.details.rows is None else release.details.rows.tolist()
    absent = [row for row in range(len(result.data)) if row not in set(rows)]
    for row in absent[:: len(absent) // 2 + 1]:
        cells = result.data.frame[[row]].select(
            column.cast(frame.schema[name], strict=False) for name, column in result.data.frame[[row]].to_dict().items()
            if name in frame.columns
        )  # fmt: skip
        for words, frames, owners in (
            ("first", [cells, frame], [row, *rows]),
            ("last", [frame, cells], [*rows, row]),
        ):
            details = replace(release.details, rows=np.array(owners))
            forged = replace(release, data=release.data.replace_frame(pl.concat(frames)), details=details)
            try:
                if all(finding.holds for finding in sf.check(forged, result.data)):
                    return words
            except sf.SfumatoError:
                continue
    return ""


@parametrize_kinds
def test_a_row_that_was_left_out_breaks_a_claim(kind: type[sf.Method]) -> None:
    for result in [result for result in make_all(kind) if result.is_table]:
        if len(result.release.data) == len(result.data) or result.release.are_rows_drawn:
            continue
        place = find_unseen_row(result)
        assert not place, (
            f'{kind.__name__}, example "{result.example.name}": a row that it left out breaks no claim if it is the '
            f"{place} of the release: let the check of the claim by which rows are left out look at every row, and at "
            "the largest or least number, not at a mean"
        )


def test_a_check_that_misses_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "round numbers"))
    claim = next(claim for claim in list_row_claims(result) if claim.measure == "largest_rounding")
    whole = CHECKS[claim.measure]
    assert find_other_measure(result, claim) == find_uncounted_rows(result, claim) == ""

    def skip_first(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
        published = evidence.published_data.replace_frame(evidence.published_data.frame.tail(-1))
        return whole.measure(replace(evidence, published_data=published, rows=np.asarray(evidence.rows)[1:]), arguments)

    def count_few(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
        return min(len(evidence.published_data), 3)

    def count_known(evidence: Evidence, arguments: Mapping[str, Any]) -> Number:
        known_cells = evidence.original.frame["age"][np.asarray(evidence.rows).tolist()].drop_nulls()
        return len(known_cells)

    for measure, find in (
        (skip_first, find_other_measure),
        (count_few, find_uncounted_rows),
        (count_known, find_uncounted_rows),
    ):
        monkeypatch.setitem(checks._LOADED_CHECKS, claim.measure, replace(whole, measure=measure))
        assert find(result, claim), measure.__name__


def test_a_left_out_row_that_nothing_counts_is_noticed() -> None:
    result = make_once(next(example for example in METHOD_EXAMPLES if example.name == "generalize, rows left out"))
    assert find_unseen_row(result) == ""
    assert find_unseen_row(result._replace(release=replace(result.release, claims=()))) == "first"


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


def explain_wrong_losses(result: Made) -> str:
    """Which loss is a count that its entry calls a share, or a number of rows that is not so; empty if none."""
    release, size = result.release, len(result.data)
    stars = count_rows_of_stars(release.data) if result.is_table else 0
    row_counts = {size - len(release.data), release.suppression.row_count, release.suppression.starred_count, stars}
    for name, value in release.losses.items():
        if is_share(name) and isinstance(value, int) and value:
            return f"`{name}` is {value}, a count, and LOSSES (losses.py) calls it a share: change that"
        if not result.is_table or not name.endswith("_rows") or release.are_rows_drawn:
            continue
        if not isinstance(value, int) or value not in row_counts:
            return f"`{name}` is {value}, and the rows left out, suppressed or starred are {sorted(row_counts)}"
    return ""


@parametrize_kinds
def test_a_loss_that_counts_rows_is_their_number(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        wrong = explain_wrong_losses(result)
        assert not wrong, (
            f'{kind.__name__}, example "{result.example.name}": {wrong}: count len(data) − len(published), or call it '
            "otherwise"
        )


NO_SUM = {"starred_rows", "redrawn_rows"}
"""Rows of one method alone, or of which two methods may mean the same."""


def test_losses_have_titles_of_their_own_and_rows_add_up() -> None:
    titles = [entry.title for entry in LOSSES.values()]
    alike = sorted({title for title in titles if titles.count(title) > 1})
    assert not alike, f"two losses of LOSSES (losses.py) are called {alike}: say what each counts"
    single = [name for name in LOSSES if name.endswith("_rows") and not adds_up(name)]
    assert {*single} <= NO_SUM, (
        f"{single} count rows: say in LOSSES (losses.py) that they add up, so that those of two methods are added"
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


@parametrize_kinds
def test_a_height_is_the_sum_of_the_levels(kind: type[sf.Method]) -> None:
    for result in make_all(kind):
        levels = [change.level for change in result.release.changes if change.level is not None]
        height = result.release.losses.get("height", sum(levels))
        assert height == sum(levels), (
            f'{kind.__name__} states a "height", the sum of the levels of its columns, of {height}, and its changes '
            f"have the levels {levels}; state their sum, or no height"
        )
