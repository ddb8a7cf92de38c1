# SPDX-License-Identifier: MIT
"""The part of the internal report about codes for trees: which columns are sheltered from sorting, and which not."""

from __future__ import annotations

from sfumato.measure.codes.tree_risk import Shelter, shelter
from sfumato.release import Release
from sfumato.report import words
from sfumato.report.account import Figure, Section
from sfumato.report.pictures import PALETTE, Spec, drawn
from sfumato.table import Table


def code_section(release: Release, original: Table) -> Section:
    """What shelters each encoded column, by the recipe of Bu, Lakshmanan, Ng and Ramesh (2007), Section 5.4."""
    method = release.method
    columns = [name for name in release.details.get("pieces", {}) if original.frame[name].count()]
    found = shelter(original, method.target, columns, method.min_width)
    unsafe = sum(not one.safe for one in found)
    intro = (
        f"{words.several(len(found), 'column')} of numbers became codes. The key is in private/ and decodes the tree. "
        f"{words.several(unsafe, 'column is', 'columns are')} not safe from somebody who sorts the codes and knows the "
        "least and the greatest value."
    )
    notes = tuple(f"{one.column}: {one.advice}" for one in found)
    return Section("codes", "What shelters the codes", intro, (_sheltered(found),) if found else (), notes)


def _sheltered(found: tuple[Shelter, ...]) -> Figure:
    rows = tuple(
        (
            one.column,
            words.number(one.distinct),
            words.number(one.discontinuities),
            words.percent(one.pure_share),
            words.percent(one.worst_sorting),
        )
        for one in found
    )
    return Figure(
        "What sorting cracks at worst",
        _bars(found),
        "For each column the share of values that sorting finds within 2 % of the range, at worst.",
        "The share of values that sorting finds within 2 % of the range, at worst. Pure pieces and gaps in the domain "
        "shelter a column.",
        ("Column", "Values", "Gaps", "In pure pieces", "Cracked at worst"),
        rows,
        wide=True,
    )


def _bars(found: tuple[Shelter, ...]) -> str:
    values = [
        {"column": name, "share": one.worst_sorting, "said": words.percent(one.worst_sorting), "safe": one.safe}
        for name, one in zip(words.distinct([one.column for one in found], 22), found, strict=True)
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
    return drawn(spec | {"encoding": encoding, "layer": layers})
