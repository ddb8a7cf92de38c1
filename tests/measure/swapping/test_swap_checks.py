# SPDX-License-Identifier: MIT
"""The checks of swapped data, on the example of Li and Sarkar (2004) and on releases that break each promise alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from papers.li_2004.example import AMOUNT, CUSTOMERS, LAST_CHANGES, PATTERN, insurance
from sfumato.measure.checks import CHECKS, Evidence
from sfumato.measure.swapping.swap_checks import (
    count_cells_changed_elsewhere,
    count_unbroken_groups,
    count_uniques_off_share,
    identifiable_records,
    joint_total_variation,
    measure_marginal_shift,
)
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.randomness import Randomness
from sfumato.runtime.lazy import find_checks

TABLE = insurance()


def changed(new_values: dict[int, str | None], column: str = AMOUNT) -> sf.Table:
    """The example with some records' cells changed; numbers from 1."""
    cells = TABLE.frame[column].to_list()
    for number, value in new_values.items():
        cells[number - 1] = value
    return TABLE.replace_frame(TABLE.frame.with_columns(pl.Series(column, cells)))


GOOD = changed(dict(LAST_CHANGES))


def test_the_statuses_of_table_1() -> None:
    records = identifiable_records(TABLE, AMOUNT, PATTERN)
    words = {"unique": "U", "collective": "V", None: "-"}
    assert [words[status] for status in records["status"]] == [customer[4][0] for customer in CUSTOMERS]
    assert records["group"].to_list()[1:5] == [1, 1, 3, 3]


def test_table_3_keeps_every_promise() -> None:
    assert count_uniques_off_share(TABLE, GOOD, AMOUNT, PATTERN, 0.5) == 0
    assert count_unbroken_groups(TABLE, GOOD, AMOUNT, PATTERN) == 0
    assert measure_marginal_shift(TABLE, GOOD, AMOUNT) == 0
    assert count_cells_changed_elsewhere(TABLE, GOOD, AMOUNT, PATTERN) == 0


def test_the_original_breaks_what_it_must() -> None:
    assert count_uniques_off_share(TABLE, TABLE, AMOUNT, PATTERN, 0.5) == 3
    assert count_unbroken_groups(TABLE, TABLE, AMOUNT, PATTERN) == 3


def test_each_promise_can_be_broken_alone() -> None:
    less = changed({n: value for n, value in LAST_CHANGES.items() if n != 6})
    assert count_uniques_off_share(TABLE, less, AMOUNT, PATTERN, 0.5) == 1
    assert measure_marginal_shift(TABLE, less, AMOUNT) == 2
    doubly_changed = changed({**LAST_CHANGES, 3: "Med"})
    assert count_unbroken_groups(TABLE, doubly_changed, AMOUNT, PATTERN) == 1  # all changed alike agree again
    assert count_unbroken_groups(TABLE, GOOD, AMOUNT, PATTERN, 1.0) == 0  # never more than all but one
    unidentifiable_change, hole = changed({**LAST_CHANGES, 8: "High"}), changed({**LAST_CHANGES, 1: None})
    assert count_cells_changed_elsewhere(TABLE, unidentifiable_change, AMOUNT, PATTERN) == 1
    assert count_cells_changed_elsewhere(TABLE, hole, AMOUNT, PATTERN) == 1  # a hole is no swap
    other = changed({1: "NY"}, "Location")
    assert count_cells_changed_elsewhere(TABLE, other, AMOUNT, PATTERN) == 1
    assert count_cells_changed_elsewhere(TABLE, other, AMOUNT, PATTERN, confidential=("Location",)) == 0


def test_groups_with_several_changes() -> None:
    table = sf.Table.of({"k": [1] * 4, "s": ["a"] * 4}, {"k": "quasi_identifying", "s": "sensitive"})
    new = table.replace_frame(table.frame.with_columns(pl.Series("s", ["b", "c", "a", "a"])))
    assert [count_unbroken_groups(table, new, "s", ["k"], share) for share in (1, 2, 0.5, 0.6, 0.1, 3)] == [
        1,
        0,
        0,
        0,
        1,
        1,
    ]


def test_missing_cells_count_as_the_method_counts_them() -> None:
    table = sf.Table.of(
        {"k": [None, None, "x", "x", "y"], "s": ["a", "a", "b", None, None]},
        {"k": "quasi_identifying", "s": "sensitive"},
    )
    records = identifiable_records(table, "s", ["k"])
    assert records["status"].to_list() == ["collective", "collective", None, None, None]


def test_the_total_variation_of_joints() -> None:
    """Six of sixteen records moved: 6/16 of the whole joint; less of its margins, nothing between equals."""
    assert joint_total_variation(TABLE, GOOD, AMOUNT, width=3) == 0.375
    assert joint_total_variation(TABLE, TABLE, AMOUNT) == 0
    # By hand over Gender: women Med 3 → 3, High 1 → 2, Low 3 → 2; men Low 1 → 2, Med 3 → 3, High 5 → 4.
    assert joint_total_variation(TABLE, GOOD, AMOUNT, columns=["Gender"]) == pytest.approx(2 / 16)
    with pytest.raises(sf.PolicyError, match="no sets"):
        joint_total_variation(TABLE, GOOD, AMOUNT, width=4)


def test_it_equals_the_loss_that_the_method_states() -> None:
    for search in ("optimal", "random"):
        release = SwapConfidential(column=AMOUNT, share=0.5, search=search).protect(TABLE, Randomness.seeded(1))
        assert joint_total_variation(TABLE, release.data, AMOUNT) == pytest.approx(
            release.losses["joint_total_variation"], abs=1e-9
        )


def test_every_claim_of_the_method_is_checked_here() -> None:
    release = SwapConfidential(column=AMOUNT, share=0.5).protect(TABLE)
    evidence = Evidence(release.data, TABLE, release.details["rows"])
    checks = {name for name, module in find_checks().items() if module == "sfumato.measure.swapping.swap_checks"}
    checked_claims = [claim for claim in release.claims if claim.measure in checks]
    assert {claim.measure for claim in checked_claims} == checks
    assert all(claim.holds(CHECKS[claim.measure](evidence, claim.arguments)) for claim in checked_claims)
    forged = Evidence(TABLE, TABLE, np.arange(16))
    broken_properties = {c.property for c in checked_claims if not c.holds(CHECKS[c.measure](forged, c.arguments))}
    assert broken_properties == {"uniques_off_share", "groups_unbroken"}


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(sf.DataError, match="cannot be compared"):
        count_uniques_off_share(TABLE, TABLE.replace_frame(TABLE.frame.head(3)), AMOUNT, PATTERN, 0.5)
    with pytest.raises(sf.DataError, match="lack some rows"):
        count_uniques_off_share(TABLE, TABLE, AMOUNT, PATTERN, 0.5, rows=list(range(1, 17)))
    with pytest.raises(sf.DataError, match="no column"):
        identifiable_records(TABLE, "Wage", PATTERN)
