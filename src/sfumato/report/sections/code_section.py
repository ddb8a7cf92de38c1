# SPDX-License-Identifier: MIT
"""The section of the internal report about codes for trees: which columns are protected against sorting."""

from __future__ import annotations

from sfumato.details import CodeDetails
from sfumato.errors import count_noun
from sfumato.measure.codes.tree_risk import SORTING_LIMIT, ColumnShelter, shelter
from sfumato.release import Release
from sfumato.report.pictures.rendering import PALETTE, Spec, render_svg
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.words import wording
from sfumato.table import Table


def build_code_section(release: Release, original: Table) -> ReportSection:
    """What protects each encoded column (Bu, Lakshmanan, Ng and Ramesh 2007, Section 5.4)."""
    method = release.method
    columns = [
        name for name in release.details.require_family(CodeDetails).pieces or {} if original.frame[name].count()
    ]
    shelters = shelter(original, method.target, columns, method.min_width, release=release)
    unsafe = sum(not shelter.safe for shelter in shelters)
    intro = (
        f"{count_noun(len(shelters), 'numeric column was', 'numeric columns were')} encoded. The key in "
        "private/ decodes the tree. Someone who sorts the codes and knows the smallest and the largest value may learn "
        f"more than {wording.format_percent(SORTING_LIMIT)} of the values of "
        f"{count_noun(unsafe, 'column', 'columns') if unsafe else 'no column'}."
    )
    notes = tuple(f"{shelter.column}: {shelter.advice}" for shelter in shelters)
    return ReportSection(
        "codes", "What protects the codes", intro, (_build_shelter_figure(shelters),) if shelters else (), notes
    )


def _build_shelter_figure(shelters: tuple[ColumnShelter, ...]) -> ReportFigure:
    rows = tuple(
        (
            shelter.column,
            wording.format_count(shelter.distinct),
            wording.format_count(shelter.discontinuities),
            wording.format_percent(shelter.pure_share),
            wording.format_percent(shelter.revealed_share),
        )
        for shelter in shelters
    )
    return ReportFigure(
        "What sorting reveals at worst",
        _draw_shelter_bars(shelters),
        "For each column, the share of values that sorting reveals to within 2 % of the range, at worst.",
        "The share of values that sorting reveals to within 2 % of the range, at worst: of distinct values or, if that "
        "is more, of people. Pure pieces and gaps in the domain protect a column.",
        ("Column", "Values", "Gaps", "In pure pieces", "Revealed at worst"),
        rows,
        wide=True,
    )


def _draw_shelter_bars(shelters: tuple[ColumnShelter, ...]) -> str:
    values = [
        {
            "column": name,
            "share": shelter.revealed_share,
            "said": wording.format_percent(shelter.revealed_share),
            "safe": shelter.safe,
        }
        for name, shelter in zip(
            wording.shorten_distinctly([shelter.column for shelter in shelters], 22), shelters, strict=True
        )
    ]
    colour: Spec = {"condition": {"test": "datum.safe", "value": PALETTE["accent"][0]}, "value": PALETTE["warn"][0]}
    axis: Spec = {"grid": False, "labelLimit": 180}
    encoding: Spec = {
        "y": {"field": "column", "type": "nominal", "sort": None, "title": None, "axis": axis},
        "x": {"field": "share", "type": "quantitative", "title": None, "scale": {"domain": [0, 1.1]}, "axis": None},
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar", "cornerRadiusEnd": 2, "height": 14}, "encoding": {"color": colour}},
        {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": {"field": "said"}}},
    ]
    spec: Spec = {"width": 420, "height": 26 * len(values), "data": {"values": values}}
    return render_svg(spec | {"encoding": encoding, "layer": layers})
