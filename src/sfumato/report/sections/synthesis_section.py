# SPDX-License-Identifier: MIT
"""The section of the internal report about synthetic rows: are they nearer to the people the model learned from?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from sfumato.details import SynthesisDetails
from sfumato.errors import count_noun
from sfumato.measure.synthesis.synthesis_checks import ExactCopies, compare_with_holdout
from sfumato.release import Release
from sfumato.report.pictures.rendering import PALETTE, Spec, render_svg
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.words import wording
from sfumato.table import Table

_SIDES = ("training people", "people set aside")
_INK = PALETTE["ink"][0]
_HUES = [PALETTE["accent"][0], PALETTE["before"][0]]


def build_synthesis_section(release: Release, original: Table, published_table: Table) -> ReportSection:
    """Compare the synthetic rows with the training people and with as many people who were set aside."""
    comparison = compare_with_holdout(
        published_table, original, release.details.require_family(SynthesisDetails).holdout
    )
    gaps, training, holdout = comparison.closest, comparison.training, comparison.holdout
    intro = (
        f"{wording.format_count(comparison.people)} people were set aside: the model did not learn from them. Of "
        f"{count_noun(gaps.rows, 'synthetic row')}, {wording.format_percent(gaps.nearer)} are nearer to a "
        "training person than to a person set aside; 50 % is ideal. Much more means that the rows reveal training "
        f"people. {_describe_copies(comparison.all_training)}"
    )
    copy_figure = _build_comparison_figure(
        "Rows that equal a person's row",
        "Synthetic rows that equal a person's row in every column, for "
        f"{wording.format_count(comparison.people)} people on either side.",
        (
            _ComparedValue("equal a person", training.rows, holdout.rows),
            _ComparedValue("equal a unique person", training.unique_rows, holdout.unique_rows),
        ),
        wording.format_count,
    )
    far = _build_comparison_figure(
        "How far rows are from the closest person",
        "From 0 (equal) to 1 (different in every column); the same on both sides is best.",
        (
            _ComparedValue("closest 5 %", gaps.training_5th, gaps.holdout_5th),
            _ComparedValue("median", gaps.training_median, gaps.holdout_median),
        ),
        lambda value: f"{value:.3f}",
    )
    return ReportSection("strangers", "Are rows nearer to training people?", intro, (copy_figure, far))


def _describe_copies(copies: ExactCopies) -> str:
    """How many synthetic rows equal someone's, of all training people."""
    if not copies.rows:
        return "No synthetic row equals the row of a training person in every column."
    rows = count_noun(copies.rows, "synthetic row equals", "synthetic rows equal")
    unique_rows = wording.format_count(copies.unique_rows)
    return f"{rows} the row of a training person in every column, {unique_rows} a unique one's."


class _ComparedValue(NamedTuple):
    """A number for the training people, and for those set aside."""

    label: str
    training: float
    holdout: float


def _build_comparison_figure(
    title: str, caption: str, rows: Sequence[_ComparedValue], format_value: Callable[[float], str]
) -> ReportFigure:
    values = [
        {"what": label, "side": side, "value": value, "said": format_value(value)}
        for label, *side_values in rows
        for side, value in zip(_SIDES, side_values, strict=True)
    ]
    most = max((max(side_values) for _, *side_values in rows), default=0) or 1
    legend: Spec = {"orient": "top", "title": None, "labelColor": _INK, "labelFontSize": 12, "columnPadding": 24}
    encoding: Spec = {
        "y": {"field": "what", "type": "nominal", "sort": None, "title": None, "axis": {"grid": False}},
        "yOffset": {"field": "side", "type": "nominal", "scale": {"domain": list(_SIDES)}},
        "x": {"field": "value", "type": "quantitative", "title": None, "axis": None, "scale": {"domain": [0, most]}},
    }
    colour: Spec = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(_SIDES), "range": _HUES},
        "legend": legend,
    }
    layers: list[Spec] = [
        {"mark": {"type": "bar", "cornerRadiusEnd": 2}, "encoding": {"color": colour}},
        {"mark": {"type": "text", "align": "left", "dx": 5}, "encoding": {"text": {"field": "said"}}},
    ]
    spec: Spec = {"width": 240, "height": 110, "data": {"values": values}, "encoding": encoding, "layer": layers}
    table_rows = tuple((label, format_value(value), format_value(other)) for label, value, other in rows)
    return ReportFigure(title, render_svg(spec), caption, caption, ("", *_SIDES), table_rows)
