# SPDX-License-Identifier: MIT
"""Totals, means and contingency tables over several sites, against the joined rows; small groups stay closed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import DataError, PartyError, PolicyError

CATEGORIES = {"sex": ["f", "m"], "ill": ["no", "yes", "never"]}


def make_tables(columns: Sequence[Sequence[float | None]]) -> list[sf.Table]:
    return [
        sf.Table.of(pl.DataFrame({"cost": column}, schema={"cost": pl.Float64}), roles={"cost": "sensitive"})
        for column in columns
    ]


def is_supported(counts: Sequence[int], floor: int) -> bool:
    return all(sum(counts) - count >= floor for count in counts)


CELLS = st.lists(st.one_of(st.none(), st.integers(-10_000, 10_000).map(lambda cents: cents / 100)), max_size=4)


@settings(max_examples=6, deadline=None)
@given(st.lists(CELLS, min_size=3, max_size=4))
def test_totals_and_means_are_those_of_the_joined_rows(columns: list[list[float | None]]) -> None:
    row = sf.parties.add_columns(make_tables(columns), ["cost"], decimals=2, floor=2).sums.row(0, named=True)
    cells = [cell for column in columns for cell in column if cell is not None]
    if not is_supported([sum(cell is not None for cell in column) for column in columns], 2):
        assert row == {"column": "cost", "total": None, "count": None, "mean": None}
        return
    assert row["count"] == len(cells)
    assert row["total"] == sum(round(cell * 100) for cell in cells) / 100
    assert math.isclose(row["mean"], sum(cells) / len(cells), abs_tol=1e-9)


def make_people(rows: Sequence[tuple[str | None, str]]) -> sf.Table:
    frame = pl.DataFrame(list(rows), schema={"sex": pl.String, "ill": pl.String}, orient="row")
    return sf.Table.of(frame, roles={"sex": "quasi_identifying", "ill": "sensitive"})


PEOPLE = st.lists(st.tuples(st.sampled_from(["f", "m", None]), st.sampled_from(["no", "yes"])), max_size=8)


@settings(max_examples=5, deadline=None)
@given(st.lists(PEOPLE, min_size=3, max_size=3))
def test_counts_are_those_of_the_joined_rows(sites: list[list[tuple[str | None, str]]]) -> None:
    counts = sf.parties.count_combinations([make_people(rows) for rows in sites], CATEGORIES, floor=2).counts
    site_counters = [Counter(rows) for rows in sites]
    assert counts.height == 6
    for sex, ill, count in counts.iter_rows():
        parts = [counter[sex, ill] for counter in site_counters]
        assert count == (sum(parts) if is_supported(parts, 2) else None)


def test_a_total_of_a_few_people_without_one_site_stays_closed() -> None:
    """Twenty cells together, of which nineteen are at one site: it would subtract them, and know the last."""
    columns = [[1.0] * 19, [777.0], []]
    frames: list[bytes] = []
    closed = sf.parties.add_columns(make_tables(columns), ["cost"], tap=frames.append)
    assert closed.sums.row(0) == ("cost", None, None, None)
    assert not any(b"totals" in frame for frame in frames)
    assert "whether the other sites together have 10 cells" in str(closed.statements[0])
    even = sf.parties.add_columns(make_tables([[1.0] * 10] * 3), ["cost"])
    assert even.sums.row(0) == ("cost", 30.0, 30, 1.0)
    assert "all other sites together" in str(even.statements[0])


def test_no_number_of_a_site_is_sent_in_the_open() -> None:
    frames: list[bytes] = []
    secret = 123_456_789
    sf.parties.add_columns(make_tables([[float(secret)] * 12] * 3), ["cost"], tap=frames.append)
    wire = b"".join(frames)
    for number in (secret, 12 * secret):
        assert np.uint64(number).tobytes() not in wire
        assert str(number).encode() not in wire


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"decimals": 1}, DataError, '"cost": 2 numbers have more than 1 decimal'),
        ({"decimals": 10}, PolicyError, "from 0 to 9"),
        ({"floor": 1}, PolicyError, "floor must be"),
        ({"columns": []}, PolicyError, "one or more names"),
        ({"columns": "cost"}, PolicyError, "one or more names"),
        ({"columns": ["cost", "cost"]}, PolicyError, "named twice"),
        ({"columns": ["price"]}, DataError, 'no column "price"'),
    ],
)
def test_wrong_sums_are_refused(change: dict[str, object], error: type[Exception], words: str) -> None:
    arguments: dict[str, object] = {"columns": ["cost"], "decimals": 2, **change}
    with pytest.raises(error, match=words) as error_info:
        sf.parties.add_columns(make_tables([[1.25, 2.75]] * 3), **arguments)  # type: ignore[arg-type]
    assert "1.25" not in str(error_info.value)


def test_columns_of_text_and_two_sites_are_refused() -> None:
    people = make_people([("f", "no")])
    with pytest.raises(DataError, match="does not hold numbers"):
        sf.parties.add_columns([people] * 3, ["sex"])
    with pytest.raises(PartyError, match="at least three sites are needed"):
        sf.parties.add_columns(make_tables([[1.0]] * 2), ["cost"])
    with pytest.raises(PartyError, match="at least three sites are needed"):
        sf.parties.count_combinations([people] * 2, CATEGORIES)


@pytest.mark.parametrize(
    ("categories", "error", "words"),
    [
        ({"sex": ["m"], "ill": ["no"]}, DataError, '"sex": 1 cell is not in the agreed list'),
        ({"sex": ["f", "f"]}, PolicyError, "different texts"),
        ({"sex": "fm"}, PolicyError, "different texts"),
        ({"sex": []}, PolicyError, "one or more"),
        ({}, PolicyError, "one or more"),
        ({"count": ["1"]}, PolicyError, "rename it"),
        ({"age": ["1"]}, DataError, 'no column "age"'),
        ({"sex": [str(n) for n in range(200)], "ill": [str(n) for n in range(200)]}, PolicyError, "40,000"),
    ],
)
def test_wrong_tables_are_refused(categories: dict[str, list[str]], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        sf.parties.count_combinations([make_people([("f", "no")])] * 3, categories)
