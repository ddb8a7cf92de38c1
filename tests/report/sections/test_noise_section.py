# SPDX-License-Identifier: MIT
"""The parts of a report about chance: what they draw, and that they survive any column."""

from __future__ import annotations

import datetime
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.details import Details
from sfumato.published_law import read_laws
from sfumato.report.run_account import ReportSection
from sfumato.report.sections.chosen_sections import make_sections
from sfumato.report.sections.noise_section import build_estimates_section, build_filtered_section
from sfumato.report.sections.synthesis_section import build_synthesis_section

CHANCE = sf.Randomness.seeded


def noise_sections(release: sf.Release, original: sf.Table, published: sf.Table) -> tuple[ReportSection, ReportSection]:
    """What leaves, and what stays."""
    return build_estimates_section(release.public, published), build_filtered_section(release, original, published)


DAY = datetime.date(2020, 1, 1)


def table(rows: int = 400) -> sf.Table:
    chance = np.random.default_rng(2)
    return sf.Table.of(
        {
            "born": [DAY + datetime.timedelta(days=int(n)) for n in chance.integers(0, 900, rows)],
            "age": [int(n) if n % 9 else None for n in chance.integers(20, 80, rows)],
            "<b>income": chance.normal(3000, 400, rows),
            "empty": pl.Series([None] * rows, dtype=pl.Int64),
            "ill": chance.choice(["yes", "no"], rows),
            "town": [f"town {n}" for n in chance.integers(0, 40, rows)],
        },
        dict.fromkeys(("born", "age", "<b>income", "empty"), "quasi_identifying")
        | {"ill": "sensitive", "town": "sensitive"},
    )


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated", "discretize"])
def test_every_kind_of_noise_is_drawn(kind: str) -> None:
    original = table()
    release = sf.AddNoise(columns=("born", "age", "<b>income"), kind=kind, privacy=0.4).protect(original, CHANCE(1))
    outgoing_section, house = noise_sections(release, original, release.data)
    assert len(outgoing_section.figures) == 3
    assert len(house.figures) == 6
    for figure in (*outgoing_section.figures, *house.figures):
        assert figure.svg.startswith("<svg")
        assert "<b>" not in figure.svg
    assert "originals" in house.figures[3].svg
    assert all("originals" not in figure.svg for figure in outgoing_section.figures)


@pytest.mark.parametrize("high", [10, 300, 400, 4000])
def test_every_whole_number_is_in_one_range(high: int) -> None:
    """The ranges 103.5 to 107.5 and 107.5 to 110.5 were "104 to 108" and "108 to 110"."""
    chance = np.random.default_rng(3)
    original = sf.Table.of({"age": chance.integers(0, high, 300)}, {"age": "quasi_identifying"})
    release = sf.AddNoise(columns="age", ranges={"age": (0, high)}, privacy=0.2).protect(original, CHANCE(1))
    ranges = [row[0].partition(" to ") for row in build_estimates_section(release.public, release.data).figures[0].rows]
    numbers = [number for low, _, last in ranges for number in range(int(low), int(last or low) + 1)]
    assert numbers == list(range(high + 1))


def test_ranges_of_decimals_do_not_overlap() -> None:
    original = sf.Table.of({"share": np.random.default_rng(3).random(300)}, {"share": "quasi_identifying"})
    release = sf.AddNoise(columns="share", ranges={"share": (0.0, 1.0)}, privacy=0.2).protect(original, CHANCE(1))
    rows = build_estimates_section(release.public, release.data).figures[0].rows
    assert [rows[0][0], rows[-1][0]] == ["0 to under 0.033", "0.967 to 1"]


def test_what_is_estimated_stands_beside_the_truth() -> None:
    original = table(3000)
    release = sf.RandomizeResponse(column=("ill", "town"), epsilon=2.0).protect(original, CHANCE(1))
    outgoing_section, house = noise_sections(release, original, release.data)
    assert [len(section.figures) for section in (outgoing_section, house)] == [2, 2]
    ill = outgoing_section.figures[0]
    assert ill.head == ("Answer", "Estimated share", "95 % interval")
    assert {row[0] for row in ill.rows} == {"yes", "no"}
    assert "28 answers are not drawn" in outgoing_section.figures[1].caption


def test_answers_that_tell_nothing_and_columns_without_values_are_left_out() -> None:
    original = table()
    release = sf.RandomizeResponse(column="ill", p=0.5).protect(original, CHANCE(1))
    assert [section.figures for section in noise_sections(release, original, release.data)] == [(), ()]
    bare = {"empty": {"kind": "gaussian", "scale": 2.0, "step": 1, "range": [0, 9]}}
    release = sf.Release(original, None, (), {}, Details(public=read_laws(bare)))
    assert [section.figures for section in noise_sections(release, original, original)] == [(), ()]


def test_synthetic_rows_are_judged_by_people_set_aside() -> None:
    original = table(600)
    release = sf.Synthesize(holdout=0.4).protect(original, CHANCE(1))
    synthesis = build_synthesis_section(release, original, release.data)
    assert "240 people were set aside" in synthesis.intro
    assert [row[0] for row in synthesis.figures[0].rows] == ["equal a person", "equal a unique person"]
    assert [section.anchor for section in make_sections([release.method], release, original, release.data, {})] == [
        "strangers"
    ]
    bare_release = replace(release, details=replace(release.details, holdout=np.array([], dtype=np.int64)))  # type: ignore[call-arg]
    assert make_sections([release.method], bare_release, original, release.data, {}) == ()
