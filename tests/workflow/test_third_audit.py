# SPDX-License-Identifier: MIT
"""What a third auditor, an adversary and a newcomer found false, each with the policy that showed it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import polars as pl

import sfumato as sf

ROLES = {"age": "quasi_identifying", "zip": "quasi_identifying", "ill": "sensitive"}


def make_people(count: int = 60) -> sf.Table:
    """People of many ages and few places."""
    frame = pl.DataFrame(
        {
            "age": [20 + row * 7 % 45 for row in range(count)],
            "zip": [f"{row * 3 % 8}" for row in range(count)],
            "ill": [["flu", "cold", "ache"][row % 3] for row in range(count)],
        }
    )
    ages = [[str(age), f"{age // 10 * 10}s", "*"] for age in sorted(set(frame["age"]))]
    places = [[place, "*"] for place in sorted(set(frame["zip"]))]
    return sf.Table.of(frame, ROLES, {"age": ages, "zip": places})


def read_page(path: Path) -> str:
    """The words of a report."""
    text = re.sub(r"<(style|script|svg).*?</\1>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_a_proof_about_one_method_is_not_one_about_the_other(tmp_path: Path) -> None:
    """The keys of several methods were read as those of one: the last that set each."""
    dividing = sf.Partition(models=[sf.KAnonymity(k=2)])
    hiding = sf.SuppressEntries(private={"columns": ["ill"], "where": {"ill": "flu"}}, confidence=0.9, min_support=50)
    run = sf.run(make_people(), [dividing, hiding], out=tmp_path / "out", randomness=sf.Randomness.seeded(3))
    partition, entries = (step.find_optimality() for step in run.release.details.list_steps())
    assert partition is None
    assert entries is not None and entries.is_proven
    words = read_page(tmp_path / "out" / "private" / "report.html")
    assert "Optimality of suppress_entries proven: nothing costs less" in words
    assert words.count("proven") == 1
