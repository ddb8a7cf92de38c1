# SPDX-License-Identifier: MIT
"""Rows that `missing = "drop"` removes from every count are not published by any method."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from sfumato.protect.method import Method

ROLES = {"age": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
ROWS = {
    "age": [20, 21, None, 23, 24, 25, 26, 27],
    "sex": ["f", "m", "f", "m", None, "m", "f", "m"],
    "ill": ["flu", "flu", "gout", "flu", "gout", "flu", "flu", "gout"],
}
PUBLISH_EVERY_ROW = (
    sf.TopCode(columns="age", k=2),
    sf.RoundNumbers(columns="age", step=5),
    sf.GroupRareValues(columns="sex", min_count=2),
    sf.SuppressEntries(private={"columns": ["ill"], "where": {"sex": "f"}}, confidence=0.7, min_support=2),
    sf.AddNoise(columns="age", ranges={"age": (0, 120)}),
)


def table_of(missing: str) -> sf.Table:
    return sf.Table.of(ROWS, ROLES, missing=missing)


@pytest.mark.parametrize("method", PUBLISH_EVERY_ROW, ids=lambda method: type(method).__name__)
def test_a_method_that_publishes_every_row_refuses_rows_that_nobody_counts(method: Method) -> None:
    with pytest.raises(
        sf.PolicyError, match=r'2 rows have a missing quasi-identifying cell.*missing = "drop".*own_value'
    ):
        method.protect(table_of("drop"), randomness=sf.Randomness.seeded(1))
    assert len(method.protect(table_of("own_value"), randomness=sf.Randomness.seeded(1)).data) == 8


def test_methods_that_leave_rows_out_do_so() -> None:
    release = sf.Generalize(models=[sf.KAnonymity(k=2)], suppression_limit=0.5).protect(table_of("drop"))
    assert release.details.trace_rows(len(release.data)).tolist() == [0, 1, 3, 5, 6, 7]


def test_a_run_publishes_nobody_who_is_not_counted(tmp_path: Path) -> None:
    """A `max_loss` gate passed on a negative loss: fewer rows were counted than published."""
    policy = tmp_path / "policy.toml"
    policy.write_text(
        """
        [data]
        path = "people.csv"
        missing = "drop"
        [roles]
        quasi_identifying = ["age", "sex"]
        sensitive = ["ill"]
        [[protect]]
        method = "top_code"
        columns = ["age"]
        k = 2
        [gate]
        max_loss = 0.01
        """
    )
    table_of("own_value").frame.write_csv(tmp_path / "people.csv")
    with pytest.raises(
        sf.PolicyError, match="2 rows have a missing quasi-identifying cell, and top_code does not leave"
    ):
        sf.run(policy, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
