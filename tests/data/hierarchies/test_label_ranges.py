# SPDX-License-Identifier: MIT
"""Ranges of numbers, of moments in time and of words: what they cover, by brute force."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.cells.moments_in_text import locate_moments, parse_moment
from sfumato.data.hierarchies.label_choice import LONGEST_SET, choose_label, choose_range, estimate_set_length
from sfumato.data.hierarchies.label_ranges import flag_between, is_range, parse_moments, parse_range, parse_words
from sfumato.data.hierarchies.published_labels import Domain

ZONES = [timezone(timedelta(hours=hours)) for hours in (-7, 0, 1, 5)]
MOMENTS = {
    "days": st.dates(),
    "timestamps": st.datetimes(),
    "timestamps in zones": st.datetimes(datetime(1900, 1, 1), timezones=st.sampled_from(ZONES)),
    "times of day": st.times(),
}


@pytest.mark.parametrize("kind", MOMENTS)
def test_moments_have_the_order_of_time(kind: str) -> None:
    @settings(max_examples=30)
    @given(st.lists(MOMENTS[kind], min_size=2, max_size=8))
    def compare(moments: list[date | time]) -> None:
        texts = pl.Series([str(moment) for moment in moments])
        positions = locate_moments(texts)
        assert positions is not None
        assert positions.to_list() == [parse_moment(text) for text in texts], "a column and a cell are read alike"
        for i, first in enumerate(moments):
            for j, second in enumerate(moments):
                assert (positions[i] < positions[j]) == (first < second)  # type: ignore[operator]

    compare()


@pytest.mark.parametrize(
    "texts",
    [
        ["2020-02-30", "2020-01-01"],
        ["2020-01-01", "12:00"],
        ["2020-01-01 10:00", "2020-01-01 10:00+01:00"],
        ["2020-01-01", "unknown"],
        ["24:00"],
        [],
    ],
)
def test_other_texts_are_not_in_time(texts: list[str]) -> None:
    assert locate_moments(pl.Series(texts, dtype=pl.String)) is None


def test_missing_moments_and_months() -> None:
    positions = locate_moments(pl.Series(["2020-02", None, "2020-01"]))
    assert positions is not None
    assert positions.null_count() == 1
    assert positions[2] < positions[0]
    assert parse_moment("2020-01-01T00:00Z") == parse_moment("2020-01-01 01:00:00.000000+0100")
    assert parse_moment("1970-01-01 00:00:00.5") == 500_000


def test_the_kinds_of_ranges() -> None:
    assert parse_range("[20, 29]") == (20, 29)
    assert parse_moments("[2020-01-01, 2020-01-03]") is not None
    assert parse_moments("[2020-01-03, 2020-01-01]") is None
    assert parse_moments("[2020-01-01, 12:00]") is None
    assert parse_words("[Clerk, Miner]") == ("Clerk", "Miner")
    assert parse_words("[20, 29]") is None
    assert parse_words("[Miner, Clerk]") is None
    assert not is_range("{Clerk, Miner}")


@settings(max_examples=40)
@given(st.lists(st.dates(date(2020, 1, 1), date(2020, 3, 1)), min_size=1, max_size=12), st.data())
def test_ranges_of_days_cover_the_days_between(days: list[date], data: st.DataObject) -> None:
    column = pl.Series("born", days)
    low, high = sorted([data.draw(st.sampled_from(days)), data.draw(st.sampled_from(days))])
    label = f"[{low}, {high}]"
    covered_days = sorted({str(day) for day in days if low <= day <= high})
    for series in (column, column.cast(pl.String)):
        domain = Domain.of(series)
        assert [domain.leaves[leaf] for leaf in domain.list_covered(label)] == covered_days
        assert domain.reads(label)
        assert domain.measure_label_loss(label) == (len(covered_days) - 1) / max(len(set(days)) - 1, 1)
    assert column.filter(flag_between(column.cast(pl.String), label)).to_list() == [d for d in days if low <= d <= high]


WORDS = st.text(st.sampled_from("abcz é-"), min_size=1, max_size=3).map(str.strip).filter(bool)


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=2, max_size=12, unique=True), st.data())
def test_ranges_of_words_cover_the_words_between(words: list[str], data: st.DataObject) -> None:
    domain = Domain.of(pl.Series("job", words))
    leaf_codes = np.array(sorted(data.draw(st.sets(st.sampled_from(range(len(words))), min_size=2))), dtype=np.int64)
    choice = choose_range(domain, leaf_codes)
    assert choice is not None
    leaf_words = [domain.leaves[leaf] for leaf in leaf_codes]
    covered_words = {word for word in words if min(leaf_words) <= word <= max(leaf_words)}
    assert {domain.leaves[leaf] for leaf in domain.list_covered(choice.text)} == covered_words
    assert choice.lost_count == len(covered_words) - 1
    assert set(pl.Series(words).filter(flag_between(pl.Series(words), choice.text))) == covered_words


def test_instants_in_several_zones_are_compared_by_the_clock() -> None:
    domain = Domain.of(pl.Series(["2020-01-01 10:00+00:00", "2020-01-01 09:30-01:00", "2020-01-01 10:15+00:00"]))
    assert domain.count("[2020-01-01 10:00+00:00, 2020-01-01 10:15+00:00]") == 2


@pytest.mark.parametrize("words", [2, 3, 8, 30])
def test_a_set_is_never_longer_than_a_line(words: int) -> None:
    domain = Domain.of(pl.Series("job", [f"a rather long title {i:02d}" for i in range(40)]))
    choice = choose_label(domain, np.arange(words, dtype=np.int64))
    assert len(choice.text) <= LONGEST_SET
    assert choice.text.startswith("{" if words <= 3 else "[")
    assert domain.count(choice.text) - 1 == choice.lost_count == words - 1


def test_what_cannot_stand_in_a_range_becomes_a_star() -> None:
    domain = Domain.of(pl.Series("job", [f"title {i:02d}, of a kind [{i}]" for i in range(40)]))
    assert choose_label(domain, np.arange(9, dtype=np.int64)) == ("*", 39)


def test_estimated_lengths_count_common_values() -> None:
    countries = pl.Series(["United States", *(f"country {i}" for i in range(20))])
    assert estimate_set_length(countries, np.array([980] + [1] * 20), 5) < 20
    assert estimate_set_length(pl.Series([f"country {i:02d}" for i in range(60)]), np.ones(60, int), 9) > LONGEST_SET
    assert estimate_set_length(pl.Series([], dtype=pl.String), np.zeros(0, int), 5) == 0


def test_the_zone_of_utc_is_spelled_in_two_ways() -> None:
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC)
    assert parse_moment(noon.isoformat()) == parse_moment("2020-01-01T12:00:00Z")
