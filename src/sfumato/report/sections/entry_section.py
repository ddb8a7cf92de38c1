# SPDX-License-Identifier: MIT
"""The section of the internal report about blanked entries: where they are, why, and which rules are left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.cells.private_entries import PrivateEntries
from sfumato.details import EntryDetails
from sfumato.errors import count_noun
from sfumato.release import Release
from sfumato.report.pictures.entry_pictures import (
    ColumnExposure,
    draw_blanked_map,
    draw_blanking_curve,
    draw_exposure_by_column,
)
from sfumato.report.pictures.rule_pictures import RuleSpot, draw_rules_before_and_after
from sfumato.report.run_account import ReportFigure, ReportSection
from sfumato.report.words import wording
from sfumato.runtime.progress import report_progress
from sfumato.table import Table

_EXAMPLES = 12
FACTORS = (100, 30, 10, 3, 1)
"""Blanking factors that are compared in a picture."""
_PREDICTS = (
    "of the given length, confidence and support {verb} right about at least that share of the private entries "
    "{pronoun}"
)
_PATIENCE = 3.0
"""Seconds after which no further factor is tried."""


def build_entry_section(release: Release, original: Table, published_table: Table) -> ReportSection:
    """Which entries were blanked, by row, column and reason."""
    details = release.details.require_family(EntryDetails)
    columns = published_table.frame.columns
    exposures = _list_column_exposures(details, columns)
    figures = [
        _build_map_figure(details, published_table),
        _build_exposure_figure(exposures),
        _build_entry_rules_figure(details),
    ]
    sizes = _list_blanking_sizes(release, original)
    if len(sizes) > 1:
        figures.append(_build_curve_figure(sizes, _get_blanking_factor(release)))
    private, derived = len(details.private), len(details.derived)
    exposed_count = sum(exposure.exposed_count for exposure in exposures)
    remaining_rules = _list_rule_spots(details.rules_after)
    return ReportSection(
        "entries",
        "What was blanked, and why",
        _describe_blanking(private, exposed_count, derived, len(remaining_rules)),
        tuple(figures),
        (*_name_blanked_columns(exposures), *_describe_reasons(details)),
    )


def _describe_blanking(private: int, exposed_count: int, derived: int, rules_left: int) -> str:
    """How many entries were private, how many of them rules predict, and what was blanked against that."""
    private_text = f"{count_noun(private, 'entry was', 'entries were')} private and blanked. "
    if not exposed_count:
        risk = f"No rule {_PREDICTS.format(verb='is', pronoun='it fits')}. "
    else:
        risk = (
            "That alone would not be enough: "
            f"{count_noun(exposed_count, 'is', 'are')} predicted by rules "
            f"{_PREDICTS.format(verb='that are', pronoun='they fit')}. "
        )
    further = f"{count_noun(derived, 'further entry was', 'further entries were')} blanked; "
    return f"{private_text}{risk}{further}{count_noun(rules_left, 'such rule is', 'such rules are')} left."


def _build_entry_mask(cells: Sequence[tuple[int, str]], published_table: Table) -> np.ndarray[Any, np.dtype[np.bool_]]:
    column_index = {name: index for index, name in enumerate(published_table.frame.columns)}
    mask = np.zeros((len(published_table), len(column_index)), dtype=bool)
    cell_indices = [(row, column_index[name]) for row, name in cells if name in column_index]
    if cell_indices:
        rows, columns = zip(*cell_indices, strict=True)
        mask[list(rows), list(columns)] = True
    return mask


def _build_map_figure(details: EntryDetails, published_table: Table) -> ReportFigure:
    columns = published_table.frame.columns
    svg = draw_blanked_map(
        columns,
        _build_entry_mask(details.private, published_table),
        _build_entry_mask(details.derived, published_table),
        title="",
    )
    return ReportFigure(
        "Where entries are blank",
        svg,
        "Rows by columns: which entries are private, and which were blanked to protect them.",
        "Rows in file order from top to bottom: private entries, and entries blanked to protect them.",
    )


def _list_column_exposures(details: EntryDetails, columns: Sequence[str]) -> list[ColumnExposure]:
    private = Counter(column for _, column in details.private)
    derived = Counter(column for _, column in details.derived)
    exposed_counts: Mapping[str, int] = details.exposed_entries or {}
    return [ColumnExposure(name, private[name], int(exposed_counts.get(name, 0)), derived[name]) for name in columns]


def _name_blanked_columns(exposures: Sequence[ColumnExposure]) -> list[str]:
    """How many entries of each column are blank, the most first."""
    blanked_columns = sorted(
        (exposure for exposure in exposures if exposure.private + exposure.derived),
        key=lambda exposure: -(exposure.private + exposure.derived),
    )
    counts = [
        f'"{wording.shorten_label(exposure.column)}" {wording.format_count(exposure.private + exposure.derived)} '
        f"({wording.format_count(exposure.private)} private, {wording.format_count(exposure.derived)} to protect)"
        for exposure in blanked_columns[:_EXAMPLES]
    ]
    rest = len(blanked_columns) - len(counts)
    more = f" and {count_noun(rest, 'more column')}" if rest else ""
    return [f"Entries blanked by column: {', '.join(counts)}{more}."] if counts else []


def _build_exposure_figure(exposures: Sequence[ColumnExposure]) -> ReportFigure:
    rows = tuple(
        (
            exposure.column,
            wording.format_count(exposure.private),
            wording.format_count(exposure.exposed_count),
            wording.format_count(exposure.derived),
        )
        for exposure in exposures
    )
    return ReportFigure(
        "Exposure by column",
        draw_exposure_by_column(exposures, title=""),
        "For each column: private entries, those that rules predicted, and entries blanked to protect them.",
        "Per column: private entries, how many of them a rule predicted, and entries blanked to protect them.",
        ("Column", "Private", "Predicted by a rule before", "Blanked to protect"),
        rows,
    )


def _build_entry_rules_figure(details: EntryDetails) -> ReportFigure:
    original, published_spots = (
        _list_rule_spots(details.rules_before),
        _list_rule_spots(details.rules_after),
    )
    confidence, support = float(details.confidence), int(details.least or 0)
    return ReportFigure(
        "Rules before and after",
        draw_rules_before_and_after(original, published_spots, confidence, support, title=""),
        f"{count_noun(len(original), 'rule')} predicted a private entry before, "
        f"{wording.format_count(len(published_spots))} after.",
        f"Every rule {_PREDICTS.format(verb='that is', pronoun='it fits')}: "
        f"{wording.format_count(len(original))} before, "
        f"{wording.format_count(len(published_spots))} after. Rules that are right less often are not drawn.",
        wide=True,
    )


def _list_rule_spots(rules: pl.DataFrame | None) -> list[RuleSpot]:
    if rules is None or rules.is_empty():
        return []
    return [
        RuleSpot(float(confidence), int(support))
        for confidence, support in rules.select("public_confidence", "public_support").iter_rows()
    ]


def _list_blanking_sizes(release: Release, original: Table) -> list[tuple[int, int]]:
    """How many further entries the paper's search blanks, by blanking factor; large factors are fast and run first."""
    method, start_time = release.method, monotonic()
    details = release.details.require_family(EntryDetails)
    published_rows = original.replace_frame(original.frame[details.trace_rows(len(release.data))])
    private = tuple((int(row), column) for row, column in details.private)
    sizes: list[tuple[int, int]] = []
    for factor in FACTORS if private else ():
        if monotonic() - start_time > _PATIENCE:
            break
        report_progress("drawing what a blanking factor costs", len(sizes), len(FACTORS))
        parameters = {"private": (PrivateEntries(cells=private),), "search": "grades", "blanking_factor": factor}
        new_release = method.model_copy(update={**parameters, "learner_risk": None}).protect(published_rows)
        sizes.append((factor, int(new_release.losses["derived_entries"])))
    return sorted(sizes)


def _get_blanking_factor(release: Release) -> int | None:
    """The blanking factor that was used, if one was."""
    method = release.method
    return int(method.blanking_factor) if method.search in ("grades", "grades_once") else None


def _build_curve_figure(sizes: Sequence[tuple[int, int]], used_factor: int | None) -> ReportFigure:
    rows = tuple((wording.format_count(factor), wording.format_count(size)) for factor, size in sizes)
    return ReportFigure(
        "What a larger blanking factor costs",
        draw_blanking_curve(sizes, used_factor, title=""),
        "Entries blanked to protect private ones, by how many are blanked at a time.",
        "Entries that the paper's search blanks to protect private ones. Blanking several at a time is faster and "
        "usually blanks more.",
        ("At a time", "Blanked to protect"),
        rows,
    )


def _describe_reasons(details: EntryDetails) -> list[str]:
    """How many entries were blanked for which reason, with examples."""
    reasons = details.reasons
    if reasons is None or reasons.is_empty():
        return []
    counts = dict(reasons.group_by("kind").len().iter_rows())
    sentences = [
        f"{count_noun(int(number), 'entry', 'entries')} blanked by {kind}: {_MEANING.get(kind, '')}"
        for kind, number in sorted(counts.items())
    ]
    for row, column, kind, rules, example in (
        reasons.select("row", "column", "kind", "rules", "example").head(_EXAMPLES).iter_rows()
    ):
        many = count_noun(int(rules), "rule")
        sentences.append(f"Row {row}, {column}: {kind} of {many}, for instance {wording.shorten_label(example, 90)}.")
    remaining_count = reasons.height - _EXAMPLES
    if remaining_count > 0:
        sentences.append(
            f"The reasons for {wording.format_count(remaining_count)} more are in private/reasons.parquet."
        )
    return sentences


_MEANING = {
    "invalidation": "the rule falls below the confidence or the support.",
    "marginalization": "the rule no longer applies to the rows with private entries.",
    "both": "some rules fall below a threshold, others no longer apply to those rows.",
}
