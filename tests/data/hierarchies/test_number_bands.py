# SPDX-License-Identifier: MIT
"""Words that are ranges of numbers get a hierarchy in the order of their numbers."""

from __future__ import annotations

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchies.hierarchy_proposals import propose_hierarchy
from sfumato.data.hierarchies.number_bands import order_number_bands

AGES = ["<18", "18-27", "28-37", "38-47", "48-64", "65+"]


@pytest.mark.parametrize(
    "words",
    [
        AGES,
        ["under 5", "5-9", "10-14", "15 and over"],
        ["0", "1", "2", "3+"],
        ["$0 - $9,999", "$10,000 - $19,999", "$20,000 or more"],
        ["[0, 5)", "[5, 10)", "[10, 15)"],
        ["≤ 9", "10 to 19", "≥ 20"],
        ["18–27", "28–37", "38–47"],
    ],
)
def test_they_have_the_order_of_their_numbers(words: list[str]) -> None:
    ordered = order_number_bands(sorted(words))
    assert ordered is not None
    assert list(ordered) == words


@pytest.mark.parametrize(
    "words",
    [
        ["12-34", "10-99", "20-40"],  # they overlap: codes
        ["2009-06", "2009-07", "2010-01"],
        ["1", "2", "3"],
        ["a-b", "18-27", "28-37"],
        ["18-27", "28-37"],
        [],
    ],
)
def test_other_words_have_none(words: list[str]) -> None:
    assert order_number_bands(words) is None


def test_neighbours_are_grouped() -> None:
    column = pl.Series("age", [*AGES, "unknown"] * 20)
    proposal = propose_hierarchy(column)
    assert proposal is not None
    assert "Ranges of numbers" in proposal.reason
    rows = {row[0]: tuple(row[1:]) for row in proposal.hierarchy.rows}
    assert rows["18-27"] == ("up to 27", "up to 47", "*")
    assert rows["<18"] == rows["18-27"]
    assert rows["65+"] == ("48 and more", "48 and more", "*")
    assert rows["unknown"] == ("unknown", "unknown", "*")


def test_a_partition_with_it_joins_neighbours() -> None:
    column = pl.Series("age", [age for n, age in enumerate(AGES) for _ in range(3 + n % 2)])
    proposal = propose_hierarchy(column)
    assert proposal is not None
    table = sf.Table.of(pl.DataFrame([column]), {"age": "quasi_identifying"}, {"age": proposal.hierarchy})
    release = sf.Partition(models=[sf.KAnonymity(k=5)]).protect(table)
    joined = [label for label in release.data.frame["age"].unique() if "," in label or " " in label]
    assert set(joined) <= {"up to 27", "28-47", "48 and more", "up to 47", "{28-37, 38-47}", "{48-64, 65+}"}
