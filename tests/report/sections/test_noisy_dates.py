# SPDX-License-Identifier: MIT
"""Dates with noise are drawn and listed as dates: nobody reads days since 1970."""

import re
from datetime import date, timedelta

import pytest

import sfumato as sf
from sfumato.report.run_account import ReportFigure
from sfumato.report.sections.noise_section import build_estimates_section, build_filtered_section


def read_labels(figure: ReportFigure) -> list[str]:
    """The texts of the axes of a picture, without its legend and titles."""
    axes = re.findall(r'role-axis-label"(.*?)</g>', figure.svg, re.DOTALL)
    return [text for axis in axes for text in re.findall(r">([^<>]+)</text>", axis)]


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("kind", ["uniform", "gaussian", "correlated", "discretize"])
def test_noisy_dates_are_shown_as_dates(kind: str, as_text: bool) -> None:
    days = [date(1960, 1, 1) + timedelta(days=37 * (i * 97 % 400)) for i in range(400)]
    cells = [day.isoformat() for day in days] if as_text else days
    table = sf.Table.of(
        {"born": cells, "salary": [1000 + 7 * (i % 90) for i in range(400)]},
        roles={"born": "sensitive", "salary": "sensitive"},
    )
    method = sf.AddNoise(columns=("born", "salary"), kind=kind, privacy=0.5, ranges="from_data")
    release = method.protect(table, randomness=sf.Randomness.seeded(3))
    rounded = {
        claim.arguments["column"]: claim.meaning for claim in release.claims if "rounded to whole" in claim.meaning
    }
    assert all(("whole days" in meaning) == (name == "born") for name, meaning in rounded.items())
    assert len(rounded) == (0 if kind == "discretize" else 2)
    sections = (
        build_estimates_section(release.public, release.data),
        build_filtered_section(release, table, release.data),
    )
    figures = [figure for section in sections for figure in section.figures if figure.title.startswith("born")]
    assert len(figures) == 3
    for figure in figures:
        assert " days" in figure.title + figure.caption
        labels = read_labels(figure)
        assert len(labels) > 2
        assert all(1900 <= int(label) < 2100 for label in labels)
        for first_cell, _ in figure.rows:
            first_day, last_day = map(date.fromisoformat, first_cell.split(" to "))
            assert first_day <= last_day
    numbers = [figure for section in sections for figure in section.figures if figure.title.startswith("salary")]
    assert len(numbers) == 3
    assert not any(" days" in figure.title + figure.caption for figure in numbers)
