# SPDX-License-Identifier: MIT
"""Dates and times in every method that orders values: ranges cover, losses are as counted, attacks read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato import measure
from sfumato.attack import Linking
from sfumato.data.hierarchies.label_choice import LONGEST_SET
from sfumato.errors import DataError, PolicyError
from sfumato.measure.checks import Evidence, measure_claim
from sfumato.protect.anonymity.k_optimize import KOptimize
from sfumato.protect.anonymity.microaggregate import Microaggregate
from sfumato.protect.anonymity.models.class_models import KAnonymity
from sfumato.protect.anonymity.partition import Partition
from sfumato.protect.anonymity.top_code import TopCode
from sfumato.protect.method import Method
from sfumato.protect.noise.add_noise import AddNoise
from sfumato.release import Release
from sfumato.table import Table

Parse = Callable[[str], Any]
K, ROWS = 4, 60


def parse_day(text: str, spelling: str) -> date:
    return datetime.strptime(text, spelling).date()


def make_columns() -> dict[str, tuple[pl.Series, Parse]]:
    chance = np.random.default_rng(8)
    days = [date(2020, 1, 1) + timedelta(days=int(day)) for day in chance.integers(0, 300, ROWS)]
    hours = chance.integers(0, 24, ROWS).tolist()
    stamps = [datetime.combine(day, time(hour)) for day, hour in zip(days, hours, strict=True)]
    zones = [timezone(timedelta(hours=int(hour))) for hour in chance.integers(-8, 8, ROWS)]
    zoned = [stamp.replace(tzinfo=zone).isoformat() for stamp, zone in zip(stamps, zones, strict=True)]
    return {
        "dates": (pl.Series(days), date.fromisoformat),
        "dates as text": (pl.Series([str(day) for day in days]), date.fromisoformat),
        "dates with dots": (pl.Series(days).dt.strftime("%d.%m.%Y"), lambda text: parse_day(text, "%d.%m.%Y")),
        "dates with slashes": (pl.Series(days).dt.strftime("%Y/%m/%d"), lambda text: parse_day(text, "%Y/%m/%d")),
        "timestamps": (pl.Series(stamps), datetime.fromisoformat),
        "timestamps of a zone": (pl.Series(stamps).dt.replace_time_zone("Asia/Tokyo"), datetime.fromisoformat),
        "timestamps of several zones": (pl.Series(zoned), datetime.fromisoformat),
        "times of day": (
            pl.Series([f"{hour:02d}:{day.day:02d}" for hour, day in zip(hours, days, strict=True)]),
            time.fromisoformat,
        ),
    }


COLUMNS = make_columns()
METHODS: dict[str, Method] = {
    "partition": Partition(models=(KAnonymity(k=K),)),
    "partition, cut only": Partition(models=(KAnonymity(k=K),), refine=False),
    "k_optimize": KOptimize(k=K),
}


def make_table(column: pl.Series) -> Table:
    frame = pl.DataFrame({"when": column, "sex": ["m", "f"] * (ROWS // 2), "ill": list("abc") * (ROWS // 3)})
    return Table.of(frame, {"when": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"})


def assert_promises_hold(release: Release, table: Table) -> None:
    evidence = Evidence(release.data, table, release.details.rows)
    for claim in release.claims:
        finding = measure_claim(claim, evidence)
        assert finding.holds, finding


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", COLUMNS)
def test_moments_are_published_as_ranges(kind: str, method: str) -> None:
    column, parse = COLUMNS[kind]
    table = make_table(column)
    release = METHODS[method].protect(table)
    labels, cells = release.data.frame["when"].to_list(), table.frame["when"].cast(pl.String).to_list()
    values, total_loss = {cell: parse(cell) for cell in cells}, 0.0
    rows = [cells[row] for row in release.details["rows"]]
    for label, cell in zip(labels, rows, strict=True):
        low, high = (parse(end) for end in label[1:-1].split(", ")) if label.startswith("[") else (values[cell],) * 2
        assert label == "*" or low <= values[cell] <= high
        inside_count = sum(low <= value <= high for value in values.values())
        total_loss += 1 if label == "*" else (inside_count - 1) / (len(values) - 1)
        assert "{" not in label
    assert any(label.startswith("[") for label in labels)
    assert_promises_hold(release, table)
    if method.startswith("partition"):
        crowds = Counter(release.data.frame.select("when", "sex").rows())
        assert min(crowds.values()) >= K
        sexes = (release.data.frame["sex"] != table.frame["sex"]).sum() / ROWS
        assert release.losses["loss"] == pytest.approx((total_loss / ROWS + sexes) / 2)
    assert measure.loss(release.data, table) == pytest.approx(release.losses["loss"])


@pytest.mark.parametrize("kind", COLUMNS)
def test_linking_reads_ranges_of_moments(kind: str) -> None:
    table = make_table(COLUMNS[kind][0])
    release = METHODS["partition"].protect(table)
    outcome = Linking().run(release, table)
    assert outcome.attempts == ROWS
    assert 0 < outcome.risk <= 1 / K + 0.1, "ranges are read: everybody's class is found, and it is a crowd"
    crowds = measure.risk(release.data).prosecutor
    assert crowds.highest_risk <= 1 / K


@pytest.mark.parametrize("kind", COLUMNS)
def test_means_of_moments_are_moments_between(kind: str) -> None:
    column, parse = COLUMNS[kind]
    table = make_table(column)
    release = Microaggregate(k=K).protect(table)
    published = release.data.frame["when"].cast(pl.String)
    values = [parse(cell) for cell in table.frame["when"].cast(pl.String)]
    assert all(min(values) <= parse(cell) <= max(values) for cell in published)
    assert published.n_unique() <= ROWS // K
    assert_promises_hold(release, table)


def test_a_hierarchy_of_dates_does_not_bring_sets_back() -> None:
    frame = make_table(COLUMNS["dates as text"][0]).frame
    roles = {"when": "quasi_identifying", "sex": "quasi_identifying", "ill": "sensitive"}
    table = Table.of(frame, roles, {"when": {"kind": "date", "units": ["month", "year"]}})
    labels = METHODS["partition"].protect(table).data.frame["when"]
    assert labels.str.starts_with("[").any()
    assert not labels.str.starts_with("{").any()
    months = Partition(models=(KAnonymity(k=K),), publish="hierarchy").protect(table).data.frame["when"]
    assert not months.str.contains(r"[\[{]").any()


@pytest.mark.parametrize("method", METHODS)
def test_sets_of_words_fit_on_a_line(method: str) -> None:
    chance = np.random.default_rng(9)
    jobs = pl.Series([f"a job with a long title {job:02d}" for job in chance.integers(0, 30, ROWS)])
    table = make_table(jobs)
    release = METHODS[method].protect(table)
    assert release.data.frame["when"].str.len_chars().max() <= LONGEST_SET
    assert release.data.frame["when"].str.starts_with("[").any()
    assert_promises_hold(release, table)
    assert measure.loss(release.data, table) == pytest.approx(release.losses["loss"])
    assert Linking().run(release, table).risk > 0, "an attacker reads ranges of words, too"


@pytest.mark.parametrize("kind", COLUMNS)
def test_what_cannot_be_done_with_moments_is_refused_with_a_sentence(kind: str) -> None:
    table = make_table(COLUMNS[kind][0])
    with pytest.raises(DataError, match='"when" has no numbers'):
        TopCode(columns=("when",), k=3).protect(table)
    if kind not in ("dates", "dates as text"):
        with pytest.raises(
            PolicyError, match=r'"when" holds (text|dates with|times of) .*noise can be added to numbers and dates'
        ):
            AddNoise(columns="when", privacy=0.5, ranges="from_data").protect(table)
