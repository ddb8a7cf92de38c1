# SPDX-License-Identifier: MIT
"""Vaidya and Clifton (2002) made again: supports and messages by hand, and the break."""

from __future__ import annotations

import numpy as np
import pytest

from papers.registry import list_studies
from papers.study import Setting
from papers.vaidya_2002.security import count_disguised, count_vectors
from sfumato.parties.protocols.algebraic_product import disguise, draw_coefficients

STUDIES = list_studies()


def test_the_support_of_all_columns_is_the_scalar_product() -> None:
    findings = STUDIES["vaidya_2002.support"].work(Setting())
    rows = findings.grids[0].frame
    assert rows.height == 32
    row = rows.filter(rows["A1"] == "1 1 0 1 0").to_dicts()[0]
    assert (row["counted"], row["multiplied"], row["private"]) == (2, 2, 2)  # rows 2 and 4, by hand
    assert [statement.verdict for statement in findings.statements] == ["reproduced"]


def test_the_messages_of_the_protocol() -> None:
    findings = STUDIES["vaidya_2002.protocol"].work(Setting())
    assert [statement.verdict for statement in findings.statements] == ["reproduced"] * 4
    senders = findings.grids[0].frame["from"].to_list()
    assert (senders.count("A"), senders.count("B")) == (6, 4)


def test_the_counts_of_equations_hold_and_the_conclusion_does_not() -> None:
    findings = STUDIES["vaidya_2002.equations"].work(Setting())
    assert [statement.verdict for statement in findings.statements] == [
        "reproduced",
        "reproduced",
        "differs",
        "reproduced",
    ]
    row = findings.grids[0].frame.to_dicts()[2]
    assert row == {
        "n": 10, "A sends": 10, "unknowns of A": 15, "B sends": 6, "unknowns of B": 10, "vectors of A": 1,
        "vectors of B": 1,
    }  # fmt: skip


def test_solutions_are_counted() -> None:
    coefficients = np.ones((4, 2), dtype=np.int64)  # only the sum is told
    assert count_vectors(coefficients, np.array([2, 2])) == 6
    matrix = draw_coefficients(1, 6)
    assert count_disguised(matrix, disguise(np.array([1, 0, 0, 1, 0, 0]), matrix, np.array([5, 6, 7]))) == 1
    assert count_disguised(matrix, np.array([1, 0, 0, 0, 0, 9**9])) == 0


@pytest.mark.slow
def test_the_algorithm_equals_pooled_mining_and_sparse_vectors_are_recovered() -> None:
    for name in ("algorithm", "recovery"):
        statements = STUDIES[f"vaidya_2002.{name}"].work(Setting()).statements
        assert all(
            statement.verdict == ("differs" if "half the values" in statement.paper_result else "reproduced")
            for statement in statements
        )
