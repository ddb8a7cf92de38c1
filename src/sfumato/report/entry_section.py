# SPDX-License-Identifier: MIT
"""The part of the internal report about blanked entries: where they are, why, and what rules are left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.private_entries import PrivateEntries
from sfumato.progress import tell
from sfumato.release import Release
from sfumato.report import words
from sfumato.report.account import Figure, Section
from sfumato.report.entry_pictures import ColumnExposure, blanked_map, blanking_curve, exposure_by_column
from sfumato.report.rule_pictures import RuleSpot, rules_before_and_after
from sfumato.table import Table

_EXAMPLES = 12
FACTORS = (100, 30, 10, 3, 1)
"""Blanking factors that are compared in a picture."""
_PATIENCE = 3.0
"""Seconds after which no further one is tried."""


def entry_section(release: Release, original: Table, published: Table) -> Section:
    """Which entries were blanked, by row, column and reason."""
    details = release.details
    columns = published.frame.columns
    exposures = _exposures(details, columns)
    figures = [_map(details, published), _exposure(exposures), _rules(details)]
    sizes = _sizes(release, original)
    if len(sizes) > 1:
        figures.append(_curve(sizes, _chosen(release)))
    private, derived = len(details["private"]), len(details["derived"])
    exposed = sum(one.exposed for one in exposures)
    intro = (
        f"{words.several(private, 'entry', 'entries')} were to stay private. Blanking them alone would not have been "
        f"enough: rules found in what is left would have told {words.number(exposed)} of them. "
        f"{words.several(derived, 'further entry', 'further entries')} were blanked, and no such rule is left."
    )
    return Section("entries", "What was blanked, and why", intro, tuple(figures), tuple(_reasons(details)))


def _mask(cells: Sequence[tuple[int, str]], published: Table) -> np.ndarray[Any, np.dtype[np.bool_]]:
    place = {name: at for at, name in enumerate(published.frame.columns)}
    mask = np.zeros((len(published), len(place)), dtype=bool)
    inside = [(row, place[name]) for row, name in cells if name in place]
    if inside:
        rows, columns = zip(*inside, strict=True)
        mask[list(rows), list(columns)] = True
    return mask


def _map(details: Mapping[str, Any], published: Table) -> Figure:
    columns = published.frame.columns
    svg = blanked_map(columns, _mask(details["private"], published), _mask(details["derived"], published), title="")
    return Figure(
        "Where entries are blank",
        svg,
        "Rows by columns: which entries are private, and which were blanked to protect them.",
        "Rows from top to bottom as they are in the file; private entries and those blanked to protect them.",
    )


def _exposures(details: Mapping[str, Any], columns: Sequence[str]) -> list[ColumnExposure]:
    private = Counter(column for _, column in details["private"])
    derived = Counter(column for _, column in details["derived"])
    exposed: Mapping[str, int] = details.get("exposed") or {}
    return [ColumnExposure(name, private[name], int(exposed.get(name, 0)), derived[name]) for name in columns]


def _exposure(exposures: Sequence[ColumnExposure]) -> Figure:
    rows = tuple(
        (one.column, words.number(one.private), words.number(one.exposed), words.number(one.derived))
        for one in exposures
    )
    return Figure(
        "Exposure by column",
        exposure_by_column(exposures, title=""),
        "For each column: private entries, those that rules told before, and entries blanked.",
        "How many entries of each column were private, how many of them a rule told before, how many were blanked.",
        ("Column", "Private", "Told by a rule before", "Blanked to protect"),
        rows,
    )


def _rules(details: Mapping[str, Any]) -> Figure:
    before, after = _spots(details.get("rules_before")), _spots(details.get("rules_after"))
    confidence, support = float(details["confidence"]), int(details["least"])
    return Figure(
        "Rules before and after",
        rules_before_and_after(before, after, confidence, support, title=""),
        f"{words.several(len(before), 'rule')} told private entries before, {words.number(len(after))} after.",
        f"Every rule that told a private entry: {words.number(len(before))} before, {words.number(len(after))} after.",
        wide=True,
    )


def _spots(rules: pl.DataFrame | None) -> list[RuleSpot]:
    if rules is None or rules.is_empty():
        return []
    return [
        RuleSpot(float(confidence), int(support))
        for confidence, support in rules.select("public_confidence", "public_support").iter_rows()
    ]


def _sizes(release: Release, original: Table) -> list[tuple[int, int]]:
    """How many entries the paper's search would have blanked, by its blanking factor: the largest, quickest first."""
    method, begun = release.method, monotonic()
    private = tuple((int(release.details["rows"][row]), column) for row, column in release.details["private"])
    sizes: list[tuple[int, int]] = []
    for factor in FACTORS if private else ():
        if monotonic() - begun > _PATIENCE:
            break
        tell("drawing what a blanking factor costs", len(sizes), len(FACTORS))
        asked = {"private": (PrivateEntries(cells=private),), "search": "grades", "blanking_factor": factor}
        again = method.model_copy(update={**asked, "learner_risk": None}).protect(original)
        sizes.append((factor, int(again.losses["derived_entries"])))
    return sorted(sizes)


def _chosen(release: Release) -> int | None:
    """The blanking factor that was used, if one was."""
    method = release.method
    return int(method.blanking_factor) if method.search == "grades" else None


def _curve(sizes: Sequence[tuple[int, int]], chosen: int | None) -> Figure:
    rows = tuple((words.number(factor), words.number(size)) for factor, size in sizes)
    return Figure(
        "What a larger blanking factor costs",
        blanking_curve(sizes, chosen, title=""),
        "Entries blanked in all, by how many are blanked at a time.",
        "Blanking several entries at a time is quicker and blanks more of them.",
        ("At a time", "In all"),
        rows,
    )


def _reasons(details: Mapping[str, Any]) -> list[str]:
    """Why the first entries were blanked, and how many for which reason."""
    reasons: pl.DataFrame | None = details.get("reasons")
    if reasons is None or reasons.is_empty():
        return []
    counts = dict(reasons.group_by("kind").len().iter_rows())
    said = [
        f"{words.several(int(number), 'entry', 'entries')} blanked by {kind}: {_MEANING.get(kind, '')}"
        for kind, number in sorted(counts.items())
    ]
    for row, column, kind, rules, example in (
        reasons.select("row", "column", "kind", "rules", "example").head(_EXAMPLES).iter_rows()
    ):
        many = words.several(int(rules), "rule")
        said.append(f"Row {row}, {column}: {kind} of {many}, for instance {words.short(example, 90)}.")
    left = reasons.height - _EXAMPLES
    if left > 0:
        said.append(f"The reasons of {words.number(left)} more are in private/reasons.parquet.")
    return said


_MEANING = {
    "invalidation": "the rule is no longer confident, or too rare.",
    "marginalization": "the rule no longer fits the rows with private entries.",
    "both": "some rules lost their confidence, others the rows they fitted.",
}
