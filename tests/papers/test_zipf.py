# SPDX-License-Identifier: MIT
"""The generator of Aggarwal, Pei and Zhang's (2006) synthetic tables."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from papers.aggarwal_2006.zipf import zipf_shares, zipf_table
from sfumato.errors import PolicyError


def test_defaults_are_the_seeds() -> None:
    table = zipf_table()
    assert table.shape == (10_000, 10)
    assert table.columns == [f"D{number}" for number in range(1, 11)]
    assert set(table.dtypes) == {pl.Int64}
    assert set(table["D1"].unique().to_list()) <= set(range(1, 11))


def test_the_commonest_value_has_the_share_that_golden_says() -> None:
    assert zipf_shares(10, 2.0)[0] == pytest.approx(0.645, abs=0.0005)
    assert zipf_shares(10, 2.0).sum() == pytest.approx(1)
    assert zipf_shares(4, 0.0).tolist() == [0.25] * 4
    assert zipf_shares(3, 1.0).tolist() == pytest.approx([6 / 11, 3 / 11, 2 / 11])


@pytest.mark.parametrize("factor", [0.0, 1.0, 2.0, 5.0])
def test_values_come_as_often_as_they_should(factor: float) -> None:
    rows = 100_000
    table = zipf_table(rows, 2, 6, factor, seed=5)
    shares = zipf_shares(6, factor)
    for column in table.get_columns():
        counts = np.bincount(column.to_numpy(), minlength=7)[1:]
        # Six binomial counts in eight columns, five standard deviations: wrong once in 30,000 runs of other seeds.
        assert (np.abs(counts - rows * shares) <= 5 * np.sqrt(rows * shares * (1 - shares)) + 1e-9).all()


def test_columns_are_drawn_apart() -> None:
    table = zipf_table(100_000, 2, 10, 2.0, seed=9)
    first, second = (table[name].to_numpy() == 1 for name in table.columns)
    expected = first.mean() * second.mean()
    assert abs((first & second).mean() - expected) < 5 * np.sqrt(expected / 100_000)


def test_a_seed_gives_the_same_table_again() -> None:
    assert zipf_table(50, seed=1).equals(zipf_table(50, seed=1))
    assert not zipf_table(50, seed=1).equals(zipf_table(50, seed=2))


def test_sizes_at_the_edge() -> None:
    assert zipf_table(0, 3).shape == (0, 3)
    assert zipf_table(5, 1, 1)["D1"].to_list() == [1] * 5


@pytest.mark.parametrize("change", [{"rows": -1}, {"columns": 0}, {"cardinality": 0}, {"factor": float("inf")}])
def test_impossible_tables_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(PolicyError, match="Zipf"):
        zipf_table(**change)
