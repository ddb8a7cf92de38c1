# SPDX-License-Identifier: MIT
"""Whether joined tables are k-anonymous, against counting the joined rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import PartyError, PolicyError
from sfumato.parties.arithmetic.group import get_group
from sfumato.parties.joint_anonymity import list_points
from sfumato.parties.transport.network import Network

Row = tuple[int | None, str]


def make_table(rows: list[Row], columns: tuple[str, str] = ("age", "zip")) -> sf.Table:
    import polars as pl

    frame = pl.DataFrame(rows, schema={columns[0]: pl.Int64, columns[1]: pl.String}, orient="row")
    return sf.Table.of(frame, roles=dict.fromkeys(columns, "quasi_identifying"))


ROWS = st.lists(st.tuples(st.sampled_from([30, 40, None]), st.sampled_from(["a", "b"])), max_size=5)


@settings(max_examples=6, deadline=None)
@given(st.lists(ROWS, min_size=3, max_size=3), st.integers(2, 3))
def test_the_answer_equals_counting_the_joined_rows(sites: list[list[Row]], k: int) -> None:
    expected = all(count >= k for count in Counter(row for rows in sites for row in rows).values())
    assert sf.parties.check_k_anonymity([make_table(rows) for rows in sites], k).holds == expected


def test_small_classes_of_sites_may_be_large_together_and_nothing_is_shown() -> None:
    frames: list[bytes] = []
    sites: list[list[Row]] = [[(30, "02139"), (40, "02138")], [(30, "02139")], [(40, "02138"), (30, "02139")]]
    answer = sf.parties.check_k_anonymity([make_table(rows) for rows in sites], 2, tap=frames.append)
    assert answer.holds
    assert not sf.parties.check_k_anonymity([make_table(rows) for rows in sites], 3).holds
    assert b"02139" not in b"".join(frames)
    assert "0 classes have fewer than 2 rows" in str(answer.statements[2])
    assert "fewer than 2 rows" not in str(answer.statements[0])


@pytest.mark.parametrize(("classes", "length"), [({}, 3), ({b"a": 9}, 6), ({b"a": 1, b"b": 2}, 9), ({b"a": 1}, 8)])
def test_lists_have_the_common_length_and_filling_is_never_small(classes: dict[bytes, int], length: int) -> None:
    points = list_points(get_group(), "test", classes, 3, length)
    assert len(points) == length
    counts = Counter(points)
    local_counts = {get_group().hash_entry("test", cells): min(count, 3) for cells, count in classes.items()}
    assert all(counts[point] == count for point, count in local_counts.items())
    assert all(count >= 3 for point, count in counts.items() if point not in local_counts)


def test_lists_that_would_take_hours_are_refused() -> None:
    with pytest.raises(PartyError, match="2,048,000 points, above 1,048,576"):
        sf.parties.check_k_anonymity([make_table([(age, "a") for age in range(1500)])] * 3, 1000)


def test_a_last_site_that_tells_sites_different_answers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    send = Network.send

    async def lie(network: Network, receiver: str, kind: str, arrays: Any = None, facts: Any = None) -> None:
        is_lie = kind.endswith("/answer") and receiver == "site 1"
        await send(network, receiver, kind, arrays, {"holds": False} if is_lie else facts)

    monkeypatch.setattr(Network, "send", lie)
    with pytest.raises(PartyError, match="found different results"):
        sf.parties.check_k_anonymity([make_table([(30, "a")])] * 3, 2)


def test_wrong_questions_are_refused() -> None:
    table = make_table([(30, "a")])
    with pytest.raises(PolicyError, match="whole number"):
        sf.parties.check_k_anonymity([table] * 3, 1)
    with pytest.raises(PartyError, match="three or more"):
        sf.parties.check_k_anonymity([table] * 2, 2)
    with pytest.raises(PartyError, match="another columns"):
        sf.parties.check_k_anonymity([table, table, make_table([(30, "a")], ("age", "city"))], 2)
    plain = sf.Table.of({"x": [1]}, roles={"x": "insensitive"})
    with pytest.raises(PolicyError, match="quasi-identifying"):
        sf.parties.check_k_anonymity([plain] * 3, 2)
