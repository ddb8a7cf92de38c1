# SPDX-License-Identifier: MIT
"""Dates are compared by how far they lie apart, as numbers are: typed, as text, and with a time of day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.attack import Attack
from sfumato.attack.anonymity.strongest_links import choose_links

ROWS = 60
KNOWN = ("born", "seen", "income")
ROLES = dict.fromkeys(KNOWN, "quasi_identifying") | {"ill": "sensitive"}
Spelling = Callable[[pl.Series], pl.Series]
SPELLINGS: dict[str, Spelling] = {
    "typed": lambda days: days.cast(pl.Int32).cast(pl.Date),
    "text": lambda days: days.cast(pl.Int32).cast(pl.Date).cast(pl.String),
    "timestamps": lambda days: (days * 86_400_000_000).cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d %H:%M:%S"),
}
ATTACKS: dict[str, Attack] = {
    "linking": sf.attack.Linking(),
    "linkability": sf.attack.Linkability(known=(("born",), ("seen", "income")), attempts=ROWS),
    "inference": sf.attack.Inference(column="ill", attempts=ROWS),
    "singling out": sf.attack.SinglingOut(attempts=50),
}


def draw_days(seed: int) -> pl.DataFrame:
    """People with dates as numbers of days."""
    chance = np.random.default_rng(seed)
    birth_days = chance.integers(-9000, 9000, ROWS)
    return pl.DataFrame(
        {
            "born": birth_days,
            "seen": chance.integers(18_000, 19_000, ROWS),
            "income": chance.integers(10, 99, ROWS),
            "ill": np.where(chance.random(ROWS) < (birth_days + 9000) / 18_000, "flu", "cold"),
        }
    )


def spell(frame: pl.DataFrame, spelling: Spelling) -> sf.Table:
    return sf.Table.of(frame.with_columns(spelling(frame[name]).alias(name) for name in ("born", "seen")), ROLES)


def average(frame: pl.DataFrame) -> sf.Release:
    """A release of means of three, with dates as whole days."""
    release = sf.Microaggregate(k=3).protect(sf.Table.of(frame, ROLES))
    days = release.data.frame.with_columns(pl.col("born", "seen").round(0).cast(pl.Int64))
    return sf.Release(
        release.data.replace_frame(days), release.method, (), {}, details=release.details, changes=release.changes
    )


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_dates_are_attacked_as_their_days_are(attack: str, spelling: str) -> None:
    days = draw_days(1)
    release = average(days)
    dated = spell(release.data.frame, SPELLINGS[spelling])
    in_time = sf.Release(dated, release.method, (), {}, details=release.details, changes=release.changes)

    def count(release: sf.Release, truth: sf.Table) -> tuple[int, float]:
        outcome = ATTACKS[attack].run(release, truth, randomness=sf.Randomness.seeded(3))
        return outcome.attempts, outcome.successes

    assert count(in_time, spell(days, SPELLINGS[spelling])) == count(release, sf.Table.of(days, ROLES))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_nearest_date_finds_no_more(spelling: str, seed: int) -> None:
    """A plain attacker takes the row whose dates and numbers lie nearest, each in deviations."""
    days = draw_days(seed)
    truth = spell(days, SPELLINGS[spelling])
    release = sf.Microaggregate(k=2).protect(truth)

    def measure(frame: pl.DataFrame) -> Any:
        return np.stack([_count_days(frame[name]) / float(days[name].std() or 1) for name in KNOWN], axis=1)  # type: ignore[arg-type]

    gaps = ((measure(truth.frame)[:, None] - measure(release.data.frame)) ** 2).sum(axis=2).round(9)
    nearest = gaps == gaps.min(axis=1, keepdims=True)
    naive = float((np.diag(nearest) / nearest.sum(axis=1)).sum())
    assert naive > 10
    assert choose_links(release, truth, KNOWN).links.count_expected_hits() >= naive - 1e-6


def _count_days(column: pl.Series) -> Any:
    if column.dtype == pl.String:
        column = column.str.to_datetime("%Y-%m-%d %H:%M:%S" if len(column[0]) > 10 else "%Y-%m-%d").cast(
            pl.Datetime("us")
        )
        return column.to_physical().to_numpy() / 86_400e6
    return column.to_physical().cast(pl.Float64).to_numpy()
