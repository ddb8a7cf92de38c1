# SPDX-License-Identifier: MIT
"""A "*" that stood in the originals is a value wherever no method makes stars, and no report calls it suppressed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

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
