# SPDX-License-Identifier: MIT
"""The loss of means, measured on the file: dates and times are moments, however they are spelled."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.measure.change_losses import measure_change_loss

QUASI = "quasi_identifying"
EARLY = datetime(1988, 4, 1, 6, 30)
HOURS = [0, 5, 31, 2400, 2410, 2432, 9000, 9100, 9107]
MOMENTS = [EARLY + timedelta(hours=hours) for hours in HOURS]
SUMMER, WINTER = timezone(timedelta(hours=2)), timezone(timedelta(hours=1))
SPELLINGS = {
    "days": [f"{moment:%Y-%m-%d}" for moment in MOMENTS],
    "dotted days": [f"{moment:%d.%m.%Y}" for moment in MOMENTS],
    "slashed days": [f"{moment:%Y/%m/%d}" for moment in MOMENTS],
    "months": [f"{1980 + hours // 12}-{hours % 12 + 1:02}" for hours in range(0, 90, 10)],
    "timestamps": [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in MOMENTS],
    "timestamps to a millisecond": [f"{moment:%Y-%m-%dT%H:%M:%S}.{n:03}" for n, moment in enumerate(MOMENTS)],
    "timestamps in a zone": [f"{moment:%Y-%m-%d %H:%M}+02:00" for moment in MOMENTS],
    "timestamps of a short zone": [f"{moment:%Y-%m-%d %H:%M:%S}+02" for moment in MOMENTS],
    "timestamps in a named zone": [f"{moment:%Y-%m-%d %H:%M} CET" for moment in MOMENTS],
    "timestamps in two zones": [
        moment.replace(tzinfo=SUMMER if n % 2 else WINTER).isoformat(" ") for n, moment in enumerate(MOMENTS)
    ],
    "fractions of several lengths": [
        f"{moment:%Y-%m-%d %H:%M:%S}{['.5', '.25', ''][n % 3]}+02:00" for n, moment in enumerate(MOMENTS)
    ],
    "times": [f"{6 + n:02}:{n * n % 60:02}" for n in range(9)],
}


def measure_loss(table: sf.Table, release: sf.Release, published_table: sf.Table) -> float:
    loss = measure_change_loss(table, published_table, release.changes, release.public, release.details.rows)
    assert loss is not None
    return loss


def test_dates_lose_their_variance_within_groups_by_hand() -> None:
    """Days 0, 2, 10, 14 in pairs: means 1 and 12, squares 1 + 1 + 4 + 4 = 10 of Σ (x − 6.5)² = 131."""
    texts = ["1988-04-01", "1988-04-03", "1988-04-11", "1988-04-15"]
    table = sf.Table.of({"born": texts}, {"born": QUASI})
    release = sf.Microaggregate(k=2).protect(table)
    assert release.data.frame["born"].to_list() == ["1988-04-02"] * 2 + ["1988-04-13"] * 2
    assert measure_loss(table, release, release.data) == pytest.approx(10 / 131)
    assert release.losses["loss"] == pytest.approx(10 / 131)


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("centre", ["mean", "median"])
def test_the_loss_of_moments_is_the_methods(name: str, centre: str) -> None:
    texts = SPELLINGS[name]
    table = sf.Table.of({"when": texts, "age": [20, 21, 22, 40, 41, 42, 60, 61, 62]}, {"when": QUASI, "age": QUASI})
    release = sf.Microaggregate(k=3, centre=centre).protect(table)
    assert 0 < release.losses["loss"] < 0.2
    assert measure_loss(table, release, release.data) == pytest.approx(release.losses["loss"], rel=1e-6)


def test_dates_that_were_written_are_measured_as_moments(tmp_path: Path) -> None:
    """What is read back from a text file is text where the originals are dates."""
    days = [date(1988, 4, 1) + timedelta(days=n * n) for n in range(9)]
    table = sf.Table.of({"born": days}, {"born": QUASI})
    release = sf.Microaggregate(k=3).protect(table)
    release.data.frame.write_csv(tmp_path / "data.csv")
    frame = pl.read_csv(tmp_path / "data.csv", try_parse_dates=False)
    assert frame["born"].dtype == pl.String
    loss = release.losses["loss"]
    assert 0 < loss < 0.2
    assert measure_loss(table, release, release.data) == pytest.approx(loss)
    assert measure_loss(table, release, table.replace_frame(frame)) == pytest.approx(loss)


def test_nanoseconds_are_measured() -> None:
    """Floats of seconds since 1970 would be too coarse for them."""
    was, means = (
        sf.Table.of({"when": [f"2024-03-01 08:00:00.{part:09}" for part in parts]}, {"when": QUASI})
        for parts in ((0, 20, 100, 140), (10, 10, 120, 120))
    )
    release = sf.Microaggregate(k=2).protect(was)
    assert measure_loss(was, release, means) == pytest.approx(10 / 131)


def test_words_and_amounts_in_text_are_categories() -> None:
    for texts in (["a", "a", "b", "c"], ["1.50", "1.50", "2.50", "9.75"], ["1988-02-31", "1988-02-31", "x", "y"]):
        table = sf.Table.of({"word": texts}, {"word": QUASI})
        release = sf.Microaggregate(k=4).protect(table)
        assert measure_loss(table, release, release.data) == release.losses["loss"] == 1.0


def test_a_constant_column_has_no_spread() -> None:
    table = sf.Table.of({"a": [0.1] * 6, "n": [1, 2, 3, 11, 12, 13]}, {"a": QUASI, "n": QUASI})
    release = sf.Microaggregate(k=3).protect(table)
    assert measure_loss(table, release, release.data) == pytest.approx(release.losses["loss"])


@pytest.mark.parametrize("kind", [pl.Datetime("us"), pl.Datetime("ns", "Europe/Berlin"), pl.Date])
def test_columns_of_moments_are_measured(kind: pl.DataType) -> None:
    moments = pl.Series(MOMENTS).cast(pl.Datetime("us"))
    column = moments.dt.replace_time_zone("Europe/Berlin").cast(kind) if "Berlin" in str(kind) else moments.cast(kind)
    table = sf.Table.of(pl.DataFrame({"when": column}), {"when": QUASI})
    release = sf.Microaggregate(k=3).protect(table)
    assert 0 < release.losses["loss"] < 0.2
    assert measure_loss(table, release, release.data) == pytest.approx(release.losses["loss"], rel=1e-6)
