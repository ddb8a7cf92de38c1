# SPDX-License-Identifier: MIT
"""A "*" that stood in the originals is a value wherever no method makes stars, and no report calls it suppressed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.data.hierarchies.published_labels import Domain

METHODS = {
    "answers": sf.RandomizeResponse(column="ill", epsilon=2, categories="from_data"),
    "swaps": sf.SwapConfidential(column="ill", share=0.5, search="random"),
    "draws": sf.Synthesize(kind="partial", columns=("ill",)),
    "groups": sf.GroupRareValues(columns="ill", min_count=20),
    "nothing": sf.RoundNumbers(columns="age", step=5),
}


def hide_some() -> sf.Table:
    """Illnesses, and numbers of which the source hides some."""
    count = 240
    return sf.Table.of(
        {
            "age": [20 + 7 * row % 41 for row in range(count)],
            "ill": ["flu", "cold", "*", "cough", "flu", "flu"] * 40,
            "pay": ["*" if row % 9 == 0 else str(1000 + 3 * row) for row in range(count)],
        },
        roles={"age": "quasi_identifying", "ill": "sensitive", "pay": "insensitive"},
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_star_of_the_originals_counts_as_a_value(name: str, tmp_path: Path) -> None:
    method: Any = METHODS[name]
    sf.run(hide_some(), method, sf.Randomness.seeded(4), out=tmp_path, accept={"pay": "invented"})
    published = sf.Table.read(tmp_path / "release" / "data.csv").frame
    for folder in ("release", "private"):
        page = (tmp_path / folder / "report.html").read_text(encoding="utf-8")
        for column in published.columns:
            row = re.search(
                rf'<span class="name">{column}</span>.*?Values published" class="num">([\d,]+)<', page, re.S
            )
            assert row is not None
            assert int(row[1].replace(",", "")) == published[column].drop_nulls().n_unique(), (folder, column)
        note = re.search(r"Not drawn, in the release: ([^<]*)<", page)
        assert note is not None
        assert note[1] == "27 &#34;*&#34;."


NAMES = {
    "a star": (["North", "South", "*"], [["North", "N", "*"], ["South", "S", "*"], ["*", "N", "*"]]),
    "the name of a group": (["N", "South", "West"], [["N", "N", "*"], ["South", "S", "*"], ["West", "N", "*"]]),
}


@pytest.mark.parametrize("case", NAMES)
def test_values_of_an_unchanged_column_are_not_read_as_labels(case: str, tmp_path: Path) -> None:
    """ "N" may be a place and a group of places; where no column was generalized, nothing of it is lost."""
    places, rows = NAMES[case]
    table = sf.Table.of(
        {"place": places * 40, "ill": ["flu", "cold", "cough", "flu"] * 30},
        roles={"place": "quasi_identifying", "ill": "sensitive"},
        hierarchies={"place": sf.Hierarchy.of(rows)},
    )
    method = sf.SwapConfidential(column="ill", share=0.5, search="random")
    run = sf.run(table, method, sf.Randomness.seeded(4), out=tmp_path)
    utility = run.record["utility"]
    assert utility["precision"] == 1
    assert utility["non_uniform_entropy"] == 0
    assert utility["total_variation"] == 0
    page = re.sub(r"<[^>]+>|\s+", " ", (tmp_path / "private" / "report.html").read_text(encoding="utf-8"))
    for place in places:
        assert re.search(rf" {re.escape(place)} +40 +40 ", page), place


def test_a_star_of_the_originals_covers_itself_alone() -> None:
    places = ["North"] * 60 + ["South"] * 50 + ["*"] * 40
    table = sf.Table.of(
        {"place": places},
        roles={"place": "quasi_identifying"},
        hierarchies={"place": sf.Hierarchy.of([[place, "all", "*"] for place in dict.fromkeys(places)])},
    )
    domain = Domain.of(table.frame["place"], table.hierarchies["place"])
    assert domain.measure_losses(["*", "all", "North"]).tolist() == [0, 1, 0]
    assert domain.list_covered("*").tolist() == [2]
    assert not domain.says_nothing("*")
    assert sf.measure.precision(table, table) == 1
