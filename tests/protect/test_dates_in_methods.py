# SPDX-License-Identifier: MIT
"""A column of dates in methods that do not order values: dates stay dates, and the claims hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf

ROWS = 80
SEEDED = sf.Randomness.seeded(3)
DAYS = pl.Series(np.random.default_rng(8).choice(np.arange(0, 9000, 300, dtype=np.int32), ROWS)).cast(pl.Date)
SPELLINGS: dict[str, pl.Series] = {
    "typed": DAYS,
    "text": DAYS.cast(pl.String),
    "slashes": DAYS.dt.strftime("%Y/%m/%d"),
    "dots": DAYS.dt.strftime("%d.%m.%Y"),
    "timestamps": DAYS.dt.strftime("%Y-%m-%dT12:30:00"),
}


def make_table(column: pl.Series) -> sf.Table:
    chance = np.random.default_rng(9)
    frame = {"who": range(ROWS), "when": column, "pay": chance.permutation(ROWS), "ill": ["flu", "gout"] * 40}
    roles = {"who": "identifying", "when": "sensitive", "pay": "quasi_identifying", "ill": "sensitive"}
    return sf.Table.of(pl.DataFrame(frame), roles)


def assert_moved(table: sf.Table, published: pl.Series) -> None:
    assert published.sort().equals(table.frame["when"].sort())
    assert not published.equals(table.frame["when"])


def assert_among(table: sf.Table, published: pl.Series) -> None:
    assert set(published) <= set(table.frame["when"])
    assert not published.equals(table.frame["when"])


def assert_blanked(table: sf.Table, published: pl.Series) -> None:
    hidden_mask = published.is_null()
    assert 0 < hidden_mask.sum() < ROWS
    assert published.filter(~hidden_mask).equals(table.frame["when"].filter(~hidden_mask))


def assert_spelled_alike(table: sf.Table, published: pl.Series) -> None:
    assert published.dtype == table.frame["when"].dtype
    lengths = {len(str(cell)) for cell in table.frame["when"]}
    assert {len(str(cell)) for cell in published.drop_nulls()} == lengths
    assert published.drop_nulls().min() != published.drop_nulls().max()


def assert_coded(table: sf.Table, published: pl.Series) -> None:
    assert published.n_unique() == table.frame["when"].n_unique()
    assert not set(published.cast(pl.String)) & set(table.frame["when"].cast(pl.String))


METHODS: dict[str, tuple[Callable[[], sf.Method], Callable[[sf.Table, pl.Series], None]]] = {
    "swap": (lambda: sf.SwapConfidential(column="when", share=0.5, search="random"), assert_moved),
    "answers": (lambda: sf.RandomizeResponse(column="when", p=0.5, categories="from_data"), assert_among),
    "entries": (
        lambda: sf.SuppressEntries(private=[{"columns": ["when"], "share": 0.2}], confidence=0.8, min_support=3),
        assert_blanked,
    ),
    "synthesis": (lambda: sf.Synthesize(min_leaf=3), assert_spelled_alike),
    "trees": (lambda: sf.EncodeForTrees(target="ill"), assert_coded),
}


def protect(method: Any, table: sf.Table) -> sf.Release:
    if hasattr(method, "new_key"):
        return method.protect(table, method.new_key(table, SEEDED))  # type: ignore[no-any-return]
    return method.protect(table, randomness=SEEDED)  # type: ignore[no-any-return]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", METHODS)
def test_dates_stay_dates_and_claims_hold(name: str, spelling: str) -> None:
    make_method, assert_kept = METHODS[name]
    table = make_table(SPELLINGS[spelling])
    release = protect(make_method(), table)
    assert_kept(table, release.data.frame["when"])
    assert all(finding.holds for finding in sf.check(release, table))
